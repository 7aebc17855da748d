"""Sums and differences of kept and coarsened columns that hold for part of the records."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd import assess, protect
from incrowd.measures import kept_column_facts

ROWS = 1_200


def in_steps(numbers, step):
    return [f"[{one // step * step};{one // step * step + step - 1}]" for one in numbers]


def study(seed=1, *, died=0.6):
    """Days of entry and death; the time in the study ends at the death of some, and at a relapse of the others."""
    draw = np.random.default_rng(seed)
    entry, lived = draw.integers(0, 2_000, ROWS), draw.integers(30, 3_000, ROWS)
    relapsed = draw.random(ROWS) > died
    time = np.where(relapsed, (lived * draw.random(ROWS)).astype(int), lived)
    return {"entry": entry, "death": entry + lived, "time": time}, ~relapsed


@pytest.mark.parametrize("died", [0.6, 0.1])
def test_a_time_until_death_gives_both_days_back_of_those_who_died(died):
    before, is_dead = study(died=died)
    after = before | {name: in_steps(before[name], 1_000) for name in ("entry", "death")}
    (fact,) = kept_column_facts(before, after, ["entry", "death"], ["time"])
    assert ({fact.gives_back, *fact.others}, fact.column, fact.kind) == (
        {"entry", "death"},
        "time",
        "recovering column",
    )
    assert fact.told == pytest.approx(is_dead.mean(), abs=0.01)
    keys = list(zip(after["entry"], after["death"], before["time"], strict=True))
    alone = sum(keys.count(key) == 1 for key, dead in zip(keys, is_dead, strict=True) if dead)
    assert fact.k == 1
    assert fact.uniques == pytest.approx(alone, rel=0.15)  # a time that more of the others have is not counted


def test_two_kept_dates_give_a_length_back_for_some():
    draw = np.random.default_rng(2)
    begin, length = draw.integers(0, 3_000, ROWS), draw.integers(1, 400, ROWS)
    end = begin + np.where(draw.random(ROWS) < 0.3, length, draw.integers(1, 400, ROWS))
    before = {"length": length, "begin": begin, "end": end}
    facts = kept_column_facts(before, before | {"length": in_steps(length, 200)}, ["length"], ["begin", "end"])
    (fact,) = [one for one in facts if one.kind != "ordered column"]
    assert (fact.columns, fact.gives_back) == (("end", "begin"), "length")


def test_a_copy_in_part_of_the_rows_is_found_beside_many_zeros():
    draw = np.random.default_rng(3)
    income = draw.lognormal(9, 0.6, ROWS).round() * (draw.random(ROWS) < 0.6)
    wage = np.where(draw.random(ROWS) < 0.5, income, (income * draw.random(ROWS)).round())
    before = {"income": income, "wage": wage}
    after = before | {"income": np.where(income < 8_000, "[0;7999]", "[8000;999999]")}
    facts = [one for one in kept_column_facts(before, after, ["income"], ["wage"]) if not one.narrows]
    assert [(one.column, one.gives_back, one.undoes) for one in facts] == [("wage", "income", True)]


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_only_alike_are_no_formula(seed):
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, ROWS)
    kept = {
        "tenure": np.maximum(age - draw.integers(14, 40, ROWS), 0),
        "married": np.minimum(age, draw.integers(18, 40, ROWS)) - 0,
        "rounded": (age + draw.normal(0, 8, ROWS)).round(-1),
        "children": draw.poisson(2, ROWS),
        "born": 2000 - age + draw.integers(-3, 4, ROWS),
    }
    other = draw.integers(0, 60, ROWS)
    before = {"age": age, "other": other, **kept}
    after = before | {"age": in_steps(age, 36), "other": in_steps(other, 30)}
    facts = kept_column_facts(before, after, ["age", "other"], list(kept))
    assert [one.columns for one in facts if one.others and one.kind != "ordered column"] == []


def test_a_study_is_no_yes_until_the_time_is_left_out():
    table, _ = study()
    draw = np.random.default_rng(4)
    table |= {"nodes": draw.integers(0, 30, ROWS)}
    roles = {"quasi_identifiers": ["entry", "death"], "sensitive": ["nodes"]}
    asked = {"recipient": "public", "rows_are_people": True, "protection": False}
    safe = protect(table, k=20, **roles, other=["time"])
    found = assess(safe.table, **roles, other=["time"], original=table, **asked)
    assert found.verdict.decision == "exposed"
    without = {name: cells for name, cells in table.items() if name != "time"}
    safe = protect(without, k=20, **roles)
    assert assess(safe.table, **roles, original=without, **asked).verdict.decision == "within"


def test_a_column_that_few_people_have_hides_no_formula():
    before, _ = study()
    more = {"entry": np.random.default_rng(5).integers(0, 2_000, 30_000)}
    more["death"] = more["entry"] + np.random.default_rng(6).integers(30, 3_000, 30_000)
    before = {name: np.concatenate([before[name], more[name]]) for name in more} | {
        "time": np.concatenate([before["time"], np.full(30_000, np.nan)])
    }
    after = before | {name: in_steps(before[name], 1_000) for name in ("entry", "death")}
    facts = kept_column_facts(before, after, ["entry", "death"], ["time"])
    assert [one.undoes for one in facts if one.others and not one.narrows] == [True]


def test_one_huge_number_hides_no_formula():
    before, _ = study()
    before["time"] = before["time"].astype(float)
    before["time"][0] = 9e13
    after = before | {name: in_steps(before[name], 1_000) for name in ("entry", "death")}
    facts = kept_column_facts(before, after, ["entry", "death"], ["time"])
    assert [one.undoes for one in facts if one.others and not one.narrows] == [True]


def test_a_column_that_is_read_as_another_type_hides_no_formula():
    """The only fraction was left out, so the file is read as whole numbers."""
    before, _ = study()
    before["time"] = before["time"] + np.where(np.arange(ROWS) == 0, 0.5, 0.0)
    after = before | {name: in_steps(before[name], 1_000) for name in ("entry", "death")}
    after = {name: np.asarray(cells)[1:] for name, cells in after.items()}
    (one,) = kept_column_facts(before, after, ["entry", "death"], ["time"])
    after["time"] = after["time"].astype(int)
    (other,) = kept_column_facts(before, after, ["entry", "death"], ["time"])
    assert (other.k, other.uniques) == (one.k, one.uniques)
    assert one.undoes


def test_people_with_one_difference_of_kept_dates_are_told_apart_by_nothing_else():
    """The length of a stay is that between two kept dates; who knows the length does not know the dates."""
    draw = np.random.default_rng(7)
    length = np.repeat(np.arange(1, 61), 200)
    begin = draw.permutation(np.arange(length.size) % 3_000)
    error = np.where(draw.random(length.size) < 0.9, 0, draw.integers(0, 60, length.size))
    before = {"length": length, "begin": begin, "end": begin + length + error}
    after = before | {"length": in_steps(length, 30)}
    facts = kept_column_facts(before, after, ["length"], ["begin", "end"])
    (fact,) = [one for one in facts if one.others and not one.narrows]
    difference = before["end"] - begin
    is_expected = np.bincount(difference, error == 0) >= 0.5 * np.bincount(difference)
    pairs = np.column_stack([length // 30, difference])[is_expected[difference]]
    sizes = np.unique(pairs, axis=0, return_counts=True)[1]
    assert (fact.k, fact.uniques) == (sizes.min(), np.count_nonzero(sizes == 1))
    assert fact.k > 1  # one person has each pair of dates
