"""Counting: against the bare engines, a packed numpy sort and pyCANON, in one run; and how cost grows."""

from __future__ import annotations

import sys
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import harness

_NAMES = "q = 'oshpd_id age_yrs sex ethncty race patzip patcnty los adm_qtr'.split()\n"
_OURS = _NAMES + "from incrowd import ClassSizes, measure, read_table\nimport polars as pl\n"
_GROWTH = (10_000, 100_000, 1_000_000, 4_000_000, 40_000_000)
_ADULT = """
import pyarrow.compute as pc, pyarrow.parquet as pq
t = pq.read_table({path!r})
t = t.filter(pc.equal(t['split'], 'train')).drop_null()
q = 'age sex race marital_status education native_country workclass occupation'.split()
"""


def main() -> None:
    """Measure everything, print it, keep it."""
    result: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        file = harness.demo_file(Path(folder), 3_985_166)
        result["counting"] = counting(file)
        result["growth"] = growth(Path(folder), (*_GROWTH,) if "--small" not in sys.argv else _GROWTH[:3])
    if harness.DATA.is_dir():
        result["adult"] = adult()
    harness.save("foundation", result)


def counting(file: str) -> dict[str, Any]:
    """Class counting of four million rows by nine attributes."""
    fof = "group_by(q).len().group_by('len').len(name='classes')"
    packed = """
    key = np.zeros(len(d), dtype=np.uint64)
    for c in q:
        a = d[c].to_numpy()
        low = a.min()
        key *= np.uint64(int(a.max()) - int(low) + 1)
        key += (a - low).astype(np.uint64)
    key.sort()
    answer = int((key[1:] != key[:-1]).sum()) + 1
    """
    cases = {
        "incrowd, from Parquet": (_OURS, f"answer = ClassSizes.from_table({file!r}, quasi_identifiers=q).classes"),
        "bare DuckDB, from Parquet": (
            _NAMES + "import duckdb",
            f"answer = duckdb.sql('select sum(c)::bigint from (select n, count(*) c from (select count(*) n from "
            f"read_parquet(\"{file}\") group by ' + ','.join(q) + ') group by n)').fetchall()[0][0]",
        ),
        "bare Polars, from Parquet": (
            _NAMES + "import polars as pl",
            f"answer = int(pl.scan_parquet({file!r}).{fof}.collect()['classes'].sum())",
        ),
        "incrowd, from a frame": (
            _OURS + f"d = pl.read_parquet({file!r}, columns=q)",
            "answer = ClassSizes.from_table(d, quasi_identifiers=q).classes",
        ),
        "incrowd, encoded before": (
            _OURS
            + "from incrowd.backends import encode, frequencies, pack\n"
            + f"d = read_table(pl.read_parquet({file!r}, columns=q))",
            "answer = int(frequencies(pack(encode(d, q)))[1].sum())",  # a table remembers its own counts
        ),
        "packed numpy sort, from a frame": (
            _NAMES + f"import numpy as np, polars as pl\nd = pl.read_parquet({file!r}, columns=q)",
            packed,
        ),
        "bare Polars, from a frame": (
            _NAMES + f"import polars as pl\nd = pl.read_parquet({file!r}, columns=q)",
            f"answer = int(d.{fof}['classes'].sum())",
        ),
        "incrowd measure with k, uniqueness, l, t": (
            _OURS,
            f"answer = measure({file!r}, quasi_identifiers=q, sensitive=['charge']).classes",
        ),
    }
    found = {name: harness.timed(setup, run, repeat=5) for name, (setup, run) in cases.items()}
    harness.show(
        "3 985 166 rows, nine attributes",
        ("what", "best s", "first s", "peak MB", "classes"),
        [(name, f["seconds"], f["first"], round(f["peak_mb"]), f["answer"]) for name, f in found.items()],
    )
    assert len({f["answer"] for f in found.values()}) == 1, "the engines disagree"
    return found


def growth(folder: Path, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Seconds and memory from ten thousand rows up, within a limit of 2 GB."""
    found = []
    for rows in sizes:
        file = harness.demo_file(folder, rows)
        run = f"answer = ClassSizes.from_table(read_table({file!r}, memory='2GB'), quasi_identifiers=q).classes"
        found.append({"rows": rows, **harness.timed(_OURS, run, repeat=3)})
        Path(file).unlink()
    slope = log(found[-1]["seconds"] / found[-2]["seconds"]) / log(found[-1]["rows"] / found[-2]["rows"])
    harness.show(
        f"Growth with a limit of 2 GB (exponent of the last step: {slope:.2f})",
        ("rows", "best s", "peak MB", "classes"),
        [(f["rows"], f["seconds"], round(f["peak_mb"]), f["answer"]) for f in found],
    )
    return found


def adult() -> dict[str, Any]:
    """Adult, 30 162 records: against pyCANON, and all 511 sets of nine attributes."""
    setup = _ADULT.format(path=str(harness.DATA / "adult.parquet"))
    ours = "from incrowd import measure\nfrom incrowd.measures import risk_by_subset\n"
    python = harness.peer("pycanon", "pycanon", "pyarrow")
    theirs = "import pycanon.anonymity as a\nd = t.to_pandas()\n"
    cases = {
        "incrowd k, uniqueness, l, t and relatives": (setup + ours, _measure_adult(), sys.executable),
        "pyCANON k": (setup + theirs, "answer = int(a.k_anonymity(d, q))", python),
        "pyCANON l": (setup + theirs, "answer = int(a.l_diversity(d, q, ['income']))", python),
        "pyCANON t": (setup + theirs, "answer = float(a.t_closeness(d, q, ['income']))", python),
        "incrowd, 511 sets of nine attributes": (
            setup + ours,
            "answer = len(risk_by_subset(t, [*q, 'income']))",
            sys.executable,
        ),
    }
    found = {
        name: harness.timed(setup, run, repeat=3 if python == sys.executable else 1, python=python)
        for name, (setup, run, python) in cases.items()
    }
    harness.show(
        "Adult, 30 162 records, eight attributes, income sensitive",
        ("what", "best s", "first s", "peak MB", "answer"),
        [(name, f["seconds"], f["first"], round(f["peak_mb"]), f["answer"]) for name, f in found.items()],
    )
    return found


def _measure_adult() -> str:
    return """
    m = measure(t, quasi_identifiers=q, sensitive=['income'])
    answer = [m.k, m.sensitive[0].l, round(m.sensitive[0].t, 4)]
    """


if __name__ == "__main__":
    main()
