"""The copula estimators on populations that are copulas, and against their published Monte Carlo."""

import numpy as np
import pytest

from incrowd import ClassSizes
from incrowd.pitman_yor import PitmanYor
from incrowd.populations import fitted_sample
from incrowd.populations.anchored import extrapolate, fit_anchored, fit_dependence
from incrowd.populations.copula import Copula, _Plan, informative
from incrowd.populations.copula_fit import (
    chain_columns,
    fit_by_monte_carlo,
    fit_dvine,
    fit_gaussian,
    pair_correlations,
    partial_correlations,
    stratum_sizes,
    with_grouped_values,
)
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.marginals import CodedColumns, smooth_marginal
from incrowd.populations.sample import read_sample

CORRELATION = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])


def normal_columns(people, seed=0, levels=(6, 9, 4)):
    normals = np.random.default_rng(seed).multivariate_normal(np.zeros(3), CORRELATION, people)
    codes = [np.searchsorted(np.linspace(-1.5, 1.5, k - 1), normals[:, j]) for j, k in enumerate(levels)]
    return CodedColumns(np.stack(codes), levels)


@pytest.mark.paper("synthetic-estimator", "B (a) 2.c")
def test_the_gaussian_fit_finds_the_correlations_of_a_normal_population():
    found = np.mean([fit_gaussian(normal_columns(3000, seed)) for seed in range(4)], axis=0)
    assert found == pytest.approx(CORRELATION, abs=0.05)


@pytest.mark.paper("synthetic-estimator", "B (b) 2.b", "B (b) 2.c")
def test_the_vine_fit_finds_the_partial_correlations_of_a_normal_population():
    found = np.mean([partial_correlations(normal_columns(20_000, seed, (5, 5, 5))) for seed in range(3)], axis=0)
    assert found[0, 1] == pytest.approx(0.6, abs=0.05)
    assert found[1, 2] == pytest.approx(0.5, abs=0.05)
    assert found[0, 2] < 0.15  # 0.3 = 0.6 · 0.5: nothing is left given the one between


@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.i–ii", "B (a) 2.b.v")
def test_the_deterministic_fit_agrees_with_the_published_monte_carlo():
    columns = normal_columns(3000, 7)
    pairs = pair_correlations(columns)
    slow = [fit_by_monte_carlo(columns, ("gaussian", "dvine"), seed=seed) for seed in range(5)]
    assert np.mean([gaussian[1] for gaussian, _ in slow], axis=0) == pytest.approx(pairs, abs=0.04)
    ordered, vine = fit_dvine(columns, pairs)
    assert np.array_equal(ordered.codes, slow[0][1][0].codes)
    assert np.mean([dvine[1] for _, dvine in slow], axis=0) == pytest.approx(vine, abs=0.08)


def test_the_chain_puts_the_strongest_pairs_side_by_side():
    pairs = np.eye(4)
    for i, j, rho in [(0, 3, 0.9), (3, 1, 0.5), (0, 2, 0.4), (1, 2, 0.1)]:
        pairs[i, j] = pairs[j, i] = rho
    assert chain_columns(pairs) in ([2, 0, 3, 1], [1, 3, 0, 2])
    assert chain_columns(np.eye(1)) == [0]


def test_similar_strata_are_taken_together_and_everybody_is_in_one():
    strata = np.repeat(np.arange(60), np.arange(1, 61))
    sizes, weights = stratum_sizes(strata, strata.size)
    assert weights.sum() == pytest.approx(1.0)
    assert sizes.size <= 12


def test_columns_with_many_values_are_grouped_by_neighbours():
    columns = CodedColumns(np.stack([np.arange(1000), np.arange(1000) % 2]), (1000, 2))
    coarse = with_grouped_values(columns, 50)
    assert coarse.sizes == (50, 2)
    assert np.all(np.diff(coarse.codes[0]) >= 0)
    assert np.bincount(coarse.codes[0]).tolist() == [20] * 50


