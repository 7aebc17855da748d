"""How sure a curve fit is: the points are moved within their noise and fitted again, all replicates at once."""

from __future__ import annotations

import numpy as np

from incrowd.pitmanyor.fit_points import CurveFit, people_behind, usable_points
from incrowd.pitmanyor.model import PitmanYor, discount_and_concentration, expected_correctness, expected_uniqueness
from incrowd.pitmanyor.posterior import Posterior
from incrowd.special import Floats

_ITERATIONS = 30
_LIMITS = np.array([[0.01, 80.0], [-1.0, 1.0]])


def bootstrap(fit: CurveFit, *, replicates: int = 300, seed: int = 0) -> Posterior:
    """Equally likely (d, α) for a curve fit, from `replicates` curves that might as well have been measured.

    The noise of the points is that which was measured with them, or else that of a sample of as many people from
    the fitted model; what the fit leaves unexplained is added to it.
    """
    sizes, values, weights = usable_points(fit.curve, fit.metric, fit.weighting)
    model = fit.pitman_yor
    fitted = np.asarray(model.correctness(sizes) if fit.metric == "correctness" else model.uniqueness(sizes))
    noise = _covariance(fit, model, sizes, values)
    noise = noise + float(np.mean((values - fitted) ** 2)) * np.eye(sizes.size)
    moved = values + _draws(noise, replicates, np.random.default_rng(seed))
    start = np.tile([fit.h, fit.gamma], (replicates, 1))
    found = _refit(start, sizes, moved, np.sqrt(weights), fit)
    d, alpha = discount_and_concentration(found[:, 0], found[:, 1])
    return Posterior(d, alpha, np.full(replicates, 1.0 / replicates))


def sampling_covariance(model: PitmanYor, sizes: Floats, people: float) -> Floats:
    """Covariance of κ between sub-galleries of one random sample of `people` from the model's frequencies.

    With S(x) = x·κ(x) the expected classes in x draws and f ~ Poisson(n·π) people in a class, the covariance of the
    rarefied numbers of classes is S(s+t) − S(s+t−st/n), less s·t·Ξ(s)·Ξ(t)/n because the people are counted.
    """
    together = sizes[:, None] + sizes
    fewer = np.maximum(together - sizes[:, None] * sizes / people, 1.0)
    lone = model.uniqueness(sizes)
    classes = together * model.correctness(together) - fewer * model.correctness(fewer)
    product = sizes[:, None] * sizes
    return np.asarray((classes - product * lone[:, None] * lone / people) / product)


def _covariance(fit: CurveFit, model: PitmanYor, sizes: Floats, values: Floats) -> Floats:
    kept = fit.curve.sizes > 1
    if fit.curve.covariance is not None and fit.metric == "correctness":
        return np.asarray(fit.curve.covariance[np.ix_(kept, kept)])
    people = max(people_behind(fit.curve), float(sizes[-1]))
    covariance = sampling_covariance(model, sizes, people)
    if fit.metric == "correctness":
        return covariance
    # uniqueness moves together between sizes as correctness does, each with its binomial spread
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    binomial = np.sqrt(np.maximum(values * (1.0 - values), 0.25 / people) / people)
    return np.asarray(covariance / np.outer(spread, spread) * np.outer(binomial, binomial))


def _draws(covariance: Floats, replicates: int, random: np.random.Generator) -> Floats:
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(random.standard_normal((replicates, values.size)) @ root.T)


def _refit(at: Floats, sizes: Floats, targets: Floats, root: Floats, fit: CurveFit) -> Floats:
    """Levenberg–Marquardt for every row of targets at the same time."""
    expected = expected_correctness if fit.metric == "correctness" else expected_uniqueness

    def residuals(rows: Floats) -> Floats:
        d, alpha = discount_and_concentration(rows[..., 0], rows[..., 1])
        return np.asarray(root * (expected(d[..., None], alpha[..., None], sizes) - targets))

    damping = np.full(at.shape[0], 1e-3)
    current = residuals(at)
    loss = np.einsum("ij,ij->i", current, current)
    for _ in range(_ITERATIONS):
        step = np.where(at + 1e-5 > _LIMITS[:, 1], -1e-5, 1e-5)
        nudged = [residuals(at + step * axis) for axis in (np.array([1.0, 0.0]), np.array([0.0, 1.0]))]
        jacobian = np.stack([(nudged[i] - current) / step[:, i : i + 1] for i in (0, 1)], axis=2)
        tried = np.clip(at + _steps(jacobian, current, damping), _LIMITS[:, 0], _LIMITS[:, 1])
        after = residuals(tried)
        new_loss = np.einsum("ij,ij->i", after, after)
        better = new_loss < loss
        settled = np.all(np.abs(tried - at) < 1e-5) or np.all(np.abs(new_loss - loss) < 1e-9 * loss + 1e-15)
        at = np.where(better[:, None], tried, at)
        current = np.where(better[:, None], after, current)
        loss = np.where(better, new_loss, loss)
        damping = np.clip(np.where(better, 0.1 * damping, 10.0 * damping), 1e-9, 1e9)
        if settled:
            break
    return at


def _steps(jacobian: Floats, residual: Floats, damping: Floats) -> Floats:
    gradient = np.einsum("bij,bi->bj", jacobian, residual)
    curvature = np.einsum("bij,bik->bjk", jacobian, jacobian)
    diagonal = np.einsum("bjj->bj", curvature) * (1.0 + damping[:, None]) + 1e-14
    determinant = diagonal[:, 0] * diagonal[:, 1] - curvature[:, 0, 1] ** 2
    first = (gradient[:, 0] * diagonal[:, 1] - gradient[:, 1] * curvature[:, 0, 1]) / determinant
    second = (gradient[:, 1] * diagonal[:, 0] - gradient[:, 0] * curvature[:, 0, 1]) / determinant
    return -np.stack([first, second], axis=1)
