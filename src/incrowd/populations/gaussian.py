"""Gaussian copula: every pair of columns keeps its mutual information."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.populations.correlation import nearest_correlation
from incrowd.populations.information import Floats, matching_correlation, observed_information
from incrowd.populations.marginals import Columns, occurrences
from incrowd.populations.synthetic import upper_edges

MOST_VALUES = 400
"""Columns with more values are cut into this many groups of neighbours where information is compared."""


def fit_gaussian(columns: Columns, *, progress: Progress = silent) -> Floats:
    """The correlation matrix of the Gaussian copula: ρ pair by pair, then the nearest matrix that is one."""
    return nearest_correlation(pair_correlations(columns, progress=progress))


def pair_correlations(columns: Columns, *, progress: Progress = silent) -> Floats:
    """For every pair the ρ whose expected plug-in information equals the observed one; not yet a correlation matrix."""
    groups = groups_of(columns, MOST_VALUES)
    edges = [edges_of(occurrences(group, columns.counts(j)) / columns.people) for j, group in enumerate(groups)]
    people = np.array([float(columns.people)])
    matrix = np.eye(len(groups))

    def solve(pair: tuple[int, int]) -> float:
        i, j = pair
        if min(edges[i].size, edges[j].size) < 3:
            return 0.0  # a single value
        first, second, times = columns.pair(i, j)
        information = observed_information(groups[i][first], groups[j][second], times=times)
        return matching_correlation(edges[i], edges[j], information, people, np.ones(1))

    pairs = list(combinations(range(len(groups)), 2))
    with ThreadPoolExecutor(2) as pool:
        for done, ((i, j), rho) in enumerate(zip(pairs, pool.map(solve, pairs), strict=True)):
            matrix[i, j] = matrix[j, i] = rho
            progress("matching pairs of columns", (done + 1) / len(pairs))
    return matrix


def groups_of(columns: Columns, most: int) -> list[NDArray[np.int64]]:
    """For every column the group of each value: neighbours are merged into `most` groups of about equal weight."""
    found: list[NDArray[np.int64]] = []
    for j, size in enumerate(columns.sizes):
        group = np.arange(size)
        if size > most:
            counts = columns.counts(j)
            group = np.unique((np.cumsum(counts) - counts) * most // columns.people, return_inverse=True)[1]
        found.append(group)
    return found


def grouped(columns: Columns, most: int = MOST_VALUES) -> Columns:
    """The columns with at most `most` values each."""
    groups = groups_of(columns, most)
    codes = [group[codes] for group, codes in zip(groups, columns.codes, strict=True)]
    return Columns(np.stack(codes), tuple(int(group[-1]) + 1 for group in groups), columns.times)


def edges_of(chances: Floats) -> Floats:
    """All edges of a column's values on the normal scale, from −inf to +inf."""
    return np.concatenate([[-np.inf], upper_edges(chances)])
