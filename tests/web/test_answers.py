"""What the pages tell: one answer to one question, and no green mark over what undoes it."""

from itertools import pairwise

import numpy as np
import pytest

TABLES = "/api/v1/tables"
DRAW = np.random.default_rng(3)
AGES = DRAW.integers(20, 60, 1_200)
ROWS = "age,sex,age_again,city,income\n" + "".join(
    f"{age},{'fm'[DRAW.integers(2)]},{1_000 + age},{'AB'[DRAW.integers(2)]},{DRAW.integers(9)}\n" for age in AGES
)
ROLES = {
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "age_again": "other",
    "city": "other",
    "income": "sensitive",
}


@pytest.fixture
def table(script):
    found = script.post(TABLES, files={"file": ("people.csv", ROWS.encode())}).json()["id"]
    assert script.put(f"{TABLES}/{found}/settings", json={"roles": ROLES, "population": 50_000}).status_code == 200
    return found


@pytest.fixture
def found_by(script, wait_for):
    """The result of a question and its part of a page."""

    def ask(path, question):
        job = wait_for(script, script.post(path, json=question).json())
        assert job["state"] == "done", job
        page = script.get(f"/jobs/{job['id']}/view")
        assert page.status_code == 200, page.text
        return script.get(f"/api/v1/jobs/{job['id']}/result").json(), page.text

    return ask


def test_forecast_and_assessment_of_a_table_have_one_answer(table, found_by):
    assessed, _ = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    answer, page = found_by(f"{TABLES}/{table}/forecasts", {"at": ["city", "us", "eu", "world", 50_000, 100]})
    risk, forecast = assessed["forecast"], answer["forecast"]
    for place, size in enumerate(forecast["at"][:-1]):
        there = risk["at"].index(size)
        for side in ("value", "low", "high"):
            assert forecast["correctness"][side][place] == risk["correctness"][side][there]
    assert forecast["correctness"]["value"][4] == assessed["population"]["B"]
    assert forecast["correctness"]["low"][-1] == forecast["correctness"]["high"][-1]  # a part of the table: exact
    named = answer["curve"]["people_named"]
    assert all(one <= other * (1 + 1e-12) for one, other in pairwise(named))
    assert named[-1] <= 40 * 2 * (1 + 1e-12)
    assert "same estimate as on the Risk page" in page


def test_points_say_that_they_follow_the_law(found_by):
    points = [{"n": 10**power, "correctness": share} for power, share in ((2, 0.98), (3, 0.9), (4, 0.7))]
    answer, page = found_by("/api/v1/forecasts", {"points": points})
    assert answer["forecast"]["method"] == "law"
    assert "follow a law" in page


def test_no_green_mark_over_a_kept_column_that_undoes_it(table, found_by):
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 30}})
    assert result["undone"]
    assert "✓" not in page
    assert 'class="verdict exposed"' in page
    assert page.index("age_again is kept and gives age back") < page.index("Before and after") < page.index("Download")
    assert page.count("age_again is kept") == 1


def test_protection_is_measured_at_the_threshold_and_tells_of_the_secret(script, table, found_by):
    roles = {**ROLES, "age_again": "identifier", "city": "identifier"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 3}})
    assert result["after"]["correctness"] > result["threshold"] == 0.05
    assert "✓" not in page
    assert "the threshold for the public is 5" in page
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 60, "sensitive": "income", "l": 3}})
    (income,) = result["sensitive"]
    assert income["after"]["distinct"] >= 3
    assert income["after"]["given_away"] == 0 < income["before"]["t"]
    assert 'class="verdict within"' in page
    assert "income: certain" in page


def test_the_demo_as_it_comes_can_be_forecast(script, found_by):
    table = script.post(f"{TABLES}/demo", json={"rows": 3_000}).json()["id"]
    answer, _ = found_by(f"{TABLES}/{table}/forecasts", {})
    assert 0 < answer["forecast"]["correctness"]["value"][0] < 0.5


def test_a_role_chosen_by_hand_is_said_and_a_suggested_one_is_not(script, table, found_by):
    about = {one["name"]: one for one in script.get(f"{TABLES}/{table}").json()["columns"]}
    assert (about["city"]["suggested"], about["age"]["suggested"]) == ("quasi-identifier", "quasi-identifier")
    result, page = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    reasons = {one["column"]: one["reason"] for one in result["roles"]["columns"]}
    assert reasons["city"].startswith("as you said")
    assert reasons["age"] == about["age"]["reason"]
    assert "Not counted, though others may know them" not in page
