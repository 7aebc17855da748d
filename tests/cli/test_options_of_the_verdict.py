"""`assess`, `check`, `protect` and `frontier` take the same options of the verdict, and so give the same answer."""

import json
import re
from pathlib import Path

import pytest
import typer
from tests.cli.running import run

from incrowd.assessment.question import DECIDING, OPTIONS
from incrowd.cli.app import app

pytestmark = pytest.mark.usefixtures("no_child_processes", "quick_estimates")

FOR_THE_PUBLIC = ["--qi", "age,town", "--sensitive", "illness", "--rows-are-people", "--recipient", "public"]


@pytest.fixture
def clinic(tmp_path):
    """Sixty classes of eleven people; in one, everybody has the illness that most people have."""
    file = tmp_path / "clinic.csv"
    rows = [
        f"{20 + number},T{number % 5},{'flu' if number == 3 or place < 7 else 'gout'},{10 + number % 3}"
        for number in range(60)
        for place in range(11)
    ]
    file.write_text("\n".join(["age,town,illness,weight", *rows]) + "\n", encoding="utf-8")
    return file


def flags_of(verb):
    commands = typer.main.get_command(app).commands
    return {flag for parameter in commands[verb].params for flag in parameter.opts}


@pytest.mark.parametrize("verb", ["assess", "check", "protect", "frontier"])
def test_no_option_of_the_verdict_is_missing(verb):
    assert {option.flag for option in DECIDING} - flags_of(verb) == set()


def test_an_option_of_the_question_decides_or_is_known_not_to():
    """A new option is declared with `decide`, unless the verdict on one table does not depend on it."""
    others = {option.name for option in OPTIONS if not (option.decides or option.reading)}
    of_a_release = {"original", "released", "holdout", "kept_rows", "synthetic"}
    assert others == of_a_release | {"groups", "protection", "seed", "rules", "contents", "source"}


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ([], True),
        (["--secret", "illness=flu"], False),
        (["--secret", "illness=flu", "--tolerate", "5%"], True),
        (["--secret", "illness=flu", "--certain", "60%"], False),
        (["--highest", "5%"], False),
        (["--threshold", "1%"], False),
    ],
)
def test_the_verbs_agree(capsys, tmp_path, clinic, options, passes):
    asked = [*FOR_THE_PUBLIC, "--other", "weight", *options]
    codes = [
        run(capsys, "assess", clinic, *asked, "--no-protection")[0],
        run(capsys, "check", clinic, *asked)[0],
        run(capsys, "protect", clinic, *asked, "--k", "2", "--out", tmp_path / "safe.csv")[0],
    ]
    assert codes == [0 if passes else 1] * 3
    _, shown, _ = run(capsys, "frontier", clinic, *asked, "--k", "2", "--method", "partition", "--json")
    found = json.loads(shown)
    assert [point["decision"] == "within" for point in found["points"]] == [passes]
    assert (found["chosen"] is not None) == passes


def test_protect_for_a_recipient_hides_the_named_secret(capsys, tmp_path, clinic):
    asked = [*FOR_THE_PUBLIC, "--other", "weight", "--secret", "illness=flu"]
    assert run(capsys, "protect", clinic, *asked, "--out", tmp_path / "safe.csv")[0] == 0
    assert run(capsys, "assess", tmp_path / "safe.csv", *asked, "--no-protection")[0] == 0


def test_a_weight_says_how_many_people_there_are_in_every_verb(capsys, tmp_path, clinic):
    asked = [*FOR_THE_PUBLIC, "--weight", "weight", "--population", "7000", "--highest", "5%", "--json"]
    assessed = json.loads(run(capsys, "assess", clinic, *asked, "--no-protection")[1])["verdict"]
    checked = json.loads(run(capsys, "check", clinic, *asked)[1])["verdict"]
    safe = tmp_path / "safe.csv"
    protected = json.loads(run(capsys, "protect", clinic, *asked, "--k", "2", "--out", safe)[1])["verdict"]
    for one in (checked, protected):
        assert (one["basis"], one["decision"]) == (assessed["basis"], assessed["decision"])
    assert assessed["basis"] == "population"


@pytest.mark.parametrize("options", [["--secret", "illness=flu"], ["--tolerate", "1%"], ["--threshold", "0.2"]])
def test_an_option_of_the_verdict_without_a_recipient_is_refused(capsys, tmp_path, clinic, options):
    asked = [clinic, "--qi", "age,town", "--sensitive", "illness", *options]
    verbs = [["protect", *asked, "--out", tmp_path / "safe.csv"], ["check", *asked, "--min-k", "2"]]
    if options[0] != "--secret":  # a frontier shows for how many records it is certain
        verbs.append(["frontier", *asked])
    for words in verbs:
        code, _, err = run(capsys, *words)
        said = " ".join(err.split())
        assert code == 2
        assert f"{options[0]} is for the verdict" in said
        assert "--recipient" in said


def test_commands_that_the_readme_names_for_a_recipient_take_one():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in readme.splitlines() if line.startswith("| ") and "](docs/" in line]
    asked = [verb for question, verbs in rows if "recipient" in question for verb in re.findall(r"`(\w+)`", verbs)]
    assert "assess" in asked
    assert [verb for verb in asked if "--recipient" not in flags_of(verb)] == []
