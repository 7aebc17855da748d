"""The box rule against brute force: every point of every box, looked for in every other box."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protection.plain import covers

from incrowd import evaluate, read_table
from incrowd.backends import encode
from incrowd.evaluation.boxes import unique_records
from incrowd.evaluation.labels import read_meanings

ORIGINAL = {"age": [*range(7), None], "town": ["a", "b", "c", "d", None, "a", "b", "a"]}
AGES = range(-1, 9)  # labels reach beyond the domain, which * does not
AGE_POINTS = [*AGES, None]
TOWN_POINTS = ["a", "b", "c", "d", None]


@st.composite
def age_labels(draw):
    low = draw(st.sampled_from(AGES))
    high = draw(st.sampled_from(AGES[AGES.index(low) :]))
    return draw(st.sampled_from([str(low), f"[{low};{high}]", "*", f"[{low};{high}]", None]))


TOWN_LABELS = st.one_of(
    st.sampled_from(["a", "b", "c", "d", None, "*"]),
    st.sets(st.sampled_from(["a", "b", "c", "d", ""]), min_size=2).map(lambda s: "{" + ",".join(sorted(s)) + "}"),
)
ROWS = st.lists(st.tuples(age_labels(), TOWN_LABELS), min_size=2, max_size=7)


def covers_age(label, value):
    return value is None or 0 <= value <= 6 if label == "*" else covers(label, value)


def uniques_by_brute_force(rows):
    count = 0
    for i, (age, town) in enumerate(rows):
        points = [p for p in product(AGE_POINTS, TOWN_POINTS) if covers_age(age, p[0]) and covers(town, p[1])]
        others = [row for j, row in enumerate(rows) if j != i]
        count += any(not any(covers_age(a, p[0]) and covers(t, p[1]) for a, t in others) for p in points)
    return count


@given(ROWS)
@pytest.mark.paper("proper-anonymization", "eq. 1")
def test_uniques_are_those_of_brute_force(rows):
    protected = pa.table(
        {"age": pa.array([r[0] for r in rows], pa.string()), "town": pa.array([r[1] for r in rows], pa.string())}
    )
    found = evaluate(ORIGINAL, protected, quasi_identifiers=["age", "town"])
    assert found.undecided == 0
    assert found.uniques == uniques_by_brute_force(rows)


@pytest.mark.parametrize("most_compared", [0, 1, 60_000])
def test_a_search_that_is_cut_short_counts_the_rest_as_unique_and_says_so(most_compared):
    ages = np.random.default_rng(0).integers(0, 300, 2_000)
    frame = {"age": ages, "height": ages[::-1].copy()}
    wide = {name: pa.array([f"[{value};{value + 3}]" for value in column]) for name, column in frame.items()}
    meanings = list(map(read_meanings, *(encode(read_table(one), ["age", "height"]) for one in (frame, wide))))
    whole, part = unique_records(meanings), unique_records(meanings, most_compared=most_compared)
    assert whole.undecided == 0 < part.undecided
    assert whole.unique <= part.unique <= whole.unique + part.undecided


def uniques(original, protected):
    return evaluate(original, protected, quasi_identifiers=list(original)).uniques


@pytest.mark.paper("proper-anonymization", "eq. 1")
def test_the_papers_example_of_fitting():
    ages = {"age": [26, 24, 25, 27, 28]}
    assert uniques(ages, {"age": ["26", "[24;28]"]}) == 1  # the range has 24, 25, 27, 28 to itself; 26 fits into it
    assert uniques(ages, {"age": ["[24;28]", "[24;26]", "[27;28]"]}) == 0
    assert uniques(ages, {"age": ["[24;28]", "[24;25]", "[27;28]"]}) == 1  # 26 is in nobody else's range


def test_whole_numbers_that_no_record_has_are_points_too():
    assert uniques({"age": [20, 30]}, {"age": ["[20;30]", "20", "30"][:2]}) == 1
    assert uniques({"age": [20, 21, 20]}, {"age": ["[20;21]", "20", "21"]}) == 0
    assert uniques({"age": [20, 30, 20]}, {"age": ["[20;30]", "20", "30"]}) == 1


def test_a_prefix_is_its_whole_range():
    zips = {"zip": [93722, 93700, 93799]}
    assert uniques(zips, {"zip": ["937**", "[93700;93750]", "[93751;93799]"]}) == 0
    assert uniques(zips, {"zip": ["937**", "93722", "93700"]}) == 1
    text = {"zip": ["93722", "93700", "93799"]}
    assert uniques(text, {"zip": ["937**", "93722", "93799"]}) == 1  # 93755 may exist though no record has it
    assert uniques(text, {"zip": ["937**", "93***", "93722"]}) == 1  # 94 is only in the wider prefix


def test_a_wildcard_is_the_whole_domain():
    assert uniques({"age": [1, 2, 3]}, {"age": ["*", "[1;2]", "3"]}) == 0
    assert uniques({"age": [1, 2, 4]}, {"age": ["*", "[1;2]", "4"]}) == 1


def test_fractions_have_points_between():
    assert uniques({"x": [0.5, 1.5, 1.0]}, {"x": ["[0.5;1.5]", "[0.5;1.0]", "[1.0;1.5]"]}) == 0
    assert uniques({"x": [0.5, 1.5, 1.0]}, {"x": ["[0.5;1.5]", "[0.5;0.9]", "[1.0;1.5]"]}) == 1


def test_a_wildcard_over_nulls_does_not_reach_beyond_the_domain():
    assert uniques({"a": [None, 1, 3, 0]}, {"a": ["*", "1", "[3;4]", "0"]}) == 2  # 4, and the null
    assert uniques({"a": [None, 1, 3, 0]}, {"a": ["*", "1", "[2;3]", "0"]}) == 1
