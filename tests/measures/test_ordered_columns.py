"""Kept columns that lie on one side of a coarsened quasi-identifier."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd import assess, protect
from incrowd.measures import kept_column_facts


def _table(draw, rows, *, broken=0):
    diagnosed = draw.integers(0, 3_000, rows)
    died = diagnosed + draw.exponential(400, rows).astype(int)
    died[:broken] = diagnosed[:broken] - 1
    return {"sex": draw.choice(["f", "m"], rows), "died": died, "diagnosed": diagnosed}


def _ranges(died, sex, size):
    """Ranges of the days of death, of `size` people of one sex each, that end at their members' days."""
    labels, fewest = np.empty(died.size, dtype=object), []
    for one in np.unique(sex):
        rows = np.flatnonzero(sex == one)[np.argsort(died[sex == one], kind="stable")]
        for part in np.array_split(rows, rows.size // size):
            labels[part] = f"[{died[part].min()};{died[part].max()}]"
            fewest.append(part)
    return labels, fewest


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(5))
def test_records_beyond_the_known_value_are_left_out(seed, sign):
    draw = np.random.default_rng(seed)
    before = _table(draw, 600)
    before["died"], before["diagnosed"] = sign * before["died"], sign * before["diagnosed"]
    labels, classes = _ranges(before["died"], before["sex"], 15)
    released = draw.permutation(600)
    after = {"sex": before["sex"][released], "died": labels[released], "diagnosed": before["diagnosed"][released]}
    (fact,) = kept_column_facts(before, after, ["sex", "died"], ["diagnosed"], coarse=["died"])
    candidates = {  # by brute force: of each person, the records of the class that are possible
        (number, int(one)): np.count_nonzero(sign * before["diagnosed"][part] <= sign * before["died"][one])
        for number, part in enumerate(classes)
        for one in part
    }
    assert (fact.column, fact.gives_back, fact.ordered) == ("diagnosed", "died", True)
    assert fact.k == min(candidates.values()) < fact.k_without == min(part.size for part in classes)
    assert fact.uniques == len({number for (number, _), left in candidates.items() if left == 1})


def test_one_wrong_entry_in_a_thousand_does_not_hide_the_order():
    before = _table(np.random.default_rng(1), 3_000, broken=3)
    labels, _ = _ranges(before["died"], before["sex"], 15)
    after = before | {"died": labels}
    (fact,) = kept_column_facts(before, after, ["sex", "died"], ["diagnosed"], coarse=["died"])
    assert fact.ordered


def test_an_order_that_is_only_likely_is_none():
    before = _table(np.random.default_rng(1), 3_000, broken=60)
    labels, _ = _ranges(before["died"], before["sex"], 15)
    assert not kept_column_facts(before, before | {"died": labels}, ["sex", "died"], ["diagnosed"], coarse=["died"])


def test_a_number_that_is_always_smaller_leaves_nobody_out():
    draw = np.random.default_rng(2)
    age = draw.integers(20, 80, 2_000)
    before = {"age": age, "children": draw.integers(0, 6, 2_000)}
    after = before | {"age": [f"[{one // 10 * 10};{one // 10 * 10 + 9}]" for one in age]}
    assert not kept_column_facts(before, after, ["age"], ["children"], coarse=["age"])


def test_only_values_that_a_class_holds_count():
    """The decade begins before the earliest death of the class: nobody of it died in 1980."""
    died = np.repeat(np.arange(1984, 1990), 40)
    before = {"died": died, "diagnosed": np.tile([1980, 1982, 1984, 1981], 60) + (died - 1984)}
    after = before | {"died": ["[1980;1989]"] * died.size}
    (fact,) = kept_column_facts(before, after, ["died"], ["diagnosed"], coarse=["died"])
    assert fact.k == np.count_nonzero(before["diagnosed"] <= 1984) < died.size


def test_people_with_several_records_are_counted_as_people():
    one = _table(np.random.default_rng(4), 600)
    labels, classes = _ranges(one["died"], one["sex"], 15)
    before = {name: np.repeat(cells, 2) for name, cells in one.items()} | {"who": np.repeat(np.arange(600), 2)}
    before["diagnosed"][1::2] -= np.random.default_rng(5).integers(1, 500, 600)  # a person's first diagnosis
    after = before | {"died": np.repeat(labels, 2)}
    (fact,) = kept_column_facts(before, after, ["sex", "died"], ["diagnosed"], "who", coarse=["died"])
    fewest = min(np.count_nonzero(one["diagnosed"][part] <= one["died"][part].min()) for part in classes)
    assert fact.k == fewest < fact.k_without


def test_a_release_in_which_an_order_finds_people_is_no_yes_and_the_advice_leads_to_one():
    draw = np.random.default_rng(1)
    table = _table(draw, 600) | {"via": draw.choice(list("abcd"), 600)}
    roles = {"quasi_identifiers": ["sex", "died"], "sensitive": ["via"], "other": ["diagnosed"]}
    safe = protect(table, quasi_identifiers=["sex", "died"], k=11, sensitive=["via"], other=["diagnosed"])
    assert any("diagnosed is kept and lies on one side of died" in one for one in safe.notes)
    asked = {"recipient": "public", "rows_are_people": True}
    found = assess(safe.table, **roles, original=table, protection=False, **asked)
    assert found.verdict.decision == "exposed"
    assert [one.ordered for one in found.verdict.given_back] == [True]
    without = {name: cells for name, cells in table.items() if name != "diagnosed"}
    safe = protect(without, quasi_identifiers=["sex", "died"], k=11, sensitive=["via"])
    del roles["other"]
    assert assess(safe.table, **roles, original=without, protection=False, **asked).verdict.decision == "within"


def test_dates_and_numbers_are_not_compared():
    days = np.datetime64("2000-01-01") + np.arange(400) * 3
    before = {"day": days, "number": np.arange(400)}
    labels = np.repeat([f"[{days[i]};{days[i + 19]}]" for i in range(0, 400, 20)], 20)
    facts = kept_column_facts(before, before | {"day": labels}, ["day"], ["number"], coarse=["day"])
    assert not any(one.ordered for one in facts)


def test_numbers_that_hardly_ever_meet_have_no_order():
    """Cholesterol from 2 to 10 is mostly below an age, whoever has it; that only few are that young is no rule."""
    draw = np.random.default_rng(6)
    age = draw.integers(6, 90, 4_000)
    cholesterol = np.minimum(draw.integers(2, 11, 4_000), age)
    labels, _ = _ranges(age, np.full(4_000, "all"), 50)
    assert np.count_nonzero(cholesterol > draw.permutation(age)) > 40  # more than a few by chance
    facts = kept_column_facts(
        {"age": age, "chol": cholesterol}, {"age": labels, "chol": cholesterol}, ["age"], ["chol"]
    )
    assert not any(one.ordered for one in facts)
