"""Columns that look like numbers of people but group several: what a person has once differs within their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.backends import encode
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.roles.linked_rows import can_compare_rows
from incrowd.tables.roles.names import find_topics
from incrowd.tables.table import Table
from incrowd.wording import listed

_HAD_ONCE = ("sex", "birth")  # topics of which a person has one value
_FEWEST = 20  # values that several rows share, at least
_MOST = 0.5  # share of these, above which they are groups of people; below it, cells are wrong or were changed


@dataclass(frozen=True, slots=True)
class MixedGroups:
    """A column whose rows of one value are several people.

    Attributes:
        column: the column.
        differing: the columns that differ within most of its values, although a person has one value of each.
        groups: the number of values that several rows share.
    """

    column: str
    differing: tuple[str, ...]
    groups: int

    @property
    def reason(self) -> str:
        """Why rows of one value are not one person."""
        verb = "differs" if len(self.differing) == 1 else "differ"
        return (
            f"{listed(self.differing)} {verb} within most of the {self.groups:,} values of {self.column} that have "
            "several rows: families or households, not people"
        )


def find_mixed_groups(table: Table, column: str, columns: Sequence[SuggestedRole]) -> MixedGroups | None:
    """Find out whether rows that share a value of a column are different people; None if nothing says so.

    Args:
        table: the table; None is found where its rows are not here.
        column: the column that is to say whose record it is. One whose name says that it numbers households is not
            looked at: households are counted by it on purpose.
        columns: what is suggested for the columns.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> table = read_table({"pid": [n // 2 for n in range(60)], "sex": ["f", "m"] * 30})
    >>> find_mixed_groups(table, "pid", suggest_roles(table)).differing
    ('sex',)
    """
    had_once = [one for one in columns if one.topic in _HAD_ONCE and one.distinct > 1 and one.column != column]
    is_named = any(found.topic == "household number" for found in find_topics(column))
    if not had_once or is_named or not can_compare_rows(table):
        return None
    (group,) = encode(table, [column])
    differing, groups = [], 0
    for one in had_once:
        (values,) = encode(table, [one.column])
        filled = (group.codes < group.filled_size) & (values.codes < values.filled_size)
        numbers = group.codes[filled].astype(np.int64)
        cells = np.unique(numbers * values.size + values.codes[filled])
        rows, kinds = (np.bincount(which, minlength=group.size) for which in (numbers, cells // values.size))
        shared = int(np.count_nonzero(rows > 1))
        if shared >= _FEWEST and np.count_nonzero(kinds > 1) > _MOST * shared:
            differing.append(one.column)
            groups = max(groups, shared)
    return MixedGroups(column, tuple(differing), groups) if differing else None


def doubt_mixed_groups(table: Table, roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Doubt a person column if what a person has once differs within most of its values."""
    result = list(roles)
    for place, one in enumerate(roles):
        mixed = find_mixed_groups(table, one.column, roles) if one.role == "person" else None
        if mixed is not None:
            result[place] = replace(one, confidence="low", reason=f"{one.reason}; but {mixed.reason}")
    return result
