"""Compiled: matches of records whose blanks may be any value, and blanks that nobody needs any more."""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)
def _match(cells, one, other):  # type: ignore[no-untyped-def]
    """Whether two records agree in every column in which neither is blank (-1)."""
    for place in range(cells.shape[1]):
        mine, theirs = cells[one, place], cells[other, place]
        if mine != theirs and mine >= 0 and theirs >= 0:
            return False
    return True


@njit(cache=True, nogil=True)
def give_back(cells, values, rows, places, k):  # type: ignore[no-untyped-def]
    """Show the listed blanks again, one after the other, where everybody still matches k records; `cells` changes."""
    n = cells.shape[0]
    matches = np.ones(n, dtype=np.int64)
    for one in range(n):
        for other in range(one + 1, n):
            if _match(cells, one, other):
                matches[one] += 1
                matches[other] += 1
    lost = np.empty(n, dtype=np.int64)
    for at in range(rows.size):
        row, place = rows[at], places[at]
        value, found, may = values[row, place], 0, matches[row] >= k  # fewer where its matches are in other blocks
        for other in range(n if may else 0):
            theirs = cells[other, place]
            if theirs >= 0 and theirs != value and _match(cells, row, other):
                if matches[other] <= k or matches[row] - found - 1 < k:
                    may = False
                    break
                lost[found] = other
                found += 1
        if may:
            cells[row, place] = value
            matches[row] -= found
            for other in lost[:found]:
                matches[other] -= 1
