"""Projects: saved without cells, loaded on the same and on another file; decisions, the trail and the record."""

import io
import json
from html import escape

import pytest

from incrowd.wording import percent

pytest.importorskip("fastapi")

from incrowd.web.candidates import name_of
from incrowd.web.protection_models import ColumnStep, ProtectionRequest

ROWS = [(20 + n * n % 29, "fm"[n % 2], "ABCDE"[n % 5], ["flu", "secretitis", "cold"][n % 3]) for n in range(120)]
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "other", "illness": "sensitive"}


def upload(client, text, name="people.csv"):
    answer = client.post("/api/v1/tables", files={"file": (name, io.BytesIO(text.encode()))})
    assert answer.status_code == 201, answer.text
    return f"/api/v1/tables/{answer.json()['id']}"


def as_csv(rows, names="age,sex,city,illness"):
    return names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def table(script):
    address = upload(script, as_csv(ROWS))
    settings = {
        "roles": ROLES,
        "rows_are_people": True,
        "recipient": "trusted",
        "secrets": ["illness=secretitis"],
        "protection": {"k": 7, "hierarchies": {"city": [[city, "all"] for city in "ABCDE"], "age": "5,10"}},
    }
    assert script.put(f"{address}/settings", json=settings).status_code == 200
    return address


@pytest.fixture
def protected(script, table, wait_for):
    job = script.post(f"{table}/protections", json={"protection": {"k": 3}}).json()
    assert wait_for(script, job)["state"] == "done"
    return job["id"]


def test_a_project_holds_the_question_and_the_runs_but_no_cells(script, table, protected):
    answer = script.get(f"{table}/project")
    assert 'filename="people-project.incrowd"' in answer.headers["content-disposition"]
    project = answer.json()
    assert project["settings"]["roles"] == ROLES
    assert project["settings"]["secrets"] == []
    assert project["settings"]["protection"]["hierarchies"] == {"age": "5,10"}
    assert len(project["left_out"]) == 2
    assert [(run["kind"], run["question"]["k"]) for run in project["runs"]] == [("protection", 3)]
    assert project["runs"][0]["summary"]["k"] >= 3
    assert "secretitis" not in answer.text
    whole = script.get(f"{table}/project", params={"cells": True}).json()
    assert whole["settings"]["secrets"] == ["illness=secretitis"]
    assert whole["left_out"] == []


def test_a_project_goes_on_on_the_same_file(script, table, protected):
    project = script.get(f"{table}/project", params={"cells": True}).json()
    again = upload(script, as_csv(ROWS))
    loaded = script.post(f"{again}/project", json=project).json()
    assert loaded["changed"] == []
    assert loaded["settings"]["settings"] == script.get(f"{table}/settings").json()["settings"]
    assert [run["kind"] for run in loaded["replay"]] == ["protection"]
    trail = [entry["what"] for entry in script.get(f"{again}/trail").json()]
    assert trail[-1] == "project loaded"
    assert "protection done" in trail


def test_roles_of_a_project_of_the_first_version_are_not_decided(script, table):
    names = ["age", "sex", "city", "illness"]
    roles = dict(zip(names, ["quasi-identifier", "other", "identifier", "sensitive"], strict=True))
    script.put(f"{table}/settings", json={"roles": roles})
    project = script.get(f"{table}/project").json()
    assert project["version"] == 2
    for version, decided in ((2, sorted(names)), (1, ["city"])):
        loaded = script.post(f"{upload(script, as_csv(ROWS))}/project", json={**project, "version": version}).json()
        settings = loaded["settings"]["settings"]
        assert settings["decided"] == decided
        assert settings["roles"] == roles  # as suggestions
        said = "decided by one role in an earlier version" in " ".join(loaded["changed"])
        assert said == (version == 1)


