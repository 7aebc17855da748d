"""Coefficients of a product over classes, by a contour integral through the saddle point.

The coefficient of w^L z^n in Π_b Σ_h C(s_b, h) w^h e_h(z), with e_h(z) = Σ_{c ≤ h} z^c / c!, is a sum of positive
terms. On the circles |w| = ρ, |z| = ζ it is the total weight at (ρ, ζ) times the chance that a random leak with the
odds ρ and the rate ζ has exactly L people and n targets. That chance is a double Fourier sum. With ρ and ζ at the
saddle point the sum is a narrow bell around the origin, so that a few hundred nodes give all digits at any size, and
nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import UnsupportedError
from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.count_distributions import (
    Complexes,
    EveryLeakedIsTarget,
    Integers,
    TruncatedPoissonTargets,
    complex_log1p,
    tail_width,
)
from incrowd.leaks.leaked_members import LeakedMembers, Moments, members_at_odds, members_if_all_leak, moments
from incrowd.special import Floats

_BLOCK = 1_000_000  # complex numbers in memory at a time
_LARGE, _PROBES = 10_000, 8  # with more numbers per node, about 8 nodes of the rim are evaluated before all others
_MOST_NUMBERS = 150_000_000  # numbers of one sum: at most half a minute on one core


def log_coefficient(sizes: Integers, counts: Integers, leaked: int, targets: int, start: tuple[float, float]) -> float:
    """log of [w^L z^n] Π_b Σ_h C(s_b, h) w^h e_h(z), divided by C(D, L), for 1 ≤ n ≤ L.

    `start` is a guess of the odds ρ and the rate ζ at the saddle point.
    """
    people = int(sizes @ counts)
    if targets == people:  # everybody leaks and everybody is a target
        return -float(counts @ np.array([math.lgamma(size + 1) for size in sizes.tolist()]))
    members, zeta, totals = _saddle_point(sizes, counts, leaked, targets, start)
    grid = Grid.over(totals) if targets < leaked < people else Grid.over_other(float(totals.covariance[1, 1]))

    def check(nodes: int) -> None:
        if nodes * _numbers_held(members) > _MOST_NUMBERS:
            raise UnsupportedError(
                f"the exact chance that all of {targets:,} targets are named takes too long to sum in classes as large "
                "as these; ask for fewer targets, or draw attacks with simulate_leak"
            )

    _, sums = grid.sums(
        lambda theta, phi: characteristic(members, theta, phi, leaked, targets),
        members.largest,
        rim_first=_numbers_held(members) > _LARGE,
        check=check,
    )
    # every φ but 0 has a mirror image −φ
    exactly = math.fsum([sums[0].real, *(2 * sums[1:].real)]) / grid.leak_nodes / grid.other_nodes
    result = members.log_weight + math.log(exactly) - targets * math.log(zeta)
    return result - float(log_binomial(leaked, people, members.odds)) if leaked < people else result


def _saddle_point(
    sizes: Integers, counts: Integers, leaked: int, targets: int, start: tuple[float, float]
) -> tuple[LeakedMembers, float, Moments]:
    """The odds ρ (in the members) and the rate ζ at which L leaked people and n targets are the expected totals.

    Newton's method on a convex function of (log ρ, log ζ); a hundredth of a standard deviation is close enough.
    """
    everybody_leaks, all_targets = leaked == int(sizes @ counts), targets == leaked
    free = np.array([not everybody_leaks, not all_targets])
    wanted = np.array([leaked, targets], dtype=float)
    logs = np.log(start)
    for _ in range(200):
        targets_of_class = (
            EveryLeakedIsTarget() if all_targets else TruncatedPoissonTargets.at_rate(math.exp(logs[1]), int(sizes[-1]))
        )
        if everybody_leaks:
            members = members_if_all_leak(sizes, counts, targets_of_class)
        else:
            members = members_at_odds(sizes, counts, math.exp(logs[0]), targets_of_class)
        totals = moments(members)
        gap = (wanted - totals.mean)[free]
        step = np.linalg.solve(totals.covariance[np.ix_(free, free)], gap)
        if gap @ step < 1e-4:
            return members, targets_of_class.zeta, totals
        logs[free] += step * min(1.0, 1.0 / float(np.abs(step).max()))
    raise ArithmeticError("the saddle point of the leak was not found in 200 steps")


def _numbers_held(members: LeakedMembers) -> int:
    """The number of values that one node of the sum keeps in memory."""
    end = members.distribution.constant_from
    return members.leaked.size + members.counts.size + (int(end) if math.isfinite(end) else 0)


def characteristic(members: LeakedMembers, theta: Floats, phi: Floats, leaked: int, other: float) -> Complexes:
    """E e^{i(Hθ + Cφ)} over all classes, relative to the totals `leaked` and `other`."""
    result = np.empty(theta.size, dtype=complex)
    end = members.distribution.constant_from
    block = max(1, _BLOCK // (_numbers_held(members) + 1))
    for first in range(0, theta.size, block):
        part = slice(first, first + block)
        angle = -leaked * theta[part] - other * phi[part]
        by_leaked = np.expm1(1j * np.outer(theta[part], members.leaked.astype(float)))
        by_count = members.distribution.characteristic_minus_one(phi[part], members.leaked)
        log_modulus = np.zeros(angle.shape)
        factors: list[tuple[Floats, Complexes]] = [
            (members.counts, members.share @ (by_leaked + by_count * (1 + by_leaked)).T)
        ]
        if members.unlimited_people:
            in_unlimited = members.distribution.characteristic_minus_one(phi[part], np.array([int(end)]))
            one_person = members.chance * np.expm1(1j * theta[part])[None, :]
            factors.append((np.array([members.unlimited_people * 1.0]), one_person))
            factors.append((np.array([members.unlimited_classes * 1.0]), in_unlimited.T))
        for power, change in factors:
            real, imaginary = complex_log1p(change)
            log_modulus, angle = log_modulus + power @ real, angle + power @ imaginary
        result[part] = np.exp(log_modulus) * (np.cos(angle) + 1j * np.sin(angle))
    return result


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes of a double Fourier sum, evaluated only near the origin, where the terms are not negligible.

    A sum over m angles is exact except for aliasing: totals that differ by a multiple of m are added. So m is the width
    of the distribution of the total. Shifting the angle θ of the leak by −slope·φ makes the two directions independent.
    """

    leak_nodes: int
    other_nodes: int
    slope: float
    leak_variance: float
    other_variance: float

    @classmethod
    def over(cls, totals: Moments, *, sides: int = 1) -> Grid:
        """Nodes for both directions; odd numbers, so that only the origin is its own mirror image.

        One coefficient needs the width of the distribution on one side, a whole distribution that on both `sides`.
        """
        leak, other = float(totals.covariance[0, 0]), totals.variance_given_leak
        return cls(int(tail_width(leak)) | 1, sides * int(tail_width(other)) | 1, totals.slope, leak, other)

    @classmethod
    def over_other(cls, variance: float, *, sides: int = 1) -> Grid:
        """Nodes for the second total alone, if the first is fixed (everybody leaks, or all leaked are targets)."""
        return cls(1, sides * int(tail_width(variance)) | 1, 0.0, 0.0, variance)

    def sums(
        self,
        function: Callable[[Floats, Floats], Complexes],
        largest: int,
        *,
        rim_first: bool = False,
        check: Callable[[int], None] = lambda nodes: None,
    ) -> tuple[Floats, Complexes]:
        """The angles φ from 0 up, and at each the function summed over all angles θ.

        The region of nodes is enlarged until the values at its rim are rounding errors, which grow with the angle of
        the `largest` number of leaked members. With `rim_first`, some nodes of the rim are evaluated first; if they are
        not rounding errors, the region is enlarged before the other nodes are evaluated. `check` is called with the
        number of nodes before any is evaluated, and raises if they are too many.
        """
        limit = 50.0
        while True:
            across = _nodes(self.leak_nodes, self.leak_variance, limit)
            along = _nodes(self.other_nodes, self.other_variance, limit)
            theta, phi = np.meshgrid(
                2 * np.pi * np.arange(-across, across + 1) / self.leak_nodes,
                2 * np.pi * np.arange(along + 1) / self.other_nodes,
            )
            depth = 2 * (self.leak_variance * np.sin(theta / 2) ** 2 + self.other_variance * np.sin(phi / 2) ** 2)
            inside = depth <= limit
            check(int(np.count_nonzero(inside)))
            whole = inside.all() and across == self.leak_nodes // 2 and along == self.other_nodes // 2
            rim = inside & (depth > 0.8 * limit)
            shifted = theta - self.slope * phi
            rounding = 1e-16 * (10 + largest * float(np.abs(shifted[inside]).max()))
            some = _probes(rim, across) if rim_first and not whole else np.zeros(0, dtype=np.int64)
            if some.size and np.abs(function(shifted.flat[some], phi.flat[some])).max() >= rounding:
                limit *= 2
                continue
            values = np.zeros(theta.shape, dtype=complex)
            values[inside] = function(shifted[inside], phi[inside])
            if whole or (rim.any() and np.abs(values[rim]).max() < rounding):
                return phi[:, 0], values.sum(axis=1)
            limit *= 2


def _probes(rim: NDArray[np.bool_], middle: int) -> Integers:
    """Indexes of the nodes of the rim with the largest values: those on the two axes, and some in between."""
    on_axes = np.zeros_like(rim)
    on_axes[0], on_axes[:, middle] = rim[0], rim[:, middle]
    every = np.flatnonzero(rim)
    return np.union1d(np.flatnonzero(on_axes), every[:: max(1, every.size // _PROBES)])


def _nodes(nodes: int, variance: float, limit: float) -> int:
    """Number of nodes on one side within the limit."""
    half = nodes // 2
    if 2 * variance <= limit:
        return half
    return min(half, int(math.asin(math.sqrt(limit / (2 * variance))) / math.pi * nodes))
