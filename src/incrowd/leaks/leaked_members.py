"""The number of leaked members of each class if every person leaks with the same odds, and the moments of the totals.

With odds ρ, a class of size s has h leaked members with the weight C(s, h) p^h q^(s − h), times the weight of the other
count in it (count_distributions.py). The odds are free: they are chosen so that the requested totals are the expected
ones (saddle_point.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.count_distributions import (
    CountDistribution,
    Integers,
    TruncatedPoissonTargets,
    tail_width,
)
from incrowd.special import Floats


@dataclass(frozen=True, slots=True)
class LeakedMembers:
    """The distribution of the leaked members h of every class, and the sum of all weights.

    `share[s, i]` is the chance that a class of the s-th size has `leaked[i]` leaked members. In very large classes, the
    targets never exceed the leaked members. These `unlimited_classes` follow a plain binomial distribution, and only
    their number and their people matter.
    """

    distribution: CountDistribution
    odds: float
    counts: Floats
    leaked: Integers
    share: csr_array
    log_weight: float
    unlimited_people: int
    unlimited_classes: int

    @property
    def largest(self) -> int:
        """The largest number of leaked members of one class, unlimited classes left out."""
        return int(self.leaked[-1]) if self.leaked.size else 0

    @property
    def chance(self) -> float:
        """Chance that one person is in the leak."""
        return self.odds / (1 + self.odds)


def members_at_odds(sizes: Integers, counts: Integers, odds: float, distribution: CountDistribution) -> LeakedMembers:
    """The leaked members of every class when each person leaks with these odds."""
    low, high = _relevant_range(sizes, odds, distribution)
    unlimited = low > distribution.constant_from
    limited = ~unlimited
    lengths = (high - low + 1)[limited]
    edges = np.concatenate([[0], np.cumsum(lengths)])
    h = np.arange(edges[-1]) - np.repeat(edges[:-1] - low[limited], lengths)
    log_chance = log_binomial(h, np.repeat(sizes[limited], lengths), odds)
    weight, log_sum = _normalise_rows(log_chance + distribution.log_total(h), edges)
    unlimited_weight = 0.0
    if isinstance(distribution, TruncatedPoissonTargets):
        zeta = distribution.zeta
        unlimited_weight = float(counts[unlimited].sum()) * zeta
        # there may be millions of classes: for accuracy, sum the small truncated part instead of the rest
        if zeta <= 1:
            truncated = _row_sums(np.exp(log_chance) * distribution.truncated(h), edges)
            log_sum = np.where(truncated < 0.5, zeta + np.log1p(-np.minimum(truncated, 0.5)), log_sum)
    leaked, where = np.unique(h, return_inverse=True)
    return LeakedMembers(
        distribution=distribution,
        odds=odds,
        counts=counts[limited].astype(float),
        leaked=leaked,
        share=csr_array((weight, where, edges), shape=(lengths.size, leaked.size)),
        log_weight=math.fsum([*(counts[limited] * log_sum), unlimited_weight]),
        unlimited_people=int(sizes[unlimited] @ counts[unlimited]),
        unlimited_classes=int(counts[unlimited].sum()),
    )


def members_if_all_leak(sizes: Integers, counts: Integers, distribution: CountDistribution) -> LeakedMembers:
    """The leaked members of every class when everybody leaks: h = s."""
    log_total = distribution.log_total(sizes)
    if isinstance(distribution, TruncatedPoissonTargets) and distribution.zeta <= 1:
        log_total = distribution.zeta + np.log1p(-distribution.truncated(sizes))
    rows = np.arange(sizes.size + 1)
    share = csr_array((np.ones(sizes.size), rows[:-1], rows), shape=(sizes.size, sizes.size))
    return LeakedMembers(
        distribution, math.inf, counts.astype(float), sizes, share, math.fsum(counts * log_total), 0, 0
    )


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and covariance of two totals over all classes: the number leaked, and the other count."""

    mean: Floats
    covariance: Floats

    @property
    def slope(self) -> float:
        """Increase of the second total with each further person in the leak."""
        return float(self.covariance[0, 1] / self.covariance[0, 0]) if self.covariance[0, 0] > 0 else 0.0

    @property
    def variance_given_leak(self) -> float:
        """Variance of the second total once the number leaked is fixed."""
        return max(float(self.covariance[1, 1] - self.slope * self.covariance[0, 1]), 0.0)


def moments(members: LeakedMembers) -> Moments:
    """Mean and covariance of the totals over all classes."""
    h = members.leaked.astype(float)
    mean, square = members.distribution.mean_and_square(members.leaked)
    eh, ehh, ec, ecc, ehc = (members.share @ column for column in (h, h * h, mean, square, h * mean))
    counts = members.counts
    totals = np.array([counts @ eh, counts @ ec])
    cross = counts @ (ehc - eh * ec)
    covariance = np.array([[counts @ (ehh - eh * eh), cross], [cross, counts @ (ecc - ec * ec)]])
    if members.unlimited_people and isinstance(members.distribution, TruncatedPoissonTargets):
        expected = members.unlimited_people * members.chance
        targets = members.unlimited_classes * members.distribution.zeta
        totals += [expected, targets]
        covariance += np.diag([expected / (1 + members.odds), targets])
    return Moments(totals, covariance)


def _relevant_range(sizes: Integers, odds: float, distribution: CountDistribution) -> tuple[Integers, Integers]:
    """First and last h of each class size with a relevant weight, around the mode.

    The weights have lighter tails than a binomial distribution with the same mode, whose width is used.
    """
    low, high = np.zeros_like(sizes), sizes.copy()
    while np.any(low < high):  # as long as the next h is heavier, go up
        middle = (low + high) // 2
        up = odds * (sizes - middle) / (middle + 1.0) * distribution.weight_ratio(middle) > 1
        low, high = np.where(up & (low < high), middle + 1, low), np.where(up, high, middle)
    width = tail_width(low * (1 - low / sizes) + 1).astype(np.int64)
    return np.maximum(low - width, 0), np.minimum(low + width, sizes)


def _normalise_rows(logs: Floats, edges: Integers) -> tuple[Floats, Floats]:
    """Each row's weights as shares of the row, and the log of its sum."""
    if logs.size == 0:
        return logs, np.zeros(0)
    lengths = np.diff(edges)
    peak = np.maximum.reduceat(logs, edges[:-1])
    weight = np.exp(logs - np.repeat(peak, lengths))
    total = _row_sums(weight, edges)
    return weight / np.repeat(total, lengths), peak + np.log(total)


def _row_sums(values: Floats, edges: Integers) -> Floats:
    return np.asarray(np.add.reduceat(values, edges[:-1]), dtype=float) if values.size else np.zeros(0)
