"""Single columns: triage, what they add, histograms, and reading the file again."""

import io
from collections import Counter
from datetime import date

import numpy as np
import pytest

pytest.importorskip("fastapi")

from incrowd import read_table
from incrowd.backends import encode
from incrowd.figures.column_spread import count_on_round_axis

NAMES = ["age", "race", "city", "income"]
ROWS = [(20 + n * n % 13, 1 + n % 4, "ABCDE"[n % 5], [-9, 1000 + 7 * n][n % 9 > 0]) for n in range(120)]


@pytest.fixture
def table(script):
    text = ",".join(NAMES) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))})
    address = f"/api/v1/tables/{answer.json()['id']}"
    roles = {"age": "quasi-identifier", "city": "quasi-identifier", "race": "other", "income": "other"}
    settings = {"roles": roles, "decided": ["age", "city"]}
    assert script.put(f"{address}/settings", json=settings).status_code == 200
    return address


def test_every_column_says_what_it_is_and_whether_it_is_decided(script, table):
    found = script.get(f"{table}/columns").json()
    by_name = {one["name"]: one for one in found["columns"]}
    assert found["decided"] == 2
    assert list(by_name) == NAMES
    assert by_name["age"]["decided"]
    assert not by_name["race"]["decided"]
    assert by_name["race"]["scale"] == "numeric"
    assert by_name["race"]["scale_suggested"] == "nominal"
    assert by_name["income"]["missing_codes"] == [-9]
    assert all(one["confidence"] in ("high", "medium", "low") and one["reason"] for one in found["columns"])
    assert not any(str(value) in str(found) for value in (1007, "'A'"))


def test_who_stands_out_by_a_column_alone_and_with_others_is_counted(script, table):
    found = script.post(f"{table}/columns/adds", json={"columns": NAMES}).json()

    def uniques(*names):
        classes = Counter(tuple(row[NAMES.index(name)] for name in names) for row in ROWS)
        return sum(size == 1 for size in classes.values())

    assert found["people"] == len(ROWS)
    for one in found["columns"]:
        assert one["alone"] == uniques(one["column"])
        assert one["together"] == uniques(one["column"], *one["others"])
        assert len({one["column"], *one["others"]}) == 3
    by_name = {one["column"]: one for one in found["columns"]}
    assert by_name["age"]["alone"] < by_name["age"]["together"]  # alone it singles out few


def test_a_number_of_people_is_never_said_to_add_nothing(script):
    """Where everybody stands out already, leaving one column out changes nothing, and says nothing of it."""
    rows = [(1_000 + 7 * n, n % 2, 20 + n % 40, n % 9, n * n % 50) for n in range(200)]
    names = ["number", "sex", "age", "town", "job"]
    text = "\n".join(",".join(map(str, row)) for row in [names, *rows])
    made = script.post("/api/v1/tables", files={"file": ("all.csv", io.BytesIO(text.encode()))}).json()["id"]
    address = f"/api/v1/tables/{made}"
    script.put(f"{address}/settings", json={"roles": dict.fromkeys(names, "quasi-identifier")})
    found = script.post(f"{address}/columns/adds", json={"columns": ["number", "sex"]}).json()["columns"]
    assert [one["alone"] for one in found] == [200, 0]
    assert min(one["together"] for one in found) > 0


def test_a_histogram_counts_every_row_and_shows_values_only_when_asked(script, table):
    hidden = script.post(f"{table}/columns/histogram", json={"column": "income", "bins": 10}).json()
    shown = script.post(f"{table}/columns/histogram", json={"column": "income", "bins": 10, "show": True}).json()
    assert (hidden["edges"], hidden["labels"], hidden["masked"]) == (None, None, True)
    assert hidden["counts"] == shown["counts"]
    assert sum(hidden["counts"]) + hidden["missing"] == len(ROWS)
    edges = shown["edges"]
    for place, count in enumerate(shown["counts"]):
        assert count == sum(edges[place] <= row[3] < edges[place + 1] for row in ROWS)
    cities = script.post(f"{table}/columns/histogram", json={"column": "city", "bins": 2, "show": True}).json()
    assert (cities["kind"], cities["labels"], cities["counts"], cities["others"]) == (
        "values",
        ["A", "B"],
        [24, 24],
        72,
    )


def test_small_whole_numbers_have_a_range_each(script, table):
    found = script.post(f"{table}/columns/histogram", json={"column": "race", "show": True}).json()
    assert (found["counts"], found["edges"]) == ([30] * 4, [1, 2, 3, 4, 5])


def test_days_have_edges_that_are_days(script):
    text = "born\n" + "".join(f"19{50 + n % 40}-03-0{1 + n % 9}\n" for n in range(60)) + "\n"
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))}).json()
    asked = {"column": "born", "bins": 4, "show": True}
    found = script.post(f"/api/v1/tables/{answer['id']}/columns/histogram", json=asked).json()
    assert found["edges"][0] == "1950-03-01"
    assert sum(found["counts"]) == 60


