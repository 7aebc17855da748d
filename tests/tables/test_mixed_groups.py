"""Columns that look like numbers of people and group several."""

import numpy as np
import pytest

from incrowd import assess, read_table
from incrowd.assessment import Question, find_release, propose_roles
from incrowd.tables import describe_rows, suggest_roles
from incrowd.tables.roles.mixed_groups import find_mixed_groups


def families(number=120, name="pid"):
    """Father, mother and child of each family, as in a study of genes."""
    child = np.random.default_rng(0).integers(1, 3, number)
    return {
        name: [f"PED{n // 3:03d}" for n in range(3 * number)],
        "sex": [int(sex) for one in child for sex in (1, 2, one)],
        "ill": [n % 2 for n in range(3 * number)],
    }


def role_of(table, name):
    return next(one for one in suggest_roles(read_table(table)) if one.column == name)


def test_a_number_of_families_is_not_suggested_as_the_person():
    table = families()
    suggested = role_of(table, "pid")
    assert (suggested.role, suggested.confidence) == ("person", "low")
    assert propose_roles(table).person is None
    assert "sex differs within most of the 120 values" in suggested.reason
    rows = describe_rows(read_table(table))
    assert (rows.kind, rows.person, rows.household) == ("households", None, "pid")


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.3])
def test_a_person_whose_sex_is_sometimes_wrong_stays_a_person(wrong):
    draw = np.random.default_rng(1)
    sex = np.repeat(draw.integers(1, 3, 200), 3)
    flipped = np.repeat(draw.random(200) < wrong, 3) & (np.arange(600) % 3 == 0)
    table = {
        "pid": np.repeat(draw.permutation(200), 3),
        "sex": np.where(flipped, 3 - sex, sex),
        "year": [1, 2, 3] * 200,
    }
    assert role_of(table, "pid").role == "person"


def test_missing_cells_and_few_groups_show_nothing():
    missing = {"pid": [n // 2 for n in range(80)], "sex": ["f", None] * 20 + ["m", None] * 20}
    for table in (missing, {"pid": [n // 2 for n in range(30)], "sex": ["f", "m"] * 15}):
        read = read_table(table)
        assert find_mixed_groups(read, "pid", suggest_roles(read)) is None


def test_households_are_counted_on_purpose_where_the_name_says_so():
    read = read_table(families(name="household_id"))
    assert find_mixed_groups(read, "household_id", suggest_roles(read)) is None


@pytest.mark.parametrize("name", ["pid", "x"])
def test_there_is_no_yes_for_such_a_person_before_somebody_says_that_rows_are_people(name):
    asked = {"quasi_identifiers": ("sex",), "sensitive": ("ill",), "person": name, "protection": False}
    verdict = assess(families(name=name), **asked).verdict
    assert verdict.decision == "undecided"
    assert "sex differs within most of the 120 values" in verdict.row_question.sentence
    assert verdict.row_question.hint == ("rows_are_people", "person")
    confirmed = assess(families(name=name), **asked, rows_are_people=True).verdict
    assert confirmed.decision == "within"


def test_a_release_by_such_a_person_is_no_yes_either():
    question = Question(quasi_identifiers=("sex",), sensitive=("ill",), person="pid")
    found = find_release(families(), question, quasi_identifiers=["sex"], sensitive=["ill"], person="pid")
    assert not found.passes
