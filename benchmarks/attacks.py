"""Attacks beside anonymeter, at a million rows, and on releases whose leakage is known: `python -m benchmarks attacks`.

anonymeter runs in an environment of its own (benchmarks/.peers). Both attack the same release of Adult with the same
control; releases of other people give the error of the first kind, copied rows the power, and parts of simulated
populations the coverage of forecasts. `--quick` leaves out the million rows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import harness
from incrowd.attacks import attack, split_table, synthesise
from incrowd.attacks.api import ATTACKS

TARGETS = 2000
SECRET = "income"
PARTS = (["age", "education", "sex", "race", "fnlwgt"], ["workclass", "occupation", "hours_per_week", "relationship"])
KNOWN = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week", "fnlwgt"]
_ANONYMETER = """
import warnings
warnings.filterwarnings("ignore")
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
names = "original", "released", "holdout"
original, released, holdout = (pd.read_parquet(f"{folder}/{{name}}.parquet") for name in names)
"""
_OURS = """
import pyarrow.parquet as pq
from incrowd.attacks import attack
names = "original", "released", "holdout"
original, released, holdout = (pq.read_table(f"{folder}/{{name}}.parquet") for name in names)
"""
QUESTIONS: dict[str, tuple[str, str]] = {
    "singling out, univariate": (
        f"one = SinglingOutEvaluator(original, released, n_attacks={TARGETS}, control=holdout, seed=0)\n"
        "one.evaluate(mode='univariate')",
        "one = attack(original, released, kind='singling-out', method='univariate', holdout=holdout, "
        f"targets={TARGETS})",
    ),
    "singling out, multivariate": (
        "one = SinglingOutEvaluator(original, released, n_attacks=500, n_cols=4, control=holdout, seed=0)\n"
        "one.evaluate(mode='multivariate')",
        "one = attack(original, released, kind='singling-out', holdout=holdout, targets=500, width=4)",
    ),
    "linkability": (
        f"one = LinkabilityEvaluator(original, released, aux_cols={PARTS!r}, n_attacks={TARGETS}, control=holdout)\n"
        "one.evaluate(n_jobs=1)",
        f"one = attack(original, released, kind='linkability', known={PARTS[0]!r}, others={PARTS[1]!r}, "
        f"holdout=holdout, targets={TARGETS})",
    ),
    "inference": (
        f"one = InferenceEvaluator(original, released, aux_cols={KNOWN!r}, secret={SECRET!r}, n_attacks={TARGETS}, "
        "control=holdout)\none.evaluate(n_jobs=1)",
        f"one = attack(original, released, kind='inference', known={KNOWN!r}, secret={SECRET!r}, holdout=holdout, "
        f"targets={TARGETS})",
    ),
}


def main() -> None:
    """Measure everything, print it and keep it."""
    found: dict[str, Any] = {"anonymeter": compare_with_anonymeter(), "first kind": first_kind(), "power": power()}
    found["forecast"] = forecasts()
    if "--quick" not in sys.argv:
        found["million"] = a_million_rows()
    harness.save("attacks", found)


def compare_with_anonymeter() -> list[dict[str, Any]]:
    """Attack one release of Adult with anonymeter and with incrowd: risks with intervals, and processor time."""
    python = harness.peer("anonymeter", "anonymeter")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        _write_adult(Path(folder))
        for name, (theirs, ours) in QUESTIONS.items():
            answer = "answer = [one.risk().value, *one.risk().ci]"
            peer = harness.timed(_ANONYMETER.replace("{folder}", folder).replace("{{name}}", "{name}"),
                                 f"{theirs}\n{answer}", repeat=3, python=python)  # fmt: skip
            own = harness.timed(_OURS.replace("{folder}", folder).replace("{{name}}", "{name}"),
                                f"{ours}\nanswer = list(one.risk)", repeat=3)  # fmt: skip
            agree = own["answer"][1] <= peer["answer"][2] and peer["answer"][1] <= own["answer"][2]
            rows.append({"attack": name, "anonymeter": peer, "incrowd": own, "agree": agree})
    harness.show(
        f"Adult, {TARGETS:,} targets, half of the rows copied",
        ("attack", "anonymeter", "incrowd", "intervals overlap", "CPU s", "CPU s", "times faster"),
        [
            (
                row["attack"], _risk(row["anonymeter"]), _risk(row["incrowd"]), row["agree"],
                row["anonymeter"]["cpu"], row["incrowd"]["cpu"], row["anonymeter"]["cpu"] / row["incrowd"]["cpu"],
            )
            for row in rows
        ],
    )  # fmt: skip
    whole = [sum(row[tool]["cpu"] for row in rows) for tool in ("anonymeter", "incrowd")]
    print(f"\nall together: {whole[0]:.1f} against {whole[1]:.2f} s, {whole[0] / whole[1]:.0f} times faster")
    return rows


def _risk(found: dict[str, Any]) -> str:
    value, low, high = found["answer"]
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def _write_adult(folder: Path) -> None:
    """Adult's complete rows in two halves, and a synthetic table of one half of which every second row is a copy."""
    adult = pq.read_table(harness.DATA / "adult.parquet").drop(["split"])
    complete = adult.to_pandas().replace("?", None).dropna()
    original, holdout = split_table(pa.Table.from_pandas(complete, preserve_index=False).slice(0, 30_162), holdout=0.5)
    released = synthesise(original, copied=0.5, seed=1).table
    for name, part in (("original", original), ("released", released), ("holdout", holdout)):
        pq.write_table(part, folder / f"{name}.parquet")


