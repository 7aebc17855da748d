"""Unique records of a masked table alone, against brute force over every value that a cell may stand for."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run
from tests.protection.plain import covers

from incrowd import InputError, measure
from incrowd.evaluation import count_fitting_uniques, generalised_columns

AGES = st.one_of(
    st.integers(0, 6).map(str),
    st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: f"[{min(ends)};{max(ends)}]"),
    st.tuples(st.integers(0, 6), st.booleans()).map(lambda end: f"[{end[0]};*]" if end[1] else f"[*;{end[0]}]"),
    st.just("*"),
)
TOWNS = st.one_of(
    st.sampled_from("abc"),
    st.just("*"),
    st.sets(st.sampled_from("abc"), min_size=2).map(lambda s: "{" + ",".join(sorted(s)) + "}"),
)


def brute_force(rows):
    """Every point of every box, looked for in every other box; * is from the least to the most that is named."""
    ends = [int(end) for age, _ in rows if age != "*" for end in age.strip("[]").split(";") if end != "*"]
    ages = range(min(ends, default=0), max(ends, default=0) + 1)
    towns = sorted({town for _, label in rows if label != "*" for town in label.strip("{}").split(",")}) or ["*"]

    def fits(row, point):
        return covers(row[0], point[0]) and covers(row[1], point[1])

    return sum(
        any(
            fits(row, point) and not any(fits(other, point) for j, other in enumerate(rows) if j != i)
            for point in product(ages, towns)
        )
        for i, row in enumerate(rows)
    )


@pytest.mark.paper("proper-anonymization", "eq. 1")
@given(st.lists(st.tuples(AGES, TOWNS), min_size=1, max_size=6))
def test_uniques_are_those_of_brute_force(rows):
    table = {"age": [age for age, _ in rows], "town": [town for _, town in rows]}
    found = count_fitting_uniques(table, quasi_identifiers=["age", "town"])
    assert (found.unique, found.undecided) == (brute_force(rows), 0)


def test_five_of_five_by_letters_are_one_by_fit():
    table = {"age": ["[20;29]", "[20;24]", "[25;29]", "27", "[30;39]"]}
    assert measure(table, quasi_identifiers=["age"]).uniques == 5
    assert count_fitting_uniques(table, quasi_identifiers=["age"]).unique == 1


def test_kinds_of_domain():
    assert (
        count_fitting_uniques({"zip": ["937**", "[93700;93750]", "[93751;93799]"]}, quasi_identifiers=["zip"]).unique
        == 0
    )
    assert count_fitting_uniques({"zip": ["01234", "012**", "0123*"]}, quasi_identifiers=["zip"]).unique == 1
    days = ["[2020-01-01;2020-02-01]", "2020-01-03", "[2020-01-01;2020-01-31]", "2020-02-01"]
    assert count_fitting_uniques({"day": days}, quasi_identifiers=["day"]).unique == 0
    assert count_fitting_uniques({"x": ["*", "*"]}, quasi_identifiers=["x"]).unique == 0
    assert count_fitting_uniques({"x": ["[0.5;1.5]", "[0.5;1.0]", "[1.0;1.5]"]}, quasi_identifiers=["x"]).unique == 0
    assert count_fitting_uniques({"x": ["a", None, None, "b", "b"]}, quasi_identifiers=["x"]).unique == 1
    assert generalised_columns({"x": ["a", "*"], "y": ["a", "b"]}, ["x", "y"]) == ["x"]


def test_the_command_line_says_both(tmp_path, capsys):
    file = tmp_path / "masked.csv"
    file.write_text("age\n[20;29]\n[20;24]\n[25;29]\n27\n[30;39]\n")
    code, out, _ = run(capsys, "measure", file, "--qi", "age", "--fit")
    assert code == 0
    assert "1 of 5 records" in out
    code, out, _ = run(capsys, "measure", file, "--qi", "age", "--fit", "--json")
    assert json.loads(out)["unique_by_fit"] == 1
    assert json.loads(out)["uniques"] == 5
    assert run(capsys, "measure", file, "--qi", "age", "--fit", "--person", "age")[0] == 2
    code, _, err = run(capsys, "measure", file, "--qi", "age")
    assert code == 0
    assert "masked values in age are counted as they are written" in " ".join(err.split())


def test_a_wildcard_covers_a_domain_that_is_named():
    table = {"age": ["*", "[30;40]"], "town": ["a", "a"]}
    assert count_fitting_uniques(table, quasi_identifiers=["age"]).unique == 0
    assert count_fitting_uniques(table, quasi_identifiers=["age"], domains={"age": (0, 85)}).unique == 1
    assert count_fitting_uniques(table, quasi_identifiers=["age"], domains={"age": (30, 40)}).unique == 0
    for domains in ({"age": (85, 0)}, {"town": (0, 85)}, {"zip": (0, 1)}):
        with pytest.raises(InputError, match="domain"):
            count_fitting_uniques(table, quasi_identifiers=["age", "town"], domains=domains)
