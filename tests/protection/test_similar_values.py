"""Automatic hierarchies join categories by what they tell about other columns."""

import math
import random
import tracemalloc

import pytest

from incrowd.backends import encode
from incrowd.protection import protect
from incrowd.protection.lattice import ladders_of
from incrowd.protection.problem import Demand, Problem
from incrowd.tables import read_table

TIMES = {"ax": 9, "bx": 8, "cy": 9, "dy": 8}
ROWS = [(town, job) for town in "abcd" for job in "xy" for _ in range(TIMES.get(town + job, 1))]
TABLE = {"town": [town for town, _ in ROWS], "job": [job for _, job in ROWS]}


def information(rows, groups):
    """Mutual information of the group of a town and the job, in nats times records, by its definition."""
    group_of = {town: number for number, group in enumerate(groups) for town in group}
    pairs = [(group_of[town], job) for town, job in rows]
    groups_alone, jobs_alone = ([pair[place] for pair in pairs] for place in (0, 1))
    return sum(
        pairs.count(pair)
        * math.log(pairs.count(pair) * len(pairs) / (groups_alone.count(pair[0]) * jobs_alone.count(pair[1])))
        for pair in set(pairs)
    )


def ladder_of(table, name):
    source = read_table(table)
    problem = Problem(encode(source, source.columns), source.rows, Demand(2))
    ladders = ladders_of(problem, by_similarity=True)
    return next(ladder for ladder, column in zip(ladders, problem.columns, strict=True) if column.name == name)


@pytest.mark.parametrize("seed", range(8))
def test_the_pair_that_loses_least_information_is_joined_first(seed):
    draw = random.Random(seed)
    rows = [(town, draw.choice("xyz"[: 1 + place])) for place, town in enumerate("abc") for _ in range(40 + 7 * place)]
    kept = {
        other: information(rows, [{other}, set("abc") - {other}]) for other in "abc"
    }  # what is left where the other two are joined
    apart = max(kept, key=kept.get)
    level = ladder_of({"town": [town for town, _ in rows], "job": [job for _, job in rows]}, "town")[1]
    assert sorted(level.labels) == sorted([apart, "{" + ",".join(sorted(set("abc") - {apart})) + "}"])


def test_values_that_go_with_the_same_values_end_up_together():
    level = ladder_of(TABLE, "town")[-2]
    assert sorted(level.labels) == ["{a,b}", "{c,d}"]
    safe = protect(TABLE, quasi_identifiers=["town", "job"], k=2, method="generalise")
    assert set(safe.table["town"].to_pylist()) <= {"a", "b", "c", "d", "{a,b}", "{c,d}", "*"}
    assert safe.guarantee.holds


def test_many_values_begin_with_a_set_of_the_rarest():
    many = {
        "name": [f"n{number % 300}" for number in range(600)] + ["n0"] * 5,
        "sex": ["f", "m", "f"] * 201 + ["m"] * 2,
    }
    sizes = [len(level.labels) for level in ladder_of(many, "name")]
    assert sizes[:2] == [300, 256]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2:] == [2, 1]


MANY = {"name": [f"n{number % 3000}" for number in range(4000)], "sex": ["f", "m", "f", "m"] * 1000}


def test_memory_grows_with_the_values_and_not_with_their_square():
    tracemalloc.start()
    try:
        ladder_of(MANY, "name")
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()


def test_a_set_of_thousands_of_values_is_written_as_any_value():
    safe = protect(MANY, quasi_identifiers=["name", "sex"], k=2, method="generalise")
    written = set(safe.table["name"].to_pylist())
    assert "*" in written
    assert len(written) > 1
    assert max(label.count(",") for label in written) < 1000
    assert safe.guarantee.holds
    few = protect(MANY, quasi_identifiers=["name", "sex"], k=3, method="generalise", suppress=0.6)
    assert max(label.count(",") for label in few.table["name"].to_pylist()) < 1000
