"""Mutual information of discretised normals, with the small-sample correction."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from incrowd.populations.copula_fit import pair_correlations
from incrowd.populations.information import (
    cell_chances,
    expected_information,
    expected_x_log_x,
    matching_correlation,
    observed_information,
    shuffled_information,
)
from incrowd.populations.marginals import CodedColumns


def edges(chances):
    cut = ndtri(np.cumsum(chances)[:-1])
    return np.concatenate([[-np.inf], cut, [np.inf]])


@pytest.mark.parametrize("people", [1, 2, 7, 40])
@pytest.mark.parametrize("chance", [Fraction(1, 1000), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)])
def test_expected_x_log_x_is_the_sum_over_the_binomial(people, chance):
    exact = sum(
        float(math.comb(people, x) * chance**x * (1 - chance) ** (people - x)) * x * math.log(x)
        for x in range(2, people + 1)
    )
    assert expected_x_log_x(np.array([float(chance)]), people) * people == pytest.approx(exact, rel=2e-4, abs=1e-9)


def test_expected_x_log_x_of_a_large_sample_is_near_the_plug_in_value():
    found = expected_x_log_x(np.array([0.3]), 10**6)
    assert found == pytest.approx(0.3 * math.log(3e5) + 0.35e-6, rel=1e-5)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 0.97])
@pytest.mark.paper("synthetic-estimator", "B (a) 2.a")
def test_cells_are_rectangle_probabilities_of_the_bivariate_normal(rho):
    first, second = edges([0.1, 0.5, 0.4]), edges([0.02, 0.38, 0.35, 0.25])
    normal = multivariate_normal(mean=[0, 0], cov=[[1, rho], [rho, 1]])
    corner = np.array([[normal.cdf([min(x, 9), min(y, 9)]) if min(x, y) > -9 else 0.0 for y in second] for x in first])
    wanted = np.diff(np.diff(corner, axis=0), axis=1)
    assert cell_chances(first, second, rho) == pytest.approx(wanted, abs=2e-5)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.99])
@pytest.mark.paper("synthetic-estimator", "B (a) 1", "B (b) 1")
def test_cells_add_up_to_the_marginals(rho):
    chances = np.random.default_rng(1).dirichlet(np.full(30, 0.4))
    cells = cell_chances(edges(chances), edges([0.5, 0.3, 0.2]), rho)
    assert cells.sum(axis=1) == pytest.approx(chances, abs=1e-6)
    assert cells.sum(axis=0) == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    assert cells.min() >= 0


@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.iv")
def test_observed_information_of_a_copy_is_its_entropy_and_of_strata_an_average():
    column = np.array([0, 0, 1, 2])
    assert observed_information(column, column) == pytest.approx(1.5 * math.log(2))
    left, right = np.array([0, 1, 0, 1]), np.array([0, 1, 0, 0])
    strata = np.array([0, 0, 1, 1])
    wanted = 0.5 * observed_information(left[:2], right[:2]) + 0.5 * observed_information(left[2:], right[2:])
    assert observed_information(left, right, strata) == pytest.approx(wanted)


@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.iii")
def test_expected_information_is_the_mean_over_random_samples():
    generator = np.random.default_rng(0)
    first, second, people = edges([0.3, 0.3, 0.4]), edges([0.25] * 4), 60
    cells = cell_chances(first, second, 0.6)
    drawn = []
    for _ in range(3000):
        cell = generator.choice(12, people, p=cells.ravel() / cells.sum())
        drawn.append(observed_information(cell // 4, cell % 4))
    found = expected_information(cells, np.array([60.0]), np.ones(1))
    assert found == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / math.sqrt(3000))


@pytest.mark.parametrize("rho", [0.2, 0.6, 0.9])
@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.v")
def test_the_matching_correlation_is_the_one_the_data_came_from(rho):
    generator = np.random.default_rng(3)
    first, second = edges([0.2] * 5), edges([0.1, 0.6, 0.3])
    found = []
    for _ in range(6):
        x = generator.standard_normal(4000)
        y = rho * x + math.sqrt(1 - rho**2) * generator.standard_normal(4000)
        information = observed_information(np.searchsorted(first, x) - 1, np.searchsorted(second, y) - 1)
        found.append(matching_correlation(first, second, information, np.array([4000.0]), np.ones(1)))
    assert np.mean(found) == pytest.approx(rho, abs=0.03)


def test_small_samples_of_independent_columns_show_no_dependence_on_average():
    generator = np.random.default_rng(5)
    chances = np.full(15, 1 / 15)
    found = [
        matching_correlation(
            edges(chances),
            edges(chances),
            observed_information(generator.integers(0, 15, 200), generator.integers(0, 15, 200)),
            np.array([200.0]),
            np.ones(1),
        )
        for _ in range(20)
    ]
    plug_in = observed_information(generator.integers(0, 15, 200), generator.integers(0, 15, 200))
    assert plug_in > 0.3  # without the correction this would be taken for a correlation of 0.7
    assert np.mean(found) < 0.25


def test_shuffled_information_is_the_mean_over_permutations():
    generator = np.random.default_rng(2)
    first, second = generator.integers(0, 7, 60), generator.geometric(0.2, 60).clip(max=12) - 1
    drawn = [observed_information(first, generator.permutation(second)) for _ in range(4000)]
    found = shuffled_information(np.bincount(first), np.bincount(second))
    assert found == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / math.sqrt(4000))


def test_independent_columns_of_many_values_get_hardly_a_correlation():
    generator = np.random.default_rng(0)
    chances = [generator.dirichlet(np.full(size, 0.5)) for size in (26, 73)]
    found = {True: [], False: []}
    for _ in range(20):
        drawn = [generator.choice(chance.size, 250, p=chance) for chance in chances]
        codes = np.stack([np.unique(column, return_inverse=True)[1] for column in drawn])
        columns = CodedColumns(codes, tuple(int(column.max()) + 1 for column in codes))
        for shuffled in found:
            found[shuffled].append(pair_correlations(columns, shuffled=shuffled)[0, 1])
    assert np.mean(found[True]) < 0.2
    assert np.mean(found[False]) > 2 * np.mean(found[True])
