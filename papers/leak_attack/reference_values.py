"""Reference values for the leak attack: the paper's formulas in fractions, enumeration, and its random tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np

from incrowd.classes import ClassSizes

PEOPLE = 10_000  # D in all figures


def published_sum(people: int, k: int, leaked: int) -> Fraction:
    """Eq. 5 as it is printed: (1/k) Σ_{h=1}^{k} C(k, h) C(D−k, L−h) / C(D, L).

    >>> published_sum(6, 2, 3)
    Fraction(2, 5)
    """
    found = sum(comb(k, h) * comb(people - k, leaked - h) for h in range(1, min(k, leaked) + 1))
    return Fraction(found, k * comb(people, leaked))


def chance_named(size: int, leaked: int, people: int) -> Fraction:
    """Eq. 8 summed over j: a given person of a class of that size leaks, and is the one guessed among those who did.

    >>> chance_named(2, 3, 6) == published_sum(6, 2, 3)
    True
    """
    return Fraction(comb(people, leaked) - comb(max(people - size, 0), leaked), comb(people, leaked) * size)


def share_at_risk(people: int, k: int, leaked: int, h: int) -> float:
    """The share of people who leaked with exactly h − 1 others of their class: (h/k) C(k, h) C(D−k, L−h) / C(D, L)."""
    return float(Fraction(h * comb(k, h) * comb(people - k, leaked - h), k * comb(people, leaked)))


def draw_class_sizes(deviation: float, seed: int = 0) -> ClassSizes:
    """Classes of 5 or more for 10,000 people: a normal distribution with mean 5, truncated below 5 (Figure 5).

    The last class takes the remaining people, 5 or more, so that there are 10,000 in all.
    """
    drawn = np.random.default_rng(seed).normal(5, deviation, size=8_000)
    sizes = np.round(drawn[drawn >= 5]).astype(int)
    kept = sizes[: int(np.searchsorted(np.cumsum(sizes), PEOPLE - 4))]
    return ClassSizes.from_sizes([*kept, PEOPLE - int(kept.sum())])


def enumerate_attacks(sizes: Sequence[int], leaked: int, targets: int) -> Fraction:
    """The chance that all targets are named, by enumeration of every leak and every order of targets.

    >>> enumerate_attacks([3, 2, 1], 4, 2)
    Fraction(14, 75)
    """
    of = [number for number, size in enumerate(sizes) for _ in range(size)]
    total, cases = Fraction(0), 0
    for leak in combinations(range(len(of)), leaked):
        for order in permutations(range(len(of)), targets):
            cases += 1
            total += _chance_of_order(of, set(leak), order)
    return total / cases


def _chance_of_order(of: Sequence[int], leak: set[int], order: Sequence[int]) -> Fraction:
    chance = Fraction(1)
    for target in order:
        if target not in leak:
            return Fraction(0)
        chance /= sum(of[other] == of[target] for other in leak)
        leak.remove(target)
    return chance


def leak_chances(sizes: Sequence[int]) -> dict[tuple[int, int], Fraction]:
    """[w^L z^n] Π_b Σ_h C(s_b, h) w^h Σ_{c≤h} z^c / c!: the chance for every leak L and targets n, but for a factor
    that is the same for all tables of as many people."""
    product = {(0, 0): Fraction(1)}
    for size in sizes:
        grown: dict[tuple[int, int], Fraction] = {}
        for (leaked, targets), weight in product.items():
            for h in range(size + 1):
                for c in range(h + 1):
                    at = leaked + h, targets + c
                    grown[at] = grown.get(at, Fraction(0)) + weight * Fraction(comb(size, h), factorial(c))
        product = grown
    return product


def partitions_of_people(people: int, k: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every way to put so many people into classes of at least k.

    >>> list(partitions_of_people(6, 2))
    [(6,), (4, 2), (3, 3), (2, 2, 2)]
    """
    if people == 0:
        yield ()
    for size in range(min(people, largest or people), k - 1, -1):
        for rest in partitions_of_people(people - size, k, size):
            yield size, *rest
