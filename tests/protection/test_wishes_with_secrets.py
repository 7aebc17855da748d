"""Wishes together with demands on secrets, for records and for histories of people, by a plain-Python check."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reference
from tests.protection.plain import TABLES
from tests.protection.test_shares import keeps

from incrowd import UnsupportedError, protect

QIS = ["age", "town"]
ROWS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 2)), min_size=12, max_size=60)
PEOPLE = st.lists(
    st.tuples(st.sampled_from("fm"), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=3)),
    min_size=6,
    max_size=25,
)
ASKED = st.sampled_from(
    [{}, {"l": 2}, {"beta": 1.0}, {"delta": 1.5}, {"t": 0.25}, {"l": 2, "t": 0.4}, {"beta": 2.0, "t": 0.3}]
)
WISHES = st.sampled_from([{"keep": ["town"]}, {"widest": {"age": 4}}, {"keep": ["town"], "widest": {"age": 6}}])


def width(label):
    """How long a range of ages is."""
    low, high = label[1:-1].split(";") if isinstance(label, str) and label.startswith("[") else (0, 0)
    return int(high) - int(low)


def is_as_wished(before, after, keep=(), widest=None):
    """Whether kept columns are the same and no range is too long."""
    limit = (widest or {}).get("age", 99)
    return all(before[name] == after[name] for name in keep) and after["age"] != "*" and width(after["age"]) <= limit


def is_kept(rows, groups, l=None, **limits):  # noqa: E741
    """Whether every group keeps what was asked of its secrets."""
    fewest = min(len({rows[number]["ill"] for number in members}) for members in groups)
    return keeps(rows, groups, **limits) and fewest >= (l or 1)


@settings(max_examples=2 * TABLES)
@given(ROWS, st.integers(2, 3), ASKED, WISHES)
def test_classes_are_merged_for_secrets_only_within_the_wishes(rows, k, asked, wishes):
    age, town, ill = zip(*rows, strict=True)
    table = pa.table({"age": age, "town": town, "ill": [f"i{one}" for one in ill]})
    options = {"quasi_identifiers": QIS, "k": k, "sensitive": ["ill"], "identifiers": [], "warn": False}
    try:
        safe = protect(table, suppress=0.6, **options, **asked, **wishes)
    except UnsupportedError:
        return  # how many records have a class is looked at below
    before, after = table.to_pylist(), safe.table.to_pylist()
    kept = range(len(before)) if safe.kept_rows is None else safe.kept_rows.tolist()
    groups = reference.classes_of(after, QIS)
    assert min(map(len, groups)) >= k
    assert is_kept(after, groups, **asked)
    assert all(is_as_wished(before[place], row, **wishes) for place, row in zip(kept, after, strict=True))
    assert safe.suppressed_rows <= 0.6 * len(rows)


def survey(rows=600):
    draws = np.random.default_rng(4)
    ill = draws.choice(["flu", "burn", "hiv"], rows, p=[0.6, 0.3, 0.1])
    return {"age": draws.integers(20, 60, rows), "sex": draws.choice(["f", "m"], rows), "ill": ill}


@pytest.mark.parametrize("asked", [{"t": 0.2}, {"beta": 1.0}, {"delta": 1.5}, {"l": 3}, {"k_map": 40}])
def test_nobody_is_left_out_where_a_kept_group_can_reach_what_is_asked(asked):
    population = {"population": 6_000} if "k_map" in asked else {}
    options = {"quasi_identifiers": ["age", "sex"], "k": 5, "sensitive": ["ill"], "warn": False}
    safe = protect(survey(), **options, keep=["sex"], widest={"age": 25}, **asked, **population)
    assert safe.suppressed_rows == 0  # each sex alone is as diverse, and as near to the table, as is asked
    assert safe.guarantee.holds
    assert safe.changed_cells["sex"] == 0


def test_a_kept_group_that_is_too_far_from_the_table_is_left_out_or_refused():
    table = survey()
    table["sex"][:40], table["ill"][:40] = "x", "hiv"  # everybody of this group has the secret
    options = {"quasi_identifiers": ["age", "sex"], "k": 5, "sensitive": ["ill"], "t": 0.2, "keep": ["sex"]}
    with pytest.raises(UnsupportedError, match="40 of 600 records have no class within the wishes"):
        protect(table, **options)
    safe = protect(table, **options, suppress=0.1)
    assert safe.suppressed_rows == 40
    assert set(safe.table["sex"].to_pylist()) == {"f", "m"}
    assert safe.guarantee.t <= 0.2  # compared with the rows that stay


@settings(max_examples=TABLES)
@given(PEOPLE, st.integers(2, 3), ASKED, st.sampled_from([{}, {"keep": ["town"]}, {"widest": {"age": 6}}]))
def test_histories_keep_wishes_and_limits_on_secrets(people, k, asked, wishes):
    rows = [
        {"who": f"p{who}", "town": town, "age": age, "ill": f"i{ill}", "note": f"{who} {at}"}
        for who, (town, records) in enumerate(people)
        for at, (age, ill) in enumerate(records)
    ]
    options = {"quasi_identifiers": QIS, "k": k, "person": "who", "sensitive": ["ill"], "identifiers": []}
    suppress = {"suppress": 0.7} if wishes else {}
    try:
        safe = protect(pa.Table.from_pylist(rows), warn=False, **options, **suppress, **asked, **wishes)
    except UnsupportedError:
        assert asked or wishes  # k alone is always reached
        return
    after, before = safe.table.to_pylist(), {row["note"]: row for row in rows}
    people_alike = reference.history_classes(after, QIS, "who")
    assert min(map(len, people_alike)) >= k
    class_of = {who: number for number, members in enumerate(people_alike) for who in members}
    groups = defaultdict(list)  # records of one class of people that look alike
    for number, row in enumerate(after):
        groups[class_of[row["who"]], row["age"], row["town"]].append(number)
    assert is_kept(after, list(groups.values()), **asked)
    assert all(not wishes or is_as_wished(before[row["note"]], row, **wishes) for row in after)
    gone = {row["who"] for row in rows} - {before[row["note"]]["who"] for row in after}
    assert sum(row["who"] in gone for row in rows) <= (0.7 * len(rows) if wishes else 0)


def test_households_of_kept_regions_lose_records_before_they_are_left_out():
    """Of five homes in a region one has three members: it loses one of them and stays."""
    homes = [(f"{region}{home}", region, 3 if home == 0 else 2) for region in "ab" for home in range(5)]
    rows = [{"home": home, "town": region, "age": 10 * n} for home, region, size in homes for n in range(size)]
    safe = protect(
        pa.Table.from_pylist(rows), quasi_identifiers=["age", "town"], k=5, person="home", keep=["town"], warn=False
    )
    assert Counter(row["town"] for row in safe.table.to_pylist()) == {"a": 10, "b": 10}
    assert safe.guarantee.k == 5


def test_households_without_a_class_within_the_wishes_are_counted_and_refused():
    rows = [{"home": n, "town": "a" if n < 6 else "b", "age": 30 + m} for n in range(8) for m in range(2)]
    options = {"quasi_identifiers": ["age", "town"], "k": 5, "person": "home", "keep": ["town"], "warn": False}
    with pytest.raises(UnsupportedError, match="4 of 16 records have no class within the wishes"):
        protect(pa.Table.from_pylist(rows), **options)
    safe = protect(pa.Table.from_pylist(rows), **options, suppress=0.25)
    assert set(safe.table["town"].to_pylist()) == {"a"}
    assert "4 records are of people for whom there is no class within the wishes" in safe.notes
