"""What somebody declares to be unknown to others: counted, told beside a yes, and not believed of births and places."""

import numpy as np
import pytest

from incrowd import assess
from incrowd.assessment import Question, judge_release

pytestmark = pytest.mark.usefixtures("quick_estimates")

ROWS = 600


def crowd(**columns):
    draw = np.random.default_rng(0)
    return {"age": draw.integers(3, 6, ROWS) * 10, "sex": draw.choice(["f", "m"], ROWS), **columns}


def decide(table, **roles):
    return judge_release(table, Question(quasi_identifiers=["age", "sex"], rows_are_people=True, **roles))


def places(draw):
    return {"lat": (52 + draw.random(ROWS)).round(5), "lon": (13 + draw.random(ROWS)).round(5)}


def births(draw):
    return {"x": np.datetime64("1940-01-01") + draw.integers(0, 25_000, ROWS)}


@pytest.mark.parametrize("role", ["other", "sensitive"])
@pytest.mark.parametrize("made", [places, births])
def test_days_of_birth_and_exact_places_are_known_to_others_whatever_is_declared(made, role):
    columns = made(np.random.default_rng(1))
    found = decide(crowd(**columns), **{role: list(columns)})
    assert found.decision == "undecided"
    assert {one.column for one in found.undecided} == {*columns}
    told = [str(reason) for reason in found.internal_reasons]
    assert all(any(reason.startswith(f"{name} counts as known") for reason in told) for name in columns)
    assert decide(crowd(), drop=[]).decision == "within"


def test_places_that_many_share_are_believed_to_be_unknown():
    sites = np.random.default_rng(2).integers(0, 25, ROWS)
    assert decide(crowd(lat=50 + sites / 7, lon=sites / 7), other=["lat", "lon"]).decision == "within"


def test_a_yes_says_how_many_are_found_by_what_was_declared():
    draw = np.random.default_rng(3)
    table = crowd(hours=draw.integers(0, 3, ROWS), points=draw.permutation(np.repeat(np.arange(1, ROWS // 3 + 1), 3)))
    found = decide(table, other=["hours", "points"])
    assert found.decision == "within"
    rows = list(zip(*table.values(), strict=True))
    alone = sum(rows.count(row) == 1 for row in rows)
    assert found.found_if_declared == alone > 0
    assert f"(an attacker who knows them finds {alone} people alone)" in found.recommendation
    assert "This yes rests on your word that nobody outside knows hours, points: " in str(found.internal_reasons[0])
    assert "by points alone" in str(found.internal_reasons[0])


def test_nothing_is_said_where_declared_columns_add_nothing():
    draw = np.random.default_rng(4)
    table = crowd(x=draw.integers(0, 3, ROWS))
    found = decide(table, other=["x"])
    assert (found.decision, found.found_if_declared, found.internal_reasons) == ("within", 0, ())
    full = assess(table, quasi_identifiers=["age", "sex"], other=["x"], rows_are_people=True, protection=False)
    assert full.verdict.recommendation == found.recommendation


@pytest.mark.parametrize("role", ["other", "sensitive"])
@pytest.mark.parametrize("name", ["zip", "birth_year", "hire_date"])
def test_columns_that_others_usually_know_are_told_with_a_yes_in_any_role(name, role):
    draw = np.random.default_rng(5)
    cells = {
        "zip": draw.integers(10_000, 10_040, ROWS),
        "birth_year": draw.integers(1950, 2000, ROWS),
        "hire_date": np.datetime64("2010-01-01") + draw.integers(0, 4_000, ROWS),
    }[name]
    found = decide(crowd(**{name: cells}), tolerate=0.5, **{role: [name]})
    told = [str(reason) for reason in found.internal_reasons]
    assert found.decision == "within"
    assert any(
        reason.startswith(f"Declared by you to be unknown to others, who usually know such columns: {name}")
        for reason in told
    )


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_what_numbers_the_records_of_each_person_is_known_in_any_role(role):
    table = {name: np.repeat(cells, 4) for name, cells in crowd(p=np.arange(ROWS)).items()}
    table["x"] = np.tile([3, 5, 8, 13], ROWS)
    found = judge_release(table, Question(quasi_identifiers=["age", "sex"], person="p", tolerate=0.5, **{role: ["x"]}))
    assert any(str(reason).startswith("x counts as known") for reason in found.internal_reasons)


def test_a_yes_says_who_is_found_by_whoever_knows_what_was_called_secret():
    draw = np.random.default_rng(4)
    table = {
        "sex": draw.integers(0, 2, 400),
        "born": draw.integers(1950, 2000, 400),
        "pay": draw.integers(0, 10**5, 400),
    }
    found = assess(table, quasi_identifiers=["sex"], sensitive=["born", "pay"], rows_are_people=True).verdict
    assert found.decision == "within"
    (told,) = (str(one) for one in found.internal_reasons if "secret" in str(one))
    rows = list(zip(*(column.tolist() for column in table.values()), strict=True))
    alone = sum(rows.count(row) == 1 for row in rows)
    yes = f"This yes holds while born, pay stay secret: an attacker who knows them too finds {alone} people alone"
    assert told.startswith(yes)


def test_a_yes_says_where_only_missing_values_hide_a_secret():
    ill = ["flu"] * 4 + [None] * 8 + ["flu", "cold", "none"] * 16
    table = {"area": [f"area {place // 12}" for place in range(60)], "ill": ill}
    found = judge_release(table, Question(quasi_identifiers=["area"], sensitive=["ill"], rows_are_people=True))
    assert found.decision == "within"
    assert [str(one) for one in found.conditions if "missing values" in str(one)] == [
        "Nothing but missing values hides ill in 1 class (4 records): all people there who have a value have the same "
        "one, so an attacker who knows that somebody has a value knows which."
    ]
    full = {**table, "ill": ["flu", "cold", "none"] * 20}
    found = judge_release(full, Question(quasi_identifiers=["area"], sensitive=["ill"], rows_are_people=True))
    assert found.decision == "within"
    assert not any("missing values" in str(one) for one in found.conditions)
