"""Synthetic populations: what is drawn, and how it is counted."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from incrowd.populations import copula, kernels
from incrowd.populations.copula import ClassCounter, Copula, SyntheticClasses


def test_the_counter_counts_what_a_sort_of_everything_counts():
    keys = np.random.default_rng(0).integers(0, 2**64, 300, dtype=np.uint64)
    drawn = np.random.default_rng(1).choice(keys, 5000)
    counter = ClassCounter()
    for start in range(0, 5000, 700):
        counter.add(drawn[start : start + 700].copy())
    sizes, counts = np.unique(np.unique(drawn, return_counts=True)[1], return_counts=True)
    found = counter.frequencies()
    assert np.array_equal(found[0], sizes)
    assert np.array_equal(found[1], counts)
    assert counter.scale == 1


@given(arrays(np.uint64, st.integers(0, 200), elements=st.integers(0, 2**64 - 1) | st.integers(0, 3)))
def test_keys_are_sorted_as_numpy_sorts_them(keys):
    assert np.array_equal(kernels.sort_keys(keys.copy()), np.sort(keys))


@pytest.mark.parametrize("values", [2, 300, 4_096, 4_097, 50_000])
def test_each_normal_falls_on_the_value_whose_edges_hold_it(values):
    chances = np.random.default_rng(values).dirichlet(np.full(values, 0.2)) + 1e-12
    plan = copula._Plan.of(Copula([chances, chances[::-1]], np.eye(2)), [0])
    normals = np.random.default_rng([0, 7]).standard_normal((3_000, 2), dtype=np.float32).astype(np.float64)
    edges = np.split(plan.edges, plan.starts[1:-1])
    found = [np.searchsorted(edge[:-1], normal, side="right") for edge, normal in zip(edges, normals.T, strict=True)]
    expected = plan.marks[found[0]] + plan.marks[values + found[1]]
    assert np.array_equal(plan.draw(3_000, [0, 7]), expected)


def test_a_full_counter_holds_a_random_part_that_stands_for_all():
    generator = np.random.default_rng(2)
    keys = generator.integers(0, 2**64, 40_000, dtype=np.uint64)
    counter = ClassCounter(most=3_000)
    for _ in range(10):
        counter.add(generator.permutation(np.repeat(keys, 1)).copy())
    assert counter.scale == 16
    sizes, counts = counter.frequencies()
    assert sizes.tolist() == [10]
    assert counts.sum() * counter.scale == pytest.approx(40_000, rel=5 / math.sqrt(2500))


@pytest.mark.paper("synthetic-estimator", "B (a) 1", "B (a) 3")
def test_one_column_is_drawn_by_its_chances():
    chances = np.array([0.5, 0.3, 0.15, 0.05])
    found = Copula([chances], np.eye(1)).sample(200_000, [0])
    assert found.people == 200_000
    assert np.sort(found.sizes) / 200_000 == pytest.approx(np.sort(chances), abs=0.005)


def test_independent_columns_have_as_many_classes_as_expected():
    generator = np.random.default_rng(0)
    first, second = generator.dirichlet(np.full(60, 0.5)), generator.dirichlet(np.full(40, 0.5))
    joint = np.outer(first, second).ravel()
    expected = np.sum(-np.expm1(5000 * np.log1p(-joint)))
    found = [Copula([first, second], np.eye(2)).sample(5000, [seed]).classes for seed in range(8)]
    assert np.mean(found) == pytest.approx(expected, rel=0.02)


@pytest.mark.paper("synthetic-estimator", "B (a) 3")
def test_the_correlation_is_the_one_asked_for():
    from scipy.stats import multivariate_normal

    half = np.array([0.5, 0.5])
    found = Copula([half, half], np.array([[1, 0.8], [0.8, 1]])).sample(400_000, [1])
    both = multivariate_normal(cov=[[1, 0.8], [0.8, 1]]).cdf([0, 0])
    assert np.sort(np.repeat(found.sizes, found.counts)) / 400_000 == pytest.approx(
        [0.5 - both, 0.5 - both, both, both], abs=0.004
    )


def test_the_same_seed_gives_the_same_population():
    copula = Copula([np.full(50, 0.02)] * 3, np.eye(3))
    first, again, other = (copula.sample(700_000, [seed]) for seed in (4, 4, 5))
    assert np.array_equal(first.counts, again.counts)
    assert not np.array_equal(first.counts, other.counts)


def test_counting_in_little_memory_gives_about_the_same():
    copula = Copula([np.full(200, 0.005)] * 3, np.eye(3))
    whole, part = copula.sample(300_000, [1]), copula.sample(300_000, [1], most=20_000)
    assert part.scale == 16
    assert part.classes == pytest.approx(whole.classes, rel=0.03)
    assert part.correctness([1000, 300_000]) == pytest.approx(whole.correctness([1000, 300_000]), rel=0.03)


def test_rarefied_curves_are_means_over_random_subpopulations():
    sizes = np.array([1, 1, 1, 2, 2, 5, 8])
    population = SyntheticClasses(20, *np.unique(sizes, return_counts=True), 1)
    people = np.repeat(np.arange(7), sizes)
    generator = np.random.default_rng(0)
    drawn = [np.bincount(generator.choice(people, 6, replace=False)) for _ in range(20_000)]
    assert population.correctness(6)[0] == pytest.approx(np.mean([(one > 0).sum() / 6 for one in drawn]), abs=0.005)
    assert population.uniqueness(6)[0] == pytest.approx(np.mean([(one == 1).sum() / 6 for one in drawn]), abs=0.005)
    assert population.correctness([1, 20]).tolist() == pytest.approx([1.0, 7 / 20])
    assert population.uniqueness([1, 20]).tolist() == pytest.approx([1.0, 3 / 20])


@pytest.mark.parametrize("people", [1, 3])
def test_a_tiny_population_can_be_drawn(people):
    assert Copula([np.array([0.5, 0.5])], np.eye(1)).sample(people, [0]).people == people