def test_a_project_that_does_not_say_how_its_file_was_read_leaves_the_reading_as_it_is(script, table):
    script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"})
    project = script.get(f"{table}/project").json()
    del project["table"]["reading"], project["decisions"][0]["table"]["reading"]
    again = upload(script, as_csv(ROWS))
    reading = {"null": "A", "scales": {"age": "nominal"}}
    assert script.post(f"{again}/reading", json={"reading": reading}).status_code == 200
    assert script.post(f"{again}/project", json=project).status_code == 200
    now = script.get(again).json()["reading"]
    assert (now["null"], now["scales"]) == ("A", {"age": "nominal"})
    assert len(script.get(f"{again}/decisions").json()) == 1
    assert script.get(f"{again}/record.html").status_code == 200


def test_on_another_file_what_changed_is_told_and_open(script, table):
    project = script.get(f"{table}/project", params={"cells": True}).json()
    rows = [(f"about {age}", sex, illness, n) for n, (age, sex, _, illness) in enumerate(ROWS[:90])]
    other = upload(script, as_csv(rows, "age,sex,illness,visits"))
    loaded = script.post(f"{other}/project", json=project).json()
    told = " | ".join(loaded["changed"])
    for words in ("there were 120 rows and are 90", "gone: city", "not decided: visits", "not decided: age"):
        assert words in told
    settings = loaded["settings"]["settings"]
    assert settings["decided"] == ["illness", "sex"]
    assert settings["recipient"] == "trusted"
    assert settings["protection"]["k"] == 7


def test_a_decision_about_last_years_table_is_not_one_about_this_years(script, table):
    made = script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"}).json()
    project = script.get(f"{table}/project").json()
    other = upload(script, as_csv(ROWS[:90]), "people next.csv")
    script.post(f"{other}/project", json=project)
    (listed,) = script.get(f"{other}/decisions").json()
    assert listed == made | {"on_this_table": False}
    refused = script.get(f"{other}/record.html")
    assert refused.status_code == 409
    assert "nothing was decided yet about people next.csv; its project has decisions about people.csv" in refused.text
    old = script.get(f"{other}/record.html", params={"number": 0})
    day = made["at"][:10]
    assert f'filename="people-decision-{day}.html"' in old.headers["content-disposition"]
    assert "<h1>Must not go out: people.csv, the table as it is</h1>" in old.text
    assert f"<title>Decision of {day} on people.csv</title>" in old.text
    script.post(f"{other}/decisions", json={"decision": "later", "by": "me"})
    assert [one["on_this_table"] for one in script.get(f"{other}/decisions").json()] == [False, True]
    here = script.get(f"{other}/record.html")
    assert "<h1>Not decided yet: people next.csv, the table as it is</h1>" in here.text
    assert f'filename="people-next-decision-{day}.html"' in here.headers["content-disposition"]


@pytest.mark.parametrize(
    "damage", [{"format": "other"}, {"version": 3}, {"settings": {"recipient": "nobody"}}, {"x": 1}]
)
def test_what_is_no_project_is_refused(script, table, damage):
    project = script.get(f"{table}/project").json() | damage
    assert script.post(f"{table}/project", json=project).status_code == 422


def test_a_decision_is_written_down_with_the_numbers_that_it_rests_on(script, table, protected):
    new = {"decision": "release", "by": "A. <Reviewer>", "note": "only <b>this</b> year", "candidate": protected}
    decided = script.post(f"{table}/decisions", json=new)
    assert decided.status_code == 201, decided.text
    found = decided.json()
    (candidate,) = script.get(f"{table}/candidates").json()
    assert found["after"]["decision"] == candidate["decision"]
    assert found["after"]["k"] == candidate["after"]["k"]
    assert (found["by"], found["candidate"]) == (new["by"], candidate["name"])
    counted = {name: found["before"][name] for name in ("decision", "k", "uniqueness", "correctness")}
    assert counted == {"decision": None, **candidate["before"]}  # nobody has assessed it, but it was counted
    page = script.get(f"{table}/record.html").text
    assert "A. &lt;Reviewer&gt;" in page
    assert "only &lt;b&gt;this&lt;/b&gt; year" in page
    assert f"<td>not assessed</td><td>{candidate['headline']}</td>" in page
    assert "secretitis" not in page
    recommended = script.get(f"/api/v1/jobs/{protected}/result").json()["verdict"]["recommendation"]
    assert page.index(escape(recommended)) < page.index("Signatures") < page.index("<h2>Columns")  # on the first page
    assert script.get(f"{table}/project").json()["decisions"] == [found]
    assert script.get(f"{table}/record.html", params={"number": 1}).status_code == 404


