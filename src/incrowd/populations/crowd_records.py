"""Risk of every record from its own values, by the crowd model, raked to the totals.

The model has the probability G that the next person has the record's values. If k further people do not have them, this
probability falls to G n/(n + k), like that of a class with a gamma distribution of shape a = nG. So

    F = f + NB(a, r),   r = (N − n)/n,   P(F = 1 | f = 1) = (1 + r)^−a,
    E[1/F] = ∫ t^(f−1) (1 + r (1 − t))^−a dt   from 0 to 1.

Then the log-odds of all records are shifted by one amount, so that they add up to the estimates of B and of uniqueness
(raking).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, nbdtrik

from incrowd._support.distinct import first_places
from incrowd.populations.class_growth import PopulationSizes
from incrowd.populations.crowd_estimator import CrowdEstimate
from incrowd.populations.crowd_growth import sizes_without
from incrowd.populations.crowd_model import CrowdModel, join_codes
from incrowd.special import Floats

_STEP = 0.02  # width of the groups of log a and log r within which records get one risk
_CERTAIN = 60.0  # a and E[F] from which E[1/F] is computed from mean and variance
_TAIL = 0.025  # probability of each tail outside the 95 % interval
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_TINY = 1e-9
_AT_RISK, _FEWEST_AT_RISK = 0.01, 100  # records at highest risk: their share, and their smallest number


@dataclass(frozen=True, slots=True, eq=False)
class EntryRisks:
    """Risk of records, entry by entry: an entry is a record, a group of alike records, or all records of a class size.

    The function that makes it says which.
    """

    risk: Floats  # E[1/F]
    unique: Floats  # P(F = 1)
    low: Floats  # lower end of the 95 % interval of 1/F
    high: Floats  # upper end
    # for each column of the model, E[1/F] for an attacker who does not know it; None if not requested or if entries are
    # not records
    without: NDArray[Any] | None = None

    def by_record(self, entry: NDArray[np.int64]) -> EntryRisks:
        """The risk of every record; record i is in entry `entry[i]`."""
        return EntryRisks(self.risk[entry], self.unique[entry], self.low[entry], self.high[entry])

    @property
    def highest(self) -> tuple[float, tuple[float, float]]:
        """The highest risk of a record, and an interval: from its lower end to the largest upper end of any record."""
        place = int(np.argmax(self.risk))
        return float(self.risk[place]), (float(self.low[place]), float(self.high.max()))


def assess_records(
    model: CrowdModel,
    population: int,
    *,
    correctness: float,
    uniqueness: float,
    estimate: CrowdEstimate | None = None,
    leave_out: bool = False,
) -> EntryRisks:
    """The risk of every record.

    Args:
        population: size of the population, larger than the sample.
        correctness: B, to which the mean of the risks is raked.
        uniqueness: the share of records that are unique in the population, to which the mean of P(F = 1) is raked.
        estimate: the growths of the sample; None if it was not grown.
        leave_out: estimate the risk without each column from the sample's classes, if it was not counted.
    """
    seen = model.class_sizes()
    expected, odds = model.people_to_come(population)
    group = _number_groups(seen, expected / odds, odds)
    first = first_places(group)
    totals = correctness * seen.size, uniqueness * seen.size
    chances = _assess_groups(seen[first], (expected / odds)[first], odds[first])
    if estimate is not None and model.hidden:
        chances = chances.by_record(group)
        shares, unique = _rake_strata(model, estimate, seen, chances)
        risks = _with_ends(*_rake_records(shares, unique, seen, *totals), chances.low, chances.high)
    else:  # records of one group have one risk
        raked = _rake_records(chances.risk * seen[first], chances.unique, seen[first], *totals, np.bincount(group))
        risks = _with_ends(*raked, chances.low, chances.high).by_record(group)
    if estimate is not None and estimate.shares_without is not None:
        return replace(risks, without=risks.risk * estimate.shares_without)
    if leave_out:
        return replace(risks, without=_risk_without(model, risks.risk, seen, np.arange(model.people)))
    return risks


def assess_class_sizes(
    growth: PopulationSizes, people: NDArray[np.int64], *, correctness: float, uniqueness: float
) -> EntryRisks:
    """The risk of a record of each class size, if only class sizes are known; raked to these means over `people`."""
    seen, total = growth.seen, int(people.sum())
    shares = growth.expected_inverse * seen
    risk, unique = _rake_records(shares, growth.unique, seen, correctness * total, uniqueness * total, people)
    return _with_ends(risk, unique, 1.0 / growth.high, 1.0 / growth.low)


def _with_ends(risk: Floats, unique: Floats, low: Floats, high: Floats, without: Any = None) -> EntryRisks:
    """The entries with intervals extended to contain their risk.

    If P(F = 1) is above the tail probability, the upper end is 1.
    """
    high = np.where(unique > _TAIL, 1.0, np.maximum(high, risk))
    return EntryRisks(risk, unique, np.minimum(low, risk), high, without)


def _rake_strata(
    model: CrowdModel, estimate: CrowdEstimate, seen: NDArray[np.int64], chances: EntryRisks
) -> tuple[Floats, Floats]:
    """E[f/F] and P(F = 1) of every record, raked to the growths' means of its stratum.

    Equal records have one F, even if they are in different strata.
    """
    risk, alone = np.empty(seen.size), np.empty(seen.size)
    for stratum, (correctness, uniqueness) in enumerate(estimate.by_stratum.T):
        own = model.codes[0] == stratum
        count = np.count_nonzero(own)
        shares = chances.risk[own] * seen[own]
        risk[own], alone[own] = _rake_records(
            shares, chances.unique[own], seen[own], correctness * count, uniqueness * count
        )
    return model.mean_of_class(risk) * seen, np.where(seen == 1, model.mean_of_class(alone), 0.0)


def _number_groups(seen: NDArray[np.int64], evidence: Floats, odds: Floats) -> NDArray[np.int64]:
    """The group of every record: records of one group have one class size and about equal a and r."""
    return join_codes([seen, *(np.round(np.log(one) / _STEP).astype(np.int64) for one in (evidence, odds))])


def _assess_groups(f: NDArray[np.int64], a: Floats, r: Floats) -> EntryRisks:
    """The risk of each group by the model's probabilities alone."""
    least, most = (f + quantile_of_others(level, a, r) for level in (_TAIL, 1.0 - _TAIL))
    unique = np.where(f == 1, (1.0 + r) ** -a, 0.0)
    risk = np.clip(expected_inverse(f, a, r), unique, 1.0 / f)
    return EntryRisks(risk, unique, 1.0 / most, 1.0 / least)


