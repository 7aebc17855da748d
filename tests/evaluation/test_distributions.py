"""Columns before and after protection: counted by hand where a cell stands for several values."""

import datetime
from fractions import Fraction

import numpy as np
import pytest

from incrowd import demo_table, protect
from incrowd.evaluation import distributions
from incrowd.tables import parse_generalised


def test_a_column_that_was_left_alone_looks_the_same():
    table = demo_table(500)
    for found in distributions(table, table, columns=["age_yrs", "sex", "diag_p", "charge"]):
        assert found.distance == 0
        assert sum(found.before) == pytest.approx(1)


def test_cells_count_in_equal_parts_for_all_they_stand_for():
    before = {"city": ["a", "b", "c", None], "age": [1, 2, 3, 4]}
    after = {"city": ["{a,b}", "{a,b}", "*", "*"], "age": ["[1;2]", "[1;3]", "[1;3]", "4"]}
    city, age = distributions(before, after, columns=["city", "age"])
    assert city.groups == ("a", "b", "c", "missing")
    half = Fraction(2, 4)
    assert city.after == pytest.approx([float(Fraction(2, 2) / 4 + half / 4)] * 2 + [float(half / 4)] * 2)
    assert age.after == pytest.approx(
        [float((Fraction(1, 2) + Fraction(2, 3)) / 4)] * 2 + [float(Fraction(2, 12)), 0.25]
    )


def test_a_protected_table_agrees_with_reading_every_cell_by_itself():
    table = demo_table(400)
    safe = protect(table, quasi_identifiers=["age_yrs", "sex"], k=5)
    (found, _) = distributions(table, safe.table, columns=["age_yrs", "sex"])
    ages = np.array(table["age_yrs"].to_pylist())
    values = np.unique(ages)
    expected = dict.fromkeys(values.tolist(), 0.0)
    for cell in safe.table["age_yrs"].to_pylist():
        meaning = parse_generalised(str(cell))
        stands_for = [
            v for v in values.tolist() if (v == int(cell) if meaning is None else meaning.low <= v <= meaning.high)
        ]
        for value in stands_for:
            expected[value] += 1 / len(stands_for)
    edges = [int(group.split("–")[0]) for group in found.groups]
    shares = [
        sum(share for value, share in expected.items() if low <= value < high) / len(ages)
        for low, high in zip(edges, [*edges[1:], 10**9], strict=True)
    ]
    assert found.after == pytest.approx(shares)
    assert sum(found.after) == pytest.approx(1)


def test_many_texts_are_the_commonest_and_the_others():
    column = {"word": [f"w{n}" for n in range(30) for _ in range(30 - n)]}
    (found,) = distributions(column, column, columns=["word"])
    assert found.groups[:2] == ("w0", "w1")
    assert found.groups[-1] == "others"
    assert len(found.groups) == 12


def test_dates_are_grouped_by_days():
    days = {"born": [datetime.date(2000, 1, 1) + datetime.timedelta(days=n) for n in range(48)]}
    (found,) = distributions(days, days, columns=["born"])
    assert found.groups[0] == "from 2000-01-01"
    assert len(found.groups) == 12
