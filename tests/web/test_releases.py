"""What follows from results: actions that are buttons, reports of protected tables, attacks on them."""

import hashlib
import html
import io
import re

import pytest

from incrowd.wording import percent

pytest.importorskip("fastapi")

NAMES = ["age", "sex", "city", "illness"]
ROWS = [(20 + n * n % 29, "fm"[n % 2], "ABCDE"[n % 5], "xyz"[n % 3]) for n in range(200)]
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "quasi-identifier", "illness": "sensitive"}


def upload(script, rows):
    text = ",".join(NAMES) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))})
    return f"/api/v1/tables/{answer.json()['id']}"


@pytest.fixture
def table(script):
    return upload(script, ROWS)


@pytest.fixture
def done(script, wait_for):
    def finished(address, **asked):
        answer = script.post(address, json=asked)
        assert answer.status_code == 202, answer.text
        ended = wait_for(script, answer.json())
        assert ended["state"] == "done", ended["message"]
        return f"/api/v1/jobs/{ended['id']}"

    return finished


def test_advice_leads_from_an_open_table_to_a_yes_by_clicks(script, table, done, wait_for):
    assessed = done(f"{table}/assessments", protection=True)
    seen = set()
    for _ in range(4):
        actions = script.get(f"{assessed}/actions").json()
        first = next(action for action in actions if action["choices"])
        seen.add(first["does"])
        if first["does"] == "columns":  # the words name as many columns as the button confirms
            confirmed = list(first["choices"][0]["settings"]["roles"])
            assert first["sentence"].startswith(f"Judge {len(confirmed)} columns: {', '.join(confirmed)}.")
        last = len(first["choices"]) - 1
        answer = script.post(f"{assessed}/actions/{first['number']}", json={"choice": last})
        assert answer.status_code == 200, answer.text
        if first["does"] == "protect":
            break
        assert answer.json()["settings"]["can_undo"]
        assessed = done(f"{table}/assessments", protection=True)
    assert seen >= {"columns", "protect"}
    assert wait_for(script, {"id": answer.json()["job"]})["state"] == "done"
    advised = script.get(f"{assessed}/result").json()["verdict"]["actions"][first["number"]]["protection"]
    started = first["choices"][last]["protection"]
    assert ("without" in first["choices"][last]["label"]) == bool(started["leave_out"])
    assert {name: started[name] for name in advised} == advised
    (candidate,) = script.get(f"{table}/candidates").json()
    assert candidate["decision"] == first["expected"]["decision"] == "within"
    assert candidate["after"]["k"] >= first["expected"]["k"]


def test_advice_confirms_nothing_that_has_no_reason(script, done):
    text = "sex,answer_a,answer_b\n" + "".join(f"{'fm'[n % 2]},{n % 3},{n % 5}\n" for n in range(60))
    opened = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))}).json()
    assessed = done(f"/api/v1/tables/{opened['id']}/assessments", protection=False)
    (judged,) = [one for one in script.get(f"{assessed}/actions").json() if one["does"] == "columns"]
    assert judged["sentence"].startswith("Judge 3 columns. For 1 of them a role is suggested: sex. ")  # 1 and 2 are 3
    assert "Nothing is suggested for answer_a, answer_b: a person must decide" in judged["sentence"]
    (choice,) = judged["choices"]
    assert choice["settings"]["roles"] == {"sex": "quasi-identifier"}
    answer = script.post(f"{assessed}/actions/{judged['number']}", json={"choice": 0})
    assert answer.json()["settings"]["settings"]["decided"] == ["sex"]


def test_no_advice_asks_for_roles_that_every_column_has(script, table, done):
    roles = dict.fromkeys(NAMES, "other") | {"sex": "quasi-identifier"}
    script.put(f"{table}/settings", json={"roles": roles, "rows_are_people": True})
    actions = script.get(f"{done(f'{table}/assessments', protection=True)}/actions").json()
    assert [one for one in actions if one["does"] == "columns"] == []
    assert not any("Give every column a role" in one["sentence"] for one in actions)


