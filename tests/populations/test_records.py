"""Record by record."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom, rankdata

from incrowd import ClassSizes, InputError, population_risk, record_risk
from incrowd.populations import sample as crowd_sample
from incrowd.populations import write_record_risk
from incrowd.populations.crowd_estimator import Extrapolation
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.populations.crowd_records import (
    _assess_groups,
    _rake_records,
    assess_records,
    expected_inverse,
    quantile_of_others,
)


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": generator.poisson(40, 3000), "zip": generator.zipf(1.6, 3000).clip(max=400), "note": "x"}
    )


def test_the_records_average_to_the_estimate(people):
    found = record_risk(people, population=60_000, quasi_identifiers=["age", "zip"])
    whole = population_risk(people, population=60_000, quasi_identifiers=["age", "zip"])
    assert found["risk"].mean() == pytest.approx(whole.sample_to_population)
    assert found.sample_to_population == whole.sample_to_population


def test_rarer_is_riskier_and_ranks_count_records(people):
    found = record_risk(people, population=60_000, quasi_identifiers=["age", "zip"])
    size, risk, rank = found["class_size"], found["risk"], found["risk_rank"]
    means = [risk[size == one].mean() for one in (1, 2, 4, 8)]
    assert means == sorted(means, reverse=True)
    assert rank.tolist() == [1 + int((risk > one).sum()) for one in risk]
    assert np.all((found["risk_low"] <= risk) & (risk <= found["risk_high"]))
    assert np.all(found["risk_unique"][size > 1] == 0)


def test_class_sizes_alone_rank_by_size(people):
    table = people.assign(who=np.arange(3000))
    found = record_risk(table, population=60_000, quasi_identifiers=["age", "zip"], person="who")
    size, risk, rank = found["class_size"], found["risk"], found["risk_rank"]
    order = np.argsort(size)
    assert np.all(np.diff(risk[order]) <= 0)
    assert np.all(rank[size == 1] == 1)
    assert np.all(rank[size == 2] == 1 + (size == 1).sum())
    assert np.all((found["risk_low"] <= risk) & (risk <= found["risk_high"]))
    assert np.all(found["risk_unique"][size > 1] == 0)


def test_columns_are_added_to_the_callers_own_frame(people):
    found = record_risk(people, population=60_000, quasi_identifiers=["age", "zip"]).to_native()
    assert isinstance(found, pd.DataFrame)
    assert found["note"].tolist() == people["note"].tolist()
    assert {"risk", "risk_low", "risk_high", "risk_unique", "risk_rank", "class_size"} <= set(found.columns)


def test_a_column_of_the_same_name_is_not_written_over(people):
    with pytest.raises(InputError, match="risk already"):
        record_risk(people.assign(risk=1), population=60_000, quasi_identifiers=["age"]).to_arrow()


def test_weights_tell_records_of_one_class_size_apart():
    table = {"a": [1, 2, 3, 3], "w": [10.0, 1000.0, 5.0, 5.0]}
    found = record_risk(table, quasi_identifiers=["a"], weights="w")
    assert found["risk_weighted"][0] > found["risk_weighted"][1]
    assert found["risk_rank"][1] == 4


def test_class_sizes_have_no_records():
    with pytest.raises(InputError, match="no records"):
        record_risk(ClassSizes.from_sizes([2, 1]), population=9, quasi_identifiers=[])


def test_an_unknown_column_is_named(people):
    with pytest.raises(InputError, match="risk_rank"):
        record_risk(people, population=60_000, quasi_identifiers=["age"])["rank"]


def test_record_risks_are_a_frame_with_a_row_for_each_record():
    found = record_risk({"age": [30, 30, 30, 41, 52, 52]}, population=60, quasi_identifiers=["age"])
    frame = found.to_frame()
    assert frame["risk_rank"].tolist() == [4, 4, 4, 1, 2, 2]
    assert frame["risk"].tolist() == found["risk"].tolist()
    assert found.to_dict()["interval"] == list(found.interval)


def test_the_column_that_makes_a_record_stand_out():
    """Some people have a rare trade in a large town: without the trade they are many."""
    draw = np.random.default_rng(5)
    everybody = pd.DataFrame({"town": draw.integers(0, 30, 20_000), "sex": draw.integers(0, 2, 20_000)})
    rare = draw.random(20_000) < 0.01
    everybody["trade"] = np.where(rare, draw.integers(10, 90, 20_000), draw.integers(0, 2, 20_000))
    rows = everybody.sample(2_000, random_state=1)
    found = record_risk(rows, population=20_000, quasi_identifiers=["town", "sex", "trade"])
    stands_out = rows["trade"].to_numpy() >= 10
    assert np.mean(found["telling_column"][stands_out] == "trade") > 0.95
    assert np.all(found["risk_without_it"] <= found["risk"] + 1e-12)
    assert sum(found.telling_columns_of_all.values()) == pytest.approx(1.0)
    for name, share in found.telling_columns_of_all.items():
        assert share == pytest.approx(np.mean(found["telling_column"] == name))
    without = everybody.groupby(["town", "sex"]).size()
    truth = np.array([1 / without[town, sex] for town, sex in zip(rows["town"], rows["sex"], strict=True)])
    assert found["risk_without_it"][stands_out].mean() == pytest.approx(truth[stands_out].mean(), rel=0.5)


def test_the_people_of_a_class_to_come_are_summed_as_they_should_be():
    f = np.array([1, 1, 2, 7, 3, 1])
    evidence, odds = np.array([0.3, 1.0, 1.7, 12.0, 90.0, 4.0]), np.array([19.0, 0.5, 400.0, 3.0, 9.0, 1e-3])
    found = expected_inverse(f, evidence, odds)
    for place, value in enumerate(found):
        more = np.arange(60_000)
        chances = nbinom.pmf(more, evidence[place], 1 / (1 + odds[place]))
        assert value == pytest.approx(np.sum(chances / (f[place] + more)), rel=1e-3)


def test_the_mean_of_the_inverse_is_right_for_few_and_for_many():
    """Against the integral by mpmath, also where a is large and hardly anybody is to come."""
    cells = [(f, a, r) for f in (1, 2, 40) for a in (1e-6, 0.5, 59.9, 60.1, 500.0) for r in (1e-9, 1e-2, 0.3, 30, 1e5)]
    f, evidence, odds = (np.array(column) for column in zip(*cells, strict=True))
    found = expected_inverse(f, evidence, odds)
    for (seen, a, r), value in zip(cells, found, strict=True):
        parts = [0, 0.5, 0.9, 0.99, 0.999, 1 - mpmath.mpf("1e-5"), 1 - mpmath.mpf("1e-7"), 1]
        exact = mpmath.quad(lambda t, f=seen, a=a, r=r: t ** (f - 1) * (1 + r * (1 - t)) ** -a, parts)
        assert value == pytest.approx(float(exact), rel=1e-3)


@pytest.mark.parametrize("grown", [True, False])
def test_whoever_may_be_unique_may_have_a_risk_of_one(monkeypatch, grown):
    draw = np.random.default_rng(5)
    rows = {"a": draw.geometric(0.15, 600).clip(max=40), "b": draw.integers(0, 4, 600), "c": draw.zipf(2.2, 600) % 15}
    known = {"population": 60_000, "quasi_identifiers": list(rows)}
    if not grown:
        monkeypatch.setattr("incrowd.populations.sample.MOST_RECORDS", 500)
    found, headline = record_risk(rows, **known), population_risk(rows, **known)
    likely = found["risk_unique"] > 0.025
    assert 0 < likely.sum() < likely.size
    assert np.all(found["risk_high"][likely] == 1.0)
    assert np.all(found["risk_high"] >= found["risk"])
    assert np.all(found["risk_high"][found["class_size"] > 1] <= 0.5)
    assert headline.highest == pytest.approx(found["risk"].max())
    assert headline.highest_interval[1] == found["risk_high"].max() == 1.0


def test_a_model_that_fails_beside_the_copula_is_told(monkeypatch):
    fit, failures = crowd_sample.fit_crowd_model, [MemoryError("once")]

    def fails_once(*given):
        if failures:
            raise failures.pop()
        return fit(*given)

    monkeypatch.setattr(crowd_sample, "MOST_RECORDS", 50)
    monkeypatch.setattr(crowd_sample, "fit_crowd_model", fails_once)
    rows = {"a": np.arange(100) % 7, "b": np.arange(100) % 3}
    with pytest.raises(MemoryError, match="once"):
        population_risk(rows, population=1_000, quasi_identifiers=list(rows))


def test_the_chance_of_the_next_person_is_counted_with_the_record():
    """By hand on two columns, and the chances of all that can come next add up to 1 less those of new values."""
    one, other = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 4), np.array([0, 0, 1, 1, 1, 1, 0, 2] * 4)
    model = fit_crowd_model([one, other])
    assert model.levels
    chances = np.zeros(one.size)
    for column, codes in enumerate(model.codes):
        d, theta = model.margins[column]
        for row in range(codes.size):
            chance = ((codes == codes[row]).sum() - d) / (codes.size + theta)
            for level in reversed([one for one in model.levels if one.column == column]):
                alike = np.all([model.codes[g] == model.codes[g][row] for g in level.given], axis=0)
                kept = (codes[alike] == codes[row]).sum() - level.discount
                new = (level.strength + level.discount * np.unique(codes[alike]).size) * chance
                chance = (kept + new) / (alike.sum() + level.strength)
            chances[row] += np.log(chance)
    assert model.log_next_chances == pytest.approx(chances)
    distinct = np.unique(np.stack(model.codes), axis=1, return_index=True)[1]
    assert 0.5 < np.exp(chances[distinct]).sum() < 1.0


def test_records_too_many_to_be_grown_have_risks_of_their_own_values(monkeypatch):
    draw = np.random.default_rng(6)
    town, trade = draw.zipf(1.4, 30_000) % 300, draw.zipf(1.6, 30_000) % 200
    everybody = pd.DataFrame({"town": town, "trade": trade, "age": draw.integers(20, 70, 30_000)})
    sizes = everybody.groupby(list(everybody), sort=False)["town"].transform("size")
    rows = everybody.sample(3_000, random_state=2)
    known = {"population": 30_000, "quasi_identifiers": list(everybody)}
    monkeypatch.setattr("incrowd.populations.sample.MOST_RECORDS", 1_000)
    found, headline = record_risk(rows, **known), population_risk(rows, **known)
    assert found["risk"].mean() == pytest.approx(headline.sample_to_population)
    assert found["risk"].max() == pytest.approx(headline.highest)
    alone = found["class_size"] == 1
    assert found["risk_unique"].sum() == pytest.approx(headline.still_unique * headline.uniques)
    is_unique = sizes[rows.index].to_numpy()[alone] == 1
    ranks = rankdata(found["risk_unique"][alone])
    count = is_unique.sum()
    auc = (ranks[is_unique].sum() - count * (count + 1) / 2) / (count * (~is_unique).sum())
    assert auc > 0.85
    truth = 1 / sizes[rows.index].to_numpy()
    assert np.mean((found["risk_low"] <= truth) & (truth <= found["risk_high"])) > 0.9
    assert np.all(found["risk_without_it"] <= found["risk"] * (1 + 1e-6))
    assert set(found["telling_column"]) <= set(everybody)


@pytest.mark.parametrize("level", [0.025, 0.975])
def test_quantiles_are_those_of_the_negative_binomial_distribution(level):
    rng = np.random.default_rng(3)
    evidence, odds = 10.0 ** rng.uniform(-9, 5, 3_000), 10.0 ** rng.uniform(-9, 5, 3_000)
    found = quantile_of_others(level, evidence, odds)
    np.testing.assert_array_equal(found, nbinom.ppf(level, evidence, 1.0 / (1.0 + odds)))


@pytest.mark.parametrize("given", [{"quasi_identifiers": ["a"]}, {"quasi_identifiers": ["a", "b"], "person": "who"}])
def test_records_by_class_size_state_the_headline_with_its_interval(given):
    draw = np.random.default_rng(1)
    rows = {"a": draw.integers(0, 60, 200), "b": draw.integers(0, 4, 200), "who": np.arange(200) // 2}
    headline = population_risk(rows, population=5_000, **given)
    records = record_risk(rows, population=5_000, **given)
    assert records.sample_to_population == headline.sample_to_population
    assert records.interval == headline.interval
    assert set(headline.notes) <= set(records.notes)


def adds_up(found, headline):
    assert np.all(found["risk_unique"] <= found["risk"])
    assert np.all(found["risk"] * found["class_size"] <= 1 + 1e-12)
    return (
        found["risk"].mean() == pytest.approx(headline.sample_to_population)
        and found["risk"].max() == pytest.approx(headline.highest)
        and found["risk_unique"].sum() == pytest.approx((headline.still_unique or 0.0) * headline.uniques)
    )


@pytest.mark.parametrize("rows", [{"a": [1, 1]}, {"a": [1, 1, 2, 2], "b": [3, 3, 4, 4]}])
def test_records_alike_have_the_risk_of_the_headline(rows):
    known = {"population": 100, "quasi_identifiers": list(rows)}
    headline = population_risk(rows, **known)
    assert adds_up(record_risk(rows, **known), headline)
    assert "the posterior estimator alone: all records are alike" in headline.notes or "b" in rows


@pytest.mark.parametrize("method", ["crowd", "posterior", "anchored", "gaussian"])
def test_records_add_up_to_the_estimate_of_the_method_that_is_asked(people, method):
    known = {"population": 60_000, "quasi_identifiers": ["age", "zip"], "method": method}
    headline = population_risk(people, **known)
    found = record_risk(people, **known)
    assert found["risk"].mean() == pytest.approx(headline.sample_to_population)
    assert found["risk_unique"].sum() == pytest.approx(headline.still_unique * headline.uniques)


def test_records_that_stay_in_a_cluster_add_up_to_the_estimate_of_copula_and_class_sizes(monkeypatch, people):
    monkeypatch.setattr(crowd_sample.Sample, "why_no_records", lambda _: "they stay there")
    known = {"population": 60_000, "quasi_identifiers": ["age", "zip"]}
    assert adds_up(record_risk(people, **known), population_risk(people, **known))


@pytest.mark.parametrize("design", [{"weights": "w"}, {"weights": "w", "strata": "s"}, {"cluster": "s"}])
def test_records_of_any_design_add_up_to_the_headline(design):
    draw = np.random.default_rng(2)
    stratum = draw.integers(0, 60, 300)
    rows = {"a": draw.integers(0, 30, 300), "b": draw.zipf(1.7, 300) % 40, "s": stratum, "w": 1.0 + stratum % 7 * 9}
    known = {"quasi_identifiers": ["a", "b"], "population": int(rows["w"].sum()), **design}
    assert adds_up(record_risk(rows, **known), population_risk(rows, **known))


def test_records_carried_beyond_the_people_grown_are_no_surer_than_their_classes_allow():
    grown = grow(fit_crowd_model([np.arange(40) % 20, np.arange(40) % 3]), 60)
    found = Extrapolation.of(grown).classes_in(120, slope=3.0)
    assert np.all(found.inverse <= 1 / grown.sample_class_sizes)
    assert np.all((found.unique <= found.inverse) & (found.inverse <= (1 + found.unique) / 2 + 1e-12))


def test_records_are_the_same_whether_an_engine_writes_them_or_not(tmp_path):
    rows = {"town": ["a", "a", "b", "b"]}
    known = {"population": 100, "quasi_identifiers": ["town"]}
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    write_record_risk(tmp_path / "rows.parquet", tmp_path / "out.parquet", **known)
    written, found = pd.read_parquet(tmp_path / "out.parquet").sort_values("town"), record_risk(rows, **known)
    for name in found.of_class:
        assert written[name].tolist() == found[name].tolist()


@pytest.mark.parametrize(("correctness", "uniqueness"), [(0.02, 0.004), (0.05, 0.0), (0.1, 0.05)])
def test_records_raked_cell_by_cell_have_the_risks_of_records_raked_one_by_one(people, correctness, uniqueness):
    model = fit_crowd_model([np.unique(people[name], return_inverse=True)[1] for name in people.columns])
    found = assess_records(model, 20 * model.people, correctness=correctness, uniqueness=uniqueness)
    seen = model.class_sizes()
    expected, odds = model.people_to_come(20 * model.people)
    cells = {}
    for place, key in enumerate(zip(seen, np.round(np.log(expected / odds) / 0.02), strict=True)):
        cells.setdefault(key, place)
    first = np.array([cells[key] for key in zip(seen, np.round(np.log(expected / odds) / 0.02), strict=True)])
    chances = _assess_groups(seen, (expected / odds)[first], odds)
    totals = correctness * seen.size, uniqueness * seen.size
    risk, unique = _rake_records(chances.risk * seen, chances.unique, seen, *totals)
    assert found.risk == pytest.approx(risk, rel=1e-10)
    assert found.unique == pytest.approx(unique, rel=1e-10)
    assert found.risk.sum() == pytest.approx(totals[0], rel=1e-12)
