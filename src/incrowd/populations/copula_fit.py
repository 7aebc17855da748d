"""Fits of the two published copulas: correlation matrices that reproduce the information between columns.

Gaussian copula: every pair of columns keeps its mutual information. D-vine of Gaussian pair copulas: neighbours in a
chain of columns keep their mutual information, other pairs their conditional information given the columns between
them. `fit_by_monte_carlo` fits both as published; it is slow and noisy, and serves to check the deterministic fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from incrowd._support.progress import Progress, silent
from incrowd.errors import UnsupportedError
from incrowd.populations.copula import upper_edges
from incrowd.populations.information import (
    cell_chances,
    expected_information,
    information_of_counts,
    matching_correlation,
    observed_information,
    shuffled_information,
)
from incrowd.populations.marginals import CodedColumns, occurrences
from incrowd.special import Floats

MOST_VALUES = 400
"""Columns with more values are reduced to this many groups of neighbouring values to compare information."""

_MOST_CONDITIONED = 160  # groups of values of a column to compare conditional information
_STRATUM_SIZES = 12  # number of bins for the sizes of strata
_WEAKEST = 1e-9  # nats; less information than this is taken as independence
_FLOOR = 1e-6  # smallest eigenvalue, so that the Cholesky factor exists
_ROUNDS = 200  # number of alternating projections


def fit_gaussian(columns: CodedColumns, *, progress: Progress = silent) -> Floats:
    """The correlation matrix of the Gaussian copula: ρ of each pair, then the nearest correlation matrix."""
    return nearest_correlation(pair_correlations(columns, shuffled=True, progress=progress))


def pair_correlations(columns: CodedColumns, *, shuffled: bool = False, progress: Progress = silent) -> Floats:
    """For every pair the ρ whose expected plug-in information equals the observed one; may not be positive definite.

    With `shuffled`, the information expected at ρ = 0 is that of shuffled columns, so independent columns get ρ ≈ 0.
    Without it, the fit is the published one: the expected information is that of samples from the observed margins.
    Such samples have fewer rare values and so less information, which makes the fitted ρ too large.
    """
    groups = group_values(columns, MOST_VALUES)
    counts = [occurrences(group, columns.counts(j)) for j, group in enumerate(groups)]
    edges = [all_edges(count / columns.people) for count in counts]
    people = np.array([float(columns.people)])
    matrix = np.eye(len(groups))

    def solve(pair: tuple[int, int]) -> float:
        i, j = pair
        if min(edges[i].size, edges[j].size) < 3:
            return 0.0  # a single value
        information = information_of_counts(_count_pairs(columns, (i, j), groups), counts[i], counts[j])
        if shuffled:
            independent = cell_chances(edges[i], edges[j], 0.0)
            information -= shuffled_information(counts[i], counts[j])
            information += expected_information(independent, people, np.ones(1))
        return matching_correlation(edges[i], edges[j], information, people, np.ones(1))

    pairs = list(combinations(range(len(groups)), 2))
    with ThreadPoolExecutor(2) as pool:
        for done, ((i, j), rho) in enumerate(zip(pairs, pool.map(solve, pairs), strict=True)):
            matrix[i, j] = matrix[j, i] = rho
            progress("matching pairs of columns", (done + 1) / len(pairs))
    return matrix


def _count_pairs(
    columns: CodedColumns, pair: tuple[int, int], groups: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Joint counts of the groups of values of two columns."""
    from incrowd.populations import kernels

    first, second, times = columns.pair(*pair)
    one, other = (groups[place] for place in pair)
    width = int(other[-1]) + 1
    cells: NDArray[np.float64] = np.zeros((int(one[-1]) + 1) * width)
    times = np.ones(1, dtype=np.int64) if times is None else times
    kernels.count_pairs(first, second, times, one * width, other, cells)
    return cells


