"""Scales of measurement: whether values are names, have an order, are quantities, dates or codes of places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import pyarrow as pa

from incrowd.backends.arrow_columns import is_number
from incrowd.errors import ColumnNotFoundError, InputError

ScaleKind = Literal["nominal", "ordered", "numeric", "date", "place"]
SCALES: tuple[ScaleKind, ...] = get_args(ScaleKind)


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale of measurement of a column: how its values compare.

    - nominal: names or codes without an order; all distances are equal, and classes are sets.
    - ordered: values with an order but no distance; `levels` lists them in order, if it is not the ascending order.
    - numeric, date: quantities; classes are intervals.
    - place: hierarchical codes such as ZIP codes, whose first characters are a coarser code; classes are prefixes.
    """

    kind: ScaleKind
    levels: tuple[str, ...] = ()


def scale_of_type(kind: pa.DataType) -> Scale:
    """The default scale of a column of this type.

    >>> import pyarrow as pa
    >>> scale_of_type(pa.int8()).kind, scale_of_type(pa.string()).kind, scale_of_type(pa.date32()).kind
    ('numeric', 'nominal', 'date')
    """
    if pa.types.is_dictionary(kind):
        return Scale("ordered") if kind.ordered else scale_of_type(kind.value_type)
    if pa.types.is_temporal(kind):
        return Scale("date")
    return Scale("numeric" if is_number(kind) else "nominal")


def parse_scale(column: str, text: str) -> Scale:
    """A scale as a user writes it: its name, or the levels of an ordered column as low<middle<high.

    >>> parse_scale("pain", "none<some<much").levels
    ('none', 'some', 'much')
    """
    written = text.strip()
    if "<" in written:
        levels = tuple(level.strip() for level in written.split("<"))
        if len(set(levels)) < len(levels) or "" in levels:
            raise InputError(f"the levels of {column!r} must differ, and none is empty; write low<middle<high")
        return Scale("ordered", levels)
    known = {str(kind): kind for kind in SCALES}
    if written not in known:
        raise InputError(
            f"no scale {written!r} is known for {column!r}; use {', '.join(SCALES)}, or levels in their order: "
            "low<middle<high"
        )
    return Scale(known[written])


def check_scales(scales: Mapping[str, Scale], types: Mapping[str, pa.DataType]) -> None:
    """Refuse scales of columns that do not exist, and numeric or date scales that do not match the column's type."""
    missing = [name for name in scales if name not in types]
    if missing:
        raise ColumnNotFoundError.of(missing, tuple(types))
    for name, scale in scales.items():
        by_type = scale_of_type(types[name]).kind
        if scale.kind in ("numeric", "date") and by_type != scale.kind:
            raise InputError(
                f"{name!r} is stated as {scale.kind}, and its values are {types[name]}; state its missing values or "
                "its notation, or leave the scale out",
                hint=("null", "scales"),
            )
