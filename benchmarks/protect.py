"""What every protection method keeps, costs and takes: `python -m benchmarks.protect`.

Detail, utility and processor seconds of every method on Adult, nhanes, happy and a million rows of the demo table; on
Adult beside other packages, each in an environment of its own; detail within t and hierarchies; coverage of the
intervals of regressions; the loss beside the paper's own algorithms; linkage of perturbed tables; sets of items and
100 000 people's trips. Tables are looked for in the folder `INCROWD_DATA`; `--quick` leaves the million rows out, and
names of parts or tables run these alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import harness
from incrowd import demo_table, evaluate, protect, read_table
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS
from incrowd.protection import HIPAA_STEPS, Hierarchy, Protected, protect_items, protect_trajectories

ADULT = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income"]
HIERARCHIES = {name: harness.DATA / "adult_hierarchies" / f"{name.replace('_', '-')}.csv" for name in ADULT[:-1]}
HIERARCHIES["income"] = harness.DATA / "adult_hierarchies" / "salary-class.csv"
DEMO_ROWS, SAMPLE = 1_000_000, 20_000  # utility of larger tables is that of so many of their rows
DEMO_WIDTHS: dict[str, list[float]] = {
    "oshpd_id": [10_000, 100_000],
    "age_yrs": [5, 20],
    "patzip": [100, 1_000],
    "patcnty": [10],
    "los": [7, 28],
}


class Case(NamedTuple):
    """A table, what is known, what is explained and what is secret, and its own steps and hierarchies."""

    names: list[str]
    outcome: str
    secret: str
    steps: list[tuple[str, str]]
    noisy: list[tuple[str, str]]
    hierarchies: dict[str, Any]


CASES = {
    "adult": Case(
        ADULT[:-1],
        "income",
        "hours_per_week",
        [("age", "ranges=8"), *((name, "*") for name in ["native_country", "occupation", "education", "workclass"])],
        [("age", "noise=0.2"), ("native_country", "recordswap=0.1,match=sex"), ("occupation+education", "pram=0.8")],
        {name: file for name, file in HIERARCHIES.items() if name != "income"},
    ),
    "nhanes": Case(
        ["Gender", "Age", "Race1", "Education", "MaritalStatus"],
        "BMI",
        "BMI",
        [("Age", "ranges=8"), ("Education", "*"), ("MaritalStatus", "*"), ("Race1", "*")],
        [("Age", "rankswap=0.05"), ("Education+MaritalStatus", "pram=0.8")],
        {"Age": "5,10,20"},
    ),
    "happy": Case(
        ["year", "age", "sex", "marital", "degree"],
        "healthy",
        "happy",
        [("age", "ranges=8"), ("year", "ranges=4"), ("marital", "*"), ("degree", "*")],
        [("age+year", "microaggregate=5"), ("marital+degree", "pram=0.8")],
        {"age": "5,10,20", "year": "2,4,8"},
    ),
    "demo": Case(
        list(QUASI_IDENTIFIERS),
        "charge",
        "charge",
        list(HIPAA_STEPS),
        [("age_yrs+los", "correlated=0.2"), ("patzip", "recordswap=0.1"), ("race+ethncty", "pram=0.8")],
        {name: Hierarchy.intervals(DEMO_WIDTHS.get(name, [])) for name in QUASI_IDENTIFIERS},
    ),
}
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
    """Print the numbers and write them."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_row("demo", read("demo"), sys.argv[2])))
        return
    parts: list[Callable[[], dict[str, Any]]] = [limits, speed, coverage, peers, perturbed, sets, trips, paper, methods]
    file = harness.RESULTS / "protect.json"
    wanted = {one for one in sys.argv[1:] if not one.startswith("--")}
    found: dict[str, Any] = json.loads(file.read_text()) if wanted and file.exists() else {}
    for part in parts:
        if wanted and part.__name__ not in wanted and not (part is methods and wanted & {*CASES}):
            continue
        started = time.process_time()
        print(f"\n### {part.__name__}: {(part.__doc__ or '').splitlines()[0]}\n", flush=True)
        found[part.__name__] = {**(found.get("methods", {}) if part is methods else {}), **part()}
        found[part.__name__]["processor seconds"] = round(time.process_time() - started, 1)
        for name, value in found[part.__name__].items() if part is not methods else ():
            print(f"  {name:50} {value}", flush=True)
        harness.save("protect", found)


