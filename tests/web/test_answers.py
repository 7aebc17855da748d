"""What the pages tell: one answer to one question, and no green mark over what undoes it."""

import html
import re
from itertools import pairwise

import numpy as np
import pytest

from incrowd.protection import PROTECTION_METHODS
from incrowd.wording import percent

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
        assert job["state"] == "done", job["message"]
        page = script.get(f"/jobs/{job['id']}/view")
        assert page.status_code == 200, page.text
        return script.get(f"/api/v1/jobs/{job['id']}/result").json(), page.text

    return ask


def _row(page, name):
    """The cells of a row of the table before and after."""
    (row,) = re.findall(rf"<tr><th scope=\"row\">{re.escape(name)}.*?</tr>", page)
    return re.findall(r"<td[^>]*>(.*?)</td>", row)


def test_risk_forecast_and_protection_of_a_table_have_one_answer(table, found_by):
    assessed, _ = found_by(f"{TABLES}/{table}/assessments", {})
    made, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 3}})
    assert made["after"]["correctness"] > made["risk"]
    assert made["threshold"] == made["limits"]["highest"] == 1 / 11
    assert made["verdict"]["basis"] == "population"
    assert "average risk among 50,000 people" in page
    assert made["verdict"]["sentence"] in html.unescape(page)
    (cost,) = (one for one in assessed["protection"]["costs"] if one["k"] == 3)
    assert made["risk"] == cost["population_risk"]
    assert made["population"] == {"people": 50_000, "before": assessed["verdict"]["risk"], "after": made["risk"]}
    verdicts = assessed["verdict"], made["verdict"]
    assert _row(page, "average risk among 50,000 people") == [percent(one["risk"]) for one in verdicts]
    assert _row(page, "person at highest risk in the population") == [percent(one["highest"]) for one in verdicts]
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
    assert "same estimate as under Risk" in page
    assert answer["population"] == 50_000
    assert "(counted)" in answer["sentences"][-1]
    assert "<td>counted</td>" in page


def test_strata_and_clusters_reach_the_estimate_and_a_release_without_them_is_judged_alone(script, found_by):
    places = DRAW.integers(40, size=300)
    rows = "age,shoe,household,region,survey_weight\n" + "".join(
        f"{20 + place + DRAW.integers(30)},{DRAW.integers(12)},{place},{'ns'[place % 2]},{10 + 30 * (place % 2)}\n"
        for place in places
    )
    table = script.post(TABLES, files={"file": ("survey.csv", rows.encode())}).json()["id"]
    settings = f"{TABLES}/{table}/settings"
    roles = {"age": "quasi-identifier", "shoe": "quasi-identifier", "household": "identifier", "region": "other"}
    script.put(settings, json={"roles": roles | {"survey_weight": "weight"}, "rows_are_people": True})
    plain, _ = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    assert script.patch(settings, json={"strata": "nowhere"}).status_code == 400
    drawn = {"strata": "region", "cluster": "household"}
    assert script.patch(settings, json=drawn).json()["settings"].items() >= drawn.items()
    found, page = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    assert "--stratum region --cluster household" in html.unescape(page)
    assert found["population"]["B"] != plain["population"]["B"]
    forecast, _ = found_by(f"{TABLES}/{table}/forecasts", {"at": [found["population"]["population"]]})
    assert forecast["forecast"]["correctness"]["value"] == [found["population"]["B"]]
    made, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 12}})
    job = script.get(f"{TABLES}/{table}/candidates").json()[0]["id"]
    report, _ = found_by(f"/api/v1/jobs/{job}/reports", None)
    assert "household" in made["removed"]
    assert report["verdict"]["basis"] == made["verdict"]["basis"] == "table"
    assert report["verdict"]["decision"] == made["verdict"]["decision"]


def test_points_say_that_they_follow_the_law(found_by):
    points = [{"n": 10**power, "correctness": share} for power, share in ((2, 0.98), (3, 0.9), (4, 0.7))]
    answer, page = found_by("/api/v1/forecasts", {"points": points})
    assert answer["forecast"]["method"] == "law"
    assert "follow a law" in page