def test_the_record_names_every_secret(script, done):
    names = [f"secret_{number}" for number in range(10)]
    rows = "".join(",".join([str(n % 4), *(str(n * k % 5) for k in range(1, 11))]) + "\n" for n in range(120))
    content = io.BytesIO((",".join(["age", *names]) + "\n" + rows).encode())
    address = f"/api/v1/tables/{script.post('/api/v1/tables', files={'file': ('all.csv', content)}).json()['id']}"
    roles = {"age": "quasi-identifier"} | dict.fromkeys(names, "sensitive")
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True})
    protected = done(f"{address}/protections", protection={"k": 5, "sensitive": names})
    new = {"decision": "later", "by": "A. Reviewer", "candidate": protected[-16:]}
    assert script.post(f"{address}/decisions", json=new).status_code == 201
    assert f"<td>kept secret</td><td>{', '.join(names)}</td>" in script.get(f"{address}/record.html").text


def test_advice_on_other_settings_is_not_taken(script, table, done):
    assessed = done(f"{table}/assessments", protection=False)
    actions = script.get(f"{assessed}/actions").json()
    assert script.post(f"{assessed}/actions/99").status_code == 404
    assert script.post(f"{assessed}/actions/0", json={"choice": 99}).status_code == 404
    script.patch(f"{table}/settings", json={"recipient": "trusted"})
    assert script.post(f"{assessed}/actions/{actions[0]['number']}").status_code == 409


def test_a_protected_table_has_a_report_that_agrees_with_its_card(script, table, done):
    script.put(f"{table}/settings", json={"roles": ROLES, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 11, "l": 2, "sensitive": "illness"})
    reported = done(f"{protected}/reports")
    assert script.get(f"{reported}/codebook").status_code == 409
    (candidate,) = script.get(f"{table}/candidates").json()
    codebook = script.get(f"{protected}/codebook", params={"format": "md"})
    assert codebook.headers["content-disposition"].startswith(
        'attachment; filename="people-partition-k-11-l-2-codebook.md"'
    )
    assert codebook.text.startswith("# Codebook")
    assert "age | quasi-identifier" in codebook.text
    assert script.get(f"{protected}/codebook").json()["codeBook"]
    assert f"{protected}/codebook" in script.get(f"/jobs/{protected[-16:]}/view").text
    found = script.get(f"{reported}/result").json()
    assert found["verdict"]["decision"] == candidate["decision"]
    assert found["facts"]["k"] == candidate["after"]["k"]
    page = script.get(f"{reported}/report.html")
    assert page.status_code == 200
    assert found["verdict"]["headline"] in page.text
    assert "people-partition-k-11-l-2-report.html" in page.headers["content-disposition"]
    assert "people-partition-k-11-l-2.parquet" in page.text.partition("</h1>")[0]
    new = {"decision": "later", "by": "A. Reviewer", "candidate": protected[-16:]}
    assert script.post(f"{table}/decisions", json=new).status_code == 201
    record = script.get(f"{table}/record.html").text
    for kind, name in (("upload", candidate["file_name"]), ("parquet", "people-partition-k-11-l-2.parquet")):
        file = script.get(f"{protected}/table", params={"format": kind}).content
        assert f"{name}, SHA-256 {hashlib.sha256(file).hexdigest()}" in record
    detail = percent(script.get(f"{protected}/result").json()["evaluation"]["granularity"])
    words = page.text.partition("<footer")[0]
    assert f"{detail} of the detail of the quasi-identifiers is kept; no row was dropped; no column" in words
    assert "was read: as it is, nothing was set by hand" in words
    assert page.text.count('<svg class="crowd-picture"') == 2  # before and after
    assert len(page.content) < 300_000
    before, after = candidate["before"], candidate["after"]
    numbers = " ".join(re.sub("<[^>]+>", " ", page.text.partition("<caption>The numbers of the decision")[2]).split())
    alone = [round(side["uniqueness"] * candidate["people"]) for side in (before, after)]
    assert f"People who stand alone {alone[0]:,} {alone[1]:,}" in numbers
    assert f"Found on average {percent(before['correctness'])} {percent(after['correctness'])}" in numbers
    assert f"Cells unchanged 100% {percent(candidate['cells_unchanged'])}" in numbers
    outside = script.get(f"{reported}/report-external.html")
    assert outside.status_code == 200
    assert ("This holds only if nobody outside knows" in outside.text) == (found["verdict"]["decision"] == "within")
    assert "illness" not in outside.text.partition("<footer")[0]
    assert script.get(f"/jobs/{reported[-16:]}/view").status_code == 200
    assert "incrowd assess protected.parquet" in script.get(f"{reported}/equivalent").json()["cli"]
    assert script.post(f"{reported}/reports").status_code == 409


