"""Open sets: a threshold decides whether the best candidate is named, and the person may not be in the gallery.

In the terms of ISO/IEC 19795 and NIST's evaluations: the false negative identification rate FNIR(N, T) is the share of
searches for people in the gallery that do not return them first with a score of T or more; the false positive
identification rate FPIR(N, T) is the share of searches for people outside it that return somebody at T or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from incrowd.curves.result import Curve
from incrowd.curves.study_accuracy import wilson_interval
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.population_sizes import settle_populations
from incrowd.forecasts.result import Estimate
from incrowd.forecasts.tails import ALARMS, ProbeCounts, TailAverage
from incrowd.results import Result
from incrowd.special import Floats


@dataclass(frozen=True, slots=True, eq=False)
class OpenSetForecast(Result):
    """FNIR and FPIR at a threshold, in galleries of sizes `at`, with 95 % intervals; and what was measured."""

    threshold: float
    at: Floats
    names: tuple[str, ...]
    fnir: Estimate
    fpir: Estimate
    measured: int
    measured_fnir: float
    measured_fpir: float

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each gallery size."""
        rows = zip(self.at.tolist(), self.fnir.rows, self.fpir.rows, strict=True)
        return [{"gallery": size, **_named("fnir", missed), **_named("fpir", alarms)} for size, missed, alarms in rows]


def forecast_open_set(
    mates: ArrayLike, impostors: ArrayLike, galleries: Sequence[int], *, threshold: float, at: Sequence[float | str]
) -> OpenSetForecast:
    """Forecast FNIR and FPIR at a threshold for galleries that were never measured, from lists of scores.

    Those whose match is below the threshold are missed in every gallery. Of the others the correctness is forecast as
    that of any technique. False alarms follow a law of their own: the probability that an impostor scores above the
    threshold differs between probes by a beta distribution.

    Args:
        mates: the score of each probe with its own gallery entry; higher is more alike.
        impostors: the best score with anybody else, a row for each probe and a column for each gallery.
        galleries: sizes of these galleries without the match, in ascending order; each holds the one before.
        threshold: the score from which somebody is named.
        at: sizes of galleries to forecast, or names of populations.

    Returns:
        Both rates with their intervals.

    Raises:
        InputError: lists of different lengths, or galleries that do not grow.
        UnsupportedError: no match reaches the threshold.

    >>> random = np.random.default_rng(0)
    >>> scores = random.standard_normal((2_000, 1_000))
    >>> best = np.stack([scores[:, :size].max(axis=1) for size in (10, 100, 1_000)], axis=1)
    >>> answer = forecast_open_set(random.normal(5, 1, 2_000), best, [10, 100, 1_000], threshold=4.0, at=[10_000])
    >>> bool(answer.fpir.low[0] < 1 - 0.99996833**10_000 < answer.fpir.high[0])  # 1 − Φ(4)ⁿ
    True
    """
    own, best, sizes = _checked(mates, impostors, galleries)
    names, populations = settle_populations(at, {})
    reached = own >= threshold
    if not reached.any():
        raise UnsupportedError("no probe's match reaches the threshold: everybody is missed in a gallery of any size")
    beaten = (best[reached] >= own[reached, None]).mean(axis=0)
    alarms = (best >= threshold).mean(axis=0)
    curve = Curve.from_points(sizes + 1, 1.0 - beaten, people=max(int(reached.sum()), 2))
    right, low, high = TailAverage.of(curve).correctness(populations, 0.95)
    share = float(reached.mean())
    ends = wilson_interval(share, own.size)
    below = np.hypot(1.0 - low / np.maximum(right, 1e-300), 1.0 - ends[0] / share)
    above = np.hypot(high / np.maximum(right, 1e-300) - 1.0, ends[1] / share - 1.0)
    hit = share * right
    fnir = Estimate.containing(
        1.0 - hit, 1.0 - np.minimum(hit * (1.0 + above), 1.0), 1.0 - hit * np.maximum(1.0 - below, 0)
    )
    law = TailAverage.weigh(ProbeCounts.of_shares(sizes, alarms, own.size), [ALARMS])
    quiet, least, most = law.correctness(populations, 0.95)
    fpir = Estimate.containing(1.0 - quiet, 1.0 - most, 1.0 - least)
    missed = 1.0 - share * (1.0 - beaten[-1])
    return OpenSetForecast(
        float(threshold), populations, names, fnir, fpir, int(sizes[-1]), float(missed), float(alarms[-1])
    )


def _checked(mates: ArrayLike, impostors: ArrayLike, galleries: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    own, best = np.asarray(mates, dtype=np.float64), np.asarray(impostors, dtype=np.float64)
    sizes = np.asarray(galleries, dtype=np.float64)
    if own.ndim != 1 or own.size < 2 or best.shape != (own.size, sizes.size):
        raise InputError(
            f"{own.size:,} match scores and impostor scores of shape {best.shape}; give a row for each probe and a "
            f"column for each of {sizes.size} galleries"
        )
    if not (np.all(np.isfinite(own)) and np.all(np.isfinite(best))):
        raise InputError("scores that are missing or not finite; leave those probes out")
    if sizes.size < 2 or sizes[0] < 1 or np.any(np.diff(sizes) <= 0):
        raise InputError("give two or more gallery sizes of 1 or more, in ascending order")
    if np.any(np.diff(best, axis=1) < 0):
        raise InputError("a best impostor scores lower in a larger gallery; each gallery holds the one before")
    return own, best, sizes


def _named(name: str, row: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), row, strict=True))
