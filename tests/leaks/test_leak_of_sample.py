"""A leak of a sample: every sample and every leak of every population of up to nine people, one by one."""

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from tests.leaks.test_learnt_secrets import partitions

from incrowd import ClassSizes, InputError
from incrowd.leaks import leak_of_sample, leak_risk


def by_enumeration(sizes, people, leaked):
    """(named, in sample, in leak, misled, misled outside of the leak) over all samples, leaks and people."""
    owner = [number for number, size in enumerate(sizes) for _ in range(size)]
    whole, cases = len(owner), comb(len(owner), people) * comb(people, leaked)
    named = in_sample = in_leak = misled = outside = Fraction(0)
    for sample in combinations(range(whole), people):
        members = set(sample)
        for leak in combinations(sample, leaked):
            held = [0] * len(sizes)
            for who in leak:
                held[owner[who]] += 1
            gone = set(leak)
            for who in range(whole):
                fitting = held[owner[who]]
                right = Fraction(1, fitting) if who in gone else Fraction(0)
                named += right
                in_sample += right if who in members else 0
                in_leak += right
                misled += (1 if fitting else 0) - right
                outside += 1 if fitting and who not in gone else 0
    stayed = cases * (whole - leaked)
    return (
        named / (cases * whole), in_sample / (cases * people), in_leak / (cases * leaked) if leaked else Fraction(0),
        misled / (cases * whole), outside / stayed if stayed else Fraction(0),
    )  # fmt: skip


@pytest.mark.parametrize("population", range(1, 7))
def test_all_samples_and_leaks_of_all_small_populations(population):
    for sizes in partitions(population):
        for people in range(1, population + 1):
            for leaked in range(people + 1):
                found = leak_of_sample(ClassSizes.from_sizes(list(sizes)), people=people, leaked=leaked)
                ours = (found.named, found.named_in_sample, found.named_in_leak, found.misled, found.misled_outside)
                truth = tuple(float(chance) for chance in by_enumeration(sizes, people, leaked))
                assert ours == pytest.approx(truth, abs=1e-13), (sizes, people, leaked)


@pytest.mark.parametrize("population", [7, 8, 9])
def test_larger_populations_at_some_samples_and_leaks(population):
    for sizes in partitions(population):
        found = leak_of_sample(ClassSizes.from_sizes(list(sizes)), people=5, leaked=3)
        ours = (found.named, found.named_in_sample, found.named_in_leak, found.misled, found.misled_outside)
        assert ours == pytest.approx(tuple(map(float, by_enumeration(sizes, 5, 3))), abs=1e-13)


def test_a_sample_of_everybody_is_the_table():
    sizes = ClassSizes.from_sizes([4, 3, 1])
    for leaked in range(1, 9):
        assert leak_of_sample(sizes, people=8, leaked=leaked).named == pytest.approx(
            leak_risk(sizes, leaked).probability
        )


def test_impossible_samples_are_refused():
    sizes = ClassSizes.from_sizes([2, 1])
    with pytest.raises(InputError, match="a sample of 4"):
        leak_of_sample(sizes, people=4, leaked=1)
    with pytest.raises(InputError, match="a leak of 3"):
        leak_of_sample(sizes, people=2, leaked=3)
