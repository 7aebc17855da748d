"""The crowd: classes and marks, the riskiest records, and one record; against counts in plain Python."""

import io
from collections import Counter

import polars as pl
import pytest

pytest.importorskip("fastapi")

from incrowd.classes import ClassSizes
from incrowd.figures.crowd_marks import share_marks

NAMES = ["age", "sex", "city"]
ROWS = [(20 + n * n % 13, "fm"[n % 2], "ABCDE"[n % 5]) for n in range(150)]


def upload(client, rows=ROWS, names=NAMES, roles=("age", "sex", "city")):
    text = ",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    answer = client.post("/api/v1/tables", files={"file": ("people.csv", io.BytesIO(text.encode()))})
    assert answer.status_code == 201, answer.text
    table = answer.json()["id"]
    settings = {"roles": {name: "quasi-identifier" if name in roles else "other" for name in names}}
    assert client.put(f"/api/v1/tables/{table}/settings", json=settings).status_code == 200
    return f"/api/v1/tables/{table}"


@pytest.mark.parametrize("known", [["age"], ["age", "city"], NAMES, []])
def test_classes_and_marks_of_everybody_are_those_of_a_count(script, known):
    table = upload(script)
    found = script.post(f"{table}/crowd", json={"quasi_identifiers": known}).json()
    of_each = [tuple(row[NAMES.index(name)] for name in known) for row in ROWS]
    alike = Counter(of_each)
    assert dict(zip(found["sizes"], found["counts"], strict=True)) == Counter(alike.values())
    assert (found["people"], found["classes"]) == (len(ROWS), len(alike))
    marks = found["marks"]
    assert marks["each"] == "person"
    assert marks["size"] == [alike[row] for row in of_each]
    together = {(number, row) for number, row in zip(marks["class_of"], of_each, strict=True)}
    assert len(together) == len(alike) == len({number for number, _ in together})


def test_without_columns_the_roles_decide(script):
    table = upload(script, roles=("age", "sex"))
    named = script.post(f"{table}/crowd", json={"quasi_identifiers": ["age", "sex"]}).json()
    assert script.post(f"{table}/crowd").json()["sizes"] == named["sizes"]
    assert named["limits"]["class_size"] == 11


