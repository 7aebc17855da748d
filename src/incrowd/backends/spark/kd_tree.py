"""A k-d tree fitted on a sample: it divides the space into blocks with about equal numbers of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LEAF = -1


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Node i sends records whose coordinate `column[i]` is below `cut[i]` to node `below[i]`, others to `above[i]`.

    A leaf has no column; `below` is then the number of its block. Equal records are always in the same block.
    """

    column: NDArray[np.int64]
    cut: NDArray[np.float32]
    below: NDArray[np.int64]
    above: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of blocks."""
        return int(self.below[self.column == _LEAF].max()) + 1

    def blocks(self, points: NDArray[np.float32]) -> NDArray[np.int64]:
        """The block of every record."""
        node = np.zeros(len(points), dtype=np.int64)
        active = np.flatnonzero(self.column[node] != _LEAF)
        while active.size:
            current = node[active]
            is_below = points[active, self.column[current]] < self.cut[current]
            node[active] = np.where(is_below, self.below[current], self.above[current])
            active = active[self.column[node[active]] != _LEAF]
        return self.below[node]

    def joined(self, enough: Callable[[int, int], bool]) -> Tree:
        """The tree with neighbouring blocks merged until `enough` holds for each merged block.

        `enough(start, end)` is asked for blocks `start` to `end` - 1 together. If it holds, it must also hold for more
        blocks.
        """
        starts = [0]
        for end in range(1, self.size + 1):
            if enough(starts[-1], end):
                starts.append(end)
        if starts[-1] == self.size:
            starts.pop()
        while len(starts) > 1 and not enough(starts[-1], self.size):
            starts.pop()  # merge the last blocks with those before
        number = np.searchsorted(np.array(starts), np.arange(self.size), "right") - 1
        leaves = self.column == _LEAF
        below = self.below.copy()
        below[leaves] = number[below[leaves]]
        return Tree(self.column, self.cut, below, self.above)


def fit_tree(points: NDArray[np.float32], weights: NDArray[np.int64], blocks: int) -> Tree:
    """Split recursively at the median of the column with the largest variance, until there are `blocks` blocks."""
    nodes: list[list[float]] = []

    def grow(members: NDArray[np.int64], wanted: int) -> int:
        node = len(nodes)
        nodes.append([_LEAF, 0.0, 0, 0])
        best_cut = _median_cut(points, weights, members) if wanted > 1 else None
        if best_cut is not None:
            column, cut = best_cut
            is_below = points[members, column] < cut
            nodes[node][:2] = [column, cut]
            share = weights[members[is_below]].sum() / weights[members].sum()
            first = min(max(round(wanted * share), 1), wanted - 1)
            nodes[node][2] = grow(members[is_below], first)
            nodes[node][3] = grow(members[~is_below], wanted - first)
        return node

    grow(np.arange(len(points)), blocks)
    table = np.array(nodes, dtype=np.float64)
    column, below = table[:, 0].astype(np.int64), table[:, 2].astype(np.int64)
    leaves = column == _LEAF
    below[leaves] = np.arange(leaves.sum())  # nodes are numbered depth first, so neighbours have neighbouring numbers
    return Tree(column, table[:, 1].astype(np.float32), below, table[:, 3].astype(np.int64))


def _median_cut(
    points: NDArray[np.float32], weights: NDArray[np.int64], members: NDArray[np.int64]
) -> tuple[int, float] | None:
    """The column of largest variance and the cut nearest to its median that leaves records on both sides."""
    selected, weight = points[members], weights[members].astype(np.float64)
    mean = weight @ selected / weight.sum()
    variance = weight @ (selected - mean) ** 2 / weight.sum()
    varying = np.flatnonzero(selected.max(axis=0) > selected.min(axis=0))
    if not varying.size:
        return None
    column = int(varying[np.argmax(variance[varying])])
    values, inverse = np.unique(selected[:, column], return_inverse=True)
    before = np.cumsum(np.bincount(inverse, weights=weight))[:-1]  # records below values[1:], one entry for each cut
    return column, float(values[1:][np.argmin(np.abs(before - weight.sum() / 2))])


def quantiles(values: NDArray[np.float64], weights: NDArray[np.int64], parts: int) -> NDArray[np.float64]:
    """Weighted quantiles that divide values into parts of about equal weight; equal values are in one part.

    >>> quantiles(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 1, 1, 1]), 2).tolist()
    [3.0]
    """
    order = np.argsort(values)
    before = np.cumsum(weights[order]) - weights[order]
    wanted = np.arange(1, parts) * (weights.sum() / parts)
    cuts: Sequence[float] = values[order][np.minimum(np.searchsorted(before, wanted), values.size - 1)]
    return np.unique(np.asarray(cuts, dtype=np.float64))
