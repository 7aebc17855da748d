"""Values of kept columns that everybody expects of some people: no pension before 50, no pregnant men.

Whoever knows an age expects the value, and looks among the records of the same ranges that have it. That such a column
is a secret of others does not hide it from whoever can tell it, so it is told beside a verdict.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.following_columns import count_classes
from incrowd.measures.label_coverage import LabelCoverage
from incrowd.measures.missing_cells import Pattern, common_flags, expect, find_behind, find_pattern
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.tables import Table

_PRACTICALLY_ALL = 0.99  # share of the people of a value from which on everybody expects the others to be so


def facts_of_expected_values(
    kept: Sequence[Coded], known: Sequence[Coded], table: Table, coarse: Sequence[str], *, person: str | None = None
) -> Iterator[RecoveringColumn]:
    """Find kept columns of which practically all people of some values of a coarsened quasi-identifier have one value.

    Args:
        kept: the columns of the original that are released as they were.
        known: its quasi-identifiers.
        table: the protected table; its rows may be in another order.
        coarse: the quasi-identifiers that were made coarser.
        person: the column that says whose record it is, where people have several.

    Yields:
        For every column that makes the smallest class smaller, the fact of the value that does most.
    """
    names = [column.name for column in known]
    telling = [column for column in known if column.name in coarse]
    if not (kept and telling):
        return
    k_without = count_with_auxiliary(table, names, [], person=person).k
    released = encode(table, names)
    behind = LabelCoverage(known, released, coarse)
    for column in kept:
        flags, facts = common_flags(column), []
        after: dict[Any, Coded] | None = None
        for (value, flag), one in itertools.product(flags.items(), telling):
            pattern = find_pattern((one,), flag, expected=_PRACTICALLY_ALL)
            if pattern.records and _holds_for_others(pattern, flag):
                if after is None:
                    (released_column,) = encode(table, [column.name])
                    after = common_flags(released_column, flags)
                if value not in after:
                    continue
                open_flag, expected = expect(find_behind(behind, pattern), after[value])
                counts = count_classes(table, [*released, open_flag], expected, person)
                shares = pattern.records / flag.codes.size, pattern.found.by_chance
                facts.append(
                    RecoveringColumn(column.name, one.name, *shares, *counts, k_without, follows=True, partly=True)
                )
        worst = min(facts, key=lambda fact: fact.k, default=None)
        if worst is not None and worst.undoes:
            yield worst


def _holds_for_others(pattern: Pattern, flag: Coded) -> bool:
    """True if the values that expect something by one half of the records do so by practically all of the other half.

    Of values that are only likely to have the flag, some have it in all records of one half by chance.
    """
    (column,) = pattern.columns

    def count(start: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        codes, is_set = column.codes[start::2], flag.codes[start::2]
        sizes, of_flag = np.bincount(codes, None, column.size), np.bincount(codes, is_set, column.size)
        return sizes.astype(np.float64), of_flag.astype(np.float64)

    halves = [count(0), count(1)]
    for (sizes, is_set), (others, others_set) in (halves, halves[::-1]):
        records = errors = 0.0
        for differ, others_differ, told in (
            (is_set, others_set, pattern.told[0]),
            (sizes - is_set, others - others_set, pattern.told[1]),
        ):
            if told.any():
                expects = (differ <= (1 - _PRACTICALLY_ALL) * sizes) & (sizes > 1)
                records += others[expects].sum()
                errors += others_differ[expects].sum()
        if errors > (1 - _PRACTICALLY_ALL) * records:
            return False
    return True
