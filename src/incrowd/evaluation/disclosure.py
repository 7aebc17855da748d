"""Attribute disclosure: the information that classes disclose about a confidential value or range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.classes import Classes
from incrowd.errors import InputError
from incrowd.results import Result


@dataclass(frozen=True, slots=True)
class Disclosure(Result):
    """Attribute disclosure (eq. 5): the share of records with the secret that are in classes where all have it."""

    _derived: ClassVar[tuple[str, ...]] = ("risk",)
    column: str
    secret: str
    records: int
    disclosed: int

    @property
    def risk(self) -> float:
        """The share of the secret's holders for whom it is certain."""
        return self.disclosed / self.records if self.records else 0.0


def attribute_disclosure(classes: Classes, column: Coded, secret: Any) -> Disclosure:
    """Measure attribute disclosure (eq. 5) of a value or a range.

    Args:
        classes: the class of every record.
        column: the sensitive column.
        secret: a value, or a range: (low, high) with both ends, (low, None) above, (None, high) below.

    Returns:
        How many records have the secret, and for how many of them it is certain.

    Raises:
        InputError: the secret is of another type than the column.
    """
    holders = _holders(column, secret)[column.codes]
    records = np.bincount(classes.numbers)
    with_secret = np.bincount(classes.numbers, weights=holders).astype(np.int64)
    certain = (with_secret == records) & (records > 0)
    words = "a value" if not isinstance(secret, tuple) else _range_in_words(secret)
    return Disclosure(column.name, words, int(holders.sum()), int(with_secret[certain].sum()))


def _range_in_words(secret: tuple[Any, Any]) -> str:
    low, high = secret
    if high is None:
        return f"above {low:,.15g}"
    return f"below {high:,.15g}" if low is None else f"from {low:,.15g} to {high:,.15g}"


def _holders(column: Coded, secret: Any) -> NDArray[np.bool_]:
    """Mark the values of the column that are secret; (low, None) is everything above low, (low, high) has both ends."""
    try:
        if isinstance(secret, tuple):
            low, high = secret
            if low is None and high is None:
                raise InputError(f"a range for {column.name!r} without ends; give one at least")
            is_secret = pa.scalar(True)
            if low is not None:
                above = (pc.greater if high is None else pc.greater_equal)(column.values, pa.scalar(low))
                is_secret = pc.and_(is_secret, above)
            if high is not None:
                below = (pc.less if low is None else pc.less_equal)(column.values, pa.scalar(high))
                is_secret = pc.and_(is_secret, below)
        else:
            is_secret = pc.equal(column.values, pa.scalar(secret).cast(column.values.type))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(
            f"the secret for {column.name!r} is of another type than the column ({column.values.type})"
        ) from None
    holders: NDArray[np.bool_] = pc.fill_null(is_secret, False).to_numpy(zero_copy_only=False)
    return holders
