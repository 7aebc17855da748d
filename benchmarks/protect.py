"""What every protection method keeps, costs and takes: `python -m benchmarks.protect`.

Detail, utility and processor seconds of every method on Adult, nhanes, happy and a million rows of the demo table; on
Adult beside other packages, each in an environment of its own; what must be reached, each number beside its limit; the
loss beside the paper's own algorithms; linkage of perturbed tables. Tables are looked for in the folder `INCROWD_DATA`;
`--quick` leaves the million rows out, and names of parts or tables run these alone. `--write` puts the tables of the
methods into docs/protect.md, from what was run last. The exit code is 1 where a limit is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import harness
from benchmarks.protect_cases import ADULT, CASES, HIERARCHIES, Case, detail_of, read
from benchmarks.protect_limits import MINUTE, Check, blanks, coverage, limits, sets, speed, trips
from incrowd import demo_table, evaluate, protect, read_table
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS
from incrowd.protection import Hierarchy

SAMPLE = 20_000  # utility of larger tables is that of so many of their rows
PAGE = Path(__file__).parent.parent / "docs" / "protect.md"
START, END = "<!-- made by benchmarks/protect.py: start -->", "<!-- made by benchmarks/protect.py: end -->"
METHODS: dict[str, Callable[[Case], dict[str, Any]]] = {
    "partition": lambda case: {},
    "partition, t 0.2": lambda case: {"t": 0.2, "sensitive": [case.secret]},
    "partition along hierarchies": lambda case: {"hierarchies": case.hierarchies},
    "sorted (S2)": lambda case: {"method": "sorted"},
    "tcloseness (S4)": lambda case: {"method": "tcloseness", "t": "bound", "sensitive": [case.secret]},
    "coarsen (S3), 1/8": lambda case: {"method": "coarsen", "resolution": "1/8"},
    "generalise, 5 % of rows": lambda case: {"method": "generalise", "suppress": 0.05},
    "generalise, hierarchies": lambda case: {
        "method": "generalise",
        "suppress": 0.05,
        "hierarchies": case.hierarchies,
    },
    "blank": lambda case: {"method": "blank"},
    "blank, wildcards": lambda case: {"method": "blank", "wildcards": True},
    "mask": lambda case: {"method": "mask", "steps": case.steps},
    "perturb": lambda case: {"method": "perturb", "steps": case.noisy, "seed": 1},
}
STEPS = {
    "noise of 0.2 on age": [("age", "noise=0.2")],
    "age in groups of 5, by mean": [("age", "microaggregate=5")],
    "age swapped within 5 % of the ranks": [("age", "rankswap=0.05")],
    "country swapped for 10 % of the records": [("native_country", "recordswap=0.1,match=sex")],
    "occupation kept with 0.8 (PRAM)": [("occupation", "pram=0.8")],
    "noise, swapping and PRAM of five columns": [
        ("age", "noise=0.2"),
        ("native_country", "recordswap=0.1,match=sex"),
        ("occupation+education+marital_status+workclass+race", "pram=0.8"),
    ],
}


def main() -> None:
    """Print the numbers beside their limits, and write them."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_row("demo", read("demo"), sys.argv[2])))
        return
    if "--write" in sys.argv:
        write_page(_saved()["methods"])
        return
    parts: list[Callable[[], dict[str, Any]]] = [limits, speed, coverage, blanks, sets, trips]
    parts += [peers, perturbed, paper, methods]
    wanted = {one for one in sys.argv[1:] if not one.startswith("--")}
    checks: list[Check] = []
    for part in parts:
        if wanted and part.__name__ not in wanted and not (part is methods and wanted & {*CASES}):
            continue
        started = time.process_time()
        print(f"\n### {part.__name__}: {(part.__doc__ or '').splitlines()[0]}\n", flush=True)
        made = part()
        checks += [one for one in made.values() if isinstance(one, Check)]
        for name, value in made.items():
            if part is methods and not isinstance(value, Check):
                continue  # printed as tables
            print(f"  {_mark(value)}  {name:52} {value}", flush=True)
        made = {name: value._asdict() if isinstance(value, Check) else value for name, value in made.items()}
        found = _saved()  # read again: another part may have run meanwhile
        found[part.__name__] = {**(found.get("methods", {}) if part is methods else {}), **made}
        found[part.__name__]["processor seconds"] = round(time.process_time() - started, 1)
        harness.save("protect", found)
    limited = [one for one in checks if (one.least, one.most) != (None, None)]
    missed = sum(not one.holds for one in limited)
    print(f"\n{len(limited) - missed} of {len(limited)} limits hold")
    sys.exit(bool(missed))


