"""What keeps form and result together: settings of a result, the newest whole one, leaks at once, and events."""

import json

import httpx
import pytest

pytest.importorskip("fastapi")

from incrowd import ClassSizes, leak_risk

TABLE = {"path": "people.csv"}


@pytest.fixture
def table(script):
    found = script.post("/api/v1/tables/open", json=TABLE).json()["id"]
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "other"}
    script.put(f"/api/v1/tables/{found}/settings", json={"roles": roles})
    return f"/api/v1/tables/{found}"


@pytest.fixture
def sizes(folder):
    return ClassSizes.from_table(folder / "people.csv", quasi_identifiers=["age", "sex"])


def test_a_result_carries_what_made_it(script, table, wait_for):
    job = script.post(f"{table}/protections", json={"protection": {"k": 3}}).json()
    wait_for(script, job)
    made_by = script.get(f"{table}/settings").json()["settings"]
    script.patch(f"{table}/settings", json={"recipient": "trusted", "protection": {"k": 9}})
    info = script.get(f"/api/v1/jobs/{job['id']}").json()
    assert info["question"]["k"] == 3
    assert info["stale"]
    assert made_by["protection"]["k"] == 5  # what one job asks for is not the form's
    made_by["protection"]["k"] = 3
    assert script.get(f"/api/v1/jobs/{job['id']}/settings").json() == made_by
    assert made_by["recipient"] == "public"


def test_points_have_no_settings(script, wait_for):
    points = [{"n": 10, "correctness": 0.9}, {"n": 100, "correctness": 0.6}, {"n": 1000, "correctness": 0.3}]
    job = script.post("/api/v1/forecasts", json={"points": points}).json()
    assert job["question"]["points"] == points
    assert script.get(f"/api/v1/jobs/{job['id']}/settings").status_code == 409
    script.post(f"/api/v1/jobs/{job['id']}/cancel")


def test_work_that_was_cancelled_does_not_hide_a_whole_result(script, table, wait_for, app):
    first = script.post(f"{table}/protections", json={"protection": {"k": 3}}).json()
    wait_for(script, first)
    second = script.post(f"{table}/protections", json={"protection": {"k": 4}}).json()
    script.post(f"/api/v1/jobs/{second['id']}/cancel")
    wait_for(script, second)
    latest = script.get(f"{table}/latest").json()
    kept = script.get(f"/api/v1/jobs/{second['id']}").json()["state"] == "done"  # it was quicker
    assert latest["whole"]["protection"]["id"] == (second if kept else first)["id"]
    assert latest["running"] == []


@pytest.mark.parametrize("targets", [[1], [1, 2, 5]])
def test_a_leak_at_once_is_the_exact_chance_held_against_the_recipient(script, table, sizes, targets):
    script.patch(f"{table}/settings", json={"recipient": "trusted"})
    found = script.post(f"{table}/leak-now", json={"leaked": 12, "targets": targets}).json()
    chances = [leak_risk(sizes, 12, targets=number).probability for number in targets]
    assert [risk["probability"] for risk in found["risks"]] == pytest.approx(chances)
    assert found["accepted"]["at_most"] == pytest.approx(1 / 3)
    assert found["accepted"]["kept"] is (leak_risk(sizes, 12).judged <= 1 / 3)


def test_a_leak_is_accepted_only_if_the_person_at_highest_risk_is_within_the_limit(script, wait_for):
    rows = "age\n7\n" + "".join(f"{20 + n % 5}\n" for n in range(99))
    found = script.post("/api/v1/tables", files={"file": ("people.csv", rows.encode())}).json()["id"]
    script.put(f"/api/v1/tables/{found}/settings", json={"roles": {"age": "quasi-identifier"}})
    job = script.post(f"/api/v1/tables/{found}/leaks", json={"share": 0.2, "at_most": 1 / 11}).json()
    wait_for(script, job)
    result = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    assert result["risks"][0]["probability"] < result["accepted"]["at_most"] < result["accepted"]["highest"] == 0.2
    assert not result["accepted"]["kept"]
    assert result["largest_leak"]["leaked"] == 9
    page = script.get(f"/jobs/{job['id']}/view").text
    assert "who is alone in their class, is named from such a leak with a chance of 20.0%, above the 9.09%" in page


