"""Risk of every record from its own values: shares of the grown populations, smoothed, and raked to the totals.

Few growths tell little about one record: of twelve, it is unique in none, some or all. Records whose values are about
equally likely are alike, so that a curve over that likelihood is fitted to all of them,

    P(F = 1 | f = 1) = exp(−exp(a + b x)),     E[f/F] = 1/(1 + exp(a + b x + c ln f)),     x = ln((N − n) G),

where G is the chance of the record's values by the crowd model without the record. Each record's own share is drawn
towards the curve, which counts as much as `_CURVE` growths. Then all records are moved, on the log-odds scale, by the
one amount that makes them add up to the estimates of B and of uniqueness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit

from incrowd.populations.crowd_estimator import CrowdEstimate
from incrowd.special import Floats

_CURVE = 4.0  # growths that the curve counts for
_FITTED = 5_000  # records that the curve is fitted to
_ALIKE = 200  # records whose class sizes are pooled for the interval of each
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class CrowdRecords:
    """Risk of every record of the sample.

    Attributes:
        risk: E[1/F].
        unique: P(F = 1).
        low: lower end of the 95 % interval of 1/F.
        high: upper end.
        without: for each column of the model, E[1/F] if nobody knew that column; None where not asked for.
    """

    risk: Floats
    unique: Floats
    low: Floats
    high: Floats
    without: Floats | None = None

    @property
    def highest(self) -> tuple[float, tuple[float, float]]:
        """The highest risk of a record, and its interval."""
        place = int(np.argmax(self.risk))
        return float(self.risk[place]), (float(self.low[place]), float(self.high[place]))


def assess_records(
    estimate: CrowdEstimate, likely: Floats, seen: NDArray[np.int64], *, correctness: float, uniqueness: float
) -> CrowdRecords:
    """The risk of every record.

    Args:
        estimate: the growths, with the classes of all records.
        likely: ln((N − n) G) of every record.
        seen: f, the size of every record's class in the sample.
        correctness: B, the average that the risks are to have.
        uniqueness: the share of records that are unique in the population.
    """
    count = len(estimate.growths)
    inverse = np.mean([growth.inverse for growth in estimate.growths], axis=0)
    unique = np.mean([growth.unique for growth in estimate.growths], axis=0)
    alone = seen == 1
    share = np.clip(inverse * seen, 0.0, 1.0)
    share = (count * share + _CURVE * _smooth_share(share, likely, seen)) / (count + _CURVE)
    chance = np.zeros(seen.size)
    if np.any(alone):
        curve = _smooth_unique(unique[alone], likely[alone])
        chance[alone] = (count * unique[alone] + _CURVE * curve) / (count + _CURVE)
    # of a record alone in the sample: E[1/F] = p + (1 − p) q, q = E[1/F | F > 1] ≤ 1/2
    rest = np.where(alone, np.clip(2.0 * (share - chance) / np.maximum(1.0 - chance, _TINY), 0.0, 1.0), share)
    chance[alone] = _rake(chance[alone], np.ones(int(alone.sum())), uniqueness * seen.size)
    scale = np.where(alone, 0.5 * (1.0 - chance), 1.0 / seen)
    rest = _rake(rest, scale, correctness * seen.size - chance.sum())
    risk = chance + scale * rest
    low, high = _intervals(estimate, likely, seen)
    shares = [growth.without for growth in estimate.growths if growth.without is not None]
    without = risk * np.mean(shares, axis=0) if shares else None
    return CrowdRecords(risk, chance, np.minimum(low, risk), np.maximum(high, risk), without)


def _rake(shares: Floats, scale: Floats, total: float) -> Floats:
    """Move shares between 0 and 1 by one amount on the log-odds scale, so that Σ scale · share is `total`."""
    if total <= 0.0 or not shares.size:
        return np.zeros(shares.size)
    if total >= scale.sum() * (1.0 - 1e-12):
        return np.ones(shares.size)
    odds = logit(np.clip(shares, _TINY, 1.0 - _TINY))

    def excess(shift: float) -> float:
        return float(scale @ expit(odds + shift)) - total

    moved: Floats = expit(odds + brentq(excess, -60.0, 60.0, xtol=1e-12))
    return moved


def _few(size: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, size - 1, min(_FITTED, size)).astype(np.int64))


def _smooth_unique(unique: Floats, likely: Floats) -> Floats:
    """The curve of P(F = 1), fitted by the likelihood of the growths."""
    few = _few(unique.size)
    x, y = likely[few], unique[few]

    def chance(place: Floats, point: Floats) -> Floats:
        return np.asarray(np.exp(-np.exp(np.clip(point[0] + point[1] * place, -30.0, 6.0))))

    def loss(point: Floats) -> float:
        p = np.clip(chance(x, point), 1e-6, 1.0 - 1e-6)
        return -float(np.mean(y * np.log(p) + (1.0 - y) * np.log1p(-p)))

    return chance(likely, minimize(loss, [0.0, 0.7], method="Nelder-Mead").x)


def _smooth_share(share: Floats, likely: Floats, seen: NDArray[np.int64]) -> Floats:
    """The curve of E[f/F]: a logistic regression on ln((N − n) G) and ln f, by Newton's method."""
    few = _few(share.size)
    design = np.stack([np.ones(share.size), likely, np.log(seen)], axis=1)
    x, y, point = design[few], share[few], np.zeros(3)
    ridge = 1e-3 * np.eye(3)
    for _ in range(30):
        p = expit(x @ point)
        step = np.linalg.solve((x.T * (p * (1.0 - p))) @ x + ridge, x.T @ (y - p) - ridge @ point)
        point = point + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(expit(design @ point))


def _intervals(estimate: CrowdEstimate, likely: Floats, seen: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Ends of the 95 % interval of 1/F, from the classes of records with about as many people and as likely values."""
    group = np.where(seen < 8, seen, np.floor(np.log2(seen)) + 5.0)
    low, high = np.empty(seen.size), np.empty(seen.size)
    lows = np.stack([growth.low for growth in estimate.growths]) / seen
    highs = np.stack([growth.high for growth in estimate.growths]) / seen
    order = np.lexsort((likely, group))
    for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        for records in np.array_split(members, max(1, members.size // _ALIKE)):
            high[records] = 1.0 / np.quantile(lows[:, records], 0.025)
            low[records] = 1.0 / np.quantile(highs[:, records], 0.975)
    return low / seen, high / seen
