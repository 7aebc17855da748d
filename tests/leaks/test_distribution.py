"""How many people are named, against enumeration in fractions and simulation."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from incrowd import ClassSizes, InputError, UnsupportedError
from incrowd.leaks import leak_risk, named_people, uniform_sizes


def enumerated(sizes: list[int], leaked: int) -> list[Fraction]:
    """Every leak, every number of right guesses in it."""
    person = [index for index, size in enumerate(sizes) for _ in range(size)]
    total = [Fraction(0)] * (leaked + 1)
    leaks = list(combinations(range(len(person)), leaked))
    for leak in leaks:
        distribution = [Fraction(1)]
        for index in range(len(sizes)):
            h = sum(person[one] == index for one in leak)
            right = [Fraction(comb(h, r) * (h - 1) ** (h - r), h**h) for r in range(h + 1)] if h else [Fraction(1)]
            distribution = [
                sum(
                    (distribution[i] * right[n - i] for i in range(len(distribution)) if 0 <= n - i < len(right)),
                    Fraction(0),
                )
                for n in range(len(distribution) + len(right) - 1)
            ]
        for n, chance in enumerate(distribution):
            total[n] += chance / len(leaks)
    return total


@pytest.mark.parametrize("sizes", [[3, 2, 1], [4, 4], [1, 1, 1, 1], [7], [5, 2, 2]])
def test_the_distribution_is_the_enumerated_one(sizes):
    for leaked in range(sum(sizes) + 1):
        known = enumerated(sizes, leaked)
        named = named_people(ClassSizes.from_sizes(sizes), leaked)
        assert named.method == "exact"
        chances = np.zeros(leaked + 1)
        chances[named.first : named.first + named.chances.size] = named.chances
        assert chances == pytest.approx([float(chance) for chance in known], abs=1e-12)
        mean = sum(n * chance for n, chance in enumerate(known))
        variance = sum((n - mean) ** 2 * chance for n, chance in enumerate(known))
        assert named.mean == pytest.approx(float(mean), rel=1e-12)
        assert named.variance == pytest.approx(float(variance), abs=1e-11)
        reached = np.cumsum([float(chance) for chance in known])
        assert named.upper_95 == int(np.argmax(reached >= 0.95 - 1e-12))


def test_the_mean_is_the_risk_of_one_times_the_people():
    sizes = ClassSizes.from_counts({1: 300, 2: 200, 5: 100, 40: 20})
    named = named_people(sizes, 700)
    assert named.mean == pytest.approx(leak_risk(sizes, 700).probability * sizes.people, rel=1e-12)


@pytest.mark.parametrize("leaked", [1_000, 4_000, 10_000])
def test_simulation_agrees(leaked):
    sizes = ClassSizes.from_counts({1: 1_000, 3: 1_000, 10: 400, 200: 10})
    exact = named_people(sizes, leaked)
    simulated = named_people(sizes, leaked, method="simulated", trials=4_000, seed=2)
    assert (simulated.method, simulated.trials, simulated.seed) == ("simulated", 4_000, 2)
    assert simulated.mean == pytest.approx(exact.mean, abs=4 * (exact.variance / 4_000) ** 0.5)
    assert simulated.variance == pytest.approx(exact.variance, rel=0.1)
    assert abs(simulated.upper_95 - exact.upper_95) <= 0.15 * exact.variance**0.5 + 1


def test_unique_people_are_all_named():
    named = named_people(uniform_sizes(5_000, 1), 700)
    assert named.mean == pytest.approx(700)
    assert named.upper_95 == 700
    assert named.variance == pytest.approx(0, abs=1e-6)


def test_nothing_leaked_names_nobody():
    named = named_people(ClassSizes.from_sizes([3, 2]), 0)
    assert (named.mean, named.variance, named.upper_95, named.share_of_leak) == (0, 0, 0, 0)


def test_too_many_large_classes_are_simulated_or_refused():
    wide = ClassSizes.from_sizes(np.arange(1, 40_000) * 1_000)
    with pytest.raises(UnsupportedError, match="simulated"):
        named_people(wide, wide.people // 2, method="exact")
    with pytest.raises(UnsupportedError, match="too many to"):
        named_people(wide, wide.people // 2)


def test_auto_simulates_what_would_take_long_and_says_so():
    sizes = ClassSizes.from_counts({1: 1, 10**7: 1})  # exact: half a minute
    named = named_people(sizes, 5 * 10**6, trials=2_000, seed=3)
    assert (named.method, named.trials, named.seed) == ("simulated", 2_000, 3)
    assert named.mean == pytest.approx(1.5, abs=4 * (1.25 / 2_000) ** 0.5)  # ½ for the single, 1 for the others


def test_auto_refuses_what_neither_way_does_in_a_minute():
    with pytest.raises(UnsupportedError, match="if you can wait: method='exact'"):
        named_people(ClassSizes.from_counts({1: 1, 10**9: 1}), 5 * 10**8)


def test_leaks_drawn_class_by_class_follow_the_same_distribution():
    sizes = ClassSizes.from_counts({2: 3, 900: 4})
    exact = named_people(sizes, 1_500, method="exact")
    simulated = named_people(sizes, 1_500, method="simulated", trials=20_000, seed=2)
    assert simulated.mean == pytest.approx(exact.mean, abs=4 * (exact.variance / 20_000) ** 0.5)
    assert simulated.variance == pytest.approx(exact.variance, rel=0.05)


def test_wrong_questions_are_refused():
    sizes = ClassSizes.from_sizes([3, 2])
    with pytest.raises(InputError):
        named_people(sizes, 6)
    with pytest.raises(InputError):
        named_people(sizes, 2, method="guess")
    with pytest.raises(InputError):
        named_people(sizes, 2).quantile(1.0)
