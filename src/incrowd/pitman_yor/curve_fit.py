"""Fit of the scaling law to measured points: correctness (or uniqueness) at two or more gallery sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import psi

from incrowd.curves.result import Curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor.baselines import CurveModel, fit_entropy_rule, fit_exponential, fit_polynomial, fit_random_guess
from incrowd.pitman_yor.model import PitmanYor
from incrowd.results import Result
from incrowd.special import Floats

Metric = Literal["correctness", "uniqueness"]
Name = Literal["PYC", "ENT", "EXP", "POL", "RND"]
NAMES: tuple[Name, ...] = ("PYC", "ENT", "EXP", "POL", "RND")
CLEAR_EVIDENCE = 3.0
"""Gain in log likelihood that γ < 0 needs to be chosen: e³ ≈ 20 to one."""

LEAST = 1e-9
"""Smallest h(1 − γ) for γ ≥ 0, and smallest log(1 − d) for γ < 0, of a fit."""

_MOST_HEAVY, _BEYOND = 1e5, 12.0  # largest hγ of a fit, and how far h(1 − γ) may exceed the log of the largest gallery
_TOLERANCE = 0.01  # fraction of the noise; models whose losses differ by less fit equally well (docs/forecast.md)
_START_LOG_C = np.array([0.0, -0.1, -0.25, -0.45, -0.7, -1.1, -1.6, -2.2, -3.0, -4.0, -5.5, -7.0, -9.0])
_STARTS_OF_LIGHT = 14
_START_POINTS, _FEW_POINTS = 6, 14
_NOBODY = 1e-9  # numbers of people below this are rounding errors of 0


@dataclass(frozen=True, slots=True, eq=False)
class CurveFit(Result):
    """A model fitted to a curve. `residual` is the root mean square residual.

    `evidence_below_zero` is the gain in log likelihood with γ < 0; None for a baseline.
    """

    curve: Curve
    name: Name
    model: CurveModel
    metric: Metric
    weighting: Literal["log", "binomial"]
    loss: float
    residual: float
    evidence_below_zero: float | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"curve", "model"})

    @property
    def pitman_yor(self) -> PitmanYor:
        """The fitted process, if this is the scaling law."""
        if not isinstance(self.model, PitmanYor):
            raise InputError(f"a {self.name} fit has no entropy and no tail complexity; fit 'PYC' for those")
        return self.model

    @property
    def h(self) -> float:
        """Entropy in nats."""
        return self.pitman_yor.h

    @property
    def gamma(self) -> float:
        """Tail complexity."""
        return self.pitman_yor.gamma

    @property
    def ends_at_limit(self) -> bool:
        """True if the law ends at a limit of the search, where no technique that was measured is."""
        (least, _), (_, longest) = limits_of_fit(float(self.curve.sizes[-1]))
        model = self.pitman_yor
        light = float(psi(model.alpha + 1.0) - psi(1.0) + 2.0 * min(psi(1.0) - psi(1.0 - model.d), 0.0))
        return bool(np.log1p(-model.d) < least + 0.01 or light > longest - 0.01)

    def correctness_at(self, sizes: Floats) -> list[float]:
        """The share of people named correctly in galleries of these sizes."""
        return [float(share) for share in np.atleast_1d(self.model.correctness(sizes))]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, with the parameters of the model."""
        return {"from": "curve", **Result.to_dict(self), **self.model.to_dict()}


