"""Columns that nobody judged: each counts as known to others and as sensitive, and what that would mean is counted.

A guess from names and values fills in a form, which a person corrects; it is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.roles import Roles
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.measures import count_disclosed_secrets
from incrowd.results import Result
from incrowd.tables import SuggestedRole, Table
from incrowd.wording import counted

MOST_ALONE = 400
"""Largest number of columns that are counted one by one; further ones are counted only all together."""
_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")
_FAMILY = 3  # columns of one stem, from which they are asked about together


@dataclass(frozen=True, slots=True)
class UndecidedColumn(Result):
    """A column that nobody judged, and what it would do if it is known to others, or sensitive.

    Attributes:
        column: the name of the column.
        suggested: what its name and values suggest, in a word of `ANSWERS`; empty if they say too little.
        reason: the reason for the suggestion.
        k: the smallest class for an attacker who knows it in addition to what was judged as known.
        uniques: the number of people who are unique to that attacker.
        correctness: the average risk from that attacker.
        added: how many of the unique people are not unique without it.
        learned: the records whose value an attacker learns who knows the other columns that are judged or guessed to be
            known; None if not counted.
    """

    column: str
    suggested: str
    reason: str
    k: int
    uniques: int
    correctness: float
    added: int = 0
    learned: int | None = None
    _derived: ClassVar[tuple[str, ...]] = ("effect",)

    @property
    def effect(self) -> str:
        """What the column would do, in words."""
        known = f"if known, {self.added:,} more {'person is' if self.added == 1 else 'people are'} unique"
        if self.learned is None:
            return known
        return f"{known}; if sensitive, it is learned in {counted(self.learned, 'record', 'records')}"


def undecided_columns(roles: Roles) -> list[str]:
    """The columns to which no person gave a role, without those that are removed or tell whose record it is."""
    settled = {*roles.stated, *roles.identifiers, roles.person}
    return [one.column for one in roles.suggested if one.column not in settled]


def has_one_value(one: SuggestedRole) -> bool:
    """True if a column has one value, counting a missing value; `distinct` is -1 for columns that were not counted."""
    return one.distinct >= 0 and one.distinct + (one.nulls > 0) <= 1


def count_undecided(
    table: Table, roles: Roles, names: Sequence[str], certain_from: float, progress: Progress = silent
) -> Iterator[UndecidedColumn]:
    """What each of some columns that nobody judged would do.

    Args:
        table: the table.
        roles: the columns by role.
        names: the columns; each has several values and no lists or records.
        certain_from: the share of a class with one value, from which the value counts as known.
        progress: callback that receives the current step and the share done.
    """
    suggested = {one.column: one for one in roles.suggested}
    known = [name for name in roles.quasi_identifiers if name in roles.stated]

    def count(more: Sequence[str]) -> ClassSizes:
        return ClassSizes.from_table(table, quasi_identifiers=[*known, *more], person=roles.person)

    learned = _count_learned(table, roles, names[:MOST_ALONE], certain_from, part(progress, 0.5, 1.0))
    together = count(names)
    before = count([]).uniques if known else 0
    for place, name in enumerate(names):
        progress("counting by columns that nobody judged", 0.5 * place / len(names))
        sizes = count([name]) if place < MOST_ALONE else together
        one = suggested[name]
        counts = (sizes.smallest, sizes.uniques, sizes.correctness, sizes.uniques - before)
        yield UndecidedColumn(name, one.guess, one.reason, *counts, learned.get(name))


def _count_learned(
    table: Table, roles: Roles, names: Sequence[str], certain_from: float, progress: Progress
) -> Mapping[str, int]:
    """The records of each column whose value is certain and news, for somebody who knows the quasi-identifiers."""
    if not names:
        return {}
    try:
        disclosed = count_disclosed_secrets(
            table,
            quasi_identifiers=list(roles.quasi_identifiers),
            sensitive=list(names),
            certain_from=certain_from,
            person=roles.person,
            progress=progress,
        )
    except UnsupportedError:
        return {}
    return {column.column: column.news for column in disclosed.columns}


def group_families(suggested: Sequence[SuggestedRole]) -> list[tuple[SuggestedRole, ...]]:
    """The columns in order, with those of one stem, kind and guess together that differ in a number: q1_1, q1_2, ….

    >>> from incrowd.tables import suggest_roles
    >>> table = {"q1_1": [1, 2], "age": [30, 31], "q1_2": [1, 2], "q1_3": [2, 2], "q2_1": [1, 1]}
    >>> [[one.column for one in family] for family in group_families(suggest_roles({**table, "q1_3": [2, 1]}))]
    [['q1_1', 'q1_2', 'q1_3'], ['age'], ['q2_1']]
    """
    families: dict[tuple[str, ...], list[SuggestedRole]] = {}
    for one in suggested:
        stem = _LAST_NUMBER.sub("#", one.column)
        families.setdefault((stem, one.kind, one.guess) if stem != one.column else (one.column,), []).append(one)
    grouped: list[tuple[SuggestedRole, ...]] = []
    for family in families.values():
        grouped += [tuple(family)] if len(family) >= _FAMILY else [(one,) for one in family]
    place = {one.column: number for number, one in enumerate(suggested)}
    return sorted(grouped, key=lambda family: place[family[0].column])


def describe_family(columns: Sequence[UndecidedColumn]) -> str:
    """What a family of columns would do, by the column that does most."""
    worst = max(columns, key=lambda one: (one.added, one.learned or 0))
    if len(columns) == 1:
        return worst.effect
    most_learned = max((one.learned for one in columns if one.learned is not None), default=None)
    return f"each up to this: {replace(worst, learned=most_learned).effect}"
