"""Columns that protection leaves as they are, and that give back what it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from incrowd.backends import Coded, encode
from incrowd.measures.auxiliary import count_with_auxiliary, determines
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles

_NEARLY = 0.5  # different values for every row, from which on a value nearly names its record
_FEW = 20  # a kind of thing has not more values than that


def what_nearly_names(values: Iterable[tuple[str, int]], rows: int) -> Iterator[str]:
    """Notes on kept columns in which most values differ: whoever knows one finds the record.

    `values` are the columns that somebody may know, and how many values each has.
    """
    for name, size in values:
        if size > max(_FEW, _NEARLY * rows):
            yield (
                f"{name} is passed on unchanged with {size:,} different values in {rows:,} rows: whoever knows "
                "somebody's finds the record; remove it, make it coarser, or say that nobody outside knows it (--other)"
            )


def what_undoes_it(
    original: Table,
    protected: Any,
    quasi_identifiers: Sequence[Coded],
    kept: Sequence[str],
    *,
    person: str | None,
    unknown: Sequence[str] = (),
) -> Iterator[str]:
    """Notes on kept columns that determine a quasi-identifier, or look like one; with what they would do, counted.

    Of those that are said to be `unknown` outside, how they look is not told; that they give something back is.
    """
    if not kept:
        return
    after = read_table(protected)
    names = [column.name for column in quasi_identifiers]
    before_k = count_with_auxiliary(after, names, [], person=person).k
    given_back = {
        column.name: next(one.name for one in quasi_identifiers if determines(column.codes, one.codes))
        for column in encode(original, list(kept))
        if any(determines(column.codes, one.codes) for one in quasi_identifiers)
    }
    for name, told in given_back.items():
        known = count_with_auxiliary(after, names, [name], person=person)
        if known.k < before_k:
            yield (
                f"{name} is kept and gives {told} back: with it the smallest class has {known.k:,} and not "
                f"{before_k:,}, and {known.uniques:,} are unique; remove it, or name it as a quasi-identifier too"
            )
    looks = [one for one in suggest_roles(original, kept) if one.column not in {*given_back, *unknown}]
    yield from what_others_may_know(after, names, looks, before_k, person=person)


def what_others_may_know(
    after: Table, names: Sequence[str], looks: Sequence[SuggestedRole], before_k: int, *, person: str | None = None
) -> Iterator[str]:
    """A note on kept columns that look like quasi-identifiers, if they tell people apart."""
    others = [one.column for one in looks if one.role == "quasi-identifier"]
    if others:
        known = count_with_auxiliary(after, names, others, person=person)
        if known.k < before_k:
            yield (
                f"others may know these columns, and they were left as they are: {', '.join(others)}; for whoever does "
                f"the smallest class has {known.k:,} and not {before_k:,}, and {known.uniques:,} are unique; remove "
                "them, or name them as quasi-identifiers too"
            )
