"""Warnings of unchanged columns that others may know, and of an informative row order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from incrowd.backends import encode
from incrowd.measures import count_with_auxiliary
from incrowd.measures.auxiliary import Refinement, find_refinements
from incrowd.tables import SuggestedRole, Table, suggest_roles
from incrowd.wording import listed, people

if TYPE_CHECKING:
    from incrowd.protection.build import BuiltRelease
    from incrowd.protection.validate import SettledColumns

_NEARLY_UNIQUE = 0.5  # distinct values per row, above which a value nearly identifies its record
_FEW_NAMES = 3  # most columns that a warning lists
_MANY_NAMES = 10  # with more columns, they share one warning
_FEW = 20  # most values of a column of categories


def is_nearly_unique(distinct: int, rows: int) -> bool:
    """True if most values of a column differ, so that a value nearly identifies its record.

    >>> is_nearly_unique(60, 100), is_nearly_unique(40, 100), is_nearly_unique(15, 20)
    (True, False, False)
    """
    return distinct > max(_FEW, _NEARLY_UNIQUE * rows) or distinct == rows > 1


def warn_of_nearly_unique(distinct: Iterable[tuple[str, int]], rows: int) -> Iterator[str]:
    """Warn of kept columns in which most values differ; `distinct` holds columns and their numbers of values.

    Many such columns share one warning.
    """
    warned = [(name, size) for name, size in distinct if is_nearly_unique(size, rows)]
    if len(warned) > _MANY_NAMES:
        yield (
            f"{len(warned):,} columns are passed on unchanged with a different value in most of the {rows:,} rows "
            f"({listed([name for name, _ in warned], _MANY_NAMES)}): an attacker who knows a person's value in one of "
            "them finds the record; leave them out, or name them as quasi-identifiers, which makes them coarser"
        )
        return
    for name, size in warned:
        yield (
            f"{name} is passed on unchanged with {size:,} different values in {rows:,} rows: an attacker who knows a "
            "person's value finds the record; leave it out, or name it as a quasi-identifier, which makes it coarser"
        )


class KeptColumns(NamedTuple):
    """What columns that are released unchanged look like: warnings of columns that others may know, and notes."""

    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def review_kept_columns(table: Table, settled: SettledColumns, built: BuiltRelease, *, warn: bool) -> KeptColumns:
    """Find unchanged columns that others may know; without `warn` no column is reviewed."""
    if not warn:
        return KeptColumns((), ())
    names, person = settled.quasi_identifiers, settled.person
    described = {*names, person, *table.nested, *built.recoding.columns}
    kept = [name for name in built.generalised.column_names if name not in described]
    if not kept:
        return KeptColumns((), ())
    k = count_with_auxiliary(built.ranges, names, [], person=person).k
    refinements = find_refinements(built.ranges, names, kept, person=person)
    warnings = [describe_refinement(fact) for fact in refinements if fact.k < k]
    finer = {fact.column for fact in refinements}
    knowable = [name for name in kept if name not in {*settled.sensitive, *settled.other, *finer}]
    if not knowable:
        return KeptColumns(tuple(warnings), ())
    warnings += warn_of_known_columns(built.ranges, names, suggest_roles(table, knowable), k, person=person)
    distinct = [(column.name, column.size) for column in encode(table, knowable)]
    return KeptColumns(tuple(warnings), tuple(warn_of_nearly_unique(distinct, table.rows)))


def describe_refinement(fact: Refinement) -> str:
    """Words for a kept column that is a finer form of a quasi-identifier."""
    alone = f"{people(fact.uniques)} {'is' if fact.uniques == 1 else 'are'} alone"
    return (
        f"{fact.column} is a finer form of {fact.quasi_identifier}, and is kept: for an attacker who knows "
        f"{fact.quasi_identifier} in this detail the smallest class has {fact.k:,}, and {alone}; leave it out, or name "
        "it as a quasi-identifier"
    )


def warn_of_row_order(followed: Sequence[str], *, shuffled: bool) -> Iterator[str]:
    """Warn that the row order is informative, and say whether it was replaced by a random order."""
    if followed:
        action = "they are released in random order" if shuffled else "they are released so; write them in random order"
        yield f"{describe_row_order(followed)}: {action}"


def describe_row_order(followed: Sequence[str]) -> str:
    """Words for the columns that the row order follows, and the consequence."""
    names = listed(followed, _FEW_NAMES)
    return f"the order of the rows follows {names}, so neighbouring rows tell more than their cells do"


def warn_of_known_columns(
    after: Table, names: Sequence[str], looks: Sequence[SuggestedRole], before_k: int, *, person: str | None = None
) -> Iterator[str]:
    """Warn of kept columns that look like quasi-identifiers, if they would make classes smaller."""
    others = [one.column for one in looks if one.role == "quasi-identifier"]
    if others:
        known = count_with_auxiliary(after, names, others, person=person)
        if known.k < before_k:
            yield (
                f"others may know these columns, and they were left as they are: {', '.join(others)}; for an attacker "
                f"who does, the smallest class has {known.k:,} and not {before_k:,}, and {known.uniques:,} are unique; "
                "remove them, or name them as quasi-identifiers too"
            )
