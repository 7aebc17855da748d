"""Fit of the Pitman–Yor model to class sizes, by the likelihood of the whole partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor.likelihood import (
    PUBLISHED_STRENGTH,
    Coordinates,
    FiniteClasses,
    InfiniteClasses,
    bound_tail,
    log_likelihood,
    log_target,
)
from incrowd.pitman_yor.model import PitmanYor
from incrowd.pitman_yor.peak import Peak, find_peak
from incrowd.pitman_yor.posterior import Posterior, posterior_around, posterior_below_zero
from incrowd.results import Result

CLEAR_EVIDENCE_OF_CLASSES = 5.0
"""Gain in log likelihood that γ < 0 needs to be chosen: e⁵ ≈ 150 to one."""

UNDECIDED = 2.0
"""Largest loss in log likelihood at which the other sign of γ is included in an interval: about half the 95 % quantile
of χ² with one degree of freedom."""

_INSIDE = 0.01  # a best d above this is well inside d > 0, so the likelihood below 0 is lower


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizeFit(Result):
    """A model fitted to class sizes.

    `evidence_below_zero` is the difference in log likelihood between the best model with γ < 0 and the best with γ ≥ 0.
    γ < 0 is chosen only above `CLEAR_EVIDENCE_OF_CLASSES`. `posterior()` gives the uncertainty.
    """

    sizes: ClassSizes
    model: PitmanYor
    method: Literal["map", "ml"]
    log_likelihood: float
    evidence_below_zero: float
    coordinates: Coordinates
    peak: Peak
    _made: list[Posterior] = field(default_factory=list)
    _hidden: ClassVar[frozenset[str]] = frozenset({"sizes", "model", "coordinates", "peak", "_made"})

    @property
    def h(self) -> float:
        """Entropy in nats."""
        return self.model.h

    @property
    def gamma(self) -> float:
        """Tail complexity."""
        return self.model.gamma

    def posterior(self) -> Posterior:
        """Weighted points over (d, α) given the class sizes; computed at the first call, in some 10 to 100 ms.

        Its prior on γ is weaker than that of the "map" fit, see `likelihood.POSTERIOR_STRENGTH`.
        """
        if not self._made:
            place, sizes = self.coordinates, self.sizes
            self._made.append(
                posterior_around(place, self.peak, lambda points: log_target(place, sizes, points, strength=0.0))
            )
        return self._made[0]

    def below_zero(self) -> Posterior | None:
        """Weighted points over (d, α) with γ < 0, or None if the data rule out a finite number of classes."""
        posterior, height = posterior_below_zero(lambda d, alpha: log_likelihood(self.sizes, d, alpha), self.h)
        return posterior if height >= self.log_likelihood - UNDECIDED else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, with the parameters of the model."""
        counts = {"people": self.sizes.people, "classes": self.sizes.classes}
        return {"from": "class sizes", **self.model.to_dict(), **counts, **Result.to_dict(self)}


def fit_class_sizes(sizes: ClassSizes, *, method: Literal["map", "ml"] = "map") -> ClassSizeFit:
    """Fit entropy h and tail complexity γ to class sizes.

    γ below 0 (a finite number of classes) is chosen only on clear evidence: small tables often look finite.

    Args:
        sizes: class sizes of a table, in which some people share a class and not all do.
        method: "map", the most probable values under the published prior on γ, or "ml", maximum likelihood.

    Returns:
        The fit, from which `posterior()` gives the uncertainty.

    Raises:
        UnsupportedError: all people are alike, or all are unique.

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
    infinite: Coordinates = InfiniteClasses(sizes.people)
    peak, height = _best_model(infinite, sizes, strength)
    d, alpha = infinite.parameters(peak.at[None, :])
    model = PitmanYor(float(d[0]), float(alpha[0]))
    if model.d > _INSIDE:
        return ClassSizeFit(sizes, model, method, height, 0.0, infinite, peak)
    finite: Coordinates = FiniteClasses(sizes.people, sizes.classes)
    finite_peak, finite_height = _best_model(finite, sizes, strength)
    gain = max(finite_height - height, 0.0)
    if gain > CLEAR_EVIDENCE_OF_CLASSES:
        d, alpha = bound_tail(*finite.parameters(finite_peak.at[None, :]))
        model = PitmanYor(float(d[0]), float(alpha[0]))
        return ClassSizeFit(sizes, model, method, finite_height, gain, finite, finite_peak)
    return ClassSizeFit(sizes, model, method, height, gain, infinite, peak)


def _best_model(coordinates: Coordinates, sizes: ClassSizes, strength: float) -> tuple[Peak, float]:
    """The peak of likelihood and prior, and the log likelihood there."""
    peak = find_peak(
        lambda points: log_target(coordinates, sizes, points, strength=strength),
        coordinates.starts(),
        coordinates.limits,
    )
    return peak, float(log_target(coordinates, sizes, peak.at[None, :], strength=0.0)[0])
