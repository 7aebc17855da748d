"""Warnings of columns that protection keeps as they are and that undo it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from incrowd.backends import Coded, encode
from incrowd.measures.auxiliary import count_with_auxiliary, determines
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles

_NEARLY_UNIQUE = 0.5  # distinct values for each row, from which on a value nearly identifies its record
_FEW = 20  # categories have no more values than that


def warn_of_nearly_unique(distinct: Iterable[tuple[str, int]], rows: int) -> Iterator[str]:
    """Warn of kept columns in which most values differ; `distinct` holds columns and their number of values."""
    for name, size in distinct:
        if size > max(_FEW, _NEARLY_UNIQUE * rows):
            yield (
                f"{name} is passed on unchanged with {size:,} different values in {rows:,} rows: whoever knows "
                "somebody's finds the record; remove it, make it coarser, or name it as an other column, which nobody "
                "outside knows"
            )


def warn_of_undoing(
    original: Table,
    protected: Any,
    quasi_identifiers: Sequence[Coded],
    kept: Sequence[str],
    *,
    person: str | None,
    unknown: Sequence[str] = (),
) -> Iterator[str]:
    """Warn of kept columns that determine a quasi-identifier or look like one, with the class sizes they lead to.

    Columns that are `unknown` outside are warned of only where they determine a quasi-identifier.
    """
    if not kept:
        return
    after = read_table(protected)
    names = [column.name for column in quasi_identifiers]
    before_k = count_with_auxiliary(after, names, [], person=person).k
    given_back = {
        column.name: known.name
        for column in encode(original, list(kept))
        for known in reversed(quasi_identifiers)  # the first that is determined is told
        if determines(column.codes, known.codes)
    }
    for name, told in given_back.items():
        known = count_with_auxiliary(after, names, [name], person=person)
        if known.k < before_k:
            yield (
                f"{name} is kept and gives {told} back: with it the smallest class has {known.k:,} and not "
                f"{before_k:,}, and {known.uniques:,} are unique; remove it, or name it as a quasi-identifier too"
            )
    looks = [one for one in suggest_roles(original, kept) if one.column not in {*given_back, *unknown}]
    yield from warn_of_known_columns(after, names, looks, before_k, person=person)


def warn_of_known_columns(
    after: Table, names: Sequence[str], looks: Sequence[SuggestedRole], before_k: int, *, person: str | None = None
) -> Iterator[str]:
    """Warn of kept columns that look like quasi-identifiers, if they make classes smaller."""
    others = [one.column for one in looks if one.role == "quasi-identifier"]
    if others:
        known = count_with_auxiliary(after, names, others, person=person)
        if known.k < before_k:
            yield (
                f"others may know these columns, and they were left as they are: {', '.join(others)}; for whoever does "
                f"the smallest class has {known.k:,} and not {before_k:,}, and {known.uniques:,} are unique; remove "
                "them, or name them as quasi-identifiers too"
            )
