"""Perturbation: what every kind of step keeps, by plain Python, and known truths."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import TABLES

from incrowd import InputError, protect
from incrowd.protection import make_codebook
from incrowd.protection.perturbation import (
    BottomCode,
    CorrelatedNoise,
    Microaggregate,
    Noise,
    Pram,
    RankSwap,
    RecordSwap,
    Round,
    Shuffle,
    TopCode,
    estimate_counts,
    estimate_errors,
)
from incrowd.protection.perturbation.microaggregation import mdav

AGES = st.one_of(st.none(), st.integers(-20, 60))
TOWNS = st.one_of(st.none(), st.sampled_from(["Ham", "York", "*", "{a,b}", "Oslo", ""]))
ROW = st.tuples(AGES, TOWNS, st.integers(0, 2), st.integers(0, 2), st.integers(0, 4))
SEEDS = st.integers(0, 2**32)


def table_of(rows):
    age, town, sex, region, home = zip(*rows, strict=True)
    place = {number: region[home.index(number)] for number in home}
    return pa.table(
        {
            "age": pa.array(age, pa.int16()),
            "town": pa.array(town, pa.string()),
            "sex": pa.array(sex, pa.int8()),
            "region": [place[number] for number in home],
            "home": home,
            "rest": [f"r{number}" for number in range(len(rows))],
        }
    )


def usable(rows):
    return sum(row[0] is not None for row in rows) > 3 and any(row[1] is not None for row in rows)


TABLE = st.lists(ROW, min_size=8, max_size=40).filter(usable).map(table_of)


def perturb(table, *steps, seed=0, known=("age", "town", "sex"), **options):
    options = {"identifiers": [], "warn": False, "shuffle": False} | options
    return protect(table, quasi_identifiers=list(known), method="perturb", steps=steps, seed=seed, **options)


def untouched(table, safe, *changed):
    """Rows in order, and all other columns as they were; a text that reads as a set is written as one."""
    assert safe.table.column_names == table.column_names
    for name in set(table.column_names) - {*changed, "town"}:
        assert safe.table[name].to_pylist() == table[name].to_pylist()


def nulls(column):
    return [value is None for value in column.to_pylist()]


@settings(max_examples=TABLES)
@given(TABLE, st.floats(0.01, 1.0), SEEDS)
def test_rank_swapping_keeps_the_values_and_moves_none_far(table, share, seed):
    safe = perturb(table, RankSwap(("age",), share), seed=seed)
    untouched(table, safe, "age")
    was, now = table["age"].to_pylist(), safe.table["age"].to_pylist()
    assert Counter(was) == Counter(now)
    assert nulls(table["age"]) == nulls(safe.table["age"])
    order = sorted(value for value in was if value is not None)
    reach = max(1, math.floor(share * len(order)))
    for before, after in zip(was, now, strict=True):
        if before is not None:
            low, high = sorted((before, after))
            nearest = order.index(high) - (len(order) - 1 - order[::-1].index(low))
            assert nearest <= reach


@settings(max_examples=TABLES)
@given(TABLE, st.floats(0.05, 0.5), st.booleans(), SEEDS)
def test_record_swapping_keeps_counts_households_and_everything_else(table, share, by_household, seed):
    step = RecordSwap(("region",), share, within=("sex",), match=("age",), household="home" if by_household else None)
    safe = perturb(table, step, seed=seed, known=["age", "sex", "region"])
    untouched(table, safe, "region")
    was, now = table.to_pylist(), safe.table.to_pylist()
    assert Counter(row["region"] for row in was) == Counter(row["region"] for row in now)
    if by_household:
        assert len({(row["home"], row["region"]) for row in now}) == len({row["home"] for row in now})
    else:  # partners have the same sex, so that counts by both are kept as well
        assert Counter((row["region"], row["sex"]) for row in was) == Counter((r["region"], r["sex"]) for r in now)
    units = len({row["home"] for row in was}) if by_household else len(was)
    moved = [number for number, row in enumerate(was) if row["region"] != now[number]["region"]]
    assert len({was[number]["home"] for number in moved} if by_household else moved) <= 2 * max(1, round(share * units))


def test_records_that_stand_out_are_swapped_first():
    rows = [(30, "a")] * 50 + [(30, "b")] * 50 + [(90, "a"), (91, "b")]
    table = pa.table({"age": [age for age, _ in rows], "region": [region for _, region in rows]})
    safe = perturb(table, RecordSwap(("region",), 0.02), known=["age", "region"])
    assert safe.table["region"].to_pylist()[-2] == "b"
    assert safe.table["region"].to_pylist()[-1] == "a"
    alone = perturb(table.set_column(1, "region", [["a"] * 102]), RecordSwap(("region",), 0.02), known=["age"])
    assert alone.notes == ("2 of 2 could not be swapped: nobody lives elsewhere to swap with",)


@settings(max_examples=TABLES)
@given(TABLE, st.integers(2, 4), st.sampled_from(["partition", "mdav"]))
def test_microaggregation_gives_means_of_k_or_more(table, k, by):
    table = table.set_column(2, "sex", [[float(value) for value in table["sex"].to_pylist()]])
    safe = perturb(table, Microaggregate(("age", "sex"), k, by), known=["age", "sex"])
    untouched(table, safe, "age", "sex")
    groups = {}
    for was, now in zip(table.to_pylist(), safe.table.to_pylist(), strict=True):
        groups.setdefault((now["age"], now["sex"]), []).append(was)
    for (age, sex), members in groups.items():
        assert len(members) >= k
        assert math.isclose(sum(row["sex"] for row in members) / len(members), sex, abs_tol=1e-9) or age is None
        if age is not None:  # rounded to whole years
            assert abs(sum(row["age"] for row in members) / len(members) - age) <= 0.5 + 1e-9
    assert math.isclose(sum(table["sex"].to_pylist()), sum(safe.table["sex"].to_pylist()), abs_tol=1e-6)


@settings(max_examples=TABLES)
@given(TABLE, st.integers(2, 3), st.sampled_from(["partition", "mdav"]))
def test_microaggregation_within_a_column_mixes_none_of_its_values(table, k, by):
    table = table.set_column(2, "sex", [[float(value) for value in table["sex"].to_pylist()]])
    step = Microaggregate(("sex", "home"), k, by, ("region",))
    sizes = Counter(table["region"].to_pylist())
    if min(sizes.values()) < k:
        with pytest.raises(InputError, match=rf"groups by region have fewer than {k} records"):
            perturb(table, step, known=["age"])
        return
    safe = perturb(table, step, known=["age"])
    untouched(table, safe, "sex", "home")
    for region in sizes:
        rows = [at for at, row in enumerate(table.to_pylist()) if row["region"] == region]
        was, now = (Counter(one["sex"].to_pylist()[at] for at in rows) for one in (table, safe.table))
        assert math.isclose(sum(was.elements()), sum(now.elements()), abs_tol=1e-6)
        pairs = Counter((safe.table["sex"].to_pylist()[at], safe.table["home"].to_pylist()[at]) for at in rows)
        assert min(pairs.values()) >= k


@settings(max_examples=TABLES)
@given(TABLE, st.integers(2, 5))
def test_mdav_makes_groups_of_k_to_2k(table, k):
    points = np.array([[row["sex"], row["home"]] for row in table.to_pylist()], dtype=np.float32)
    grouping = mdav(points, k)
    assert sorted(grouping.order.tolist()) == list(range(len(points)))
    assert all(k <= size < 2 * k for size in grouping.sizes.tolist()) or len(points) < 2 * k


def test_mdav_by_hand():
    grouping = mdav(np.array([[0], [1], [2], [50], [51], [98], [99], [100]], dtype=np.float32), 2)
    groups = np.split(grouping.order, grouping.ends[:-1])
    assert sorted(sorted(group.tolist()) for group in groups) == [[0, 1], [2, 3], [4, 5], [6, 7]]


@settings(max_examples=TABLES)
@given(TABLE, st.floats(0, 0.99), SEEDS)
def test_pram_draws_values_that_were_there_and_publishes_rows_that_add_up(table, keep, seed):
    safe = perturb(table, Pram(("sex", "town"), keep), seed=seed)
    untouched(table, safe, "sex")
    assert nulls(table["town"]) == nulls(safe.table["town"])
    assert set(safe.table["sex"].to_pylist()) <= set(table["sex"].to_pylist())
    changed = sum(a != b for a, b in zip(table["sex"].to_pylist(), safe.table["sex"].to_pylist(), strict=True))
    assert safe.changed_cells["sex"] == changed
    matrix = next(one for one in make_codebook(safe).variables if one.name == "sex").parameters[0]["matrix"]
    assert {*matrix} == {str(value) for value in safe.table["sex"].to_pylist()}
    for value, row in matrix.items():
        assert math.isclose(sum(row.values()), 1, abs_tol=1e-9)
        assert row[value] >= keep - 1e-12


def test_counts_before_pram_are_estimated_without_bias():
    draws = np.random.default_rng(4)
    towns = draws.choice(["a", "b", "c"], 20_000, p=[0.7, 0.25, 0.05])
    matrix = {"a": {"a": 0.8, "b": 0.1, "c": 0.1}, "b": {"a": 0.3, "b": 0.7}, "c": {"c": 0.5, "a": 0.5}}
    safe = perturb({"town": towns, "age": [1] * towns.size}, Pram(("town",), matrix), known=["town"])
    released = Counter(safe.table["town"].to_pylist())
    assert released["c"] > 1_700  # far from the 1,000 there were
    estimated = estimate_counts(released, make_codebook(safe).variables[0].parameters[0]["matrix"])
    for town, count in Counter(towns.tolist()).items():
        assert abs(estimated[town] - count) < 350  # five standard errors
    invariant = Counter(perturb({"town": towns}, Pram(("town",), 0.5), known=["town"]).table["town"].to_pylist())
    assert all(abs(invariant[town] - count) < 350 for town, count in Counter(towns.tolist()).items())


def test_the_errors_of_counts_before_pram_are_those_of_many_draws():
    towns = ["a"] * 700 + ["b"] * 250 + ["c"] * 50
    matrix = {"a": {"a": 0.8, "b": 0.1, "c": 0.1}, "b": {"a": 0.3, "b": 0.7}, "c": {"c": 0.5, "a": 0.5}}
    released = [
        Counter(perturb({"town": towns}, Pram(("town",), matrix), known=["town"], seed=seed).table["town"].to_pylist())
        for seed in range(200)
    ]
    for town, count in Counter(towns).items():
        apart = [(estimate_counts(one, matrix)[town] - count) / estimate_errors(one, matrix)[town] for one in released]
        assert abs(np.mean(apart)) < 0.25
        assert 0.85 < np.std(apart) < 1.15


def test_slopes_on_noisy_columns_come_back_by_the_stated_correction():
    """One noisy column of two; and columns with correlated noise, among themselves and for an outcome beside them."""
    draws = np.random.default_rng(6)
    age = draws.normal(50, 10, 40_000)
    pay = 2 * age + draws.normal(0, 15, 40_000)
    spent = 3 * age + 0.5 * pay + draws.normal(0, 10, 40_000)
    table = {"age": age, "pay": pay, "spent": spent}
    noisy = perturb(table, Noise(("pay",), 0.6), known=["age"]).table
    covariance = np.cov([noisy[name].to_numpy() for name in table])
    assert abs(np.linalg.solve(covariance[:2, :2], covariance[:2, 2])[1] - 0.5) > 0.1
    covariance[1, 1] /= 1 + 0.6**2
    assert np.linalg.solve(covariance[:2, :2], covariance[:2, 2]) == pytest.approx([3, 0.5], abs=0.05)
    together = perturb(table, CorrelatedNoise(("age", "pay"), 0.6), known=["age"]).table
    covariance = np.cov([together[name].to_numpy() for name in table])
    assert covariance[0, 1] / covariance[0, 0] == pytest.approx(2, abs=0.03)
    found = np.linalg.solve(covariance[:2, :2], covariance[:2, 2])
    assert found * (1 + 0.6**2) == pytest.approx([3, 0.5], abs=0.06)


@settings(max_examples=TABLES)
@given(TABLE, SEEDS)
def test_shuffling_keeps_the_values_of_every_column(table, seed):
    safe = perturb(table, Shuffle(("age", "home"), ("sex",)), seed=seed)
    untouched(table, safe, "age", "home")
    for name in ("age", "home"):
        assert Counter(table[name].to_pylist()) == Counter(safe.table[name].to_pylist())
        assert nulls(table[name]) == nulls(safe.table[name])


def ranked(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    for rank, at in enumerate(order):
        ranks[at] = rank
    return ranks


def correlation(first, second):
    return float(np.corrcoef(ranked(first), ranked(second))[0, 1])


def test_shuffling_keeps_rank_correlations_and_forgets_who_had_a_value():
    draws = np.random.default_rng(2)
    age = draws.normal(size=4_000)
    pay = np.exp(age + draws.normal(size=4_000))
    hours = age + np.log(pay) + draws.normal(size=4_000)
    table = {"age": age.tolist(), "pay": pay.tolist(), "hours": hours.tolist()}
    safe = perturb(table, Shuffle(("pay", "hours"), ("age",)), known=["age"])
    shuffled = {name: safe.table[name].to_pylist() for name in table}
    for one, other in (("age", "pay"), ("age", "hours"), ("pay", "hours")):
        assert abs(correlation(table[one], table[other]) - correlation(shuffled[one], shuffled[other])) < 0.04
    left = [np.log(values) - age for values in (pay, np.array(shuffled["pay"]))]
    assert abs(np.corrcoef(left)[0, 1]) < 0.06  # what is not told by age is told by nothing


def test_noise_has_the_stated_size_and_correlated_noise_keeps_correlations():
    draws = np.random.default_rng(3)
    pay = draws.normal(100, 20, 20_000)
    tax = 0.3 * pay + draws.normal(0, 4, 20_000)
    table = {"pay": pay, "tax": tax}
    plain = perturb(table, Noise(("pay", "tax"), 0.5), known=["pay"])
    added = plain.table["pay"].to_numpy() - pay
    assert abs(added.mean()) < 0.4
    assert math.isclose(added.std(), 0.5 * pay.std(), rel_tol=0.03)
    assert math.isclose(plain.table["pay"].to_numpy().var(), 1.25 * pay.var(), rel_tol=0.03)  # the stated correction
    together = perturb(table, CorrelatedNoise(("pay", "tax"), 0.5), known=["pay"])
    before = np.corrcoef(pay, tax)[0, 1]
    after, apart = (np.corrcoef(one.table["pay"], one.table["tax"])[0, 1] for one in (together, plain))
    assert abs(after - before) < 0.02
    assert math.isclose(apart, before / 1.25, abs_tol=0.02)
    assert plain.settings["spread"]["pay"] == pytest.approx(0.5 * pay.std())


@settings(max_examples=TABLES)
@given(TABLE, SEEDS)
def test_noise_keeps_nulls_types_and_all_else(table, seed):
    safe = perturb(table, ("age", "noise=0.2"), seed=seed)
    untouched(table, safe, "age")
    assert nulls(table["age"]) == nulls(safe.table["age"])
    assert safe.table["age"].type == pa.int16()
    assert safe.table.equals(perturb(table, Noise(("age",), 0.2), seed=seed).table)  # text and object; seeded


@settings(max_examples=TABLES)
@given(TABLE, st.sampled_from([0.5, 1, 5, 7, 1000]), st.integers(-10, 30))
def test_rounding_and_limits_by_plain_python(table, unit, limit):
    safe = perturb(table, Round(("age",), unit), ("home", "top=3"), ("age", f"bottom={limit}"))
    untouched(table, safe, "age", "home")
    for was, now in zip(table.to_pylist(), safe.table.to_pylist(), strict=True):
        rounded = None if was["age"] is None else round(was["age"] / unit) * unit
        assert now["age"] == (None if rounded is None else round(max(rounded, limit)))
        assert now["home"] == min(was["home"], 3)
    assert safe.perturbed == ()
    assert "changed by chance" not in safe.guarantee.sentence


def test_values_beyond_a_limit_get_their_mean_if_there_are_k():
    pays = [1.0, 2.0, 3.0, 100.0, 200.0, 600.0]
    safe = perturb({"pay": pays}, ("pay", "top=50,to=mean"), known=["pay"], k=3)
    assert safe.table["pay"].to_pylist() == [1.0, 2.0, 3.0, 300.0, 300.0, 300.0]
    with pytest.raises(InputError, match="3 records of 'pay' are beyond the limit"):
        perturb({"pay": pays}, TopCode(("pay",), 50, "mean"), known=["pay"], k=4)
    below = perturb({"pay": pays}, BottomCode(("pay",), 2.5), known=["pay"])
    assert below.table["pay"].to_pylist()[:3] == [2.5, 2.5, 3.0]


def test_a_narrow_type_becomes_wider_where_noise_needs_it():
    table = {"age": pa.array([0, 255] * 20, pa.uint8())}
    safe = perturb(table, Noise(("age",), 1.0), known=["age"])
    assert safe.table["age"].type == pa.int64()
    assert min(safe.table["age"].to_pylist()) < 0
