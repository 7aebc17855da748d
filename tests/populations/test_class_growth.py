"""How large the sample's classes are in the population."""

import numpy as np
import pytest
from scipy.stats import betabinom
from tests.inverse_sizes import expected_inverse_size

from incrowd.pitman_yor import Posterior
from incrowd.pitman_yor.prediction import still_unique
from incrowd.populations.class_growth import population_sizes


def at(d, alpha):
    return Posterior(np.array([d]), np.array([alpha]), np.ones(1))


@pytest.mark.parametrize(
    ("d", "alpha", "people", "population"),
    [(0.3, 50.0, 1000, 20_000), (0.0, 3000.0, 1000, 10**7), (0.6, 5.0, 400, 10**10), (-2.0, 500.0, 5000, 5500)],
)
def test_the_expected_inverse_is_the_one_added_up_elsewhere(d, alpha, people, population):
    seen = [1, 2, 5, 20, 100]
    found = population_sizes(at(d, alpha), seen, people=people, population=population)
    wanted = expected_inverse_size(d, alpha, people=people, population=population, seen=seen)
    assert found.expected_inverse == pytest.approx(wanted, rel=5e-4)
    assert found.unique[0] == pytest.approx(
        float(still_unique(d, alpha, people=people, population=population)), rel=1e-4
    )
    assert np.all(found.unique[1:] == 0)


@pytest.mark.parametrize("seen", [1, 3, 40])
def test_moments_and_interval_are_those_of_the_beta_binomial(seen):
    d, alpha, people, population = 0.2, 30.0, 500, 1500
    law = betabinom(population - people, seen - d, people + alpha - seen + d)
    size = seen + np.arange(population - people + 1)
    chance = law.pmf(size - seen)
    found = population_sizes(at(d, alpha), [seen], people=people, population=population)
    assert found.inverse[0, 0] == pytest.approx(float(chance @ (1 / size)), rel=1e-9)
    assert found.inverse_square[0, 0] == pytest.approx(float(chance @ (1 / size**2)), rel=1e-9)
    assert found.low[0] == seen + law.ppf(0.025)
    assert found.high[0] == seen + law.ppf(0.975)


def test_a_large_class_is_near_normal():
    d, alpha, people, population, seen = 0.2, 30.0, 5000, 15_000, 200
    law = betabinom(population - people, seen - d, people + alpha - seen + d)
    size = seen + np.arange(population - people + 1)
    found = population_sizes(at(d, alpha), [seen], people=people, population=population)
    assert found.inverse[0, 0] == pytest.approx(float(law.pmf(size - seen) @ (1 / size)), rel=1e-4)
    assert found.low[0] == pytest.approx(seen + law.ppf(0.025), rel=0.01)
    assert found.high[0] == pytest.approx(seen + law.ppf(0.975), rel=0.01)


def test_a_posterior_is_averaged():
    two = Posterior(np.array([0.1, 0.5]), np.array([20.0, 5.0]), np.array([0.25, 0.75]))
    both = population_sizes(two, [1, 4], people=200, population=900)
    apart = [population_sizes(at(*point), [1, 4], people=200, population=900) for point in ((0.1, 20.0), (0.5, 5.0))]
    assert both.unique == pytest.approx(0.25 * apart[0].unique + 0.75 * apart[1].unique)


def test_a_sample_that_is_everybody_has_grown_to_itself():
    found = population_sizes(at(0.2, 5.0), [1, 3], people=10, population=10)
    assert found.expected_inverse.tolist() == [1.0, 1 / 3]
    assert found.unique.tolist() == [1.0, 0.0]
    assert found.high.tolist() == [1, 3]
