"""A column may be known to others and sensitive: people are found by it, and it is learned by what else is known."""

import numpy as np
import pytest

from incrowd import assess, protect
from incrowd.assessment import Question, judge_protected, judge_release
from incrowd.assessment.solver import find_release

ROWS = 600
DRAW = np.random.default_rng(4)
AGE = DRAW.integers(3, 7, ROWS) * 10
SEX = DRAW.choice(["f", "m"], ROWS)
EVENLY = DRAW.choice(["low", "middle", "high"], ROWS)
BY_AGE = np.array(["low", "middle", "high", "none"])[AGE // 10 - 3]
ROLES = {"quasi_identifiers": ["age", "sex", "grade"], "rows_are_people": True}


def judged(grade, **roles):
    return judge_release({"age": AGE, "sex": SEX, "grade": grade}, Question(**{**ROLES, **roles}))


def test_it_makes_classes_and_is_a_secret_to_those_who_know_the_rest():
    assert judged(BY_AGE).decision == "within"  # where nobody is harmed by it
    both = judged(BY_AGE, sensitive=["grade"])
    assert (both.decision, both.disclosed) == ("exposed", ("grade",))
    assert "grade is certain" in both.exposures[0]
    assert judged(EVENLY, sensitive=["grade"]).decision == "within"
    alone = judged(EVENLY, quasi_identifiers=["grade"], sensitive=["grade"], other=["age", "sex"])
    assert alone.decision == "within"


def test_its_roles_are_told_and_it_counts_once():
    table = {"age": AGE, "sex": SEX, "grade": EVENLY}
    found = assess(table, **ROLES, sensitive=["grade"], protection=False)
    assert (found.roles.role("grade"), found.facts.quasi_identifiers) == ("both", ("age", "sex", "grade"))
    assert [one.column for one in found.facts.sensitive] == ["grade"]
    again = found.provenance.question
    assert (again.quasi_identifiers, again.sensitive) == (("age", "sex", "grade"), ("grade",))


def test_the_advice_leaves_it_out_where_classes_cannot_hide_it(tmp_path):
    table = {"age": AGE, "sex": SEX, "grade": BY_AGE}
    found = assess(table, **ROLES, sensitive=["grade"])
    way = found.verdict.actions[-1]
    assert way.expected["decision"] == "within"
    assert "grade left out" in way.sentence
    asked = {"quasi_identifiers": ["age", "sex", "grade"], "sensitive": ["grade"]}
    solution = find_release(table, Question(**asked, rows_are_people=True), **asked, identifiers=[])
    assert (solution.passes, solution.protected.removed) == (True, ("grade",))


@pytest.mark.parametrize("grade", ["age", "sex"])
def test_a_release_is_judged_with_labels_as_values(grade):
    table = {"age": AGE, "sex": SEX}
    safe = protect(table, quasi_identifiers=["age", "sex"], sensitive=[grade], k=11, identifiers=[])
    question = Question(quasi_identifiers=["age", "sex"], sensitive=[grade], rows_are_people=True)
    assert judge_protected(safe, question).decision == "within"
