"""Peak memory of every verb under --memory: it keeps to the limit, or says what it takes and stops.

    python -m tests.fuzz.memory --rows 1000000 --memory 100MB
    python -m tests.fuzz.memory --first --only assess

Every verb runs in a fork of a warm process; what counts is how far its peak is above that of a fork that does nothing.
With `--first`, new processes run it with nothing compiled, and then once more with what the first one kept.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz import run, seeds

from incrowd._support.memory import BUFFERS, memory_in_bytes
from incrowd.protection.method_options import MethodName

COMPILING = 80_000_000  # what a first run takes besides, to compile the loops it uses
_RUN = """
import sys
from incrowd.cli import main

try:
    main(sys.argv[1:])
finally:
    with open("/proc/self/status") as facts, open("peak", "w") as told:
        told.write(next(line.split()[1] for line in facts if line.startswith("VmHWM")))
"""
QIS = ["--qi", "age,sex,zip"]
VERBS = {
    "measure": ["measure", "FILE", *QIS],
    "measure a secret": ["measure", "FILE", *QIS, "--sensitive", "illness"],
    "profile": ["profile", "FILE"],
    "check": ["check", "FILE", *QIS, "--min-k", "2"],
    "curve": ["curve", "FILE", *QIS, "--out", "OUT.csv"],
    "leak": ["leak", "FILE", *QIS, "--leaked", "1000"],
    "forecast": ["forecast", "FILE", *QIS, "--at", "1e8"],
    "population": ["population", "FILE", *QIS, "--population", "1e8"],
    "population records": ["population", "FILE", *QIS, "--population", "1e8", "--records", "OUT.parquet"],
    "check recipient": ["check", "FILE", *QIS, "--recipient", "public"],
    "frontier": ["frontier", "FILE", *QIS],
    "assess": ["assess", "FILE", *QIS, "--population", "1e8"],
    "compare": ["compare", "FILE", "FILE", *QIS],
    "evaluate": ["evaluate", "FILE", "FILE", *QIS],
    "attack": ["attack", "FILE", "FILE", "--known", "age,sex,zip"],
    "split": ["split", "FILE", "--out", "OUT.parquet", "--holdout", "OUT2.parquet"],
}


VERBS |= {
    f"protect by {name}": ["protect", "FILE", *QIS, "--k", "5", "--method", name, "--out", "OUT.parquet"]
    for name in get_args(MethodName)
}
VERBS["protect by tcloseness"] += ["--sensitive", "illness", "--t", "0.3"]


def write_rows(file, rows):
    """A table of so many rows, of which few are alike."""
    draw = np.random.default_rng(5)
    codes = pa.array(draw.integers(0, 60, rows).astype(np.int32))
    columns = {
        "age": draw.integers(0, 100, rows),
        "sex": draw.integers(0, 2, rows),
        "zip": draw.integers(10_000, 40_000, rows),
        "income": draw.normal(40_000, 9_000, rows),
        "illness": pa.DictionaryArray.from_arrays(codes, [f"illness {code}" for code in range(60)]),
        "note": pa.array(draw.integers(0, 10**9, rows)).cast(pa.string()),
    }
    pq.write_table(pa.table(columns), file)


def peaks(rows, limit, verbs=None):
    """By verb: its exit code, how far its peak rose, its processor time, and the promise that it broke."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "plain.csv").write_bytes(seeds._csv())
        run.warm_up(folder)
        write_rows(folder / "people.parquet", rows)
        for name in verbs or VERBS:
            words = [word.replace("FILE", "people.parquet") for word in VERBS[name]]
            _, _, _, nothing = run.run_case(folder, ["--version"])
            code, said, seconds, peak = run.run_case(folder, [*words, "--memory", limit])
            broken = []
            if code not in (0, 1) and not (code == 2 and "memory" in said):
                broken.append(f"exit code {code}: {said[-200:]}")
            if peak - nothing > memory_in_bytes(limit) + BUFFERS:
                broken.append("more memory than the limit")
            found[name] = (code, peak - nothing, seconds, broken)
            for file in folder.glob("OUT*"):
                file.unlink()
    return found


def first_run(verb, rows, limit):
    """Peaks in bytes of the first process that runs a verb and of a second one, and how many loops the first kept."""
    with tempfile.TemporaryDirectory() as place:
        folder, kept = Path(place), Path(place) / "compiled"
        write_rows(folder / "people.parquet", rows)
        words = [word.replace("FILE", "people.parquet") for word in VERBS[verb]]
        found = {}
        for turn in ("first", "second"):
            done = subprocess.run(
                [sys.executable, "-c", _RUN, *words, "--memory", limit],
                cwd=folder,
                env={**os.environ, "NUMBA_CACHE_DIR": str(kept)},
                capture_output=True,
                check=False,
            )
            assert done.returncode in (0, 1), done.stderr[-300:]
            found[turn] = int((folder / "peak").read_text()) * 1_000
            found.setdefault("compiled", sum(1 for _ in kept.rglob("*.nbi")))
            for file in folder.glob("OUT*"):
                file.unlink()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory", default="100MB")
    parser.add_argument("--only", action="append")
    parser.add_argument("--first", action="store_true", help="compare a first run with a second one")
    given = parser.parse_args()
    if given.first:
        runs = {verb: first_run(verb, given.rows, given.memory) for verb in given.only or VERBS}
        for verb, found in runs.items():
            first, second = found["first"] / 1e6, found["second"] / 1e6
            sys.stdout.write(f"{verb:18} {first:.0f} MB, then {second:.0f}; {found['compiled']} loops compiled\n")
        sys.exit(any(found["first"] - found["second"] > COMPILING for found in runs.values()))
    answers = peaks(given.rows, given.memory, given.only)
    for verb, (code, peak, seconds, broken) in answers.items():
        sys.stdout.write(f"{verb:18} exit {code}, {peak / 1e6:6.0f} MB, {seconds:5.1f} s {'; '.join(broken)}\n")
    sys.exit(any(broken for *_, broken in answers.values()))