def test_a_search_says_which_columns_it_left_out_and_why(script, table, found_by):
    script.patch(f"{TABLES}/{table}/settings", json={"roles": {"city": "drop"}, "population": None})
    result, page = found_by(f"{TABLES}/{table}/solutions", {"seconds": 60})
    assert sorted(result["removed"]) == ["age_again", "city"]
    assert "Left out: <b>city</b>." in page
    assert "Left out by the search: <b>age_again</b>. It gives back what is made coarser" in page


def test_no_green_mark_over_a_kept_column_that_undoes_it(table, found_by):
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 30}})
    assert result["verdict"]["blamed"] == ["age_again"]
    assert "✓" not in page
    assert 'class="verdict no"' in page
    (reason,) = result["verdict"]["exposures"]
    assert "age_again" in reason
    assert page.index(reason) < page.index("Download") < page.index("Before and after")


def test_protection_is_judged_by_the_limits_and_tells_of_the_secret(script, table, found_by):
    roles = {**ROLES, "age_again": "identifier", "city": "identifier"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 3}})
    assert result["after"]["correctness"] < result["threshold"] == 1 / 11  # a low average is not enough
    assert result["after"]["k"] < result["limits"]["class_size"] == 11
    assert "✓" not in page
    assert result["verdict"]["decision"] == "exposed"
    assert "above the 1/11 accepted for the public" in page
    assert "accepted for the public: highest risk" in page
    assert "accepted for the public: average risk" not in page  # there is no such limit
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 60, "sensitive": "income", "l": 3}})
    (income,) = result["sensitive"]
    assert income["after"]["distinct"] >= 3
    assert income["after"]["given_away"] == 0 < income["before"]["t"]
    assert result["verdict"]["decision"] == "within"
    assert 'class="verdict if"' in page
    secrets = page.partition("one value in the whole class")[2]
    row = secrets.partition("</table>")[0].partition(">income</th>")[2].partition("</tr>")[0]
    was, now = income["before"], income["after"]
    assert re.findall(r"<td[^>]*>(.*?)</td>", row)[:2] == [
        f"{percent(was['given_away'])} → 0%",
        f"{was['distinct']} → {now['distinct']}",
    ]


def test_a_column_that_is_passed_on_and_tells_people_apart_is_told_of_until_it_is_left_out(script, found_by):
    rows = "age,note,ticket\n" + "".join(f"{20 + n % 4},{'xy'[n % 2]},{n * 7919}\n" for n in range(60))
    table = script.post(TABLES, files={"file": ("people.csv", rows.encode())}).json()["id"]
    roles = {"age": "quasi-identifier", "note": "other"}  # nobody says anything about ticket
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
    ticket = next(one for one in script.get(f"{TABLES}/{table}").json()["columns"] if one["name"] == "ticket")
    if ticket["suggested"] == "identifier":  # then it is removed: keep it, still without a decision
        script.patch(f"{TABLES}/{table}/settings", json={"roles": {"ticket": "other"}, "decided": []})
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 5}})
    assert {one["column"]: one["nearly_unique"] for one in result["unchanged"]} == {"note": False, "ticket": True}
    assert "60 different values in 60 rows" in page
    assert "✓" not in page
    script.patch(f"{TABLES}/{table}/settings", json={"roles": {"ticket": "identifier"}})
    result, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 5}})
    assert [one["column"] for one in result["unchanged"]] == ["note"]
    assert 'class="verdict yes"' in page
    assert "nobody outside knows note, as you said" in page  # the yes rests on what was declared
    assert 'class="drop"' not in page


def test_an_outdated_protection_says_so_and_is_not_handed_out(script, table, wait_for):
    job = wait_for(script, script.post(f"{TABLES}/{table}/protections", json={"protection": {"k": 3}}).json())
    view = f"/jobs/{job['id']}/view"
    assert ("Protect again" in script.get(view).text, "download href" in script.get(view).text) == (False, True)
    script.patch(f"{TABLES}/{table}/settings", json={"roles": {"city": "quasi-identifier"}})
    assert ("Protect again" in script.get(view).text, "download href" in script.get(view).text) == (True, False)
    assert 'class="apply" disabled' in script.get(view).text
    assert "Protected by earlier settings" in script.get(view).text


