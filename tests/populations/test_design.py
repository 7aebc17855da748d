"""Samples drawn with unequal chances or in clusters: the answer is that of the population they stand for."""

from dataclasses import replace

import numpy as np
import pytest

from incrowd import ClassSizes, InputError, UnsupportedError, population_risk, record_risk
from incrowd._support.progress import silent
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.populations.design import Weights, design_of
from incrowd.populations.estimators import estimate_with_records
from incrowd.populations.fitted_sample import FitOptions
from incrowd.populations.sample import read_sample


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


def test_records_that_are_alike_have_one_risk_whatever_their_weights():
    draw = np.random.default_rng(0)
    rows = {"age": draw.integers(18, 40, 300), "sex": draw.integers(0, 2, 300), "w": draw.lognormal(3.0, 1.0, 300)}
    sample = read_sample(rows, quasi_identifiers=["age", "sex"], weights="w")
    headline, records = estimate_with_records(sample, options=FitOptions(0, 1, False, silent))
    _, numbers = np.unique(rows["age"] * 2 + rows["sex"], return_inverse=True)
    for one in (records.risk, records.unique):
        np.testing.assert_allclose(one, (np.bincount(numbers, weights=one) / np.bincount(numbers))[numbers])
    added = record_risk(rows, quasi_identifiers=["age", "sex"], weights="w")["risk"].mean()
    assert added == pytest.approx(headline.sample_to_population, rel=1e-6)


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


@pytest.fixture(scope="module")
def households():
    """A population of households whose members share a town and an income, and a sample of whole households."""
    draw = np.random.default_rng(5)
    homes = 12_000
    members = draw.integers(1, 5, homes)
    home = np.repeat(np.arange(homes), members)
    town, income = draw.integers(0, 30, homes)[home], draw.zipf(1.3, homes)[home] % 400
    columns = {"town": town, "income": income, "size": members[home], "sex": draw.integers(0, 2, home.size)}
    _, numbers = np.unique(np.stack(list(columns.values())), axis=1, return_inverse=True)
    sizes = np.bincount(numbers.ravel())[numbers.ravel()]
    rows = np.flatnonzero((draw.random(homes) < 0.06)[home])
    return {name: column[rows] for name, column in columns.items()}, home[rows], sizes[rows], home.size


def test_people_of_one_household_are_no_evidence_of_people_like_them(households):
    rows, home, sizes, people = households
    truth, known = float(np.mean(1.0 / sizes)), {"population": people, "quasi_identifiers": list(rows)}
    used = population_risk(rows | {"home": home}, cluster="home", **known)
    ignored = population_risk(rows, **known)
    assert used.sample_to_population == pytest.approx(truth, abs=0.03)
    assert used.interval[0] < truth < used.interval[1]
    assert ignored.interval[1] < truth  # the unsafe side
    assert any("one record of each cluster" in note for note in used.notes)
    records = record_risk(rows | {"home": home}, cluster="home", **known)
    assert records["risk"].mean() == pytest.approx(used.sample_to_population, abs=1e-6)


def test_clusters_of_one_record_change_nothing(households):
    rows = {name: column[:500] for name, column in households[0].items()}
    known = {"population": 5_000, "quasi_identifiers": list(rows)}
    plain, alone = (
        population_risk(table, **known, **design)
        for table, design in ((rows, {}), (rows | {"home": np.arange(500)}, {"cluster": "home"}))
    )
    assert alone.sample_to_population == plain.sample_to_population
    assert alone.interval == plain.interval


def test_one_record_of_each_cluster_is_heard_and_all_are_counted(households):
    rows, home, _, _ = households
    clusters = np.unique(home, return_inverse=True)[1]
    design = design_of(Weights(np.full(home.size, 2.0)), clusters=clusters)
    assert design.effect == pytest.approx(home.size * np.sum(np.bincount(clusters) ** 2.0) / home.size**2)
    model = fit_crowd_model([np.asarray(column) for column in rows.values()], design)
    one, other = (grow(model, 3 * home.size, seed=(seed,)) for seed in (1, 2))
    for found in (one, other):
        assert sorted(clusters[found.heard]) == list(range(clusters.max() + 1))
        assert found.class_sizes.sum() == 3 * home.size
        _, numbers, counts = np.unique(found.values, axis=1, return_inverse=True, return_counts=True)
        assert counts[numbers.ravel()[: home.size]].tolist() == found.sample_class_sizes.tolist()
        drawn = found.values[:, home.size :]
        for column, codes in enumerate(found.values):  # values of records not heard are not drawn
            known = codes[found.heard]
            assert np.all(np.isin(drawn[column], known) | (drawn[column] > codes[: home.size].max()))
    assert one.heard.tolist() != other.heard.tolist()


