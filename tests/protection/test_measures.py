"""The measures of generalise: the levels that are taken cost least of all, by plain counting of every combination."""

import tracemalloc
from collections import Counter
from itertools import product
from math import log

import numpy as np
import pytest

from incrowd import protect
from incrowd.errors import InputError
from incrowd.protection import Hierarchy, lattice
from incrowd.protection.api import memory_to_protect
from incrowd.protection.method_options import MEASURES
from incrowd.tables import read_table

WIDTHS = (1, 2, 4, 8, 1000)


def cost(table, node, k, limit, measure):
    """What a combination of widths costs; None where more rows than allowed would be left out."""
    rows = len(table["a"])
    coarse = {name: [value // width for value in table[name]] for name, width in zip(table, node, strict=True)}
    classes = Counter(zip(*coarse.values(), strict=True)).values()
    gone = sum(size for size in classes if size < k)
    if gone > limit * rows:
        return None
    if measure == "discernibility":
        return sum(size**2 for size in classes if size >= k) + gone * rows
    if measure == "class size":
        return rows / (sum(size >= k for size in classes) + (gone > 0))
    loss = 0.0
    if measure == "association":
        gone_together = sum(
            told(table, name) - told(table, name, width) for name, width in zip(table, node, strict=True)
        )
        loss = 0.5 * gone_together / sum(told(table, name) for name in table)
    for name, width in zip(table, node, strict=True):
        values, groups = Counter(table[name]), Counter(coarse[name])
        covered = Counter(value // width for value in values)
        if measure == "entropy":
            lost = sum(count * log(groups[value // width] / count) for value, count in values.items())
            most = sum(count * log(rows / count) for count in values.values())
        else:
            lost = sum(count * (covered[value // width] - 1) for value, count in values.items())
            most = rows * (len(values) - 1)
        loss += lost / most / len(table) * (0.5 if measure == "association" else 1.0)
    return loss + gone / rows * (1 - loss)


def told(table, name, width=1):
    """Mutual information of ranges of a column with 32 ranges of about equally many records of every other column."""
    total, rows = 0.0, len(table[name])
    for other in set(table) - {name}:
        ranges = [sum(one < value for one in table[other]) * 32 // rows for value in table[other]]
        own = [value // width for value in table[name]]
        both, first, second = Counter(zip(own, ranges, strict=True)), Counter(own), Counter(ranges)
        total += sum(count * log(count * rows / first[a] / second[b]) for (a, b), count in both.items())
    return total


@pytest.mark.parametrize(("measure", "table_size"), [*((measure, 2**16) for measure in MEASURES), ("association", 0)])
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_the_levels_that_are_taken_cost_least(measure, limit, table_size, monkeypatch):
    monkeypatch.setattr(lattice, "_SMALL_TABLE", table_size)  # 0: pairs of values are sorted
    draws = np.random.default_rng(8)
    for _ in range(5):
        tops = {"a": 16, "b": 9, "c": 4}
        table = {name: [0, top, *draws.integers(0, top, 58).tolist()] for name, top in tops.items()}
        rules = {name: Hierarchy.intervals(WIDTHS[1:-1]) for name in table}
        safe = protect(
            table,
            quasi_identifiers=list(table),
            k=3,
            method="generalise",
            hierarchies=rules,
            suppress=limit,
            measure=measure,
            identifiers=[],
            shuffle=False,
        )
        depth = {"a": 5, "b": 5, "c": 4}  # ranges of 8 are all there is of c
        widths = [
            WIDTHS[-1] if level == depth[name] - 1 else WIDTHS[level] for name, level in safe.settings["levels"].items()
        ]
        costs = {node: cost(table, node, 3, limit, measure) for node in product(WIDTHS, repeat=3)}
        assert costs[tuple(widths)] == pytest.approx(min(one for one in costs.values() if one is not None))


def test_measures_differ():
    draws = np.random.default_rng(1)
    table = {"a": draws.integers(0, 30, 300).tolist(), "b": draws.geometric(0.3, 300).tolist()}
    asked = {"quasi_identifiers": ["a", "b"], "k": 5, "method": "generalise", "suppress": 0.1, "identifiers": []}
    found = {measure: protect(table, measure=measure, **asked) for measure in MEASURES}
    assert len({tuple(safe.settings["levels"].items()) for safe in found.values()}) > 1
    assert found["discernibility"].settings["measure"] == "discernibility"


def test_a_measure_of_classes_takes_no_importance():
    with pytest.raises(InputError, match=r"no column weighs more than another.*granularity, entropy or association"):
        protect(
            {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]},
            quasi_identifiers=["a", "b"],
            k=2,
            method="generalise",
            measure="discernibility",
            importance={"a": 3},
        )
    with pytest.raises(InputError, match="no measure 'precision'; use granularity"):
        protect({"a": [1, 1]}, quasi_identifiers=["a"], k=2, method="generalise", measure="precision")


def test_levels_that_rows_left_out_would_spoil_are_passed_over():
    """Beta compares classes with the rows that stay; levels where it held among all rows only were refused."""
    draws = np.random.default_rng(5)
    table = {
        "age": draws.integers(20, 60, 400).tolist(),
        "town": draws.integers(0, 12, 400).tolist(),
        "illness": draws.choice(["a", "b", "c", "d"], 400, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
    }
    for beta in (1.0, 1.5, 2.0, 2.5, 3.0):
        safe = protect(
            table,
            quasi_identifiers=["age", "town"],
            sensitive=["illness"],
            k=2,
            beta=beta,
            method="generalise",
            suppress=0.05,
        )
        assert safe.guarantee.holds
        assert safe.suppressed_rows <= 0.05 * 400


def test_association_is_the_default_only_where_all_hierarchies_are_automatic():
    draws = np.random.default_rng(3)
    age = draws.integers(20, 60, 400)
    table = {"age": age.tolist(), "work": [f"w{n}" for n in (age // 10 + draws.integers(0, 2, 400)).tolist()]}
    asked = {"quasi_identifiers": ["age", "work"], "k": 5, "method": "generalise", "identifiers": []}
    assert protect(table, **asked).settings["measure"] == "association"
    assert "measure" not in protect(table, hierarchies={"age": "5,10"}, **asked).settings
    by_detail = protect(table, measure="granularity", **asked)
    assert "measure" not in by_detail.settings


def test_association_takes_no_more_memory_than_is_promised(monkeypatch):
    """A table of counts for every value of a column of distinct numbers took a thousand bytes a record."""
    draws, rows, peaks, measure_association = np.random.default_rng(1), 20_000, [], lattice._association_lost

    def watch(*asked):
        tracemalloc.start()
        try:
            found = measure_association(*asked)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        return found

    monkeypatch.setattr(lattice, "_association_lost", watch)
    table = {"pay": draws.integers(0, 10**9, rows), "size": draws.normal(size=rows), "town": draws.integers(0, 5, rows)}
    asked = {"quasi_identifiers": [*table], "identifiers": [], "k": 5, "method": "generalise", "warn": False}
    assert protect(table, **asked).settings["measure"] == "association"
    assert 0 < peaks[0] < memory_to_protect(read_table(table))
