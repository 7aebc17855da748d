"""The recursion of the leak-attack paper, as printed and with corrected weights, for comparison."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.leaks.binomial import log_none

_MOST_CELLS = 40_000_000  # moves between states of all targets, times the class sizes that make up a state


def log_recursion(sizes: ClassSizes, leaked: int, targets: int, *, by_people: bool) -> float:
    """log of Probability(a, L, D, n) of section 2.3, computed forward over all states at once.

    A state is the number of people taken out of classes of each size. Equal states are merged, so the cost grows with
    the number of states, not of paths. Step 5 of the paper's pseudo-code is read as a'_i = a_i − 1. The paper weighs a
    class size by its share of classes (eq. 10), `by_people` by its share of people.
    """
    reachable = _reachable_sizes(sizes, targets)
    start = np.array([sizes.histogram().get(int(size), 0) for size in reachable], dtype=np.int64)
    adjacent = np.diff(reachable) == 1  # a class of i + 1 that loses a person becomes one of i
    states, values, log_scale = np.zeros((1, reachable.size), dtype=np.uint16), np.ones(1), 0.0
    cells = 0
    for taken in range(targets):
        people = sizes.people - taken
        named = -np.expm1(log_none(np.minimum(reachable, people), leaked - taken, people)) / reachable
        classes = start - states
        classes[:, :-1] += np.where(adjacent, states[:, 1:], 0)
        row, column = np.nonzero(classes)
        cells += row.size * reachable.size
        if cells > _MOST_CELLS:
            raise UnsupportedError(
                f"the published recursion has too many states to follow for {targets:,} targets in classes of "
                f"{sizes.sizes.size:,} sizes; the exact answer has no such limit, fewer targets have fewer states"
            )
        parts = classes * reachable if by_people else classes
        flow = values[:, None] * (parts / parts.sum(axis=1, keepdims=True)) * named
        states = states[row]
        states[np.arange(row.size), column] += 1
        states, values = _merge_states(states, flow[row, column])
        peak = float(values.max())
        values, log_scale = values / peak, log_scale + math.log(peak)
    return log_scale + math.log(float(values.sum()))


def _reachable_sizes(sizes: ClassSizes, targets: int) -> NDArray[np.int64]:
    """The sizes a class can have while targets are taken out of it, ascending."""
    met = {size - gone for size in sizes.sizes.tolist() for gone in range(min(size, targets))}
    return np.array(sorted(met), dtype=np.int64)


def _merge_states(
    states: NDArray[np.uint16], values: NDArray[np.float64]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Each distinct state once, with the sum of its values."""
    rows = np.ascontiguousarray(states).view(np.dtype((np.void, states.itemsize * states.shape[1]))).ravel()
    _, first, where = np.unique(rows, return_index=True, return_inverse=True)
    return states[first], np.asarray(np.bincount(where, weights=values), dtype=float)
