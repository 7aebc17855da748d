"""Cell suppression where a blank may stand for any value: counted by what records could be, not by what they show.

Two records match where they show the same value in every column in which neither is blank. A record needs k matches,
itself among them. Blanks of other records only add matches, so each record's own cheapest blanks are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.protection.problem import Problem

Shown = tuple[int, ...]
Mask = NDArray[np.bool_]
_MOST_SETS = 1 << 16  # of columns that are blanked together
_MOST_WORK, _SMALLEST_BLOCK = 1 << 30, 1024  # pairs of records that are compared, and records of a block


def blank_cells(problem: Problem, subsets: int | None) -> tuple[Mask, Mask]:
    """The cells to blank, and the records that cannot match k others even so.

    With `subsets`, records have k matches by every so many columns alone; where None, by all of them.
    """
    columns, width = problem.columns, len(problem.columns)
    fixed = {place for place, column in enumerate(columns) if column.name in problem.wishes.keep}
    missing = np.stack([column.codes >= column.size - column.has_null for column in columns], axis=1)
    blanked, hopeless = missing.copy(), np.zeros(problem.rows, dtype=np.bool_)
    parts = list(combinations(range(width), min(subsets or width, width)))
    for done, part in enumerate(parts):
        problem.progress("blanking cells", done / len(parts))
        hopeless |= _blank_part(problem, part, fixed, missing, blanked)
    if len(parts) == 1:
        _give_back(problem, missing, blanked, ~hopeless)
    return blanked & ~missing, hopeless


def _blank_part(problem: Problem, part: Shown, fixed: set[int], missing: Mask, blanked: Mask) -> Mask:
    """Blank the cheapest cells of some columns so that every record has k matches by them; who has not.

    A column that is fixed may only be blank where its value is missing.
    """
    left = np.ones(problem.rows, dtype=np.bool_)
    may_go = [place for place in part if place not in fixed or missing[:, place].any()]
    for gone in _cheapest_first(may_go, problem.weights):
        shown = [place for place in part if place not in gone]
        rows = np.flatnonzero(left)
        allowed = missing[rows][:, sorted(fixed.intersection(gone))].all(axis=1)
        able = rows[allowed & ~blanked[rows][:, shown].any(axis=1)]
        if not able.size:
            continue
        enough = able
        if shown:
            numbers, sizes = class_numbers(pack(problem.columns[place] for place in shown))
            enough = able[sizes[numbers[able]] >= problem.demand.k]
        for place in gone:
            blanked[enough, place] = True
        left[enough] = False
        if not left.any():
            break
    return left


def _cheapest_first(places: Sequence[int], weights: NDArray[np.float64]) -> list[Shown]:
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

    gone = blanked & ~missing
    values = np.stack([column.codes for column in problem.columns], axis=1).astype(np.int32)
    near = np.lexsort(values[:, np.argsort(-gone.sum(axis=0), kind="stable")].T)
    near = near[stays[near]]
    length = max(_SMALLEST_BLOCK, _MOST_WORK // max(near.size, 1))
    for start in range(0, near.size, length):
        problem.progress("showing cells again", start / near.size)
        block = near[start : start + length]
        cells = np.where(blanked[block], -1, values[block])
        rows, places = np.nonzero(gone[block])
        order = np.argsort(-problem.weights[places], kind="stable")
        kernels_wildcards.give_back(cells, values[block], rows[order], places[order], problem.demand.k)
        blanked[block] = cells < 0


def count_matches(columns: Sequence[Coded], subsets: int | None = None) -> NDArray[np.int64]:
    """How many records every record matches, itself among them, where a null may be any value; the fewest by `subsets`.

    Counted by patterns of nulls: records of two patterns match where they agree in the columns that both show.

    >>> from incrowd.tables import read_table
    >>> from incrowd.backends import encode
    >>> count_matches(encode(read_table({"a": [1, 1, 2, None], "b": [5, None, 6, 6]}), ["a", "b"])).tolist()
    [2, 3, 2, 3]
    """
    width, rows = len(columns), columns[0].codes.size
    fewest = np.full(rows, rows)
    for part in combinations(columns, min(subsets or width, width)):
        shown = np.stack([column.codes < column.size - column.has_null for column in part], axis=1)
        patterns, pattern = np.unique(shown, axis=0, return_inverse=True)
        pattern = pattern.reshape(-1)
        members = [np.flatnonzero(pattern == number) for number in range(len(patterns))]
        found = np.zeros(rows, dtype=np.int64)
        for one, mine in enumerate(members):
            for other, theirs in enumerate(members):
                both = [column for column, seen in zip(part, patterns[one] & patterns[other], strict=True) if seen]
                found[mine] += _count_equal(both, mine, theirs)
        fewest = np.minimum(fewest, found)
    return fewest


def _count_equal(columns: Sequence[Coded], mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.int64]:
    """For some rows, how many of other rows have the same values."""
    if not columns:
        return np.full(mine.size, theirs.size)
    both = np.concatenate([mine, theirs])
    numbers, _ = class_numbers(pack(Coded(one.name, one.codes[both], one.values) for one in columns))
    tally: NDArray[np.int64] = np.bincount(numbers[mine.size :], minlength=int(numbers.max()) + 1)[numbers[: mine.size]]
    return tally
