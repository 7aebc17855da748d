"""Columns that follow from a known column: its square, logarithm, groups, or one of its categories as yes or no.

Whoever knows an age knows its square and its group, so such a column has the role of the column that it follows from.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.chance import is_beyond_chance
from incrowd.backends import encode
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.roles.linked_rows import can_compare_rows
from incrowd.tables.table import Table

_TRIED = 60  # undecided columns, and known columns, that are compared
_FIRST = 5_000  # rows in which a column must follow before all rows are compared
_SCALE = 10  # distinct values of a number, at least, that is computed one-to-one from another

_Codes = NDArray[Any]


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
    codes_of = cache(lambda name: _read_codes(table, name))
    found: dict[str, SuggestedRole] = {}
    for one in undecided:
        rescaled = next(
            (base for base in known if _may_be_rescaled(one, base) and _is_rescaled(one, base, codes_of)), None
        )
        base = rescaled or next(
            (base for base in known if _may_follow(one, base) and _follows(one, base, codes_of)), None
        )
        if base is not None:
            how = "as its square or logarithm does" if rescaled else "as its groups do"
            reason = f"its values follow from those of {base.column}, {how}: who knows that column knows this one"
            found[one.column] = replace(
                one, role=base.role, topic=base.topic, also=base.also, reason=reason, confidence="medium"
            )
    found |= _find_categories([one for one in undecided if one.column not in found], known, codes_of)
    return [found.get(one.column, one) for one in roles]


def _is_undecided(one: SuggestedRole) -> bool:
    """True if nothing was found, or only that values are like those of a weight or of numbers of people."""
    by_values = one.role in ("weight", "person") and one.confidence == "low"
    is_open = one.role == "other" and not one.topic and one.confidence == "low"
    return (by_values or is_open) and one.distinct > 1 and one.kind != "nested" and not one.generalised


def _read_codes(table: Table, name: str) -> tuple[_Codes, int]:
    """The codes of a column, in the order of its values, and the code of the missing cells."""
    (column,) = encode(table, [name])
    return np.asarray(column.codes, dtype=np.int64), column.filled_size


def _may_be_rescaled(one: SuggestedRole, base: SuggestedRole) -> bool:
    numbers = {one.kind, base.kind} <= {"integer", "number"}
    return numbers and one.distinct >= _SCALE and base.distinct - 1 <= one.distinct <= base.distinct


def _is_rescaled(one: SuggestedRole, base: SuggestedRole, codes_of: Any) -> bool:
    """True if the values rise or fall strictly with those of the other column; a logarithm of zero may be missing."""
    (codes, missing), (of_base, none) = codes_of(one.column), codes_of(base.column)
    filled = (codes < missing) & (of_base < none)
    if np.count_nonzero(codes < missing) > np.count_nonzero(filled) or not filled.any():
        return False
    differences, sums = of_base[filled] - codes[filled], of_base[filled] + codes[filled]
    return bool(np.ptp(differences) == 0 or np.ptp(sums) == 0)


def _may_follow(one: SuggestedRole, base: SuggestedRole) -> bool:
    """True if a column may be groups of a quasi-identifier; of a nearly unique amount anything seems to follow."""
    fewer = one.distinct < base.distinct or (one.distinct == base.distinct and one.distinct < _SCALE)
    return fewer and base.role == "quasi-identifier"


def _follows(one: SuggestedRole, base: SuggestedRole, codes_of: Any) -> bool:
    """True if rows that agree in the other column agree in this one, far beyond chance."""
    codes, of_base = codes_of(one.column)[0], codes_of(base.column)[0]
    return _agree(codes[:_FIRST], of_base[:_FIRST], enough=codes.size <= _FIRST) and _agree(codes, of_base, enough=True)


def _agree(codes: _Codes, groups: _Codes, *, enough: bool) -> bool:
    """True if codes are the same within each group; if `enough`, chance must not explain it."""
    first = np.full(int(groups.max()) + 1, -1, dtype=np.int64)
    first[groups] = codes
    if not np.array_equal(first[groups], codes):
        return False
    repeated = codes.size - np.unique(groups).size
    disagreement = 1 - float(np.sum((np.bincount(codes) / codes.size) ** 2))
    return not enough or bool(is_beyond_chance(0, repeated * disagreement))


def _find_categories(
    undecided: Sequence[SuggestedRole], known: Sequence[SuggestedRole], codes_of: Any
) -> dict[str, SuggestedRole]:
    """Take a yes-or-no column for a quasi-identifier if it and two others, one known, are never yes together."""
    columns = [one for one in (*undecided, *known) if one.role in ("other", "quasi-identifier") and one.distinct == 2]
    columns = [one for one in columns if one.kind in ("integer", "number", "yes/no") and not one.nulls]
    if len(columns) < 3:
        return {}
    yes = np.array([codes_of(one.column)[0] for one in columns], dtype=np.float64)
    together = yes @ yes.T
    shares = yes.mean(axis=1)
    apart = (together == 0) & is_beyond_chance(0, yes.shape[1] * np.outer(shares, shares))
    found: dict[str, SuggestedRole] = {}
    for place, one in enumerate(columns):
        beside = np.flatnonzero(apart[place])
        pairs = ((columns[a], columns[b]) for a, b in itertools.combinations(beside, 2) if apart[a, b])
        of = next((pair for pair in pairs if any(other.role == "quasi-identifier" for other in pair)), None)
        if one.role == "other" and of is not None:
            base = min(of, key=lambda other: other.role != "quasi-identifier")
            reason = f"it, {of[0].column} and {of[1].column} are never yes together: categories of one question"
            found[one.column] = replace(
                one, role=base.role, topic=base.topic, also=base.also, reason=reason, confidence="low"
            )
    return found