def test_form_and_result_do_not_disagree_after_undo(script, table, wait_for):
    settings = f"{TABLES}/{table}/settings"
    script.patch(settings, json={"protection": {"k": 3}})
    script.patch(settings, json={"protection": {"k": 4}})
    job = wait_for(script, script.post(f"{TABLES}/{table}/protections").json())
    view = f"/jobs/{job['id']}/view"
    assert "download href" in script.get(view).text
    assert script.post(f"{settings}/undo").json()["settings"]["protection"]["k"] == 3
    assert script.get(f"/api/v1/jobs/{job['id']}").json()["stale"]
    page = script.get(view).text  # it is handed out, and says that the form asks for something else
    assert ("Made by other settings than those in the form" in page, "download href" in page) == (True, True)
    script.patch(settings, json={"recipient": "strict"})
    page = script.get(view).text
    assert ("Protected by earlier settings" in page, "download href" in page) == (True, False)
    script.post(f"{settings}/undo")
    script.post(f"{settings}/redo")
    script.post(f"{settings}/undo")
    script.patch(settings, json={"protection": {"k": 4}})
    assert (script.get(f"/api/v1/jobs/{job['id']}").json()["stale"], "download href" in script.get(view).text) == (
        False,
        True,
    )


@pytest.mark.parametrize(("recipient", "size"), [("trusted", 3), ("public", 11), ("strict", 20)])
def test_a_leak_is_judged_by_the_limit_of_the_recipient(script, table, found_by, recipient, size):
    script.patch(f"{TABLES}/{table}/settings", json={"recipient": recipient})
    result, page = found_by(f"{TABLES}/{table}/leaks", {"share": 1.0})
    assert result["accepted"]["at_most"] == pytest.approx(1 / size)
    assert result["accepted"]["kept"] == (result["risks"][0]["highest"] <= 1 / size)
    assert f"accepted for {result['accepted']['for']}" in page
    form = script.get(f"/tables/{table}/who").text
    assert f"selected>1/{size}," in form
    script.patch(f"{TABLES}/{table}/settings", json={"highest": 0.5})
    assert "selected>1/2," in script.get(f"/tables/{table}/who").text


def test_tooltips_show_a_few_digits(script, table, wait_for):
    for kind in ("leaks", "assessments", "protections"):
        job = wait_for(script, script.post(f"{TABLES}/{table}/{kind}").json())
        for figure in script.get(f"/api/v1/jobs/{job['id']}/figures").json().values():
            for one in _tooltips(figure["spec"]):
                assert one.get("type") != "quantitative" or "format" in one or one["field"] in WHOLE, (kind, one)


WHOLE = {"known", "classes", "k"}  # counts of a few digits


def _tooltips(part):
    """All entries of tooltips in a specification."""
    if isinstance(part, list):
        for one in part:
            yield from _tooltips(one)
    elif isinstance(part, dict):
        for name, value in part.items():
            yield from value if name == "tooltip" and isinstance(value, list) else _tooltips(value)


def test_only_what_is_safe_enough_is_starred():
    from incrowd.evaluation.method_frontier import Frontier, FrontierPoint, worth_choosing

    def point(uniqueness, correctness, granularity):
        return FrontierPoint("sorted", "k=2", 2, uniqueness, correctness, None, None, None, granularity, 0, 0.0)

    alone, risky, safe, _ = points = (
        point(0.1, 0.04, 0.9),
        point(0.0, 0.3, 0.8),
        point(0.0, 0.05, 0.5),
        point(0.0, 0.05, 0.4),
    )
    found = Frontier(100, points)
    assert {alone, risky, safe} == set(found.best)
    assert worth_choosing(found, ["exposed", "over", "within", "within"]) == [safe]
    assert worth_choosing(found, ["undecided", "within", "within", "within"]) == [risky, safe]
    assert worth_choosing(found, ["undecided"] * 4) == []
    beaten = points[3]
    assert worth_choosing(found, ["exposed", "over", "undecided", "within"]) == [beaten]  # by what may not go out


