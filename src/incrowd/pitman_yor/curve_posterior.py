"""Posterior of (d, α) given the points of a curve: the shortfall 1 − share is log-normal, with the law's moments.

Points of one curve are measured on the same people, so their errors are correlated; the covariance depends on the
model. The shortfall is a positive number with a long upper tail (a few large classes cause it), hence log-normal.

`CurveMoments` has the exact moments under a Pitman–Yor process. A curve is Σ_f a_f g_s(f) over the a_f classes of size
f, so its covariance needs only the first two moments of the a_f. With blocks A and B of sizes f and g, P(A and B are
classes) = (α+d) (1−d)_{f−1} (1−d)_{g−1} (α+2d)_{n−f−g} / (α+1)_{n−1} (Pitman 1995): a factor of f, a factor of g and a
factor of f + g. So the double sum is a convolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaincinv

from incrowd.pitman_yor.class_size_fit import UNDECIDED
from incrowd.pitman_yor.curve_fit import CurveFit, binomial_variance, people_tested, usable_points
from incrowd.pitman_yor.likelihood import AccurateTechniques, Coordinates
from incrowd.pitman_yor.model import PitmanYor, entropy_and_tail
from incrowd.pitman_yor.peak import Peak, find_peak
from incrowd.pitman_yor.posterior import Posterior, posterior_around, posterior_below_zero
from incrowd.special import Floats, log_chance_missed, log_gamma_ratio

# Number of points used, and the factor between the largest and the smallest size. More points are hardly more
# informative, but nearly collinear: the log-normal distribution does not hold for their small differences. If there is
# measurement noise it dominates these differences, so more points are used.
_POINTS, _REACH, _NOISY_POINTS = 3, 8.0, 8
_SMALLEST = 1e-15  # smallest shortfall
_MOST_PEOPLE = 100_000  # the covariance is computed for at most this many people, because it takes long
_JITTER = 1e-7  # smallest eigenvalue of a correlation matrix
_NODES, _FEW_NODES, _MANY_PEOPLE = 28, 10, 20_000  # number of models at which the covariance, a smooth one, is computed
_GRID, _COARSE = 33, 21
_FLAT = 0.25  # these models are spread over the posterior with the likelihood to this power
_STRANGE = 0.99  # a misfit above this quantile of its distribution is attributed to the law, not to chance


class Covariance(Protocol):
    """The covariance Σ = U D Uᵀ of the logs of the shortfalls under each model: U (unit lower triangle) and log D."""

    def __call__(self, d: Floats, alpha: Floats) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredPoints:
    """The points used, largest gallery first, and their noise.

    `noise` is the covariance of the measurement. `moments` gives the covariance due to the random choice of the people;
    None if `noise` contains it.
    """

    sizes: Floats
    values: Floats
    unique: bool
    noise: Floats
    moments: CurveMoments | None

    @classmethod
    def of(cls, fit: CurveFit) -> MeasuredPoints:
        """The points of a fit; their covariance was measured for sparse and robust curves, else it is computed."""
        if fit.curve.covariance is not None and fit.metric != "uniqueness":
            return cls._with_measured_covariance(fit, fit.curve.covariance)
        return cls._with_computed_covariance(fit)

    @classmethod
    def _with_measured_covariance(cls, fit: CurveFit, covariance: Floats) -> MeasuredPoints:
        sizes, values, _ = usable_points(fit.curve, fit.metric, fit.weighting)
        chosen = _log_spaced(sizes, _NOISY_POINTS, sizes[-1])
        inside = np.flatnonzero(fit.curve.sizes > 1)[chosen]
        noise = covariance[np.ix_(inside, inside)] + fit.residual**2 * np.eye(chosen.size)
        highest = 1.0 - 0.5 / people_tested(fit.curve)
        return cls(sizes[chosen], np.minimum(values[chosen], highest), False, noise, None)

    @classmethod
    def _with_computed_covariance(cls, fit: CurveFit) -> MeasuredPoints:
        """If the number of people tested is not known, it is assumed to be the largest gallery.

        Each point is then assumed to be measured once, with as many people as its gallery has.
        """
        people, unique = people_tested(fit.curve), fit.metric == "uniqueness"
        sizes, values, _ = usable_points(fit.curve, fit.metric, fit.weighting)
        chosen = _log_spaced(sizes, *((_POINTS, _REACH) if fit.curve.people else (_NOISY_POINTS, sizes[-1])))
        sizes, values = sizes[chosen], values[chosen]
        once = np.zeros(sizes.size) if fit.curve.people else binomial_variance(values, sizes)
        few = min(people, _MOST_PEOPLE)
        moments = CurveMoments.of(int(few), np.maximum(sizes * (few / people), 2.0).round(), unique=unique)
        # a measured share of exactly 1 is uncertain by about half a person
        return cls(sizes, np.minimum(values, 1.0 - 0.5 / people / sizes), unique, np.diag(once), moments)

    def shortfall(self, d: Floats, alpha: Floats, sizes: Floats | None = None) -> Floats:
        """The expected shortfall of the points, one row for each model."""
        from incrowd.pitman_yor.kernels import shortfalls

        at = self.sizes if sizes is None else sizes
        return np.asarray(np.maximum(shortfalls(d, alpha, at, self.unique), _SMALLEST))

    def factors(self, d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        """U and log D of the covariance of log shortfalls under each model."""
        relative = self.noise / _square(self.shortfall(d, alpha))
        if self.moments is not None:
            covariances = [self.moments.covariance(*one) for one in zip(d, alpha, strict=True)]
            relative = relative + np.array(covariances) / _square(self.shortfall(d, alpha, self.moments.sizes))
        of_logs = np.log1p(relative)
        deviations = np.sqrt(np.maximum(np.diagonal(of_logs, axis1=1, axis2=2), _SMALLEST))
        scale, axes = np.linalg.eigh(of_logs / _square(deviations))
        spread = (axes * np.maximum(scale, _JITTER)[:, None, :]) @ np.swapaxes(axes, 1, 2)
        lower = np.linalg.cholesky(spread * _square(deviations))
        diagonal = np.diagonal(lower, axis1=1, axis2=2)
        return lower / diagonal[:, None, :], 2.0 * np.log(diagonal)


def _square(values: Floats) -> Floats:
    """The outer product of each row with itself."""
    return values[:, :, None] * values[:, None, :]


def _log_spaced(sizes: Floats, wanted: int, reach: float) -> NDArray[np.int64]:
    """Indexes of about `wanted` log-spaced sizes, the largest first; at least two."""
    lowest = min(sizes[-2], max(sizes[0], sizes[-1] / reach))
    places = np.abs(np.log(sizes)[:, None] - np.log(np.geomspace(lowest, sizes[-1], wanted))).argmin(axis=0)
    return np.unique(places)[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """Log likelihood of the points of a curve, at rows of coordinates."""

    measured: MeasuredPoints
    coordinates: Coordinates
    covariance: Covariance

    def __call__(self, points: Floats) -> Floats:
        return self.of_models(*self.coordinates.parameters(points))[0]

    def misfit(self, points: Floats) -> Floats:
        """Sum of squared residuals in units of the noise; its expectation is the number of points minus two."""
        return self.of_models(*self.coordinates.parameters(points))[1]

    def of_models(self, d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        """Log likelihood and misfit of each model."""
        unit_lower, log_variance = self.covariance(d, alpha)
        # log-normal: E log X = log E X − Var(log X)/2
        half = 0.5 * np.einsum("...ij,...j->...i", unit_lower**2, np.exp(log_variance))
        error = np.log(1.0 - self.measured.values) - np.log(self.measured.shortfall(d, alpha)) + half
        for row in range(1, error.shape[1]):  # solve U e = error, all models at once
            error[:, row] -= np.sum(unit_lower[..., row, :row] * error[:, :row], axis=-1)
        misfit = np.asarray(np.sum(error**2 * np.exp(-log_variance), axis=1))
        return np.asarray(-0.5 * (misfit + log_variance.sum(axis=-1))), misfit


@dataclass(frozen=True, slots=True, eq=False)
class ConstantCovariance:
    """One covariance for every model."""

    unit_lower: Floats
    log_variance: Floats

    @classmethod
    def of(cls, measured: MeasuredPoints, model: PitmanYor) -> ConstantCovariance:
        """The covariance under one model."""
        unit_lower, log_variance = measured.factors(np.array([model.d]), np.array([model.alpha]))
        return cls(unit_lower[0], log_variance[0])

    def __call__(self, d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        points = self.log_variance.size
        return np.broadcast_to(self.unit_lower, (d.size, points, points)), np.broadcast_to(
            self.log_variance, (d.size, points)
        )


@dataclass(frozen=True, slots=True, eq=False)
class InterpolatedCovariance:
    """U and log D as polynomials of log h and γ, fitted to some models and clipped to the range of values there."""

    centre: Floats
    scale: Floats
    limits: Floats
    degree: int
    coefficients: Floats
    reached: Floats
    points: int

    @classmethod
    def through(cls, measured: MeasuredPoints, d: Floats, alpha: Floats, degree: int) -> InterpolatedCovariance:
        """Fit the polynomials to the covariances under these models."""
        place = _place(d, alpha)
        centre, scale = place.mean(axis=0), np.maximum(place.std(axis=0), 1e-6)
        unit = (place - centre) / scale
        limits = np.stack([unit.min(axis=0), unit.max(axis=0)])
        unit_lower, log_variance = measured.factors(d, alpha)
        rows = np.concatenate([unit_lower.reshape(d.size, -1), log_variance], axis=1)
        coefficients = np.linalg.lstsq(_powers(unit, degree), rows, rcond=1e-6)[0]
        reached = np.stack([np.min(rows, axis=0), np.max(rows, axis=0)])
        return cls(centre, scale, limits, degree, coefficients, reached, measured.sizes.size)

    def __call__(self, d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        unit = np.clip((_place(d, alpha) - self.centre) / self.scale, *self.limits)
        rows = np.clip(_powers(unit, self.degree) @ self.coefficients, *self.reached)
        square = self.points**2
        return rows[:, :square].reshape(-1, self.points, self.points), rows[:, square:]


def _place(d: Floats, alpha: Floats) -> Floats:
    h, gamma = entropy_and_tail(d, alpha)
    return np.stack([np.log(np.maximum(h, 1e-12)), gamma], axis=1)


def _powers(unit: Floats, degree: int) -> Floats:
    first, second = unit.T
    return np.stack([first**i * second**j for i in range(degree + 1) for j in range(degree + 1 - i)], axis=1)


def curve_posteriors(fit: CurveFit) -> tuple[Posterior, ...]:
    """The posterior of (d, α) given a curve for each sign of γ, with the same prior as for class sizes.

    A sign that the points rule out is left out, unless it is that of the fit.
    """
    measured = MeasuredPoints.of(fit)
    above, below = _posterior_above_zero(fit, measured), _posterior_below_zero(fit, measured)
    own, other = (above, below) if fit.gamma >= 0 else (below, above)
    return (own[0],) if other[1] < own[1] - UNDECIDED else (own[0], other[0])


def _posterior_above_zero(fit: CurveFit, measured: MeasuredPoints) -> tuple[Posterior, float]:
    """The posterior over γ ≥ 0, and the highest log likelihood there.

    A first peak is found with the covariance of the fit. Then the covariance of each plausible model is used.
    """
    coordinates = AccurateTechniques(people_tested(fit.curve))
    likelihood = Likelihood(measured, coordinates, ConstantCovariance.of(measured, fit.pitman_yor))
    peak = find_peak(likelihood, coordinates.starts(), coordinates.limits)
    if measured.moments is not None:
        flattened = Peak(peak.at, _FLAT * peak.height, _FLAT * peak.precision)
        wide = posterior_around(coordinates, flattened, lambda points: _FLAT * likelihood(points), along=_COARSE)
        likelihood = Likelihood(measured, coordinates, _covariance_over(wide, measured, measured.moments))
        peak = find_peak(likelihood, peak.at[None, :], coordinates.limits)
    height = float(likelihood(peak.at[None, :])[0])
    scale = _flattening(float(likelihood.misfit(peak.at[None, :])[0]), measured)
    peak = Peak(peak.at, scale * peak.height, scale * peak.precision)
    return posterior_around(coordinates, peak, lambda points: scale * likelihood(points), along=_GRID), height


def _posterior_below_zero(fit: CurveFit, measured: MeasuredPoints) -> tuple[Posterior, float]:
    """The posterior over γ < 0, and the highest log likelihood there."""
    # without a heavy tail the law misses n/(2 e^h) people in a large gallery
    start = min(fit.h, float(np.log(measured.sizes[0] / (1.0 - measured.values[0]))))
    coordinates = AccurateTechniques(people_tested(fit.curve))
    likelihood = Likelihood(measured, coordinates, ConstantCovariance.of(measured, fit.pitman_yor))
    if measured.moments is not None:
        wide, _ = posterior_below_zero(lambda d, alpha: _FLAT * likelihood.of_models(d, alpha)[0], start)
        likelihood = Likelihood(measured, coordinates, _covariance_over(wide, measured, measured.moments))
    posterior, height = posterior_below_zero(lambda d, alpha: likelihood.of_models(d, alpha)[0], start)
    scale = _flattening(float(likelihood.of_models(posterior.d, posterior.alpha)[1].min()), measured)
    if scale < 1.0:
        posterior, _ = posterior_below_zero(lambda d, alpha: scale * likelihood.of_models(d, alpha)[0], start)
    return posterior, height


def _covariance_over(wide: Posterior, measured: MeasuredPoints, moments: CurveMoments) -> InterpolatedCovariance:
    """The covariance as a function of the model, interpolated between some models of the posterior `wide`."""
    few = moments.people > _MANY_PEOPLE
    nodes = wide.thinned(_FEW_NODES if few else _NODES)
    return InterpolatedCovariance.through(measured, nodes.d, nodes.alpha, degree=1 if few else 2)


def _flattening(misfit: float, measured: MeasuredPoints) -> float:
    """The exponent of the likelihood: below 1 if the points are far from all models, so that the best is plausible."""
    freedom = measured.values.size - 2
    if not freedom:
        return 1.0
    strange = 2.0 * float(gammaincinv(freedom / 2.0, _STRANGE))  # a quantile of χ²
    return 1.0 / max(misfit / strange, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class CurveMoments:
    """Means and covariances of the curve of `people` people at some gallery sizes.

    `shortfall` has a row for each size, with the contribution of a class of f people to the shortfall:
    1 − share = Σ_f a_f · shortfall. It is 0 for f = 1.
    """

    people: int
    sizes: Floats
    shortfall: Floats

    @classmethod
    def of(cls, people: int, sizes: Floats, *, unique: bool) -> CurveMoments:
        """For the correctness or the uniqueness at these gallery sizes, of at most `people`."""
        drawn = sizes[:, None]
        size = np.arange(1.0, people + 1.0)
        if unique:
            kept = size / people * np.exp(log_chance_missed(people - 1.0, size - 1.0, drawn - 1.0))
        else:
            kept = -np.expm1(log_chance_missed(people, size, drawn)) / drawn
        shortfall = size / people - kept
        shortfall[:, 0] = 0.0
        return cls(people, sizes, shortfall)

    def covariance(self, d: float, alpha: float) -> Floats:
        """Covariance of the points over random samples of the process with discount `d` and concentration `alpha`."""
        people = self.people
        size = np.arange(1.0, people)
        # logs of (1−d)_{f−1} / f! and of the factor of f + g, as cumulative sums
        within = np.concatenate([[0.0], np.cumsum(np.log((size - d) / (size + 1.0)))])
        in_pair = np.arange(2.0, people)
        others = np.concatenate(
            [[0.0], np.cumsum(np.log((people - in_pair) / (alpha + 2.0 * d + people - in_pair - 1.0)))]
        )
        start = np.log((alpha + d) / (alpha + 1.0)) + float(log_gamma_ratio(alpha + 2.0, 2.0 * d - 2.0, people - 2.0))
        # a factor e^(tilt·(f+g)) is moved between the two terms, so that neither overflows nor underflows
        tilt = np.log(people / (alpha + people))
        pairs = people * (people - 1.0) * np.exp(start + others - np.arange(2.0, people + 1.0) * tilt)
        weighted = np.exp(within + np.arange(1.0, people + 1.0) * tilt) * self.shortfall
        single = self._classes(d, alpha, within)
        mean = self.shortfall @ single
        both = weighted[:, : people - 1] @ _correlated(pairs, weighted[:, : people - 1]).T
        return np.asarray(both + (self.shortfall * single) @ self.shortfall.T - np.outer(mean, mean))

    def _classes(self, d: float, alpha: float, within: Floats) -> Floats:
        """E a_f = n!/(f! (n−f)!) (1−d)_{f−1} (α+d)_{n−f} / (α+1)_{n−1}."""
        people = self.people
        taken = np.arange(1.0, people)
        others = np.concatenate([[0.0], np.cumsum(np.log((people - taken) / (alpha + d + people - taken - 1.0)))])
        start = float(log_gamma_ratio(alpha + 1.0, d - 1.0, people - 1.0))
        return np.asarray(people * np.exp(start + others + within))


def _correlated(pairs: Floats, rows: Floats) -> Floats:
    """Σ_g pairs[f + g] · row[g] for every f, of each row, by the fast Fourier transform."""
    count = pairs.size
    length = next_fast_len(2 * count, real=True)
    spectrum = rfft(pairs, length) * np.conj(rfft(rows, length, axis=1))
    return np.asarray(irfft(spectrum, length, axis=1)[:, :count])
