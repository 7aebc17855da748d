"""Whether the order of rows tells values: moments over all orders, and tables with and without an order."""

import math
from itertools import pairwise, permutations
from statistics import mean, pstdev

import numpy as np
import pytest

from incrowd import UnsupportedError, protect, read_table
from incrowd.measures import row_order
from incrowd.measures.row_order import _equal_neighbours, _serial_correlation, followed_columns


def _joins(order):
    return sum(a == b for a, b in pairwise(order)) / (len(order) - 1)


def _correlation(order):
    ranks = [sum(other < one for other in order) + (order.count(one) - 1) / 2 for one in order]
    x = [rank - mean(ranks) for rank in ranks]
    return sum(a * b for a, b in pairwise(x)) / sum(a * a for a in x)


def _of_all_codes(codes):
    return _serial_correlation(codes, codes.max() + 1)


@pytest.mark.parametrize("values", [(0, 0, 0, 1, 1, 2, 3), (0, 1, 2, 3, 4, 5), (0, 0, 0, 0, 1), (0, 1, 1, 1, 2, 2)])
@pytest.mark.parametrize(("plain", "fast"), [(_joins, _equal_neighbours), (_correlation, _of_all_codes)])
def test_mean_and_deviation_are_those_over_all_orders(values, plain, fast):
    seen, expected, error, _ = fast(np.array(values))
    over_all = [plain(order) for order in permutations(values)]
    assert math.isclose(seen, plain(values))
    assert math.isclose(expected, mean(over_all), abs_tol=1e-12)
    assert math.isclose(error, pstdev(over_all), abs_tol=1e-9)


def _random_table(seed):
    draws = np.random.default_rng(seed)
    n = int(draws.integers(8, 1500))
    low = draws.integers(0, 80, n)
    return {
        "age": draws.integers(0, 90, n),
        "income": draws.lognormal(10, 1, n),
        "sex": draws.choice(["f", "m"], n),
        "town": draws.zipf(1.5, n).clip(0, 10**6).astype(str),
        "rare": draws.random(n) < 0.02,
        "pairs": draws.permutation(np.arange(n) // 2),
        "range": [f"[{one};{one + 10}]" for one in low],
        "gap": np.where(draws.random(n) < 0.3, np.nan, draws.normal(size=n)),
    }


def test_no_column_is_followed_in_random_order():
    assert [one for seed in range(50) for one in followed_columns(read_table(_random_table(seed)))] == []


@pytest.mark.parametrize("most", [None, 500])
@pytest.mark.parametrize("person", [None, "home"])
def test_another_order_is_judged_as_a_table_in_that_order(monkeypatch, person, most):
    table = _random_table(3)
    order = np.argsort(table["age"], kind="stable")
    table["home"] = np.arange(order.size) // 3
    there = read_table({name: np.asarray(cells)[order] for name, cells in table.items()})
    if most is not None:
        monkeypatch.setattr(row_order, "_BYTES_A_ROW", there.memory // most)
    found = followed_columns(read_table(table), person=person, order=order)
    assert found[0].column == "age"
    assert found == followed_columns(there, person=person)


def test_ranges_of_a_sorted_file_are_followed_by_their_middles():
    draws = np.random.default_rng(1)
    ages = np.sort(draws.integers(18, 90, 400))
    towns = draws.choice(list("abcdefgh"), 400)
    safe = protect({"age": ages, "town": towns}, quasi_identifiers=["age", "town"], k=5, shuffle=False)
    assert {one.column for one in followed_columns(read_table(safe.table))} >= {"age"}


@pytest.mark.parametrize("rows", [30, 100])
def test_small_sorted_tables_are_found(rows):
    assert [one.column for one in followed_columns(read_table({"age": list(range(rows))}))] == ["age"]


def test_texts_that_were_sorted_are_followed():
    table = read_table({"name": sorted(f"{one * 7919 % 1009:04}x" for one in range(300))})
    assert followed_columns(table)[0].by == "near"


def _households(seed=0):
    draws = np.random.default_rng(seed)
    sizes = draws.integers(1, 6, 200)
    homes = np.repeat(np.arange(sizes.size), sizes)
    return {
        "home": homes,
        "size": sizes[homes],
        "state": draws.choice(list("abcde"), sizes.size)[homes],
        "age": draws.integers(0, 90, homes.size),
    }


def test_neighbours_of_one_household_are_equal():
    people = _households()
    found = {one.column: one.by for one in followed_columns(read_table(people), ["size", "state", "age"])}
    assert found["size"] == found["state"] == "equal"
    assert "age" not in found


def test_of_each_person_the_first_record_counts():
    homes = _households()
    assert followed_columns(read_table(homes), ["size", "state", "age"], person="home") == ()
    by_size = np.argsort(homes["size"], kind="stable")
    table = read_table({name: column[by_size] for name, column in homes.items()})
    assert [one.column for one in followed_columns(table, ["size", "state"], person="home")] == ["size"]


def test_a_column_that_repeats_in_a_cycle_is_not_followed():
    assert followed_columns(read_table({"sex": ["f", "m"] * 100})) == ()


def test_of_a_table_beyond_memory_the_first_rows_are_looked_at(monkeypatch):
    ages = np.concatenate([np.repeat(np.arange(50), 2), np.random.default_rng(0).integers(0, 50, 3_000)])
    table = read_table({"home": np.arange(3_100) // 2, "age": ages})
    assert [one.column for one in followed_columns(table, person="home")] == ["home"]
    monkeypatch.setattr(row_order, "_BYTES_A_ROW", table.memory // 100)
    assert {one.column for one in followed_columns(table, person="home")} == {"home", "age"}


def test_the_order_of_one_table_is_counted_once_and_anew_for_another_scale(monkeypatch):
    counted = []
    plain = row_order._serial_correlation

    def count(*given):
        counted.append(given)
        return plain(*given)

    monkeypatch.setattr(row_order, "_serial_correlation", count)
    values = ["low", "mid", "high"] * 30
    table = read_table({"a": values, "b": sorted(values)})
    first = followed_columns(table)
    assert followed_columns(table) == first
    assert len(counted) == 2
    followed_columns(read_table({"a": values, "b": sorted(values)}))
    assert len(counted) == 4
    table.encoded.clear()  # as another scale does
    assert followed_columns(table) == first
    assert len(counted) == 6


def test_an_engine_without_memory_is_told_in_words(monkeypatch):
    class OutOfMemoryException(Exception):  # noqa: N818
        pass

    def fail(names):
        raise OutOfMemoryException("could not allocate; the cell was 41")

    table = read_table({"age": list(range(50))})
    monkeypatch.setattr(table.backend, "lazy", fail)
    monkeypatch.setattr(row_order, "_BYTES_A_ROW", table.memory)
    with pytest.raises(UnsupportedError, match="memory and temporary disk space ran out") as refused:
        followed_columns(table)
    assert "41" not in str(refused.value)


def test_people_with_many_records_come_first_in_random_order_and_that_tells_nothing():
    draws = np.random.default_rng(0)
    records = np.repeat([1, 30], [500, 500])
    person = draws.permutation(np.repeat(np.arange(1_000), records))
    table = read_table({"person": person, "visits": records[person]})
    assert followed_columns(table, person="person") == ()  # by their first records, those with 30 lead
    ordered = np.argsort(records[person], kind="stable")
    assert followed_columns(table, person="person", order=ordered)[0].column == "visits"
