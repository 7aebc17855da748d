"""What every kind of protection keeps on real tables: `python -m benchmarks.protect_methods`.

Adult's detail within k, t and hierarchies, blanks with and without wildcards, a classifier trained on automatic
hierarchies; coverage of the intervals of regressions; linkage of perturbed tables; sets of items, and 100 000 people's
generated trips. Tables are looked for in the folder `INCROWD_DATA`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.protect import ADULT
from incrowd import evaluate, protect
from incrowd.protection import Protected, protect_items, protect_trajectories

RESULTS = Path(__file__).parent / "results" / "protect_methods.json"
FOLDER = Path(os.environ.get("INCROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
REGRESSIONS = {
    "adult": (["age", "sex", "education", "marital_status"], "hours_per_week"),
    "cpssw8": (["gender", "age", "region", "education"], "earnings"),
    "nhanes": (["Gender", "Age", "Race1", "Education", "MaritalStatus"], "BMI"),
}
STEPS = {
    "noise of 0.2 on age": [("age", "noise=0.2")],
    "age in groups of 5, by mean": [("age", "microaggregate=5")],
    "age swapped within 5 % of the ranks": [("age", "rankswap=0.05")],
    "country swapped for 10 % of the records": [("native_country", "recordswap=0.1,match=sex")],
    "occupation kept with 0.8 (PRAM)": [("occupation", "pram=0.8")],
    "all of these": [
        ("age", "noise=0.2"),
        ("native_country", "recordswap=0.1,match=sex"),
        ("occupation+education+marital_status+workclass+race", "pram=0.8"),
    ],
}


def main() -> None:
    """Print the numbers and write them."""
    parts: tuple[Callable[[], dict[str, Any]], ...] = (adult, coverage, perturbed, sets, trips)
    found = {}
    for part in parts:
        started = time.process_time()
        found[part.__name__] = part()
        found[part.__name__]["processor seconds"] = round(time.process_time() - started, 1)
        print(f"\n{part.__name__}")
        for name, value in found[part.__name__].items():
            print(f"  {name:45} {value}", flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2))


def read(name: str) -> pa.Table:
    """A real table; of Adult the complete training records."""
    table = pq.read_table(FOLDER / f"{name}.parquet")
    return table.filter(pc.equal(table["split"], "train")).drop_null() if name == "adult" else table


def adult() -> dict[str, Any]:
    """Detail kept on Adult, 9 quasi-identifiers, k = 5, and a classifier of incomes."""
    table = read("adult")
    files = {name: FOLDER / "adult_hierarchies" / f"{name.replace('_', '-')}.csv" for name in ADULT[:-1]}
    files["income"] = FOLDER / "adult_hierarchies" / "salary-class.csv"
    along = protect(table, quasi_identifiers=ADULT, k=5, hierarchies=files)
    stars = sum(pc.sum(pc.equal(along.table[name].cast(pa.string()), "*")).as_py() or 0 for name in ADULT)
    others = [name for name in ADULT if name != "occupation"]
    coarse = protect(table, quasi_identifiers=ADULT[:-1], k=5, method="generalise", suppress=0.05)
    kept: dict[str, Any] = {"kept_rows": coarse.kept_rows, "outcome": "income"}
    scores = evaluate(table, coarse.table, quasi_identifiers=ADULT[:-1], **kept).utility
    assert scores is not None
    return {
        "partition: detail": _detail(protect(table, quasi_identifiers=ADULT, k=5)),
        "along hierarchies: detail": _detail(along),
        "along hierarchies: share of *": stars / (along.rows * len(ADULT)),
        "t of hours 0.2: detail": _detail(_close(table, ADULT, "hours_per_week")),
        "t of occupation 0.2: detail": _detail(_close(table, others, "occupation")),
        "blanks as values: share of cells": _blanked(table),
        "blanks as wildcards: share of cells": _blanked(table, wildcards=True),
        "automatic hierarchies: AUC": scores.score_protected,
        "the original: AUC": scores.score_original,
    }


def _close(table: pa.Table, names: list[str], secret: str) -> Protected:
    return protect(table, quasi_identifiers=names, k=5, t=0.2, sensitive=[secret])


def _detail(safe: Protected) -> float:
    return float(safe.evaluate().granularity)


def _blanked(table: pa.Table, **options: Any) -> float:
    safe = protect(table, quasi_identifiers=ADULT, k=5, method="blank", **options)
    return sum(safe.changed_cells.values()) / (safe.rows * len(ADULT))


def coverage() -> dict[str, Any]:
    """The share of coefficients of the original that the 95 % intervals of the partition's table cover, k = 5."""
    found = {}
    for name, (columns, outcome) in REGRESSIONS.items():
        table = read(name).select([*columns, outcome]).drop_null()
        safe = protect(table, quasi_identifiers=columns, k=5, identifiers=[])
        utility = evaluate(table, safe.table, quasi_identifiers=columns, outcome=outcome).utility
        assert utility is not None
        inside = [
            one.protected_interval[0] <= one.original <= one.protected_interval[1] for one in utility.coefficients
        ]
        found[f"{name}: {outcome}"] = f"{sum(inside)} of {len(inside)}"
    return found


def perturbed() -> dict[str, Any]:
    """How often linkage names the right record of Adult by its 9 attributes, before and after."""
    table = read("adult").select(ADULT)
    found = {"as it is": protect(table, quasi_identifiers=ADULT, method="perturb", steps=[("age", "round=1")]).attack()}
    for name, steps in STEPS.items():
        found[name] = protect(table, quasi_identifiers=ADULT, method="perturb", steps=steps, seed=1).attack()
    return {name: one.risk.value for name, one in found.items()}


def sets() -> dict[str, Any]:
    """The share of items that is left out for k = 5, by how many items an attacker knows."""
    found = {}
    for name, person, item in (("groceries", "basket", "item"), ("msweb_visits", "user", "area_id")):
        for known in (1, 2, 3):
            safe = protect_items(read(name), person=person, item=item, known=known, k=5)
            found[f"{name}, {known} known"] = safe.suppressed / safe.items
    return found


def trips(people: int = 100_000) -> dict[str, Any]:
    """Trips of generated people, k = 5."""
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


if __name__ == "__main__":
    main()
