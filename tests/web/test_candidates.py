"""Candidates: cards with the settings that made them, comparisons, rows side by side, downloads, and the search."""

import io
import random
from html import escape

import polars as pl
import pyarrow
import pyarrow.parquet
import pytest

pytest.importorskip("fastapi")

from incrowd import ClassSizes
from incrowd.web.candidates import name_of
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.releases import Release

pytestmark = pytest.mark.usefixtures("no_child_processes")

NAMES = ["age", "sex", "city", "illness"]
ROWS = [(20 + n * n % 29, "fm"[n % 2], "ABCDE"[n % 5], "xyz"[n % 3]) for n in range(200)]
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "quasi-identifier", "illness": "sensitive"}


@pytest.fixture
def table(script):
    text = ",".join(NAMES) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))})
    address = f"/api/v1/tables/{answer.json()['id']}"
    assert script.put(f"{address}/settings", json={"roles": ROLES, "rows_are_people": True}).status_code == 200
    return address


@pytest.fixture
def protect(script, table, wait_for):
    def made(**asked):
        job = script.post(f"{table}/protections", json={"protection": asked}).json()
        ended = wait_for(script, job)
        assert ended["state"] == "done", ended["message"]
        return job["id"]

    return made


def test_what_is_kept_secret_follows_the_roles_unless_somebody_chose_other_columns(script, table):
    def kept_after(roles, **asked):
        changes = {"roles": roles} | ({"protection": asked} if asked else {})
        return script.patch(f"{table}/settings", json=changes).json()["settings"]["protection"]

    kept_after({}, sensitive=["illness"], l=2)
    after = kept_after({"city": "sensitive"})
    assert (after["sensitive"], after["l"]) == (["city", "illness"], 2)
    assert kept_after({"sex": "sensitive"}, leave_out=["city"])["sensitive"] == ["city", "illness"]  # named by somebody
    assert kept_after({"age": "sensitive"}, sensitive=["sex", "illness"])["sensitive"] == ["sex", "illness"]
    assert kept_after({"age": "other"})["sensitive"] == ["sex", "illness"]
    gone = kept_after({"sex": "other", "illness": "other", "city": "other"})
    assert (gone["sensitive"], gone["l"]) == (None, None)
    assert script.post(f"{table}/settings/undo").json()["settings"]["protection"]["sensitive"] == ["sex", "illness"]
    assert kept_after({"city": "quasi-identifier"})["sensitive"] == ["sex", "illness"]


def test_each_candidate_keeps_its_own_settings_risk_and_verdict(script, table, protect):
    first, second = protect(k=4), protect(k=11, l=2, sensitive=["illness"])
    script.patch(f"{table}/settings", json={"protection": {"k": 77}})
    b, a = script.get(f"{table}/candidates").json()
    assert (a["id"], b["id"]) == (first, second)
    assert (a["protection"]["k"], b["protection"]["k"], b["protection"]["l"]) == (4, 11, 2)
    assert (a["name"], b["name"]) == ("partition, k = 4", "partition, k = 11, l = 2")
    assert b["file_name"] == "people-partition-k-11-l-2.csv"
    for one in (a, b):
        found = script.get(f"/api/v1/jobs/{one['id']}/result").json()
        assert one["decision"] == found["verdict"]["decision"]
        assert one["detail"] == found["evaluation"]["granularity"]
        assert one["after"]["k"] >= one["protection"]["k"]
    assert a["decision"] == "over"
    assert a["detail"] > b["detail"]
    script.post(f"/api/v1/jobs/{first}/name", json={"name": "for the ministry"})
    assert script.get(f"{table}/candidates").json()[1]["name"] == "for the ministry"


def test_two_candidates_are_compared(script, table, protect):
    first, second = protect(k=4), protect(k=20)
    found = script.post(f"{table}/candidates/compare", json={"a": first, "b": second}).json()
    numbers = {one["name"]: one for one in found["numbers"]}
    assert numbers["smallest class"]["better"] == "b"
    assert numbers["detail kept"]["better"] == "a"
    assert numbers["rows left out"]["better"] is None
    ages = next(one for one in found["columns"] if one["column"] == "age")
    for shares in ("original", "a", "b"):
        assert sum(ages[shares]) == pytest.approx(1)
    moved = sum(abs(was - now) for was, now in zip(ages["original"], ages["b"], strict=True)) / 2
    assert ages["distance_b"] == pytest.approx(moved)


