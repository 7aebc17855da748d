"""D-vine of Gaussian pair copulas: neighbours in a chain keep their information, others theirs given those between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.populations.correlation import from_partial
from incrowd.populations.gaussian import edges_of, grouped
from incrowd.populations.information import Floats, matching_correlation, observed_information
from incrowd.populations.marginals import Columns, occurrences

_MOST_VALUES = 160  # groups of values of a column where conditional information is compared
_STRATUM_SIZES = 12  # sizes of strata that are told apart
_WEAKEST = 1e-9  # in nats: strata with no more than this to tell say nothing about dependence


def fit_dvine(columns: Columns, pairs: Floats, *, progress: Progress = silent) -> tuple[Columns, Floats]:
    """The columns in the order of the vine, and the correlation matrix the vine stands for.

    `pairs` are the correlations of all pairs: the strongest are made neighbours, whose information is best known.
    """
    order = chain(pairs)
    ordered = columns.only(order)
    return ordered, from_partial(partial_correlations(ordered, progress=progress))


def chain(pairs: Floats) -> list[int]:
    """An order of the columns that starts from the strongest pair and is lengthened, at either end, by the strongest.

    >>> chain(np.array([[1.0, 0.1, 0.7], [0.1, 1.0, 0.3], [0.7, 0.3, 1.0]]))
    [0, 2, 1]
    """
    if len(pairs) < 2:
        return list(range(len(pairs)))
    first, second = np.unravel_index(np.argmax(pairs - 2.0 * np.eye(len(pairs))), pairs.shape)
    order = [int(first), int(second)]
    left = sorted(set(range(len(pairs))) - set(order))
    while left:
        column = max(left, key=lambda one: max(pairs[one, order[0]], pairs[one, order[-1]]))
        left.remove(column)
        order.insert(0 if pairs[column, order[0]] > pairs[column, order[-1]] else len(order), column)
    return order


def partial_correlations(columns: Columns, *, progress: Progress = silent) -> Floats:
    """Entry (i, j): the ρ of i and j given the columns between them, in the order of the columns.

    Its expected plug-in information within the strata of the columns between equals the observed one.
    """
    coarse = grouped(columns, _MOST_VALUES)
    edges = [edges_of(chances) for chances in coarse.chances()]
    count = len(coarse.sizes)
    partial = np.eye(count)
    strata = strata_between(coarse)

    def solve(pair: tuple[int, int]) -> float:
        i, j = pair
        if min(coarse.sizes[i], coarse.sizes[j]) < 2:
            return 0.0
        between = strata[pair]
        sizes, weights = stratum_sizes(between, columns.people, coarse.times)
        if sizes.max() < 2:
            return 0.0
        information = observed_information(coarse.codes[i], coarse.codes[j], between, coarse.times)
        if information < _WEAKEST:
            return 0.0
        return matching_correlation(edges[i], edges[j], information, sizes, weights)

    pairs = sorted(strata, key=lambda pair: pair[1] - pair[0])
    with ThreadPoolExecutor(2) as pool:
        for done, ((i, j), rho) in enumerate(zip(pairs, pool.map(solve, pairs), strict=True)):
            partial[i, j] = partial[j, i] = rho
            progress("matching pairs of columns, given those between", (done + 1) / len(pairs))
    return partial


def strata_between(columns: Columns) -> dict[tuple[int, int], NDArray[np.int64] | None]:
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


def stratum_sizes(
    strata: NDArray[np.int64] | None, people: int, times: NDArray[np.int64] | None = None
) -> tuple[Floats, Floats]:
    """Sizes of strata and the share of people in strata of each; similar sizes are taken together."""
    if strata is None:
        return np.array([float(people)]), np.ones(1)
    sizes, counts = np.unique(occurrences(strata, times), return_counts=True)
    share = sizes * counts / people
    if sizes.size <= _STRATUM_SIZES:
        return sizes.astype(np.float64), share
    group = np.digitize(np.log(sizes), np.linspace(0.0, np.log(sizes[-1]) + 1e-9, _STRATUM_SIZES + 1))
    weight: Floats = np.bincount(group, weights=share).astype(np.float64)
    middle = np.exp(np.bincount(group, weights=share * np.log(sizes)) / np.where(weight > 0, weight, 1.0))
    return np.maximum(1.0, np.round(middle[weight > 0])), weight[weight > 0]
