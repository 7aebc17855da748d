"""Searching for the cheapest cells to blank where a blank may stand for any value.

A record needs k matches, itself among them, as `incrowd.protection.wildcard_matches` counts them. Blanks of other
records only add matches, so each record's own cheapest blanks are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.protection.problem import Problem

ColumnSet = tuple[int, ...]
Mask = NDArray[np.bool_]
_MOST_SETS = 1 << 16  # of columns that are blanked together
_MOST_WORK, _SMALLEST_BLOCK = 1 << 30, 1024  # pairs of records that are compared, and records of a block


def blank_cells(problem: Problem, subset_size: int | None) -> tuple[Mask, Mask]:
    """The cells to blank, and the records that cannot match k others even so.

    With `subset_size`, records have k matches by every so many columns alone; where None, by all of them.
    """
    columns, width = problem.columns, len(problem.columns)
    fixed = {place for place, column in enumerate(columns) if column.name in problem.wishes.keep}
    missing = np.stack([column.codes >= column.size - column.has_null for column in columns], axis=1)
    blanked, hopeless = missing.copy(), np.zeros(problem.rows, dtype=np.bool_)
    subsets = list(combinations(range(width), min(subset_size or width, width)))
    for done, subset in enumerate(subsets):
        problem.progress("blanking cells", done / len(subsets))
        hopeless |= _blank_within(problem, subset, fixed, missing, blanked)
    if len(subsets) == 1:
        _give_back(problem, missing, blanked, ~hopeless)
    return blanked & ~missing, hopeless


def _blank_within(problem: Problem, subset: ColumnSet, fixed: set[int], missing: Mask, blanked: Mask) -> Mask:
    """Blank the cheapest cells of some columns so that every record has k matches by them; the records that have not.

    A column that is fixed may only be blank where its value is missing.
    """
    unmatched = np.ones(problem.rows, dtype=np.bool_)
    candidates = [place for place in subset if place not in fixed or missing[:, place].any()]
    for blanks in _cheapest_first(candidates, problem.weights):
        filled = [place for place in subset if place not in blanks]
        rows = np.flatnonzero(unmatched)
        allowed = missing[rows][:, sorted(fixed.intersection(blanks))].all(axis=1)
        able = rows[allowed & ~blanked[rows][:, filled].any(axis=1)]
        if not able.size:
            continue
        enough = able
        if filled:
            numbers, sizes = class_numbers(pack(problem.columns[place] for place in filled))
            enough = able[sizes[numbers[able]] >= problem.demand.k]
        for place in blanks:
            blanked[enough, place] = True
        unmatched[enough] = False
        if not unmatched.any():
            break
    return unmatched


def _cheapest_first(places: Sequence[int], weights: NDArray[np.float64]) -> list[ColumnSet]:
    """The sets of columns that may be blank, from none on to those that weigh most."""
    if 2 ** len(places) > _MOST_SETS:
        raise UnsupportedError(
            f"{len(places)} columns have too many sets that could be blanked together; keep some, or give subsets"
        )
    sets = [chosen for size in range(len(places) + 1) for chosen in combinations(places, size)]
    return sorted(sets, key=lambda chosen: (sum(weights[list(chosen)]), len(chosen)))


def _give_back(problem: Problem, missing: Mask, blanked: Mask, stays: Mask) -> None:
    """Show cells again where everybody has k matches without the blank, the important ones first.

    The blanks of others may have made it needless. Large tables are worked on in blocks of records that are alike in
    the columns that are blanked least; matches in other blocks are then not counted.
    """
    from incrowd.protection import kernels_wildcards

    removed = blanked & ~missing
    values = np.stack([column.codes for column in problem.columns], axis=1).astype(np.int32)
    sorted_rows = np.lexsort(values[:, np.argsort(-removed.sum(axis=0), kind="stable")].T)
    sorted_rows = sorted_rows[stays[sorted_rows]]
    length = max(_SMALLEST_BLOCK, _MOST_WORK // max(sorted_rows.size, 1))
    for start in range(0, sorted_rows.size, length):
        problem.progress("showing cells again", start / sorted_rows.size)
        block = sorted_rows[start : start + length]
        cells = np.where(blanked[block], -1, values[block])
        rows, places = np.nonzero(removed[block])
        order = np.argsort(-problem.weights[places], kind="stable")
        kernels_wildcards.give_back(cells, values[block], rows[order], places[order], problem.demand.k)
        blanked[block] = cells < 0
