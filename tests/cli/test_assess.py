"""assess, check and compare as a user meets them."""

import json
import shlex
import socket
import sqlite3
import subprocess
import sys
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from rich.console import Console
from tests.cli.running import run

from incrowd import demo_table
from incrowd.tables import write_table

pytestmark = pytest.mark.usefixtures("quick_estimates")


@pytest.fixture
def stays(tmp_path):
    return write_table(demo_table(800), tmp_path / "stays.csv")


QI = ["--qi", "age_yrs,sex,patcnty"]


def test_assess_says_the_decision_in_words_and_exits_1_if_it_is_over(capsys, stays):
    code, out, _ = run(capsys, "assess", stays, *QI, "--sensitive", "charge")
    assert code == 1
    assert "Do not give it to the public as it is" in out
    assert "What to do" in out
    asked = ["assess", stays, "--qi", "adm_qtr", "--no-protection"]
    code, out, _ = run(capsys, *asked)
    assert (code, "Undecided" in out) == (1, True)
    others = "oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,diag_p,charge"
    code, out, _ = run(capsys, *asked, "--other", others)
    assert (code, "Yes, on conditions: within the limits" in out) == (0, True)


def test_the_decision_fits_on_one_screen(capsys, stays):
    code, out, _ = run(capsys, "assess", stays, "--qi", "adm_qtr", "--no-protection")
    assert code == 1
    order = ["Undecided", "people", "smallest class (k)", "person at highest risk", "average risk", "Why"]
    order += ["Columns that nobody judged", "What to do", "incrowd assess", "--full"]
    places = [out.index(text) for text in order]
    assert places == sorted(places)
    assert len(out.splitlines()) < 45
    assert "Which attribute drives the risk" not in out
    assert "Which attribute drives the risk" in run(capsys, "assess", stays, *QI, "--no-protection", "--full")[1]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_word_is_broken_across_lines(capsys, monkeypatch, width):
    from incrowd.cli import terminal

    monkeypatch.setattr(
        terminal, "_out", lambda: Console(highlight=False, force_terminal=True, width=width, no_color=True)
    )
    words = "a quasi-identifier and --rows-are-people, " * 9 + "a_column_" * 4
    terminal.paragraph(words, "  • ")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(line.strip(" •") for line in lines).split() == words.split()
    assert all(len(line.rstrip()) <= width for line in lines)
    terminal.table(("column", "looks like", "smallest class"), [("education_level", "quasi-identifier", 12)] * 3)
    out = capsys.readouterr().out
    assert out.count("education_level") == out.count("quasi-identifier") == 3


def test_somebody_alone_is_said_beside_a_low_average(capsys, stays):
    code, out, _ = run(capsys, "assess", stays, "--qi", "sex", "--no-protection")
    assert code == 1
    assert "No: somebody is found, or a secret is known" in out
    assert "1 person (0.12%)" in out
    assert "1 of them alone" in out
    assert "Do not give it to the public as it is" in out


def test_assess_writes_a_page_and_json_for_machines(capsys, stays, tmp_path):
    page, figure = tmp_path / "report.html", tmp_path / "risk.svg"
    options = ["--html", page, "--plot", figure, "--json", "--population", "8e4", "--recipient", "trusted"]
    code, out, err = run(capsys, "assess", stays, *QI, *options)
    found = json.loads(out)
    assert code in (0, 1)
    assert found["schema"] == "incrowd/assessment/2"
    assert found["population"]["population"] == 80_000
    assert len(found["provenance"]["sha256"]) == 64
    assert "<title>" in page.read_text(encoding="utf-8")
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert "report written to" in err
    assert run(capsys, "assess", stays, *QI, "--html", page)[0] == 2


def test_without_roles_and_without_a_terminal_assess_proposes_and_stops(capsys, stays):
    code, out, err = run(capsys, "assess", stays)
    assert (code, out) == (1, "")
    assert "nobody has said what the columns are" in err
    assert f"incrowd judge {stays} --question stays.toml" in " ".join(err.split())
    assert "--qi" not in err
    code, out, err = run(capsys, "assess", stays, "--yes", "--no-protection")
    assert code == 1
    assert "Yes" not in out
    assert "guessed from names and values" in err


