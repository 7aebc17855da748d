"""Gaussian copula: every pair of columns keeps its mutual information."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np

from incrowd.population.correlation import nearest_correlation
from incrowd.population.information import Floats, matching_correlation, observed_information
from incrowd.population.marginals import Columns
from incrowd.population.sampler import upper_edges
from incrowd.progress import Progress, silent

MOST_VALUES = 400
"""Columns with more values are cut into this many groups of neighbours where information is compared."""


def fit_gaussian(columns: Columns, *, progress: Progress = silent) -> Floats:
    """The correlation matrix of the Gaussian copula: ρ pair by pair, then the nearest matrix that is one."""
    return nearest_correlation(pair_correlations(columns, progress=progress))


def pair_correlations(columns: Columns, *, progress: Progress = silent) -> Floats:
    """For every pair the ρ whose expected plug-in information equals the observed one; not yet a correlation matrix."""
    coarse = grouped(columns)
    edges = [edges_of(chances) for chances in coarse.chances()]
    people = np.array([float(columns.people)])
    count = len(coarse.sizes)
    matrix = np.eye(count)

    def solve(pair: tuple[int, int]) -> float:
        i, j = pair
        if min(coarse.sizes[i], coarse.sizes[j]) < 2:
            return 0.0
        information = observed_information(coarse.codes[i], coarse.codes[j])
        return matching_correlation(edges[i], edges[j], information, people, np.ones(1))

    pairs = list(combinations(range(count), 2))
    with ThreadPoolExecutor(2) as pool:
        for done, ((i, j), rho) in enumerate(zip(pairs, pool.map(solve, pairs), strict=True)):
            matrix[i, j] = matrix[j, i] = rho
            progress("matching pairs of columns", (done + 1) / len(pairs))
    return matrix


def grouped(columns: Columns, most: int = MOST_VALUES) -> Columns:
    """The columns with at most `most` values each: neighbours are merged into groups of about equal weight."""
    codes, sizes = [], []
    for j, size in enumerate(columns.sizes):
        group = np.arange(size)
        if size > most:
            counts = columns.counts(j)
            group = np.unique((np.cumsum(counts) - counts) * most // columns.people, return_inverse=True)[1]
        codes.append(group[columns.codes[j]])
        sizes.append(int(group[-1]) + 1)
    return Columns(np.stack(codes), tuple(sizes))


def edges_of(chances: Floats) -> Floats:
    """All edges of a column's values on the normal scale, from −inf to +inf."""
    return np.concatenate([[-np.inf], upper_edges(chances)])
