"""Fit the Pitman–Yor model to class sizes: the whole partition is used, not a curve drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor.coordinates import FiniteSide, HeavySide, Side, at_least_minus_one, log_target
from incrowd.pitman_yor.likelihood import PUBLISHED_STRENGTH
from incrowd.pitman_yor.model import PitmanYor
from incrowd.pitman_yor.optimise import Peak, climb
from incrowd.pitman_yor.posterior import Posterior, posterior
from incrowd.results import Result

CLEAR_EVIDENCE_OF_CLASSES = 5.0
"""How much more likely (in log) the data must be with γ < 0 before it is believed: e⁵ ≈ 150 to one."""

_INSIDE = 0.01  # a best d above this is well inside d > 0: below 0 there is only less


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizeFit(Result):
    """A model fitted to class sizes.

    `evidence_below_zero` is by how much (in log likelihood) the best model with γ < 0 beats the best with γ ≥ 0;
    it is chosen only above `CLEAR_EVIDENCE_OF_CLASSES`. `posterior()` gives the uncertainty.
    """

    sizes: ClassSizes
    model: PitmanYor
    method: Literal["map", "ml"]
    log_likelihood: float
    evidence_below_zero: float
    side: Side
    peak: Peak

    @property
    def h(self) -> float:
        """Entropy in nats."""
        return self.model.h

    @property
    def gamma(self) -> float:
        """Tail complexity."""
        return self.model.gamma

    def posterior(self) -> Posterior:
        """Weighted points over (d, α) given the class sizes; computed at each call, some 10 to 100 ms.

        Its prior on γ is weaker than that of the "map" fit, see `likelihood.POSTERIOR_STRENGTH`.
        """
        return posterior(self.side, self.peak, lambda points: log_target(self.side, self.sizes, points, strength=0.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "from": "class sizes",
            "method": self.method,
            **self.model.to_dict(),
            "people": self.sizes.people,
            "classes": self.sizes.classes,
            "log_likelihood": self.log_likelihood,
            "evidence_below_zero": self.evidence_below_zero,
        }


def fit_class_sizes(sizes: ClassSizes, *, method: Literal["map", "ml"] = "map") -> ClassSizeFit:
    """Fit (h, γ) to class sizes: the most probable values ("map", prior on γ as published) or maximum likelihood.

    γ below 0 (a finite number of classes) is chosen only on clear evidence: small tables often look finite.

    >>> fit = fit_class_sizes(ClassSizes.from_counts({1: 60, 2: 20, 3: 8, 7: 2}))
    >>> 4 < fit.h < 7
    True
    """
    if method not in ("map", "ml"):
        raise InputError(f"the method is 'map' or 'ml'; {method!r} was given")
    if sizes.classes == sizes.people:
        raise UnsupportedError(
            f"all {sizes.people:,} people are alone in their class: the table does not say how many classes there "
            "could be; use a larger table or fewer columns"
        )
    if sizes.classes == 1:
        raise UnsupportedError(f"all {sizes.people:,} people are in one class; there is nothing to fit")
    strength = PUBLISHED_STRENGTH if method == "map" else 0.0
    heavy_side = HeavySide(sizes.people)
    heavy = _peak(heavy_side, sizes, strength)
    model = PitmanYor(*_parameters(heavy_side, heavy))
    height = _log_likelihood(heavy_side, sizes, heavy)
    if model.d > _INSIDE:
        return ClassSizeFit(sizes, model, method, height, 0.0, heavy_side, heavy)
    finite_side = FiniteSide(sizes.people, sizes.classes)
    finite = _peak(finite_side, sizes, strength)
    other_height = _log_likelihood(finite_side, sizes, finite)
    gain = max(other_height - height, 0.0)
    if gain > CLEAR_EVIDENCE_OF_CLASSES:
        d, alpha = at_least_minus_one(*finite_side.parameters(finite.at[None, :]))
        model = PitmanYor(float(d[0]), float(alpha[0]))
        return ClassSizeFit(sizes, model, method, other_height, gain, finite_side, finite)
    return ClassSizeFit(sizes, model, method, height, gain, heavy_side, heavy)


def _peak(side: Side, sizes: ClassSizes, strength: float) -> Peak:
    return climb(lambda points: log_target(side, sizes, points, strength=strength), side.starts(), side.limits)


def _parameters(side: Side, peak: Peak) -> tuple[float, float]:
    d, alpha = side.parameters(peak.at[None, :])
    return float(d[0]), float(alpha[0])


def _log_likelihood(side: Side, sizes: ClassSizes, peak: Peak) -> float:
    return float(log_target(side, sizes, peak.at[None, :], strength=0.0)[0])
