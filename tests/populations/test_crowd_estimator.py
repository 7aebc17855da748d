"""The crowd model as an estimator: truth, one number everywhere, and every record's own risk."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from tests.protection.plain import TABLES

from incrowd import ClassSizes, UnsupportedError, population_risk, record_risk
from incrowd.populations import crowd_estimator, risk_curve
from incrowd.populations.crowd_estimator import count_growths, grow_sample, people_grown
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.populations.intervals import certain_limits, interval_of_crowd
from incrowd.populations.sample import read_sample

NAMES = ["town", "age", "sex", "trade"]


def class_sizes(table):
    _, numbers = np.unique(np.stack(list(table.values())), axis=1, return_inverse=True)
    return np.bincount(numbers.ravel())[numbers.ravel()]


def sample_of(table, people, seed):
    rows = np.random.default_rng(seed).choice(len(next(iter(table.values()))), people, replace=False)
    return {name: column[rows] for name, column in table.items()}, rows


@pytest.fixture(scope="module")
def everybody():
    """People in towns, with an age, a sex and a trade that depends on the town and the age."""
    draw = np.random.default_rng(7)
    town = draw.zipf(1.6, 30_000) % 80
    age = draw.integers(0, 70, 30_000)
    trade = (town * 3 + age // 10 + draw.integers(0, 4, 30_000)) % 40
    return dict(zip(NAMES, [town, age, draw.integers(0, 2, 30_000), trade], strict=True))


@pytest.fixture(scope="module")
def sampled(everybody):
    sample, rows = sample_of(everybody, 1_500, 1)
    return sample, class_sizes(everybody)[rows]


@pytest.mark.parametrize("method", ["combined", "crowd"])
def test_the_estimate_is_near_the_truth_and_its_interval_holds_it(sampled, method):
    sample, sizes = sampled
    found = population_risk(sample, population=30_000, quasi_identifiers=NAMES, method=method)
    assert pytest.approx((1 / sizes).mean(), abs=0.03) == found.sample_to_population
    assert found.interval[0] <= (1 / sizes).mean() <= found.interval[1]
    alone = class_sizes(sample) == 1
    assert found.still_unique_interval[0] <= (sizes[alone] == 1).mean() <= found.still_unique_interval[1]
    assert found.method == method


def test_independent_columns_of_a_small_sample_are_not_taken_for_dependent():
    draw = np.random.default_rng(1)
    table = {
        name: draw.choice(size, 51_020, p=draw.dirichlet(np.full(size, 0.55)))
        for name, size in zip("abc", (26, 73, 20), strict=True)
    }
    truth, errors = class_sizes(table), []
    for seed in range(4):
        sample, rows = sample_of(table, 250, seed)
        found = population_risk(sample, population=51_020, quasi_identifiers=list("abc"))
        expected = (1 / truth[rows]).mean()
        assert found.interval[0] <= expected <= found.interval[1]
        errors.append(found.sample_to_population - expected)
    assert abs(np.mean(errors)) < 0.03


def test_samples_whose_records_are_all_unique_are_told_apart_by_their_columns():
    draw = np.random.default_rng(3)
    wide = {name: draw.integers(0, 400, 20_000) for name in "abc"}
    narrow = {name: draw.integers(0, 60, 20_000) for name in "abc"}
    found = {}
    for name, table in (("wide", wide), ("narrow", narrow)):
        sample, rows = next(
            (sample, rows)
            for sample, rows in (sample_of(table, 150, seed) for seed in range(50))
            if class_sizes(sample).max() == 1
        )
        risk = population_risk(sample, population=20_000, quasi_identifiers=list("abc"))
        truth = (1 / class_sizes(table)[rows]).mean()
        assert risk.interval[0] <= truth <= risk.interval[1] == 1.0
        found[name] = (risk.sample_to_population, truth)
    assert found["wide"][0] == pytest.approx(found["wide"][1], abs=0.03)
    assert found["narrow"][0] < found["wide"][0]


def test_names_of_values_do_not_matter_to_the_crowd_part(sampled):
    sample, _ = sampled
    draw = np.random.default_rng(2)
    renamed = {name: draw.permutation(int(column.max()) + 1)[column] for name, column in sample.items()}
    one, other = (population_risk(table, population=30_000, quasi_identifiers=NAMES) for table in (sample, renamed))
    assert one.parts["crowd"] == pytest.approx(other.parts["crowd"], rel=1e-12)


def test_the_records_add_up_to_the_headline(sampled):
    sample, _ = sampled
    risk = population_risk(sample, population=30_000, quasi_identifiers=NAMES, seed=4)
    records = record_risk(sample, population=30_000, quasi_identifiers=NAMES, seed=4)
    assert records["risk"].mean() == pytest.approx(risk.sample_to_population)
    assert records["risk_unique"].sum() == pytest.approx(risk.still_unique * risk.uniques)
    assert records.sample_to_population == risk.sample_to_population
    assert records.interval == risk.interval
    assert records["risk"].max() == risk.highest
    assert risk.highest_interval[0] <= risk.highest <= risk.highest_interval[1]
    plain = json.loads(json.dumps(risk.to_dict(), allow_nan=False))
    assert (plain["highest"], plain["highest_interval"]) == (risk.highest, list(risk.highest_interval))


def test_a_records_own_values_tell_who_is_unique_in_the_population(sampled):
    sample, sizes = sampled
    records = record_risk(sample, population=30_000, quasi_identifiers=NAMES)
    seen, risk, unique = (records[name] for name in ("class_size", "risk", "risk_unique"))
    assert np.all((unique <= risk + 1e-12) & (risk <= 1 / seen + 1e-12))
    assert np.all(unique[seen > 1] == 0)
    inside = (records["risk_low"] <= 1 / sizes) & (1 / sizes <= records["risk_high"])
    assert inside.mean() > 0.85
    alone = seen == 1
    score, truth = unique[alone], sizes[alone] == 1
    auc = (rankdata(score)[truth].sum() - truth.sum() * (truth.sum() + 1) / 2) / (truth.sum() * (~truth).sum())
    assert auc > 0.75
    assert np.mean((score - truth) ** 2) < 0.8 * truth.mean() * (1 - truth.mean())


def test_class_sizes_know_the_highest_risk_of_the_smallest_class():
    sizes = ClassSizes.from_counts({1: 30, 2: 9, 5: 2})
    risk = population_risk(sizes, population=900)
    assert risk.sample_to_population < risk.highest <= 1
    assert risk.highest_interval[0] <= risk.highest <= risk.highest_interval[1]
    counted = population_risk({"a": [1, 1, 2, 2, 2]}, population=5, quasi_identifiers=["a"])
    assert (counted.highest, counted.highest_interval) == (0.5, (0.5, 0.5))
    (on_the_way,) = risk_curve({"a": [1, 1, 2, 2, 2]}, at=[5], quasi_identifiers=["a"])
    assert on_the_way.highest == 0.5


def test_people_with_several_records_are_ranked_by_class_size():
    table = {"who": [1, 1, 2, 3, 4, 4], "a": [1, 2, 1, 1, 5, 6], "b": [1, 1, 2, 2, 1, 1]}
    found = record_risk(table, population=50, quasi_identifiers=["a", "b"], person="who")
    assert any("size of its class" in note for note in found.notes)


def test_the_crowd_model_needs_the_records():
    with pytest.raises(UnsupportedError, match="needs the records"):
        population_risk(ClassSizes.from_counts({1: 30, 2: 9}), population=900, method="crowd")


def test_a_smaller_population_is_the_beginning_of_a_larger_one(sampled):
    model = fit_crowd_model(list(sampled[0].values()))
    small, large = (grow(model, people, seed=(3,)).values for people in (4_000, 9_000))
    assert large[:, :4_000].tolist() == small.tolist()
    alone = grow_sample(model, [6_000], seed=[0])[6_000]
    along = grow_sample(model, [3_000, 6_000, 2_000_000], seed=[0])[6_000]
    assert alone.correctness.tolist() == along.correctness.tolist()


def test_growths_are_many_for_small_populations_and_bounded_for_large_ones():
    assert count_growths(100, 10_000) == 6
    assert count_growths(1_000, 10**9) == 1
    assert people_grown(1_000, 10**9) == 500_000
    assert people_grown(1_000_000, 10**9) == 2_000_000
    assert count_growths(1_000_000, 10**9) == 1


def test_a_population_beyond_those_grown_is_carried_on_by_the_tail(sampled, monkeypatch):
    model = fit_crowd_model(list(sampled[0].values()))
    whole = grow_sample(model, [60_000], seed=[0])[60_000]
    monkeypatch.setattr(crowd_estimator, "_REACH", 15_000)
    part = grow_sample(model, [60_000], seed=[0])[60_000]
    assert part.grown == 15_000
    assert any("extrapolated" in note for note in part.notes)
    assert part.sample_to_population == pytest.approx(whole.sample_to_population, rel=0.15)
    assert part.uniqueness.mean() == pytest.approx(whole.uniqueness.mean(), rel=0.3)


def test_several_populations_have_one_number_each(sampled):
    sample, _ = sampled
    near, far = risk_curve(sample, at=[30_000, 90_000], quasi_identifiers=NAMES)
    assert near.sample_to_population > far.sample_to_population
    assert near.sample_to_population * 30_000 <= far.sample_to_population * 90_000


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 80))
    values = draw(st.sampled_from([1, 2, 3, 10, 60, 10_000]))
    seed, columns = draw(st.integers(0, 10**6)), draw(st.integers(1, 4))
    generator = np.random.default_rng(seed)
    table = {f"c{place}": generator.integers(0, values, rows) for place in range(columns)}
    special = draw(st.sampled_from(["none", "constant", "identifier", "copy"]))
    if special != "none":
        table["special"] = {
            "constant": np.zeros(rows, dtype=np.int64), "identifier": np.arange(rows), "copy": table["c0"] % 3
        }[special]  # fmt: skip
    return table


@settings(max_examples=2 * TABLES, deadline=None)
@given(tables(), st.sampled_from([0, 1, 2, 100, 5_000]), st.sampled_from(["combined", "crowd"]), st.integers(0, 3))
def test_estimates_lie_inside_intervals_and_limits_for_odd_tables(table, more, method, seed):
    names, people = list(table), table["c0"].size
    sizes = ClassSizes.from_table(table, quasi_identifiers=names)
    risk = population_risk(table, population=people + more, quasi_identifiers=names, method=method, seed=seed)
    lowest, highest = certain_limits(sizes, people + more)
    assert risk.interval[0] <= risk.sample_to_population <= risk.interval[1]
    assert lowest * (1 - 1e-12) <= risk.interval[0] <= risk.interval[1] <= highest * (1 + 1e-12)
    assert 0 <= risk.highest_interval[0] <= risk.highest <= risk.highest_interval[1] <= 1
    assert risk.highest >= risk.sample_to_population - 1e-9
    if risk.still_unique is not None:
        low, high = risk.still_unique_interval
        assert 0 <= low <= risk.still_unique <= high <= 1
        assert risk.population_uniques <= risk.sample_to_population * risk.population * (1 + 1e-9)
    if method == "combined":
        records = record_risk(table, population=people + more, quasi_identifiers=names, seed=seed)
        assert records["risk"].mean() == pytest.approx(records.sample_to_population)
        assert np.all((records["risk_low"] <= records["risk"]) & (records["risk"] <= records["risk_high"]))


def test_no_more_people_are_unique_than_there_are_classes():
    """Class sizes alone answer for one column, and say more uniques than classes where three records were seen."""
    risk = population_risk({"c0": [0, 0, 1]}, population=5_003, quasi_identifiers=["c0"])
    assert risk.population_uniques <= risk.sample_to_population * risk.population * (1 + 1e-12)
    assert risk.still_unique * risk.uniques <= risk.sample_to_population * risk.people * (1 + 1e-12)


def heavy_tailed(people, discount, strength, seed):
    """Values of a Pitman–Yor process: most of them occur once."""
    draw = np.random.default_rng(seed)
    values, counts = np.empty(people, dtype=np.int64), []
    for person in range(people):
        if draw.random() < (strength + discount * len(counts)) / (person + strength):
            counts.append(0)
            values[person] = len(counts) - 1
        else:
            value = values[draw.integers(person)]
            while draw.random() * counts[value] < discount:
                value = values[draw.integers(person)]
            values[person] = value
        counts[values[person]] += 1
    return values


def test_a_column_with_many_unseen_values_keeps_its_people_apart():
    """Drawn people repeat values too often; the sample's own κ says by how much."""
    agent = heavy_tailed(20_000, 0.9, 50.0, seed=1)
    language = np.where(
        np.random.default_rng(2).random(20_000) < 0.7, heavy_tailed(20_000, 0.4, 3.0, seed=3), agent % 40
    )
    everybody = {"agent": agent, "language": language}
    sample, rows = sample_of(everybody, 1_500, 4)
    truth = (1 / class_sizes(everybody)[rows]).mean()
    found = population_risk(sample, population=20_000, quasi_identifiers=list(everybody))
    assert found.sample_to_population == pytest.approx(truth, abs=0.04)
    assert found.interval[0] <= truth <= found.interval[1]