def test_a_leak_at_once_is_what_a_job_finds(script, table, wait_for):
    asked = {"share": 0.5, "targets": [1, 3], "k": 4, "at_most": 0.2}
    job = script.post(f"{table}/leaks", json=asked).json()
    wait_for(script, job)
    assert script.get(f"/api/v1/jobs/{job['id']}/result").json() == script.post(f"{table}/leak-now", json=asked).json()


def test_a_curve_of_leaks_goes_through_exact_chances(script, table, sizes):
    found = script.post(f"{table}/leak-curve", json={"targets": [2, 1]}).json()
    assert [line["targets"] for line in found["lines"]] == [1, 2]
    for line in found["lines"]:
        chances = [leak_risk(sizes, leaked, targets=line["targets"]).probability for leaked in line["leaked"]]
        assert line["probability"] == pytest.approx(chances)
        assert line["leaked"][0] == line["targets"]
        assert line["leaked"][-1] == sizes.people


def test_diversity_that_is_asked_for_is_never_dropped(script, table, wait_for):
    without = script.post(f"{table}/protections", json={"protection": {"k": 3, "l": 2}}).json()
    ended = wait_for(script, without)
    assert ended["state"] == "failed"
    assert "need a sensitive column" in ended["message"]
    asked = {"k": 3, "l": 2, "sensitive": "city"}  # all live in one city
    for method in ("partition", "coarsen", "generalise", "sorted"):
        how = {"resolution": 2} if method == "coarsen" else {}
        ended = wait_for(
            script, script.post(f"{table}/protections", json={"protection": asked | {"method": method} | how}).json()
        )
        assert ended["state"] == "failed", method


def test_a_column_to_drop_is_left_out_and_certainty_is_asked_about(script, table, wait_for):
    changes = {"roles": {"city": "drop"}, "certain": 0.8}
    assert script.patch(f"{table}/settings", json=changes).status_code == 200
    job = script.post(f"{table}/protections", json={"protection": {"k": 3}}).json()
    wait_for(script, job)
    assert script.get(f"/api/v1/jobs/{job['id']}/result").json()["removed"] == ["city"]
    assert script.get(f"/api/v1/jobs/{job['id']}/table").text.splitlines()[0] == '"age","sex"'
    assert "--drop city" in script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["cli"]
    whole = script.post(f"{table}/assessments", json={"protection": False}).json()
    command = script.get(f"/api/v1/jobs/{whole['id']}/equivalent").json()["cli"]
    assert "--drop city" in command
    assert "--certain 0.8" in command
    script.post(f"/api/v1/jobs/{whole['id']}/cancel")
    assert script.patch(f"{table}/settings", json={"certain": 0.5}).status_code == 422
    for share, code in ((0.7, 422), (0.5, 200)):  # as the form and the assessment refuse it
        assert script.patch(f"{table}/settings", json={"tolerate": share}).status_code == code


def _events(lines):
    """The events of a stream."""
    kind = None
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


def test_another_page_is_told_of_settings_jobs_and_what_is_gone(script, table, base):
    other = httpx.Client(base_url=base, headers=script.headers, timeout=180, verify=False)
    with other, other.stream("GET", "/api/v1/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = _events(stream.iter_lines())
        kind, first = next(events)
        assert (kind, first["id"]) == ("table", table[-16:])
        script.patch(f"{table}/settings", json={"recipient": "trusted"})
        assert next(events) == ("table", {**first, "version": first["version"] + 1})
        job = script.post(f"{table}/leaks").json()["id"]
        states = []
        while "done" not in states:
            kind, entry = next(events)
            assert (kind, entry["id"], entry["of"]) == ("job", job, "leak")
            states.append(entry["state"])
        script.delete(table)
        gone = (entry["id"] for kind, entry in events if kind == "gone")
        assert {next(gone), next(gone)} == {job, table[-16:]}
        script.delete("/api/v1/session")
        assert next(events)[0] == "ended"


def test_events_of_one_session_are_not_told_to_another(script, table, new_browser):
    browser = new_browser()
    demo = browser.post("/api/v1/tables/open", json=TABLE).json()["id"]
    with browser.stream("GET", "/api/v1/events") as stream:
        assert next(_events(stream.iter_lines()))[1]["id"] == demo
