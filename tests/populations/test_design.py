"""Samples drawn with unequal chances: weights are used, and their answer is that of the population they stand for."""

import numpy as np
import pytest

from incrowd import population_risk, record_risk
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.populations.design import Weights, design_of


@pytest.fixture(scope="module")
def oversampled():
    """A population of towns, ages and trades, and a sample in which old people are drawn far more often."""
    draw = np.random.default_rng(3)
    people = 40_000
    town, age = draw.zipf(1.5, people) % 60, np.minimum(draw.gamma(2.0, 15.0, people), 99).astype(int)
    trade = (town + age // 8 + draw.integers(0, 5, people)) % 30
    columns = {"town": town, "age": age, "trade": trade}
    _, numbers = np.unique(np.stack(list(columns.values())), axis=1, return_inverse=True)
    sizes = np.bincount(numbers.ravel())[numbers.ravel()]
    chance = np.minimum(0.03 * np.exp((age - age.mean()) / 22.0), 0.9)
    rows = np.flatnonzero(draw.random(people) < chance)
    return {name: column[rows] for name, column in columns.items()}, 1.0 / chance[rows], sizes[rows], people


def test_weights_correct_for_people_who_were_drawn_more_often(oversampled):
    rows, weights, sizes, people = oversampled
    truth = float(np.mean(1.0 / sizes))
    known = {"population": people, "quasi_identifiers": list(rows)}
    used = population_risk(rows | {"w": weights}, weights="w", **known)
    ignored = population_risk(rows, **known)
    assert used.sample_to_population == pytest.approx(truth, abs=0.015)
    assert used.interval[0] < truth < used.interval[1]
    assert ignored.sample_to_population < truth - 0.03  # the unsafe side
    assert any("grown to the people they stand for" in note for note in used.notes)


def test_methods_that_do_not_use_weights_say_so_and_have_wider_intervals(oversampled):
    rows, weights, _, people = oversampled
    known = {"population": people, "quasi_identifiers": list(rows), "method": "posterior"}
    unequal, equal = population_risk(rows | {"w": weights}, weights="w", **known), population_risk(rows, **known)
    assert unequal.sample_to_population == equal.sample_to_population
    assert unequal.interval[0] < equal.interval[0]
    assert equal.interval[1] < unequal.interval[1]
    assert any("does not use" in note for note in unequal.notes)


def test_records_that_stand_for_many_people_are_safer(oversampled):
    rows, weights, sizes, people = oversampled
    known = {"population": people, "quasi_identifiers": list(rows)}
    risks = record_risk(rows | {"w": weights}, weights="w", **known)
    headline = population_risk(rows | {"w": weights}, weights="w", **known)
    assert risks["risk"].mean() == pytest.approx(headline.sample_to_population, abs=1e-6)
    alone = risks["class_size"] == 1
    few, many = (alone & (weights < 10), alone & (weights > 60))
    assert risks["risk"][few].mean() > 2 * risks["risk"][many].mean()
    assert risks["risk"][few].mean() == pytest.approx((1 / sizes)[few].mean(), abs=0.06)
    assert risks["risk"][many].mean() == pytest.approx((1 / sizes)[many].mean(), abs=0.1)


def test_equal_weights_change_nothing(oversampled):
    rows = {name: column[:600] for name, column in oversampled[0].items()}
    names = list(rows)
    plain = population_risk(rows, population=6_000, quasi_identifiers=names)
    weighted = population_risk(rows | {"w": [10.0] * 600}, weights="w", quasi_identifiers=names)
    assert weighted.sample_to_population == plain.sample_to_population
    assert weighted.interval == plain.interval


def test_strata_grow_to_the_people_they_stand_for():
    """Two strata with values of their own: the people with each value are those their stratum stands for."""
    value = np.repeat([0, 1], [300, 100])
    design = design_of(Weights(np.repeat([2.0, 90.0], [300, 100])))
    assert design.effect == pytest.approx(400 * (300 * 4 + 100 * 8100) / (600 + 9000) ** 2)
    assert design.shares == pytest.approx(np.array([300, 8900]) / 9200)
    found = grow(fit_crowd_model([value, np.arange(400) % 7], design), 9_600, seed=(1,))
    assert found.values.shape[0] == 2  # the stratum is no value of a person
    column = next(codes for codes in found.values if set(codes[:400]) == {0, 1})
    assert np.sum(column == 0) == pytest.approx(600, abs=5 * np.sqrt(300))
    sizes = np.unique(found.values, axis=1, return_counts=True)[1]
    assert sorted(sizes) == sorted(found.class_sizes)


def test_one_column_and_constant_columns_with_weights():
    draw = np.random.default_rng(0)
    weights = draw.choice([2.0, 40.0], 200)
    one = population_risk({"a": draw.integers(0, 90, 200), "w": weights}, quasi_identifiers=["a"], weights="w")
    assert one.interval[0] <= one.sample_to_population <= one.interval[1]
    alike = population_risk({"a": [1] * 200, "w": weights}, quasi_identifiers=["a"], weights="w")
    assert alike.sample_to_population < 0.01
