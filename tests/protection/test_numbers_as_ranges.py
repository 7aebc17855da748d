"""Numbers in place of ranges."""

import datetime

import numpy as np

from incrowd import read_table
from incrowd.protection.numbers_as_ranges import numbers_as_ranges


def ranges(before, after):
    return numbers_as_ranges(read_table({"x": before}), read_table({"x": after}), ["x"]).to_arrow()["x"].to_pylist()


def test_each_number_stands_for_the_values_of_its_records():
    draw = np.random.default_rng(0)
    for _ in range(50):
        before, after = draw.integers(-9, 9, 30), draw.integers(0, 5, 30) + 0.5
        expected = [f"[{before[after == one].min()};{before[after == one].max()}]" for one in after]
        assert ranges(before, after) == expected


def test_missing_cells_stay_and_numbers_in_their_place_stand_for_anything():
    assert ranges([1.5, None, 3.0, None], [2.0, 2.0, None, 7.0]) == ["[1.5;1.5]", "[1.5;1.5]", None, "[7.0;7.0]"]


def test_dates_and_times_are_days():
    days = [datetime.date(2000, 1, one) for one in (1, 3, 9)]
    middle = [datetime.date(2000, 1, 2)] * 2 + [datetime.date(2000, 1, 9)]
    expected = ["[2000-01-01;2000-01-03]"] * 2 + ["[2000-01-09;2000-01-09]"]
    assert ranges(days, middle) == expected
    times = [datetime.datetime.combine(one, datetime.time(20, 30)) for one in days]
    assert ranges(times, middle) == expected


def test_texts_stay_as_they_are():
    assert ranges(["a", "b"], ["{a,b}", "{a,b}"]) == ["{a,b}", "{a,b}"]
