"""Estimates lie inside their own intervals and inside what is certain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import TABLES

from incrowd import ClassSizes, UnsupportedError, forecast, population_risk, record_risk
from incrowd.populations import ESTIMATORS, posterior_estimator, sample
from incrowd.populations.estimators import estimate_risk, estimate_risks
from incrowd.populations.intervals import certain_limits

POSTERIOR_ONLY = ("combined", "posterior")


def is_inside(low, value, high):
    return bool(np.all(np.asarray(low) <= value) and np.all(value <= np.asarray(high)))


def check_risk(risk, sizes):
    lowest, highest = certain_limits(sizes, risk.population)
    assert is_inside(risk.interval[0], risk.sample_to_population, risk.interval[1])
    assert is_inside(lowest, risk.sample_to_population, highest)
    assert is_inside(lowest, np.array(risk.interval), highest)
    if risk.still_unique_interval is not None:
        assert is_inside(risk.still_unique_interval[0], risk.still_unique, risk.still_unique_interval[1])
    if risk.population_uniques_interval is not None:
        low, high = risk.population_uniques_interval
        assert is_inside(low, risk.population_uniques, high)
        assert is_inside(0.0, np.array([low, high]), risk.population)
    if risk.highest is not None:
        assert is_inside(risk.highest_interval[0], risk.highest, risk.highest_interval[1])
        assert risk.highest >= risk.sample_to_population - 1e-9


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 60))
    columns = [
        draw(st.lists(st.integers(0, draw(st.integers(1, 40))), min_size=rows, max_size=rows))
        for _ in range(draw(st.integers(1, 4)))
    ]
    return {f"c{place}": column for place, column in enumerate(columns)}


@settings(max_examples=2 * TABLES, deadline=None)
@given(
    tables(), st.sampled_from([*ESTIMATORS]), st.integers(0, 3), st.sampled_from([0, 1, 2, 10, 500]), st.integers(0, 9)
)
def test_every_method_keeps_to_its_interval_and_to_what_is_certain(table, method, more, times, seed):
    names, people = list(table), len(table["c0"])
    risk = population_risk(
        table, population=people * (1 + times) + more, quasi_identifiers=names, method=method, seed=seed
    )
    check_risk(risk, ClassSizes.from_table(table, quasi_identifiers=names))


@settings(max_examples=TABLES, deadline=None)
@given(tables(), st.data(), st.integers(0, 9))
def test_samples_with_weights_keep_to_their_interval_and_to_what_is_certain(table, data, seed):
    names, people = list(table), len(table["c0"])
    weights = data.draw(st.lists(st.floats(1.0, 500.0), min_size=people, max_size=people))
    known = {"population": max(round(sum(weights)), people), "quasi_identifiers": names, "weights": "w"}
    check_risk(
        population_risk(table | {"w": weights}, seed=seed, **known),
        ClassSizes.from_table(table, quasi_identifiers=names),
    )


@settings(max_examples=TABLES, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.floats(0, 6), st.sampled_from(POSTERIOR_ONLY))
def test_class_sizes_keep_to_their_interval_and_to_what_is_certain(sizes, magnitude, method):
    classes = ClassSizes.from_sizes(sizes)
    if classes.people < 2:
        return
    population = classes.people + round(10**magnitude) - 1
    check_risk(population_risk(classes, population=population, method=method), classes)
    try:
        found = forecast(classes, at=[1, classes.people, classes.people + 1, population + 1, "world"], k=[2])
    except UnsupportedError:
        assert classes.classes in (1, classes.people)
        return
    for estimate in (found.correctness, found.uniqueness, found.violations[2]):
        assert is_inside(estimate.low, estimate.value, estimate.high)
        assert is_inside(0.0, estimate.value, 1.0)


@settings(max_examples=TABLES, deadline=None)
@given(tables(), st.integers(0, 5_000))
def test_the_average_of_record_risks_is_inside_its_interval(table, more):
    names, people = list(table), len(table["c0"])
    found = record_risk(table, population=people + more, quasi_identifiers=names)
    assert is_inside(found.interval[0], found.sample_to_population, found.interval[1])
    assert found["risk"].mean() == pytest.approx(found.sample_to_population)


def test_an_estimate_that_the_sample_rules_out_is_said_and_the_limit_taken():
    rng = np.random.default_rng(7)
    base = rng.integers(0, 4, 60)
    table = {f"c{j}": (base + rng.geometric(0.15 + 0.1 * j, 60)) % (5 + 12 * j) for j in range(2)}
    sizes = ClassSizes.from_table(table, quasi_identifiers=list(table))
    risk = population_risk(table, population=61, quasi_identifiers=list(table), method="average", seed=3)
    lowest, highest = certain_limits(sizes, 61)
    alone = risk.parts["average, unlimited"]
    assert not lowest <= alone <= highest
    assert risk.sample_to_population in (lowest, highest)
    assert any("rules out" in note for note in risk.notes)


def test_columns_and_the_class_size_model_are_made_once(monkeypatch):
    counts = {"encode": 0, "fit": 0}

    def counting(name, function):
        def count(*given, **options):
            counts[name] += 1
            return function(*given, **options)

        return count

    monkeypatch.setattr(sample, "encode", counting("encode", sample.encode))
    monkeypatch.setattr(posterior_estimator, "fit_class_sizes", counting("fit", posterior_estimator.fit_class_sizes))
    rng = np.random.default_rng(1)
    rows = {"a": rng.integers(0, 9, 300), "b": rng.integers(0, 7, 300)}
    read = sample.read_sample(rows, population=9_000, quasi_identifiers=["a", "b"])
    estimate_risk(read, "combined")
    estimate_risk(read, "gaussian")
    estimate_risks(read, [300, 9_000, 10**6])
    assert counts == {"encode": 1, "fit": 1}
