"""What protection costs and how long it takes: `python -m benchmarks.protect`.

Information loss against the paper's own algorithms, granularity on Adult against a plain k-d partition (anonypy) and
ANJANA, each in an environment of its own, and ARX's published figures, the paper's claims on the demo table, and
seconds and memory from 100 000 to 4 million rows. `--quick` leaves out the sizes above 100 000.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from papers.proper_anonymization.protection import outcomes

from benchmarks import harness
from incrowd import demo_table, evaluate, protect, read_table
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS
from incrowd.protection import HIPAA_STEPS, Hierarchy
from papers import Context

RESULTS = Path(__file__).parent / "results" / "protect.json"
ADULT = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income"]
ARX = {"local recoding": (0.932, 4.2), "global optimum": (0.751, 4.7)}  # granularity and seconds, as measured before
SIZES = (100_000, 1_000_000, 4_000_000)
SMALL = {"sex", "ethncty", "race", "adm_qtr"}  # one level and * are enough for these
METHODS: dict[str, dict[str, Any]] = {
    "partition": {},
    "t-close partition": {"method": "partition", "t": "bound", "sensitive": ["charge"]},
    "sorted (S2)": {"method": "sorted"},
    "t-closeness (S4)": {"method": "tcloseness", "t": "bound", "sensitive": ["charge"]},
    "coarsen (S3), 1/16": {"method": "coarsen", "resolution": "1/16"},
    "mask (Table S3)": {"method": "mask", "steps": HIPAA_STEPS},
    "blank": {"method": "blank"},
    "generalise": {"method": "generalise", "suppress": 0.05, "hierarchies": "three levels"},
}


def main() -> None:
    """Print the tables and write the numbers."""
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        print(json.dumps(_one(sys.argv[2], int(sys.argv[3]))))
        return
    sizes = SIZES[:1] if "--quick" in sys.argv else SIZES
    found = {"loss": loss_against_the_paper(), "adult": adult(), "claims": claims(), "scale": scale(sizes)}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2))
    print(f"\nwritten to {RESULTS}")


def loss_against_the_paper() -> list[dict[str, Any]]:
    """Information loss (eq. 3 and 4) of the partitions against S2 and S4 at the same k and bound on t."""
    table = read_table(demo_table(100_000), scales=AS_NUMBERS)
    print("\ninformation loss, demo table, 100,000 records, 9 quasi-identifiers")
    print(
        f"{'k':>3} {'S2':>8} {'ours':>8} {'ratio':>6} | {'S4':>8} {'ours':>8} {'ratio':>6} {'bound':>6} {'t S4':>6} t"
    )
    rows = []
    for k in (2, 3, 5, 10):
        s2, ours = (
            protect(table, quasi_identifiers=QUASI_IDENTIFIERS, k=k, method=method).evaluate().information_loss
            for method in ("sorted", "partition")
        )
        s4, close = (
            protect(table, quasi_identifiers=QUASI_IDENTIFIERS, k=k, method=method, t="bound", sensitive=["charge"])
            for method in ("tcloseness", "partition")
        )
        loss4, loss_close = (safe.evaluate().information_loss for safe in (s4, close))
        row = {"k": k, "s2": s2, "partition": ours, "ratio": ours / s2, "s4": loss4, "t_close": loss_close}
        row |= {"t_close_ratio": loss_close / loss4, "bound": s4.guarantee.bound, "t_s4": s4.guarantee.t}
        row["t_ours"] = close.guarantee.t
        rows.append(row)
        print(
            f"{k:>3} {s2:8.4f} {ours:8.4f} {ours / s2:6.3f} | {loss4:8.4f} {loss_close:8.4f} {loss_close / loss4:6.3f} "
            f"{row['bound']:6.3f} {row['t_s4']:6.3f} {row['t_ours']:6.3f}"
        )
    return rows


def adult() -> dict[str, Any] | None:
    """Granularity on the 30 162 complete training records of Adult, 9 quasi-identifiers, k = 5."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    folder = Path(os.environ.get("INCROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "adult.parquet").is_file():
        print("\nno adult.parquet found; set INCROWD_DATA")
        return None
    table = pq.read_table(folder / "adult.parquet")
    table = table.filter(pc.equal(table["split"], "train")).drop_null()
    protect(table, quasi_identifiers=ADULT, k=5)  # compiled and warm
    seconds, safe = _timed(lambda: protect(table, quasi_identifiers=ADULT, k=5))
    rows: dict[str, Any] = {"incrowd, partition": (safe.evaluate().granularity, seconds)}
    files = {name: folder / "adult_hierarchies" / f"{name.replace('_', '-')}.csv" for name in ADULT[:-1]}
    files["income"] = folder / "adult_hierarchies" / "salary-class.csv"
    seconds, along = _timed(lambda: protect(table, quasi_identifiers=ADULT, k=5, hierarchies=files))
    rows["incrowd, partition along hierarchies"] = (along.evaluate().granularity, seconds)
    seconds, blanked = _timed(lambda: protect(table, quasi_identifiers=ADULT, k=5, method="blank"))
    rows["incrowd, cells blanked"] = (blanked.evaluate().granularity, seconds)
    seconds, full = _timed(
        lambda: protect(table, quasi_identifiers=ADULT, k=5, method="generalise", hierarchies=files, suppress=0.05), 1
    )
    rows["incrowd, full domain, 5 % of rows may go"] = (
        full.evaluate().granularity * full.rows / table.num_rows,
        seconds,
    )
    if (peer := _peer("anonypy", table)) is not None:
        rows["anonypy, Mondrian"] = peer
    meant = {name: Hierarchy.from_csv(file) for name, file in files.items()}
    if (peer := _peer("anjana", table, str(folder / "adult_hierarchies"), hierarchies=meant)) is not None:
        rows["ANJANA, full domain, 5 % of rows may go"] = peer
    rows |= {f"ARX, {name} (quoted, not run here)": figures for name, figures in ARX.items()}
    print(f"\nAdult, {table.num_rows:,} records, k = 5: granularity kept, seconds")
    for name, (kept, seconds) in rows.items():
        print(f"  {name:45} {kept:.4f} {seconds:8.2f}")
    return {name: {"granularity": kept, "seconds": seconds} for name, (kept, seconds) in rows.items()}


