"""Reading files: against the library that owns the format, each alone, and within a memory limit."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import harness

_ROWS = 1_000_000
_LIMIT = "500MB"
_MAKE = """
import numpy as np, pandas as pd, pyreadstat
n, r = {rows}, np.random.default_rng(0)
d = pd.DataFrame({{
    'age': r.integers(0, 99, n).astype(float), 'sex': r.integers(1, 3, n).astype(float),
    'race': r.integers(1, 10, n).astype(float), 'income': r.normal(5e4, 1e4, n).round(2),
    'zip': [f'{{i:05d}}' for i in r.integers(0, 99_999, n)], 'education': r.integers(1, 17, n).astype(float),
    'state': r.integers(1, 57, n).astype(float), 'job': r.choice(['farmer', 'nurse', 'clerk'], n),
    'born': (pd.Timestamp('1950-01-01') + pd.to_timedelta(r.integers(0, 20_000, n), 'D')).date,
    'weight': (r.random(n) * 100).round(4)}})
labels = {{'sex': {{1.0: 'male', 2.0: 'female'}}}}
"""
_WRITE = {
    ".sav": "pyreadstat.write_sav(d, {file!r}, variable_value_labels=labels)",
    ".dta": "pyreadstat.write_dta(d, {file!r}, variable_value_labels=labels)",
    ".csv.gz": "d.to_csv({file!r}, index=False)",
}
_BARE = {
    ".sav": ("import pyreadstat", "answer = len(pyreadstat.read_sav({file!r})[0])"),
    ".dta": ("import pyreadstat", "answer = len(pyreadstat.read_dta({file!r})[0])"),
    ".csv.gz": ("import pandas as pd", "answer = len(pd.read_csv({file!r}))"),
}


def main() -> None:
    """Measure everything, print it, keep it."""
    rows = _ROWS if "--small" not in sys.argv else 50_000
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for ending, write in _WRITE.items():
            file = str(Path(folder) / f"people{ending}")
            harness.timed(_MAKE.format(rows=rows), write.format(file=file), repeat=1)
            found[ending] = compare(ending, file)
    shown = [
        (ending, f"{one['ours']['cpu']:.2f}", f"{one['bare']['cpu']:.2f}", f"{one['ratio']:.2f}", f"{one['mb']:,.0f}")
        for ending, one in found.items()
    ]
    harness.show(
        f"Reading {rows:,} rows of 10 columns, seconds of one processor",
        ("file", "incrowd", "its own library", "ratio", f"peak MB with memory={_LIMIT}"),
        shown,
    )
    harness.save("files", found)


def compare(ending: str, file: str) -> dict[str, Any]:
    """One file read by its own library and by incrowd, and its peak of memory under a limit."""
    setup, run = _BARE[ending]
    bare = harness.timed(setup, run.format(file=file))
    ours = harness.timed("from incrowd import read_table", f"answer = read_table({file!r}).rows")
    limited = harness.timed(
        "from incrowd import read_table", f"answer = read_table({file!r}, memory={_LIMIT!r}).rows", repeat=1
    )
    assert bare["answer"] == ours["answer"] == limited["answer"]
    return {"bare": bare, "ours": ours, "ratio": ours["cpu"] / bare["cpu"], "mb": limited["peak_mb"]}