def test_a_saved_question_is_asked_again_by_its_name_alone(capsys, stays):
    saved = stays.parent / "question.toml"
    run(
        capsys,
        "assess",
        stays,
        *QI,
        "--question",
        saved,
        "--no-protection",
        "--recipient",
        "trusted",
        "--groups",
        "who=age_yrs,sex",
    )
    assert 'recipient = "trusted"' in saved.read_text()
    _, out, _ = run(capsys, "assess", stays, "--question", saved, "--json", "--no-protection")
    found = json.loads(out)
    assert found["verdict"]["recipient"] == "trusted"
    assert found["knowledge"]["by_group"][0]["label"] == "who"


def test_a_saved_declaration_is_asked_for_again_when_the_column_has_changed(capsys, tmp_path):
    def write(code):
        rows = [f"{30 + row % 3},{'fm'[row % 2]},{code(row)}" for row in range(600)]
        (tmp_path / "t.csv").write_text("\n".join(["age,sex,zz", *rows]) + "\n")
        return tmp_path / "t.csv"

    asked = ["assess", write(lambda row: "ab"[row // 7 % 2]), "--no-protection"]
    saved = tmp_path / "question.toml"
    declared = ["--other", "zz", "--rows-are-people"]
    assert run(capsys, *asked, "--qi", "age,sex", *declared, "--question", saved)[0] == 0
    assert 'zz = "text: few values"' in saved.read_text()
    assert run(capsys, *asked, "--question", saved)[0] == 0
    write(lambda row: f"{row * 7919 % 601 // 4:03x}w")
    code, out, err = run(capsys, *asked, "--question", saved)
    assert code == 1
    assert "zz held something else" in " ".join((out + err).split())
    assert 'zz = "neither?"' in saved.read_text()
    assert "as it was judged before" in saved.read_text()
    assert run(capsys, *asked, "--question", saved)[0] == 1  # a guess is no answer
    assert run(capsys, *asked, "--question", saved, "--other", "zz")[0] == 0  # said again


@pytest.mark.parametrize(
    ("options", "code"),
    [(["--min-k", "1"], 0), (["--min-k", "2"], 1), (["--max-risk", "7"], 2), ([], 2), (["--policy", "none.toml"], 2)],
)
def test_the_gate_says_it_with_its_exit_code(capsys, stays, options, code):
    assert run(capsys, "check", stays, *QI, *options)[0] == code


@pytest.mark.parametrize("verb", ["assess", "protect"])
def test_without_answers_the_printed_commands_ask_and_state_what_was_typed(capsys, monkeypatch, stays, tmp_path, verb):
    monkeypatch.chdir(tmp_path)
    more = ["--out", tmp_path / "safe.csv"] if verb == "protect" else ["--no-protection", "--recipient", "trusted"]
    code, out, err = run(capsys, verb, stays, "--other", "charge", *more)
    judge, again = (shlex.split(line) for line in err.splitlines() if line.startswith("     incrowd "))
    assert (code, out) == (1 if verb == "assess" else 2, "")
    assert (judge[:3], again) == (
        ["incrowd", "judge", str(stays)],
        ["incrowd", "assess", str(stays), "--question", "stays.toml"],
    )
    assert "--qi" not in judge
    if verb == "assess":
        assert judge[judge.index("--other") + 1] == "charge"
        assert judge[judge.index("--recipient") + 1] == "trusted"
    assert run(capsys, *judge[1:])[0] == 1  # nobody is asked here, so the form is written
    form = tmp_path / "stays.toml"
    assert form.read_text().count('?"') == 10 + (verb == "protect")
    assert run(capsys, *again[1:], "--no-protection")[0] == 1


def test_assess_and_protect_say_which_numbers_may_be_missing_codes(capsys, tmp_path):
    file, said = tmp_path / "t.csv", "--null age=-9 --null kids=97,99"
    rows = [f"{-9 if row % 20 == 0 else 20 + row % 4},{[0, 1, 2, 97, 99][row % 5]},{row % 100}" for row in range(200)]
    file.write_text("\n".join(["age,kids,years", *rows]) + "\n")
    asked = ["--qi", "age,kids,years"]
    assert said in run(capsys, "assess", file, *asked, "--no-protection")[2]
    assert said in run(capsys, "protect", file, *asked, "--out", tmp_path / "safe.csv")[2]
    stated = ["--null", "age=-9", "--null", "kids=97,99"]
    assert "may stand for missing" not in run(capsys, "assess", file, *asked, "--no-protection", *stated)[2]


def test_rules_without_a_verdict_are_said_to_be_none(capsys, stays, tmp_path):
    report = tmp_path / "junit.xml"
    code, _, err = run(capsys, "check", stays, *QI, "--min-k", "1", "--junit", report)
    said = " ".join(err.split())
    assert code == 0
    assert "no verdict on whether the table may be released" in said
    assert "For a verdict name the recipient (--recipient public)." in said
    assert "no verdict on whether the table may be released" in report.read_text()
    assert "no verdict" not in run(capsys, "check", stays, *QI, "--min-k", "1", "--recipient", "public")[2]
    said = " ".join(run(capsys, "check", stays, *QI)[2].split())
    assert "or set a rule (--recipient public, --min-k, --max-risk" in said


def test_the_gate_reads_a_policy_and_writes_junit(capsys, stays, tmp_path):
    policy, report = tmp_path / "policy.toml", tmp_path / "junit.xml"
    policy.write_text(
        '[columns]\nquasi_identifiers = ["age_yrs", "sex"]\nsensitive = ["charge"]\n[rules]\nmin_k = 5\nmax_t = 1.0\n'
    )
    code, out, _ = run(capsys, "check", stays, "--policy", policy, "--junit", report)
    assert code == 1
    assert [line.split()[0] for line in out.splitlines()] == ["FAIL", "ok"]
    assert ElementTree.parse(report).getroot().get("failures") == "1"
    code, out, _ = run(capsys, "check", stays, "--policy", policy, "--min-k", "1", "--json")
    assert (code, json.loads(out)["passed"]) == (0, True)


def test_compare_tells_better_from_worse(capsys, stays, tmp_path):
    safe = tmp_path / "safe.csv"
    assert run(capsys, "protect", stays, *QI, "--k", "5", "--out", safe)[0] == 0
    code, out, _ = run(capsys, "compare", stays, safe, *QI, "--fail-if-worse")
    assert code == 0
    assert "better" in out
    assert run(capsys, "compare", safe, stays, *QI, "--fail-if-worse", "--json")[0] == 1
    assert run(capsys, "compare", stays, safe)[0] == 2
    saved = tmp_path / "saved.json"
    saved.write_text(run(capsys, "assess", stays, *QI, "--json", "--no-protection")[1])
    assert run(capsys, "compare", saved, safe)[0] == 0


def test_compare_and_evaluate_take_a_column_whose_name_has_a_comma(capsys, tmp_path):
    names = ["age, years", "sex"]
    before, after = (tmp_path / name for name in ("before.csv", "after.csv"))
    write_table(pa.table([[30, 31, 41, 42], list("ffmm")], names=names), before)
    write_table(pa.table([["[30;31]", "[30;31]", "[41;42]", "[41;42]"], list("ffmm")], names=names), after)
    wanted = ["--qi", "age, years", "--qi", "sex", "--json"]
    assert run(capsys, "compare", before, after, *wanted)[0] == 0
    code, out, _ = run(capsys, "evaluate", before, after, *wanted)
    assert (code, json.loads(out)["k"]) == (0, 2)


def test_a_question_about_another_table_is_not_replaced(capsys, stays):
    asked = ["--no-protection", "--population", "8e4", "--recipient", "trusted"]
    saved = stays.parent / "question.toml"
    run(capsys, "assess", stays, *QI, "--question", saved, *asked)
    assert 'file = "stays.csv"' in saved.read_text()
    other = write_table(demo_table(500, seed=1), stays.parent / "other.csv")
    _, out, _ = run(capsys, "assess", other, "--question", saved, "--no-protection", "--json")
    assert json.loads(out)["population"]["population"] == 80_000
    before = saved.read_text()
    code, _, err = run(capsys, "assess", other, "--sensitive", "sex", "--question", saved, "--no-protection")
    assert (code, saved.read_text()) == (1, before)
    assert "is about another table" in err
    forced = ["--question", saved, "--no-protection", "--force"]
    assert run(capsys, "assess", other, "--sensitive", "sex", *forced)[0] == 1
    assert 'file = "other.csv"' in saved.read_text()


def test_a_question_about_a_table_of_a_database_names_it(capsys, tmp_path):
    with sqlite3.connect(tmp_path / "clinic.db") as connection:
        connection.execute("CREATE TABLE patients (age INTEGER)")
        connection.executemany("INSERT INTO patients VALUES (?)", [(age,) for age in (30, 30, 41, 41)])
    connection.close()
    saved = tmp_path / "question.toml"
    asked = ["assess", tmp_path / "clinic.db", "--no-protection", "--json", "--table", "patients"]
    run(capsys, *asked, "--qi", "age", "--population", "900", "--question", saved)
    assert 'file = "clinic.db --table patients"' in saved.read_text()
    assert json.loads(run(capsys, *asked, "--question", saved)[1])["population"]["population"] == 900


HOSTILE = """[answers]
zip = "neither"
illness = "neither"
age = "neither"
sex = "known"
[question]
recipient = "restricted"
"""


@pytest.mark.parametrize("source", ["p.csv", "-"])
def test_a_question_that_lies_beside_the_table_is_not_asked(tmp_path, source):
    rows = [f"{20 + row % 60},{row % 7},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(200)]
    content = "\n".join(["age,zip,sex,illness", *rows]) + "\n"
    (tmp_path / "p.csv").write_text(content)
    for name in ("incrowd.toml", ".incrowd.toml", "question.toml", "pyproject.toml"):
        (tmp_path / name).write_text(HOSTILE)
    command = [sys.executable, "-P", "-m", "incrowd", "assess", source, "--no-protection", "--json"]
    done = subprocess.run(command, cwd=tmp_path, input=content, capture_output=True, text=True)
    assert done.returncode == 1
    assert "nobody has said what the columns are" in " ".join(done.stderr.split())


def test_an_address_in_a_question_file_is_not_connected_to_unless_it_is_allowed(capsys, tmp_path, monkeypatch):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("age,sex\n" + "30,f\n" * 40)
    address = f"postgresql://127.0.0.1:{listener.getsockname()[1]}/x"
    (tmp_path / "q.toml").write_text(f'[question]\noriginal = "{address}"\n')
    asked = ["assess", "p.csv", "--qi", "age,sex", "--no-protection"]
    (tmp_path / "incrowd.toml").write_text((tmp_path / "q.toml").read_text())
    assert run(capsys, *asked)[0] in (0, 1)  # the file beside the table is not read
    code, _, err = run(capsys, *asked, "--question", "q.toml")
    assert code == 2
    assert "--allow-network" in err
    with pytest.raises(BlockingIOError):
        listener.accept()
    listener.close()


def test_the_gate_says_in_junit_that_it_could_not_check(capsys, stays, tmp_path):
    junit = tmp_path / "result.xml"
    assert run(capsys, "check", stays, "--qi", "nowhere", "--min-k", "2", "--junit", junit)[0] == 2
    suite = ElementTree.parse(junit).getroot()
    assert suite.attrib["errors"] == "1"
    assert "nowhere" in suite.find("testcase/error").attrib["message"]
    assert run(capsys, "check", tmp_path / "gone.csv", "--qi", "a", "--min-k", "2", "--junit", junit)[0] == 2
    assert "there is no file" in ElementTree.parse(junit).getroot().find("testcase/error").attrib["message"]
    other = tmp_path / "notes.txt"
    other.write_text("keep me")
    assert run(capsys, "check", stays, "--qi", "sex", "--min-k", "2", "--junit", other)[0] == 2
    assert other.read_text() == "keep me"


def test_help_shows_the_sections_of_a_policy(capsys):
    assert "[answers] and [rules]" in " ".join(run(capsys, "check", "--help")[1].replace("│", " ").split())


def test_the_terminal_has_what_the_page_has(capsys, stays):
    _, out, _ = run(capsys, "assess", stays, "--qi", "age_yrs,sex,race,patcnty,adm_qtr", "--no-protection", "--full")
    for text in ("knows 5 attributes", "People by the size of their class", "People singled out by few attributes"):
        assert text in out
    drivers = out[out.index("Which attribute drives the risk") : out.index("Sample against population")]
    assert all(name in drivers for name in ("age_yrs", "sex", "race", "patcnty", "adm_qtr"))


def test_advice_names_the_flags_and_json_does_not(capsys, stays):
    _, out, err = run(capsys, "assess", stays, "--qi", "sex", "--no-protection", "--full")
    shown = " ".join(out.split())
    assert "to a file that the second takes (--qi, --sensitive, --identifier, --drop, --other)." in shown
    assert "say how many people the table was drawn from (--population)." in shown
    _, out, _ = run(capsys, "assess", stays, "--qi", "sex", "--no-protection", "--json")
    assert "(--" not in out
    assert "say how many people the table was drawn from" in json.loads(out)["skipped"]["population"]
    (weighted := stays.parent / "weighted.csv").write_text(
        "age,weight\n" + "".join(f"{20 + number % 9},{900 + number}.5\n" for number in range(99))
    )
    _, _, err = run(capsys, "assess", weighted, "--qi", "age", "--no-protection")
    assert "name it as the weight to take its sum as the population (--weight)" in err
