"""Whoever only pastes what is printed never gets a yes: a guess is no answer, however it travels."""

import shlex

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd.tables import suggest_roles, write_table

pytestmark = pytest.mark.usefixtures("quick_estimates")

ROWS = 400
MOST = 12  # commands that are pasted


def register(draw):
    """Columns of which each has a guess, and large classes: as answers, the guesses would be a yes."""
    return {"sex": draw.choice(["f", "m"], ROWS), "region": draw.choice(["North", "South"], ROWS)}


def hospital(draw):
    columns = {"age": draw.integers(2, 9, ROWS) * 10, "diagnosis": draw.choice(["flu", "asthma", "none"], ROWS)}
    return {**register(draw), **columns, "email": [f"p{number}@example.org" for number in range(ROWS)]}


def questionnaire(draw):
    return {**register(draw), **{f"q7_{number}": draw.integers(1, 6, ROWS) for number in range(1, 6)}}


def panel(draw):
    person = np.repeat(np.arange(ROWS // 4) + 1_000, 4)
    return {"person_id": person, "year": np.tile([2001, 2002, 2003, 2004], ROWS // 4), **register(draw)}


def survey(draw):
    return {**register(draw), "weight": draw.uniform(50, 950, ROWS), "income": draw.integers(9, 99, ROWS) * 100}


def odd_names(draw):
    names = ["Please state, in a few words, which of these apply " * 3, "a=b", " ", "--qi", "é\n"]
    return {**register(draw), **{name: draw.choice(["yes", "no"], ROWS) for name in names}}


TABLES = [register, hospital, questionnaire, panel, survey, odd_names]


def paste(capsys, first):
    """Run a command and every further one that is printed; each with its exit code."""
    waiting, done = [first], {}
    while waiting and len(done) < MOST:
        command = waiting.pop(0)
        code, out, err = run(capsys, *shlex.split(command)[1:])
        done[command] = code
        printed = [line.strip() for line in (out + err).splitlines() if line.startswith("     incrowd ")]
        waiting += [line for line in dict.fromkeys(printed) if line not in done and line not in waiting]
    return done


@pytest.mark.parametrize("make", TABLES)
def test_pasting_what_is_printed_never_reaches_a_yes(capsys, monkeypatch, tmp_path, make):
    monkeypatch.chdir(tmp_path)
    write_table(pa.table(make(np.random.default_rng(38))), tmp_path / "t.parquet")
    for first in ("incrowd assess t.parquet", "incrowd assess t.parquet --yes", "incrowd profile t.parquet"):
        done = paste(capsys, first)
        assert len(done) > 1, "a command is printed"
        verdicts = {command: code for command, code in done.items() if command.split()[1] != "profile"}
        assert {*verdicts.values()} == {1}, verdicts  # a no, an undecided, or a form to fill in
        answers = ("--qi", "--sensitive", "--other", "--identifier", "--person", "--weight")
        assert not [command for command in done if any(option in command.split() for option in answers)]


def test_the_same_guesses_as_answers_of_a_person_are_a_yes(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    table = register(np.random.default_rng(38))
    write_table(pa.table(table), tmp_path / "t.parquet")
    assert [column.guess for column in suggest_roles(table)] == ["known", "known"]
    assert run(capsys, "assess", "t.parquet", "--question", "t.toml", "--no-protection")[0] == 1
    form = (tmp_path / "t.toml").read_text()
    assert form.count('"known?"') == 2
    (tmp_path / "t.toml").write_text(form.replace("known?", "known"))
    assert run(capsys, "assess", "t.parquet", "--question", "t.toml", "--no-protection")[0] == 0
