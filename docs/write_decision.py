"""Write the table of docs/decision.md: what is decided and advised on public tables and on generated traps.

python -m docs.write_decision [--rows 2000] [NAME …]

The public tables are Parquet files in the folder that INCROWD_DATA names. Every step is the command that a user types,
run in this process; what is advised is typed as it is printed. Forecasts, on which no decision rests, are left out.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.decision import traps
from typer.testing import CliRunner

from incrowd import UnsupportedError
from incrowd.assessment import api
from incrowd.cli.app import app

PAGE = Path(__file__).parent / "decision.md"
START, END = "<!-- made by write_decision.py: start -->", "<!-- made by write_decision.py: end -->"
TRAPS = {
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
FLAGS = {"quasi-identifier": "--qi", "sensitive": "--sensitive", "identifier": "--identifier", "other": "--other"}


def main():
    """Assess every case as a user would, and write the page."""
    api.SECTIONS = tuple(
        dataclasses.replace(section, answer=_leave_out) if section.name == "forecast" else section
        for section in api.SECTIONS
    )
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=2_000)
    asked = parser.parse_args()
    rows = []
    for name, table in _cases(asked.rows):
        if asked.names and name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(table, Path(folder) / "table.parquet")
            rows.append(f"| {name} | {' | '.join(_steps(folder, table))} |")
        sys.stdout.write(rows[-1] + "\n")
        sys.stdout.flush()
    if not asked.names:
        _write(rows, asked.rows)


def _cases(rows):
    for name, make in TRAPS.items():
        columns = {column: pa.array(list(values)) for column, values in make().items()}
        yield f"trap: {name}", pa.table(columns)
    for file in sorted(Path(os.environ.get("INCROWD_DATA", "data")).glob("*.parquet")):
        table = pq.read_table(file)
        if table.num_rows > rows:
            table = table.take(np.sort(np.random.default_rng(0).choice(table.num_rows, rows, replace=False)))
        yield file.stem, table


def _steps(folder, table):
    """What is suggested; decided by guesses; decided once each suggestion is confirmed; advised; said after that."""
    guessed = _run(folder, "incrowd assess table.parquet --yes --no-protection --recipient public --json")
    if guessed is None:
        return "none", "asks what others may know (`--qi`)", "", "", ""
    by_role = {}
    for one in guessed["roles"]["columns"]:
        by_role.setdefault(one["role"], []).append(one["column"])
    suggested = ", ".join(f"{len(names)} {role}" for role, names in sorted(by_role.items()))
    judged = _run(folder, _judged_command(guessed, by_role))
    if judged is None:
        return suggested, guessed["verdict"]["decision"], "no answer", "", ""
    actions = judged["verdict"]["actions"]
    advised = actions[-1] if actions else None
    said = ""
    if judged["verdict"]["decision"] != "within" and advised and advised["commands"]:
        for command in advised["commands"]:
            answer = _run(folder, f"{command} --json")
        said = answer["verdict"]["decision"] if answer and "verdict" in answer else "no answer"
    return (
        suggested,
        guessed["verdict"]["decision"],
        judged["verdict"]["decision"],
        _cell(advised["sentence"]) if advised else "",
        said,
    )


def _judged_command(guessed, by_role):
    """The command of somebody who read each suggestion and found it right."""
    words = ["incrowd", "assess", "table.parquet", "--recipient", "public", "--json"]
    for role, flag in FLAGS.items():
        for column in by_role.get(role, ()):
            words += [flag, column]
    if by_role.get("person"):
        words += ["--person", by_role["person"][0]]
    elif guessed["evidence"]["rows"]["kind"] != "people":
        words.append("--rows-are-people")
    for column in (*by_role.get("person", ())[1:], *by_role.get("weight", ())):
        words += ["--other", column]
    return shlex.join(words)


def _run(folder, command):
    """The JSON that a command prints, None where it has no answer."""
    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, shlex.split(command)[1:])
    try:
        return json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        sys.stderr.write(f"{command}\n{done.exception}\n{done.output[-500:]}\n")
        return None


def _leave_out(work):
    raise UnsupportedError("left out")


def _cell(text):
    short = text if len(text) <= 170 else text[:167].rsplit(" ", 1)[0] + " …"
    return short.replace("|", "\\|")


def _write(rows, sampled):
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    heading = "| table | suggested | guessed roles | every suggestion confirmed | advised | after following it |"
    about = f"Public tables are random samples of at most {sampled:,} rows; the recipient is the public."
    table = "\n".join([about, "", heading, "|---|---|---|---|---|---|", *rows])
    PAGE.write_text(f"{before}{START}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