def test_a_record_and_a_reopened_project_have_the_further_demands(script, table, wait_for):
    further = {"beta": 90, "keep": ["sex"], "widest": {"age": 70}, "nominal": ["age"], "aim": "information"}
    asked = {"k": 3, "sensitive": "illness", "suppress": 0.5, "hierarchies": None, **further}
    assert script.patch(f"{table}/settings", json={"protection": asked}).status_code == 200
    job = wait_for(script, script.post(f"{table}/protections").json())
    assert (job["state"], job["message"]) == ("done", "")
    (candidate,) = script.get(f"{table}/candidates").json()
    assert candidate["name"].startswith("partition, k = 3, 6 further demands")
    script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me", "candidate": job["id"]})
    told = "beta = 90; keep: sex; widest: age=70; nominal: age; aim = information; suppress = 0.5"
    assert f"<td>further demands</td><td>{told}</td>" in script.get(f"{table}/record.html").text
    again = upload(script, as_csv(ROWS))
    loaded = script.post(f"{again}/project", json=script.get(f"{table}/project").json()).json()
    reopened = loaded["settings"]["settings"]["protection"]
    assert {name: reopened[name] for name in further} == further
    command = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["cli"]
    for words in ("--beta 90", "--keep sex --widest age=70 --nominal age --aim information", "--suppress 0.5"):
        assert words in command


def test_the_seed_of_a_perturbation_is_in_no_name_and_no_record():
    asked = ProtectionRequest(method="perturb", steps=[ColumnStep(column="age", action="noise=0.1")], seed=4711)
    assert "4711" not in name_of(asked, [])
    assert asked.further_in_words() == []
    assert asked.given_options()["seed"] == 4711


def test_an_old_record_shows_what_was_decided_on_not_what_is_set_now(script, table, protected, wait_for):
    assessed = script.post(f"{table}/assessments", json={"protection": False}).json()
    assert wait_for(script, assessed)["state"] == "done"
    made = script.post(f"{table}/decisions", json={"decision": "release", "by": "me", "candidate": protected}).json()
    assert made["before"]["k"] < 3 <= made["after"]["k"]
    assert (made["accepted"], made["protection"]["k"]) == ({"highest": 1 / 3, "average": None}, 3)
    assert (made["settings"]["recipient"], made["settings"]["secrets"]) == ("trusted", [])
    old = script.get(f"{table}/record.html").text
    for shown in ("a trusted recipient", "highest risk 1/3, average risk no limit", "the table itself", "120 rows"):
        assert shown in old
    risks = [made[side]["correctness"] for side in ("before", "after")]
    assert f"<td>average risk within the table</td><td>{percent(risks[0])}</td><td>{percent(risks[1])}</td>" in old
    assert f"<td>{percent(made['after']['highest'])} in the table</td>" in old  # and not beside one of a population
    assert "<td>protected by</td><td>partition, k = 3" in old
    changed = {"recipient": "strict", "highest": 0.01, "threshold": 0.02, "population": 5_000_000}
    roles = {"city": "quasi-identifier", "age": "drop"}
    assert script.patch(f"{table}/settings", json=changed | {"roles": roles}).status_code == 200
    assert script.post(f"{table}/reading", json={"reading": {"null": "A"}}).status_code == 200
    assert script.get(f"{table}/record.html", params={"number": 0}).text == old
    later = script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"}).json()
    assert (later["before"], later["settings"]["population"], later["accepted"]["highest"]) == (None, 5_000_000, 0.01)
    assert "5,000,000 people" in script.get(f"{table}/record.html").text
    assert script.get(f"{table}/record.html", params={"number": 0}).text == old