@pytest.mark.parametrize(("recipient", "size"), [("trusted", 3), ("public", 11), ("strict", 20)])
def test_the_comparison_says_of_every_way_what_protecting_so_says(script, table, found_by, recipient, size):
    roles = {**ROLES, "age_again": "identifier", "city": "identifier"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles, "recipient": recipient})
    result, page = found_by(f"{TABLES}/{table}/frontiers", {"methods": ["partition", "sorted"]})
    assert size in {point["protection"]["k"] for point in result["points"]}
    assert any(point["best"] for point in result["points"])
    assert page.count("★") == sum(point["best"] for point in result["points"])
    for point in result["points"]:
        assert not point["best"] or point["decision"] == "within"
        assert point["decision"] != "within" or point["k"] >= size
    for point in (result["points"][0], result["points"][-1]):
        made, _ = found_by(f"{TABLES}/{table}/protections", {"protection": point["protection"]})
        assert made["verdict"]["decision"] == point["decision"]
        if point["decision"] == "within":  # what a yes rests on is said in its row
            assert point["conditions"] == made["verdict"]["inside_reasons"]
            assert all(f"<p>{one}</p>" in html.unescape(page) for one in point["conditions"])
    assert page.count('<details class="conditions small">') == sum(bool(one["conditions"]) for one in result["points"])
    assert any(point["conditions"] for point in result["points"])
    assert 'class="solve"' not in page
    script.patch(f"{TABLES}/{table}/settings", json={"highest": 0.0001})
    result, page = found_by(f"{TABLES}/{table}/frontiers", {"methods": ["partition"], "k": [3]})
    assert {point["decision"] for point in result["points"]} & {"within"} == set()
    assert 'class="solve"' in page  # the next step, where no way passes


