"""The command line as a user meets it."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import run


@pytest.fixture
def patients(tmp_path):
    file = tmp_path / "patients.csv"
    file.write_text("age,sex,zip,illness\n30,f,00501,flu\n30,f,00501,cold\n41,m,02139,topsecret\n,m,02139,flu\n")
    return file


def test_measure_says_what_it_found(capsys, patients):
    code, out, _ = run(capsys, "measure", patients, "--qi", "age,sex", "--qi", "zip", "--sensitive", "illness")
    assert code == 0
    assert "smallest class (k)" in out
    assert "2 (50.0%)" in out
    assert "topsecret" not in out


def test_measure_for_machines(capsys, patients):
    code, out, err = run(
        capsys,
        "measure",
        patients,
        "--qi",
        "age,sex,zip",
        "--sensitive",
        "illness",
        "--sets",
        "2",
        "--minimal",
        "2",
        "--groups",
        "who=age,sex",
        "where=zip",
        "--json",
    )
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["k"], found["uniques"], found["classes"]) == (1, 2, 3)
    assert [risk["label"] for risk in found["by_group"]] == ["who", "where", "who + where"]
    assert len(found["by_set"]) == 6
    assert found["minimal_sets"]["singled_out_by"]["1"] == 2
    assert found["sensitive"][0]["distinct"] == 1


@pytest.mark.parametrize(
    ("options", "code"), [(["--min-k", "2"], 1), (["--max-risk", "0.5"], 1), (["--min-k", "1"], 0)]
)
def test_a_threshold_decides_the_exit_code(capsys, patients, options, code):
    found, _, err = run(capsys, "measure", patients, "--qi", "age,sex,zip", *options)
    assert found == code
    assert ("over the threshold" in err) == bool(code)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv", "--qi", "age"], "there is no file"),
        (["{file}", "--qi", "agee"], "the table has: age, sex, zip, illness"),
        (["{file}"], "--qi"),
        (["{file}", "--qi", "age", "--groups", "census"], "census=age,sex"),
        (["{file}", "--qi", "age", "--max-risk", "7"], "between 0 and 1"),
        (["{file}", "--qi", "age", "--memory", "lots"], "2GB"),
        (["{file}", "--qi", "age", "--sets", "0"], "give 1 or more"),
        (["{file}", "--qi", "age", "--minimal", "2", "--person", "zip"], "--minimal looks at records"),
        (["{file}", "--qi", "age", "--groups", "a=age", "a=sex"], "given twice"),
    ],
)
def test_bad_input_is_two_and_a_sentence(capsys, patients, arguments, message):
    code, out, err = run(capsys, "measure", *[argument.replace("{file}", str(patients)) for argument in arguments])
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_profile_of_many_columns_is_short(capsys, tmp_path):
    names = ["age", "x" * 10_000, *(f"c{number}" for number in range(28))]
    file = tmp_path / "wide.csv"
    file.write_text("\n".join(",".join(row) for row in (names, ["1"] * 30, ["2"] * 30)))
    code, out, _ = run(capsys, "profile", file)
    assert code == 0
    assert out.count("nothing was found in its name or values") == 1
    assert len(out.splitlines()) < 70
    assert "(column 2)" in out
    assert "x" * 100 not in out


def test_profile_suggests_roles_and_shows_no_value(capsys, patients):
    code, out, _ = run(capsys, "profile", patients)
    assert code == 0
    assert "quasi-identifier" in out
    assert "topsecret" not in out
    assert f"incrowd judge {patients} --question" in out
    assert "--qi" not in out
    code, out, _ = run(capsys, "profile", patients, "--json")
    assert {column["column"]: column["role"] for column in json.loads(out)["columns"]}["illness"] == "sensitive"


def test_profile_names_the_key_of_a_panel_as_the_person_with_the_reason(capsys, tmp_path):
    file = tmp_path / "panel.csv"
    rows = [f"{7 * number},{1980 + wave},{'fm'[number % 2]}" for number in range(30) for wave in range(4)]
    file.write_text("\n".join(["nr,year,sex", *rows]))
    code, out, _ = run(capsys, "profile", file)
    assert code == 0
    assert "person: each value of nr occurs 4" in " ".join(out.split())


def test_demo_data_can_be_measured(capsys, tmp_path):
    file = tmp_path / "demo.parquet"
    assert run(capsys, "demo-data", "--rows", "1e3", "--out", file)[0] == 0
    assert run(capsys, "demo-data", "--rows", "1e3", "--out", file)[0] == 2
    assert run(capsys, "demo-data", "--rows", "many", "--out", tmp_path / "x.parquet")[0] == 2
    assert json.loads(run(capsys, "measure", file, "--qi", "age_yrs,sex", "--json")[1])["records"] == 1000


def test_column_names_are_never_read_as_markup(capsys, tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text('"[red]age[/red]",<script>\n1,2\n1,3\n')
    code, out, _ = run(capsys, "profile", file)
    assert code == 0
    assert "[red]age[/red]" in out
    assert run(capsys, "measure", file, "--qi", "[red]age[/red]", "--sets", "1")[0] == 0


def test_groups_may_follow_an_equals_sign(capsys, patients):
    code, out, _ = run(capsys, "measure", patients, "--groups=who=age,sex", "where=zip", "--json")
    assert code == 0
    assert len(json.loads(out)["by_group"]) == 3


def test_control_characters_never_reach_the_terminal(capsys, tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text("age\x1b[31m,b\n1,2\n")
    code, out, _ = run(capsys, "profile", file)
    assert code == 0
    assert "\x1b[31m" not in out


def test_a_narrow_terminal_cuts_no_number(capsys, monkeypatch):
    from incrowd.cli import terminal

    monkeypatch.setenv("COLUMNS", "24")
    terminal.table(("a", "b", "c"), [(0.0002136, "some words", 123456789)])
    shown = "".join(capsys.readouterr().out.split())
    assert "789" in shown
    assert "2136" in shown


def test_what_should_not_happen_is_said_without_a_traceback(capsys, monkeypatch, patients):
    import incrowd.tables

    def fail(*_, **__):
        raise RuntimeError("topsecret")

    monkeypatch.setattr(incrowd.tables, "read_table", fail)
    code, _, err = run(capsys, "profile", patients)
    assert code == 2
    assert "RuntimeError" in err
    assert "topsecret" not in err


def test_a_missing_table_is_two():
    found = subprocess.run([sys.executable, "-m", "incrowd.cli", "measure"], capture_output=True, text=True)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr


def test_the_version_is_shown(capsys):
    from incrowd import __version__

    assert run(capsys, "--version")[1] == f"incrowd {__version__}\n"


HOMES = "home,role,age\n1,head,40\n1,child,9\n2,head,40\n2,spouse,40\n"


def test_households_are_shown_and_are_in_the_json(tmp_path, capsys):
    (tmp_path / "homes.csv").write_text(HOMES)
    asked = ("measure", tmp_path / "homes.csv", "--qi", "age", "--household", "home", "--relationship", "role")
    code, out, _ = run(capsys, *asked)
    assert code == 0
    assert "Households, by home" in out
    assert "also who lives in it" in out
    code, out, _ = run(capsys, *asked, "--json")
    rows = json.loads(out)["households"]["by_knowledge"]
    assert [row["certain"] for row in rows] == [1, 1, 1, 2]
    assert rows[0]["average"] == pytest.approx((1 + 1 - (2 / 3) ** 2) / 2)
    code, _, err = run(capsys, "measure", tmp_path / "homes.csv", "--qi", "age", "--relationship", "role")
    assert code == 2
    assert "--household" in err


def test_households_are_protected_whole(tmp_path, capsys):
    (tmp_path / "homes.csv").write_text("home,age\n" + "".join(f"{n // 2},{n % 7}\n" for n in range(40)))
    asked = ("protect", tmp_path / "homes.csv", "--qi", "age", "--k", "3", "--out", tmp_path / "safe.csv")
    code, _, _ = run(capsys, *asked, "--household", "home")
    assert code == 0
    _, out, _ = run(capsys, "measure", tmp_path / "safe.csv", "--qi", "age", "--household", "home", "--json")
    assert json.loads(out)["households"]["by_knowledge"][-1]["highest"] <= 1 / 3
    code, _, err = run(capsys, *asked, "--household", "home", "--person", "home", "--force")
    assert code == 2
    assert "give --household or --person" in err


def test_a_profile_names_guessed_codes_and_suspected_missing_values_apart(capsys, tmp_path):
    rows = "".join(f"{n % 2},{20 + n % 9 if n % 7 else -9},{10_000 + n % 5}\n" for n in range(70))
    (tmp_path / "people.csv").write_text("sex,age,zip\n" + rows)
    code, out, err = run(capsys, "profile", tmp_path / "people.csv")
    assert (code, err) == (0, "")
    assert "Taken as codes, not quantities, by their names: sex" in out
    assert "Codes that may stand for missing values in age" in out


def test_profile_tells_of_dates_that_are_read_as_text_and_what_mends_it(capsys, tmp_path):
    days = [f"19{year}-0{month}-17" for year in range(40, 80) for month in range(1, 10)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["born,sex", *(f"{day},m" for day in days), *["unbekannt,w"] * 3]))
    code, out, _ = run(capsys, "profile", file)
    assert code == 0
    assert "Dates in born are read as text" in " ".join(out.split())
    assert "--null unbekannt" in " ".join(out.split())
    code, out, _ = run(capsys, "profile", file, "--null", "unbekannt")
    assert code == 0
    assert "read as text" not in " ".join(out.split())


@pytest.mark.parametrize("verb", [["profile"], ["measure", "--qi", "sex,age"], ["protect", "--qi", "sex", "--k", "2"]])
def test_a_line_feed_in_a_name_begins_no_line_of_its_own(capsys, tmp_path, verb):
    name = "age\n\nDecision: yes\nerror: none\x1b[2J"
    pq.write_table(pa.table({name: [1, 2] * 4, "sex": ["f", "m"] * 4}), tmp_path / "people.parquet")
    more = ["--out", tmp_path / "safe.csv"] if verb[0] == "protect" else []
    code, out, err = run(capsys, verb[0], tmp_path / "people.parquet", *verb[1:], *more)
    assert code == (2 if verb[0] == "measure" else 0)
    assert "Decision: yes" in (out + err).replace("\n", "")
    assert not any(line.lstrip().startswith(("Decision", "error: none")) for line in (out + err).splitlines())
    assert "\x1b" not in out + err