def quantile_of_others(level: float, evidence: Floats, odds: Floats) -> Floats:
    """The quantile of NB(a, r) at `level`; `evidence` is a and `odds` is r.

    >>> quantile_of_others(0.5, np.array([1.0]), np.array([1.0]))  # none with a chance of 1/2
    array([0.])
    """
    chance = 1.0 / (1.0 + odds)
    return np.where(chance**evidence >= level, 0.0, np.ceil(nbdtrik(level, evidence, chance)))


def expected_inverse(f: NDArray[np.int64], evidence: Floats, odds: Floats) -> Floats:
    """E[1/F] for F = f + NB(a, r); `evidence` is a and `odds` is r.

    With the substitution 1 − t = (e^u − 1)/r the integrand falls as e^(−(a − 1) u), so nodes are dense near u = 0.

    >>> expected_inverse(np.array([1]), np.array([1.0]), np.array([1.0])).round(6)  # Σ 2^−(k + 1)/(k + 1) = ln 2
    array([0.693147])
    """
    mean, variance = f + evidence * odds, evidence * odds * (1.0 + odds)
    result = np.asarray((1.0 + variance / mean**2) / mean)
    few = np.minimum(evidence, mean) < _CERTAIN
    place, r = 0.5 * (_NODES + 1.0), odds[few, None]
    u = np.log1p(r) * place**2
    weights = _NODE_WEIGHTS * place * np.log1p(r) / r
    t = np.maximum(1.0 - np.expm1(u) / r, 1e-300)
    result[few] = np.sum(weights * np.exp((f[few, None] - 1.0) * np.log(t) - (evidence[few, None] - 1.0) * u), axis=1)
    return result


def _risk_without(
    model: CrowdModel, risk: Floats, seen: NDArray[np.int64], asked: NDArray[np.int64]
) -> NDArray[np.float32]:
    """For each column, the risk of the records `asked` for an attacker who does not know it.

    The class of a record then grows by the factor that is observed in the sample.
    """
    sizes = sizes_without(np.stack(model.codes[model.hidden :]), asked)
    without = np.empty(sizes.shape, dtype=np.float32)
    for column, coarser in enumerate(sizes):
        without[column] = risk[asked] * seen[asked] / coarser
    return without


def tell_columns(model: CrowdModel, records: EntryRisks) -> Floats:
    """For each column of the model, the share of records at highest risk whose risk would fall most without it.

    The records at highest risk are a hundredth of all records, at least 100.
    """
    count = max(_FEWEST_AT_RISK, round(_AT_RISK * model.people))
    asked = np.argsort(-records.risk, kind="stable")[:count]
    if records.without is None:
        without: Any = _risk_without(model, records.risk, model.class_sizes(), asked)
    else:
        without = records.without[:, asked]
    return np.asarray(np.bincount(np.argmin(without, axis=0), minlength=without.shape[0]) / asked.size)


def _rake_records(
    share: Floats, chance: Floats, seen: NDArray[np.int64], correctness: float, uniqueness: float, people: Any = 1
) -> tuple[Floats, Floats]:
    """E[1/F] and P(F = 1) of records, raked to the sums `correctness` and `uniqueness`.

    `share` is E[f/F] and `chance` P(F = 1) before raking. Each entry stands for `people` records.
    """
    alone, times = seen == 1, np.broadcast_to(people, seen.shape).astype(np.float64)
    # of a record alone in the sample: E[1/F] = p + (1 − p) q, q = E[1/F | F > 1] ≤ 1/2
    rest = np.where(alone, 2.0 * (share - chance) / np.maximum(1.0 - chance, _TINY), share)
    chance = np.where(alone, chance, 0.0)
    chance[alone] = _rake(chance[alone], times[alone], uniqueness)
    scale = np.where(alone, 0.5 * (1.0 - chance), 1.0 / seen)
    rest = _rake(rest, scale * times, correctness - float(chance @ times))
    return chance + scale * rest, chance


def _rake(shares: Floats, scale: Floats, total: float) -> Floats:
    """Shift the log-odds of shares between 0 and 1 by one amount, so that Σ scale · share is `total`."""
    most = float(scale.sum())
    assert abs(total - 0.5 * most) <= 0.5 * most + 1e-9 * (1.0 + most), "no shares from 0 to 1 add up to this"
    if total <= 1e-14 * most:
        return np.zeros(shares.size)
    if total >= (1.0 - 1e-12) * most:
        return np.ones(shares.size)
    odds = logit(np.clip(shares, _TINY, 1.0 - _TINY))

    def excess(shift: float) -> float:
        return float(scale @ expit(odds + shift)) - total

    moved: Floats = expit(odds + brentq(excess, -60.0, 60.0, xtol=1e-12))
    return moved