def test_the_report_of_a_protected_table_tells_what_it_lacks_and_how_the_file_was_read(script, table, done):
    script.put(f"{table}/settings", json={"roles": {**ROLES, "illness": "drop"}, "rows_are_people": True})
    script.patch(f"{table}/reading", json={"null": "NA", "scales": {"city": "nominal"}})
    protected = done(f"{table}/protections", protection={"k": 11, "method": "generalise", "suppress": 0.5})
    dropped = script.get(f"{protected}/result").json()["suppressed_rows"]
    words = script.get(f"{done(f'{protected}/reports')}/report.html").text.partition("<footer")[0]
    assert (f"{dropped:,} of 200 rows were dropped" in words) == (dropped > 0)
    assert "left out: illness" in words
    assert "was read: null NA; scales city: nominal" in words


def test_a_release_is_attacked(script, table, done):
    script.put(f"{table}/settings", json={"roles": ROLES, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 5})
    attacked = done(f"{table}/attacks", released=protected[-16:], kinds=["linkage", "inference"], secret="illness")
    found = script.get(f"{attacked}/result").json()
    linkage = next(one for one in found["attacks"] if one["kind"] == "linkage")
    assert 0 <= linkage["attack"]["value"] <= 0.5
    limit = found["limit"]
    for one, judged in zip(found["attacks"], found["judged"], strict=False):
        low, high = one["risk"]["low"], one["risk"]["high"]
        expected = "borderline" if low <= limit < high else "within" if one["risk"]["value"] <= limit else "over"
        assert judged["judgement"] == expected
        assert judged["advice"]
    itself = done(f"{table}/attacks", released=table[-16:], kinds=["linkage"])
    exposed = script.get(f"{itself}/result").json()
    judged = done(f"{table}/attacks", released=protected[-16:], kinds=["distances", "inference"])
    open_ones = script.get(f"{judged}/result").json()
    assert open_ones["conclusion"]["sentence"] == "Not known to be within the limit of 9.09%: inference."
    kinds = [one["judgement"] for one in open_ones["judged"]]
    assert sorted(kinds) == ["not judged", "not run"]  # distances prove nothing; without a secret nothing is guessed
    assert [(one["judgement"], one["words"]) for one in exposed["judged"]] == [("over", "above the limit")]
    assert exposed["conclusion"]["decision"] == "over"
    assert "Each attack beside the limit" in script.get(f"/jobs/{itself[-16:]}/view").text
    (whole,) = script.get(f"{itself}/result").json()["attacks"]
    assert whole["attack"]["value"] == pytest.approx(len({row[:3] for row in ROWS}) / len(ROWS))
    for one, name in ((attacked, script.get(f"{table}/candidates").json()[0]["name"]), (itself, "people.csv")):
        shown = html.unescape(script.get(f"/jobs/{one[-16:]}/view").text)
        assert f"Attacked: <bdi>{name}</bdi>" in shown
        assert shown.count(script.get(f"{one}/result").json()["sentence"]) == 1
    page = script.get(f"{attacked}/attacks.html").text
    assert found["sentence"] in page
    assert "attack_release(" in script.get(f"{attacked}/equivalent").json()["python"]
    assert script.get(f"{protected}/attacks.html").status_code == 409
    command = script.get(f"{attacked}/equivalent").json()["cli"]
    assert "--out protected.parquet --kept-rows kept-rows.txt\nincrowd attack people.csv protected.parquet" in command


