"""How sure a curve fit is: curves that might as well have been measured are fitted too, and the errors seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from incrowd.classes import ClassSizes
from incrowd.curves.exact import correctness_curve
from incrowd.errors import UnsupportedError
from incrowd.pitmanyor.fit_points import CLEAR_EVIDENCE, CurveFit, people_behind, scaling_law, usable_points
from incrowd.pitmanyor.model import PitmanYor, expected_correctness, expected_uniqueness
from incrowd.pitmanyor.predict import new_classes, new_classes_variance, new_uniques, still_unique
from incrowd.progress import Progress, silent
from incrowd.special import Floats

_MOST_PEOPLE = 100_000  # larger simulated samples would only cost time: the tail decides, and it is seen by then
_QUICK = 20_000
_CALIBRATION = 1.3  # small samples err more than fits to them let on; measured by simulation, docs/forecast.md
_UNIT = 1e-15  # shares are kept this far from 0 and 1 where their logit is taken


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Fits to simulated curves (`d`, `alpha`), the models they were drawn from, and the samples where people were.

    Intervals turn the errors of the replicates around: what lay 5 % too high there may lie 5 % too high here. The
    models drawn from are not the fit alone but fits to samples of it, since noise depends on what is true.
    """

    fit: CurveFit
    parents: tuple[PitmanYor, ...]
    d: Floats
    alpha: Floats
    people: int
    classes: Floats | None
    uniques: Floats | None
    noise: Floats

    @property
    def models(self) -> list[PitmanYor]:
        """The fitted models."""
        return [PitmanYor(float(d), float(alpha)) for d, alpha in zip(self.d, self.alpha, strict=True)]

    def entropy(self, level: float = 0.95) -> tuple[float, float]:
        """Interval of h, in nats."""
        parents = np.log([model.h for model in self.parents])
        low, high = self._around(np.log(self.fit.h), np.log([model.h for model in self.models]), parents, level)
        return float(np.exp(low)), float(np.exp(high))

    def tail(self, level: float = 0.95) -> tuple[float, float]:
        """Interval of γ, within the [−1, 1] where it lives."""
        parents = np.array([model.gamma for model in self.parents])
        values = np.array([model.gamma for model in self.models])
        low, high = self._around(self.fit.gamma, values, parents, level)
        return max(low, -1.0), min(high, 1.0)

    def _around(self, centre: float, values: Floats, parents: Floats, level: float) -> tuple[float, float]:
        """Errors turned around; not for γ < 0, where the limit −1 is near and they all point the same way."""
        if self.fit.gamma >= 0:
            return _turned(centre, values - parents, level)
        tail = 0.5 * (1.0 - level)
        low, high = np.quantile(values, [tail, 1.0 - tail])
        return float(min(low, centre)), float(max(high, centre))

    def correctness(self, population: float, level: float = 0.95) -> tuple[float, float]:
        """Interval of the correctness in a population."""
        forecast = expected_correctness(self.d, self.alpha, population)
        here = self.fit.pitman_yor.correctness(population)
        return _shares(forecast, self._true_correctness(population), here, level)

    def uniqueness(self, population: float, level: float = 0.95) -> tuple[float, float]:
        """Interval of the uniqueness in a population."""
        forecast = expected_uniqueness(self.d, self.alpha, population)
        here = self.fit.pitman_yor.uniqueness(population)
        return _shares(forecast, self._true_uniqueness(population), here, level)

    def violations(self, population: float, k: int, level: float = 0.95) -> tuple[float, float]:
        """Interval of the share of people in classes smaller than `k`."""
        forecast, true = (
            np.array([model.violations(population, k) for model in models]) for models in (self.models, self.parents)
        )
        return _shares(forecast, true, self.fit.pitman_yor.violations(population, k), level)

    def _true_correctness(self, population: float) -> Floats:
        """What the population that each simulated sample came from turns out to have."""
        if self.classes is None or population <= self.people:
            return np.array([model.correctness(population) for model in self.parents])
        mean, variance = np.empty(self.d.size), np.empty(self.d.size)
        for i, (model, classes) in enumerate(zip(self.parents, self.classes, strict=True)):
            sample = {"people": self.people, "classes": int(classes)}
            mean[i] = float(new_classes(model.d, model.alpha, population=population, **sample))
            variance[i] = float(new_classes_variance(model.d, model.alpha, population=population, **sample))
        # a spread that stays above 0: the new classes are a positive number
        spread = np.sqrt(np.log1p(np.divide(variance, mean**2, out=np.zeros(mean.shape), where=mean > 0)))
        new = mean * np.exp(spread * self.noise - 0.5 * spread**2)
        return np.asarray((self.classes + new) / population)

    def _true_uniqueness(self, population: float) -> Floats:
        if self.uniques is None or self.classes is None or population <= self.people:
            return np.array([model.uniqueness(population) for model in self.parents])
        total = np.empty(self.d.size)
        for i, (model, classes, uniques) in enumerate(zip(self.parents, self.classes, self.uniques, strict=True)):
            sample = {"people": self.people, "population": population}
            kept = float(still_unique(model.d, model.alpha, **sample))  # type: ignore[arg-type]
            total[i] = uniques * kept + float(new_uniques(model.d, model.alpha, classes=int(classes), **sample))  # type: ignore[arg-type]
        return np.asarray(total / population)