def test_reading_again_keeps_decisions_and_makes_results_stale(script, table, wait_for):
    job = script.post(f"{table}/leaks").json()
    wait_for(script, job)
    how = {"null": "-9", "scales": {"race": "nominal"}}
    info = script.post(f"{table}/reading", json={"reading": how})
    assert info.status_code == 200, info.text
    assert info.json()["id"] == table[-16:]
    columns = {one["name"]: one for one in script.get(f"{table}/columns").json()["columns"]}
    assert columns["race"]["scale"] == "nominal"
    assert columns["income"]["nulls"] == sum(row[3] == -9 for row in ROWS)
    assert columns["age"]["decided"]
    assert script.get(f"/api/v1/jobs/{job['id']}").json()["stale"]
    state = script.get(f"{table}/settings").json()
    assert state["can_undo"]
    again = script.post(f"{table}/leaks").json()
    commands = script.get(f"/api/v1/jobs/{again['id']}/equivalent").json()
    assert "--null=-9 --scale race=nominal" in commands["cli"]
    assert "null='-9', scales={'race': 'nominal'}" in commands["python"]


def test_missing_codes_of_one_column_are_read_and_repeated(script, table, wait_for):
    triage = script.patch(f"{table}/reading", json={"null": "NA;income=-9"})
    assert triage.status_code == 200, triage.text
    columns = {one["name"]: one for one in triage.json()["columns"]}
    assert columns["income"]["nulls"] == sum(row[3] == -9 for row in ROWS)
    assert triage.json()["reading"]["null"] == "NA;income=-9"
    job = script.post(f"{table}/leaks").json()
    wait_for(script, job)
    commands = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()
    assert "--null NA --null income=-9" in commands["cli"]
    assert "null='NA;income=-9'" in commands["python"]


@pytest.mark.parametrize(
    "how",
    [
        {"scales": {"race": "colour"}},
        {"scales": {"nobody": "nominal"}},
        {"sheet": "x"},
        {"null": "nobody=-9"},
        {"null": "income="},
    ],
)
def test_a_reading_that_cannot_be_leaves_the_table_as_it_was(script, table, how):
    before = script.get(table).json()
    answer = script.post(f"{table}/reading", json={"reading": how})
    assert answer.status_code == 400
    assert "data.csv" not in answer.text
    assert script.get(table).json() == before


def test_a_reading_with_other_columns_keeps_what_still_fits(script, table):
    again = script.post(f"{table}/reading", json={"reading": {"separator": ";"}})
    assert [one["name"] for one in again.json()["columns"]] == [",".join(NAMES)]
    back = script.post(f"{table}/reading", json={"reading": {}}).json()
    assert [one["name"] for one in back["columns"]] == NAMES


def test_one_scale_is_changed_and_the_rest_of_the_reading_stays(script, table, wait_for):
    script.post(f"{table}/reading", json={"reading": {"null": "-9", "scales": {"race": "nominal"}}})
    job = wait_for(script, script.post(f"{table}/protections", json={"protection": {"k": 3}}).json())
    changed = script.patch(f"{table}/reading", json={"scales": {"age": "ordered"}}).json()
    scales = {one["name"]: (one["scale"], one["scale_stated"]) for one in changed["columns"]}
    assert (scales["age"], scales["race"]) == (("ordered", "ordered"), ("nominal", "nominal"))
    assert (changed["reading"]["null"], changed["takes_null"]) == ("-9", True)
    assert script.get(f"/api/v1/jobs/{job['id']}").json()["question_changed"]
    again = script.patch(f"{table}/reading", json={"scales": {"age": None}}).json()
    assert (again["reading"]["scales"], again["reading"]["null"]) == ({"race": "nominal"}, "-9")
    assert not script.get(f"/api/v1/jobs/{job['id']}").json()["question_changed"]  # the question is as it was
    script.patch(f"{table}/reading", json={"scales": {"age": "ordered"}})
    project = script.get(f"{table}/project").json()
    script.post(f"{table}/reading", json={"reading": {}})
    assert script.post(f"{table}/project", json=project).status_code == 200
    assert script.get(table).json()["reading"]["scales"] == {"race": "nominal", "age": "ordered"}
    assert script.get(f"{table}/trail").json()[-2]["details"] == {"changed": ["null", "scale of race", "scale of age"]}


def test_a_round_axis_tells_no_single_value(script, table):
    asked = {"column": "income", "bins": 10, "round_axis": True}
    found = script.post(f"{table}/columns/histogram", json=asked).json()
    edges, incomes = found["edges"], sorted(row[3] for row in ROWS)
    assert sum(found["counts"]) == len(ROWS)
    assert found["counts"][0] == sum(income < edges[1] for income in incomes) >= 11
    assert found["counts"][-1] == sum(income >= edges[-2] for income in incomes) >= 11
    assert all(edge % 100 == 0 for edge in edges)
    assert not {*edges} & {float(income) for income in incomes if incomes.count(income) == 1} - {1000.0}
    few = "age\n" + "".join(f"{age}\n" for age in range(20, 41))
    small = script.post("/api/v1/tables", files={"file": ("few.csv", io.BytesIO(few.encode()))}).json()["id"]
    asked = {"column": "age", "round_axis": True}
    assert script.post(f"/api/v1/tables/{small}/columns/histogram", json=asked).json()["edges"] is None


