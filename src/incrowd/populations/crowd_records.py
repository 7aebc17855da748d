"""Risk of every record from its own values: shares of the grown populations, smoothed, and raked to the totals.

Few growths tell little about one record: of twelve, it is unique in none, some or all. The crowd model also says how
likely the next person is to have the record's values, G. While nobody comes who has them, that chance falls to
G n/(n + k) after k people, as that of a cell with a gamma distribution of shape a = nG does, so that

    F = f + NB(a, r),   r = (N − n)/n,   P(F = 1 | f = 1) = (1 + r)^−a,
    E[1/F] = ∫ t^(f−1) (1 + r (1 − t))^−a dt   from 0 to 1.

This is raked to the growths, and each record's own share of them is drawn towards it: it counts as much as `_CHANCES`
growths. Then all records are moved, on the log-odds scale, by the one amount that makes them add up to the
estimates of B and of uniqueness. A sample too large to be grown has the chances alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, nbdtrik

from incrowd.populations.class_growth import PopulationSizes
from incrowd.populations.crowd_estimator import CrowdEstimate
from incrowd.populations.crowd_growth import sizes_without
from incrowd.populations.crowd_model import CrowdModel, first_places, join_codes
from incrowd.special import Floats

_CHANCES = 12.0  # growths that the model's chances count for
_ALIKE = 200  # records whose class sizes are pooled for the interval of each
_STEP = 0.02  # width of the cells of log a and log r in which records are alike
_CERTAIN = 60.0  # a and E[F] from which a class is known so well that E[1/F] is taken to second order
_TAIL = 0.025  # of the 95 % interval, at each end
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_TINY = 1e-9
_AT_RISK, _FEWEST_AT_RISK = 0.01, 100  # records at highest risk: their share, and how many at least


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
    without: NDArray[Any] | None = None

    def at(self, places: NDArray[np.int64]) -> CrowdRecords:
        """The records at some places."""
        return CrowdRecords(self.risk[places], self.unique[places], self.low[places], self.high[places])

    @property
    def highest(self) -> tuple[float, tuple[float, float]]:
        """The highest risk of a record, and its interval, which reaches to the highest end of any record."""
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
) -> CrowdRecords:
    """The risk of every record.

    Args:
        model: the model of the sample.
        population: how many people there are, more than in the sample.
        correctness: B, the average that the risks are to have.
        uniqueness: the share of records that are unique in the population.
        estimate: the growths, with the classes of all records; None where the sample was not grown.
        leave_out: whether the risk without each column is estimated from the sample's classes, where it was not grown.
    """
    seen = model.class_sizes()
    expected, odds = model.people_to_come(population)
    cell = _number_cells(seen, expected / odds, odds)
    first = first_places(cell)
    chances = _by_chance(seen[first], (expected / odds)[first], odds[first])
    totals = correctness * seen.size, uniqueness * seen.size
    if estimate is None:  # whoever is in one cell has one risk
        raked = _rake_records(chances.risk * seen[first], chances.unique, seen[first], *totals, np.bincount(cell))
        found = _with_ends(*raked, chances.low, chances.high).at(cell)
        without = _risk_without(model, found.risk, seen, np.arange(model.people)) if leave_out else None
        return replace(found, without=without)
    shares, unique = _draw_to_chances(estimate, model, seen, chances.at(cell))
    risk, unique = _rake_records(shares, unique, seen, *totals)
    parts = [growth.without for growth in estimate.growths if growth.without is not None]
    without = risk * np.mean(parts, axis=0) if parts else None
    return _with_ends(risk, unique, *_intervals(estimate, expected, seen), without)


def assess_sizes(
    growth: PopulationSizes, people: NDArray[np.int64], *, correctness: float, uniqueness: float
) -> CrowdRecords:
    """The risk of a record of each class size, where only that is known, raked to the same averages over `people`."""
    seen, total = growth.seen, int(people.sum())
    shares = growth.expected_inverse * seen
    risk, unique = _rake_records(shares, growth.unique, seen, correctness * total, uniqueness * total, people)
    return _with_ends(risk, unique, 1.0 / growth.high, 1.0 / growth.low)


def _with_ends(risk: Floats, unique: Floats, low: Floats, high: Floats, without: Any = None) -> CrowdRecords:
    """The records with intervals that hold their risk.

    Whoever is unique with a chance above that of the tail may have 1/F = 1, also where growths pooled miss it.
    """
    high = np.where(unique > _TAIL, 1.0, np.maximum(high, risk))
    return CrowdRecords(risk, unique, np.minimum(low, risk), high, without)


def _draw_to_chances(
    estimate: CrowdEstimate, model: CrowdModel, seen: NDArray[np.int64], chances: CrowdRecords
) -> tuple[Floats, Floats]:
    """E[f/F] and P(F = 1): shares of the growths drawn towards the model's chances, raked to them by stratum."""
    count = len(estimate.growths)
    inverse, unique = (
        np.sum([getattr(growth, name) for growth in estimate.growths], axis=0) for name in ("inverse", "unique")
    )
    risk, alone = np.empty(seen.size), np.empty(seen.size)
    strata = model.codes[0] if model.hidden else np.zeros(seen.size, dtype=np.int32)
    for stratum in range(int(strata.max()) + 1):
        own = strata == stratum
        risk[own], alone[own] = _rake_records(
            chances.risk[own] * seen[own],
            chances.unique[own],
            seen[own],
            float(inverse[own].sum()) / count,
            float(unique[own].sum()) / count,
        )
    if model.hidden:  # records that are alike have one F, in whatever strata they were drawn
        risk, alone = model.mean_of_class(risk), model.mean_of_class(alone)
    shares = (inverse + _CHANCES * risk) / (count + _CHANCES) * seen
    return shares, np.where(seen == 1, (unique + _CHANCES * alone) / (count + _CHANCES), 0.0)