@pytest.mark.parametrize("decision", ["release", "refuse", "later"])
@pytest.mark.parametrize("since", [{"roles": {"city": "sensitive", "sex": "drop"}}, {"recipient": "strict"}, "reading"])
def test_a_candidate_of_another_question_is_not_decided_on(script, table, protected, decision, since):
    if since == "reading":
        assert script.post(f"{table}/reading", json={"reading": {"null": "A"}}).status_code == 200
    else:
        assert script.patch(f"{table}/settings", json=since).status_code == 200
    new = {"decision": decision, "by": "me", "note": "all the same", "candidate": protected}
    refused = script.post(f"{table}/decisions", json=new)
    assert refused.status_code == 409
    assert "judged anew since this candidate was made; protect again" in refused.text
    assert script.get(f"{table}/decisions").json() == []
    assert script.get(f"{table}/record.html").status_code == 409


def test_a_candidate_is_decided_on_by_the_settings_that_judged_it(script, table, protected, wait_for):
    script.patch(f"{table}/settings", json={"recipient": "strict"})
    assessed = script.post(f"{table}/assessments", json={"protection": False}).json()
    assert wait_for(script, assessed)["state"] == "done"
    new = {"decision": "release", "by": "me", "candidate": protected}
    assert script.post(f"{table}/decisions", json=new).status_code == 409
    script.patch(f"{table}/settings", json={"recipient": "trusted"})
    made = script.post(f"{table}/decisions", json=new).json()
    assert (made["settings"]["recipient"], made["before"]["decision"]) == ("trusted", None)  # assessed for others only
    assert "a trusted recipient" in script.get(f"{table}/record.html").text


def test_a_table_goes_out_against_its_verdict_only_with_a_word_why_and_the_record_says_so(script, table, wait_for):
    assessed = script.post(f"{table}/assessments", json={"protection": False}).json()
    assert wait_for(script, assessed)["state"] == "done"
    new = {"decision": "release", "by": "me"}
    refused = script.post(f"{table}/decisions", json=new | {"note": " "})
    assert refused.status_code == 409
    assert "write in the note why" in refused.text
    made = script.post(f"{table}/decisions", json=new | {"note": "a court asked for it"})
    assert made.status_code == 201
    assert made.json()["before"]["decision"] != "within"
    assert "Goes out although the verdict is not yes" in script.get(f"{table}/record.html").text


def test_a_table_that_nobody_assessed_is_not_released(script, table):
    new = {"decision": "release", "by": "me"}
    assert script.post(f"{table}/decisions", json=new).status_code == 409
    assert script.post(f"{table}/decisions", json=new | {"decision": "refuse"}).status_code == 201
    assert script.get(f"{table}/record.html").status_code == 200
    assert script.get(f"{table}/decisions").json()[0]["decision"] == "refuse"


def test_the_trail_says_what_changed_and_names_no_values(script, table):
    script.patch(f"{table}/settings", json={"recipient": "public", "roles": {"city": "drop"}, "secrets": []})
    script.post(f"{table}/settings/undo")
    trail = script.get(f"{table}/trail").json()
    assert [entry["what"] for entry in trail] == ["opened", "settings changed", "settings changed", "undone"]
    changed = trail[2]["details"]
    assert changed["recipient"] == ["trusted", "public"]
    assert changed["roles"] == {"city": ["other", "drop"]}
    assert changed["also"] == ["secrets"]
    assert trail[3]["details"]["recipient"] == ["public", "trusted"]
    assert "secretitis" not in json.dumps(trail)


def test_records_of_many_projects_are_each_kept_once_and_not_without_end(script, table):
    made = script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"}).json()
    project = script.get(f"{table}/project").json()
    small = made | {"table": made["table"] | {"columns": []}}
    for part in range(3):
        project["trail"] = [{"at": "x", "what": f"{part} {n}", "details": {}} for n in range(4_000)]
        project["decisions"] = [small | {"by": f"{part} {n}"} for n in range(500)]
        for _ in range(2):
            assert script.post(f"{table}/project", json=project).status_code == 200
    trail = [entry["what"] for entry in script.get(f"{table}/trail").json()]
    decisions = [one["by"] for one in script.get(f"{table}/decisions").json()]
    assert len(trail) == 5_000
    assert trail[-1] == "project loaded"
    assert len(decisions) == len({*decisions}) == 1_000
    assert decisions[-1] == "me"


