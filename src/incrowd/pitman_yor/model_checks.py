"""Checks of a fit: the largest size held out, and class sizes compared with samples of the fitted process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes
from incrowd.curves import Curve
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor.class_size_fit import ClassSizeFit, fit_class_sizes
from incrowd.pitman_yor.curve_fit import CurveFit, fit_curve
from incrowd.pitman_yor.curve_prediction import CurvePrediction
from incrowd.pitman_yor.prediction import SamplePrediction
from incrowd.results import Result
from incrowd.special import Floats

_HELD_OUT = 0.1  # the part of the largest size up to which the model may look
_HELD_OUT_PARTS = (0.1, 0.3)
_ERRORS = {"sparse": (2.5, 0.2), "robust": (1.55, 0.125)}
_RANKS = 200


@dataclass(frozen=True, slots=True)
class HoldOut(Result):
    """Forecast for the largest gallery by a fit to galleries of at most `seen`, and the measured value there."""

    seen: int
    size: int
    measured: float
    forecast: float
    low: float
    high: float
    _derived: ClassVar[tuple[str, ...]] = ("inside",)

    @property
    def error(self) -> float:
        """Forecast minus measured value."""
        return self.forecast - self.measured

    @property
    def inside(self) -> bool:
        """True if the interval contains the measured value."""
        return self.low <= self.measured <= self.high

    @property
    def warning(self) -> str | None:
        """The consequence of a failed check for the forecast, in words."""
        if self.inside:
            return None
        return "the law missed the largest measured size: trust the forecast less than its interval says"


def hold_out(fit: ClassSizeFit | CurveFit, *, seed: int = 0) -> HoldOut:
    """Fit again on galleries of up to a tenth of the largest size, and forecast the largest.

    A curve loses its larger points (at least the largest; two must stay). Class sizes lose nine people in ten, at
    random. Raises UnsupportedError if too little is left.
    """
    return _hold_out_people(fit, seed) if isinstance(fit, ClassSizeFit) else _hold_out_points(fit, _HELD_OUT)


def error_beyond(fit: CurveFit) -> float:
    """Error of the law in log odds for every e-fold beyond the largest size of a sparse or robust curve.

    Such curves are not made of classes, and the law holds for them only approximately. Held-out sizes measure the
    error: fits to a tenth and to three tenths of the largest size miss it by a root mean square of r for every e-fold.
    Half an interval is a multiple of r, plus a constant for errors that the held-out sizes do not show. The two
    constants of each kind were set so that intervals contain 95 % of the truths, on sub-galleries of two tables of
    purchases and visits (sparse) and of simulated vectors (robust).
    """
    rates = []
    for part in _HELD_OUT_PARTS:
        try:
            check = _hold_out_points(fit, part)
        except UnsupportedError:
            continue
        if check.seen < check.size:
            odds = logit(np.clip([check.measured, check.forecast], 1e-9, 1.0 - 1e-9))
            rates.append(float(odds[0] - odds[1]) / np.log(check.size / check.seen))
    seen = float(np.sqrt(np.mean(np.square(rates)))) if rates else 0.0
    multiple, unseen = _ERRORS[fit.curve.kind]
    return float(np.hypot(multiple * seen, unseen))


def part_of_curve(fit: CurveFit, seen: float = _HELD_OUT) -> tuple[Curve, int]:
    """The points up to a part of the largest size, two at least, and that size."""
    sizes = fit.curve.sizes[fit.curve.sizes > 1]
    if sizes.size < 3:
        raise UnsupportedError("holding out the largest size needs three or more sizes above 1")
    largest = int(sizes[-1])
    return fit.curve.up_to(max(int(seen * largest), int(sizes[1]))), largest


def _hold_out_points(fit: CurveFit, seen: float) -> HoldOut:
    points, largest = part_of_curve(fit, seen)
    part = fit_curve(points, metric=fit.metric, weighting=fit.weighting)
    measured, forecast, interval = (
        getattr(one, fit.metric) for one in (fit.curve, part.pitman_yor, CurvePrediction.of(part))
    )
    return HoldOut(
        int(part.curve.sizes[-1]), largest, float(measured[-1]), float(forecast(largest)), *interval(largest)
    )


def _hold_out_people(fit: ClassSizeFit, seed: int) -> HoldOut:
    people = fit.sizes.people
    seen = int(_HELD_OUT * people)
    if seen < 2:
        raise UnsupportedError(f"a tenth of {people} people is too few to fit")
    part = fit_class_sizes(subsample(fit.sizes, seen, np.random.default_rng(seed)), method=fit.method)
    answer = SamplePrediction(part.sizes, part.posterior()).correctness(people)
    return HoldOut(seen, people, fit.sizes.correctness, *answer)


def subsample(sizes: ClassSizes, people: int, random: np.random.Generator) -> ClassSizes:
    """The class sizes of some of the people, drawn at random without replacement."""
    every = np.repeat(sizes.sizes, sizes.counts)
    drawn = random.multivariate_hypergeometric(every, people, method="marginals")
    return ClassSizes.from_sizes(drawn[drawn > 0])


@dataclass(frozen=True, slots=True, eq=False)
class RankSize(Result):
    """Shares of the largest, second largest … class, in the data and in draws from the fitted process.

    `low` and `high` hold 95 % of the draws at each rank. `divergence` is the Kullback–Leibler divergence, in bits, of
    the mean draw from the data, over all ranks.
    """

    ranks: NDArray[np.int64]
    observed: Floats
    expected: Floats
    low: Floats
    high: Floats
    divergence_bits: float
    _derived: ClassVar[tuple[str, ...]] = ("inside",)

    @property
    def inside(self) -> float:
        """Share of the ranks shown at which the data lie within the band."""
        return float(np.mean((self.observed >= self.low) & (self.observed <= self.high)))


def rank_size_check(
    fit: ClassSizeFit, *, draws: int = 100, sticks: bool = False, seed: int = 0, progress: Progress = silent
) -> RankSize:
    """Posterior predictive check: class sizes of draws from the fitted process against those of the data.

    A draw is a sample of as many people as the data has. With `sticks` it is, as published, the random frequencies of
    the process itself, by stick-breaking. Class sizes are whole people and frequencies are not, so at the ranks of
    small classes the data of a right model lie outside that band.

    >>> fit = fit_class_sizes(ClassSizes.from_counts({1: 60, 2: 20, 3: 8, 7: 2}))
    >>> rank_size_check(fit, draws=50).inside > 0.8
    True
    """
    people, classes = fit.sizes.people, fit.sizes.classes
    ranks = np.unique(np.rint(np.geomspace(1, classes, _RANKS)).astype(np.int64))
    observed = np.repeat(fit.sizes.sizes, fit.sizes.counts)[::-1].astype(np.float64)
    drawn, total = np.zeros((draws, ranks.size)), np.zeros(classes)
    random = np.random.default_rng(seed)
    for row in range(draws):
        one = int(random.integers(2**62))
        if sticks:
            simulated = fit.model.stick_breaking(classes, one)[0] * people
        else:
            simulated = np.sort(fit.model.sample(people, one))[::-1][:classes]
        total[: simulated.size] += simulated
        shown = ranks <= simulated.size
        drawn[row, shown] = simulated[ranks[shown] - 1]
        progress("drawing samples from the fitted process", (row + 1) / draws)
    # half a person at each rank keeps a class that no sample reached from counting as impossible
    expected = (total + 0.5) / (total + 0.5).sum()
    share = observed / people
    divergence = float(share @ np.log2(share / expected))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0) / people
    return RankSize(ranks, share[ranks - 1], expected[ranks - 1], low, high, max(divergence, 0.0))
