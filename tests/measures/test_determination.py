"""Whether one column gives another away is told by enumeration, by altered cells and against chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.measures import determination as counted
from incrowd.measures.determination import determination, range_determination, usual_values


def told_by_hand(one, other):
    """Leave one out, one record at a time."""
    told = shared = 0
    for place, code in enumerate(one):
        rest = [other[i] for i in range(len(one)) if i != place and one[i] == code]
        if not rest:
            continue
        shared += 1
        counts = {value: rest.count(value) for value in rest}
        best = max(counts.values())
        told += counts.get(other[place]) == best and list(counts.values()).count(best) == 1
    return shared, told


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_the_share_told_is_that_of_leaving_each_record_out(rows):
    one, other = (list(column) for column in zip(*rows, strict=True))
    found = determination(np.array(one), np.array(other))
    shared, told = told_by_hand(one, other)
    assert found.records == shared
    assert found.told == pytest.approx(told / shared if shared else 0.0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 5)), min_size=1, max_size=30))
def test_a_row_that_stands_for_several_counts_as_often(rows):
    one, other, times = (np.array(column) for column in zip(*rows, strict=True))
    weighted = determination(one, other, times)
    repeated = determination(np.repeat(one, times), np.repeat(other, times))
    assert weighted == repeated


@pytest.mark.parametrize("altered", [0.0, 1 / 48_842, 0.01])
def test_altered_cells_do_not_hide_a_relation(altered):
    generator = np.random.default_rng(1)
    town = generator.integers(0, 400, 48_842)
    county = town // 10
    wrong = generator.random(town.size) < altered
    wrong[0] = altered > 0
    county = np.where(wrong, generator.integers(0, 40, town.size), county)
    assert determination(town, county).gives_away
    assert not determination(county, town).gives_away


def test_independent_columns_and_a_common_value_are_not_a_relation():
    generator = np.random.default_rng(2)
    drug = (generator.random(20_000) < 0.0001).astype(np.int64)
    assert not determination(generator.integers(0, 50, 20_000), drug).gives_away
    assert not determination(generator.integers(0, 50, 20_000), generator.integers(0, 5, 20_000)).gives_away


def common_point_by_hand(one, low, high):
    total = 0
    for code in set(one):
        rows = [i for i in range(len(one)) if one[i] == code]
        if len(rows) > 1:
            total += max(sum(low[i] <= low[j] <= high[i] for i in rows) for j in rows)
    return total


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 4)), min_size=2, max_size=25))
def test_ranges_with_a_point_in_common_are_counted_by_enumeration(rows):
    one = np.array([row[0] for row in rows])
    low = np.array([float(row[1]) for row in rows])
    high = low + np.array([float(row[2]) for row in rows])
    found = range_determination(one, low, high)
    assert round(found.told * found.records) == common_point_by_hand(one.tolist(), low.tolist(), high.tolist())


@pytest.mark.parametrize("altered", [0.0, 0.01])
def test_a_year_of_birth_gives_an_age_in_overlapping_ranges_back(altered):
    generator = np.random.default_rng(3)
    age = generator.integers(18, 90, 5_000)
    low = age - generator.integers(0, 6, 5_000)
    high = age + generator.integers(0, 6, 5_000)
    year = 2026 - np.where(generator.random(5_000) < altered, generator.integers(18, 90, 5_000), age)
    year -= year.min()
    assert range_determination(year, low.astype(float), high.astype(float)).gives_away
    other = generator.integers(0, 60, 5_000)
    assert not range_determination(other, low.astype(float), high.astype(float)).gives_away


def test_a_large_table_is_counted_as_far_as_it_may_tell(monkeypatch):
    generator = np.random.default_rng(4)
    age = generator.integers(0, 70, 3_000)
    low, high = age - generator.integers(0, 6, 3_000), age + generator.integers(0, 6, 3_000)
    low, high = low - low.min(), high - low.min()
    other = generator.integers(0, 60, 3_000)
    tells, does_not = range_determination(age, low, high), range_determination(other, low, high)
    monkeypatch.setattr(counted, "_LARGE", 1_000)
    assert range_determination(age, low, high) == tells
    found = range_determination(other, low, high)
    assert found.records == does_not.records
    assert does_not.told <= found.told < 0.95
    assert not found.gives_away


def test_an_indicator_of_one_level_gives_that_level_back():
    level = np.random.default_rng(0).integers(0, 4, 2_000)
    indicator = (level == 2).astype(np.int64)
    found = determination(indicator, level)
    assert found.gives_away
    assert not found.tells_nearly_all
    assert found.given_away == pytest.approx((level == 2).mean())
    noisy = indicator.copy()
    noisy[:3] = 1 - noisy[:3]  # a few altered cells hide nothing
    assert determination(noisy, level).gives_away


def test_a_column_repeated_in_half_of_the_rows_gives_it_back():
    draws = np.random.default_rng(1)
    years, later = draws.integers(8, 18, 3_000), draws.random(3_000) < 0.5
    found = determination(np.where(later, years, 0), years)
    assert found.gives_away
    assert found.given_away == pytest.approx(later.mean())


def test_values_that_only_lean_to_one_side_give_nothing_away():
    draws = np.random.default_rng(2)
    sex = draws.integers(0, 2, 5_000)
    trade = np.where(draws.random(5_000) < 0.9, sex, 1 - sex) * 10 + draws.integers(0, 10, 5_000)
    assert not determination(trade, sex).gives_away
    for seed in range(50):
        draws = np.random.default_rng(seed)
        assert not determination(draws.integers(0, 60, 4_000), draws.integers(0, 3, 4_000)).gives_away


def usual_by_hand(one, other):
    """The most frequent values of each code until 95 % of its records are covered, without those of one record."""
    usual = set()
    for code in set(one):
        values = [value for place, value in enumerate(other) if one[place] == code]
        done = 0
        for value in sorted(set(values), key=lambda each: (-values.count(each), each)):
            if done < 0.95 * len(values) and values.count(value) > 1:
                usual.add((code, value))
            done += values.count(value)
    return usual


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40))
def test_usual_values_are_counted_by_enumeration(rows):
    one, other = (np.array(column) for column in zip(*rows, strict=True))
    found = usual_values(one, other, np.bincount(other))
    usual, width = usual_by_hand(one, other), other.max() + 1
    assert [*found.cells] == sorted(code * width + value for code, value in usual)
    shared = [place for place, code in enumerate(one) if np.count_nonzero(one == code) > 1]
    assert found.records == len(shared)
    if shared:
        covered = [(one[place], other[place]) in usual for place in shared]
        assert found.covered == pytest.approx(np.mean(covered))
        elsewhere = [
            np.mean([(one[place], value) in usual for value in other[one != one[place]]] or [1.0]) for place in shared
        ]
        assert found.elsewhere == pytest.approx(np.mean(elsewhere))


@pytest.mark.parametrize("values", [2, 5, 30, 400])
@pytest.mark.parametrize("groups", [3, 20, 150])
def test_values_that_belong_to_people_are_not_few(values, groups):
    for seed in range(10):
        draws = np.random.default_rng(seed)
        of_people = np.minimum(draws.geometric(2 / values, 3_000), values) - 1
        assert not usual_values(draws.integers(0, groups, 3_000), of_people, np.bincount(of_people)).are_few