def _saved() -> dict[str, Any]:
    """What was found so far, by part."""
    file = harness.RESULTS / "protect.json"
    return json.loads(file.read_text()) if file.exists() else {}


def _mark(value: Any) -> str:
    """Whether a limit holds; nothing where there is none."""
    if not isinstance(value, Check) or (value.least, value.most) == (None, None):
        return "    "
    return "pass" if value.holds else "FAIL"


def write_page(found: dict[str, Any]) -> None:
    """Put what every method keeps, costs and takes into the page, for every table that was run."""
    names = [name for name in CASES if name in found]
    tables = []
    for wanted, titles in ((("detail", "seconds"), ("detail", "s")), (("2-way", "score lost"), ("2-way", "lost"))):
        head = ["method", *(f"{name}: {title}" for name in names for title in titles)]
        lines = [head, ["---"] * len(head)]
        for place, method in enumerate(METHODS):
            rows = [found[name][place] for name in names]
            assert all(row["method"] == method for row in rows)
            lines.append([method, *(_cell(row.get(column, "")) for row in rows for column in wanted)])
        tables.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    before, _, rest = PAGE.read_text().partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n" + "\n\n".join(tables) + f"\n{END}{after}")


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def methods() -> dict[str, Any]:
    """Every method at k = 5: detail, distance of 1-, 2- and 3-way tables, pMSE, a model's score, processor seconds."""
    found: dict[str, Any] = {}
    for name, case in CASES.items():
        if (name == "demo" and "--quick" in sys.argv) or (
            {*sys.argv} & {*CASES} and name not in sys.argv and "methods" not in sys.argv
        ):
            continue
        rows = []
        table = None if name == "demo" else read(name)
        for method in METHODS:
            if table is None:
                command = [sys.executable, "-m", "benchmarks.protect", "--one", method]
                done = subprocess.run(command, capture_output=True, text=True)
                failed = {"method": method, "failed": f"exit {done.returncode}: {done.stderr.strip()[-200:]}"}
                rows.append(failed if done.returncode else json.loads(done.stdout))
            else:
                rows.append(_row(name, table, method))
        found[name] = rows
        columns = ["method", "detail", "1-way", "2-way", "3-way", "pMSE", "score lost", "seconds", "GB"]
        cells = [[row.get(column, row.get("failed", "")) for column in columns] for row in rows]
        harness.show(f"{name}, {case.outcome}", columns, cells)
        found[f"{name}: methods that failed"] = Check(sum("failed" in row for row in rows), most=0)
        for row in rows if name == "demo" else ():
            if row["method"].startswith("blank") and "seconds" in row:
                found[f"demo: s of {row['method']}"] = Check(float(row["seconds"]), most=MINUTE)
    return found


def _row(name: str, table: pa.Table, method: str) -> dict[str, Any]:
    """One method on one table, compiled before; what is left of the rows is compared with the same rows."""
    case = CASES[name]
    asked: dict[str, Any] = {"quasi_identifiers": case.names, "k": 5, "identifiers": [], "warn": False}
    asked |= {"shuffle": False, **METHODS[method](case)}
    scales = AS_NUMBERS if name == "demo" else None
    protect(read_table(table.slice(0, 3_000), scales=scales), **asked)
    started = time.process_time()
    safe = protect(read_table(table, scales=scales), **asked)
    seconds = time.process_time() - started
    kept = np.arange(table.num_rows) if safe.kept_rows is None else safe.kept_rows
    shown = np.arange(kept.size)
    if kept.size > SAMPLE:
        shown = np.sort(np.random.default_rng(0).choice(kept.size, SAMPLE, replace=False))
    before = table.take(pa.array(kept[shown])) if kept.size > SAMPLE else table
    cost = evaluate(
        read_table(before, scales=scales),
        safe.table.take(pa.array(shown)),
        quasi_identifiers=case.names,
        hierarchies=safe.hierarchies,
        kept_rows=None if kept.size > SAMPLE else kept,
        outcome=case.outcome,
    )
    assert cost.utility is not None
    status = Path("/proc/self/status").read_text()
    tables = dict(zip(("1-way", "2-way", "3-way"), cost.utility.marginals, strict=True))
    return {
        "method": method,
        "detail": "" if safe.perturbed else detail_of(safe),
        **tables,
        "pMSE": cost.utility.propensity_mse,
        "score lost": (cost.utility.score_original or 0.0) - (cost.utility.score_protected or 0.0),
        "score of the original": cost.utility.score_original,
        "rows left": safe.rows,
        "seconds": seconds,
        "GB": int(status.split("VmHWM:")[1].split()[0]) / 2**20 if name == "demo" else "",
    }