def test_a_hierarchy_is_seen_as_its_parts_and_values_only_when_asked(script, table):
    address = f"{table}/columns/hierarchy"
    found = script.post(address, json={"column": "age", "hierarchy": "cuts:25,30/30"}).json()
    ages = [row[0] for row in ROWS]
    parts = [sum(age < 25 for age in ages), sum(25 <= age < 30 for age in ages), sum(age >= 30 for age in ages)]
    assert [part["rows"] for part in found["levels"][0]["first"]] == parts
    assert [part["rows"] for part in found["levels"][1]["first"]] == [parts[0] + parts[1], parts[2]]
    assert found["levels"][0]["smallest"] == min(parts)
    assert {part["label"] for level in found["levels"] for part in level["first"]} == {None}
    assert {value["value"] for value in found["values"]} == {None}
    groups = [{"name": "north", "values": ["A", "B"]}]
    asked = {"column": "city", "groups": groups, "rest": "south", "show": True, "csv": True}
    found = script.post(address, json=asked).json()
    assert found["hierarchy"] == [[city, "north" if city in "AB" else "south"] for city in "ABCDE"]
    assert found["csv"] == "".join(f"{city};{'north' if city in 'AB' else 'south'};*\n" for city in "ABCDE")
    assert {value["value"]: value["label"] for value in found["values"]} == dict(found["hierarchy"])
    assert found["groups"] == [{"name": "north", "values": ["A", "B"]}, {"name": "south", "values": ["C", "D", "E"]}]
    loaded = script.post(address, json={"column": "city", "text": found["csv"]}).json()
    assert loaded["groups"] == []  # its values were not to be shown
    assert loaded["hierarchy"] == [[*row, "*"] for row in found["hierarchy"]]
    assert loaded["levels"] == [{**found["levels"][0], "first": loaded["levels"][0]["first"]}]


def test_groups_hold_the_rare_values_too_when_a_column_is_opened_again(script):
    places = [f"place {number:03}" for number in range(230)]
    rows = "".join(f"{place}\n" * (1 + (number < 215)) for number, place in enumerate(places))
    made = script.post("/api/v1/tables", files={"file": ("places.csv", io.BytesIO(f"place\n{rows}".encode()))}).json()
    address = f"/api/v1/tables/{made['id']}/columns/hierarchy"
    rare = [{"name": "far", "values": [places[0], places[229]]}]
    kept = script.post(address, json={"column": "place", "groups": rare}).json()["hierarchy"]
    found = script.post(address, json={"column": "place", "hierarchy": kept, "show": True}).json()
    assert (len(found["values"]), found["other_values"]) == (200, 30)
    assert places[229] not in {value["value"] for value in found["values"]}
    assert found["groups"] == rare


@pytest.mark.parametrize(
    "asked",
    [
        {"text": "A;north\nB"},
        {"text": "A;north"},
        {"groups": [{"name": "x", "values": ["A"]}, {"name": "y", "values": ["A"]}]},
        {"groups": [{"name": "x", "values": ["nowhere"]}]},
        {"hierarchy": "cuts:5"},
    ],
)
def test_a_hierarchy_that_does_not_fit_is_refused_without_a_cell(script, table, asked):
    answer = script.post(f"{table}/columns/hierarchy", json={"column": "city", **asked})
    assert answer.status_code == 400, answer.text
    assert "nowhere" not in answer.text


@pytest.mark.parametrize(
    ("values", "edges"),
    [
        ([date(9999, 12, 1 + number % 31) for number in range(60)], ["9999-12-01", "9999-12-31"]),
        ([date(9999 - number, 12, 31) for number in range(60)], ["9950-01-01", "9990-01-01"]),
        ([date(1, 1, 1 + number % 31) for number in range(60)], ["0001-01-01", "0001-02-01"]),
        ([1e308 * (-1) ** number for number in range(60)], None),
        ([1e15 + number for number in range(60)], None),
        ([5e-324 * number for number in range(60)], [4e-323, 2.57e-322]),
        ([1e300 + number for number in range(60)], None),
    ],
)
def test_a_round_axis_goes_as_far_as_numbers_and_the_calendar(values, edges):
    (column,) = encode(read_table({"x": values}), ["x"])
    found = count_on_round_axis(column, np.bincount(column.codes), 10)
    if edges is None:
        assert found is None
    else:
        counts, drawn = found
        assert sum(counts) == 60
        assert [drawn[0], drawn[-1]] == edges
        assert sorted(set(drawn)) == drawn
