"""All classes under a tilt: how many members of each leak, and what that adds up to.

Give every person the same odds ρ of being in the leak. A class of size s then has h leaked members with the weight
C(s, h) p^h q^(s − h) times that of whatever else is counted in it (laws.py). The odds are free: they move the bulk of
the sum to where it is wanted (see contour.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.laws import Floats, Integers, Law, SomeTargets, reach


@dataclass(frozen=True, slots=True)
class Terms:
    """Where each leaked size h has weight, and what the weights add up to.

    `share[s, i]` is the chance that a class of the s-th size has `leaked[i]` leaked members. Classes so large that no
    target can find them short of members follow a plain binomial law: of these only the people and the number count.
    """

    law: Law
    odds: float
    counts: Floats
    leaked: Integers
    share: csr_array
    log_weight: float
    far_people: int
    far_classes: int

    @property
    def largest(self) -> int:
        """The largest number of leaked members of one class but for far classes."""
        return int(self.leaked[-1]) if self.leaked.size else 0

    @property
    def chance(self) -> float:
        """Of one person to be in the leak."""
        return self.odds / (1 + self.odds)


def leak_terms(sizes: Integers, counts: Integers, odds: float, law: Law) -> Terms:
    """Every class when each person leaks with these odds."""
    low, high = _windows(sizes, odds, law)
    far = low > law.end
    near = ~far
    lengths = (high - low + 1)[near]
    edges = np.concatenate([[0], np.cumsum(lengths)])
    h = np.arange(edges[-1]) - np.repeat(edges[:-1] - low[near], lengths)
    log_chance = log_binomial(h, np.repeat(sizes[near], lengths), odds)
    weight, log_sum = _normalised(log_chance + law.log_total(h), edges)
    far_weight = 0.0
    if isinstance(law, SomeTargets):
        far_weight = float(counts[far].sum()) * law.zeta
        if law.zeta <= 1:  # classes may come by the million: sum the little that is cut off, not what is left
            cut = _sums(np.exp(log_chance) * law.cut(h), edges)
            log_sum = np.where(cut < 0.5, law.zeta + np.log1p(-np.minimum(cut, 0.5)), log_sum)
    leaked, where = np.unique(h, return_inverse=True)
    return Terms(
        law=law,
        odds=odds,
        counts=counts[near].astype(float),
        leaked=leaked,
        share=csr_array((weight, where, edges), shape=(lengths.size, leaked.size)),
        log_weight=math.fsum([*(counts[near] * log_sum), far_weight]),
        far_people=int(sizes[far] @ counts[far]),
        far_classes=int(counts[far].sum()),
    )


def whole_terms(sizes: Integers, counts: Integers, law: Law) -> Terms:
    """Every class when everybody leaks: h = s."""
    log_total = law.log_total(sizes)
    if isinstance(law, SomeTargets) and law.zeta <= 1:
        log_total = law.zeta + np.log1p(-law.cut(sizes))
    rows = np.arange(sizes.size + 1)
    share = csr_array((np.ones(sizes.size), rows[:-1], rows), shape=(sizes.size, sizes.size))
    return Terms(law, math.inf, counts.astype(float), sizes, share, math.fsum(counts * log_total), 0, 0)


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and spread of the number leaked and of what else is counted, summed over all classes."""

    mean: Floats
    spread: Floats

    @property
    def slope(self) -> float:
        """How much the second number grows with each person more in the leak."""
        return float(self.spread[0, 1] / self.spread[0, 0]) if self.spread[0, 0] > 0 else 0.0

    @property
    def spread_given_leak(self) -> float:
        """Variance of the second number once the number leaked is fixed."""
        return max(float(self.spread[1, 1] - self.slope * self.spread[0, 1]), 0.0)


def moments(terms: Terms) -> Moments:
    """What the classes add up to on average, and how far that varies."""
    h = terms.leaked.astype(float)
    mean, square = terms.law.mean_and_square(terms.leaked)
    eh, ehh, ec, ecc, ehc = (terms.share @ column for column in (h, h * h, mean, square, h * mean))
    counts = terms.counts
    totals = np.array([counts @ eh, counts @ ec])
    cross = counts @ (ehc - eh * ec)
    spread = np.array([[counts @ (ehh - eh * eh), cross], [cross, counts @ (ecc - ec * ec)]])
    if terms.far_people and isinstance(terms.law, SomeTargets):
        totals += [terms.far_people * terms.chance, terms.far_classes * terms.law.zeta]
        spread += np.diag([terms.far_people * terms.chance / (1 + terms.odds), terms.far_classes * terms.law.zeta])
    return Moments(totals, spread)


def _windows(sizes: Integers, odds: float, law: Law) -> tuple[Integers, Integers]:
    """The h of each class size that carry weight, around the heaviest one.

    The weights fall off faster than those of a binomial law with the same mode, so its reach is enough.
    """
    low, high = np.zeros_like(sizes), sizes.copy()
    while np.any(low < high):  # as long as the next h is heavier, go up
        middle = (low + high) // 2
        up = odds * (sizes - middle) / (middle + 1.0) * law.growth(middle) > 1
        low, high = np.where(up & (low < high), middle + 1, low), np.where(up, high, middle)
    width = reach(low * (1 - low / sizes) + 1).astype(np.int64)
    return np.maximum(low - width, 0), np.minimum(low + width, sizes)


def _normalised(logs: Floats, edges: Integers) -> tuple[Floats, Floats]:
    """Each row's weights as shares of the row, and the log of its sum."""
    if logs.size == 0:
        return logs, np.zeros(0)
    lengths = np.diff(edges)
    peak = np.maximum.reduceat(logs, edges[:-1])
    weight = np.exp(logs - np.repeat(peak, lengths))
    total = _sums(weight, edges)
    return weight / np.repeat(total, lengths), peak + np.log(total)


def _sums(values: Floats, edges: Integers) -> Floats:
    return np.asarray(np.add.reduceat(values, edges[:-1]), dtype=float) if values.size else np.zeros(0)