def test_an_attack_tells_who_is_found_more_often_and_again(script, table, done):
    script.put(f"{table}/settings", json={"roles": ROLES, "rows_are_people": True})
    groups = {"all": ["age", "sex", "city"], "neighbour": ["age", "sex"]}
    asked = {"released": table[-16:], "kinds": ["linkage"], "known": groups, "by": "sex"}
    attacked = done(f"{table}/attacks", **asked)
    found = script.get(f"{attacked}/result").json()
    rows = [{name: row[NAMES.index(name)] for name in NAMES} for row in ROWS]
    chance = {
        label: [1 / sum(all(a[n] == b[n] for n in names) for b in rows) for a in rows]
        for label, names in groups.items()
    }
    for one in found["groups"]:
        both = [
            value
            for values in chance.values()
            for value, row in zip(values, rows, strict=True)
            if row["sex"] == one["group"]
        ]
        assert one["success"]["value"] == pytest.approx(sum(both) / len(both))
    again = [n for n in range(len(rows)) if chance["all"][n] + chance["neighbour"][n] >= 2]
    assert found["exposed"]["people"] == len(again)
    assert [one["row"] for one in found["exposed"]["rows"]] == again[:20]
    page = script.get(f"/jobs/{attacked[-16:]}/view").text
    assert found["sentence"] in page
    assert "Who is found more often" in page
    figures = script.get(f"{attacked}/figures").json()
    assert [row[0] for row in figures["attacks"]["table"]["rows"]] == ["all: linkage", "neighbour: linkage"]


def test_what_cannot_be_attacked_is_refused(script, table):
    script.put(f"{table}/settings", json={"roles": ROLES})
    for asked in ({"released": "0" * 16}, {"released": table[-16:], "holdout": "0" * 16}):
        assert script.post(f"{table}/attacks", json=asked).status_code == 404
    for more in ({"known": ["nobody"]}, {"secret": "nobody"}, {"known": {"x": ["nobody"]}}):
        assert script.post(f"{table}/attacks", json={"released": table[-16:], **more}).status_code == 400
    assert script.post(f"{table}/attacks", json={"released": table[-16:], "kinds": ["guessing"]}).status_code == 422


def test_an_attack_above_the_limit_takes_back_the_yes_of_its_candidate_everywhere(script, table, done):
    roles = {"age": "other", "sex": "quasi-identifier", "city": "other", "illness": "drop"}
    script.put(f"{table}/settings", json={"roles": roles, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 11})
    (card,) = script.get(f"{table}/candidates").json()
    assert card["decision"] == "within"
    assert "nobody outside knows age, city, as you said (an attacker who knows them finds" in card["sentence"]
    attacked = done(f"{table}/attacks", released=protected[-16:], kinds=["linkage"], known=["age", "sex", "city"])
    said = script.get(f"{attacked}/result").json()["sentence"]
    (card,) = script.get(f"{table}/candidates").json()
    assert (card["decision"], card["headline"]) == ("exposed", "No: an attack on it succeeds")
    assert "That is above the 9.09% accepted" in card["reason"]
    assert card["remarks"] == [f"It was attacked. {said}"]
    view = script.get(f"/jobs/{protected[-16:]}/view").text
    assert 'class="verdict no"' in view
    assert said in html.unescape(view)
    new = {"decision": "release", "by": "A. Reviewer", "candidate": protected[-16:]}
    assert script.post(f"{table}/decisions", json=new).status_code == 409  # a reason is needed
    assert script.post(f"{table}/decisions", json=new | {"note": "a trusted colleague"}).status_code == 201
    assert said in html.unescape(script.get(f"{table}/record.html").text)