def peers() -> dict[str, Any]:
    """Other packages on Adult, 9 quasi-identifiers, k = 5: detail and seconds."""
    table = read("adult")
    folder = str(HIERARCHIES["age"].parent)
    meant = {name: Hierarchy.from_csv(file) for name, file in HIERARCHIES.items()}
    own: dict[str, dict[str, Any]] = {
        "incrowd, partition": {},
        "incrowd, full domain, 5 % of rows": {
            "method": "generalise",
            "hierarchies": HIERARCHIES,
            "suppress": 0.05,
        },
    }
    found: dict[str, Any] = {}
    for name, options in own.items():
        started = time.perf_counter()
        safe = protect(table, quasi_identifiers=ADULT, k=5, warn=False, identifiers=[], **options)
        found[name] = (round(detail_of(safe), 4), round(time.perf_counter() - started, 2))
    found["anonypy, Mondrian"] = _peer("anonypy", table)
    found["ANJANA, full domain, 5 % of rows"] = _peer("anjana", table, folder, hierarchies=meant)
    return found


def _peer(name: str, table: pa.Table, *arguments: str, hierarchies: Any = None) -> Any:
    """Detail kept and seconds of another package, run in its own environment; its table is evaluated as ours are."""
    work = harness.RESULTS / name
    work.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.select(ADULT), work / "in.parquet")
    script = Path(__file__).parent / f"protect_{name}.py"
    try:
        python = harness.peer(name, name, "pandas", "pyarrow")
        done = subprocess.run([python, script, work, *arguments], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"could not be run: {error} {getattr(error, 'stderr', '')}"
    original = table.select(ADULT)
    found = evaluate(original, work / "out.parquet", quasi_identifiers=ADULT, hierarchies=hierarchies)
    left = found.records / original.num_rows  # nothing is kept of a row that was dropped
    return round(found.granularity * left, 4), round(float(done.stdout.split()[-1]), 2)


def perturbed() -> dict[str, Any]:
    """How often linkage names the right record of Adult by its 9 attributes."""
    table = read("adult").select(ADULT)
    found = {"as it is": protect(table, quasi_identifiers=ADULT, method="perturb", steps=[("age", "round=1")]).attack()}
    for name, steps in STEPS.items():
        found[name] = protect(table, quasi_identifiers=ADULT, method="perturb", steps=steps, seed=1).attack()
    return {name: one.risk.value for name, one in found.items()}


def paper() -> dict[str, Any]:
    """Information loss (eq. 3 and 4) of the partitions over that of S2, and of S4 at its bound on t: 100,000 rows."""
    table = read_table(demo_table(100_000), scales=AS_NUMBERS)
    asked: dict[str, Any] = {"quasi_identifiers": QUASI_IDENTIFIERS, "warn": False, "shuffle": False}
    found = {}
    close: dict[str, Any] = {"t": "bound", "sensitive": ["charge"]}
    both: dict[str, dict[str, Any]] = {"sorted": {}, "tcloseness": close}
    for k in (2, 10):
        for name, options in both.items():
            ours, theirs = (
                protect(table, k=k, **{**asked, **options, "method": method}).evaluate().information_loss
                for method in ("partition", name)
            )
            found[f"k = {k}, beside {name}"] = f"{ours:.4f} / {theirs:.4f} = {ours / theirs:.3f}"
    return found


if __name__ == "__main__":
    main()
