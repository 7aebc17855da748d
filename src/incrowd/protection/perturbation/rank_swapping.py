"""Rank swapping: values change places with values of near rank, so that every column keeps its distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.protection.perturbation.step import Change, Columns, Readers, Step, taken
from incrowd.wording import chosen_percent


@dataclass(frozen=True, slots=True)
class RankSwap(Step):
    """Every value is swapped with one whose rank is at most `share` of all records away (Moore 1996)."""

    share: float
    kind: ClassVar[str] = "rankswap"
    reads: ClassVar[Readers] = {"share": float}

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"ranks of {self.share!r} of the records apart; give a share above 0 and up to 1")

    def apply(self, columns: Columns) -> Change:
        """Swap each column by itself; a missing value stays missing."""
        changed = {}
        for column in columns.coded(self.columns):
            if not column.has_order:
                raise InputError(f"{column.name!r} has no order by which ranks could be near; swap numbers or dates")
            filled = np.flatnonzero(column.codes < column.size - column.has_null)
            ties = columns.draws.random(filled.size)
            order = filled[np.lexsort([ties, column.codes[filled]])]
            codes = column.codes.copy()
            codes[order] = column.codes[order[swap_near(order.size, self.share, columns.draws)]]
            changed[column.name] = taken(column, codes)
        return Change(
            changed,
            f"values were swapped with values whose rank is at most {chosen_percent(self.share)} of the records away",
            "the column alone is as it was: counts, quantiles and moments need no correction; correlations with other "
            "columns are too small, the more so the larger the share",
            {"share": self.share},
        )


def swap_near(rows: int, share: float, draws: np.random.Generator) -> NDArray[np.int64]:
    """For every rank the rank it is swapped with, at most `share` of all away; the last of an odd number may stay.

    >>> swap_near(4, 0.3, np.random.default_rng(0)).tolist()
    [1, 0, 3, 2]
    """
    reach = max(1, math.floor(share * rows))
    partner = np.arange(rows)
    free = list(range(1, rows + 1))  # a chain to the next rank that has no partner yet

    def next_free(rank: int) -> int:
        end = rank
        while end < rows and is_taken[end]:
            end = free[end]
        while rank < end:
            free[rank], rank = end, free[rank]
        return end

    is_taken = [False] * rows
    wishes = draws.integers(1, reach + 1, rows).tolist()
    for rank in range(rows):
        if is_taken[rank]:
            continue
        is_taken[rank] = True
        last = min(rank + reach, rows - 1)
        chosen = next_free(min(rank + wishes[rank], last))
        if chosen > last:
            chosen = next_free(rank)
        if chosen <= last:
            is_taken[chosen] = True
            partner[rank], partner[chosen] = chosen, rank
    return partner