def bootstrap(
    fit: CurveFit, *, replicates: int | None = None, seed: int = 0, progress: Progress = silent
) -> Replicates:
    """Fits to curves that might as well have been measured.

    Where the points' own covariance was measured (sparse and robust matching) they are moved by it; else as many
    people as were tested are drawn from the fitted process, classed, and their curve is fitted.
    """
    random = np.random.default_rng(seed)
    if fit.curve.covariance is not None and fit.metric == "correctness":
        return _moved_points(fit, replicates or 200, random)
    people = int(min(people_behind(fit.curve), _MOST_PEOPLE))
    wanted = replicates or (200 if people <= _QUICK else 100)
    first = _simulated(fit, [fit.pitman_yor], people, max(wanted // 4, 10), random, lambda share: None)
    parents = [model for _, _, model in first]

    def tell(share: float) -> None:
        progress("simulating curves", share)

    found = _simulated(fit, parents, people, wanted, random, tell)
    return Replicates(
        fit,
        tuple(parent for parent, _, _ in found),
        np.array([model.d for _, _, model in found]),
        np.array([model.alpha for _, _, model in found]),
        people,
        np.array([sample.classes for _, sample, _ in found], dtype=np.float64),
        np.array([sample.uniques for _, sample, _ in found], dtype=np.float64),
        random.standard_normal(len(found)),
    )


def _simulated(
    fit: CurveFit,
    parents: list[PitmanYor],
    people: int,
    wanted: int,
    random: np.random.Generator,
    tell: Callable[[float], None],
) -> list[tuple[PitmanYor, ClassSizes, PitmanYor]]:
    """Samples drawn from the parents in turn, each with its parent and the model fitted to it."""
    sizes = np.unique(np.minimum(fit.curve.sizes[fit.curve.sizes > 1], people))
    found: list[tuple[PitmanYor, ClassSizes, PitmanYor]] = []
    for turn in range(3 * wanted):
        parent = parents[turn % len(parents)]
        sample = ClassSizes.from_sizes(parent.sample(people, int(random.integers(2**62))))
        model = _fit_sample(fit, sample, sizes)
        if model is not None:
            found.append((parent, sample, model))
            tell(len(found) / wanted)
        if len(found) == wanted:
            return found
    raise UnsupportedError(
        f"curves of {people:,} people like these mostly cannot be fitted (nobody, or everybody, is confused), so "
        "there is no interval; measure more people or other sizes"
    )


def _belief(fit: CurveFit) -> float:
    """Where the fit believes in γ < 0, so do its replicates, on any evidence."""
    return CLEAR_EVIDENCE if fit.gamma >= 0 else 0.0


def _fit_sample(fit: CurveFit, sample: ClassSizes, sizes: NDArray[np.int64]) -> PitmanYor | None:
    """The same kind of fit to a simulated sample; None if it has nothing to fit."""
    try:
        points = usable_points(correctness_curve(sample, sizes), fit.metric, fit.weighting)
    except UnsupportedError:
        return None
    return scaling_law(*points, fit.metric, sample.people, believe=_belief(fit))[0]


def _moved_points(fit: CurveFit, replicates: int, random: np.random.Generator) -> Replicates:
    """Points moved by their measured covariance, and by what the fit leaves unexplained."""
    sizes, values, weights = usable_points(fit.curve, fit.metric, fit.weighting)
    inside = fit.curve.sizes > 1
    assert fit.curve.covariance is not None
    covariance = fit.curve.covariance[np.ix_(inside, inside)] + fit.residual**2 * np.eye(sizes.size)
    scale, axes = np.linalg.eigh(covariance)
    moved = values + random.standard_normal((replicates, sizes.size)) @ (axes * np.sqrt(np.maximum(scale, 0.0))).T
    people = people_behind(fit.curve)
    rows = np.clip(moved, 0.0, 1.0)
    models = [scaling_law(sizes, row, weights, fit.metric, people, believe=_belief(fit))[0] for row in rows]
    return Replicates(
        fit,
        (fit.pitman_yor,) * replicates,
        np.array([model.d for model in models]),
        np.array([model.alpha for model in models]),
        int(people),
        None,
        None,
        np.zeros(replicates),
    )


def _shares(forecast: Floats, true: Floats, here: float, level: float) -> tuple[float, float]:
    """Errors turned around on the scale of log odds, where a share has no ends."""
    low, high = _turned(float(_logit(np.array(here))), _logit(forecast) - _logit(true), level)
    return float(expit(low)), float(expit(high))


def _turned(centre: float, error: Floats, level: float) -> tuple[float, float]:
    tail = 0.5 * (1.0 - level)
    middle = np.median(error)
    low, high = middle + _CALIBRATION * (np.quantile(error, [tail, 1.0 - tail]) - middle)
    return float(centre - high), float(centre - low)


def _logit(share: Floats) -> Floats:
    return np.asarray(logit(np.clip(share, _UNIT, 1.0 - _UNIT)))
