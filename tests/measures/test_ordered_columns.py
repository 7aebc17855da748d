"""Kept columns that lie on one side of a coarsened quasi-identifier."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd import assess, protect
from incrowd.measures import kept_column_facts
from incrowd.protection import write_protected

pytestmark = pytest.mark.usefixtures("quick_estimates")


def _table(draw, rows, *, broken=0):
    diagnosed = draw.integers(0, 3_000, rows)
    died = diagnosed + draw.exponential(400, rows).astype(int)
    died[:broken] = diagnosed[:broken] - 1
    return {"sex": draw.choice(["f", "m"], rows), "died": died, "diagnosed": diagnosed}


def _ranges(died, sex, size):
    """Ranges of the days of death, of `size` people of one sex each, that end at their members' days."""
    labels, classes = np.empty(died.size, dtype=object), []
    for one in np.unique(sex):
        rows = np.flatnonzero(sex == one)[np.argsort(died[sex == one], kind="stable")]
        for part in np.array_split(rows, rows.size // size):
            labels[part] = f"[{died[part].min()};{died[part].max()}]"
            classes.append(part)
    return labels, classes


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
    assert (fact.column, fact.gives_back, fact.kind) == ("diagnosed", "died", "ordered column")
    assert fact.k == min(candidates.values()) < fact.k_without == min(part.size for part in classes)
    assert fact.uniques == len({number for (number, _), left in candidates.items() if left == 1})


def test_one_wrong_entry_in_a_thousand_does_not_hide_the_order():
    before = _table(np.random.default_rng(1), 3_000, broken=3)
    labels, _ = _ranges(before["died"], before["sex"], 15)
    after = before | {"died": labels}
    (fact,) = kept_column_facts(before, after, ["sex", "died"], ["diagnosed"], coarse=["died"])
    assert fact.kind == "ordered column"


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
    assert [one.kind for one in found.verdict.given_back] == ["ordered column"]
    without = {name: cells for name, cells in table.items() if name != "diagnosed"}
    safe = protect(without, quasi_identifiers=["sex", "died"], k=11, sensitive=["via"])
    del roles["other"]
    assert assess(safe.table, **roles, original=without, protection=False, **asked).verdict.decision == "within"


def test_dates_and_numbers_are_not_compared():
    days = np.datetime64("2000-01-01") + np.arange(400) * 3
    before = {"day": days, "number": np.arange(400)}
    labels = np.repeat([f"[{days[i]};{days[i + 19]}]" for i in range(0, 400, 20)], 20)
    facts = kept_column_facts(before, before | {"day": labels}, ["day"], ["number"], coarse=["day"])
    assert not any(one.kind == "ordered column" for one in facts)


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
    assert not any(one.kind == "ordered column" for one in facts)


def test_wrong_entries_in_every_class_hide_nothing():
    """The wrong day of death is the first of its class, and no record fits it, not even its own."""
    draw = np.random.default_rng(7)
    died, class_ = draw.integers(0, 1_000, 8_000), np.repeat(np.arange(4), 2_000)
    died += 1_000 * class_
    before = {"died": died, "diagnosed": died - draw.integers(0, 3_000, 8_000)}
    after = before | {"died": [f"[{1_000 * one};{1_000 * one + 999}]" for one in class_]}
    (clean,) = kept_column_facts(before, after, ["died"], ["diagnosed"], coarse=["died"])
    wrong = np.arange(0, 8_000, 2_000)
    before["died"] = died.copy()
    before["died"][wrong] = 1_000 * np.arange(4)
    before["diagnosed"][wrong] = after["diagnosed"][wrong] = before["died"][wrong] + 500
    (fact,) = kept_column_facts(before, after, ["died"], ["diagnosed"], coarse=["died"])
    assert fact.kind == "ordered column"
    assert abs(fact.k - clean.k) <= 2


@pytest.mark.parametrize("columns", [2, 8])
def test_many_coarse_columns_of_many_values_hide_nothing(columns):
    """The members of a class are too many to look up, or have too many combinations for a whole number."""
    draw = np.random.default_rng(8)
    rows = 4_000
    died = draw.permutation(rows)
    others = {f"other{number}": draw.permutation(rows) for number in range(columns)}
    before = {"died": died, **others, "diagnosed": died - draw.integers(0, 6_000, rows)}
    after = before | dict.fromkeys(others, ["[0;3999]"] * rows)
    after["died"] = np.where(died < 2_000, "[0;1999]", "[2000;3999]")
    known = ["died", *others]
    facts = kept_column_facts(before, after, known, ["diagnosed"], coarse=known)
    (fact,) = [one for one in facts if one.kind == "ordered column"]
    halves = died < 2_000, died >= 2_000
    fewest = min(np.count_nonzero(before["diagnosed"][half] <= died[half].min()) for half in halves)
    assert 1 <= fact.k <= fewest < fact.k_without


def test_a_time_on_the_last_day_is_not_after_it():
    draw = np.random.default_rng(9)
    days = draw.integers(0, 3_000, 600)
    died = np.datetime64("2000-01-01") + days
    before_death = np.where(draw.random(600) < 0.05, 0, draw.exponential(400, 600).astype(int))
    seen = (died - before_death).astype("datetime64[s]")
    labels, _ = _ranges(died, np.full(600, "all"), 20)
    found = []
    for diagnosed in (seen.astype("datetime64[D]"), seen + np.timedelta64(10, "h")):
        before = {"died": died, "diagnosed": diagnosed}
        found += kept_column_facts(before, before | {"died": labels}, ["died"], ["diagnosed"], coarse=["died"])
    assert [one.kind for one in found] == ["ordered column"] * 2
    assert found[0].k == found[1].k < 20


def test_a_set_with_a_missing_member_hides_no_order():
    draw = np.random.default_rng(10)
    born = np.sort(draw.integers(0, 300, 600)) * 10.0
    before = {"born": born.copy(), "seen": born + draw.integers(0, 900, 600)}
    before["born"][::20] = np.nan
    labels = np.empty(600, dtype=object)
    for part in np.array_split(np.arange(600), 30):
        labels[part] = "{," + ",".join(f"{one:g}" for one in np.unique(born[part])) + "}"
    facts = kept_column_facts(before, before | {"born": labels}, ["born"], ["seen"], coarse=["born"])
    assert [one.kind for one in facts] == ["ordered column"]


def test_an_order_decides_where_too_few_people_are_left():
    draw = np.random.default_rng(11)
    age = draw.integers(20, 70, 3_000)
    table = {"age": age, "years": draw.integers(0, age + 1), "via": draw.choice(list("abcd"), 3_000)}
    roles = {"quasi_identifiers": ["age"], "sensitive": ["via"], "other": ["years"]}
    release = table | {"age": [f"[{one // 10 * 10};{one // 10 * 10 + 9}]" for one in age]}
    (fact,) = kept_column_facts(table, release, ["age"], ["years"], coarse=["age"])
    asked = {"original": table, "rows_are_people": True, "protection": False}
    for limit in ({"recipient": "public"}, {"highest": 1 / fact.k}):
        found = assess(release, **roles, **limit, **asked).verdict
        assert (found.decision, found.given_back) == ("within", ())
        assert any("years is kept and lies on one side of age" in one.sentence for one in found.internal_reasons)
    found = assess(release, **roles, highest=1 / (fact.k + 1), **asked).verdict
    assert (found.decision, found.given_back) == ("exposed", (fact,))


def test_a_secret_that_nearly_follows_is_looked_at_for_orders_too():
    draw = np.random.default_rng(12)
    died = draw.integers(0, 10, 6_000)
    usual = np.array([0, 1, 0, 2, 3, 1, 3, 0, 2, 1])[died]
    before = {"died": died, "stage": np.where(draw.random(6_000) < 0.97, usual, draw.integers(0, died + 1) % 4)}
    after = before | {"died": np.where(died < 5, "[0;4]", "[5;9]")}
    facts = kept_column_facts(before, after, ["died"], ["stage"], coarse=["died"], secrets=["stage"])
    assert [one.kind == "ordered column" for one in facts] == [True, False]
    assert [one.is_reported_only(["stage"], 6_000) for one in facts] == [False, True]


def test_an_order_that_was_counted_by_other_columns_needs_the_original(tmp_path):
    draw = np.random.default_rng(13)
    table = _table(draw, 3_000) | {"via": draw.choice(list("abcd"), 3_000)}
    roles = {"sensitive": ["via"], "other": ["diagnosed"]}
    safe = protect(table, quasi_identifiers=["died"], k=40, **roles, identifiers=[])
    file = write_protected(safe, tmp_path / "safe.parquet")
    again = {"quasi_identifiers": ["died", "sex"], "recipient": "trusted", "rows_are_people": True, "protection": False}
    found = assess(file, **again, **roles).verdict
    assert found.decision == "undecided"
    assert all(one.uniques < 10 for one in found.given_back)  # the order alone finds hardly anybody
    assert assess(file, **again, **roles, original=table).verdict.decision != "undecided"


def test_codes_have_no_order():
    """Sets of codes have gaps: those of one class are neighbours on no scale."""
    draw = np.random.default_rng(14)
    town = draw.permutation(np.repeat(np.arange(20), 60))
    illness = np.minimum(town, draw.integers(0, 9, 1_200))
    before = {"town": town, "illness": illness}
    labels = np.array([f"{{{one % 10},{one % 10 + 10}}}" for one in town])
    for released, is_ordered in ((labels, False), (np.where(town < 10, "[0;9]", "[10;19]"), True)):
        facts = kept_column_facts(before, before | {"town": released}, ["town"], ["illness"], coarse=["town"])
        assert any(one.kind == "ordered column" for one in facts) == is_ordered
