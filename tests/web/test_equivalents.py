"""Every click as a command and as a script: run, they find what the app found."""

import json
import os
import shlex

import numpy as np
import pyarrow.parquet as pq
import pytest

TABLES = "/api/v1/tables"
DRAW = np.random.default_rng(0)
ROWS = "age,sex,zip code,=note,income\n" + "".join(
    f"{20 + min(DRAW.geometric(0.05), 60)},{'fm'[n % 2]},{10**4 + DRAW.geometric(0.3)},{n % 5},{1_000 + 37 * n % 900}\n"
    for n in range(400)
)
ROLES = {
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "zip code": "quasi-identifier",
    "=note": "other",
    "income": "sensitive",
}


@pytest.fixture
def table(script):
    found = script.post(TABLES, files={"file": ("my people.csv", ROWS.encode())}).json()["id"]
    groups = {"census": ["age", "sex"], "place": ["zip code"]}
    settings = {"roles": ROLES, "population": 5_000, "recipient": "restricted", "groups": groups}
    assert script.put(f"{TABLES}/{found}/settings", json=settings).status_code == 200
    return found


@pytest.fixture
def place(tmp_path):
    (tmp_path / "my people.csv").write_text(ROWS)
    return tmp_path


def done(script, wait_for, path, question):
    """The equivalent of a job, and its result."""
    job = script.post(path, json=question)
    assert job.status_code == 202, job.text
    over = wait_for(script, job.json())
    assert over["state"] == "done", over
    return [script.get(f"/api/v1/jobs/{over['id']}/{part}").json() for part in ("equivalent", "result")]


@pytest.fixture
def run_command(place, capsys, monkeypatch):
    """Runs one line as a user would, in the folder of the file; the answer is what it prints."""
    from incrowd.cli.app import main

    def run(line, *more):
        words = shlex.split(line)
        assert words[0] == "incrowd"
        monkeypatch.chdir(place)
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*words[1:], *more])
        said = capsys.readouterr()
        assert end.value.code in (0, 1), said.err
        return said.out

    return run


@pytest.fixture
def run_python(place, capsys, monkeypatch):
    """Runs a script in the folder of the file; the answer is what it prints."""

    def run(text):
        monkeypatch.chdir(place)
        capsys.readouterr()
        exec(compile(text, "script", "exec"), {})
        return capsys.readouterr().out

    return run


def test_an_assessment_is_done_again_by_command_and_script(script, table, place, wait_for, run_command, run_python):
    same, result = done(script, wait_for, f"{TABLES}/{table}/assessments", {"protection": False, "seed": 2})
    again = json.loads(run_command(same["cli"], "--json"))
    for section in ("facts", "knowledge", "leaks", "forecast", "verdict", "skipped"):
        assert again[section] == result[section], section
    os.remove(place / "report.html")
    assert result["verdict"]["sentence"] in run_python(same["python"])


def test_a_protection_is_done_again_by_command_and_script(script, table, place, wait_for, run_command, run_python):
    asked = {"protection": {"k": 7, "sensitive": "income", "l": 2}}
    same, result = done(script, wait_for, f"{TABLES}/{table}/protections", asked)
    again = json.loads(run_command(same["cli"], "--json"))
    assert again["guarantee"] == result["guarantee"]
    assert again["evaluation"]["information_loss"] == pytest.approx(result["evaluation"]["information_loss"])
    by_command = pq.read_table(place / "protected.parquet")
    os.remove(place / "protected.parquet")
    assert "    identifiers=[],\n" in same["python"]  # or columns that look so would be left out, unlike by the command
    assert result["guarantee"]["sentence"] in run_python(same["python"])
    by_script = pq.read_table(place / "protected.parquet")
    assert by_script.schema.equals(by_command.schema)
    assert sorted(map(repr, by_script.to_pylist())) == sorted(map(repr, by_command.to_pylist()))  # in random order


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "coarsen", "resolution": {"age": 4, "zip code": 2, "sex": 2}},
        {"method": "mask", "k": 3, "steps": [{"column": "age", "action": "ranges=5"}], "top": {"age": 40}},
        {"method": "generalise", "k": 4, "suppress": 0.1},
    ],
)
def test_limits_of_single_columns_are_in_the_command(script, table, place, wait_for, run_command, run_python, asked):
    same, result = done(script, wait_for, f"{TABLES}/{table}/protections", {"protection": asked})
    again = json.loads(run_command(same["cli"], "--json"))
    assert again["classes"] == result["classes"]
    assert again["guarantee"] == result["guarantee"]