@pytest.mark.parametrize(
    ("forged", "status"),
    [
        ({"settings": {"roles": {}}}, 200),
        ({"before": {"risk": 7}}, 200),
        ({"before": {"k": 10**15, "headline": "<b>"}}, 200),
        ({"before": {"risk": "x"}}, 422),
        ({"after": {"people": [1]}}, 422),
        ({"after": {"k": 10**16}}, 422),
        ({"accepted": {"highest": 0, "average": None}}, 422),
        ({"accepted": {"highest": 1e-310, "average": None}}, 422),
        ({"accepted": {"highest": 0.5, "average": 2}}, 422),
    ],
)
def test_a_forged_decision_is_refused_or_shown_as_it_is(script, table, forged, status):
    made = script.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"}).json()
    project = script.get(f"{table}/project").json() | {"decisions": [made | forged]}
    assert script.post(f"{table}/project", json=project).status_code == status
    assert script.get(f"{table}/record.html", params={"number": 0}).status_code == 200


@pytest.mark.parametrize("detail", ["NaN", "-Infinity", "1e999", "[" * 900 + "]" * 900, '{"a": ' * 90 + "1" + "}" * 90])
@pytest.mark.parametrize("part", ["trail", "runs"])
def test_details_that_cannot_be_written_again_are_refused(script, table, part, detail):
    project = script.get(f"{table}/project").json()
    entry = {"at": "x", "what": "y", "details": {"put": 1}}
    run = {"kind": "protection", "at": "x", "question": {"put": 1}, "summary": {}}
    project[part] = [entry if part == "trail" else run]
    text = json.dumps(project).replace('"put": 1', f'"put": {detail}')
    answer = script.post(f"{table}/project", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert "is not right" in answer.text
    assert script.get(f"{table}/project").status_code == script.get(f"{table}/trail").status_code == 200


@pytest.mark.parametrize("changed", [{"rows": -1}, {"rows": 10**400}, {"columns": [{"nulls": -1}]}])
def test_a_table_of_impossible_counts_is_no_project(script, table, changed):
    project = script.get(f"{table}/project").json()
    if "columns" in changed:
        changed = {"columns": [project["table"]["columns"][0] | changed["columns"][0]]}
    project["table"] |= changed
    assert script.post(f"{table}/project", json=project).status_code == 422


def test_a_reopened_project_has_its_candidates_which_are_made_again_as_they_were(script, table, protected, wait_for):
    searched = {"seconds": 20, "protection": {"k": 2, "l": 2, "sensitive": "illness"}}
    for path, asked in (("assessments", {"protection": False}), ("solutions", searched)):
        assert wait_for(script, script.post(f"{table}/{path}", json=asked).json())["state"] == "done"
    saved_project = script.get(f"{table}/project").json()
    before = script.get(f"{table}/candidates").json()
    assert script.get(f"{table}/project/saved").json() is None  # nothing was reopened here
    again = upload(script, as_csv(ROWS))
    script.post(f"{again}/project", json=saved_project)
    saved = script.get(f"{again}/project/saved").json()
    assert saved["assessment"] == saved_project["runs"][1]["summary"]
    assert [one["name"] for one in saved["candidates"]] == [one["name"] for one in reversed(before)]
    assert all(one["is_quick"] and one["cannot"] is None for one in saved["candidates"])
    for one in saved["candidates"]:
        job = script.post(f"{again}/protections", json={"protection": one["protection"]}).json()
        script.post(f"/api/v1/jobs/{job['id']}/name", json={"name": one["name"]})
        assert wait_for(script, job)["state"] == "done"
    assert script.get(f"{again}/project/saved").json()["candidates"] == []
    same = ("name", "protection", "before", "after", "highest", "detail", "decision", "conditions", "rows")
    after = script.get(f"{again}/candidates").json()
    assert [[one[name] for name in same] for one in after] == [[one[name] for name in same] for one in before]
    assert [one["when_saved"]["highest"] for one in after] == [one["highest"] for one in before]
    assert {one["question_changed"] for one in after} == {False}
    assert {one["stale"] for one in after} == {True}  # the form of this project asks for classes of 7
    assert script.delete(f"{again}/project/saved").status_code == 204
    assert script.get(f"{again}/project/saved").json() is None


def test_a_candidate_that_cannot_be_made_as_it_was_says_why(script, table):
    project = script.get(f"{table}/project").json()
    run = {"kind": "protection", "at": "2026-01-01", "question": {}, "summary": {}, "seconds": 0.1}
    project["runs"] = [
        run | {"protection": {"k": 3, "leave_out": ["city"]}},
        run | {"protection": {"k": 4}, "lacks_values": True},
        run | {"protection": {"k": 9}, "outdated": True},
        run | {"protection": {"k": 8}, "seconds": 15.0},
        run | {"protection": {"k": 6, "population_table": "0" * 16}},
    ]
    twice = [row[:2] + row[3:] for row in ROWS * 2]
    other = upload(script, as_csv(twice, "age,sex,illness"))
    script.post(f"{other}/project", json=project)
    saved = script.get(f"{other}/project/saved").json()
    assert [(one["protection"]["k"], one["is_quick"], one["cannot"]) for one in saved["candidates"]] == [
        (3, False, "it names columns that are gone: city"),
        (4, False, "its hierarchies list values, which were not saved"),
        (9, False, "roles, scales or limits were changed after it was made"),
        (8, False, None),  # 15 seconds for half as many rows
        (6, False, "the table of everybody that it counted in is not open"),
    ]
    assert "gone: city" in saved["changed"]


def test_a_project_on_a_file_without_one_secret_keeps_the_others_and_says_so():
    asked = ProtectionRequest(k=7, sensitive=["pay", "faith"], l=2, importance={"pay": 2, "age": 3}, leave_out=["pay"])
    fitting = asked.without_columns({"pay"})
    assert (fitting.k, fitting.secrets, fitting.l) == (7, ["faith"], 2)
    assert (fitting.importance, fitting.leave_out) == ({"age": 3}, [])
    assert (asked.without_columns({"pay", "faith"}).sensitive, asked.without_columns({"pay", "faith"}).l) == (
        None,
        None,
    )
    further = {"diversity": "recursive", "c": 4, "beta": 2, "delta": 3, "diverse": ["pay"]}
    further |= {"keep": ["sex", "pay"], "widest": {"pay": 2, "age": 9}}
    demanding = ProtectionRequest(sensitive="pay", l=2, t=0.5, **further)
    assert demanding.without_columns({"pay"}) == ProtectionRequest(keep=["sex"], widest={"age": 9})  # nothing is left
    steps = ProtectionRequest(method="perturb", steps=[ColumnStep(column="age+pay", action="noise=0.1")])
    assert steps.without_columns({"pay"}).steps == []


def test_a_reopened_project_tells_which_demands_are_gone(script):
    rows = "".join(f"{20 + n % 9},{n % 3},{n % 4}\n" for n in range(60))

    def opened(names):
        content = io.BytesIO(f"{names}\n{rows}".encode())
        return f"/api/v1/tables/{script.post('/api/v1/tables', files={'file': ('people.csv', content)}).json()['id']}"

    first, second = opened("age,pay,faith"), opened("age,income,faith")
    roles = {"age": "quasi-identifier", "pay": "sensitive", "faith": "sensitive"}
    demands = {"k": 7, "sensitive": ["pay", "faith"], "l": 2}
    script.put(f"{first}/settings", json={"roles": roles, "protection": demands})
    loaded = script.post(f"{second}/project", json=script.get(f"{first}/project").json()).json()
    kept = loaded["settings"]["settings"]["protection"]
    assert (kept["k"], kept["sensitive"], kept["l"]) == (7, ["faith"], 2)
    assert any(line.startswith("no longer kept secret, because the column is gone: pay") for line in loaded["changed"])
