"""Blanks that match any value (wildcards): counting matches, and searching for the cheapest cells to blank.

Two records match if they have equal values in every column in which neither is blank. A record needs k matches, itself
included. Blanks of other records only add matches, so every record's cheapest blanks can be chosen independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.protection.problem import Problem

ColumnSet = tuple[int, ...]
Mask = NDArray[np.bool_]
_MOST_SETS = 1 << 16  # sets of columns that are tried
_MOST_WORK, _SMALLEST_BLOCK = 1 << 30, 1024  # pairs of records that are compared, and records of a block


def count_matches(columns: Sequence[Coded], subset_size: int | None = None) -> NDArray[np.int64]:
    """Number of records that every record matches, itself included.

    Matches are counted by pairs of null patterns: records match if they agree in the columns filled in both patterns.

    Args:
        columns: the quasi-identifiers, in which a null is a blank.
        subset_size: how many columns are compared; the result is the minimum over all such combinations. None: all.

    >>> from incrowd.tables import read_table
    >>> from incrowd.backends import encode
    >>> count_matches(encode(read_table({"a": [1, 1, 2, None], "b": [5, None, 6, 6]}), ["a", "b"])).tolist()
    [2, 3, 2, 3]
    """
    from incrowd.protection import kernels_wildcards

    width, rows = len(columns), columns[0].codes.size
    fewest = np.full(rows, rows)
    keys, masks = _keys(columns)
    for subset in combinations(range(width), min(subset_size or width, width)):
        filled = [Coded("", columns[place].is_filled.astype(np.uint8), pa.nulls(2)) for place in subset]
        pattern, sizes = class_numbers(pack(filled))
        order = np.argsort(pattern, kind="stable")
        starts = np.append(0, np.cumsum(sizes))
        is_filled = np.stack([column.codes[order[starts[:-1]]] for column in filled], axis=1).astype(np.bool_)
        compared = np.where(is_filled[:, :, None], masks[list(subset)], np.uint64(0))
        matches = np.zeros(rows, dtype=np.int64)
        kernels_wildcards.count_matches(keys, np.bitwise_or.reduce(compared, axis=1), order, starts, matches)
        fewest = np.minimum(fewest, matches)
    return fewest


def _keys(columns: Sequence[Coded]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The codes of every record as bit fields of one or more words, and the bit mask of each column."""
    fields, word, free = [], 0, 64
    for column in columns:
        bits = max(1, (column.size - 1).bit_length())
        if bits > free:
            word, free = word + 1, 64
        free -= bits
        fields.append((word, free, bits))
    keys = np.zeros((columns[0].codes.size, word + 1), dtype=np.uint64)
    masks = np.zeros((len(columns), word + 1), dtype=np.uint64)
    for place, (word, shift, bits) in enumerate(fields):
        keys[:, word] |= columns[place].codes.astype(np.uint64) << np.uint64(shift)
        masks[place, word] = ((1 << bits) - 1) << shift
    return keys, masks


def blank_cells(problem: Problem, subset_size: int | None) -> tuple[Mask, Mask]:
    """Boolean masks of the cells to blank, and of the records that cannot have k matches.

    With `subset_size`, records have k matches by every combination of that many columns; None: by all columns.
    """
    columns, width = problem.columns, len(problem.columns)
    fixed = {place for place, column in enumerate(columns) if column.name in problem.keep}
    missing = np.stack([column.codes >= column.filled_size for column in columns], axis=1)
    blanked, hopeless = missing.copy(), np.zeros(problem.rows, dtype=np.bool_)
    subsets = list(combinations(range(width), min(subset_size or width, width)))
    for done, subset in enumerate(subsets):
        problem.progress("blanking cells", done / len(subsets))
        hopeless |= _blank_within(problem, subset, fixed, missing, blanked)
    if len(subsets) == 1:
        _restore_cells(problem, missing, blanked, ~hopeless)
    return blanked & ~missing, hopeless


def _blank_within(problem: Problem, subset: ColumnSet, fixed: set[int], missing: Mask, blanked: Mask) -> Mask:
    """Blank the cheapest cells in a subset of columns so that every record has k matches by these columns.

    A fixed column is never blanked; its missing values count as blanks. Changes `blanked`. Returns the boolean mask of
    records without k matches.
    """
    from incrowd.protection import kernels_wildcards

    keys, masks = _keys(problem.columns)
    everybody = np.arange(problem.rows)
    unmatched, unused_counts = np.ones(problem.rows, dtype=np.bool_), np.empty(problem.rows, dtype=np.int64)
    candidates = [place for place in subset if place not in fixed or missing[:, place].any()]
    for blanks in _cheapest_first(candidates, problem.weights):
        filled = [place for place in subset if place not in blanks]
        rows = np.flatnonzero(unmatched)
        allowed = missing[rows][:, sorted(fixed.intersection(blanks))].all(axis=1)
        open_rows = rows[allowed & ~blanked[rows][:, filled].any(axis=1)]
        if not open_rows.size:
            continue
        matched = open_rows
        if filled:
            matches = np.empty(open_rows.size, dtype=np.int64)
            mask = np.bitwise_or.reduce(masks[filled])
            kernels_wildcards.count_equal(keys, mask, open_rows, everybody, matches, unused_counts)
            matched = open_rows[matches >= problem.demand.k]
        for place in blanks:
            blanked[matched, place] = True
        unmatched[matched] = False
        if not unmatched.any():
            break
    return unmatched


def _cheapest_first(places: Sequence[int], weights: NDArray[np.float64]) -> list[ColumnSet]:
    """All sets of the columns, in ascending order of total weight; the first is the empty set."""
    if 2 ** len(places) > _MOST_SETS:
        raise UnsupportedError(
            f"{len(places)} columns have too many sets that could be blanked together; keep some, or give subsets"
        )
    sets = [chosen for size in range(len(places) + 1) for chosen in combinations(places, size)]
    return sorted(sets, key=lambda chosen: (sum(weights[list(chosen)]), len(chosen)))


def _restore_cells(problem: Problem, missing: Mask, blanked: Mask, is_kept: Mask) -> None:
    """Restore blanked cells where all records still have k matches, those of important columns first.

    A blank may have become unnecessary because of the blanks of other records. Large tables are processed in blocks of
    records that are similar in the columns with the fewest blanks; matches in other blocks are not counted.
    """
    from incrowd.protection import kernels_wildcards

    removed = blanked & ~missing
    values = np.stack([column.codes for column in problem.columns], axis=1).astype(np.int32)
    sorted_rows = np.lexsort(values[:, np.argsort(-removed.sum(axis=0), kind="stable")].T)
    sorted_rows = sorted_rows[is_kept[sorted_rows]]
    length = max(_SMALLEST_BLOCK, _MOST_WORK // max(sorted_rows.size, 1))
    for start in range(0, sorted_rows.size, length):
        problem.progress("showing cells again", start / sorted_rows.size)
        block = sorted_rows[start : start + length]
        local_codes = [np.unique(column, return_inverse=True) for column in values[block].T]
        shown = np.stack([codes for _, codes in local_codes], axis=1)
        sizes = np.array([distinct.size for distinct, _ in local_codes])
        cells = np.where(blanked[block], -1, shown)
        rows, places = np.nonzero(removed[block])
        order = np.argsort(-problem.weights[places], kind="stable")
        kernels_wildcards.give_back(cells, shown, sizes, rows[order], places[order], problem.demand.k)
        blanked[block] = cells < 0
