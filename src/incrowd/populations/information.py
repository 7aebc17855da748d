"""Mutual information of two columns, and of a bivariate normal distribution cut into their values.

The plug-in information of a small sample is biased upwards. So the correlation is chosen such that the *expected
plug-in* information of a sample of this size equals the observed one: both sides have the same bias. The observed
margins have fewer rare values than the population, and samples from them have fewer still; `shuffled_information` is
the expected information of two independent columns with exactly the observed margins.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.special import Floats

_LOWEST, _STEP = np.log(1e-15), 0.02  # the table over log p
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_TOLERANCE = 5e-4  # absolute for a correlation, relative for information
_LARGEST = 0.995  # largest correlation; above it, cells of the normal are too thin for the quadrature


def observed_information(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    strata: NDArray[np.int64] | None = None,
    times: NDArray[np.int64] | None = None,
) -> float:
    """Plug-in mutual information in nats of two coded columns; conditional on `strata` if given.

    Entry i stands for `times[i]` records, or for one if `times` is None.

    >>> observed_information(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    0.693147...
    """
    people = first.size if times is None else int(times.sum())
    within = () if strata is None else (strata,)
    joint, one, two = (_x_log_x(times, *within, *columns) for columns in ((first, second), (first,), (second,)))
    base = people * np.log(people) if strata is None else _x_log_x(times, strata)
    return max(0.0, float(joint - one - two + base) / people)


def information_of_counts(joint: NDArray[Any], one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Plug-in mutual information in nats of two columns, from their joint and marginal counts.

    >>> information_of_counts(np.array([2, 2]), np.array([2, 2]), np.array([2, 2]))
    0.693147...
    """
    people = int(one.sum())
    excess = sum_x_log_x(joint) - sum_x_log_x(one) - sum_x_log_x(other) + people * np.log(people)
    return max(0.0, float(excess) / people)


def sum_x_log_x(counts: NDArray[Any]) -> float:
    """Σ c ln c over counts."""
    several = counts[counts > 1].astype(np.float64)
    return float(several @ np.log(several))


def _x_log_x(times: NDArray[np.int64] | None, *columns: NDArray[np.int64]) -> float:
    """Σ c ln c over the counts of the combinations."""
    key = columns[0].astype(np.int64)
    room = int(key.max()) + 1
    for column in columns[1:]:
        size = int(column.max()) + 1
        if room * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            room = int(key.max()) + 1
        key = key * size + column
        room *= size
    if room <= 4 * key.size + 65_536:
        counts = np.bincount(key, weights=times)
    elif times is None:
        counts = np.unique(key, return_counts=True)[1]
    else:
        counts = np.bincount(np.unique(key, return_inverse=True)[1], weights=times)
    return sum_x_log_x(counts)


@lru_cache(maxsize=256)
def expected_log_table(people: int) -> Floats:
    """E ln(1 + Y), Y ~ Binomial(people − 1, p), over the grid of log p: since E[X ln X] = n p E ln(1 + Y).

    ln(1 + y) = ∫ (e^−t − e^−t(1+y)) / t dt gives E ln(1 + Y) = ∫ e^−t [1 − (1 − p(1 − e^−t))^(n−1)] dt / t, summed over
    log t by the trapezoid rule, which is exact to rounding for such integrands.
    """
    log_p = np.arange(_LOWEST, _STEP, _STEP)
    p = np.minimum(np.exp(log_p), 1.0)[:, None]
    t = np.exp(np.arange(-46.0, 4.0, 0.2))
    # limited to 1 − 1e-16: at 1, log1p would take the logarithm of 0
    inside = -np.expm1((people - 1) * np.log1p(np.maximum(p * np.expm1(-t), 1e-16 - 1.0)))
    table: Floats = 0.2 * (np.exp(-t) * inside).sum(axis=1)
    table.flags.writeable = False
    return table


def expected_x_log_x(chances: Floats, people: int) -> float:
    """Σ E[X ln X] / n over cells with these chances, X ~ Binomial(n, p)."""
    from incrowd.populations import kernels

    return float(kernels.expected_log_sum(chances.ravel(), _LOWEST, _STEP, expected_log_table(people)))


def cell_chances(first: Floats, second: Floats, rho: float) -> Floats:
    """Chance of every cell of a bivariate normal with correlation `rho`, cut at these edges (±inf at the ends)."""
    from incrowd.populations import kernels

    cells = np.empty((first.size - 1, second.size - 1))
    kernels.fill_cells(first, second, rho, _NODES, _WEIGHTS, cells)
    return cells


def expected_information(cells: Floats, sizes: Floats, weights: Floats) -> float:
    """Expected plug-in information of samples from these cells: strata of `sizes` people, shares `weights`."""
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    total = 0.0
    for size, weight in zip(sizes, weights, strict=True):
        people = int(size)
        if people < 2:
            continue  # a stratum of one person has no information
        excess = expected_x_log_x(cells, people)
        excess -= expected_x_log_x(rows, people) + expected_x_log_x(columns, people)
        total += weight * (excess + np.log(people))
    return float(total)


def shuffled_information(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Expected plug-in information of two columns with these counts of values, if one column is shuffled at random.

    >>> round(shuffled_information(np.array([1, 1]), np.array([1, 1])), 4)  # the order does not matter
    0.6931
    """
    from incrowd.populations import kernels

    people = int(first.sum())
    one, other = (np.unique(counts[counts > 0], return_counts=True) for counts in (first, second))
    joint = kernels.shuffled_x_log_x(one[0], other[0], one[1], other[1], people)
    margins = sum(float((sizes * times) @ np.log(sizes)) for sizes, times in (one, other))
    return max(0.0, float(joint - margins) / people + float(np.log(people)))


def matching_correlation(first: Floats, second: Floats, information: float, sizes: Floats, weights: Floats) -> float:
    """The ρ in [0, 1) at which the expected plug-in information equals `information`.

    The expected information rises with ρ; if it is larger than `information` already at ρ = 0, the result is 0. Solved
    by regula falsi (Illinois) in ρ², in which the information is nearly linear.
    """

    def excess(square: float) -> float:
        return expected_information(cell_chances(first, second, float(np.sqrt(square))), sizes, weights) - information

    low, high = 0.0, _LARGEST**2
    at_low = excess(low)
    if at_low >= 0:
        return 0.0
    at_high = excess(high)
    if at_high <= 0:
        return _LARGEST
    moved = 0  # end of the bracket that moved last: 1 the upper, −1 the lower
    for _ in range(40):
        square = (low * at_high - high * at_low) / (at_high - at_low)
        value = excess(square)
        if abs(value) < 1e-7 or np.sqrt(high) - np.sqrt(low) < _TOLERANCE:
            break
        if value > 0:
            if high - square < 1e-9:
                break
            high, at_high = square, value
            at_low = at_low / 2 if moved == 1 else at_low
            moved = 1
        else:
            low, at_low = square, value
            at_high = at_high / 2 if moved == -1 else at_high
            moved = -1
        if abs(value) < _TOLERANCE * max(information, 1e-3):
            break
    return float(np.sqrt(square))