def test_equal_tables_are_recognised_and_before_and_after_are_on_one_basis(script, table, protect):
    script.patch(f"{table}/settings", json={"population": 50_000})
    first, second, other = protect(k=5), protect(k=5), protect(k=9)
    cards = {one["id"]: one for one in script.get(f"{table}/candidates").json()}
    assert cards[first]["same_as"] is None
    assert cards[second]["same_as"] == cards[first]["name"]
    assert cards[other]["same_as"] is None
    for one in cards.values():
        assert one["highest_basis"] == "table"
        assert one["highest_before"] == 1 / one["before"]["k"] > one["highest"] == 1 / one["after"]["k"]
        assert one["population_unused"].startswith("The population is not used")
        kept = [column["detail"] for column in one["least_kept"]]
        assert kept == sorted(kept)
        assert kept[0] < 1
    page = script.get(f"/jobs/{first}/view").text
    assert f"Candidate <bdi>{cards[first]['name']}</bdi>" in page
    assert "Both columns are by the classes of the table" in page
    assert 'data-column="age"' in page


def test_why_the_population_is_not_used_is_told_with_names_that_can_be_shown(script, wait_for):
    names = ["age\u202e", "pay"]  # everything after it would be shown from right to left
    text = ",".join(names) + "\n" + "".join(f"{20 + n * n % 29},{n * 7 % 31}\n" for n in range(200))
    opened = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))}).json()
    address = f"/api/v1/tables/{opened['id']}"
    roles = dict.fromkeys(names, "quasi-identifier")
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True, "population": 50_000})
    job = script.post(f"{address}/protections", json={"protection": {"k": 5}}).json()
    assert wait_for(script, job)["state"] == "done"
    (card,) = script.get(f"{address}/candidates").json()
    assert names[0] in card["population_unused"]
    said = script.get(f"/jobs/{job['id']}/view").text.partition('id="population-unused"')[2].partition("</p>")[0]
    assert ("age\ufffd" in said, "\u202e" in said) == (True, False)


def test_a_release_that_was_deleted_meanwhile_has_no_equal(app, script, table, protect):
    gone, left = protect(k=5), protect(k=5)
    release = app.state.server.jobs._jobs[gone].outcome.release
    assert release.__dict__.pop("fingerprint")  # the job has worked it out: no request waits for it
    release.delete()
    answer = script.get(f"{table}/candidates")
    assert answer.status_code == 200, answer.text
    assert {one["id"]: one["same_as"] for one in answer.json()} == {gone: None, left: None}


def test_a_release_is_read_once_to_compare_it_and_values_count_not_their_codes(tmp_path, monkeypatch):
    opened = []

    class Counted(pyarrow.parquet.ParquetFile):
        def __init__(self, file, **options):
            opened.append(file)
            super().__init__(file, **options)

    def fingerprint(name, values):
        file = tmp_path / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"city": values}), file)
        opened.clear()
        found = Release(file, ("city",)).fingerprint
        assert opened == [file]
        return found

    monkeypatch.setattr("incrowd.web.releases._BATCH", 10)
    monkeypatch.setattr("incrowd.backends.spool.pq.ParquetFile", Counted)
    cities = pyarrow.array(["A", "B"] * 50)
    found = fingerprint("plain", cities)
    assert fingerprint("encoded", cities.dictionary_encode()) == found
    others = pyarrow.array(["C", "D"] * 50).dictionary_encode()  # codes as before, other values
    assert fingerprint("others", others) != found


def test_a_hidden_cell_tells_what_became_of_it(script, table, protect):
    hidden = script.post(f"/api/v1/jobs/{protect(k=5)}/rows", json={"rows": 200}).json()
    kinds = {cell for pair in hidden["rows"] for cell in pair["after"]}
    assert "•••• (unchanged)" in kinds  # the secret
    assert any(kind.startswith("•••• (a range, ") for kind in kinds)
    for pair in hidden["rows"]:
        assert pair["changed"] == [cell != "•••• (unchanged)" for cell in pair["after"]]