def _peer(name: str, table: Any, *arguments: str, hierarchies: Any = None) -> tuple[float, float] | None:
    """Detail kept and seconds of another package, run in its own environment; its table is evaluated as ours are."""
    import pyarrow.parquet as pq

    work = harness.RESULTS / name
    work.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.select(ADULT), work / "in.parquet")
    script = Path(__file__).parent / f"protect_{name}.py"
    try:
        python = harness.peer(name, name, "pandas", "pyarrow")
        done = subprocess.run([python, script, work, *arguments], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"\n{name} could not be run: {error}\n{getattr(error, 'stderr', '')}")
        return None
    original = table.select(ADULT)
    found = evaluate(original, work / "out.parquet", quasi_identifiers=ADULT, hierarchies=hierarchies)
    left = found.records / original.num_rows  # nothing is kept of a row that was dropped
    return found.granularity * left, float(done.stdout.split()[-1])


def claims() -> list[dict[str, Any]]:
    """The paper's Figures S4 and S7 on the demo table: uniques, random re-identification, disclosure, loss."""
    table = read_table(demo_table(100_000), scales=AS_NUMBERS)
    print("\nthe paper's claims, demo table, 100,000 records (the secret: charges above 100,000)")
    print(f"{'':34} {'unique':>8} {'named':>8} {'secret':>8} {'loss':>8}")
    rows = []
    for one in outcomes(table, Context()):
        rows.append(asdict(one))
        print(f"{one.bar()['setting']:34} {one.unique:8.2%} {one.named:8.2%} {one.secret:8.2%} {one.loss:8.4f}")
    return rows


def scale(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Seconds and peak memory of every method, each in a process of its own, and the exponent of its growth."""
    print("\nscale, k = 5, 9 quasi-identifiers: wall seconds / processor seconds / peak GB")
    rows = []
    for name in METHODS:
        line: list[dict[str, Any]] = []
        for size in sizes:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.protect", "--one", name, str(size)], capture_output=True, text=True
            )
            if done.returncode:
                line.append({"rows": size, "failed": done.stderr.strip().splitlines()[-1]})
                continue
            line.append(json.loads(done.stdout))
        done_all = [one for one in line if "failed" not in one]
        exponent = None
        if len(done_all) > 1:
            first, last = done_all[0], done_all[-1]
            exponent = math.log(last["cpu"] / first["cpu"]) / math.log(last["rows"] / first["rows"])
        rows.append({"method": name, "runs": line, "exponent": exponent})
        cells = [
            f"{one['rows']:>9,}: {one['seconds']:6.2f} / {one['cpu']:6.2f} / {one['memory']:4.2f}"
            if "failed" not in one
            else f"{one['rows']:>9,}: {one['failed'][:60]}"
            for one in line
        ]
        print(f"{name:20} " + "  ".join(cells) + (f"  n^{exponent:.2f}" if exponent else ""), flush=True)
    return rows


def _one(name: str, size: int) -> dict[str, Any]:
    """One method once, after a small run that compiles."""
    import resource

    options = dict(METHODS[name])
    if options.get("hierarchies"):
        options["hierarchies"] = _three_levels()
    protect(read_table(demo_table(3_000), scales=AS_NUMBERS), quasi_identifiers=QUASI_IDENTIFIERS, k=5, **options)
    table = read_table(demo_table(size), scales=AS_NUMBERS)
    cpu, started = time.process_time(), time.perf_counter()
    protect(table, quasi_identifiers=QUASI_IDENTIFIERS, k=5, **options)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"rows": size, "seconds": seconds, "cpu": cpu, "memory": peak}


def _three_levels() -> dict[str, Hierarchy]:
    """A few levels a column, as an agency would give."""
    widths = {
        "oshpd_id": [10_000, 100_000],
        "age_yrs": [5, 20],
        "patzip": [100, 1_000],
        "patcnty": [10],
        "los": [7, 28],
    }
    return {name: Hierarchy.intervals(widths.get(name, [])) for name in QUASI_IDENTIFIERS}


def _timed(work: Any, repeats: int = 5) -> tuple[float, Any]:
    """The best of some runs, for the machine may be busy, and what the last one gave."""
    best = math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


if __name__ == "__main__":
    main()