def read(name: str) -> pa.Table:
    """A table with no value missing in the columns that are used; of Adult the training records."""
    if name == "demo":
        return demo_table(DEMO_ROWS)
    table = pq.read_table(harness.DATA / f"{name}.parquet")
    if name == "adult":
        return table.filter(pc.equal(table["split"], "train")).drop_null()
    if name == "happy":
        health = table["health"].cast(pa.string())
        well = pc.if_else(pc.is_in(health, pa.array(["excellent", "good"])), "yes", "no")
        table = table.append_column("healthy", pc.if_else(pc.is_null(health), None, well))
    case = CASES.get(name)
    names = REGRESSIONS[name][0] + [REGRESSIONS[name][1]] if case is None else [*case.names, case.outcome, case.secret]
    return table.select(list(dict.fromkeys(names))).drop_null()


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
                ran = {"method": method, "failed": done.stderr.strip().splitlines()[-1]}
                rows.append(ran if done.returncode else json.loads(done.stdout))
            else:
                rows.append(_row(name, table, method))
        found[name] = rows
        columns = ["method", "detail", "1-way", "2-way", "3-way", "pMSE", "score lost", "seconds", "GB"]
        cells = [[row.get(column, row.get("failed", "")) for column in columns] for row in rows]
        harness.show(f"{name}, {case.outcome}", columns, cells)
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
        "detail": "" if safe.perturbed else _detail(safe),
        **tables,
        "pMSE": cost.utility.propensity_mse,
        "score lost": (cost.utility.score_original or 0.0) - (cost.utility.score_protected or 0.0),
        "score of the original": cost.utility.score_original,
        "rows left": safe.rows,
        "seconds": seconds,
        "GB": int(status.split("VmHWM:")[1].split()[0]) / 2**20 if name == "demo" else "",
    }


def _detail(safe: Protected) -> float:
    """Granularity, of which a row that was left out has none."""
    return float(safe.evaluate().granularity) * safe.rows / (safe.rows + safe.suppressed_rows)


def limits() -> dict[str, Any]:
    """What is kept on Adult, 9 quasi-identifiers, k = 5; and a classifier of incomes on automatic hierarchies."""
    table = read("adult")
    along = protect(table, quasi_identifiers=ADULT, k=5, hierarchies=HIERARCHIES)
    stars = sum(pc.sum(pc.equal(along.table[name].cast(pa.string()), "*")).as_py() or 0 for name in ADULT)
    others = [name for name in ADULT if name != "occupation"]
    coarse = protect(table, quasi_identifiers=ADULT[:-1], k=5, method="generalise", suppress=0.05)
    kept: dict[str, Any] = {"kept_rows": coarse.kept_rows, "outcome": "income"}
    scores = evaluate(table, coarse.table, quasi_identifiers=ADULT[:-1], **kept).utility
    assert scores is not None
    close = {
        secret: protect(table, quasi_identifiers=names, k=5, t=0.2, sensitive=[secret])
        for secret, names in (("hours_per_week", ADULT), ("occupation", others))
    }
    return {
        "partition: detail (at least 0.976)": _detail(protect(table, quasi_identifiers=ADULT, k=5)),
        "along hierarchies: detail (at least 0.94)": _detail(along),
        "along hierarchies: share of * (under 0.02)": stars / (along.rows * len(ADULT)),
        "t of hours 0.2: detail (at least 0.97)": _detail(close["hours_per_week"]),
        "t of occupation 0.2: detail (at least 0.65)": _detail(close["occupation"]),
        "blanks as values: share of cells": _blanked(table),
        "blanks as wildcards: share of cells": _blanked(table, wildcards=True),
        "automatic hierarchies: AUC (0.03 less at most)": scores.score_protected,
        "the original: AUC": scores.score_original,
    }


def _blanked(table: pa.Table, **options: Any) -> float:
    safe = protect(table, quasi_identifiers=ADULT, k=5, method="blank", **options)
    return sum(safe.changed_cells.values()) / (safe.rows * len(ADULT))


