"""Quantiles of a number that has a least and a most value."""

import numpy as np
import pytest
from scipy.stats import beta, gamma

from incrowd import ClassSizes
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.prediction import SamplePrediction, beta_quantiles

AT = (np.arange(9) + 0.5) / 9


@pytest.mark.parametrize(("a", "b", "most"), [(2, 3, 1), (0.4, 7, 50), (300, 5, 1e6), (40, 0.3, 9)])
def test_moments_of_a_beta_give_its_quantiles(a, b, most):
    law = beta(a, b, scale=most)
    found = beta_quantiles(np.array([law.mean()]), np.array([law.var()]), most)
    assert found[0] == pytest.approx(law.ppf(AT), rel=1e-9)


def test_far_below_the_most_it_is_a_gamma():
    mean, variance = 100.0, 400.0
    found = beta_quantiles(np.array([mean]), np.array([variance]), 1e9)
    assert found[0] == pytest.approx(gamma(mean**2 / variance, scale=variance / mean).ppf(AT), rel=1e-5)


def test_one_more_person_is_a_new_class_or_not():
    assert beta_quantiles(np.array([0.3]), np.array([0.21]), 1.0)[0].tolist() == [0.0] * 6 + [1.0] * 3


def test_what_is_certain_does_not_vary():
    found = beta_quantiles(np.array([0.0, 5.0, 3.0]), np.array([0.0, 0.0, 0.0]), 5.0)
    assert found.tolist() == [[0.0] * 9, [5.0] * 9, [3.0] * 9]
    assert beta_quantiles(np.array([0.0]), np.array([0.0]), 0.0).tolist() == [[0.0] * 9]


def test_nothing_leaves_its_range():
    random = np.random.default_rng(0)
    mean = np.concatenate([random.random(2_000), 10.0 ** random.uniform(-12, 0, 2_000)])
    mean = np.concatenate([mean, 1.0 - mean])
    variance = mean * (1.0 - mean) * 10.0 ** random.uniform(-14, 1, mean.size)
    found = beta_quantiles(mean, variance, 1.0)
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert (np.diff(found, axis=1) >= 0).all()


@pytest.mark.parametrize("counts", [{1: 3, 2: 1}, {1: 30, 2: 12, 9: 4}, {1: 2, 40: 3}])
def test_never_more_people_are_unique_than_there_are_classes(counts):
    fit = fit_class_sizes(ClassSizes.from_counts(counts))
    prediction = SamplePrediction(fit.sizes, fit.posterior())
    for population in (200, 10**5, 10**9):
        unique, named = prediction.uniqueness(population), prediction.correctness(population)
        assert all(one <= other for one, other in zip(unique, named, strict=True))