def test_leaving_a_cluster_out_is_what_it_says():
    """The chance of every record by counting the records of other clusters by hand, on two columns."""
    draw = np.random.default_rng(2)
    one, clusters = draw.integers(0, 4, 40), np.sort(draw.integers(0, 12, 40))
    other = (one + clusters % 3) % 5
    clusters = np.unique(clusters, return_inverse=True)[1]
    design = design_of(Weights(np.full(40, 2.0)), clusters=clusters)
    model = fit_crowd_model([one, other], replace(design, strata=None))
    assert model.levels
    chances = np.zeros(40)
    for column, codes in enumerate(model.codes):
        d, theta = model.margins[column]
        for row in range(40):
            rest = np.flatnonzero(clusters != clusters[row])
            seen, distinct = (codes[rest] == codes[row]).sum(), np.unique(codes[rest]).size
            base = (seen - d if seen else theta + d * distinct) / (rest.size + theta)
            for level in reversed([one for one in model.levels if one.column == column]):
                alike = rest[np.all([model.codes[g][rest] == model.codes[g][row] for g in level.given], axis=0)]
                pair = (codes[alike] == codes[row]).sum()
                new = (level.strength + level.discount * np.unique(codes[alike]).size) * base
                base = (max(pair - level.discount, 0) * (pair > 0) + new) / (alike.size + level.strength)
            chances[row] += np.log(base)
    assert model.log_chances == pytest.approx(chances)


def test_strata_that_are_given_are_divided_by_weights_and_grow_to_what_they_stand_for():
    weights = Weights(np.array([5.0] * 40 + [5.0] * 30 + [60.0] * 30))
    strata = np.repeat([0, 1], [40, 60])
    design = design_of(weights, strata)
    assert [len(set(strata[design.strata == one])) for one in range(3)] == [1, 1, 1]
    assert sorted(design.shares) == pytest.approx(np.array([30 * 4, 40 * 4, 30 * 59]) / (70 * 4 + 30 * 59))
    equal = design_of(Weights(np.full(100, 8.0)), strata)
    assert equal.effect == pytest.approx(1.0)
    assert equal.shares == pytest.approx([0.4, 0.6])


def test_designs_that_say_nothing_are_refused():
    rows = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 1, 2, 2, 3, 3], "home": [1, 1, 2, 2, 3, None], "w": [9.0] * 6}
    known = {"quasi_identifiers": ["a", "b"], "population": 54}
    with pytest.raises(InputError, match="how many people are in each") as refusal:
        population_risk(rows, strata="b", **known)
    assert refusal.value.hint == ("weights",)
    with pytest.raises(UnsupportedError, match="no cluster in 'home'"):
        population_risk(rows, cluster="home", **known)
    with pytest.raises(UnsupportedError, match="all records have one stratum"):
        population_risk(rows | {"s": [1] * 6}, strata="s", weights="w", **known)
    with pytest.raises(InputError, match="not to people"):
        population_risk(rows, cluster="b", person="a", quasi_identifiers=["b"], population=54)
    with pytest.raises(InputError, match="class sizes have no columns"):
        population_risk(ClassSizes.from_sizes([1, 2, 3]), population=60, cluster="b", method="posterior")
    found = population_risk(rows | {"s": [1, 1, 1, 2, 2, 2]}, strata="s", weights="w", **known)
    assert found.interval[0] <= found.sample_to_population <= found.interval[1]


def test_a_sample_of_some_strata_is_refused_where_their_weights_say_so():
    rows = {"a": [1, 2, 3, 4, 5, 6], "s": [1, 1, 1, 2, 2, 2], "w": [9.0] * 6}
    known = {"quasi_identifiers": ["a", "s"], "strata": "s", "weights": "w"}
    with pytest.raises(UnsupportedError, match="stand for 54 of 100 people, so the table has some") as refusal:
        population_risk(rows, population=100, **known)
    assert refusal.value.hint == ("population",)
    assert population_risk(rows, population=54, **known).population == 54
    normalised = population_risk(rows | {"w": [1.0] * 6}, population=100, **known)  # these count no people
    assert any("rescaled" in note for note in normalised.notes)
