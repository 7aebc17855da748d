"""D-vine of Gaussian pair copulas: neighbours in a chain keep their information, others theirs given those between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from incrowd.population.correlation import from_partial
from incrowd.population.gaussian import edges_of, grouped
from incrowd.population.information import Floats, matching_correlation, observed_information
from incrowd.population.marginals import Columns
from incrowd.progress import Progress, silent

_MOST_VALUES = 160  # groups of values of a column where conditional information is compared
_STRATUM_SIZES = 12  # sizes of strata that are told apart
_WEAKEST = 1e-9  # in nats: strata with no more than this to tell say nothing about dependence


def fit_correlation(columns: Columns, *, progress: Progress = silent) -> Floats:
    """The correlation matrix of the D-vine over the columns in their given order.

    Edge (i, j) has the ρ whose expected plug-in information within the strata of the columns between equals the
    observed one. With Gaussian pairs these ρ are partial correlations, and stand for one correlation matrix.
    """
    coarse = grouped(columns, _MOST_VALUES)
    edges = [edges_of(chances) for chances in coarse.chances()]
    count = len(coarse.sizes)
    partial = np.eye(count)
    strata = _strata_between(coarse)

    def solve(pair: tuple[int, int]) -> float:
        i, j = pair
        if min(coarse.sizes[i], coarse.sizes[j]) < 2:
            return 0.0
        between = strata[pair]
        sizes, weights = stratum_sizes(between, columns.people)
        if sizes.max() < 2:
            return 0.0
        information = observed_information(coarse.codes[i], coarse.codes[j], between)
        if information < _WEAKEST:
            return 0.0
        return matching_correlation(edges[i], edges[j], information, sizes, weights)

    pairs = sorted(strata, key=lambda pair: pair[1] - pair[0])
    with ThreadPoolExecutor(2) as pool:
        for done, ((i, j), rho) in enumerate(zip(pairs, pool.map(solve, pairs), strict=True)):
            partial[i, j] = partial[j, i] = rho
            progress("matching pairs of columns, given those between", (done + 1) / len(pairs))
    return from_partial(partial)


def _strata_between(columns: Columns) -> dict[tuple[int, int], NDArray[np.int64] | None]:
    """For every pair the stratum of each record by the columns between the two; none for neighbours."""
    count = len(columns.sizes)
    strata: dict[tuple[int, int], NDArray[np.int64] | None] = {}
    for i in range(count - 1):
        between: NDArray[np.int64] | None = None
        strata[i, i + 1] = None
        for j in range(i + 2, count):
            middle = columns.codes[j - 1]
            combined = middle if between is None else between * columns.sizes[j - 1] + middle
            between = np.unique(combined, return_inverse=True)[1].astype(np.int64)
            strata[i, j] = between
    return strata


def stratum_sizes(strata: NDArray[np.int64] | None, people: int) -> tuple[Floats, Floats]:
    """Sizes of strata and the share of people in strata of each; similar sizes are taken together."""
    if strata is None:
        return np.array([float(people)]), np.ones(1)
    sizes, counts = np.unique(np.bincount(strata), return_counts=True)
    share = sizes * counts / people
    if sizes.size <= _STRATUM_SIZES:
        return sizes.astype(np.float64), share
    group = np.digitize(np.log(sizes), np.linspace(0.0, np.log(sizes[-1]) + 1e-9, _STRATUM_SIZES + 1))
    weight = np.bincount(group, weights=share)
    middle = np.exp(np.bincount(group, weights=share * np.log(sizes)) / np.where(weight > 0, weight, 1.0))
    return np.maximum(1.0, np.round(middle[weight > 0])), weight[weight > 0]