def test_names_are_typed_wherever_they_are_read_as_they_are(script, table):
    asked = {"leave_out": ["=note"], "widest": {"age": 10.0}}
    job = script.post(f"{TABLES}/{table}/protections", json={"protection": asked}).json()["id"]
    command = script.get(f"/api/v1/jobs/{job}/equivalent").json()["cli"]
    assert "--identifier none --drop =note" in command
    assert "--widest age=10" in command


def test_the_script_of_a_search_makes_its_hierarchies(script, table):
    rules = {"age": "5,10", "zip code": [["10001", "1"], ["10002", "1"]]}
    asked = {"protection": {"hierarchies": rules}, "seconds": 1}
    job = script.post(f"{TABLES}/{table}/solutions", json=asked).json()["id"]
    text = script.get(f"/api/v1/jobs/{job}/equivalent").json()["python"]
    compile(text, "script", "exec")
    assert "Hierarchy.from_rows([['10001', '1'], ['10002', '1']])" in text


def test_leaks_and_forecasts_are_done_again(script, table, place, wait_for, run_command, run_python):
    asked = {"share": 0.2, "targets": [1, 3], "k": 4, "at_most": 0.3}
    same, result = done(script, wait_for, f"{TABLES}/{table}/leaks", asked)
    of_table, of_plan = same["cli"].split("\n")
    assert [one["probability"] for one in json.loads(run_command(of_table, "--json"))["risks"]] == [
        one["probability"] for one in result["risks"]
    ]
    planned = json.loads(run_command(of_plan, "--json"))["risks"]
    assert [one["probability"] for one in planned] == [one["probability"] for one in result["planned"]]
    printed = run_python(same["python"])
    assert all(one["in_words"] in printed for one in [*result["risks"], *result["planned"]])

    same, result = done(script, wait_for, f"{TABLES}/{table}/forecasts", {"at": [10_000, "city"], "k": [3]})
    of_assessment, of_law = same["cli"].split("\n")
    again, found = json.loads(run_command(of_assessment, "--json"))["forecast"], result["forecast"]
    for place, size in enumerate(found["at"]):
        there = again["at"].index(size)
        for side in ("value", "low", "high"):
            assert found["correctness"][side][place] == again["correctness"][side][there]
            assert found["uniqueness"][side][place] == again["uniqueness"][side][there]
    assert json.loads(run_command(of_law, "--json"))["forecast"]["violations"] == found["violations"]
    run_python(same["python"])


def test_points_and_frontiers_are_done_again_by_command(script, table, place, wait_for, run_command, run_python):
    points = [{"n": 10**power, "correctness": share} for power, share in ((2, 0.98), (3, 0.9), (4, 0.7))]
    same, result = done(script, wait_for, "/api/v1/forecasts", {"points": points, "at": ["us"], "people": 500})
    lines = same["cli"].split("\n")
    (place / "points.csv").write_text("\n".join(lines[1 : lines.index("END")]))
    again = json.loads(run_command(lines[-1], "--json"))
    assert again["forecast"] == result["forecast"]

    same, result = done(
        script, wait_for, f"{TABLES}/{table}/frontiers", {"k": [3, 5], "methods": ["partition", "sorted"]}
    )
    again = json.loads(run_command(same["cli"], "--json"))
    assert [(p["method"], p["correctness"]) for p in again["points"]] == [
        (p["method"], p["correctness"]) for p in result["points"]
    ]


