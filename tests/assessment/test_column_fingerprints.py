"""Saved roles hold for what the columns held when they were judged."""

from dataclasses import replace

import numpy as np
import pytest

from incrowd import read_table
from incrowd.assessment import Question, judge_release
from incrowd.assessment.column_fingerprints import content_of, with_contents
from incrowd.assessment.settings_file import from_toml, to_toml
from incrowd.errors import InputError
from incrowd.tables import suggest_roles

ROWS = 600
DRAW = np.random.default_rng(0)
CROWD = {"age": DRAW.integers(3, 6, ROWS) * 10, "sex": DRAW.choice(["f", "m"], ROWS)}
ANSWERS = DRAW.choice(["yes", "no", "perhaps"], ROWS)


def saved(answers, role="other"):
    """The question of somebody who judged a table, through a settings file."""
    question = Question(quasi_identifiers=["age", "sex"], rows_are_people=True, tolerate=0.5, **{role: ["zz"]})
    table = read_table({**CROWD, "zz": answers})
    return from_toml(to_toml(with_contents(question, suggest_roles(table))))


def decide(answers, question):
    return judge_release({**CROWD, "zz": answers}, question).decision


CHANGED = {
    "all different": [f"k{number:05}" for number in DRAW.permutation(ROWS)],
    "many texts": DRAW.choice([f"answer {number}" for number in range(150)], ROWS),
    "numbers": DRAW.integers(0, 3, ROWS),
    "sexes": np.array(["male", "female"])[np.append(DRAW.permutation(ROWS - 1) % 2, 1)],
}


@pytest.mark.parametrize("role", ["other", "sensitive"])
@pytest.mark.parametrize("change", CHANGED)
def test_a_saved_role_does_not_outlive_what_the_column_held(change, role):
    question = saved(ANSWERS, role)
    assert question.contents["zz"] == "text: few values"
    assert decide(ANSWERS, question) == "within"
    assert decide(DRAW.permutation(["yes", "no", "never"] * 200), question) == "within"  # values may differ
    assert decide(CHANGED[change], question) in ("undecided", "over", "exposed")
    if change != "all different":  # which names people, whatever anybody says
        assert decide(CHANGED[change], replace(question, contents={})) == "within"


def test_a_column_that_tells_less_than_it_did_keeps_its_role():
    assert decide(ANSWERS, saved(CHANGED["many texts"])) == "within"
    assert decide([None] * ROWS, saved(ANSWERS)) == "within"


def test_numbers_with_decimals_are_numbers():
    assert decide(CHANGED["numbers"] + 0.5, saved(CHANGED["numbers"])) == "within"


def test_contents_that_nobody_wrote_so_are_no_judgement():
    question = replace(saved(ANSWERS), contents={"zz": "whatever"})
    assert decide(ANSWERS, question) == "undecided"
    with pytest.raises(InputError, match="contents must be texts"):
        from_toml("[contents]\nzz = 3\n")


def test_what_a_column_holds_is_told_without_a_cell():
    (one,) = suggest_roles(read_table({"zz": CHANGED["all different"]}))
    assert content_of(one) == "text: names people or records: record number"
