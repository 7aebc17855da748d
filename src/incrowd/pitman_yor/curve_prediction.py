"""Intervals of a curve fit: of h, of γ, and of quantities of a population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from incrowd.pitman_yor.curve_fit import CurveFit
from incrowd.pitman_yor.curve_posterior import curve_posteriors
from incrowd.pitman_yor.model import PitmanYor, expected_correctness, expected_uniqueness
from incrowd.pitman_yor.posterior import Posterior
from incrowd.pitman_yor.prediction import correctness_interval, uniqueness_interval

_COSTLY = 60  # points of the posterior that are used for costly functions
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class CurvePrediction:
    """Intervals from the posterior given the points, widened if needed to contain the fitted value.

    If the points do not determine the sign of γ, there is a posterior for each sign, and an interval contains both. If
    the largest gallery is everybody tested, their number of classes is known and the population contains them.
    Otherwise it is any population of the law.
    """

    fit: CurveFit
    posteriors: tuple[Posterior, ...]

    @classmethod
    def of(cls, fit: CurveFit) -> CurvePrediction:
        """The prediction from the posterior given the points of this fit."""
        return cls(fit, curve_posteriors(fit))

    def entropy(self, level: float = 0.95) -> Interval:
        """Interval of h, in nats."""
        return self._over(self.fit.h, lambda posterior: posterior.interval(posterior.h, level))

    def tail(self, level: float = 0.95) -> Interval:
        """Interval of γ, within [−1, 1]."""
        low, high = self._over(self.fit.gamma, lambda posterior: posterior.interval(posterior.gamma, level))
        return max(low, -1.0), min(high, 1.0)

    def correctness(self, population: float, level: float = 0.95) -> Interval:
        """Interval of the correctness in a population."""

        def interval(posterior: Posterior) -> Interval:
            if not self._contains_tested(population):
                expected = expected_correctness(posterior.d, posterior.alpha, population)
                return posterior.interval(expected, level)
            return correctness_interval(posterior, *self._known, population, level)

        return self._over(self.fit.pitman_yor.correctness(population), interval)

    def uniqueness(self, population: float, level: float = 0.95) -> Interval:
        """Interval of the uniqueness in a population."""
        (people, classes), measured = self._known, self.fit.curve.uniqueness

        def interval(posterior: Posterior) -> Interval:
            d, alpha = posterior.d, posterior.alpha
            if not self._contains_tested(population):
                return posterior.interval(expected_uniqueness(d, alpha, population), level)
            unknown = measured is None or people == 1
            alone = people * (expected_uniqueness(d, alpha, people) if unknown else measured[-1])  # type: ignore[index]
            return uniqueness_interval(posterior, people, classes, alone, population, level)

        return self._over(self.fit.pitman_yor.uniqueness(population), interval)

    def violations(self, population: float, k: int, level: float = 0.95) -> Interval:
        """Interval of the share of people in classes smaller than `k`."""

        def interval(posterior: Posterior) -> Interval:
            few = posterior.thinned(_COSTLY)
            share = [PitmanYor(*pair).violations(population, k) for pair in zip(few.d, few.alpha, strict=True)]
            return few.interval(share, level)

        return self._over(self.fit.pitman_yor.violations(population, k), interval)

    def _over(self, fitted: float, interval: Callable[[Posterior], Interval]) -> Interval:
        """The smallest interval that contains those of all posteriors, and the fitted value."""
        lows, highs = zip(*(interval(posterior) for posterior in self.posteriors), strict=True)
        return float(min(*lows, fitted)), float(max(*highs, fitted))

    def _contains_tested(self, population: float) -> bool:
        return population > self._known[0] and self.fit.curve.covariance is None

    @property
    def _known(self) -> tuple[int, int]:
        """(people, classes) of the people tested; one person if the curve does not reach all of them."""
        curve = self.fit.curve
        reached = self.fit.metric == "correctness" and curve.people == curve.sizes[-1]
        return (curve.people, round(curve.people * float(curve.correctness[-1]))) if reached else (1, 1)