def speed() -> dict[str, Any]:
    """Processor seconds of generalise on Adult, the best of three."""
    table, found = read("adult"), {}
    for what, hierarchies in (("given", HIERARCHIES), ("automatic", None)):
        for share in (0.0, 0.05):
            options: dict[str, Any] = {"method": "generalise", "suppress": share, "hierarchies": hierarchies}
            best = np.inf
            for _ in range(3):
                started = time.process_time()
                protect(table, quasi_identifiers=ADULT, k=5, warn=False, identifiers=[], **options)
                best = min(best, time.process_time() - started)
            found[f"{what} hierarchies, {share:.0%} of the rows"] = best
    return found


REGRESSIONS = {
    "adult": (["age", "sex", "education", "marital_status"], "hours_per_week"),
    "cpssw8": (["gender", "age", "region", "education"], "earnings"),
    "nhanes": (["Gender", "Age", "Race1", "Education", "MaritalStatus"], "BMI"),
}


def coverage() -> dict[str, Any]:
    """Coefficients of the original that the 95 % intervals on the partition's table cover (at least 90 %), k = 5."""
    found = {}
    for name, (columns, outcome) in REGRESSIONS.items():
        table = read(name).select([*columns, outcome]).drop_null()
        safe = protect(table, quasi_identifiers=columns, k=5, identifiers=[], shuffle=False)
        utility = evaluate(table, safe.table, quasi_identifiers=columns, outcome=outcome).utility
        assert utility is not None
        inside = [
            one.protected_interval[0] <= one.original <= one.protected_interval[1] for one in utility.coefficients
        ]
        found[f"{name}: {outcome}"] = f"{sum(inside)} of {len(inside)}"
    return found


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
        found[name] = (round(_detail(safe), 4), round(time.perf_counter() - started, 2))
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


def sets() -> dict[str, Any]:
    """The share of items that is left out for k = 5, by how many items an attacker knows."""
    found = {}
    for name, person, item in (("groceries", "basket", "item"), ("msweb_visits", "user", "area_id")):
        table = pq.read_table(harness.DATA / f"{name}.parquet")
        for known in (1, 2, 3):
            started = time.process_time()
            safe = protect_items(table, person=person, item=item, known=known, k=5)
            seconds = time.process_time() - started
            found[f"{name}, {known} known"] = f"{safe.suppressed / safe.items:.4f} in {seconds:.1f} s"
    return found


def trips(people: int = 100_000) -> dict[str, Any]:
    """Trips of 100 000 generated people, k = 5."""
    table = mobility(people)
    safe = protect_trajectories(table, person="who", time="when", place=["x", "y"], k=5)
    return {
        "chosen": safe.sentence,
        "unicity before": safe.unicity_before,
        "unicity after": safe.unicity_after,
    }


def mobility(people: int, points: int = 20, seed: int = 0) -> pa.Table:
    """Four weeks of people who live in one of 40 towns and work in one of them: an hour and a place for each point."""
    draws = np.random.default_rng(seed)
    towns, sizes = draws.uniform(0, 100, (40, 2)), draws.dirichlet(np.full(40, 0.5))
    home = draws.choice(40, people, p=sizes)
    work = np.where(draws.random(people) < 0.7, home, draws.choice(40, people, p=sizes))
    at_home = towns[home] + draws.normal(0, 1.5, (people, 2))
    at_work = towns[work] + draws.normal(0, 0.7, (people, 2))
    who = np.repeat(np.arange(people), points)
    hour = draws.integers(0, 28 * 24, who.size)
    works = (hour % 24 >= 8) & (hour % 24 < 17) & (draws.random(who.size) < 0.8)
    spot = np.where(works[:, None], at_work[who], at_home[who]) + draws.normal(0, 0.3, (who.size, 2))
    seconds = hour * 3_600 + draws.integers(0, 3_600, who.size)
    when = np.datetime64("2024-01-01T00", "s") + seconds.astype("timedelta64[s]")
    return pa.table({"who": who, "when": when, "x": np.round(spot[:, 0], 3), "y": np.round(spot[:, 1], 3)})


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
