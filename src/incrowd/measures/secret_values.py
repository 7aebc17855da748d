"""Secret values of a sensitive column: named values, or a range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends.scales import scale_of_type
from incrowd.errors import InputError
from incrowd.wording import counted, number


@dataclass(frozen=True, slots=True)
class Secret:
    """Secret values of a sensitive column: named values, or a range.

    Without a condition, every value is a separate secret. With a condition, all values that fulfil it are one secret,
    which counts as news however common it is.

    Args:
        values: the secret values; None stands for a missing value. Text is read as a value of the column's type.
        above: numbers or dates greater than this are secret.
        below: numbers or dates less than this are secret; with `above`, those in between.
    """

    values: Sequence[Any] = ()
    above: Any = None
    below: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.values, str):
            raise InputError("secret values must be a list, not one text")
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) and (self.above is not None or self.below is not None):
            raise InputError("a secret is named by its values or by a range, not by both")

    @property
    def in_words(self) -> str:
        """Kind of secret in words, without the values themselves."""
        if len(self.values):
            return counted(len(self.values), "named value", "named values")
        limits = [
            f"{side} {number(limit) if isinstance(limit, int | float) else limit}"
            for side, limit in (("above", self.above), ("below", self.below))
            if limit is not None
        ]
        return " and ".join(limits) or "every value"

    def holders(self, values: pa.Array, column: str) -> NDArray[np.bool_] | None:
        """Mask of the secret values of a column; None if each value is a separate secret."""
        if self == Secret():
            return None
        try:
            if len(self.values):
                return self._named(values, column)
            if scale_of_type(values.type).kind == "nominal":
                raise TypeError
            temporal = pa.types.is_temporal(values.type)
            chosen = pc.is_valid(values)
            for compare, limit in ((pc.greater, self.above), (pc.less, self.below)):
                if limit is not None:
                    least = _scalar(limit, values.type) if temporal else pa.scalar(float(limit))
                    chosen = pc.and_(chosen, compare(values, least))
            return np.asarray(pc.fill_null(chosen, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
        except (ValueError, TypeError, NotImplementedError) as error:  # the errors of Arrow are subclasses
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"the secret of {column!r} does not fit its type, {values.type}; name values of that type, or a range "
                "of numbers or dates"
            ) from None

    def _named(self, values: pa.Array, column: str) -> NDArray[np.bool_]:
        chosen = np.zeros(len(values), dtype=np.bool_)
        absent = []
        for value in self.values:
            same = pc.is_null(values) if value is None else pc.equal(values, _scalar(value, values.type))
            matches = pc.fill_null(same, False).to_numpy(zero_copy_only=False)
            absent += [] if matches.any() else [value]
            chosen |= matches
        if absent:
            missing = ", ".join("a missing value" if value is None else repr(value) for value in absent)
            raise InputError(  # what the user typed and no cell holds may be repeated
                f"no cell of {column!r} holds {missing}, which you named as secret; check how it is written",
                hint="secrets",
            )
        return chosen


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(value).cast(kind)


def parse_secret(text: str) -> tuple[str, Secret]:
    """Parse a column and its secret: `illness=HIV,AIDS`, `income>100000`, `income<0`.

    Args:
        text: the column's name, a sign, and values with commas between them or a limit.

    Raises:
        InputError: the text is not understood.

    >>> parse_secret("illness=HIV,AIDS")
    ('illness', Secret(values=('HIV', 'AIDS'), above=None, below=None))
    >>> parse_secret("income>100000")[1].in_words
    'above 100,000'
    """
    column, sign, rest = (part.strip() for part in (*re.split("([=<>])", text, maxsplit=1), "", "")[:3])
    if not (column and rest):
        raise InputError("a secret is not understood; write it like illness=HIV,AIDS or income>100000")
    if sign == "=":
        return column, Secret(values=[value.strip() for value in rest.split(",")])
    try:
        limit = float(rest.replace("_", ""))
    except ValueError:
        raise InputError(
            f"the limit of the secret of {column!r} is not a number; write it like income>100000"
        ) from None
    return column, Secret(above=limit) if sign == ">" else Secret(below=limit)