def test_a_column_that_another_determines_is_left_out():
    generator = np.random.default_rng(0)
    town = generator.integers(0, 40, 2000)
    columns = CodedColumns(np.stack([town, town // 10, generator.integers(0, 4, 2000)]), (40, 4, 4))
    assert informative(columns).sizes == (40, 4)


def test_a_column_that_looks_determined_for_want_of_records_is_kept():
    columns = CodedColumns(np.stack([np.arange(40), np.arange(40) % 3]), (40, 3))
    assert informative(columns).sizes == (40, 3)


def test_one_of_two_copies_of_a_column_is_kept():
    same = np.random.default_rng(0).integers(0, 9, 500)
    assert informative(CodedColumns(np.stack([same, same]), (9, 9))).sizes == (9,)


def test_smoothed_marginals_make_room_for_values_not_yet_seen():
    truth = PitmanYor(0.4, 30.0).sample(50_000, seed=1)
    sample = np.bincount(np.random.default_rng(0).choice(np.repeat(np.arange(truth.size), truth), 1000, replace=False))
    counts = sample[sample > 0]
    found = smooth_marginal(counts, 50_000)
    assert found.sum() == pytest.approx(1.0)
    assert counts.size < 0.5 * truth.size
    assert found.size == pytest.approx(truth.size, rel=0.3)


def test_a_column_that_has_shown_all_its_values_is_left_as_it_is():
    counts = np.array([500, 300, 200])
    assert smooth_marginal(counts, 10**6).tolist() == [0.5, 0.3, 0.2]


def test_the_anchored_estimate_starts_from_the_sample_and_stays_within_its_limits():
    columns = normal_columns(2000, 3, (30, 40, 25))
    keys = np.unique(columns.codes, axis=1, return_counts=True)[1]
    sizes = ClassSizes.from_sizes(keys)
    found = fit_anchored(columns, sizes, 2000 * 10, seed=[0])
    assert sizes.classes / 20_000 <= found.sample_to_population <= sizes.correctness
    assert pytest.approx(sizes.correctness * found.at_population / found.at_sample) == found.sample_to_population
    whole = normal_columns(20_000, 4, (30, 40, 25))
    truth = np.unique(whole.codes, axis=1).shape[1] / 20_000
    assert pytest.approx(truth, rel=0.1) == found.sample_to_population


def test_a_key_does_not_depend_on_how_many_are_drawn_with_it():
    plan = _Plan.of(Copula([np.full(60, 1 / 60), np.full(9, 1 / 9), np.array([0.1, 0.9])], CORRELATION), [0])
    many = plan.draw(1_000, [4])
    assert len(np.unique(many)) > 200
    for records in (1, 255, 256, 700):
        assert np.array_equal(plan.draw(records, [4]), many[:records])


def test_what_columns_depend_on_is_fitted_once_for_several_populations(monkeypatch):
    fitted = []

    def fit(*columns, **told):
        fitted.append(columns)
        return fit_dependence(*columns, **told)

    monkeypatch.setattr(fitted_sample.anchored, "fit_dependence", fit)
    monkeypatch.setattr("incrowd.populations.estimators.FEWEST_DRAWN", 3_000)
    draws = np.random.default_rng(0)
    table = {"age": draws.integers(0, 90, 300), "town": draws.integers(0, 40, 300)}
    one = read_sample(table, population=2_000, quasi_identifiers=["age", "town"])
    estimate_risks(one, [1_000, 2_000, 3_000], drawn=3_000)
    assert len(fitted) == 1


def test_a_curve_is_carried_on_beyond_what_was_drawn():
    copula = Copula([np.full(60, 1 / 60), np.geomspace(1, 1e-3, 80) / np.geomspace(1, 1e-3, 80).sum()] * 2, np.eye(4))
    short, long = copula.sample(50_000, [0]), copula.sample(500_000, [1])
    for one, other, tolerance in ((short.correctness, long.correctness, 0.1), (short.uniqueness, long.uniqueness, 0.3)):
        assert extrapolate(one, 50_000, 500_000) == pytest.approx(float(other(500_000)[0]), rel=tolerance)
        assert extrapolate(one, 50_000, 20_000) == float(one(20_000)[0])


def test_a_population_too_large_to_draw_is_extrapolated_with_a_note(monkeypatch):
    monkeypatch.setattr("incrowd.populations.anchored.MOST_DRAWN", 40_000)
    columns = normal_columns(2000, 3, (30, 40, 25))
    sizes = ClassSizes.from_sizes(np.unique(columns.codes, axis=1, return_counts=True)[1])
    part = fit_anchored(columns, sizes, 200_000, seed=[0])
    monkeypatch.undo()
    whole = fit_anchored(columns, sizes, 200_000, seed=[0])
    assert pytest.approx(whole.sample_to_population, rel=0.15) == part.sample_to_population
    assert "40,000" in part.notes[0]
    assert not whole.notes
