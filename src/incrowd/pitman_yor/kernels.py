"""Compiled loops: drawing a partition, and the curve fit, which evaluates one model at a time.

The formulas are those of `special.py` and `model.py`, for plain numbers; tests compare the two.
"""

import math

import numpy as np

from incrowd._support.compiled import njit
from incrowd.special import SHIFT, STIRLING

_POWERS = np.array([power for power, _ in STIRLING], dtype=np.float64)
_FACTORS = np.array([factor for _, factor in STIRLING])
_EULER = 0.5772156649015329


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def seat_everybody(d, alpha, n, random):  # type: ignore[no-untyped-def]
    """Chinese restaurant process: person i starts a class by (α + K·d)/(α + i), or joins a class of f by f − d."""
    label = np.empty(n, dtype=np.int64)
    sizes = np.zeros(n, dtype=np.int64)
    classes = 0
    for i in range(n):
        if i == 0 or random.random() < (alpha + classes * d) / (alpha + i):
            label[i] = classes
            classes += 1
        elif d < 0 and random.random() * (i - classes * d) >= i:
            # f − d = f + |d|: the second part is the same for every class
            label[i] = np.int64(random.random() * classes)
        else:
            chosen = label[np.int64(random.random() * i)]
            # for d > 0 a class is picked by its size f, then kept with chance (f − d)/f
            while d > 0 and random.random() * sizes[chosen] < d:
                chosen = label[np.int64(random.random() * i)]
            label[i] = chosen
        sizes[label[i]] += 1
    return sizes[:classes].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _digamma_and_slope(x):  # type: ignore[no-untyped-def]
    """ψ(x) and ψ'(x): the recurrence up to 8, then the asymptotic series."""
    value, slope = 0.0, 0.0
    while x < 8.0:
        value -= 1.0 / x
        slope += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / (x * x)
    value += math.log(x) - 0.5 / x - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))))
    slope += 1.0 / x + 0.5 * r + r / x * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r * (1 / 30 - r * (5 / 66)))))
    return value, slope


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _inverse_digamma(y):  # type: ignore[no-untyped-def]
    if y > 18.0:
        return math.exp(y) + 0.5
    x = math.exp(y) + 0.5 if y > -2.22 else -1.0 / (y + _EULER)
    for _ in range(8):
        value, slope = _digamma_and_slope(x)
        step = (value - y) / slope
        x -= step
        if abs(step) < 1e-14 * x:
            break
    return x


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _log1p_ratio(x):  # type: ignore[no-untyped-def]
    return math.log1p(x) / x if x != 0.0 else 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _expm1_ratio(x):  # type: ignore[no-untyped-def]
    return math.expm1(x) / x if x != 0.0 else 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _gamma_ratio_slope(a, d, n):  # type: ignore[no-untyped-def]
    """`special.gamma_ratio_slope`, compiled."""
    slope = 0.0
    for _ in range(SHIFT):
        factor = n / (n + a) / (a + d)
        slope += factor * _log1p_ratio(-d * factor)
        a += 1.0
    b, c = a + d, a + n
    factor = n / c / b
    slope += n / c * _log1p_ratio(d / c) + math.log1p(n / b) - (a - 0.5) * factor * _log1p_ratio(-d * factor)
    near, far = _log1p_ratio(d / a) / a, _log1p_ratio(d / c) / c
    inverse_near, inverse_far = 1.0 / a, 1.0 / c
    near_power, far_power = inverse_near, inverse_far
    for i in range(_POWERS.size):
        p = _POWERS[i]
        first = near_power * near * _expm1_ratio(-p * d * near)
        slope += _FACTORS[i] * p * (first - far_power * far * _expm1_ratio(-p * d * far))
        near_power *= inverse_near * inverse_near
        far_power *= inverse_far * inverse_far
    return slope


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def law(d, alpha, n, unique):  # type: ignore[no-untyped-def]
    """Expected uniqueness or correctness, as `model.expected_uniqueness` and `model.expected_correctness`."""
    if n <= 1.0:
        return 1.0
    if unique:
        base, others = alpha + d, n - 1.0
        rest = math.exp(-(1.0 - d) * _gamma_ratio_slope(base + 1.0, 1.0 - d, others))
        return base / (others + base) * ((alpha + n) / (1.0 + alpha)) * rest
    slope = _gamma_ratio_slope(alpha + 1.0, d, n)
    total = n + alpha + d
    return (alpha + d) / n * ((n + alpha) / total) * slope * _expm1_ratio(d * slope) + 1.0 / total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def weigh_residuals(h, gamma, n, values, roots, unique, out):  # type: ignore[no-untyped-def]
    """Weighted residuals of one model into `out`; their sum of squares."""
    d = 1.0 - _inverse_digamma(-_EULER - h * gamma) if gamma != 0.0 else 0.0
    alpha = _inverse_digamma(-_EULER + (h - h * gamma)) - 1.0 if gamma != 1.0 else 0.0
    total = 0.0
    for i in range(n.size):
        out[i] = roots[i] * (law(d, alpha, n[i], unique) - values[i])
        total += out[i] * out[i]
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def best_start(hs, gammas, n, values, roots, unique):  # type: ignore[no-untyped-def]
    """The pair of the grid with the smallest sum of squares."""
    out = np.empty(n.size)
    best, at_h, at_gamma = math.inf, hs[0], gammas[0]
    for h in hs:
        for gamma in gammas:
            total = weigh_residuals(h, gamma, n, values, roots, unique, out)
            if total < best:
                best, at_h, at_gamma = total, h, gamma
    return at_h, at_gamma


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def descend(h, gamma, limits, n, values, roots, unique):  # type: ignore[no-untyped-def]
    """Levenberg–Marquardt over (h, γ) within `limits`; the sum of squares comes third."""
    now, next_h, next_gamma = np.empty(n.size), np.empty(n.size), np.empty(n.size)
    loss = weigh_residuals(h, gamma, n, values, roots, unique, now)
    damping = 1e-3
    for _ in range(200):
        step_h = 1e-6 * max(1.0, h) if h + 1e-4 < limits[0, 1] else -1e-6 * h
        step_gamma = 1e-6 if gamma + 1e-5 < limits[1, 1] else -1e-6
        weigh_residuals(h + step_h, gamma, n, values, roots, unique, next_h)
        weigh_residuals(h, gamma + step_gamma, n, values, roots, unique, next_gamma)
        slope_h, slope_gamma = (next_h - now) / step_h, (next_gamma - now) / step_gamma
        pull_h, pull_gamma = float(slope_h @ now), float(slope_gamma @ now)
        hh, hg, gg = float(slope_h @ slope_h), float(slope_h @ slope_gamma), float(slope_gamma @ slope_gamma)
        # a parameter at its limit that wants to go beyond it stays there
        if (gamma <= limits[1, 0] and pull_gamma > 0) or (gamma >= limits[1, 1] and pull_gamma < 0):
            pull_gamma, hg, gg = 0.0, 0.0, 1.0
        if (h <= limits[0, 0] and pull_h > 0) or (h >= limits[0, 1] and pull_h < 0):
            pull_h, hg, hh = 0.0, 0.0, 1.0
        improved = False
        while damping < 1e10:
            first, second = hh * (1.0 + damping) + 1e-15, gg * (1.0 + damping) + 1e-15
            determinant = first * second - hg * hg
            new_h = h - (pull_h * second - pull_gamma * hg) / determinant
            new_gamma = gamma - (pull_gamma * first - pull_h * hg) / determinant
            new_h = min(max(new_h, limits[0, 0]), limits[0, 1])
            new_gamma = min(max(new_gamma, limits[1, 0]), limits[1, 1])
            new_loss = weigh_residuals(new_h, new_gamma, n, values, roots, unique, next_h)
            if new_loss < loss:
                improved = True
                break
            damping *= 10.0
        if not improved:
            break
        moved = abs(new_h - h) + abs(new_gamma - gamma)
        gain = loss - new_loss
        h, gamma, loss = new_h, new_gamma, new_loss
        now, next_h = next_h, now
        damping = max(0.1 * damping, 1e-9)
        if moved < 1e-9 or gain < 1e-12 * loss:
            break
    return h, gamma, loss


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def allowed_middle(h, gamma, tolerance, n, values, roots, unique):  # type: ignore[no-untyped-def]
    """(h, γ) in the middle of the models with γ ≥ 0 that fit nearly as well as the best, if γ is not determined.

    For each γ of a grid the best h is found; models weigh exp(−(loss − best)/tolerance − h/5). If the loss rises by
    eight times the tolerance within 0.1 of the best γ, the best γ is kept.
    """
    limits = np.array([[0.01, 80.0], [gamma, gamma]])
    loss = descend(h, gamma, limits, n, values, roots, unique)[2]
    beyond = math.inf
    for side in (-0.1, 0.1):
        if 0.0 <= gamma + side <= 1.0:
            limits[1, :] = gamma + side
            beyond = min(beyond, descend(h, gamma + side, limits, n, values, roots, unique)[2])
    if beyond - loss > 8.0 * tolerance:
        return h, gamma
    total, mean, lowest, at_h = 0.0, 0.0, loss / tolerance + 0.2 * h, h
    for i in range(10):
        at = 0.1 * i
        limits[1, :] = at
        at_h, _, at_loss = descend(at_h if i else h, at, limits, n, values, roots, unique)
        weight = math.exp(min(lowest - at_loss / tolerance - 0.2 * at_h, 50.0))
        total += weight
        mean += weight * at
    if total < 1e-9:
        return h, gamma
    limits[1, :] = mean / total
    h, gamma, _ = descend(h, mean / total, limits, n, values, roots, unique)
    return h, gamma