def test_rows_are_shown_side_by_side_with_changes_marked(script, table, protect):
    job = protect(k=5)
    hidden = script.post(f"/api/v1/jobs/{job}/rows").json()
    shown = script.post(f"/api/v1/jobs/{job}/rows", json={"show": True, "start": 7, "rows": 5}).json()
    released = script.get(f"/api/v1/jobs/{job}/table").text.splitlines()[1:]
    assert hidden["columns"] == NAMES
    assert (len(hidden["rows"]), hidden["total"], hidden["masked"]) == (20, 200, True)
    for pair in shown["rows"]:
        assert pair["before"] == [str(value) for value in ROWS[pair["record"]]]
        assert pair["after"] == released[pair["record"]].replace('"', "").split(",")
        assert pair["changed"] == [was != now for was, now in zip(pair["before"], pair["after"], strict=True)]
        assert pair["changed"] == hidden["rows"][pair["record"]]["changed"]
    assert [pair["record"] for pair in shown["rows"]] == [7, 8, 9, 10, 11]
    cells = {cell for pair in hidden["rows"] for cell in (*pair["before"], *pair["after"])}
    assert all(cell.startswith("••••") for cell in cells)
    assert script.post(f"/api/v1/jobs/{job}/rows", json={"start": 200}).json()["rows"] == []


def test_rows_that_were_left_out_are_passed_over(script, wait_for):
    text = "age,city\n" + "30,A\n" * 20 + "99,Z\n" + "30,A\n" * 20
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))}).json()
    address = f"/api/v1/tables/{answer['id']}"
    script.put(f"{address}/settings", json={"roles": {"age": "quasi-identifier", "city": "quasi-identifier"}})
    asked = {"k": 5, "method": "generalise", "suppress": 0.1}
    job = script.post(f"{address}/protections", json={"protection": asked}).json()
    wait_for(script, job)
    found = script.post(f"/api/v1/jobs/{job['id']}/rows", json={"start": 19, "rows": 2, "show": True}).json()
    assert [pair["record"] for pair in found["rows"]] == [19, 21]
    assert all(pair["before"] == ["30", "A"] for pair in found["rows"])
    (card,) = script.get(f"{address}/candidates").json()
    assert card["detail_words"] == "of the columns known to others (2); 1 row left out"
    new = {"decision": "later", "by": "me", "candidate": job["id"]}
    assert script.post(f"{address}/decisions", json=new).json()["after"]["rows_left_out"] == 1
    record = script.get(f"{address}/record.html").text
    assert "<td>rows left out</td><td>–</td><td>1</td>" in record
    assert "<td>age</td><td>known to others (quasi-identifier)</td>" in record


@pytest.mark.parametrize("kind", ["upload", "tsv", "feather", "dta", "sav"])
def test_a_protected_table_is_downloaded_in_the_format_that_is_asked_for(script, table, protect, tmp_path, kind):
    job = protect(k=5)
    answer = script.get(f"/api/v1/jobs/{job}/table", params={"format": kind})
    assert answer.status_code == 200, answer.text
    ending = "csv" if kind == "upload" else kind
    assert f"people-protected.{ending}" in answer.headers["content-disposition"]
    file = tmp_path / f"protected.{ending}"
    file.write_bytes(answer.content)
    assert ClassSizes.from_table(file, quasi_identifiers=["age", "sex", "city"]).smallest >= 5


def test_a_table_comes_back_as_it_was_uploaded(script, demo, wait_for):
    table = demo(script)
    job = script.post(f"/api/v1/tables/{table['id']}/protections").json()
    assert wait_for(script, job)["state"] == "done"
    answer = script.get(f"/api/v1/jobs/{job['id']}/table", params={"format": "upload"})
    assert pyarrow.parquet.read_table(io.BytesIO(answer.content)).num_rows == 1_000


