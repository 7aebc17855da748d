"""`incrowd judge` on a terminal: one key for each column or family, taken back, skipped, stopped, interrupted."""

import os
import pty
import select
import signal
import sys
import time
import tomllib

import numpy as np
import pytest
from tests.cli.running import run

ROWS = 240
DRAW = np.random.default_rng(3)
FAMILY = [f"q5_{number}" for number in range(1, 9)]


def write(folder):
    """A table of a number of columns, and of a family of eight questions in the middle."""
    columns = {
        "age": DRAW.integers(20, 60, ROWS),
        "illness, main": DRAW.choice(["flu", "asthma", "none"], ROWS),
        **{name: DRAW.integers(1, 6, ROWS) for name in FAMILY},
        "town": DRAW.choice(["Aa", "Bb", "Cc"], ROWS),
        "empty": [""] * ROWS,
        "zz": DRAW.choice(["x", "y"], ROWS),
    }
    header = ",".join(f'"{name}"' for name in columns)
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (folder / "t.csv").write_text("\n".join([header, *rows]) + "\n")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, folder, *words):
        command = [sys.executable, "-c", "from incrowd.cli import main; main()", *words]
        (folder / "temporary").mkdir(exist_ok=True)
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", COLUMNS="160", TMPDIR=str(folder / "temporary"))
            os.execv(command[0], command)
        self.seen, self.ended = "", False

    def wait_for(self, text, seconds=90):
        """Read until the text stands on the screen, or the command has ended."""
        until = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < until:
            if select.select([self.screen], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.screen, 65_536).decode(errors="replace")
                except OSError:  # the terminal is closed from the other side
                    break
        assert text in self.seen, self.seen[-2_000:]
        shown, self.seen = self.seen, self.seen.split(text, 1)[1]
        return shown

    def type(self, text):
        os.write(self.screen, text.encode())

    def answer(self, key, expected):
        """Type a key at the prompt, and read what it was understood as."""
        asked = self.wait_for("judge> ")
        time.sleep(0.1)  # until the prompt listens to single keys
        self.type(key)
        self.wait_for(expected)
        return " ".join(asked.split())

    def code(self, seconds=90):
        """The exit code, once everything is read."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if not select.select([self.screen], [], [], 0.2)[0]:
                    continue
                if not (read := os.read(self.screen, 65_536)):
                    break
                self.seen += read.decode(errors="replace")
            except OSError:
                break
        self.ended = True
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def close(self):
        if not self.ended:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.screen)


@pytest.fixture
def judge(tmp_path):
    opened = []
    write(tmp_path)

    def start(*options):
        opened.append(Terminal(tmp_path, "judge", "t.csv", "--question", "q.toml", *options))
        return opened[-1]

    yield start
    for shell in opened:
        shell.close()


def answers(folder):
    return tomllib.loads((folder / "q.toml").read_text())["answers"]


def test_one_key_answers_for_a_column_or_a_family_and_the_rest_stays_open(judge, tmp_path):
    shell = judge()
    asked = shell.answer("k", "known")
    assert "t.csv: 12 columns to judge" in asked
    assert "age" in asked
    assert "if known, 1 more person is unique" in asked
    assert all(word in asked for word in ("k known", "s sensitive", "b both", "n neither", "i identifier", "d drop"))
    assert "illness, main" in shell.answer("x", "that key is no answer")
    shell.answer("s", "sensitive")
    family = shell.answer("n", "neither")
    assert "q5_8 (8 columns)" in family
    assert "each up to this" in family
    assert "p person" not in family
    shell.answer("u", "undo")
    assert "q5_8 (8 columns)" in shell.answer("b", "both")
    shell.answer("\r", "skipped")  # town
    shell.answer("i", "identifier")
    assert shell.code() == 1
    assert "11 columns are judged, 1 open" in shell.seen
    found = answers(tmp_path)
    assert {name: found[name] for name in ("age", "illness, main", "zz")} == {
        "age": "known",
        "illness, main": "sensitive",
        "zz": "identifier",
    }
    assert {found[name] for name in FAMILY} == {"both"}
    assert found["town"].endswith("?")
    assert "empty" not in found

    shell = judge()  # asks only what is open, then for whom
    assert "1 of 1 town" in shell.answer("d", "drop")
    shell.wait_for("population> ")
    shell.type("many\n")
    shell.wait_for("is not a number")
    shell.wait_for("population> ")
    shell.type("9000\n")
    shell.wait_for("recipient> ")
    shell.type("trusted\n")
    assert shell.code() == 0
    saved = tomllib.loads((tmp_path / "q.toml").read_text())
    assert saved["question"] == {"population": 9000, "recipient": "trusted"}
    assert saved["answers"]["town"] == "drop"


@pytest.mark.parametrize(("key", "word"), [("i", "identifier"), ("d", "drop"), ("p", "person"), ("n", "neither")])
def test_what_was_typed_or_answered_is_not_asked(judge, tmp_path, key, word):
    names = ",".join(["age", "zz", *FAMILY])
    shell = judge("--qi", names, "--sensitive", "zz", "--other", "illness, main")
    assert "1 of 1 town" in shell.answer(key, word)
    shell.wait_for("population> ")
    shell.type("\x04")
    shell.wait_for("recipient> ")
    shell.type("\x04")
    assert shell.code() == 0
    found = answers(tmp_path)
    assert (found["town"], found["age"], found["zz"], found["illness, main"]) == (word, "known", "both", "neither")


@pytest.mark.parametrize("key", ["q", "\x04", "\x03"])
def test_whoever_stops_keeps_the_answers_so_far(judge, tmp_path, key):
    shell = judge()
    shell.answer("k", "known")
    shell.answer(key, "stop")
    assert shell.code() == 1
    assert "Traceback" not in shell.seen
    found = answers(tmp_path)
    assert found.pop("age") == "known"
    assert all(answer.endswith("?") for answer in found.values())


def test_a_stop_before_any_answer_answers_nothing(judge, tmp_path):
    shell = judge()
    shell.answer("u", "undo")  # there is nothing to take back
    shell.answer("q", "stop")
    assert shell.code() == 1
    assert all(answer.endswith("?") for answer in answers(tmp_path).values())


def test_a_command_that_is_ended_leaves_no_copy_of_the_table_and_takes_away_what_a_killed_one_left(judge, tmp_path):
    killed = judge()
    killed.wait_for("judge> ")
    os.kill(killed.process, signal.SIGKILL)
    assert killed.code() == -signal.SIGKILL
    (left,) = (tmp_path / "temporary").glob("incrowd-*/cells.parquet")
    shell = judge()
    shell.wait_for("judge> ")
    assert not left.parent.exists()
    assert len(list((tmp_path / "temporary").glob("incrowd-*/cells.parquet"))) == 1
    os.kill(shell.process, signal.SIGTERM)
    assert shell.code() == 128 + signal.SIGTERM
    assert not list((tmp_path / "temporary").iterdir())
    assert not (tmp_path / "q.toml").exists()
    assert "Traceback" not in shell.seen


def test_without_a_terminal_the_form_is_written(capsys, tmp_path):
    write(tmp_path)
    file = tmp_path / "q.toml"
    code, _, err = run(capsys, "judge", tmp_path / "t.csv", "--question", file)
    assert code == 1
    assert "12 columns are open" in err
    form = file.read_text()
    assert "if known, " in form
    assert len(answers(tmp_path)) == 12
    answered = form.replace('zz = "?"', 'zz = "neither"')
    file.write_text(answered)
    code, _, err = run(capsys, "judge", tmp_path / "t.csv", "--question", file, "--qi", "age,town")
    assert code == 1, err
    assert "9 columns are open" in err, err
    assert answers(tmp_path)["zz"] == "neither"
    assert answers(tmp_path)["age"] == "known"
    everything = ["--qi", "age,town", "--sensitive", "illness, main", "--drop", ",".join(FAMILY)]
    assert run(capsys, "judge", tmp_path / "t.csv", "--question", file, *everything)[0] == 0
    assert not any(answer.endswith("?") for answer in answers(tmp_path).values())
    again = file.read_text() + "# a remark of a person\n"
    file.write_text(again)
    assert run(capsys, "assess", tmp_path / "t.csv", "--question", file, "--population", "9e3", "--no-protection")[0]
    assert file.read_text() == again  # it has all answers, and the population was for once
