"""Suggestions on how a table is read: codes that look nominal, and numbers that may stand for missing values."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.scales import ScaleKind
from incrowd.tables.roles import SuggestedRole
from incrowd.tables.table import Table

_NOMINAL_TOPICS = frozenset(
    {"sex", "area", "country", "language", "ethnicity", "occupation", "industry", "employment", "marital status"}
)
_ORDERED_TOPICS = frozenset({"education"})
_MISSING_CODES = (-1, -2, -3, -4, -5, -6, -7, -8, -9, -66, -77, -88, -99, -666, -777, -888, -999, -9999)


def suggest_scales(table: Table, columns: Sequence[SuggestedRole]) -> dict[str, ScaleKind]:
    """Scales for whole numbers that look like codes: their topic is one of categories, and nobody has said otherwise.

    Args:
        table: the table.
        columns: what `suggest_roles` says of its columns.

    Returns:
        A scale for each column that should have another than that of its type.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> table = read_table({"race": [1, 2, 9, 1], "age": [30, 41, 30, 25]})
    >>> suggest_scales(table, suggest_roles(table))
    {'race': 'nominal'}
    """
    found: dict[str, ScaleKind] = {}
    for one in columns:
        if one.kind == "integer" and one.column not in table.scales and one.distinct > 1:
            if one.topic in _NOMINAL_TOPICS:
                found[one.column] = "nominal"
            elif one.topic in _ORDERED_TOPICS:
                found[one.column] = "ordered"
    return found


def suspect_missing_codes(table: Table) -> dict[str, tuple[int, ...]]:
    """Negative codes, such as -9, in columns of numbers that are otherwise never negative.

    Args:
        table: the table; of one in a cluster nothing is read.

    Returns:
        The codes of each column that has some.

    >>> from incrowd import read_table
    >>> suspect_missing_codes(read_table({"age": [30, -9, 41], "change": [-3, -9, 2]}))
    {'age': (-9,)}
    """
    if not table.backend.rows_are_local:
        return {}
    types = table.backend.types()
    names = [name for name, kind in types.items() if pa.types.is_signed_integer(kind) or pa.types.is_floating(kind)]
    found: dict[str, tuple[int, ...]] = {}
    for name, column in table.read(names) if names else ():
        negative = column.filter(pc.fill_null(pc.less(column, 0), False)).unique().to_pylist()
        if (len(negative) == 1 and negative[0] in _MISSING_CODES) or _all_usual(negative):
            found[name] = tuple(sorted(int(code) for code in negative))
    return found


def _all_usual(codes: Sequence[float]) -> bool:
    """Whether several codes are those of surveys: repeated digits from -66 on, or -9 and those before it."""
    usual = {-6, -7, -8, -9, *(code for code in _MISSING_CODES if code < -9)}
    return bool(codes) and set(codes) <= usual