def test_the_least_loss_that_passes_is_found_and_can_be_made_again(script, table, wait_for, protect):
    job = script.post(f"{table}/solutions", json={"seconds": 60}).json()
    assert wait_for(script, job)["state"] == "done"
    found = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    assert found["passes"]
    assert found["verdict"]["decision"] == "within"
    asked = [
        f"k = {found['protection']['k']}: ",
        "l = " if found["protection"]["l"] else "No l for illness: no class makes",
    ]
    assert all(told.startswith(begins) for told, begins in zip(found["demands"], asked, strict=True))
    view = script.get(f"/jobs/{job['id']}/view").text
    assert all(f'<p class="demand">{escape(told)}</p>' in view for told in found["demands"])
    (candidate,) = script.get(f"{table}/candidates").json()
    assert (candidate["kind"], candidate["decision"]) == ("solution", "within")
    assert not candidate["stale"]
    kept = script.patch(f"{table}/settings", json={"protection": candidate["protection"]}).json()
    assert kept["settings"]["protection"]["k"] == candidate["protection"]["k"]
    assert not script.get(f"{table}/candidates").json()[0]["stale"]  # the form asks for what was found
    again = protect(**{name: value for name, value in candidate["protection"].items() if value is not None})
    same = script.get(f"/api/v1/jobs/{again}/result").json()
    assert same["after"] == found["after"]
    assert same["verdict"]["decision"] == "within"
    script_text = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["python"]
    assert "find_release(" in script_text


def test_the_search_counts_people_of_another_table(script, table, wait_for):
    asked = {"k_map": 40, "population_table": table.rpartition("/")[2]}
    job = script.post(f"{table}/solutions", json={"seconds": 60, "protection": asked}).json()
    assert wait_for(script, job)["state"] == "done"
    found = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    assert found["passes"]
    assert found["guarantee"]["k_map"] >= 40 > found["protection"]["k"]
    assert "population_table=read_table(" in script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["python"]


def test_wishes_hierarchies_and_outputs_reach_the_library(script, table, protect):
    job = protect(k=5, importance={"age": 3}, keep=["sex"], hierarchies={"age": "5,10"})
    rows = script.post(f"/api/v1/jobs/{job}/rows", json={"show": True}).json()
    assert all(pair["before"][1] == pair["after"][1] for pair in rows["rows"])
    commands = script.get(f"/api/v1/jobs/{job}/equivalent").json()
    assert "--importance age=3" in commands["cli"]
    assert "--hierarchy age=5,10" in commands["cli"]
    groups = [[city, "north" if city in "AB" else "south"] for city in "ABCDE"]
    named = protect(k=5, method="generalise", hierarchies={"city": groups}, suppress=0.2)
    cities = {
        pair["after"][2] for pair in script.post(f"/api/v1/jobs/{named}/rows", json={"show": True}).json()["rows"]
    }
    assert cities <= {*"ABCDE", "north", "south", "*"}
    assert "Hierarchy.from_rows([['A', 'north']" in script.get(f"/api/v1/jobs/{named}/equivalent").json()["python"]
    mean = protect(k=5, output={"age": "mean"})
    assert script.get(f"/api/v1/jobs/{mean}/table").text.splitlines()[1].split(",")[0].isdigit()
    assert "--output age=mean" in script.get(f"/api/v1/jobs/{mean}/equivalent").json()["cli"]
    middle = protect(k=5, output="midpoint")
    assert script.get(f"/api/v1/jobs/{middle}/table").text.splitlines()[1].split(",")[0].replace(".", "").isdigit()


