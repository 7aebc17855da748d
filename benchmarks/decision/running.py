"""Commands as a user types them, run in this process; what they print, and where rows of a piece are kept."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import harness

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command answered: its exit code, all that it printed, its JSON if it printed any, and its CPU seconds."""

    command: str
    code: int
    text: str
    answer: dict[str, Any] | None
    cpu: float

    @property
    def verdict(self) -> dict[str, Any]:
        """The verdict in the answer, empty without one."""
        verdict: dict[str, Any] = (self.answer or {}).get("verdict") or {}
        return verdict

    @property
    def decision(self) -> str:
        """The decision, or that there is none."""
        return str(self.verdict.get("decision", "no answer"))


def run(folder: str | Path, command: str | Sequence[str]) -> Ran:
    """Run a command in a folder, without anybody at the keyboard."""
    main: Any = import_module("incrowd.cli").main
    words = shlex.split(command) if isinstance(command, str) else list(command)
    printed, notes = _Captured(), _Captured()
    code = 0
    started = time.process_time()
    with contextlib.chdir(folder), _nobody_types(), redirect_stdout(printed), redirect_stderr(notes):
        try:
            main(words[1:])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    cpu = time.process_time() - started
    text = printed.text
    answer = None
    if "{" in text:
        with contextlib.suppress(ValueError):
            answer = json.loads(text[text.index("{") :])
    return Ran(shlex.join(words), code, f"{text}\n{notes.text}", answer, cpu)


class _Captured(io.TextIOWrapper):
    """A stream that keeps what is printed."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        self.flush()
        self.seek(0)
        return self.read()


@contextlib.contextmanager
def _nobody_types() -> Iterator[None]:
    keyboard, sys.stdin = sys.stdin, io.StringIO("")
    try:
        yield
    finally:
        sys.stdin = keyboard


def role_words(known: Sequence[str], sensitive: Sequence[str] = (), other: Sequence[str] = ()) -> list[str]:
    """Options that say what columns are."""
    options = (("--qi", known), ("--sensitive", sensitive), ("--other", other))
    return [word for option, names in options for name in names for word in (option, quoted(name))]


def quoted(name: str) -> str:
    """A column's name in a list that commas separate."""
    return f'"{name}"' if "," in name or '"' in name else name


def write_table(folder: str | Path, table: pa.Table, name: str = "table.parquet") -> Path:
    """Write a table as a file of the folder."""
    path = Path(folder) / name
    pq.write_table(table, path)
    return path


class Rows:
    """Rows of one piece, printed as they come and kept in `benchmarks/results`; a piece can be run in several parts."""

    def __init__(self, piece: str, key: Sequence[str], columns: Sequence[str]):
        self.path = harness.RESULTS / f"decision_{piece}.json"
        self.key, self.columns = tuple(key), tuple(columns)
        stored = json.loads(self.path.read_text()) if self.path.exists() else []
        self.rows: dict[tuple[str, ...], Row] = {self._key_of(row): row for row in stored}
        print(f"\n### {piece}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)

    def add(self, row: Row) -> None:
        """Print a row and keep it in place of that of an earlier run."""
        self.rows[self._key_of(row)] = row
        print(line_of(row, self.columns), flush=True)
        harness.RESULTS.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(list(self.rows.values()), indent=1, default=str))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows.values())

    def _key_of(self, row: Row) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.key)


def line_of(row: Row, columns: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(_cell(row.get(name, '')) for name in columns)} |"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(entry) for entry in value)
    return str(value).replace("|", "\\|")


def measured(answer: dict[str, Any] | None) -> Row:
    """Success by look, its bound and what is blamed: whatever the engine's answer holds, else nothing."""
    if answer is None:
        return {}
    verdict = answer.get("verdict") or {}
    for holder in (verdict, answer):
        for name in ("attacked", "attacker", "attack", "engine", "identity"):
            if isinstance(holder.get(name), dict):
                return dict(holder[name])
    return {}