def fit_curve(
    curve: Curve | ArrayLike,
    correctness: ArrayLike | None = None,
    *,
    uniqueness: ArrayLike | None = None,
    people: int | None = None,
    name: Name = "PYC",
    metric: Metric | None = None,
    weighting: Literal["log", "binomial"] = "log",
    prior: Literal["cautious"] | None = "cautious",
    seed: int = 0,
) -> CurveFit:
    """Fit the scaling law to a measured curve by weighted least squares, as published.

    Args:
        curve: a curve, or gallery sizes together with `correctness` or `uniqueness`.
        correctness: shares of people named correctly at these sizes.
        uniqueness: shares of people who are unique at these sizes, to fit instead.
        people: number of people tested, if sizes are given.
        name: "PYC" (the scaling law) or a baseline: "ENT", "EXP", "POL" or "RND".
        metric: which of a curve's two shares is fitted; the correctness unless given.
        weighting: weights of the points: "log" n, as published, or the inverse of their "binomial" variance.
        prior: "cautious" chooses γ < 0 (a finite number of classes) on clear evidence only; if the points do not
            determine γ, and the number of people tested is known, it takes the middle of the possible values. None is
            plain least squares with γ free.
        seed: seed of the random baseline "RND".

    Returns:
        The fit, for `forecast`.

    Raises:
        InputError: the points are no shares, or the arguments contradict each other.
        UnsupportedError: no law can be fitted to these points, such as those of a curve that is 1 everywhere.

    >>> fit = fit_curve([100, 1000], correctness=[0.99, 0.80])
    >>> round(fit.model.correctness(10_000), 2)
    0.21
    """
    points, wanted = _points(curve, correctness, uniqueness, people, metric)
    sizes, values, weights = usable_points(points, wanted, weighting)
    evidence: float | None = None
    model: CurveModel
    if name == "PYC":
        if prior not in ("cautious", None):
            raise InputError(f"the prior is 'cautious' or None; {prior!r} was given")
        model, evidence = fit_scaling_law(sizes, values, weights, wanted, points.people, cautious=prior is not None)
    else:
        model = _baseline(name, sizes, values, weights, wanted, seed)
    fitted = model_values(model, wanted, sizes)
    loss = float(weights @ (values - fitted) ** 2)
    residual = float(np.sqrt(np.mean((values - fitted) ** 2)))
    return CurveFit(points, name, model, wanted, weighting, loss, residual, evidence)


def compare_fits(
    curve: Curve, *, metric: Metric = "correctness", weighting: Literal["log", "binomial"] = "log", seed: int = 0
) -> dict[Name, CurveFit]:
    """Fit the scaling law and the four baselines to the same points.

    Args:
        curve: the measured points.
        metric: the share to fit; baselines exist for the correctness only.
        weighting: "log" or "binomial", as for `fit_curve`.
        seed: of the random baseline.

    Returns:
        Fits by name; "PYC" is the scaling law.

    Raises:
        UnsupportedError: no law can be fitted to these points.

    >>> shares = [0.99, 0.97, 0.9, 0.78, 0.6, 0.42]
    >>> fits = compare_fits(Curve.from_points([10, 30, 100, 300, 1000, 3000], shares))
    >>> min(fits, key=lambda name: fits[name].residual)
    'PYC'
    """
    names = NAMES if metric == "correctness" else ("PYC",)
    return {name: fit_curve(curve, name=name, metric=metric, weighting=weighting, seed=seed) for name in names}


def model_values(model: CurveModel, metric: Metric, sizes: Floats) -> Floats:
    """The expected values of the model at these sizes."""
    if metric == "uniqueness":
        assert isinstance(model, PitmanYor)
        return np.asarray(model.uniqueness(sizes))
    return np.asarray(model.correctness(sizes))


def fit_scaling_law(
    sizes: Floats,
    values: Floats,
    weights: Floats,
    metric: Metric,
    people: int,
    *,
    cautious: bool = True,
) -> tuple[PitmanYor, float]:
    """The model with the smallest weighted sum of squares, and the evidence for γ < 0.

    If `cautious`, γ < 0 is chosen above `CLEAR_EVIDENCE` only, and among models that fit equally well the middle one;
    where the number of people tested is not known (0), nothing says which models fit equally well.
    """
    points = (sizes, values, np.sqrt(weights), metric == "uniqueness")
    noise = binomial_variance(values, people or sizes[-1])
    infinite = _least_squares(points, finite=False)
    evidence = 0.0
    if infinite[0] >= -1e-6:  # γ at its limit 0: a negative γ may fit better
        finite = _least_squares(points, finite=True)
        misfit = [_misfit(points, noise, *fitted) for fitted in (infinite, finite)]
        # all points are measured on the same people, so many points are little more informative than two
        evidence = 0.5 * min(1.0, 2.0 / sizes.size) * (misfit[0] - misfit[1])
        if evidence > (CLEAR_EVIDENCE if cautious else 0.0):
            return model_at_coordinates(*finite), evidence
    if not cautious or not people:
        return model_at_coordinates(*infinite), evidence
    return model_at_coordinates(*_middle_of_allowed(points, infinite, _TOLERANCE * float(weights @ noise))), evidence