def test_the_comparison_says_which_methods_it_left_out_and_why(script, found_by):
    rows = "who,sex,region\n" + "".join(f"{n // 2},{'fm'[n // 2 % 2]},{'NS'[n % 3 % 2]}\n" for n in range(80))
    table = script.post(TABLES, files={"file": ("visits.csv", rows.encode())}).json()["id"]
    roles = {"who": "person", "sex": "quasi-identifier", "region": "quasi-identifier"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
    result, page = found_by(f"{TABLES}/{table}/frontiers", {"k": [3]})
    compared, left = ({one["words"] for one in result[part]} for part in ("points", "not_compared"))
    assert compared
    assert not compared & left
    assert len(compared | left) >= len(PROTECTION_METHODS)
    reasons = {one["why"] for one in result["not_compared"]}
    assert "it cannot keep the records of one person together" in reasons
    assert "it needs a hierarchy for every column" in reasons
    assert "it made no table" not in reasons
    for one in result["not_compared"]:
        assert f"<li>{one['words']}: {one['why']}.</li>" in page


def test_suggested_roles_are_no_decision(script, found_by):
    draw = np.random.default_rng(1)
    rows = "sex,region,answer\n" + "".join(
        f"{'fm'[draw.integers(2)]},{'NS'[draw.integers(2)]},{'xyz'[draw.integers(3)]}\n" for _ in range(600)
    )
    table = script.post(TABLES, files={"file": ("people.csv", rows.encode())}).json()["id"]
    suggested = script.get(f"{TABLES}/{table}").json()["columns"]
    assert not any(column["decided"] for column in suggested)
    quick = {"protection": False}
    result, page = found_by(f"{TABLES}/{table}/assessments", quick)
    assert (result["verdict"]["decision"], "✓" in page) == ("undecided", False)
    protect = {"protection": {"k": 11}}
    result, page = found_by(f"{TABLES}/{table}/protections", protect)
    assert (result["verdict"]["decision"], "✓" in page) == ("undecided", False)
    result, page = found_by(f"{TABLES}/{table}/frontiers", {"methods": ["partition"], "k": [11]})
    assert (result["points"][0]["decision"], "★" in page) == ("undecided", False)
    roles = {"sex": "quasi-identifier", "region": "quasi-identifier", "answer": "other"}
    script.patch(f"{TABLES}/{table}/settings", json={"roles": roles})
    assert all(column["decided"] for column in script.get(f"{TABLES}/{table}").json()["columns"])
    for path, question in (("assessments", quick), ("protections", protect)):
        result, page = found_by(f"{TABLES}/{table}/{path}", question)
        assert (result["verdict"]["decision"], "✓" in page) == ("within", True)
    script.post(f"{TABLES}/{table}/settings/undo")
    assert not any(column["decided"] for column in script.get(f"{TABLES}/{table}").json()["columns"])
    refused = script.patch(f"{TABLES}/{table}/settings", json={"decided": ["sex", "answer"]})
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("nothing is suggested for answer, so")
    script.patch(f"{TABLES}/{table}/settings", json={"decided": ["sex"]})  # a suggestion, confirmed
    settings = script.get(f"{TABLES}/{table}/settings").json()["settings"]
    assert settings["decided"] == ["sex"]
    script.put(f"{TABLES}/{table}/settings", json=settings)  # sent back as it came: nothing more is decided
    assert script.get(f"{TABLES}/{table}/settings").json()["settings"]["decided"] == ["sex"]


def test_a_column_may_be_known_and_sensitive(script, found_by):
    draw = np.random.default_rng(1)
    rows = "sex,region,grade\n" + "".join(
        f"{'fm'[draw.integers(2)]},{place},{'xy'['NS'.index(place)]}\n" for place in draw.choice([*"NS"], 600)
    )
    table = script.post(TABLES, files={"file": ("people.csv", rows.encode())}).json()["id"]
    decisions = {}
    for role in ("quasi-identifier", "both"):
        roles = {"sex": "quasi-identifier", "region": "quasi-identifier", "grade": role}
        script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
        result, _ = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
        decisions[role] = result["verdict"]["decision"]
        assert result["facts"]["quasi_identifiers"] == ["sex", "region", "grade"]
    assert decisions == {"quasi-identifier": "within", "both": "exposed"}
    by_name = {one["column"]: one["role"] for one in result["roles"]["columns"]}
    assert by_name["grade"] == "both"


def test_the_demo_as_it_comes_can_be_forecast(script, found_by):
    table = script.post(f"{TABLES}/demo", json={"rows": 3_000}).json()["id"]
    answer, _ = found_by(f"{TABLES}/{table}/forecasts", {})
    assert 0 < answer["forecast"]["correctness"]["value"][0] < 0.5


def test_a_role_chosen_by_hand_is_said_and_a_suggested_one_is_not(script, table, found_by):
    about = {one["name"]: one for one in script.get(f"{TABLES}/{table}").json()["columns"]}
    assert (about["city"]["suggested"], about["age"]["suggested"]) == ("quasi-identifier", "quasi-identifier")
    result, page = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    reasons = {one["column"]: one["reason"] for one in result["roles"]["columns"]}
    assert reasons["city"].startswith("as you said, though it looks like a quasi-identifier")
    assert reasons["age"] == "as you said"
    script.patch(f"{TABLES}/{table}/settings", json={"roles": {"sex": "quasi-identifier"}, "decided": []})
    result, page = found_by(f"{TABLES}/{table}/assessments", {"protection": False})
    reasons = {one["column"]: one["reason"] for one in result["roles"]["columns"]}
    assert about["sex"]["reason"] in reasons["sex"]
    assert "as you said" not in reasons["sex"]
    assert "Not counted, though others may know them" not in page


def test_many_columns_that_tell_people_apart_are_told_of_in_one_sentence(script, found_by):
    names = [f"net_{month:02}" for month in range(1, 13)]
    lines = [",".join([str(20 + n % 4), *(str(n * 7919 + month) for month in range(12))]) for n in range(60)]
    rows = "\n".join([",".join(["age", *names]), *lines])
    table = script.post(TABLES, files={"file": ("people.csv", rows.encode())}).json()["id"]
    roles = {"age": "quasi-identifier"} | dict.fromkeys(names, "other")
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles})
    _, page = found_by(f"{TABLES}/{table}/protections", {"protection": {"k": 5}})
    assert page.count("Careful") == 1
    assert "12 columns are passed on unchanged" in page
    assert "net_01 (60), net_02 (60)" in page