def _number_cells(seen: NDArray[np.int64], evidence: Floats, odds: Floats) -> NDArray[np.int64]:
    """The cell of every record: those in one have classes of one size, and about the same a and r."""
    return join_codes([seen, *(np.round(np.log(one) / _STEP).astype(np.int64) for one in (evidence, odds))])


def _by_chance(f: NDArray[np.int64], a: Floats, r: Floats) -> CrowdRecords:
    """The risk of records by the model's chances."""
    least, most = (f + quantile_of_others(level, a, r) for level in (_TAIL, 1.0 - _TAIL))
    unique = np.where(f == 1, (1.0 + r) ** -a, 0.0)
    risk = np.clip(expected_inverse(f, a, r), unique, 1.0 / f)
    return CrowdRecords(risk, unique, 1.0 / most, 1.0 / least)


def quantile_of_others(level: float, evidence: Floats, odds: Floats) -> Floats:
    """The smallest number that NB(a, r) does not exceed with at least this chance, `evidence` being a and `odds` r.

    >>> quantile_of_others(0.5, np.array([1.0]), np.array([1.0]))  # none with a chance of 1/2
    array([0.])
    """
    chance = 1.0 / (1.0 + odds)
    return np.where(chance**evidence >= level, 0.0, np.ceil(nbdtrik(level, evidence, chance)))


def expected_inverse(f: NDArray[np.int64], evidence: Floats, odds: Floats) -> Floats:
    """E[1/F] for F = f + NB(a, r), `evidence` being a and `odds` r.

    With 1 − t = (e^u − 1)/r the integrand falls as e^(−(a − 1) u); nodes are dense at u = 0.

    >>> expected_inverse(np.array([1]), np.array([1.0]), np.array([1.0])).round(6)  # Σ 2^−(k + 1)/(k + 1) = ln 2
    array([0.693147])
    """
    mean, variance = f + evidence * odds, evidence * odds * (1.0 + odds)
    found = np.asarray((1.0 + variance / mean**2) / mean)
    few = np.minimum(evidence, mean) < _CERTAIN
    place, r = 0.5 * (_NODES + 1.0), odds[few, None]
    u = np.log1p(r) * place**2
    weights = _NODE_WEIGHTS * place * np.log1p(r) / r
    t = np.maximum(1.0 - np.expm1(u) / r, 1e-300)
    found[few] = np.sum(weights * np.exp((f[few, None] - 1.0) * np.log(t) - (evidence[few, None] - 1.0) * u), axis=1)
    return found


def _risk_without(
    model: CrowdModel, risk: Floats, seen: NDArray[np.int64], asked: NDArray[np.int64]
) -> NDArray[np.float32]:
    """For each column the risk of some records if nobody knew it: of those alike in the others, some are in it too."""
    sizes = sizes_without(np.stack(model.codes[model.hidden :]), asked)
    found = np.empty(sizes.shape, dtype=np.float32)
    for column, alike in enumerate(sizes):
        found[column] = risk[asked] * seen[asked] / alike
    return found


def tell_columns(model: CrowdModel, records: CrowdRecords) -> Floats:
    """For each column of the model, the share of the records at highest risk that stand out by it most.

    Without that column their risk would fall most. They are a hundredth of all records, and 100 at least.
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
    """E[1/F] and P(F = 1) of records, raked to these sums of them; `share` is E[f/F], `chance` P(F = 1).

    Each entry stands for so many `people`.
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
    """Move shares between 0 and 1 by one amount on the log-odds scale, so that Σ scale · share is `total`."""
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


def _intervals(estimate: CrowdEstimate, likely: Floats, seen: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Ends of the 95 % interval of 1/F, from the classes of records with about as many people and as likely values."""
    group = np.where(seen < 8, seen, np.floor(np.log2(seen)) + 5.0)
    low, high = np.empty(seen.size), np.empty(seen.size)
    lows = np.stack([growth.low for growth in estimate.growths]) / seen
    highs = np.stack([growth.high for growth in estimate.growths]) / seen
    order = np.lexsort((likely, group))
    for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        for records in _equal_parts(members, max(1, members.size // _ALIKE)):
            pooled_lows, pooled_highs = (np.hstack(list(ends[:, records])) for ends in (lows, highs))
            high[records] = 1.0 / np.quantile(pooled_lows, _TAIL, axis=1, keepdims=True)
            low[records] = 1.0 / np.quantile(pooled_highs, 1.0 - _TAIL, axis=1, keepdims=True)
    return low / seen, high / seen


def _equal_parts(members: NDArray[np.int64], parts: int) -> list[NDArray[np.int64]]:
    """Parts of about the same size, one a row: those that are longer by one first, as `np.array_split` has them."""
    size, longer = divmod(members.size, parts)
    split = longer * (size + 1)
    blocks = (members[:split].reshape(longer, size + 1), members[split:].reshape(parts - longer, size))
    return [block for block in blocks if block.size]