def test_a_hierarchy_by_rows_is_a_file_of_the_command_and_cut_points_a_rule(script, table, protect, tmp_path):
    groups = [[city, "north" if city in "AB" else "END0"] for city in "ABCDE"]
    job = protect(k=5, hierarchies={"city": groups, "age": "cuts:25,35/35"})
    command = script.get(f"/api/v1/jobs/{job}/equivalent").json()["cli"]
    assert command.startswith("cat > hierarchy-1.csv <<'END1'\nA;north\n")
    assert "--hierarchy city=hierarchy-1.csv --hierarchy age=cuts:25,35/35" in command
    ages = {row.split(",")[0].strip('"') for row in script.get(f"/api/v1/jobs/{job}/table").text.splitlines()[1:]}
    plain = sorted({row[0] for row in ROWS})
    parts = [[age for age in plain if low <= age < high] for low, high in ((0, 25), (25, 35), (0, 35), (35, 99))]
    made = ages - {*map(str, plain)}
    ends = [[end if end not in (plain[0], plain[-1]) else "*" for end in (part[0], part[-1])] for part in parts]
    assert made <= {"*", *(f"[{low};{high}]" for low, high in ends)}  # the extremes are told nowhere
    assert made


def test_candidates_of_the_same_settings_have_names_that_differ(script, table, protect):
    first, second = protect(k=5), protect(k=5)
    names = {one["id"]: one["name"] for one in script.get(f"{table}/candidates").json()}
    assert names == {first: "partition, k = 5", second: "partition, k = 5 (2)"}
    others = [protect(k=5, leave_out=["illness"]), protect(k=5, sensitive=["illness"])]
    named = {one["id"]: one["name"] for one in script.get(f"{table}/candidates").json()}
    assert [named[one] for one in others] == [
        "partition, k = 5, without illness",
        "partition, k = 5, illness kept secret",
    ]
    assert script.post(f"/api/v1/jobs/{second}/name", json={"name": "partition, k = 5"}).json()["name"].endswith("(2)")
    assert "people-partition-k-5-2" in script.get(f"/api/v1/jobs/{second}/table").headers["content-disposition"]


@pytest.mark.parametrize(
    "rule", ["/etc/passwd", "cuts:", "cuts:../a", "..", "0", "0,5", "prefix:", "hierarchy.csv", "5;10"]
)
def test_a_hierarchy_is_never_read_from_a_file_of_the_server(script, table, wait_for, rule):
    answer = script.post(f"{table}/protections", json={"protection": {"hierarchies": {"age": rule}}})
    assert answer.status_code in (400, 422), answer.text


def test_columns_can_be_left_out_and_names_say_what_was_asked(script, table, protect):
    job = protect(k=5, leave_out=["illness"])
    assert script.get(f"/api/v1/jobs/{job}/result").json()["removed"] == ["illness"]
    for show in (False, True):  # a cell that was removed is no empty cell
        shown = script.post(f"/api/v1/jobs/{job}/rows", json={"show": show}).json()["rows"][0]
        assert (shown["after"][3], shown["changed"][3]) == (None, True)
    assert name_of(ProtectionRequest(method="coarsen", resolution=8), []) == "same ranges for everybody"


def test_what_is_left_out_is_said_beside_the_table_and_in_the_record_to_sign(script, table, protect):
    script.patch(f"{table}/settings", json={"roles": {"city": "identifier"}})
    job = protect(k=5, leave_out=["illness"], sensitive=["illness"])
    assert "Left out: <b>city</b>, <b>illness</b>." in script.get(f"/jobs/{job}/view").text
    new = {"decision": "later", "by": "A. Reviewer", "candidate": job}
    assert script.post(f"{table}/decisions", json=new).status_code == 201
    record = script.get(f"{table}/record.html").text
    assert "<td>left out</td><td>city, illness</td>" in record
    assert "kept secret" not in record  # it is not in the release


