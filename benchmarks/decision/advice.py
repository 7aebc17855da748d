"""What is suggested, decided and advised on public tables and traps; and a script that pastes what is printed."""

from __future__ import annotations

import argparse
import re
import shlex
import tempfile
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.decision import traps

from benchmarks import harness
from benchmarks.decision.running import Ran, Row, Rows, run, write_table

_TRAPS = {
    "eight columns without a role": traps.survey,
    "all-different number `dossier`": lambda: traps.numbered("dossier"),
    "all-different number `x1`": lambda: traps.numbered("x1"),
    "kept name beside a number": lambda: traps.kept_beside(0.0),
    "kept name, one cell altered": lambda: traps.kept_beside(1 / 6_000),
    "kept name, 1 % altered": lambda: traps.kept_beside(0.01),
    "panel": traps.panel,
    "households": traps.households,
    "communes": traps.communes,
    "drug that nobody takes": traps.rare_drug,
    "question for children": traps.skip_pattern,
    "ten people in pairs": traps.ten_in_pairs,
}
_FLAGS = {"quasi-identifier": "--qi", "sensitive": "--sensitive", "identifier": "--identifier", "other": "--other"}
_PUBLIC = "--recipient public"
_YES = re.compile(r"\bYes(: within|, on conditions)")
_MOST_PASTED = 25  # commands of one table


def cases(most_rows: int) -> Iterator[tuple[str, pa.Table]]:
    """Generated traps, and samples of the public tables."""
    for name, make in _TRAPS.items():
        columns = {column: pa.array(list(values)) for column, values in make().items()}
        yield f"trap: {name}", pa.table(columns)
    for file in sorted(harness.DATA.glob("*.parquet")):
        table = pq.read_table(file)
        if table.num_rows > most_rows:
            drawn = np.random.default_rng(0).choice(table.num_rows, most_rows, replace=False)
            table = table.take(np.sort(drawn))
        yield file.stem, table


def run_advice(asked: argparse.Namespace) -> None:
    """Suggested; decided by guesses; decided once all is confirmed; advised; decided after following that."""
    columns = ("table", "suggested", "guessed", "confirmed", "advised", "followed", "cpu")
    rows = Rows("advice", ("table",), columns)
    for name, table in cases((asked.rows or [2_000])[0]):
        if asked.names and name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_table(folder, table)
            rows.add({"table": name, **_advised(folder)})


def _advised(folder: str) -> Row:
    guessed = run(folder, f"incrowd assess table.parquet --yes --no-protection {_PUBLIC} --json")
    if guessed.answer is None:
        return {"suggested": "none", "guessed": "asks what others may know", "confirmed": "", "advised": ""}
    by_role: dict[str, list[str]] = {}
    for column in guessed.answer["roles"]["columns"]:
        by_role.setdefault(column["role"], []).append(column["column"])
    suggested = ", ".join(f"{len(names)} {role}" for role, names in sorted(by_role.items()))
    row: Row = {"suggested": suggested, "guessed": guessed.decision, "advised": "", "followed": ""}
    confirmed = run(folder, _confirming_command(guessed, by_role))
    row |= {"confirmed": confirmed.decision, "cpu": confirmed.cpu}
    actions = confirmed.verdict.get("actions") or ()
    if not actions:
        return row
    row["advised"] = _shortened(actions[-1]["sentence"])
    if confirmed.decision != "within":
        said = [run(folder, f"{command} --json") for command in actions[-1]["commands"]]
        row["followed"] = said[-1].decision if said else ""
    return row


def _confirming_command(guessed: Ran, by_role: dict[str, list[str]]) -> str:
    """The command of somebody who read each suggestion and found it right."""
    words = ["incrowd", "assess", "table.parquet", *shlex.split(_PUBLIC), "--json"]
    for role, flag in _FLAGS.items():
        for column in by_role.get(role, ()):
            words += [flag, column]
    assert guessed.answer is not None
    people = by_role.get("person", [])
    if people:
        words += ["--person", people[0]]
    elif guessed.answer["evidence"]["rows"]["kind"] != "people":
        words.append("--rows-are-people")
    for column in (*people[1:], *by_role.get("weight", ())):
        words += ["--other", column]
    return shlex.join(words)


def _shortened(text: str) -> str:
    return text if len(text) <= 170 else text[:167].rsplit(" ", 1)[0] + " …"


def run_paste(asked: argparse.Namespace) -> None:
    """A script that reads nothing and pastes every printed command: no yes may come of it."""
    rows = Rows("paste", ("table",), ("table", "pasted", "answers", "yes", "cpu"))
    for name, table in cases((asked.rows or [2_000])[0]):
        if asked.names and name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_table(folder, table)
            rows.add({"table": name, **_paste(folder)})
    stored = list(rows)
    reached = [row["table"] for row in stored if row["yes"]]
    print(f"\n{len(reached)} of {len(stored)} tables get a yes by pasting alone: {', '.join(reached)}")


def _paste(folder: str) -> Row:
    """Run the first commands of a newcomer, then whatever is printed, until nothing new is."""
    waiting = [f"incrowd assess table.parquet --yes {_PUBLIC}", f"incrowd assess table.parquet {_PUBLIC}"]
    pasted: list[str] = []
    yes: list[str] = []
    answers: list[str] = []
    cpu = 0.0
    while waiting and len(pasted) < _MOST_PASTED:
        command = waiting.pop(0)
        pasted.append(command)
        ran = run(folder, command)
        cpu += ran.cpu
        answers.append(str(ran.code))
        if _YES.search(ran.text):
            yes.append(command)
        waiting += [new for new in printed_commands(ran.text) if new not in (*pasted, *waiting)]
    return {"pasted": len(pasted), "answers": answers, "yes": yes, "commands": pasted, "cpu": cpu}


def printed_commands(text: str) -> list[str]:
    """Lines that are commands; inside backticks too. Places to fill in (TABLE) are left, as a script leaves them."""
    lines = [line.strip() for line in text.splitlines()]
    whole = [line for line in lines if line.startswith("incrowd ")]
    quoted = re.findall(r"`(incrowd [^`]+)`", text)
    commands = []
    for command in (*whole, *quoted):
        try:
            words = shlex.split(command)
        except ValueError:  # a line that only begins like a command
            continue
        if len(words) > 2 and words[1] not in ("serve", "demo-data"):
            commands.append(command)
    return commands