def test_a_person_with_several_records_is_one_mark(script):
    rows = [(person // 2, 20 + person // 6, "f") for person in range(24)]
    table = upload(script, rows, ["who", "age", "sex"], ("age", "sex"))
    found = script.post(f"{table}/crowd", json={"quasi_identifiers": ["age", "sex"], "person": "who"}).json()
    assert (found["people"], found["records"], len(found["marks"]["size"])) == (12, 24, 12)
    assert found["marks"]["size"] == [3] * 12


@pytest.mark.parametrize("decided", [[], ["age"], ["age", "sex"]])
def test_columns_that_nobody_judged_count_as_known(script, wait_for, decided):
    """The crowd, and what the assessment says of those who know these columns too, are one count."""
    people = pl.DataFrame({"age": [20 + n * n % 13 for n in range(150)], "sex": [n % 2 for n in range(150)]})
    people = people.with_columns(shoe=pl.Series([n % 7 for n in range(150)]))
    answer = script.post("/api/v1/tables", files={"file": ("people.csv", people.write_csv().encode())}).json()
    table = f"/api/v1/tables/{answer['id']}"
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "shoe": "other"}
    script.put(f"{table}/settings", json={"roles": roles, "decided": decided})
    found = script.post(f"{table}/crowd").json()
    sizes = people.group_by(people.columns).len()["len"]
    assert dict(zip(found["sizes"], found["counts"], strict=True)) == Counter(sizes.to_list())
    job = wait_for(script, script.post(f"{table}/assessments", json={"protection": False}).json())
    known = script.get(f"/api/v1/jobs/{job['id']}/result").json()["evidence"]["if_known"]
    assert (known["uniques"], known["k"]) == (int((sizes == 1).sum()), int(sizes.min()))
    script.patch(f"{table}/settings", json={"roles": roles})  # now all are judged
    settled = script.post(f"{table}/crowd").json()
    sizes = people.group_by("age", "sex").len()["len"]
    assert dict(zip(settled["sizes"], settled["counts"], strict=True)) == Counter(sizes.to_list())


def test_the_crowd_of_a_candidate_is_that_of_its_file(script, wait_for):
    table = upload(script)
    script.patch(f"{table}/settings", json={"rows_are_people": True})
    job = wait_for(script, script.post(f"{table}/protections", json={"protection": {"k": 7}}).json())
    found = script.post(f"{table}/crowd", json={"candidate": job["id"]}).json()
    release = pl.read_csv(io.BytesIO(script.get(f"/api/v1/jobs/{job['id']}/table").content), infer_schema=False)
    sizes = release.group_by(NAMES).len()["len"]
    assert dict(zip(found["sizes"], found["counts"], strict=True)) == Counter(sizes.to_list())
    assert found["left_out"] == len(ROWS) - release.height == 0
    marks, before = found["marks"], script.post(f"{table}/crowd").json()["marks"]
    assert marks["each"] == before["each"] == "person"
    assert Counter(marks["size"]) == Counter({size: size * count for size, count in Counter(sizes.to_list()).items()})
    rows = script.post(f"/api/v1/jobs/{job['id']}/rows", json={"rows": 150, "show": True}).json()["rows"]
    together = {(marks["class_of"][row["record"]], tuple(row["after"])) for row in rows}
    assert len(together) == len({number for number, _ in together}) == found["classes"]  # the same people as before


@pytest.mark.parametrize("sizes", [{1: 3, 2: 4_000, 50: 300}, {1: 5_000}, {7: 1, 1_000: 2_500}, {1: 1, 2: 900_000}])
def test_marks_for_shares_stand_for_everybody_and_miss_nobody_who_is_alone(sizes):
    marks = share_marks(ClassSizes.from_counts(sizes))
    people = {size: size * count for size, count in sizes.items()}
    assert sum(marks.people) == sum(people.values())
    assert min(marks.people) >= 1
    assert len(marks.size) <= 2_000 + 21
    stood_for = Counter()
    for size, number in zip(marks.size, marks.people, strict=True):
        stood_for[size] += number
    assert stood_for == people  # each of these sizes has marks of its own


def test_marks_of_large_classes_keep_the_spread_of_sizes():
    counts = dict.fromkeys(range(21, 1200), 5)
    marks = share_marks(ClassSizes.from_counts(counts), most=100)
    people = sum(size * count for size, count in counts.items())
    assert sum(marks.people) == people
    mean = sum(size * number for size, number in zip(marks.size, marks.people, strict=True)) / people
    assert mean == pytest.approx(sum(size * size * count for size, count in counts.items()) / people, rel=0.01)


def test_the_riskiest_are_the_smallest_classes_with_the_rarest_values(script):
    table = upload(script)
    found = script.post(f"{table}/riskiest", json={"rows": 12}).json()
    alike = Counter(ROWS)
    values = [Counter(row[place] for row in ROWS) for place in range(3)]

    def expected(row):
        chance = 1.0
        for place in range(3):
            chance *= values[place][row[place]] / len(ROWS)
        return chance * len(ROWS)

    order = sorted(range(len(ROWS)), key=lambda n: (alike[ROWS[n]], round(expected(ROWS[n]), 12), n))
    assert [row["record"] for row in found["rows"]] == order[:12]
    assert [row["expected"] for row in found["rows"]] == pytest.approx([expected(ROWS[n]) for n in order[:12]])
    assert found["masked"]
    assert not any(str(value) in cell for row in found["rows"] for cell in row["cells"] for value in ("20", "A"))
    shown = script.post(f"{table}/riskiest", json={"rows": 1, "show": True}).json()["rows"][0]
    assert shown["cells"] == [str(value) for value in ROWS[shown["record"]]]


def test_of_a_person_with_several_records_one_is_listed(script):
    rows = [(person // 2, 20 + person, "f") for person in range(20)]
    table = upload(script, rows, ["who", "age", "sex"], ("age", "sex"))
    found = script.post(
        f"{table}/riskiest", json={"quasi_identifiers": ["age", "sex"], "person": "who", "rows": 50}
    ).json()
    assert len({row["record"] // 2 for row in found["rows"]}) == len(found["rows"]) == 10


@pytest.mark.parametrize("record", [0, 7, 149])
def test_a_record_is_seen_as_brute_force_sees_it(script, record):
    table = upload(script)
    found = script.post(f"{table}/person-view", json={"record": record}).json()
    me = ROWS[record]

    def alike(places):
        return sum(all(row[place] == me[place] for place in places) for row in ROWS)

    assert found["alike"] == alike([0, 1, 2])
    for place, attribute in enumerate(found["attributes"]):
        assert attribute["alike_by_it_alone"] == alike([place])
        assert attribute["alike_without_it"] == alike([other for other in range(3) if other != place])
    places = []
    for step in found["found_by"]:
        places.append(NAMES.index(step["column"]))
        assert step["left"] == alike(places)
    assert found["found_by"][-1]["left"] == found["alike"]
    assert ("finds it" in found["sentence"]) == (found["alike"] == 1)
    assert found["masked"]
    assert found["learned"] == []  # every column is known
    assert str(me[0]) not in str(found["attributes"][0]["cell"])


def test_who_finds_a_record_reads_the_columns_that_nobody_needed(script):
    rows = [(20 + n, "fm"[n % 2], f"ill {n}", n * 100) for n in range(12)]
    table = upload(script, rows, ["age", "sex", "illness", "bill"], ("age", "sex"))
    script.patch(f"{table}/settings", json={"roles": {"illness": "sensitive", "bill": "other"}})
    found = script.post(f"{table}/person-view", json={"record": 7, "show": True}).json()
    assert [tuple(one.values()) for one in found["learned"]] == [("illness", "ill 7", True), ("bill", "700", False)]
    hidden = script.post(f"{table}/person-view", json={"record": 7}).json()["learned"]
    assert not any("ill 7" in one["cell"] or "700" in one["cell"] for one in hidden)


def test_a_history_is_seen_as_brute_force_sees_it(script):
    rows = [(person // 2, 20 + person % 4, "fm"[person % 3 == 0]) for person in range(24)]
    table = upload(script, rows, ["who", "age", "sex"], ("age", "sex"))
    asked = {"quasi_identifiers": ["age", "sex"], "person": "who", "record": 3}
    found = script.post(f"{table}/person-view", json=asked).json()

    def alike(places):
        histories = {who: Counter() for who, *_ in rows}
        for row in rows:
            histories[row[0]][tuple(row[place] for place in places)] += 1
        return sum(history == histories[rows[3][0]] for history in histories.values())

    assert (found["people"], found["alike"]) == (12, alike([1, 2]))
    assert [one["alike_by_it_alone"] for one in found["attributes"]] == [alike([1]), alike([2])]
    assert [one["alike_without_it"] for one in found["attributes"]] == [alike([2]), alike([1])]
    assert found["found_by"][-1]["left"] == found["alike"]


def test_what_protection_does_to_a_record(script, wait_for):
    table = upload(script)
    job = script.post(f"{table}/protections", json={"protection": {"k": 5}}).json()
    assert wait_for(script, job)["state"] == "done"
    asked = {"record": 7, "candidates": [job["id"]]}
    (after,) = script.post(f"{table}/person-view", json=asked).json()["after"]
    released = script.get(f"/api/v1/jobs/{job['id']}/table").text.splitlines()
    cells = [line.replace('"', "").split(",") for line in released[1:]]
    assert after["released"]
    shown = script.post(f"{table}/person-view", json={**asked, "show": True}).json()["after"][0]
    own = [cell["cell"] for cell in shown["cells"]]  # the rows were in an order, and are in a random one
    assert after["alike"] == sum(row == own for row in cells) >= 5
    for cell, hidden, before in zip(shown["cells"], after["cells"], ROWS[7], strict=True):
        assert cell["change"] == hidden["change"] == ("kept" if cell["cell"] == str(before) else "coarser")
        assert hidden["cell"] == "••••"


def test_a_record_that_was_left_out_is_told(script, wait_for):
    rows = [(30, "f", "A")] * 40 + [(99, "m", "Z")]
    table = upload(script, rows)
    job = script.post(f"{table}/protections", json={"protection": {"k": 5, "method": "generalise", "suppress": 0.1}})
    assert wait_for(script, job.json())["state"] == "done"
    asked = {"record": 40, "candidates": [job.json()["id"]]}
    (after,) = script.post(f"{table}/person-view", json=asked).json()["after"]
    assert after == {"candidate": job.json()["id"], "released": False, "alike": None, "cells": []}


def test_what_is_not_there_is_refused(script):
    table = upload(script)
    assert script.post(f"{table}/person-view", json={"record": 150}).status_code == 400
    assert script.post(f"{table}/person-view", json={"record": 1, "candidates": ["0" * 16]}).status_code == 404
    assert script.post(f"{table}/crowd", json={"quasi_identifiers": ["nobody"]}).status_code == 400
    assert script.post(f"{table}/riskiest", json={"quasi_identifiers": []}).status_code == 400
