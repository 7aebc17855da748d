"""Values of kept columns that an attacker expects of some people: no pension before 50, no pregnant men.

An attacker who knows a person's age expects the value. Among the released records whose ranges cover the age, only
those with the value count, so the class is smaller. This holds for sensitive columns too: the value is secret for some
people and obvious for others. So these facts are reported beside a verdict and do not decide it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.compared_release import ComparedRelease, one_of_each
from incrowd.measures.missing_cells import common_flags
from incrowd.measures.predicted_cells import Pattern, expect, find_behind, find_pattern
from incrowd.measures.recovering_columns import ExpectedValue

_PRACTICALLY_ALL = 0.99  # share of the people with a quasi-identifier's value, from which all are expected to agree


def facts_of_expected_values(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[ExpectedValue]:
    """Find kept columns with a value that practically all people of some age, region or other quasi-identifier have.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original; only coarsened quasi-identifiers are considered.

    Yields:
        For every column that makes the smallest class smaller, the fact of the value that makes it smallest.
    """
    for column in kept:
        flags, facts = common_flags(column), []
        after: dict[Any, Coded] | None = None
        for (value, flag), one in itertools.product(flags.items(), release.coarsened):
            pattern = find_pattern((one,), flag, release.whose, expected=_PRACTICALLY_ALL)
            if pattern.records and _holds_for_others(pattern, flag, release.whose):
                if after is None:
                    after = common_flags(release.column(column.name), flags)
                if value not in after:
                    continue
                attacker_flag, expected = expect(find_behind(release.coverage, pattern), after[value])
                counts = release.count_with(attacker_flag, expected)
                shares = pattern.records / flag.codes.size, pattern.determination.by_chance
                facts.append(ExpectedValue(column.name, one.name, *shares, *counts, release.k))
        worst = min(facts, key=lambda fact: fact.k, default=None)
        if worst is not None and worst.undoes:
            yield worst


def _holds_for_others(pattern: Pattern, flag: Coded, whose: Coded | None) -> bool:
    """True if what one half of the records predicts holds for practically all records of the other half, both ways.

    Where a flag is only likely, some values have it in all records of one half by chance.
    """
    (column,) = pattern.columns
    rows = half = np.arange(flag.codes.size)
    if whose is not None:  # nobody is in both halves
        rows, first = one_of_each(whose, [column, flag]), np.unique(whose.codes, return_index=True)[1]
        half = first[whose.codes[rows]]

    def count(number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        of_half = rows[half % 2 == number]
        codes, is_set = column.codes[of_half], flag.codes[of_half]
        sizes, of_flag = np.bincount(codes, None, column.size), np.bincount(codes, is_set, column.size)
        return sizes.astype(np.float64), of_flag.astype(np.float64)

    halves = [count(0), count(1)]
    for (sizes, is_set), (others, others_set) in (halves, halves[::-1]):
        records = errors = 0.0
        for exceptions, others_exceptions, predicted in (
            (is_set, others_set, pattern.predicted[0]),
            (sizes - is_set, others - others_set, pattern.predicted[1]),
        ):
            if predicted.any():
                predicts = (exceptions <= (1 - _PRACTICALLY_ALL) * sizes) & (sizes > 1)
                records += others[predicts].sum()
                errors += others_exceptions[predicts].sum()
        if errors > (1 - _PRACTICALLY_ALL) * records:
            return False
    return True