def test_a_yes_says_everywhere_what_it_rests_on_and_what_was_left_out(script, table, protect, wait_for):
    script.patch(f"{table}/settings", json={"roles": {"city": "drop"}, "rows_are_people": True})
    job = protect(k=11, l=2, sensitive=["illness"])
    (card,) = script.get(f"{table}/candidates").json()
    verdict = script.get(f"/api/v1/jobs/{job}/result").json()["verdict"]
    assert verdict["decision"] == "within"
    (secret,) = [
        reason for reason in verdict["inside_reasons"] if reason.startswith("This yes holds while illness stays secret")
    ]
    assert "in classes smaller than 11" in secret
    assert card["conditions"] == verdict["inside_reasons"]
    assert (card["columns"], card["columns_left_out"]) == (4, ["city"])
    assert card["name"] == "partition, k = 11, l = 2, without city"
    assert card["headline"] == "Yes, on conditions: within the limits"
    assert (card["stands"], 'class="verdict if"' in script.get(f"/jobs/{job}/view").text) == ("if", True)
    assert f"{card['headline']}</h2>" in script.get(f"/jobs/{job}/view").text
    view = script.get(f"/jobs/{job}/view").text
    assert f'<p class="condition">{secret}</p>' in view
    assert "1 of 4 columns left out" in view
    assert card["detail_words"] == "of the columns known to others (2); 1 of 4 columns left out"
    assert view.count(card["detail_words"]) == 2  # in the sentence and in the table
    assert "By the 2 columns that others may know, and no other: no record is unique" in view
    new = {"decision": "release", "by": "A. Reviewer", "candidate": job}
    assert script.post(f"{table}/decisions", json=new).status_code == 409  # until every condition is confirmed
    confirmed = [{"condition": one} for one in card["conditions"]]
    assert script.post(f"{table}/decisions", json=new | {"confirmed": confirmed}).status_code == 201
    assert f"<p>{secret}<br><strong>" in script.get(f"{table}/record.html").text
    script.patch(f"{table}/settings", json={"recipient": "strict"})
    assert secret not in script.get(f"/jobs/{job}/view").text  # nor the yes


@pytest.mark.parametrize("visit", ["other", "drop"])
def test_the_record_names_every_column_of_a_condition_and_says_what_to_be_careful_with(script, wait_for, visit):
    kept, draws = [f"answer_{number}" for number in range(12)], random.Random(1)
    visits = draws.sample(range(1_000, 9_000), 200)
    rows = [[draws.choice("fm"), one, *(draws.randrange(4) for _ in kept)] for one in visits]
    text = "\n".join(",".join(map(str, row)) for row in [["sex", "visit", *kept], *rows])
    opened = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))}).json()
    address = f"/api/v1/tables/{opened['id']}"
    roles = {"sex": "quasi-identifier", "visit": visit} | dict.fromkeys(kept, "other")
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True})
    job = script.post(f"{address}/protections", json={"protection": {"k": 11}}).json()
    assert wait_for(script, job)["state"] == "done"
    (card,) = script.get(f"{address}/candidates").json()
    new = {"decision": "later", "by": "A. Reviewer", "candidate": job["id"]}
    assert script.post(f"{address}/decisions", json=new).status_code == 201
    record = script.get(f"{address}/record.html").text
    if visit == "drop":
        assert card["decision"] == "within"
        named = f"nobody outside knows {', '.join(kept)}: "
        assert any(named in condition for condition in card["conditions"])
        assert named in record
        assert "Careful" not in record
    else:
        careful = (
            "Careful: visit is passed on unchanged and has 200 different values in 200 rows. An attacker who knows it"
        )
        assert careful in script.get(f"/jobs/{job['id']}/view").text
        assert f"<p>{careful}" in record


def test_a_candidate_of_another_question_is_not_recommended(script, table, protect):
    job = protect(k=5)
    recommendation = script.get(f"/api/v1/jobs/{job}/result").json()["verdict"]["recommendation"]
    assert recommendation in script.get(f"/jobs/{job}/view").text
    script.patch(f"{table}/settings", json={"roles": {"city": "other"}})
    assert recommendation not in script.get(f"/jobs/{job}/view").text


