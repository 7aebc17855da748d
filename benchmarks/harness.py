"""What every benchmark shares: fresh processes, peers in environments of their own, tables and JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DATA = Path(os.environ.get("INCROWD_DATA", HERE.parent.parent / "shared" / "data"))

_MEASURED = """
import json, time
{setup}
answer, times, work = None, [], []
for _ in range({repeat}):
    started, busy = time.perf_counter(), time.process_time()
{run}
    times.append(time.perf_counter() - started)
    work.append(time.process_time() - busy)
status = open("/proc/self/status").read()  # getrusage would count the parent's memory too
peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
found = {{"seconds": min(times), "first": times[0], "cpu": min(work), "peak_mb": peak, "answer": answer}}
print(json.dumps(found))
"""


def timed(setup: str, run: str, *, repeat: int = 3, python: str = sys.executable) -> dict[str, Any]:
    """Run code in a process of its own: best and first of some runs, busy time, peak memory, and the `answer` set."""
    code = _MEASURED.format(
        setup=textwrap.dedent(setup), run=textwrap.indent(textwrap.dedent(run), "    "), repeat=repeat
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peer(name: str, *requirements: str) -> str:
    """The Python of a peer's own environment, made when it is first asked for."""
    folder = HERE / ".peers" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *requirements], check=True, stderr=subprocess.DEVNULL
        )
        (folder / "ready").touch()
    return str(python)


def demo_file(folder: Path, rows: int) -> str:
    """A demo table as a Parquet file, written in parts so that any size fits into memory; kept if it is there."""
    import pyarrow.parquet as pq

    from incrowd.demo import demo_table

    path = folder / f"demo-{rows}.parquet"
    if path.exists():
        return str(path)
    part = 2_000_000
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, demo_table(1).schema) as writer:
        for number, start in enumerate(range(0, rows, part)):
            writer.write_table(demo_table(min(part, rows - start), seed=number))
    unfinished.rename(path)
    return str(path)


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table in Markdown, ready for the README."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row) + " |")


def save(name: str, result: Any) -> None:
    """Keep the numbers as JSON."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2))
