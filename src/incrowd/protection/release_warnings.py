"""Warnings of columns that protection keeps as they are and that undo it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from incrowd.measures import RecoveringColumn, count_with_auxiliary
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles
from incrowd.wording import listed, percent

_NEARLY_UNIQUE = 0.5  # distinct values for each row, from which on a value nearly identifies its record
_FEW_NAMES = 3  # columns that a warning lists
_MANY_NAMES = 10  # columns from which on they have one warning together
_FEW = 20  # categories have no more values than that


def is_nearly_unique(distinct: int, rows: int) -> bool:
    """True if most values of a column differ, so that a value nearly identifies its record.

    >>> is_nearly_unique(60, 100), is_nearly_unique(40, 100), is_nearly_unique(15, 20)
    (True, False, False)
    """
    return distinct > max(_FEW, _NEARLY_UNIQUE * rows) or distinct == rows > 1


def warn_of_nearly_unique(distinct: Iterable[tuple[str, int]], rows: int) -> Iterator[str]:
    """Warn of kept columns in which most values differ; `distinct` holds columns and their number of values.

    Many such columns have one line together.
    """
    telling = [(name, size) for name, size in distinct if is_nearly_unique(size, rows)]
    if len(telling) > _MANY_NAMES:
        yield (
            f"{len(telling):,} columns are passed on unchanged with a different value in most of the {rows:,} rows "
            f"({listed([name for name, _ in telling], _MANY_NAMES)}): whoever knows one of somebody's finds the "
            "record; leave them out, or name them as quasi-identifiers, which makes them coarser"
        )
        return
    for name, size in telling:
        yield (
            f"{name} is passed on unchanged with {size:,} different values in {rows:,} rows: whoever knows "
            "somebody's finds the record; leave it out, or name it as a quasi-identifier, which makes it coarser"
        )


def warn_of_undoing(
    original: Table,
    protected: Any,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    given_back: Sequence[RecoveringColumn],
    *,
    person: str | None,
    unknown: Sequence[str] = (),
) -> Iterator[str]:
    """Warn of kept columns that give a quasi-identifier back or look like one, with the class sizes they lead to.

    `given_back` has the facts about all kept columns. Those that are `unknown` outside are warned of only where they
    give something back.
    """
    undoing = [fact for fact in given_back if fact.undoes]
    as_a_whole = {fact.column for fact in undoing if not fact.missing}
    yield from (describe_given_back(one) for one in undoing if not one.missing or one.column not in as_a_whole)
    if not kept:
        return
    after = read_table(protected)
    spoken_of = {*(name for fact in given_back for name in fact.columns), *unknown}
    looks = [one for one in suggest_roles(original, kept) if one.column not in spoken_of]
    before_k = count_with_auxiliary(after, quasi_identifiers, [], person=person).k
    yield from warn_of_known_columns(after, quasi_identifiers, looks, before_k, person=person)


def warn_of_row_order(followed: Sequence[str], *, shuffled: bool) -> Iterator[str]:
    """Say that rows were put in random order because theirs told something, or that they still are in it."""
    if followed:
        then = "they are released in random order" if shuffled else "they are released so; write them in random order"
        yield f"{describe_row_order(followed)}: {then}"


def describe_row_order(followed: Sequence[str]) -> str:
    """Describe which columns the order of the rows follows, and the consequence."""
    names = listed(followed, _FEW_NAMES)
    return f"the order of the rows follows {names}, so neighbouring rows tell more than their cells do"


def describe_given_back(fact: RecoveringColumn) -> str:
    """Kept columns that give a quasi-identifier back, in words."""
    whom = "" if fact.told == 1.0 else f" for {percent(fact.told)} of the records"
    mend = f"remove {fact.column}" if fact.others else "remove it"
    return (
        f"{fact.telling} {fact.gives_back} back{whom}: with {'them' if fact.others else 'it'} the smallest class has "
        f"{fact.k:,} and not {fact.k_without:,}, and {fact.uniques:,} are unique; {mend}, or name "
        f"{'them as quasi-identifiers' if fact.others else 'it as a quasi-identifier'} too"
    )


def describe_expected(facts: Sequence[RecoveringColumn]) -> str:
    """Kept columns whose values follow from what others know, in words, the one that tells most first."""
    ordered = sorted(facts, key=lambda fact: fact.k)
    names = listed([f"{one.column} (from {listed([one.gives_back, *one.others])}: {one.k:,})" for one in ordered])
    they, them, known = ("they count", "them", "quasi-identifiers")
    if len(facts) == 1:
        they, them, known = ("it counts", "it", "a quasi-identifier")
    apart = "keep those people apart, " if any(one.partly for one in facts) else ""
    return (
        f"Others may expect values that follow from what they know: {names}. For whoever does the smallest class has "
        f"as many people as stand in brackets, and not {ordered[0].k_without:,}. Here {they} as unknown; if others can "
        f"tell {them}, {apart}leave {them} out or make {them} {known}"
    )


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
