"""What can be wrong before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.problem import DIVERSITIES, Demand
from incrowd.tables import Table

_OPTIONS = {
    "coarsen": {"resolution", "levels"},
    "generalise": {"suppress"},
    "mask": {"steps", "top", "bottom", "drop"},
}


def check_columns(
    table: Table, quasi_identifiers: Sequence[str], sensitive: str | None, person: str | None
) -> list[str]:
    """The quasi-identifiers, if every column plays one part only."""
    names = table.require(quasi_identifiers, "quasi-identifiers")
    for what, column in (("sensitive", sensitive), ("person", person)):
        if column is not None:
            table.require([column], f"{what} column")
            if column in names:
                raise InputError(
                    f"the {what} column {column!r} is among the quasi-identifiers; take it out of one of them"
                )
    if sensitive is not None and sensitive == person:
        raise InputError(f"{sensitive!r} cannot be the sensitive column and the person column")
    if not table.rows:
        raise InputError(f"{table.name} has columns but no rows")
    return names


def check_demand(demand: Demand, rows: int, sensitive: str | None, method: str, options: Mapping[str, Any]) -> None:
    """Whether k, l and t make sense for so many rows, and the method takes these options."""
    if isinstance(demand.k, bool) or not isinstance(demand.k, int) or demand.k < 2:
        raise InputError(f"k must be a whole number of 2 or more; {demand.k!r} was given")
    if demand.k > rows and method not in {"coarsen"}:
        raise InputError(f"classes of {demand.k:,} from {rows:,} rows; ask for a k of at most {rows:,}")
    if demand.t is not None and not 0.0 < demand.t <= 1.0:
        raise InputError(f"t must be above 0 and at most 1; {demand.t!r} was given")
    if demand.diversity not in DIVERSITIES:
        raise InputError(f"there is no diversity {demand.diversity!r}; use {', '.join(DIVERSITIES)}")
    if demand.l is not None and not demand.l >= 1:
        raise InputError(f"l must be 1 or more; {demand.l!r} was given")
    if demand.l is not None and demand.diversity != "entropy" and demand.l != int(demand.l):
        raise InputError(f"l must be a whole number for {demand.diversity} l-diversity; {demand.l!r} was given")
    if not demand.c > 0:
        raise InputError(f"c of recursive (c, l)-diversity must be above 0; {demand.c!r} was given")
    if sensitive is None and (demand.by_strata or demand.l is not None or method == "tcloseness"):
        raise InputError("t-closeness and l-diversity need a sensitive column; name it")
    unknown = sorted(set(options) - _OPTIONS.get(method, set()))
    if unknown:
        raise InputError(f"{method!r} does not take {', '.join(unknown)}")


def check_values(columns: Sequence[Coded]) -> None:
    """Whether every quasi-identifier has values, of a kind that can be written as ranges or sets."""
    empty = [column.name for column in columns if column.size == column.has_null]
    import pyarrow as pa

    clocks = [
        column.name
        for column in columns
        if pa.types.is_time(column.values.type) or pa.types.is_duration(column.values.type)
    ]
    if clocks:
        raise InputError(
            f"{', '.join(map(repr, clocks))} holds times of day or durations; make it a number (minutes, say) first"
        )
    if empty:
        raise InputError(f"no row has a value in {', '.join(map(repr, empty))}; leave it out of the quasi-identifiers")