Points = tuple[Floats, Floats, Floats, bool]


def _least_squares(points: Points, *, finite: bool) -> tuple[float, float]:
    """The best model with one sign of γ, in the coordinates of the kernels: a coarse grid, then Levenberg–Marquardt."""
    from incrowd.pitman_yor.kernels import best_start, descend

    sizes, values, roots, unique = points
    (least, longest), of_light = limits_of_fit(sizes[-1])
    # everybody alike, d = α = 0, is no process: it is left out at one end of either axis
    limits = np.array([(LEAST, longest), of_light] if finite else [(least, 0.0), (LEAST, longest)])
    few = np.unique(np.linspace(0, sizes.size - 1, _START_POINTS).astype(int))
    second = np.linspace(limits[1, 0], longest, _STARTS_OF_LIGHT)
    first = np.linspace(LEAST, longest, _STARTS_OF_LIGHT) if finite else _START_LOG_C
    lost = 1.0 - values
    start = best_start(first, second, sizes[few], lost[few], roots[few], unique)
    log_c, slack, _ = descend(*start, limits, sizes, lost, roots, unique)
    return float(log_c), float(slack)


def limits_of_fit(largest: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The limits of log c = log(1 − d) and of h(1 − γ) above its least, for the largest gallery measured."""
    longest = math.log(largest) + _BEYOND
    return (-math.log(_MOST_HEAVY), longest), (0.0, longest)


def model_at_coordinates(log_c: float, slack: float) -> PitmanYor:
    """The process at these coordinates of the kernels."""
    from incrowd.pitman_yor.kernels import model_at

    c, x = model_at(log_c, slack)
    return PitmanYor(1.0 - c, x - 1.0)


def _middle_of_allowed(points: Points, best: tuple[float, float], tolerance: float) -> tuple[float, float]:
    """The middle of the models that the points allow, if they do not determine γ; it forecasts better than the edge."""
    from incrowd.pitman_yor.kernels import allowed_middle

    sizes, values, roots, unique = points
    few = np.unique(np.linspace(0, sizes.size - 1, _FEW_POINTS).astype(int))  # as informative as all
    roots = np.sqrt(sizes.size / few.size) * roots[few]
    longest = limits_of_fit(sizes[-1])[1][1]
    log_c, light = allowed_middle(*best, tolerance, longest, sizes[few], 1.0 - values[few], roots, unique)
    return float(log_c), float(light)


def _misfit(points: Points, noise: Floats, log_c: float, slack: float) -> float:
    """Sum of squares in units of the noise."""
    sizes, values, unique = points[0], points[1], points[3]
    model = model_at_coordinates(log_c, slack)
    fitted = model_values(model, "uniqueness" if unique else "correctness", sizes)
    return float(np.sum((fitted - values) ** 2 / noise))


def _baseline(name: str, sizes: Floats, values: Floats, weights: Floats, metric: Metric, seed: int) -> CurveModel:
    if metric != "correctness":
        raise InputError(f"{name} is a curve for correctness; uniqueness is fitted by 'PYC' only")
    if name == "RND":
        return fit_random_guess(values, seed)
    if name not in NAMES:
        raise InputError(f"no fit is called {name!r}; there are {', '.join(NAMES)}")
    fits: dict[str, Callable[[Floats, Floats, Floats], CurveModel]] = {
        "ENT": fit_entropy_rule,
        "EXP": fit_exponential,
        "POL": fit_polynomial,
    }
    return fits[name](sizes, values, weights)


def _points(
    curve: Curve | ArrayLike,
    correctness: ArrayLike | None,
    uniqueness: ArrayLike | None,
    people: int | None,
    metric: Metric | None,
) -> tuple[Curve, Metric]:
    if isinstance(curve, Curve):
        if correctness is not None or uniqueness is not None:
            raise InputError("give a curve, or sizes with correctness or uniqueness, not both")
        if people is not None:
            raise InputError("a curve says itself how many people were tested; give people= to Curve.from_points")
        return curve, metric or "correctness"
    if (correctness is None) == (uniqueness is None):
        raise InputError("give either correctness= or uniqueness= with the sizes")
    given: Metric = "correctness" if correctness is not None else "uniqueness"
    if metric not in (None, given):
        raise InputError(f"{given} was given, but the {metric} is to be fitted; give {metric}=")
    values = correctness if correctness is not None else uniqueness
    points = Curve.from_points(curve, values if values is not None else [], people=people or 0)
    if correctness is not None:
        return points, given
    return replace(points, uniqueness=points.correctness), given


def usable_points(points: Curve, metric: Metric, weighting: str) -> tuple[Floats, Floats, Floats]:
    """Sizes above 1 (at 1 everybody is named correctly) with their values and weights, if they can be fitted at all."""
    if weighting not in ("log", "binomial"):
        raise InputError(f"points are weighted by 'log' or 'binomial'; {weighting!r} was given")
    every = points.correctness if metric == "correctness" else points.uniqueness
    if every is None:
        raise InputError("this curve has no uniqueness; fit its correctness")
    inside = points.sizes > 1
    sizes, values = points.sizes[inside].astype(np.float64), every[inside]
    problem = _why_undetermined(sizes, values, metric, people_tested(points)) or _why_impossible(
        sizes, values, metric, points.people
    )
    if problem:
        raise UnsupportedError(problem)
    weights = np.log(sizes) if weighting == "log" else 1.0 / binomial_variance(values, people_tested(points))
    return sizes, values, weights


def _why_undetermined(sizes: Floats, values: Floats, metric: Metric, people: float) -> str | None:
    """The reason why these points do not determine a law, or None."""
    if sizes.size < 2:
        points = f"{sizes.size} point{'s' if sizes.size != 1 else ''}"
        return f"{points} above size 1; a fit needs two or more different sizes"
    if np.all(people * (1.0 - values) < _NOBODY):
        return (
            f"the {metric} is 1 at every size: nobody was ever confused, and that does not say when it will "
            "happen; measure larger galleries"
        )
    if np.all(values <= 0.0):
        return f"the {metric} is 0 at every size; measure smaller galleries"
    if values.max() == values.min():
        return f"the {metric} is the same at every size, but it must fall from 1 as a gallery grows; check the points"
    if values[-1] > values[0]:
        return (
            f"the {metric} is higher at the largest size than at the smallest, but it must fall as a gallery "
            "grows; check that sizes and values belong together"
        )
    return None


def _why_impossible(sizes: Floats, values: Floats, metric: Metric, people: int) -> str | None:
    """The reason why no matching gives such points, even with the noise of few people; 0 people means not known."""
    guess = 1.0 / sizes - (3.0 * np.sqrt(1.0 / (sizes * people)) if people else 0.0)
    below = np.flatnonzero(values < guess * (1.0 - 1e-9))
    if metric == "correctness" and below.size:
        size = int(sizes[below[0]])
        return (
            f"the correctness at size {size:,} is below 1/{size:,}, which a blind guess reaches; check that sizes and "
            "values belong together, and leave out points that were rounded to 0"
        )
    rise = values[1:] - np.minimum.accumulate(values)[:-1]
    noise = 4.0 * np.sqrt(2.0 * binomial_variance(values[1:], people or sizes[-1]))
    steep = np.flatnonzero(rise > noise + 0.01)  # published shares are often rounded to a hundredth
    if steep.size:
        return (
            f"the {metric} rises by {rise[steep[0]]:.2g} up to size {int(sizes[steep[0] + 1]):,}, more than chance "
            "explains, but it must fall as a gallery grows; check that sizes and values belong together"
        )
    return None


def people_tested(points: Curve) -> float:
    """The number of people tested; if the curve does not give it, the size of the largest gallery."""
    return float(points.people or points.sizes[-1])


def binomial_variance(values: Floats, people: float | Floats) -> Floats:
    """Binomial variance of shares; half a person is added, because a measured share of exactly 1 is uncertain too."""
    middle = (values * people + 0.5) / (people + 1.0)
    return np.asarray(middle * (1.0 - middle) / people)