def group_values(columns: CodedColumns, most: int) -> list[NDArray[np.int64]]:
    """For every column the group of each value: neighbours are merged into `most` groups of about equal weight."""
    groups: list[NDArray[np.int64]] = []
    for j, size in enumerate(columns.sizes):
        group = np.arange(size)
        if size > most:
            counts = columns.counts(j)
            group = np.unique((np.cumsum(counts) - counts) * most // columns.people, return_inverse=True)[1]
        groups.append(group)
    return groups


def with_grouped_values(columns: CodedColumns, most: int = MOST_VALUES) -> CodedColumns:
    """The columns with at most `most` values each."""
    groups = group_values(columns, most)
    codes = [group[codes] for group, codes in zip(groups, columns.codes, strict=True)]
    return CodedColumns(np.stack(codes), tuple(int(group[-1]) + 1 for group in groups), columns.times)


def all_edges(chances: Floats) -> Floats:
    """All edges of a column's values on the normal scale, from −inf to +inf."""
    return np.concatenate([[-np.inf], upper_edges(chances)])


def fit_dvine(columns: CodedColumns, pairs: Floats, *, progress: Progress = silent) -> tuple[CodedColumns, Floats]:
    """The columns in the order of the vine, and the correlation matrix of the vine.

    `pairs` are the correlations of all pairs. Strongly correlated columns become neighbours, because the information
    of neighbours is estimated best.
    """
    order = chain_columns(pairs)
    ordered = columns.only(order)
    return ordered, correlation_of_vine(partial_correlations(ordered, progress=progress))


def chain_columns(pairs: Floats) -> list[int]:
    """An order of the columns: the most correlated pair, extended at either end by the most correlated column.

    >>> chain_columns(np.array([[1.0, 0.1, 0.7], [0.1, 1.0, 0.3], [0.7, 0.3, 1.0]]))
    [0, 2, 1]
    """
    if len(pairs) < 2:
        return list(range(len(pairs)))
    first, second = np.unravel_index(np.argmax(pairs - 2.0 * np.eye(len(pairs))), pairs.shape)
    order = [int(first), int(second)]
    remaining = sorted(set(range(len(pairs))) - set(order))
    while remaining:
        column = max(remaining, key=lambda one: max(pairs[one, order[0]], pairs[one, order[-1]]))
        remaining.remove(column)
        order.insert(0 if pairs[column, order[0]] > pairs[column, order[-1]] else len(order), column)
    return order


def partial_correlations(columns: CodedColumns, *, progress: Progress = silent) -> Floats:
    """Entry (i, j): the ρ of columns i and j given the columns between them.

    At this ρ, the expected plug-in information within the strata of the columns between equals the observed one.
    """
    coarse = with_grouped_values(columns, _MOST_CONDITIONED)
    edges = [all_edges(chances) for chances in coarse.chances()]
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


def strata_between(columns: CodedColumns) -> dict[tuple[int, int], NDArray[np.int64] | None]:
    """For every pair of columns, the stratum of each record by the columns between them; None for neighbours."""
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
    """Distinct sizes of strata and the share of people in strata of each size; similar sizes are binned."""
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


def nearest_correlation(matrix: Floats) -> Floats:
    """The nearest correlation matrix in the Frobenius norm: Higham's alternating projections (2002, algorithm 3.3).

    >>> nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])).round(3)[0].tolist()  # as published
    [1.0, 0.761, 0.157]
    """
    current = np.array(matrix, dtype=np.float64)
    if np.linalg.eigvalsh(current)[0] >= _FLOOR:
        return current
    correction = np.zeros_like(current)
    for _ in range(_ROUNDS):
        shifted = current - correction
        values, vectors = np.linalg.eigh(shifted)
        projected = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
        correction = projected - shifted
        previous, current = current, projected.copy()
        np.fill_diagonal(current, 1.0)
        if np.abs(current - previous).max() < 1e-8:
            break
    values, vectors = np.linalg.eigh(current)
    fixed = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(fixed))
    return np.asarray(fixed * np.outer(scale, scale))


def correlation_of_vine(partial: Floats) -> Floats:
    """The correlation matrix of a D-vine; `partial[i, j]` is the correlation of i and j given the columns between.

    ρ_ij = a'R⁻¹b + p_ij √((1 − a'R⁻¹a)(1 − b'R⁻¹b)), with R the correlations of the columns between, and a, b the
    correlations of these columns with i and j. Any partial correlations below 1 give a positive definite matrix.

    >>> correlation_of_vine(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]))[0].tolist()
    [1.0, 0.5, 0.25]
    """
    size = partial.shape[0]
    full = np.eye(size)
    for distance in range(1, size):
        for i in range(size - distance):
            j = i + distance
            between = slice(i + 1, j)
            value = partial[i, j]
            if distance > 1:
                left, right = full[i, between], full[j, between]
                solved = np.linalg.solve(full[between, between], np.stack([left, right], axis=1))
                free = (1.0 - left @ solved[:, 0]) * (1.0 - right @ solved[:, 1])
                value = left @ solved[:, 1] + partial[i, j] * np.sqrt(np.maximum(free, 0.0))
            full[i, j] = full[j, i] = value
    return full


def fit_by_monte_carlo(
    columns: CodedColumns, kinds: Sequence[str], *, seed: int = 0, progress: Progress = silent
) -> list[tuple[CodedColumns, Floats]]:
    """Columns and correlation matrix for each of `kinds`, "gaussian" or "dvine"."""
    if columns.times is not None:
        raise UnsupportedError("the published Monte Carlo needs every record here, and the table stays in its cluster")
    generator = np.random.default_rng([seed, 0x3C])
    count = len(columns.sizes)
    pairs = np.eye(count)
    edges = list(combinations(range(count), 2))
    for done, (i, j) in enumerate(edges):
        pairs[i, j] = pairs[j, i] = match_correlation_by_draws(columns, i, j, None, generator)
        progress("matching pairs of columns by Monte Carlo", (done + 1) / (len(edges) * len(kinds)))
    fits = []
    for kind in kinds:
        if kind == "gaussian":
            fits.append((columns, nearest_correlation(pairs)))
            continue
        order = chain_columns(pairs)
        ordered = columns.only(order)
        partial = np.eye(count)
        for (i, j), strata in strata_between(ordered).items():
            partial[i, j] = partial[j, i] = match_correlation_by_draws(ordered, i, j, strata, generator)
        fits.append((ordered, correlation_of_vine(partial)))
    return fits


def match_correlation_by_draws(
    columns: CodedColumns, first: int, second: int, strata: NDArray[np.int64] | None, generator: np.random.Generator
) -> float:
    """The ρ in [0, 1) that minimises (Î − I)², Î from one draw of n pairs: golden section and parabolas (Brent)."""
    if min(columns.sizes[first], columns.sizes[second]) < 2:
        return 0.0
    information = observed_information(columns.codes[first], columns.codes[second], strata)
    normals = generator.standard_normal((2, columns.people))
    cuts = [upper_edges(columns.counts(j) / columns.people)[:-1] for j in (first, second)]
    one = np.searchsorted(cuts[0], normals[0])

    def misfit(rho: float) -> float:
        other = rho * normals[0] + np.sqrt(1.0 - rho * rho) * normals[1]
        return (observed_information(one, np.searchsorted(cuts[1], other), strata) - information) ** 2

    return float(minimize_scalar(misfit, bounds=(0.0, 0.995), method="bounded").x)
