"""From one million to a hundred million rows: `python -m benchmarks.scale [--rows 1e6,4e6] [--only count,check]`.

Counting, measuring with l and t, the posterior of a population ten times as large and the gate, each in a process of
its own with a memory limit of 4 GB; and protecting 16 million rows, counted again on what comes out. Runs may be made
in parts: the numbers of each are kept in benchmarks/results/scale.json. Tables are generated once, in the folder that
INCROWD_SCRATCH names (benchmarks/results/scale without it): about 2.5 GB for all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

from benchmarks import harness

ROWS = (1_000_000, 4_000_000, 16_000_000, 40_000_000, 100_000_000)
PROTECTED = (1_000_000, 4_000_000, 16_000_000)
FOLDER = Path(os.environ.get("INCROWD_SCRATCH", harness.RESULTS / "scale"))
_BYTES_A_ROW = 20  # of a demo table as Parquet, rounded up
_SETUP = """
from incrowd import ClassSizes, check, demo_table, measure, population_risk, protect, read_table
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS
q = list(QUASI_IDENTIFIERS)
def run(table):
{work}
run(read_table(demo_table(3_000), scales=AS_NUMBERS))  # compiles
"""
_FILE = "answer = run(read_table({file!r}, memory={memory!r}, scales=AS_NUMBERS))"
TASKS = {
    "count": "return ClassSizes.from_table(table, quasi_identifiers=q).classes",
    "measure": "f = measure(table, quasi_identifiers=q, sensitive=['charge']); return f.classes, f.sensitive[0].t",
    "posterior": (
        "return population_risk(table, quasi_identifiers=q, population=10 * table.rows, method='posterior')"
        ".sample_to_population"
    ),
    "check": (
        "return check(table, quasi_identifiers=q, sensitive=['charge'], min_k=2, max_risk=.5, min_l=2, max_t=.5).passed"
    ),
    "protect": (
        "s = protect(table, quasi_identifiers=q, k=5); n = s.classes; "
        "assert s.guarantee.holds and n.smallest >= 5 and n.people == table.rows; return n.smallest, n.largest"
    ),
}
_MEMORY = {"protect": "8GB"}


def main() -> None:
    """Measure what is asked for, keep it with what was measured before, and print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="sizes, such as 1e6,4e6")
    parser.add_argument("--only", help=f"of {', '.join(TASKS)}")
    parser.add_argument("--repeat", type=int, default=0, help="runs of each; the best counts (3 up to 4 million rows)")
    given, _ = parser.parse_known_args()
    tasks = given.only.split(",") if given.only else list(TASKS)
    known = _known()
    for task in tasks:
        for rows in _sizes(given.rows, task):
            repeat = given.repeat or (3 if rows <= 4_000_000 else 1)
            found = _measured(task, _file(rows), repeat)
            known[task] = {**known.get(task, {}), str(rows): found}
            times = f"{found['seconds']:9.2f} s {found['cpu']:9.2f} s busy"
            print(f"{task:10} {rows:>12,} {times} {found['peak_mb']:9,.0f} MB", flush=True)
            harness.save("scale", known)
    _show(known)


def _sizes(asked: str | None, task: str) -> Sequence[int]:
    usual = PROTECTED if task == "protect" else ROWS
    return [int(float(size)) for size in asked.split(",")] if asked else usual


def _known() -> dict[str, Any]:
    path = harness.RESULTS / "scale.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _file(rows: int) -> str:
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / f"demo-{rows}.parquet").exists() and shutil.disk_usage(FOLDER).free < 3 * rows * _BYTES_A_ROW:
        raise SystemExit(f"{FOLDER} has no room for a table of {rows:,} rows; name another folder in INCROWD_SCRATCH")
    return harness.demo_file(FOLDER, rows)


def _measured(task: str, file: str, repeat: int) -> dict[str, Any]:
    """The best of some processes, each of which does it once: a second run in the same memory would be quicker."""
    setup = _SETUP.format(work="    " + TASKS[task])
    run = _FILE.format(file=file, memory=_MEMORY.get(task, "4GB"))
    found = [harness.timed(setup, run, repeat=1) for _ in range(repeat)]
    return min(found, key=lambda one: float(one["seconds"]))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """b of value = a · size^b, by least squares of the logarithms."""
    x, y = [log(size) for size in sizes], [log(value) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def _show(known: dict[str, Any]) -> None:
    for task, found in known.items():
        sizes = sorted(found, key=int)
        seconds = [found[size]["seconds"] for size in sizes]
        title = f"{task}, {_MEMORY.get(task, '4GB')}"
        if len(sizes) > 1:
            growth = exponent([float(size) for size in sizes], seconds)
            last = log(seconds[-1] / seconds[-2]) / log(int(sizes[-1]) / int(sizes[-2]))
            title += f": seconds grow as rows^{growth:.2f}, in the last step as rows^{last:.2f}"
        harness.show(
            title,
            ("rows", "seconds", "processor seconds", "microseconds a row", "peak MB", "answer"),
            [
                (
                    f"{int(size):,}",
                    time,
                    found[size]["cpu"],
                    time / int(size) * 1e6,
                    round(found[size]["peak_mb"]),
                    found[size]["answer"],
                )
                for size, time in zip(sizes, seconds, strict=True)
            ],
        )


if __name__ == "__main__":
    main()
