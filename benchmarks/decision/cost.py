"""CPU seconds and memory of `assess`, beside those of an older checkout in the same run."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import harness
from benchmarks.decision.running import Row, Rows, role_words, write_table
from benchmarks.decision.tables import PUBLIC

_MEASURED = """
import json, resource, subprocess, sys
command = [sys.executable, "-c", "from incrowd.cli import main; main()", *sys.argv[1:]]
code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
_DEMO = ("oshpd_id", "age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr")
_WHOLE = 10**9
_SOURCES = Path(__file__).parents[2] / "src"


def run_cost(asked: argparse.Namespace) -> None:
    """Whole public tables and a million rows; with `--old FOLDER` (a checkout) the ratio to that code."""
    columns = ("command", "exit", "cpu", "peak_mb", "cpu_old", "peak_mb_old", "ratio")
    rows = Rows("cost", ("command",), columns)
    with TemporaryDirectory() as folder:
        for name, words in _commands(Path(folder), asked.names):
            row: Row = {"command": name}
            code, cpu, peak = _measure(words, _SOURCES)
            row |= {"exit": code, "cpu": cpu, "peak_mb": round(peak)}
            if asked.old:
                code, cpu_old, peak_old = _measure(words, Path(asked.old) / "src")
                row |= {"cpu_old": cpu_old, "peak_mb_old": round(peak_old), "ratio": cpu / cpu_old}
            rows.add(row)


def _commands(folder: Path, names: list[str] | None) -> list[tuple[str, list[str]]]:
    """`assess` with all columns judged, with and without the way to a yes; names choose tables."""
    commands = []
    for public in PUBLIC:
        if public.name not in (names or ("adult", "nhanes")):
            continue
        table = public.read(_WHOLE).drop_columns(public.left_out)
        path = write_table(folder, table, f"{public.name}.parquet")
        roles = role_words(public.known, other=public.kept(table))
        asked = ["assess", str(path), *roles, "--recipient", "public", "--rows-are-people"]
        commands.append((f"assess {public.name}, {table.num_rows:,} × {table.num_columns}", asked))
        commands.append((f"the same without a way to a yes, {public.name}", [*asked, "--no-protection"]))
    if not names or "million" in names:
        path = Path(harness.demo_file(folder, 1_000_000))
        asked = ["assess", str(path), "--qi", ",".join(_DEMO), "--recipient", "public"]
        commands.append(("assess, 1,000,000 demo rows", asked))
    return commands


def _measure(words: list[str], sources: Path) -> tuple[int, float, float]:
    """Exit code, CPU seconds and peak memory of a command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    command = [sys.executable, "-c", _MEASURED, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    code, cpu, peak = json.loads(done.stdout)
    return int(code), float(cpu), float(peak)
