"""People with several records: their equal records count once, whatever is compared."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.measures import kept_column_facts


def in_ranges(numbers, step):
    return [f"[{one // step * step};{one // step * step + step - 1}]" for one in numbers]


def panel(people, records, **columns):
    """A table of several equal records a person."""
    draw = np.random.default_rng(people)
    who = np.repeat(np.arange(people), records)
    return {name: draw_cells(draw, people)[who] for name, draw_cells in columns.items()} | {"who": who}


@pytest.mark.parametrize("people", [210, 341, 362, 380])
def test_equal_records_of_one_person_predict_nobody_else(people):
    """Few people have one age or weight; all records with it are theirs, and agree."""
    before = panel(
        *(people, 13),
        age=lambda draw, size: draw.integers(18, 80, size),
        weight=lambda draw, size: draw.integers(40, 120, size),
        score=lambda draw, size: draw.integers(0, 60, size),
        eyes=lambda draw, size: draw.choice([*"abcd"], size),
        asked=lambda draw, size: np.where(draw.random(size) < 0.3, np.nan, 1.0),
    )
    after = before | {"age": in_ranges(before["age"], 20), "weight": in_ranges(before["weight"], 40)}
    facts = kept_column_facts(before, after, ["age", "weight"], ["score", "eyes", "asked"], "who")
    assert [one for one in facts if one.undoes] == []


def test_what_follows_for_different_people_is_found():
    before = panel(400, 8, age=lambda draw, size: draw.integers(18, 60, size))
    before["score"] = before["age"] * 7 % 13
    before["asked"] = np.where(before["age"] < 30, np.nan, 1.0)
    after = before | {"age": in_ranges(before["age"], 60)}
    facts = kept_column_facts(before, after, ["age"], ["score", "asked"], "who")
    assert {("missing cells", "asked"), ("computed column", "score")} <= {(one.kind, one.column) for one in facts}


def test_few_people_with_many_records_show_no_order():
    """Chance alone breaks an order in 65 records, of three people."""
    draw = np.random.default_rng(4)
    age, size = draw.permutation(np.arange(20, 82)), draw.permutation(np.arange(60, 122))
    size[age == 81] = 82
    low = np.flatnonzero(size < age)
    size[low] = age[low]  # none of 62 people breaks it
    who = np.repeat(np.arange(62), 20)
    before = {"age": age[who], "size": size[who], "who": who}
    after = before | {"age": ["[20;81]"] * who.size}
    ordered = [
        [one for one in kept_column_facts(before, after, ["age"], ["size"], person) if one.kind == "ordered column"]
        for person in ("who", None)
    ]
    assert [len(facts) for facts in ordered] == [0, 1]