def test_the_drift_of_a_growth_is_that_of_its_random_parts(sampled):
    sample, _ = sampled
    model = fit_crowd_model(list(sample.values()))
    grown = grow(model, 6_000, seed=(1,))
    draw = np.random.default_rng(0)
    parts = [grown.values[:, draw.choice(6_000, model.people, replace=False)] for _ in range(40)]
    rarefied = np.mean([np.unique(part, axis=1).shape[1] / model.people for part in parts])
    own = np.mean(1 / class_sizes(sample))
    expected = np.log(own / (1 - own)) - np.log(rarefied / (1 - rarefied))
    assert crowd_estimator._drift_of(model, grown) == pytest.approx(expected, abs=0.02)
    designed = replace(model, clusters=np.arange(model.people))
    assert np.isnan(crowd_estimator._drift_of(designed, grown))


def test_an_interval_is_wide_where_estimates_disagree(sampled):
    sample, _ = sampled
    known = read_sample(sample, population=30_000, quasi_identifiers=NAMES)

    def width(drift, gap):
        low, high = interval_of_crowd(0.4, known, grown=30_000, variance=0.2, drift=drift, gap=gap)
        return high - low

    assert width(0.0, 0.0) < width(0.2, 0.0) < width(0.2, 0.3) < width(0.2, 0.6)
    assert width(-0.2, 0.0) == width(0.2, 0.0)
    assert width(0.0, 0.0) < width(np.nan, 0.0) == width(np.nan, 0.5)