def test_odd_names_stay_whole_in_command_and_script(script, wait_for):
    from incrowd.cli import options

    odd = ["-dash", "with, comma", "it's", 'say "hi"', "$(rm -rf)", "emoji 🙂"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in odd)
    rows = quoted + "\n" + "".join(",".join(str((n * k) % 7) for k in range(1, 7)) + "\n" for n in range(50))
    table = script.post(TABLES, files={"file": ("-odd name's.csv", rows.encode())}).json()["id"]
    script.put(f"{TABLES}/{table}/settings", json={"roles": dict.fromkeys(odd, "quasi-identifier")})
    same, _ = done(script, wait_for, f"{TABLES}/{table}/leaks", {"leaked": 5})
    words = shlex.split(same["cli"])
    given = [word.partition("=")[2] if word.startswith("--qi=") else words[place + 1]
             for place, word in enumerate(words) if word.startswith("--qi")]  # fmt: skip
    assert options.parse_names(given, odd) == odd
    assert words[2] == "./-odd name's.csv"
    compile(same["python"], "script", "exec")
    script.patch(f"{TABLES}/{table}/settings", json={"groups": {"a=b": ["it's"]}})
    same, _ = done(script, wait_for, f"{TABLES}/{table}/assessments", {"protection": False})
    assert same["cli"].startswith("# a name has a letter")
    assert "{'a=b': [\"it's\"]}" in same["python"]


def test_a_k_map_is_asked_for_by_another_table_or_by_the_size_of_the_population(
    script, table, place, wait_for, run_command, run_python
):
    script.patch(f"{TABLES}/{table}/settings", json={"population": None})
    job = script.post(f"{TABLES}/{table}/protections", json={"protection": {"k": 2, "k_map": 3}}).json()
    assert "k-map counts people of a population" in wait_for(script, job)["message"]
    script.patch(f"{TABLES}/{table}/settings", json={"population": 5_000})
    for asked in ({"k": 2, "k_map": 9}, {"k": 2, "k_map": 6, "population_table": table}):
        same, result = done(script, wait_for, f"{TABLES}/{table}/protections", {"protection": asked})
        assert result["guarantee"]["k_map"] >= asked["k_map"]
        assert result["guarantee"]["k_map_is_estimated"] is ("population_table" not in asked)
        assert json.loads(run_command(same["cli"], "--json"))["guarantee"] == result["guarantee"]
        os.remove(place / "protected.parquet")
        assert result["guarantee"]["sentence"] in run_python(same["python"])
        os.remove(place / "protected.parquet")


def test_scripts_import_what_they_use_and_every_name_is_where_they_import_it_from():
    from importlib import import_module

    from incrowd.web import script_writer

    for module, names in script_writer._HOMES.items():
        for name in names.split():
            assert hasattr(import_module(module), name), f"{module} has no {name}"
    text = script_writer.script_of(["found = forecast(fit_curve([1], correctness=['protect(x)']))"])
    assert text.splitlines()[:2] == ["from incrowd import fit_curve, forecast", ""]  # no name that only a text has
    other = ["one's", 'say "assess(x)"', "back\\", "read_table('x')"]  # nor one of an option or a method
    text = script_writer.script_of([f"found = protect({other!r}, frontier=leak_risk.assess)"])
    assert text.splitlines()[:2] == ["from incrowd import leak_risk, protect", ""]


def test_names_of_a_script_are_found_without_a_syntax_tree_of_its_data(monkeypatch):
    from incrowd.web import script_writer

    monkeypatch.setattr("ast.parse", lambda *text: pytest.fail("parsed"))
    text = script_writer.script_of([f"found = forecast({[*range(1_000)]!r})"])
    assert text.startswith("from incrowd import forecast\n\nfound")
