"""Columns that follow from a known column: its square, logarithm, groups, or one of its categories as yes or no.

Whoever knows an age knows its square and its group, so such a column has the role of the column that it follows from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.chance import is_beyond_chance
from incrowd.backends import encode
from incrowd.tables.roles.column_role import Confidence, SuggestedRole
from incrowd.tables.roles.linked_rows import can_compare_rows
from incrowd.tables.table import Table

_TRIED = 60  # undecided columns, and known columns, that are compared
_FIRST = 20_000  # rows in which a column must follow before all rows are compared
_SCALE = 10  # distinct values of a number, at least, that is computed one-to-one from another

_Coded = tuple[NDArray[Any], int]  # the codes of the rows, in the order of the values, and the code of a missing cell


def follow_known_columns(table: Table, roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Give undecided columns the role of a quasi-identifier or sensitive column that they are computed from.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> ages = [20 + n % 40 for n in range(400)]
    >>> found = suggest_roles(read_table({"age": ages, "x": [n * n for n in ages], "y": [int(n > 50) for n in ages]}))
    >>> [(one.column, one.role, one.topic) for one in found[1:]]
    [('x', 'quasi-identifier', 'age'), ('y', 'quasi-identifier', 'age')]
    """
    undecided = [one for one in roles if _is_undecided(one)][:_TRIED]
    known = [one for one in roles if one.role in ("quasi-identifier", "sensitive") and one.topic and one.distinct > 1]
    known = sorted(known, key=lambda one: one.role != "quasi-identifier")[:_TRIED]
    if not undecided or not known or not can_compare_rows(table):
        return list(roles)
    codes = _Codes(lambda name: _read_codes(table, name))
    found: dict[str, SuggestedRole] = {}
    for one in undecided:
        rescaled = next(
            (base for base in known if _may_be_rescaled(one, base) and codes.pass_test(_rises, one, base)), None
        )
        base = rescaled or next(
            (base for base in known if _may_follow(one, base) and codes.pass_test(_follows, one, base)), None
        )
        if base is not None:
            how = "as its square or logarithm does" if rescaled else "as its groups do"
            reason = f"its values follow from those of {base.column}, {how}: who knows that column knows this one"
            found[one.column] = _take_role(one, base, reason, "medium")
    found |= _find_categories([one for one in undecided if one.column not in found], known, codes)
    return [found.get(one.column, one) for one in roles]


def _take_role(one: SuggestedRole, base: SuggestedRole, reason: str, confidence: Confidence) -> SuggestedRole:
    return replace(one, role=base.role, topic=base.topic, also=base.also, reason=reason, confidence=confidence)


class _Codes:
    """The codes of columns, and tests of pairs of columns: first in a few rows, which are kept, then in all."""

    def __init__(self, read: Callable[[str], _Coded]) -> None:
        self._read = read
        self.first = cache(self._read_first)

    def _read_first(self, name: str) -> _Coded:
        codes, missing = self._read(name)
        return codes[:_FIRST].astype(np.int64), missing

    def pass_test(self, test: Callable[[_Coded, _Coded, bool], bool], one: SuggestedRole, other: SuggestedRole) -> bool:
        """True if two columns pass a test; its last argument says whether the codes are those of all rows."""
        if not test(self.first(one.column), self.first(other.column), one.rows <= _FIRST):
            return False
        return one.rows <= _FIRST or test(self._read(one.column), self._read(other.column), True)


def _is_undecided(one: SuggestedRole) -> bool:
    """True if nothing was found, or only that values are like those of a weight or of numbers of people."""
    by_values = one.role in ("weight", "person") and one.confidence == "low"
    is_open = one.role == "other" and not one.topic and one.confidence == "low"
    return (by_values or is_open) and one.distinct > 1 and one.kind != "nested" and not one.generalised


def _read_codes(table: Table, name: str) -> _Coded:
    (column,) = encode(table, [name])
    return column.codes, column.filled_size


def _may_be_rescaled(one: SuggestedRole, base: SuggestedRole) -> bool:
    numbers = {one.kind, base.kind} <= {"integer", "number"}
    return numbers and one.distinct >= _SCALE and base.distinct - 1 <= one.distinct <= base.distinct


def _rises(one: _Coded, base: _Coded, _: bool) -> bool:
    """True if values rise or fall strictly with those of the other column; a logarithm of zero may be missing."""
    (codes, missing), (of_base, none) = one, base
    filled = (codes < missing) & (of_base < none)
    if np.count_nonzero(codes < missing) > np.count_nonzero(filled) or not filled.any():
        return False
    ranks, of_others = codes[filled].astype(np.int64), of_base[filled].astype(np.int64)
    return bool(np.ptp(of_others - ranks) == 0 or np.ptp(of_others + ranks) == 0)


def _may_follow(one: SuggestedRole, base: SuggestedRole) -> bool:
    """True if a column may be groups of a quasi-identifier; of a nearly unique amount anything seems to follow."""
    fewer = one.distinct < base.distinct or (one.distinct == base.distinct and one.distinct < _SCALE)
    return fewer and base.role == "quasi-identifier"


def _follows(one: _Coded, base: _Coded, all_rows: bool) -> bool:
    """True if rows that agree in the other column agree in this one; in all rows, far beyond chance."""
    codes, groups = one[0], base[0]
    first = np.full(int(groups.max()) + 1, -1, dtype=np.int64)
    first[groups] = codes
    if not np.array_equal(first[groups], codes):
        return False
    repeated = codes.size - np.count_nonzero(first >= 0)
    disagreement = 1 - float(np.sum((np.bincount(codes) / codes.size) ** 2))
    return not all_rows or bool(is_beyond_chance(0, repeated * disagreement))


def _are_apart(one: _Coded, other: _Coded, all_rows: bool) -> bool:
    """True if two yes-or-no columns are never yes together; in all rows, far beyond chance."""
    yes, no_less = one[0] == 1, other[0] == 1
    if np.any(yes & no_less):
        return False
    by_chance = yes.mean() * no_less.mean() * yes.size
    return not all_rows or bool(is_beyond_chance(0, by_chance))


def _find_categories(
    undecided: Sequence[SuggestedRole], known: Sequence[SuggestedRole], codes: _Codes
) -> dict[str, SuggestedRole]:
    """Take a yes-or-no column for a quasi-identifier if it and two others, one known, are never yes together."""
    open_ones, bases = ([one for one in some if _is_yes_or_no(one)] for some in (undecided, known))
    bases = [one for one in bases if one.role == "quasi-identifier"]
    apart = cache(lambda one, other: codes.pass_test(_are_apart, one, other))
    found: dict[str, SuggestedRole] = {}
    for one, base in itertools.product(open_ones, bases):
        if one.column in found or not apart(one, base):
            continue
        others = (other for other in (*open_ones, *bases) if other not in (one, base))
        third = next((other for other in others if apart(one, other) and apart(other, base)), None)
        if third is not None:
            reason = f"it, {base.column} and {third.column} are never yes together: categories of one question"
            found[one.column] = _take_role(one, base, reason, "low")
    return found


def _is_yes_or_no(one: SuggestedRole) -> bool:
    is_open = one.role in ("other", "quasi-identifier") and not one.nulls
    return is_open and one.distinct == 2 and one.kind in ("integer", "number", "yes/no")
