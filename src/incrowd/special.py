"""Ratios of gamma functions and of binomial coefficients without numerical cancellation.

With h(1 − γ) up to 300 nats the concentration reaches 1e130, where `lgamma(x + d) - lgamma(x)` has no correct digit. So
this module never subtracts logarithms of gamma functions: it adds `log1p` of small numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

NORMAL_QUANTILE = 1.959963984540054  # standard errors in half a 95 % interval
SHIFT = 8  # Stirling's series is used from here on; below, the recurrence of the gamma function
STIRLING = ((1, 1 / 12), (3, -1 / 360), (5, 1 / 1260), (7, -1 / 1680), (9, 1 / 1188))
_DIRECT = 64  # sums of at most this many terms are added one by one
_TINY = np.finfo(np.float64).tiny  # stands for x = 0: log(1 + x) and e^x − 1 are x to machine precision
_ENDS = 12  # terms added one by one at either end of a longer sum


def inverse_digamma(value: ArrayLike) -> Floats:
    """The x > 0 whose digamma is `value`, by Newton's method.

    >>> from scipy.special import psi
    >>> float(inverse_digamma(psi(3.0)))
    3.0...
    """
    from scipy.special import psi  # the rest of the module is quick to import

    y = np.asarray(value, dtype=np.float64)
    large = np.exp(np.minimum(y, 700.0)) + 0.5
    x = np.where(y > -2.22, large, -1.0 / (np.minimum(y, -2.0) - psi(1.0)))
    near = np.minimum(x, 1e9)
    for _ in range(6):
        near = near - (psi(near) - y) / _trigamma(near)
        near = np.where(near > 0, near, 0.5 * x)
    # beyond this point the next term of the expansion, 1 / (24 e^y), is below one unit in the last place
    return np.asarray(np.where(y > 18.0, large, near), dtype=np.float64)


def _trigamma(x: Floats) -> Floats:
    """Trigamma for x > 0 with seven digits: enough for Newton's method, whose limit does not depend on the slope.

    Four steps of the recurrence, then the asymptotic series. This takes a fifth of the time of zeta(2, x).
    """
    z = x + 4.0
    inverse = 1.0 / z
    square = inverse * inverse
    series = inverse + square * (0.5 + inverse * (1 / 6 + square * (-1 / 30 + square / 42)))
    for step in range(4):
        series = series + 1.0 / np.square(x + step)
    return np.asarray(series)


def log1p_ratio(x: Floats) -> Floats:
    """log(1 + x) / x, which is 1 at 0."""
    safe = np.where(x == 0, _TINY, x)
    return np.asarray(np.log1p(safe) / safe)


def expm1_ratio(x: Floats) -> Floats:
    """(e^x − 1) / x, which is 1 at 0."""
    safe = np.where(x == 0, _TINY, x)
    return np.asarray(np.expm1(safe) / safe)


def gamma_ratio_slope(a: ArrayLike, d: ArrayLike, n: ArrayLike) -> Floats:
    """log[ Γ(a+n+d) Γ(a) / (Γ(a+n) Γ(a+d)) ] / d, for a > 0, a + d > 0, n ≥ 0; its limit at d = 0.

    The first `SHIFT` steps use Γ(z+1) = zΓ(z): the four factors of each step form one log1p. Then follows Stirling's
    formula, with its four logarithms regrouped so that no term is larger than the result.
    """
    a, d, n = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (a, d, n)))
    steps = a + np.arange(SHIFT, dtype=np.float64).reshape((-1,) + (1,) * a.ndim)
    factor = (n / (n + steps)) / (steps + d)
    slope = (factor * log1p_ratio(-d * factor)).sum(axis=0)
    a = a + SHIFT
    b, c = a + d, a + n
    factor = (n / c) / b
    slope = slope - (a - 0.5) * factor * log1p_ratio(-d * factor)
    slope = slope + (n / c) * log1p_ratio(d / c) + np.log1p(n / b)
    ends = np.stack([a, c])
    ratio = log1p_ratio(d / ends) / ends
    for power, weight in STIRLING:  # (z^−p − (z+d)^−p) / d at either end, without cancellation
        first, last = ends ** (-power) * power * ratio * expm1_ratio(-power * d * ratio)
        slope = slope + weight * (first - last)
    return np.asarray(slope)


def log_gamma_ratio(a: ArrayLike, d: ArrayLike, n: ArrayLike) -> Floats:
    """log[ Γ(a+n+d) Γ(a) / (Γ(a+n) Γ(a+d)) ], for a > 0, a + d > 0, n ≥ 0.

    >>> float(log_gamma_ratio(1.0, 2.0, 3.0))  # Γ(6) Γ(1) / (Γ(4) Γ(3)) = 10
    2.302585...
    """
    return np.asarray(np.asarray(d, dtype=np.float64) * gamma_ratio_slope(a, d, n))


def log_beta_binomial(x: ArrayLike, trials: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    """log P(X = x) for X ~ BetaBinomial(trials, a, b), with a, b > 0 and 0 ≤ x ≤ trials."""
    x, trials, a, b = (np.asarray(value, dtype=np.float64) for value in (x, trials, a, b))
    return np.asarray(
        log_gamma_ratio(1.0, a - 1.0, x) - log_gamma_ratio(trials - x + 1.0, b - 1.0, x) - log_gamma_ratio(b, a, trials)
    )


def log_steps(start: ArrayLike, step: ArrayLike, terms: ArrayLike) -> Floats:
    """Σ log(start + i·step) for i = 1 … terms: the log of a rising factorial with steps of any size.

    Short sums are added term by term. Long ones use the Euler–Maclaurin formula, except at both ends, where a term may
    be close to 0. The caller guarantees `start + i·step > 0` for all i.

    >>> float(log_steps(0.0, 1.0, 5))  # log 5!
    4.787491...
    """
    start, step, terms = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (start, step, terms)))
    shape = start.shape
    start, step, terms = (np.atleast_1d(value).ravel() for value in (start, step, terms))
    few = terms <= _DIRECT
    if few.all():
        return _added_up(start, step, terms).reshape(shape)
    if not few.any():
        return _euler_maclaurin(start, step, terms).reshape(shape)
    total = np.empty(start.shape)
    total[few] = _added_up(start[few], step[few], terms[few])
    many = ~few
    total[many] = _euler_maclaurin(start[many], step[many], terms[many])
    return total.reshape(shape)


def _added_up(start: Floats, step: Floats, terms: Floats) -> Floats:
    most = int(terms.max(initial=0))
    index = np.arange(1, most + 1, dtype=np.float64)
    wanted = index <= terms[:, None]
    inside = np.where(wanted, start[:, None] + index * step[:, None], 1.0)
    return np.asarray(np.log(inside).sum(axis=1))


def _euler_maclaurin(start: Floats, step: Floats, terms: Floats) -> Floats:
    ends = np.arange(1, _ENDS, dtype=np.float64)
    total = np.log(start[:, None] + ends * step[:, None]).sum(axis=1)
    total += np.log(start[:, None] + (terms[:, None] - ends + 1.0) * step[:, None]).sum(axis=1)
    length = terms - 2.0 * _ENDS + 1.0  # from term _ENDS to term `terms − _ENDS + 1`
    first = start + _ENDS * step
    last = first + length * step
    total += length * (np.log(first) + _mean_excess(length * step / first)) + 0.5 * (np.log(first) + np.log(last))
    low, high = step / first, step / last
    total += (high - low) / 12 - (high**3 - low**3) / 360 + (high**5 - low**5) / 1260
    return np.asarray(total)


def _mean_excess(t: Floats) -> Floats:
    """∫₀¹ log(1 + t·x) dx = (1 + 1/t) log(1 + t) − 1."""
    small = np.abs(t) < 1e-4
    safe = np.where(small, 1.0, t)
    exact = np.log1p(safe) + np.log1p(safe) / safe - 1.0
    series = t * (0.5 - t * (1 / 6 - t * (1 / 12 - t / 20)))
    return np.asarray(np.where(small, series, exact))


def log_chance_missed(total: ArrayLike, group: ArrayLike, drawn: ArrayLike) -> Floats:
    """log[ C(total − group, drawn) / C(total, drawn) ]: the chance that a random draw contains nobody of a group.

    −inf if every draw contains somebody of the group.

    >>> round(float(np.exp(log_chance_missed(6, 2, 3))), 12)  # C(4, 3) / C(6, 3)
    0.2
    """
    total, group, drawn = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (total, group, drawn)))
    possible = group + drawn <= total
    rest = np.where(possible, total - group - drawn, 0.0) + 1.0
    return np.where(possible, -log_gamma_ratio(rest, group, drawn), -np.inf)