def test_a_sampling_weight_that_is_passed_on_is_a_condition(script, wait_for):
    """The weight is in the file that goes out, so who knows it finds people by it: counted here in the file."""
    rows = [[20 + n % 4, "fm"[n % 2], 900 + n * 7 % 60] for n in range(400)]
    text = "\n".join(",".join(map(str, row)) for row in [["age", "sex", "weight"], *rows])
    opened = script.post("/api/v1/tables", files={"file": ("survey.csv", io.BytesIO(text.encode()))}).json()
    address = f"/api/v1/tables/{opened['id']}"
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "weight": "weight"}
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True})
    job = wait_for(script, script.post(f"{address}/protections", json={"protection": {"k": 11}}).json())
    assert job["state"] == "done", job["message"]
    release = pl.read_csv(io.BytesIO(script.get(f"/api/v1/jobs/{job['id']}/table").content), infer_schema=False)
    sizes = release.group_by(release.columns).len()["len"]
    small = int(sizes.filter(sizes < 11).sum())
    assert small > 300
    (card,) = script.get(f"{address}/candidates").json()
    (said,) = [one for one in card["conditions"] if "the weight weight" in one]
    assert f"{small:,} people of 400 people in classes smaller than 11" in said
    assert f"{int((sizes == 1).sum()):,} " in said
    dropped = wait_for(
        script, script.post(f"{address}/protections", json={"protection": {"k": 11, "leave_out": ["weight"]}}).json()
    )
    by_id = {one["id"]: one for one in script.get(f"{address}/candidates").json()}
    assert not any("the weight" in one for one in by_id[dropped["id"]]["conditions"])


def test_unchanged_cells_are_counted_in_the_files(script, wait_for):
    """Every postcode a set of eleven is no detail kept, whatever share of its range that is."""
    rows = [[10_000 + 7 * n, "fm"[n % 2], n % 5] for n in range(300)]
    names = ["zip", "sex", "note"]
    text = "\n".join(",".join(map(str, row)) for row in [names, *rows])
    opened = script.post("/api/v1/tables", files={"file": ("stays.csv", io.BytesIO(text.encode()))}).json()
    address = f"/api/v1/tables/{opened['id']}"
    roles = {"zip": "quasi-identifier", "sex": "quasi-identifier", "note": "other"}
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True})
    job = wait_for(
        script, script.post(f"{address}/protections", json={"protection": {"k": 11, "leave_out": ["note"]}}).json()
    )
    pairs = script.post(f"/api/v1/jobs/{job['id']}/rows", json={"rows": 200, "show": True}).json()["rows"]
    pairs += script.post(f"/api/v1/jobs/{job['id']}/rows", json={"start": 200, "rows": 100, "show": True}).json()[
        "rows"
    ]
    release = pl.read_csv(io.BytesIO(script.get(f"/api/v1/jobs/{job['id']}/table").content), infer_schema=False)
    assert release.columns == ["zip", "sex"]
    same = sum(str(rows[pair["record"]][place]) == pair["after"][place] for pair in pairs for place in (0, 1))
    (card,) = script.get(f"{address}/candidates").json()
    assert card["cells_unchanged"] == pytest.approx(same / 900)
    assert card["detail"] > card["cells_unchanged"]


def test_only_protections_of_a_table_are_candidates(script, table, wait_for):
    leak = script.post(f"{table}/leaks").json()
    wait_for(script, leak)
    assert script.get(f"{table}/candidates").json() == []
    assert script.post(f"/api/v1/jobs/{leak['id']}/rows").status_code == 409
    assert script.get(f"/api/v1/jobs/{leak['id']}/table").status_code == 409
    assert script.post(f"{table}/candidates/compare", json={"a": leak["id"], "b": leak["id"]}).status_code == 409


def test_perturbation_is_a_candidate_that_never_says_yes(script, table, protect):
    job = protect(method="perturb", steps=[{"column": "age", "action": "noise=0.3"}], seed=4)
    (candidate,) = script.get(f"{table}/candidates").json()
    assert candidate["decision"] != "within"
    assert (candidate["perturbed"], candidate["detail_words"]) == (
        ["age"],
        "of the columns known to others (3, 1 changed by chance)",
    )
    assert "Linkage does: The right record is named in" in candidate["reason"]
    view = script.get(f"/jobs/{job}/view").text
    assert "No guarantee: age was changed by chance" in view
    assert candidate["reason"].partition(";")[0] in view
    assert "right record named by linkage" in view
    assert 'class="verdict within"' not in view
    for of_classes in ("smallest class (k)", "unique people", "Secrets, before", "People by class size"):
        assert of_classes not in view  # they show nothing of values that changed by chance
    pairs = script.post(f"/api/v1/jobs/{job}/rows", json={"show": True}).json()["rows"]
    assert any(pair["changed"][0] for pair in pairs)
    assert "--step age:noise=0.3" in script.get(f"/api/v1/jobs/{job}/equivalent").json()["cli"]
    for action in ("pram=/etc/passwd", "pram,matrix=secrets.csv"):
        stolen = {"method": "perturb", "steps": [{"column": "age", "action": action}]}
        refused = script.post(f"{table}/protections", json={"protection": stolen})
        assert (refused.status_code, "no file of this machine" in refused.text) == (422, True)


