"""Full-domain generalisation: one coding for the whole file, the best the hierarchies allow."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.hierarchies import Hierarchy, Level
from incrowd.protection.problem import MethodOptions, Problem
from incrowd.protection.recoding import Recoding, recode_columns

_LARGEST_LATTICE = 4_000_000


class _Rows(NamedTuple):
    """Distinct records, how often each occurs, and its sensitive values where l is asked for."""

    codes: list[NDArray[np.unsignedinteger]]
    weight: NDArray[np.int64]
    sensitive: list[NDArray[np.unsignedinteger]]


@dataclass(frozen=True, slots=True)
class GeneraliseOptions(MethodOptions):
    """The share of rows that may be suppressed."""

    suppress: float = 0.0


def generalise(problem: Problem) -> Recoding:
    """Search the lattice of levels for the smallest loss of granularity, with at most a share of rows suppressed.

    Columns without a hierarchy get an automatic one. Levels are visited in ascending order of what they cost without
    suppression, which never exceeds what they cost with it; the search ends when no level left can be better.
    """
    options: GeneraliseOptions = problem.options
    limit = float(options.suppress)
    if not 0.0 <= limit < 1.0:
        raise InputError(f"at most a share of {limit:g} of the rows suppressed; give 0 up to 1")
    if problem.demand.l is not None and problem.demand.diversity != "distinct":
        raise UnsupportedError(
            "full-domain generalisation takes distinct l-diversity only; use the partition", hint="method=partition"
        )
    ladders = [problem.hierarchies.get(column.name, Hierarchy.automatic()).levels(column) for column in problem.columns]
    best, rows = _search(problem, ladders, limit)
    chosen = [ladder[level] for ladder, level in zip(ladders, best, strict=True)]
    names = [column.name for column in problem.columns]
    labels = {
        name: pa.array([level.labels[group] for group in level.groups], pa.string())
        for name, level in zip(names, chosen, strict=True)
    }
    small = _failing(problem, rows, chosen)[1]
    kept_rows = np.flatnonzero(~small[_number_distinct(problem)]) if small.any() else None
    recoding = recode_columns(problem, lambda column: labels[column.name], kept_rows)
    settings = {"levels": dict(zip(names, best, strict=True)), "suppression limit": limit}
    return replace(recoding, promises_k=True, settings=settings)


def _number_distinct(problem: Problem) -> NDArray[np.uint32]:
    """The number of the distinct record that every record is."""
    return class_numbers(pack([*problem.columns, *_diverse_columns(problem)]))[0]


def _diverse_columns(problem: Problem) -> Sequence[Coded]:
    """The sensitive columns, where l is asked for."""
    return problem.sensitive if problem.demand.l is not None else ()


def _distinct(problem: Problem) -> _Rows:
    numbers = _number_distinct(problem)
    _, first, weight = np.unique(numbers, return_index=True, return_counts=True)
    sensitive = [column.codes[first] for column in _diverse_columns(problem)]
    return _Rows([column.codes[first] for column in problem.columns], weight, sensitive)


def _failing(problem: Problem, rows: _Rows, levels: list[Level]) -> tuple[int, NDArray[np.bool_]]:
    """Count the records in classes that do not satisfy the demand, and mark those distinct records."""
    recoded = [
        Coded("", level.groups[codes], pa.array(np.arange(len(level.labels))))
        for level, codes in zip(levels, rows.codes, strict=True)
    ]
    numbers, sizes = class_numbers(pack(recoded))
    people = np.bincount(numbers, weights=rows.weight, minlength=sizes.size)
    bad = people < problem.demand.k
    for codes in rows.sensitive:
        pairs = np.unique(np.stack([numbers, codes.astype(np.uint32)]), axis=1)
        bad |= np.bincount(pairs[0], minlength=sizes.size) < (problem.demand.l or 0)
    return int(people[bad].sum()), bad[numbers]


def _search(problem: Problem, ladders: list[list[Level]], limit: float) -> tuple[tuple[int, ...], _Rows]:
    """The levels with the smallest loss, and the distinct records they were tried on."""
    shape = tuple(len(ladder) for ladder in ladders)
    if math.prod(shape) > _LARGEST_LATTICE:
        raise UnsupportedError(
            f"the hierarchies span {math.prod(shape):,} combinations of levels; give hierarchies with fewer levels"
        )
    rows = _distinct(problem)
    cost = [_loss_of_levels(column, ladder) for column, ladder in zip(problem.columns, ladders, strict=True)]
    too_fine = np.zeros(shape, dtype=np.bool_)
    start = (0,) * len(shape)
    queue, seen = [(_loss(cost, start), start)], {start}
    best, least = None, math.inf
    while queue and queue[0][0] < least:
        loss, node = heapq.heappop(queue)
        problem.progress("searching levels", min(len(seen) / math.prod(shape), 1.0))
        for column in range(len(node)):
            coarser = (*node[:column], node[column] + 1, *node[column + 1 :])
            if coarser[column] < shape[column] and coarser not in seen:
                seen.add(coarser)
                heapq.heappush(queue, (_loss(cost, coarser), coarser))
        if too_fine[node]:
            continue
        failing, _ = _failing(problem, rows, _at(ladders, node))
        if failing <= limit * problem.rows:
            total = loss + failing / problem.rows * (1.0 - loss)
            if total < least and failing < problem.rows:
                best, least = node, total
        else:
            _rule_out(problem, ladders, rows, node, limit, too_fine)
    if best is None:
        raise UnsupportedError(
            "no level of the hierarchies satisfies what is asked; allow some rows to be suppressed", hint="suppress"
        )
    return best, rows


def _rule_out(
    problem: Problem,
    ladders: list[list[Level]],
    rows: _Rows,
    node: tuple[int, ...],
    limit: float,
    too_fine: NDArray[np.bool_],
) -> None:
    """Mark all levels finer than the highest that fails on the way up from a failing one: they fail too."""
    path = [node]
    while any(level + 1 < len(ladder) for level, ladder in zip(path[-1], ladders, strict=True)):
        heights = [level / (len(ladder) - 1) for level, ladder in zip(path[-1], ladders, strict=True)]
        column = int(np.argmin(heights))
        path.append((*path[-1][:column], path[-1][column] + 1, *path[-1][column + 1 :]))
    low, high = 0, len(path) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _failing(problem, rows, _at(ladders, path[middle]))[0] > limit * problem.rows:
            low = middle
        else:
            high = middle - 1
    too_fine[tuple(slice(0, level + 1) for level in path[low])] = True


def _at(ladders: list[list[Level]], node: tuple[int, ...]) -> list[Level]:
    return [ladder[level] for ladder, level in zip(ladders, node, strict=True)]


def _loss_of_levels(column: Coded, ladder: list[Level]) -> list[float]:
    """1 − granularity of a column at every level."""
    tally = np.bincount(column.codes, minlength=column.size)
    domain = max(column.size - 1, 1)
    return [float(tally @ (level.covered - 1)) / domain / float(tally.sum()) for level in ladder]


def _loss(cost: list[list[float]], node: tuple[int, ...]) -> float:
    return sum(levels[level] for levels, level in zip(cost, node, strict=True)) / len(node)