def test_the_conditions_of_a_protection_go_on_with_its_table(script, table, done):
    script.put(f"{table}/settings", json={"roles": ROLES, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 11, "sensitive": "illness", "l": 2})
    (card,) = script.get(f"{table}/candidates").json()
    assert card["decision"] == "within"
    assert card["conditions"]
    made = script.post(f"{protected}/apply").json()
    assert made["conditions"] == card["conditions"]
    assert script.get(table).json()["conditions"] == []


@pytest.fixture
def attacked(script, table, done):
    """A candidate whose yes an attack took back."""
    roles = {"age": "other", "sex": "quasi-identifier", "city": "other", "illness": "drop"}
    script.put(f"{table}/settings", json={"roles": roles, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 11})
    done(f"{table}/attacks", released=protected[-16:], kinds=["linkage"], known=["age", "sex", "city"])
    (card,) = script.get(f"{table}/candidates").json()
    assert card["decision"] == "exposed"
    return card


def reopen(script, done, project, rows=ROWS):
    """The card of the candidate that a project makes again on a table."""
    again = upload(script, rows)
    assert script.post(f"{again}/project", json=project).status_code == 200
    (saved,) = script.get(f"{again}/project/saved").json()["candidates"]
    done(f"{again}/protections", protection=saved["protection"])
    (card,) = script.get(f"{again}/candidates").json()
    return again, card


def test_an_attack_goes_with_the_project_and_still_takes_back_the_yes(script, table, done, attacked):
    project = script.get(f"{table}/project").json()
    assert project["runs"][0]["summary"]["headline"] == attacked["headline"]
    _, card = reopen(script, done, project)
    shared = ("decision", "headline", "reason", "conditions")
    assert {name: card[name] for name in shared} == {name: attacked[name] for name in shared}


def test_an_attack_on_other_cells_of_a_project_has_to_be_repeated(script, table, done, attacked):
    project, fewer = script.get(f"{table}/project").json(), ROWS[:-1]
    again, card = reopen(script, done, project, fewer)
    assert (card["decision"], "attack it again" in card["headline"]) == ("undecided", True)
    assert "The same protection was attacked before" in card["remarks"][0]
    done(f"{again}/attacks", released=card["id"], kinds=["linkage"], known=["age", "sex", "city"])
    (card,) = script.get(f"{again}/candidates").json()
    assert card["headline"] == "No: an attack on it succeeds"


def test_an_attack_in_a_project_of_the_first_versions_is_never_forgotten(script, table, done, attacked):
    project = script.get(f"{table}/project").json()
    protected = next(entry["details"] for entry in project["trail"] if entry["what"] == "protection done")
    for run in project["runs"]:
        del run["job"]
        if run["kind"] == "protection":  # the verdict before the attack
            run["summary"] = {name: value for name, value in protected.items() if name != "job"}
    for entry in project["trail"]:
        if entry["what"] == "attack done":
            kept = {name: entry["details"][name] for name in ("job", "released", "sentence")}
            entry["details"] = kept | {"above_limit": [attacked["reason"]]}
    _, card = reopen(script, done, project)
    assert card["decision"] == "undecided"
    assert attacked["reason"] in card["reason"]


def test_an_attack_counts_for_every_candidate_with_the_same_cells(script, table, done, attacked):
    done(f"{table}/protections", protection={"k": 10})  # the same classes of the one column
    newest, first = script.get(f"{table}/candidates").json()
    assert newest["same_as"] == first["name"]
    assert (
        (newest["decision"], newest["reason"])
        == (first["decision"], first["reason"])
        == ("exposed", attacked["reason"])
    )


def test_an_attack_counts_in_whatever_order_the_rows_are_released(script, done):
    table = upload(script, sorted(ROWS))  # the order tells the age, so rows are released in random order
    roles = {"age": "other", "sex": "quasi-identifier", "city": "other", "illness": "drop"}
    script.put(f"{table}/settings", json={"roles": roles, "rows_are_people": True})
    first, _ = (done(f"{table}/protections", protection={"k": 11}) for _ in range(2))
    done(f"{table}/attacks", released=first[-16:], kinds=["linkage"], known=["age", "sex", "city"])
    cards = script.get(f"{table}/candidates").json()
    assert [card["same_as"] for card in cards] == [None, None]  # not cell by cell
    assert [card["headline"] for card in cards] == ["No: an attack on it succeeds"] * 2
    _, card = reopen(script, done, script.get(f"{table}/project").json(), sorted(ROWS))
    assert card["headline"] == "No: an attack on it succeeds"