def test_every_step_of_the_library_can_be_asked_for(script, table, protect):
    actions = ["top=80,to=mean", "microaggregate=5,by=mdav", "shuffle=sex", "recordswap=0.05,match=sex"]
    steps = [{"column": "age", "action": action} for action in actions]
    steps.append({"column": "age+sex", "action": "pram=0.9"})
    job = protect(method="perturb", steps=steps, seed=4, k=2)
    assert "--step age:top=80,to=mean" in script.get(f"/api/v1/jobs/{job}/equivalent").json()["cli"]


def test_further_demands_reach_the_library(script, table, protect):
    job = protect(k=5, beta=2.0, sensitive="illness")
    assert "--beta 2" in script.get(f"/api/v1/jobs/{job}/equivalent").json()["cli"]
    blanked = protect(k=3, method="blank", wildcards=True)
    assert "--wildcards" in script.get(f"/api/v1/jobs/{blanked}/equivalent").json()["cli"]


def test_a_release_comes_back_in_the_dialect_of_the_upload(script, wait_for):
    rows = "".join(f"{20 + n % 9};{'hf'[n % 2]};{'Nîmes' if n % 3 else 'Orléans'};{n % 7},25\n" for n in range(120))
    file = ("paie.csv", ("âge;sexe;ville;prime\n" + rows).encode("cp1252"))
    address = f"/api/v1/tables/{script.post('/api/v1/tables', files={'file': file}).json()['id']}"
    roles = {"âge": "quasi-identifier", "sexe": "quasi-identifier", "ville": "other", "prime": "other"}
    script.put(f"{address}/settings", json={"roles": roles, "rows_are_people": True})
    job = wait_for(script, script.post(f"{address}/protections", json={"protection": {"k": 5}}).json())
    assert job["state"] == "done", job["message"]
    found = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    assert found["written"] == "cells parted by semicolons, decimal commas, encoding cp1252"
    assert found["written"] in script.get(f"/jobs/{job['id']}/view").text
    as_came = script.get(f"/api/v1/jobs/{job['id']}/table", params={"format": "upload"})
    lines = as_came.content.decode("cp1252").splitlines()
    assert lines[0] == '"âge";"sexe";"ville";"prime"'
    assert {line.split(";")[-1] for line in lines[1:]} == {f'"{n},25"' for n in range(7)}
    plain = script.get(f"/api/v1/jobs/{job['id']}/table").text.splitlines()
    assert plain[0] == '"âge","sexe","ville","prime"'
    assert {line.split(",")[-1] for line in plain[1:]} == {f"{n}.25" for n in range(7)}


def test_candidates_by_groups_of_values_are_compared(script, table, protect):
    groups = [[one, "south" if one in "AB" else "north"] for one in "ABCDE"]
    by_groups = protect(k=5, hierarchies={"city": groups}, method="generalise")
    other = protect(k=5)
    pair = script.post(f"{table}/candidates/compare", json={"a": by_groups, "b": other})
    assert pair.status_code == 200, pair.text
    assert "city" in [one["column"] for one in pair.json()["columns"]]


def test_a_refused_protection_names_methods_as_the_form_does(script, table, wait_for):
    script.patch(f"{table}/settings", json={"roles": {"age": "quasi-identifier"}})
    asked = {"method": "coarsen", "resolution": 8, "importance": {"age": 2}}
    job = wait_for(script, script.post(f"{table}/protections", json={"protection": asked}).json())
    assert job["state"] == "failed"
    assert "“same ranges for everybody” does not take importance" in job["message"]
    assert "“partition”, “one coding for all” and “fewest cells blanked” do" in job["message"]
