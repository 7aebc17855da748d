"""Intervals of a curve fit: of h, γ and of quantities of a population."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.pitman_yor.curve_fit import CurveFit
from incrowd.pitman_yor.curve_posterior import curve_posterior
from incrowd.pitman_yor.model import PitmanYor, expected_correctness, expected_uniqueness
from incrowd.pitman_yor.posterior import Posterior
from incrowd.pitman_yor.prediction import (
    new_classes,
    new_classes_variance,
    new_uniques,
    outcome_interval,
    still_unique,
    uniques_interval,
    uniques_moments,
)
from incrowd.special import Floats

_COSTLY = 60  # points of the posterior where a function is costly
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class CurvePrediction:
    """Intervals from the posterior given the points, widened where needed to contain the fitted value.

    Where the largest gallery is everybody tested, their number of classes is known and the population contains them;
    otherwise it is any population of the law.
    """

    fit: CurveFit
    posterior: Posterior

    @classmethod
    def of(cls, fit: CurveFit) -> CurvePrediction:
        """From the posterior given the points of this fit."""
        return cls(fit, curve_posterior(fit))

    def entropy(self, level: float = 0.95) -> Interval:
        """Interval of h, in nats."""
        return _containing(self.fit.h, self.posterior.interval(self.posterior.h, level))

    def tail(self, level: float = 0.95) -> Interval:
        """Interval of γ, within the [−1, 1] where it lives."""
        low, high = _containing(self.fit.gamma, self.posterior.interval(self.posterior.gamma, level))
        return max(low, -1.0), min(high, 1.0)

    def correctness(self, population: float, level: float = 0.95) -> Interval:
        """Interval of the correctness in a population."""
        fitted, d, alpha = self.fit.pitman_yor.correctness(population), self.posterior.d, self.posterior.alpha
        if not self._contains_tested(population):
            return _containing(fitted, self.posterior.interval(expected_correctness(d, alpha, population), level))
        people, classes = self._known
        low, high = outcome_interval(self.posterior, *self._new_classes(population), population - people, level)
        return _containing(fitted, ((classes + low) / population, (classes + high) / population))

    def uniqueness(self, population: float, level: float = 0.95) -> Interval:
        """Interval of the uniqueness in a population."""
        fitted, d, alpha = self.fit.pitman_yor.uniqueness(population), self.posterior.d, self.posterior.alpha
        if not self._contains_tested(population):
            return _containing(fitted, self.posterior.interval(expected_uniqueness(d, alpha, population), level))
        (people, classes), measured = self._known, self.fit.curve.uniqueness
        alone = people * (expected_uniqueness(d, alpha, people) if measured is None or people == 1 else measured[-1])
        kept = still_unique(d, alpha, people=people, population=population)
        new = new_uniques(d, alpha, people=people, classes=classes, population=population)
        added = self._new_classes(population)
        moments = uniques_moments(alone, kept, new, *added)
        low, high = uniques_interval(self.posterior, moments, added, (people, classes, population), level)
        return _containing(fitted, (low / population, high / population))

    def _new_classes(self, population: float) -> tuple[Floats, Floats]:
        d, alpha, (people, classes) = self.posterior.d, self.posterior.alpha, self._known
        mean = new_classes(d, alpha, people=people, classes=classes, population=population)
        return mean, new_classes_variance(d, alpha, people=people, classes=classes, population=population)

    def violations(self, population: float, k: int, level: float = 0.95) -> Interval:
        """Interval of the share of people in classes smaller than `k`."""
        few = self.posterior.thinned(_COSTLY)
        share = [PitmanYor(*pair).violations(population, k) for pair in zip(few.d, few.alpha, strict=True)]
        return _containing(self.fit.pitman_yor.violations(population, k), few.interval(share, level))

    def _contains_tested(self, population: float) -> bool:
        return population > self._known[0] and self.fit.curve.covariance is None

    @property
    def _known(self) -> tuple[int, int]:
        """(people, classes) of those tested; one person where the curve does not reach all of them."""
        curve = self.fit.curve
        reached = self.fit.metric == "correctness" and curve.people == curve.sizes[-1]
        return (curve.people, round(curve.people * float(curve.correctness[-1]))) if reached else (1, 1)


def _containing(value: float, interval: Interval) -> Interval:
    return float(min(interval[0], value)), float(max(interval[1], value))
