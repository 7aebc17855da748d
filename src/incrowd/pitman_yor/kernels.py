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
def shortfall(c, x, n, unique):  # type: ignore[no-untyped-def]
    """1 − E κ(n), or 1 − E Ξ(n), of the model with d = 1 − c and α = x − 1, with a small relative error also near 0.

    A person's class has probability p ~ Beta(c, x − c), so 1 − E κ(n) is the mean of 1 − (1 − (1 − p)ⁿ)/(n p). Three
    forms, each where nothing cancels in it: a series while n E p is small, then one for heavy tails, then 1 − κ.
    """
    if n <= 1.0:
        return 0.0
    if unique:
        return -math.expm1(-c * _gamma_ratio_slope(x - c, c, n - 1.0))
    if n * max(c, 1.0) < 0.2 * x:
        total, term = 1.0, 1.0
        for k in range(1, 26):
            term *= -(n - 1.0 - k) / (k + 2.0) * (c + k) / (x + k)
            total += term
            if abs(term) < 1e-16 * total:
                break
        return c / x * (n - 1.0) / 2.0 * total
    if c <= 0.5:
        slope = _gamma_ratio_slope(x - c, c, n)
        return max(c * ((1.0 + (x - 1.0) / n) * slope * _expm1_ratio(-c * slope) - 1.0) / (1.0 - c), 0.0)
    d, people = 1.0 - c, n + x - c
    slope = _gamma_ratio_slope(x, d, n)
    return 1.0 - (x - c) / n * ((n + x - 1.0) / people) * slope * _expm1_ratio(d * slope) - 1.0 / people


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def shortfalls(d, alpha, n, unique):  # type: ignore[no-untyped-def]
    """A row of `shortfall` for each model, at all sizes."""
    rows = np.empty((d.size, n.size))
    for i in range(d.size):
        for j in range(n.size):
            rows[i, j] = shortfall(1.0 - d[i], 1.0 + alpha[i], n[j], unique)
    return rows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def model_at(log_c, slack):  # type: ignore[no-untyped-def]
    """(c, x) of the coordinates of the fit: log c, and h(1 − γ) above its least value, which is at γ = −1.

    With hγ = ψ(1) − ψ(c) and h(1 − γ) = ψ(x) − ψ(1). For large h, 1 − κ(n) ≈ c (log(n/x) − 1): c is the loss for every
    e-fold and h(1 − γ) ≈ log x the size from which it is lost. So the loss has a gradient everywhere.
    """
    c = math.exp(log_c)
    light = slack
    if log_c > 0.0:
        light += 2.0 * (_digamma_and_slope(c)[0] + _EULER)
    return c, _inverse_digamma(light - _EULER) if light > 0.0 else 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def shortfalls_at(log_c, slack, n, unique):  # type: ignore[no-untyped-def]
    """A row of `shortfall` for each model in the coordinates of the fit, at all sizes."""
    rows = np.empty((log_c.size, n.size))
    for i in range(log_c.size):
        c, x = model_at(log_c[i], slack[i])
        for j in range(n.size):
            rows[i, j] = shortfall(c, x, n[j], unique)
    return rows


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def weigh_residuals(log_c, slack, n, lost, roots, unique, out):  # type: ignore[no-untyped-def]
    """Weighted residuals of one model into `out`; their sum of squares. `lost` is 1 − the measured shares."""
    c, x = model_at(log_c, slack)
    total = 0.0
    for i in range(n.size):
        out[i] = roots[i] * (lost[i] - shortfall(c, x, n[i], unique))
        total += out[i] * out[i]
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def best_start(log_cs, slacks, n, lost, roots, unique):  # type: ignore[no-untyped-def]
    """The pair of the grid with the smallest sum of squares."""
    out = np.empty(n.size)
    best, at_c, at_slack = math.inf, log_cs[0], slacks[0]
    for log_c in log_cs:
        for slack in slacks:
            total = weigh_residuals(log_c, slack, n, lost, roots, unique, out)
            if total < best:
                best, at_c, at_slack = total, log_c, slack
    return at_c, at_slack


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def descend(log_c, slack, limits, n, lost, roots, unique):  # type: ignore[no-untyped-def]
    """Levenberg–Marquardt within `limits`; the sum of squares comes third."""
    now, next_c, next_slack = np.empty(n.size), np.empty(n.size), np.empty(n.size)
    loss = weigh_residuals(log_c, slack, n, lost, roots, unique, now)
    damping = 1e-3
    for _ in range(200):
        step_c = 1e-6 if log_c + 1e-5 < limits[0, 1] else -1e-6
        step_slack = 1e-6 if slack + 1e-5 < limits[1, 1] else -1e-6
        weigh_residuals(log_c + step_c, slack, n, lost, roots, unique, next_c)
        weigh_residuals(log_c, slack + step_slack, n, lost, roots, unique, next_slack)
        slope_c, slope_slack = (next_c - now) / step_c, (next_slack - now) / step_slack
        pull_c, pull_slack = float(slope_c @ now), float(slope_slack @ now)
        cc, cs, ss = float(slope_c @ slope_c), float(slope_c @ slope_slack), float(slope_slack @ slope_slack)
        # a parameter at its limit that wants to go beyond it stays there
        if (slack <= limits[1, 0] and pull_slack > 0) or (slack >= limits[1, 1] and pull_slack < 0):
            pull_slack, cs, ss = 0.0, 0.0, 1.0
        if (log_c <= limits[0, 0] and pull_c > 0) or (log_c >= limits[0, 1] and pull_c < 0):
            pull_c, cs, cc = 0.0, 0.0, 1.0
        improved = False
        while damping < 1e10:
            first, second = cc * (1.0 + damping) + 1e-300, ss * (1.0 + damping) + 1e-300
            determinant = first * second - cs * cs
            if determinant <= 0.0:
                damping *= 10.0
                continue
            new_c = log_c - (pull_c * second - pull_slack * cs) / determinant
            new_slack = slack - (pull_slack * first - pull_c * cs) / determinant
            new_c = min(max(new_c, limits[0, 0]), limits[0, 1])
            new_slack = min(max(new_slack, limits[1, 0]), limits[1, 1])
            new_loss = weigh_residuals(new_c, new_slack, n, lost, roots, unique, next_c)
            if new_loss < loss:
                improved = True
                break
            damping *= 10.0
        if not improved:
            break
        moved = abs(new_c - log_c) + abs(new_slack - slack)
        gain = loss - new_loss
        log_c, slack, loss = new_c, new_slack, new_loss
        now, next_c = next_c, now
        damping = max(0.1 * damping, 1e-9)
        if moved < 1e-9 or gain < 1e-12 * loss:
            break
    return log_c, slack, loss


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def best_light(gamma, light, most, n, lost, roots, unique):  # type: ignore[no-untyped-def]
    """The best h(1 − γ) up to `most` at a fixed γ in [0, 1), by damped steps on its logarithm; and its loss."""
    out, ahead = np.empty(n.size), np.empty(n.size)
    ratio = gamma / (1.0 - gamma)
    at = math.log(light)
    loss = weigh_residuals(_log_c_of(ratio * light), light, n, lost, roots, unique, out)
    for _ in range(60):
        value = math.exp(at + 1e-6)
        weigh_residuals(_log_c_of(ratio * value), value, n, lost, roots, unique, ahead)
        slope = (ahead - out) / 1e-6
        square = float(slope @ slope)
        if square <= 0.0:
            break
        step = min(max(-float(slope @ out) / square, -0.5), 0.5)
        improved = False
        for _ in range(12):
            value = min(math.exp(at + step), most)
            new_loss = weigh_residuals(_log_c_of(ratio * value), value, n, lost, roots, unique, ahead)
            if new_loss < loss:
                improved = True
                break
            step *= 0.25
        if not improved:
            break
        gain, loss, at = loss - new_loss, new_loss, math.log(value)
        out, ahead = ahead, out
        if abs(step) < 1e-9 or gain < 1e-12 * loss:
            break
    return math.exp(at), loss


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _log_c_of(heavy):  # type: ignore[no-untyped-def]
    return math.log(_inverse_digamma(-_EULER - heavy)) if heavy > 0.0 else 0.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def allowed_middle(log_c, light, tolerance, most, n, lost, roots, unique):  # type: ignore[no-untyped-def]
    """(log c, h(1 − γ)) in the middle of the models with γ ≥ 0 that fit nearly as well as the best, if γ is open.

    For each γ of a grid the best h is found; models weigh exp(−(loss − best)/tolerance) / h². If the loss rises by
    eight times the tolerance within 0.1 of the best γ, the best γ is kept.
    """
    heavy = -_EULER - _digamma_and_slope(math.exp(log_c))[0]
    light = max(light, 1e-6)
    gamma = heavy / (heavy + light)
    loss = weigh_residuals(log_c, light, n, lost, roots, unique, np.empty(n.size))
    beyond = math.inf
    for side in (-0.1, 0.1):
        if 0.0 <= gamma + side < 1.0:
            beyond = min(beyond, best_light(gamma + side, light, most, n, lost, roots, unique)[1])
    if beyond - loss > 8.0 * tolerance:
        return log_c, light
    total, mean = 0.0, 0.0
    lowest = loss / tolerance + 2.0 * math.log(heavy + light)
    for i in range(10):
        at = 0.1 * i
        at_light, at_loss = best_light(at, light, most, n, lost, roots, unique)
        weight = math.exp(min(lowest - at_loss / tolerance - 2.0 * math.log(at_light / (1.0 - at)), 50.0))
        total += weight
        mean += weight * at
    if total < 1e-9:
        return log_c, light
    gamma = mean / total
    light, _ = best_light(gamma, light, most, n, lost, roots, unique)
    return _log_c_of(light * gamma / (1.0 - gamma)), light
