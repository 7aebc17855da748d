"""The roles are asked for on a terminal: accepted, changed, refused, interrupted."""

import os
import pty
import select
import signal
import sys
import time
import tomllib

import pytest

from incrowd import InputError, demo_table
from incrowd.assessment import Roles
from incrowd.cli.prompts import change_roles
from incrowd.tables import write_table

COLUMNS = ["age", "income, net", "zip"]
ROLES = Roles(("age", "zip"), ("income, net",), confirmed=False)


def test_a_line_changes_roles_and_a_name_may_have_a_comma():
    found = change_roles(ROLES, "income, net=qi, age = other", COLUMNS)
    assert (found.quasi_identifiers, found.sensitive, found.confirmed) == (("zip", "income, net"), (), True)
    assert change_roles(ROLES, "zip=person", COLUMNS).person == "zip"
    assert change_roles(change_roles(ROLES, "zip=weight", COLUMNS), "zip=sensitive", COLUMNS).weight is None
    assert change_roles(ROLES, "age=ID", COLUMNS).identifiers == ("age",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("age", "not understood"),
        ("age=secret", "not understood"),
        ("ag=qi", "no column 'ag'"),
        ("", "nothing to assess"),
    ],
)
def test_a_line_that_is_no_change_is_refused_in_words(line, message):
    with pytest.raises(InputError, match=message):
        change_roles(ROLES, line, COLUMNS)


class Terminal:
    """`incrowd assess` on a terminal of its own."""

    def __init__(self, folder, *options):
        write_table(demo_table(300), folder / "stays.csv", force=True)
        command = [
            sys.executable,
            "-c",
            "from incrowd.cli import main; main()",
            "assess",
            "stays.csv",
            "--no-protection",
            *options,
        ]
        (folder / "temporary").mkdir(exist_ok=True)
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", COLUMNS="160", TMPDIR=str(folder / "temporary"))
            os.execv(command[0], command)
        self.seen, self.ended = "", False

    def wait_for(self, text, seconds=240):
        """Read until the text stands on the screen, or the command has ended."""
        until = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < until:
            if select.select([self.screen], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.screen, 65_536).decode(errors="replace")
                except OSError:  # the terminal is closed from the other side
                    break
        assert text in self.seen, self.seen[-2_000:]
        shown, self.seen = self.seen, self.seen.split(text)[-1]
        return shown

    def type(self, text):
        os.write(self.screen, text.encode())

    def code(self, again="", seconds=240):
        """What is left on the screen, and the exit code; a key that came before the prompt listened is typed again."""
        until = time.monotonic() + seconds
        while True:
            assert time.monotonic() < until, self.seen[-2_000:]
            try:
                if not select.select([self.screen], [], [], 3)[0]:
                    self.type(again)
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
def terminal(tmp_path):
    opened = []

    def start(*options):
        opened.append(Terminal(tmp_path, *options))
        opened[-1].wait_for("roles> ")
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_roles_are_changed_then_confirmed_and_saved(terminal, tmp_path):
    shell = terminal("--save", tmp_path / "question.toml")
    shell.type("agee=other\n")
    shell.wait_for("there is no column 'agee'")
    shell.wait_for("roles> ")
    shell.type("patzip=other, oshpd_id=other, los=sensitive\n")
    assert "as you said" in shell.wait_for("roles> ")
    shell.type("n\n")
    assert "Then say what is wrong" in shell.wait_for("roles> ")
    shell.type("y\n")
    shell.wait_for("population> ")
    shell.type("many\n")
    shell.wait_for("is not a number")
    shell.wait_for("population> ")
    shell.type("300\n")
    shell.wait_for("recipient> ")
    shell.type("trusted\n")
    assert shell.code() == 1
    assert "What to do" in shell.seen
    assert "nobody confirmed" not in shell.seen
    saved = (tmp_path / "question.toml").read_text()
    kept = tomllib.loads(saved)["columns"]
    question = tomllib.loads(saved)["question"]
    assert (question["population"], question["recipient"]) == (300, "trusted")
    assert "patzip" not in kept["quasi_identifiers"]
    assert "patzip" in kept["other"]
    assert kept["sensitive"] == ["charge", "diag_p", "los"]


@pytest.mark.parametrize(("key", "code"), [("q\n", 2), ("\x04", 2), ("\x03", 130)])
def test_a_refusal_assesses_nothing(terminal, key, code):
    shell = terminal()
    shell.type(key)
    assert shell.code(again=key) == code
    assert "stopped" in shell.seen
    assert "Traceback" not in shell.seen
    assert "What to do" not in shell.seen


def test_a_command_that_is_ended_leaves_no_copy_of_the_table_and_takes_away_what_a_killed_one_left(terminal, tmp_path):
    killed = terminal()
    os.kill(killed.process, signal.SIGKILL)
    assert killed.code() == -signal.SIGKILL
    (left,) = (tmp_path / "temporary").glob("incrowd-*/cells.parquet")
    shell = terminal()
    assert not left.parent.exists()
    assert len(list((tmp_path / "temporary").glob("incrowd-*/cells.parquet"))) == 1
    os.kill(shell.process, signal.SIGTERM)
    assert shell.code() == 128 + signal.SIGTERM
    assert not list((tmp_path / "temporary").iterdir())
    assert "Traceback" not in shell.seen
