"""Columns that protection leaves as they are, and that give back what it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incrowd.engines import Coded, encode
from incrowd.measure.beside import determines, known_beside
from incrowd.table import Table, read_table, suggest_roles

_NEARLY = 0.5  # different values for every row, from which on a value nearly names its record
_FEW = 20  # a kind of thing has not more values than that


def what_nearly_names(original: Table, kept: Sequence[str], unknown: Sequence[str] = ()) -> Iterator[str]:
    """Notes on kept columns in which most values differ: whoever knows one finds the record."""
    known = [name for name in kept if name not in unknown]
    for column in encode(original, known) if known else ():
        if column.size > max(_FEW, _NEARLY * original.rows):
            yield (
                f"{column.name} is passed on unchanged with {column.size:,} different values in {original.rows:,} "
                "rows: whoever knows somebody's finds the record; remove it, make it coarser, or say that nobody "
                "outside knows it (--other)"
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
    before_k = known_beside(after, names, [], person=person).k
    given_back = {
        column.name: next(one.name for one in quasi_identifiers if determines(column.codes, one.codes))
        for column in encode(original, list(kept))
        if any(determines(column.codes, one.codes) for one in quasi_identifiers)
    }
    for name, told in given_back.items():
        known = known_beside(after, names, [name], person=person)
        if known.k < before_k:
            yield (
                f"{name} is kept and gives {told} back: with it the smallest class has {known.k:,} and not "
                f"{before_k:,}, and {known.uniques:,} are unique; remove it, or name it as a quasi-identifier too"
            )
    looks = suggest_roles(original, kept)
    told_already = {*given_back, *unknown}
    others = [one.column for one in looks if one.role == "quasi-identifier" and one.column not in told_already]
    if others:
        known = known_beside(after, names, others, person=person)
        if known.k < before_k:
            yield (
                f"others may know these columns, and they were left as they are: {', '.join(others)}; for whoever does "
                f"the smallest class has {known.k:,} and not {before_k:,}, and {known.uniques:,} are unique; remove "
                "them, or name them as quasi-identifiers too"
            )