def test_an_attack_has_to_be_repeated_on_a_release_with_other_random_numbers_of_people(script, done):
    rows = [(f"p{n:03}", *row) for n, row in enumerate(ROWS)]
    text = "patient,age,sex,city,illness\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", text.encode())})
    table = f"/api/v1/tables/{answer.json()['id']}"
    roles = {"patient": "person", "age": "other", "sex": "quasi-identifier", "city": "other", "illness": "drop"}
    script.put(f"{table}/settings", json={"roles": roles})
    first, _ = (done(f"{table}/protections", protection={"k": 11}) for _ in range(2))
    assert [card["decision"] for card in script.get(f"{table}/candidates").json()] == ["within", "within"]
    done(f"{table}/attacks", released=first[-16:], kinds=["linkage"], known=["age", "sex", "city"])
    cards = script.get(f"{table}/candidates").json()
    assert [card["decision"] for card in cards] == ["undecided", "exposed"]


def test_an_attack_is_judged_by_the_limit_of_its_candidate(script, table, done, attacked):
    script.patch(f"{table}/settings", json={"threshold": 1.0, "highest": 1.0})
    done(f"{table}/protections", protection={"k": 11})
    newest, _ = script.get(f"{table}/candidates").json()
    assert (newest["decision"], len(newest["conditions"]) > 0) == ("within", True)


