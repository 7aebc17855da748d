"""From a table to a decision: time, memory and the size of the report; and how fast things start."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import harness

_DEMO = "oshpd_id,age_yrs,sex,ethncty,race,patzip,patcnty,los,adm_qtr"
_ADULT = "age,sex,race,marital_status,education,native_country,workclass,occupation"
_COMMAND = str(Path(sys.executable).parent / "incrowd")


def main() -> None:
    """Measure everything, print it, keep it."""
    with TemporaryDirectory() as folder:
        result = {"whole runs": _whole_runs(Path(folder)), "starting": _starting()}
    harness.save("assess", result)


def _whole_runs(folder: Path) -> list[dict[str, Any]]:
    """The commands as a user runs them, each in a process of its own, the best of two."""
    demo, page = folder / "demo.parquet", folder / "report.html"
    _run([_COMMAND, "demo-data", "--rows", "1e6", "--out", str(demo)])
    written = ["--html", str(page), "--force", "--json"]
    table = [str(demo), "--qi", _DEMO]
    cases = {
        "assess, 1 000 000 rows, 9 attributes, with the page": ["assess", *table, *written],
        "the same with a population of 39 million": ["assess", *table, "--population", "39e6", *written],
        "check, 1 000 000 rows, 9 attributes": ["check", *table, "--min-k", "5", "--max-risk", "0.09"],
    }
    adult = harness.DATA / "adult.parquet"
    if adult.is_file():
        asked = ["--qi", _ADULT, "--sensitive", "income"]
        cases["assess, Adult (48 842 rows), with the page"] = ["assess", str(adult), *asked, *written]
        more = ["--population", "10e6"]
        cases["the same with a population of 10 million"] = ["assess", str(adult), *asked, *more, *written]
    found: list[dict[str, Any]] = []
    for name, command in cases.items():
        page.unlink(missing_ok=True)
        runs = [_run([_COMMAND, *command]) for _ in range(2)]
        best = min(runs, key=lambda run: run["seconds"])
        found.append({"what": name, **best, "page_mb": page.stat().st_size / 1e6 if page.exists() else None})
    harness.show(
        "From a table to a decision",
        ("what", "best s", "CPU s", "peak MB", "page MB"),
        [
            (one["what"], one["seconds"], one["cpu"], round(one["peak_mb"]), f"{one['page_mb'] or 0:.2f}")
            for one in found
        ],
    )
    return found


def _starting() -> list[dict[str, Any]]:
    cases = {
        "import incrowd": [sys.executable, "-c", "import incrowd"],
        "python that does nothing": [sys.executable, "-c", ""],
        "incrowd --help": [_COMMAND, "--help"],
    }
    found: list[dict[str, Any]] = []
    for name, command in cases.items():
        runs = [_run(command) for _ in range(5)]
        found.append({"what": name, **min(runs, key=lambda run: run["seconds"])})
    harness.show("Starting", ("what", "best s", "CPU s"), [(one["what"], one["seconds"], one["cpu"]) for one in found])
    return found


_MEASURED = """
import json, resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def _run(command: Sequence[str]) -> dict[str, Any]:
    """Wall time, processor time and peak memory of one command; a decision of 'over' is no failure."""
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], capture_output=True, text=True, check=True)
    code, seconds, cpu, peak = json.loads(done.stdout)
    if code not in (0, 1):
        raise RuntimeError(done.stderr)
    time.sleep(0.1)
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak}


if __name__ == "__main__":
    main()
