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


def attribute_disclosure(classes: Classes, column: Coded, secret: Any, *, original: Coded | None = None) -> Disclosure:
    """Measure attribute disclosure (eq. 5) of a value, of several values together, or of a range.

    Args:
        classes: the class of every record.
        column: the sensitive column.
        secret: a value; several values as a list or set, which count as one secret; or a range of numbers or dates as a
            pair: (low, high) with both ends, (low, None) above, (None, high) below.
        original: the column before protection: protection may have removed every record with the secret.

    Returns:
        How many records have the secret, and for how many of them it is certain.

    Raises:
        InputError: the secret is of another type than the column, or no record has it, not even of the original.

    >>> from incrowd.backends import encode
    >>> from incrowd.classes import assign_classes
    >>> from incrowd.tables import read_table
    >>> table = read_table({"age": [1, 1, 2, 2], "ill": ["lung", "breast", "lung", "flu"]})
    >>> disclosure = attribute_disclosure(assign_classes(table, ["age"]), encode(table, ["ill"])[0], ["lung", "breast"])
    >>> disclosure.records, disclosure.disclosed
    (3, 2)
    """
    is_holder, words = _holders(column, secret)
    absent = np.asarray(~is_holder.any(axis=1))
    if original is not None and absent.any():
        absent &= np.asarray(~_holders(original, secret)[0].any(axis=1))
    if absent.any():
        raise InputError(_no_record_has(column.name, secret, absent))
    holders = np.asarray(is_holder.any(axis=0))[column.codes]
    records = np.bincount(classes.numbers)
    with_secret = np.bincount(classes.numbers, weights=holders).astype(np.int64)
    certain = (with_secret == records) & (records > 0)
    return Disclosure(column.name, words, int(holders.sum()), int(with_secret[certain].sum()))


def _no_record_has(column: str, secret: Any, absent: NDArray[np.bool_]) -> str:
    """The message for a secret that nobody has: what was typed and no cell holds may be repeated."""
    if _is_range(secret):
        return f"no record has a value of {column!r} {_range_in_words(secret)}; check the limits of the secret"
    values = [repr(value) for value, missing in zip(_named_values(secret), absent, strict=True) if missing]
    return f"no record has {', '.join(values)} in {column!r}; check how the secret is written"


def _is_range(secret: Any) -> bool:
    """True for a pair of limits; texts have no order, so a pair of texts names two values."""
    return isinstance(secret, tuple) and len(secret) == 2 and not any(isinstance(limit, str) for limit in secret)


def _named_values(secret: Any) -> list[Any]:
    """The values that are secret."""
    if isinstance(secret, set | frozenset):
        return sorted(secret, key=repr)
    return list(secret) if isinstance(secret, list | tuple) else [secret]


def _range_in_words(secret: tuple[Any, Any]) -> str:
    low, high = (f"{limit:,.15g}" if isinstance(limit, int | float) else limit for limit in secret)
    if high is None:
        return f"above {low}"
    return f"below {high}" if low is None else f"from {low} to {high}"


def _holders(column: Coded, secret: Any) -> tuple[NDArray[np.bool_], str]:
    """Which values of the column are secret, a row for each value named (one row for a range); and words for them."""
    values = column.values
    try:
        if _is_range(secret):
            return _mask(_inside(column, *secret))[None], _range_in_words(secret)
        named = _named_values(secret)
        if not named:
            raise InputError(f"the list of secret values of {column.name!r} is empty; name one at least")
        rows = [_mask(pc.equal(values, pa.scalar(value).cast(values.type))) for value in named]
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(f"the secret for {column.name!r} is of another type than the column ({values.type})") from None
    return np.array(rows), "a value" if len(named) == 1 else f"any of {len(named):,} values"


def _inside(column: Coded, low: Any, high: Any) -> pa.Array:
    """Whether values are inside a range; (low, None) is everything above low, (low, high) has both ends."""
    if low is None and high is None:
        raise InputError(f"a range for {column.name!r} without ends; give one at least")
    is_secret = pa.scalar(True)
    if low is not None:
        above = (pc.greater if high is None else pc.greater_equal)(column.values, pa.scalar(low))
        is_secret = pc.and_(is_secret, above)
    if high is not None:
        below = (pc.less if low is None else pc.less_equal)(column.values, pa.scalar(high))
        is_secret = pc.and_(is_secret, below)
    return is_secret


def _mask(is_secret: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(is_secret, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
