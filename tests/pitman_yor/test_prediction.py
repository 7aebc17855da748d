"""From a sample to its population, given the model: against mpmath and simulation."""

import mpmath as mp
import numpy as np
import oracle
import pytest
from tests.inverse_sizes import expected_inverse_size

from incrowd import ClassSizes
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.prediction import (
    SamplePrediction,
    new_class_size_pmf,
    new_classes,
    new_classes_variance,
    new_uniques,
    population_size_pmf,
    still_unique,
)


@pytest.mark.parametrize(
    ("d", "alpha", "people", "classes", "population"),
    [
        (0.5, 10.0, 1000, 300, 10**10),
        (1e-9, 50.0, 1000, 150, 10**7),
        (0.0, 50.0, 1000, 150, 10**7),
        (-1e-9, 50.0, 1000, 150, 10**7),
        (-2.0, 800.0, 1000, 300, 10**6),
        (0.9, 0.0, 1000, 600, 10**9),
        (1e-5, 1e6, 10**6, 690_000, 10**8),
        (-1e20, 1e30, 1000, 1000, 10**10),
    ],
)
def test_new_classes_agree_with_mpmath(d, alpha, people, classes, population):
    with mp.workdps(120):
        truth = float(oracle.new_classes(d, alpha, people, classes, population))
    found = float(new_classes(d, alpha, people=people, classes=classes, population=population))
    assert found == pytest.approx(truth, rel=1e-11)


@pytest.mark.parametrize(
    ("d", "alpha", "classes"), [(0.5, 10.0, 60), (1e-4, 50.0, 50), (0.02, 50.0, 50), (-2.0, 200.0, 60)]
)
def test_moments_of_new_classes_and_uniques_agree_with_simulation(d, alpha, classes):
    random, draws, people, population = np.random.default_rng(0), 20_000, 100, 600
    count = np.full(draws, float(classes))
    for i in range(people, population):
        count += random.random(draws) < (alpha + d * count) / (alpha + i)
    sample = {"people": people, "classes": classes, "population": population}
    assert (count - classes).mean() == pytest.approx(float(new_classes(d, alpha, **sample)), rel=0.02)
    assert count.var() == pytest.approx(float(new_classes_variance(d, alpha, **sample)), rel=0.06)


def test_uniques_and_sizes_agree_with_an_urn():
    d, alpha, start, population, draws = 0.4, 5.0, [1, 1, 3], 12, 5000
    random = np.random.default_rng(1)
    uniques, first_kept, third = [], 0, np.zeros(population + 1)
    for _ in range(draws):
        sizes = list(start)
        for i in range(sum(start), population):
            weights = np.array([*(size - d for size in sizes), alpha + d * len(sizes)]) / (alpha + i)
            chosen = int(np.searchsorted(np.cumsum(weights), random.random() * weights.sum()))
            if chosen == len(sizes):
                sizes.append(1)
            else:
                sizes[chosen] += 1
        uniques.append(sum(size == 1 for size in sizes))
        first_kept += sizes[0] == 1
        third[sizes[2]] += 1
    kept = float(still_unique(d, alpha, people=5, population=population))
    assert first_kept / draws == pytest.approx(kept, abs=0.03)
    expected = 2 * kept + float(new_uniques(d, alpha, people=5, classes=3, population=population))
    assert np.mean(uniques) == pytest.approx(expected, abs=0.1)
    size = np.arange(population + 1.0)
    chances = population_size_pmf(d, alpha, people=5, population=population, seen=3, size=size)
    assert chances.sum() == pytest.approx(1)
    assert np.abs(third / draws - chances).max() < 0.03


def test_a_new_class_has_some_size():
    size = np.arange(1.0, 96)
    assert new_class_size_pmf(0.3, 4.0, people=5, population=100, size=size).sum() == pytest.approx(1)
    assert not new_class_size_pmf(0.3, 4.0, people=5, population=5, size=size).any()


@pytest.mark.parametrize(
    ("d", "alpha", "people", "population", "seen"),
    [(0.5, 10.0, 1000, 21_000, 1), (-3.0, 500.0, 1000, 12_000, 5), (0.9, 1.0, 1000, 9000, 300), (0.0, 9.0, 50, 400, 7)],
)
def test_expected_inverse_sizes_agree_with_adding_up(d, alpha, people, population, seen):
    with mp.workdps(40):
        truth = float(oracle.expected_inverse_size(d, alpha, people, population, seen))
    found = float(expected_inverse_size(d, alpha, people=people, population=population, seen=seen))
    assert found == pytest.approx(truth, rel=1e-10)


def test_inverse_sizes_reach_a_world():
    value = expected_inverse_size(0.3, 20.0, people=10_000, population=1e10, seen=[1, 5, 400])
    assert np.all((value > 0) & (value < 1))
    assert np.all(np.diff(value) < 0)
    assert expected_inverse_size(0.3, 20.0, people=100, population=100, seen=[4]).tolist() == [0.25]


def test_predictions_at_the_sample_are_the_sample():
    sizes = ClassSizes.from_counts({1: 60, 2: 20, 3: 8, 7: 2})
    predictive = SamplePrediction(sizes, fit_class_sizes(sizes).posterior())
    assert predictive.correctness(sizes.people) == pytest.approx((sizes.correctness,) * 3)
    assert predictive.uniqueness(sizes.people) == pytest.approx((sizes.uniqueness,) * 3)
    assert predictive.violations(sizes.people, 3) == pytest.approx((100 / sizes.people,) * 3)


def test_below_two_is_unique():
    sizes = ClassSizes.from_counts({1: 60, 2: 20, 3: 8, 7: 2})
    predictive = SamplePrediction(sizes, fit_class_sizes(sizes).posterior())
    assert predictive.violations(5000, 2)[0] == pytest.approx(predictive.uniqueness(5000)[0], rel=0.05)