def test_a_column_that_counts_as_known_whatever_was_said_has_its_reason_and_buttons(script, done):
    names, rows = "patient,age,event", [(n // 2, 30 + n // 2 % 20, 1 + n % 2) for n in range(400)]
    text = names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    answer = script.post("/api/v1/tables", files={"file": ("events.csv", text.encode())})
    table = f"/api/v1/tables/{answer.json()['id']}"
    roles = {"patient": "person", "age": "quasi-identifier", "event": "other"}
    script.put(f"{table}/settings", json={"roles": roles})
    assessed = done(f"{table}/assessments", protection=False)
    action = script.get(f"{assessed}/actions").json()[0]
    assert action["does"] == "columns"
    assert action["sentence"] == (
        "event counts as known to others, whatever you said: it numbers the records of each person, as waves, years "
        "and visits do. Count it as known, or leave it out."
    )
    assert [one["label"] for one in action["choices"]] == ["Count event as known", "Leave event out"]
    assert script.post(f"{assessed}/actions/0", json={"choice": 1}).status_code == 200
    again = done(f"{table}/assessments", protection=False)
    assert "event" not in str(script.get(f"{again}/result").json()["verdict"]["undecided"])
    assert all("command" not in one["sentence"] for one in script.get(f"{again}/actions").json())


def _open(script, header, rows, **roles):
    """A table of these rows with these roles; its address."""
    content = io.BytesIO("\n".join([header, *rows]).encode())
    opened = script.post("/api/v1/tables", files={"file": ("people.csv", content)}).json()
    address = f"/api/v1/tables/{opened['id']}"
    named = {name: role.replace("_", "-") for name, role in roles.items()}
    script.put(f"{address}/settings", json={"roles": named, "rows_are_people": True})
    return address


def test_spellings_are_joined_by_a_button(script, done):
    secret = {0: ["Cancer", "cancer"], 1: ["flu", "asthma"], 2: ["flu", "asthma"]}
    rows = [f"{20 + n % 3},{secret[n % 3][n // 3 % 2]}" for n in range(120)]
    address = _open(script, "age,illness", rows, age="quasi_identifier", illness="sensitive")
    assessed = done(f"{address}/assessments", protection=False)
    (action,) = [one for one in script.get(f"{assessed}/actions").json() if one["does"] == "reading"]
    assert [one["label"] for one in action["choices"]] == ["Join spellings"]
    answer = script.post(f"{assessed}/actions/{action['number']}", json={"choice": 0})
    assert answer.status_code == 200, answer.text
    assert answer.json()["settings"]["settings"]["roles"]["illness"] == "sensitive"
    assert script.get(f"{address}/columns").json()["reading"]["fold"] is True
    again = done(f"{address}/assessments", protection=False)
    assert [one for one in script.get(f"{again}/actions").json() if one["does"] == "reading"] == []
    assert "--fold" in script.get(f"{again}/equivalent").json()["cli"]
    assert "fold=True" in script.get(f"{again}/equivalent").json()["python"]
    script.patch(f"{address}/reading", json={"fold": None})
    assert script.get(f"{address}/columns").json()["reading"]["fold"] is False


def test_dates_are_read_by_a_button_where_the_order_is_open_and_else_it_is_said_who_does_it(script, done):
    rows = [f"{n % 12 + 1:02}/{n // 12 % 12 + 1:02}/{1950 + n % 50},{n % 2}" for n in range(600)]
    address = _open(script, "born,sex", rows, born="quasi_identifier", sex="quasi_identifier")
    assessed = done(f"{address}/assessments", protection=False)
    (action,) = [one for one in script.get(f"{assessed}/actions").json() if one["does"] == "reading"]
    assert [one["label"] for one in action["choices"]] == ["The day is first", "The month is first"]
    assert script.post(f"{assessed}/actions/{action['number']}", json={"choice": 1}).status_code == 200
    columns = {one["name"]: one["type"] for one in script.get(f"{address}/columns").json()["columns"]}
    assert columns["born"] == "date or time"
    mixed = [row if n % 2 else f"{1950 + n % 50}-0{n % 9 + 1}-1{n % 9},1" for n, row in enumerate(rows)]
    address = _open(script, "born,sex", mixed, born="quasi_identifier", sex="quasi_identifier")
    actions = script.get(f"{done(f'{address}/assessments', protection=False)}/actions").json()
    (action,) = [one for one in actions if "year-month-day" in one["sentence"]]
    assert (action["does"], action["choices"]) == ("advice", [])
    assert action["sentence"].endswith("There is no button for this: do it in the file, and open it again.")


def test_a_yes_names_the_attacks_that_were_not_run(script, table, done):
    script.put(f"{table}/settings", json={"roles": ROLES, "rows_are_people": True})
    protected = done(f"{table}/protections", protection={"k": 11})
    done(f"{table}/attacks", released=protected[-16:], kinds=["linkage", "inference", "membership"])
    (card,) = script.get(f"{table}/candidates").json()
    (said,) = [one for one in card["conditions"] if one.startswith("Attacks that were not run would fail")]
    assert "inference (" in said
    assert "membership (" in said
    new = {"decision": "release", "by": "A. Reviewer", "candidate": protected[-16:]}
    assert script.post(f"{table}/decisions", json=new).status_code == 409
    every = [{"condition": one, "reason": "it was tried elsewhere"} for one in card["conditions"]]
    refused = script.post(f"{table}/decisions", json=new | {"confirmed": every[1:]})
    assert (refused.status_code, "1 condition of the yes is not confirmed" in refused.text) == (409, True)
    assert script.post(f"{table}/decisions", json=new | {"confirmed": every}).status_code == 201
    record = html.unescape(script.get(f"{table}/record.html").text)
    assert record.count("Confirmed by A. Reviewer.</strong> “it was tried elsewhere”") == len(every)


def test_a_button_counts_every_column_that_goes(script, table, done):
    roles = ROLES | {"illness": "identifier"}
    script.put(f"{table}/settings", json={"roles": roles, "rows_are_people": True})
    actions = script.get(f"{done(f'{table}/assessments', protection=True)}/actions").json()
    labels = [choice["label"] for one in actions for choice in one["choices"] if choice["protection"]]
    assert labels
    assert all("without 1 column" in label for label in labels)