def _people(size: int, seed: list[int]) -> dict[str, Any]:
    draws = np.random.default_rng(seed)
    age, job = draws.integers(20, 70, size), draws.integers(0, 8, size)
    ill = (draws.random(size) < 0.15 + 0.5 * (age > 50) + 0.02 * job).astype(int)
    return {
        "age": age,
        "job": job.astype(str),
        "zip": draws.integers(0, 60, size).astype(str),
        "pay": np.round(draws.lognormal(3, 0.4, size), 2),
        "ill": ill.astype(str),
    }


def _each(original: Any, released: Any, holdout: Any, seed: int) -> dict[str, Any]:
    """Every attack but linkage, by every method."""
    return {
        f"{kind} {method}".strip(): attack(
            original, released, kind=kind, method=method, known=["age", "job", "zip", "pay"],
            secret="ill" if kind in ("inference", "attribution") else None, holdout=holdout, targets=300, seed=seed,
        )
        for kind, methods in ATTACKS.items() for method in methods if kind != "linkage"
    }  # fmt: skip


def first_kind(runs: int = 200) -> dict[str, float]:
    """The share of releases of other people in which an attack's 95 % interval excludes 0."""
    wrong: dict[str, float] = {}
    for seed in range(runs):
        original, released, holdout = (_people(500, [seed, part]) for part in range(3))
        for name, found in _each(original, released, holdout, seed).items():
            wrong[name] = wrong.get(name, 0.0) + found.proven / runs
    harness.show(f"error of the first kind, {runs} releases of other people", ("attack", "share"), list(wrong.items()))
    return wrong


def power() -> dict[str, list[float]]:
    """The risk of each attack along the share of copied rows."""
    original, holdout = _people(1000, [1]), _people(1000, [2])
    knob = (0.0, 0.25, 0.5, 0.75, 1.0)
    risks: dict[str, list[float]] = {}
    for copied in knob:
        released = synthesise(original, model="independent", copied=copied, seed=3).table
        for name, found in _each(original, released, holdout, 0).items():
            risks.setdefault(name, []).append(found.risk.value)
    harness.show("risk by the share of copied rows", ("attack", *map(str, knob)), [(n, *r) for n, r in risks.items()])
    return risks


def forecasts(runs: int = 40) -> dict[str, float]:
    """How often the correctness among a whole simulated population lies in the interval that a tenth of it gives.

    The constants of the interval were set on real tables (see population.md); none of these populations was used.
    """
    unsure = {"noise": {"age": 1.0}, "missing": 0.1}
    families: dict[str, tuple[Any, dict[str, Any]]] = {
        "places of unequal size, exact": (_places, {}),
        "towns by Zipf's law, exact": (_towns, {}),
        "places of unequal size, age ± 1 and 10 % missing": (_places, unsure),
    }
    covered = {}
    for name, (draw, options) in families.items():
        inside = []
        for seed in range(runs):
            draws = np.random.default_rng([7, seed])
            size = 20_000
            whole = draw(draws, size, seed)
            part = draws.choice(size, size // 10, replace=False)
            some = {column: values[part] for column, values in whole.items()}
            asked: dict[str, Any] = {"kind": "linkage", "known": list(whole), "seed": seed, **options}
            (at,) = attack(some, some, **asked, population=size).populations
            truth = attack(whole, whole, **asked, targets=size).attack.value
            inside.append(at.low <= truth <= at.high)
        covered[name] = float(np.mean(inside))
    title = f"forecast of linkage from 10 % to all, {runs} populations each"
    harness.show(title, ("populations", "within the interval"), list(covered.items()))
    return covered


def _places(draws: np.random.Generator, size: int, seed: int) -> dict[str, Any]:
    values = 30 * 2 ** (seed % 6)
    return {
        "place": draws.choice(values, size, p=draws.dirichlet(np.full(values, 0.3))).astype(str),
        "age": draws.integers(18, 90, size),
        "sex": draws.integers(0, 2, size).astype(str),
    }


def _towns(draws: np.random.Generator, size: int, seed: int) -> dict[str, Any]:
    rank = np.arange(1, 2001)
    share = rank ** -(0.7 + 0.1 * (seed % 6))
    age = np.clip(draws.normal(45, 18, size), 0, 99).astype(int)
    return {
        "town": draws.choice(rank, size, p=share / share.sum()).astype(str),
        "age": age,
        "job": np.where(age > 64, 0, draws.geometric(0.3, size)).astype(str),
    }


def a_million_rows() -> dict[str, Any]:
    """2 000 targets against a million rows of ten columns, the release off by noise; seconds and peak memory."""
    setup = """
    import numpy as np
    from incrowd.attacks import attack
    from incrowd.demo import demo_table
    table = demo_table(1_000_000)
    original = table.select(table.column_names[:10])
    draws = np.random.default_rng(0)
    released = original
    for name in ("age_yrs", "los", "charge"):
        noisy = original[name].to_numpy() + draws.integers(-1, 2, original.num_rows)
        released = released.set_column(released.column_names.index(name), name, [noisy])
    small = original.slice(0, 100)
    attack(small, small, kind="linkage")
    attack(small, small, kind="linkability")
    """
    rows = {}
    for kind in ("linkage", "linkability"):
        run = f"answer = attack(original, released, kind={kind!r}, targets=2000).risk.value"
        rows[kind] = harness.timed(setup, run, repeat=1)
    harness.show("2,000 targets against 1,000,000 rows, 10 columns", ("attack", "seconds", "CPU s", "peak MB"),
                 [(kind, one["seconds"], one["cpu"], one["peak_mb"]) for kind, one in rows.items()])  # fmt: skip
    return rows


if __name__ == "__main__":
    main()
