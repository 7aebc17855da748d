"""Coefficients of a product over classes, by a contour integral through the saddle point.

The coefficient of w^L z^n in Π_b Σ_h C(s_b, h) w^h e_h(z), with e_h(z) = Σ_{c ≤ h} z^c / c!, is a sum of positive
terms. On the circles |w| = ρ, |z| = ζ it is the total weight at (ρ, ζ) times the chance that a random leak of that tilt
has exactly L people and n targets. That chance is a double Fourier sum. With ρ and ζ at the saddle point the sum is a
narrow bell around the origin, so that a few hundred nodes give all digits at any size, and nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.laws import AllTargets, Complexes, Floats, Integers, SomeTargets, log_one_plus, reach
from incrowd.leaks.terms import Moments, Terms, leak_terms, moments, whole_terms

_BLOCK = 1_000_000  # complex numbers held at once


def log_coefficient(sizes: Integers, counts: Integers, leaked: int, targets: int, start: tuple[float, float]) -> float:
    """log of [w^L z^n] Π_b Σ_h C(s_b, h) w^h e_h(z), divided by C(D, L), for 1 ≤ n ≤ L.

    `start` is a guess of the odds ρ and the rate ζ at the saddle point.
    """
    people = int(sizes @ counts)
    if targets == people:  # everybody leaks and everybody is a target
        return -float(counts @ np.array([math.lgamma(size + 1) for size in sizes.tolist()]))
    terms, law, now = _saddle(sizes, counts, leaked, targets, start)
    both = targets < leaked < people
    grid = Grid.over(now) if both else Grid(1, int(reach(now.spread[1, 1])) | 1, 0.0, 0.0, float(now.spread[1, 1]))
    _, sums = grid.sums(lambda theta, phi: turned_product(terms, theta, phi, leaked, targets), terms.largest)
    # every φ but 0 has a mirror image −φ
    exactly = math.fsum([sums[0].real, *(2 * sums[1:].real)]) / grid.leak_nodes / grid.other_nodes
    result = terms.log_weight + math.log(exactly) - targets * math.log(law.zeta)
    return result - float(log_binomial(leaked, people, terms.odds)) if leaked < people else result


def _saddle(
    sizes: Integers, counts: Integers, leaked: int, targets: int, start: tuple[float, float]
) -> tuple[Terms, SomeTargets | AllTargets, Moments]:
    """The tilt at which L leaked people and n targets are what to expect.

    Newton's method on a convex function of (log ρ, log ζ); a hundredth of a standard deviation is near enough.
    """
    everybody_leaks, all_targets = leaked == int(sizes @ counts), targets == leaked
    free = np.array([not everybody_leaks, not all_targets])
    wanted = np.array([leaked, targets], dtype=float)
    logs = np.log(start)
    for _ in range(200):
        law = AllTargets() if all_targets else SomeTargets.with_rate(math.exp(logs[1]), int(sizes[-1]))
        if everybody_leaks:
            terms = whole_terms(sizes, counts, law)
        else:
            terms = leak_terms(sizes, counts, math.exp(logs[0]), law)
        now = moments(terms)
        gap = (wanted - now.mean)[free]
        step = np.linalg.solve(now.spread[np.ix_(free, free)], gap)
        if gap @ step < 1e-4:
            return terms, law, now
        logs[free] += step * min(1.0, 1.0 / float(np.abs(step).max()))
    raise ArithmeticError("the saddle point of the leak was not found in 200 steps")


def turned_product(terms: Terms, theta: Floats, phi: Floats, leaked: int, other: float) -> Complexes:
    """E e^{i(Hθ + Cφ)} over all classes, relative to the totals `leaked` and `other`."""
    result = np.empty(theta.size, dtype=complex)
    held = terms.leaked.size + terms.counts.size + (int(terms.law.end) if math.isfinite(terms.law.end) else 0)
    block = max(1, _BLOCK // (held + 1))
    for first in range(0, theta.size, block):
        part = slice(first, first + block)
        angle = -leaked * theta[part] - other * phi[part]
        rotation = np.expm1(1j * np.outer(theta[part], terms.leaked.astype(float)))
        turn = terms.law.turned(phi[part], terms.leaked)
        size = np.zeros(angle.shape)
        parts: list[tuple[Floats, Complexes]] = [(terms.counts, terms.share @ (rotation + turn * (1 + rotation)).T)]
        if terms.far_people:
            end = terms.law.turned(phi[part], np.array([int(terms.law.end)]))
            parts.append((np.array([terms.far_people * 1.0]), terms.chance * np.expm1(1j * theta[part])[None, :]))
            parts.append((np.array([terms.far_classes * 1.0]), end.T))
        for weight, change in parts:
            log_size, log_angle = log_one_plus(change)
            size, angle = size + weight @ log_size, angle + weight @ log_angle
        result[part] = np.exp(size) * (np.cos(angle) + 1j * np.sin(angle))
    return result


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes of a double Fourier sum, evaluated only where the bell is not yet nothing.

    Sums over so many angles are exact but for wrapping: totals that differ by a multiple of the nodes are not told
    apart, so there are as many nodes as the totals reach. Turning the leak by −slope·φ makes the two directions
    independent.
    """

    leak_nodes: int
    other_nodes: int
    slope: float
    leak_spread: float
    other_spread: float

    @classmethod
    def over(cls, now: Moments, *, sides: int = 1) -> Grid:
        """Nodes for both directions; odd numbers, so that only the origin is its own mirror image.

        One coefficient needs as many nodes as its total reaches to one side, a whole distribution as to both `sides`.
        """
        leak, other = float(now.spread[0, 0]), now.spread_given_leak
        return cls(int(reach(leak)) | 1, sides * int(reach(other)) | 1, now.slope, leak, other)

    def sums(self, function: Callable[[Floats, Floats], Complexes], largest: int) -> tuple[Floats, Complexes]:
        """The angles φ from 0 up, and at each the function summed over all angles θ.

        The nodes reach further out until the values at the rim are no more than rounding, which grows with the angle
        that the `largest` number of leaked members is turned by.
        """
        limit = 50.0
        while True:
            across = _nodes(self.leak_nodes, self.leak_spread, limit)
            along = _nodes(self.other_nodes, self.other_spread, limit)
            theta, phi = np.meshgrid(
                2 * np.pi * np.arange(-across, across + 1) / self.leak_nodes,
                2 * np.pi * np.arange(along + 1) / self.other_nodes,
            )
            depth = 2 * (self.leak_spread * np.sin(theta / 2) ** 2 + self.other_spread * np.sin(phi / 2) ** 2)
            inside = depth <= limit
            values = np.zeros(theta.shape, dtype=complex)
            values[inside] = function(theta[inside] - self.slope * phi[inside], phi[inside])
            whole = inside.all() and across == self.leak_nodes // 2 and along == self.other_nodes // 2
            rim = inside & (depth > 0.8 * limit)
            rounding = 1e-16 * (10 + largest * float(np.abs(theta[inside] - self.slope * phi[inside]).max()))
            if whole or (rim.any() and np.abs(values[rim]).max() < rounding):
                return phi[:, 0], values.sum(axis=1)
            limit *= 2


def _nodes(nodes: int, spread: float, limit: float) -> int:
    """How many nodes on one side lie within the limit."""
    half = nodes // 2
    if 2 * spread <= limit:
        return half
    return min(half, int(math.asin(math.sqrt(limit / (2 * spread))) / math.pi * nodes))
