"""Who may be behind the labels of a release, counted in plain Python."""

import tracemalloc

import numpy as np
import pytest

from incrowd import read_table
from incrowd.backends import encode
from incrowd.measures import kept_column_facts, label_coverage
from incrowd.measures.label_coverage import LabelCoverage
from incrowd.tables import parse_generalised

AGES = ["[20;24]", "[22;29]", "[25;25]", "27", "*", "[90;99]"]
CODES = ["{ab1,ab2,cd1}", "ab*", "cd1", "{ab3}", "***"]


def covers(label, value, values):
    """Whether a label covers a value: all, where it covers none."""
    meaning = parse_generalised(label)
    covered = [one for one in values if (label == str(one) if meaning is None else meaning.covers(one))]
    return value in (covered or values)


@pytest.mark.parametrize("columns", [["age"], ["code"], ["age", "code"], ["age", "sex"]])
@pytest.mark.parametrize("seed", range(3))
def test_those_behind_labels_are_counted_as_in_plain_python(columns, seed, monkeypatch):
    draw = np.random.default_rng(seed)
    before = {"age": draw.integers(20, 30, 60), "code": draw.choice(["ab1", "ab2", "ab3", "cd1", "cd2"], 60)}
    after = {"age": draw.choice(AGES, 40), "code": draw.choice(CODES, 40), "sex": draw.choice(["f", "m", "x"], 40)}
    before["sex"] = draw.choice(["f", "m"], 60)
    monkeypatch.setattr(label_coverage, "_AT_ONCE", 7)
    facts = [draw.random(60) < share for share in (0.2, 0.7)]
    known, released = (encode(read_table(table), ["age", "code", "sex"]) for table in (before, after))
    behind = LabelCoverage(known, released, ["age", "code"])
    asked = [one for one in known if one.name in columns]
    for same in (True, False):
        must_be_same = same or "sex" in columns
        fits = [
            [
                (not must_be_same or before["sex"][row] == after["sex"][other])
                and all(
                    covers(after[name][other], before[name][row], [*set(before[name])])
                    for name in columns
                    if name != "sex"
                )
                for row in range(60)
            ]
            for other in range(40)
        ]
        counts = behind.count(asked, facts, same=same)
        assert counts.tolist() == [(np.array(fits) & fact).sum(axis=1).tolist() for fact in facts]


def test_many_values_and_labels_take_little_memory():
    values = np.arange(60_000)
    after = {"income": [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in values]}
    known, released = (encode(read_table(table), ["income"]) for table in ({"income": values}, after))
    tracemalloc.start()
    counts = LabelCoverage(known, released, ["income"]).count(known, [values % 2 == 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(counts[0].tolist()) == {5}
    assert peak < 30_000_000  # every label beside every value would be 360 million


def test_several_coarse_numbers_of_many_values_are_counted():
    draw = np.random.default_rng(0)
    before = {name: draw.integers(0, 1000, 2000) for name in "abcd"}
    after = {name: [f"[{value // 200 * 200};{value // 200 * 200 + 199}]" for value in before[name]] for name in "abcd"}
    known, released = (encode(read_table(table), [*"abcd"]) for table in (before, after))
    (counts,) = LabelCoverage(known, released, [*"abcd"]).count(known, [np.ones(2000, dtype=bool)])
    fifths = np.column_stack([before[name] // 200 for name in "abcd"])
    assert counts.tolist() == (fifths[:, None] == fifths).all(axis=2).sum(axis=1).tolist()


def test_every_missing_cell_counts_as_expected_where_it_takes_too_long_to_tell(monkeypatch):
    ages = np.repeat(np.arange(20, 60), 30)
    after = {"age": [f"[{age // 10 * 10};{age // 10 * 10 + 9}]" for age in ages]}
    kept = {"a": [None if age < 40 or place % 30 == 0 else "x" for place, age in enumerate(ages)]}
    named = (["age"], ["a"])
    assert kept_column_facts({"age": ages} | kept, after | kept, *named, secrets=["a"]) == ()
    monkeypatch.setattr(label_coverage, "_MOST_LOOKED_UP", 3)
    (fact,) = kept_column_facts({"age": ages} | kept, after | kept, *named, secrets=["a"])
    assert (fact.k, fact.k_without) == (10, 300)
