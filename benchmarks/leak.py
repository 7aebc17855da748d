"""Leak attacks: right against fractions, more digits and simulation; fast at a million people.

`python -m benchmarks.leak` prints the tables and writes benchmarks/results/leak.json; `--figures` also draws the
leak-attack paper's Fig. 2 to 5 beside it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.leak.oracles import by_more_digits, by_partitions, by_polynomials

from incrowd.classes import ClassSizes
from incrowd.leak import distribution, leak_risk, simulate_leak, uniform_sizes

RESULTS = Path(__file__).parent / "results"
PEOPLE, K, TRIALS = 10_000, 5, 20_000


def main() -> None:
    """Measure everything, print it, keep it."""
    result = {
        "grid": grid(),
        "million": million(),
        "fractions": against_fractions(),
        "digits": against_more_digits(),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "leak.json").write_text(json.dumps(result, indent=2))
    if "--figures" in sys.argv:
        figures()


def grid() -> dict[str, Any]:
    """The exact number, the simulation and the published recursion over the paper's grid."""
    sizes = uniform_sizes(PEOPLE, K)
    print(f"D = {PEOPLE:,}, k = {K}: exact, {TRIALS:,} simulated leaks (distance in standard errors), recursions")
    print(f"{'L':>6} {'n':>3} {'exact':>14} {'simulated':>14} {'s.e.':>6} {'as published':>14} {'by people':>14}")
    rows = []
    for leaked in range(1_000, 10_001, 1_000):
        for targets in (1, 5, 10, 15):
            exact = leak_risk(sizes, leaked, targets=targets).probability
            simulated = simulate_leak(sizes, leaked, targets=targets, trials=TRIALS, seed=0)
            published = leak_risk(sizes, leaked, targets=targets, method="recursion").probability
            by_people = leak_risk(sizes, leaked, targets=targets, method="recursion_by_people").probability
            error = simulated.standard_error
            # where every leak is worth the same there is no error but rounding
            distance = (simulated.probability - exact) / error if error > 1e-12 * exact else 0.0
            rows.append({
                "leaked": leaked, "targets": targets, "exact": exact, "simulated": simulated.probability,
                "standard_error": error, "distance": distance, "within_3": simulated.agrees_with(exact),
                "recursion": published, "recursion_by_people": by_people,
            })  # fmt: skip
            print(
                f"{leaked:>6} {targets:>3} {exact:>14.6e} {simulated.probability:>14.6e} {distance:>+6.2f} "
                f"{published / exact - 1:>+13.3%} {by_people / exact - 1:>+13.3%}"
            )
    within = sum(bool(row["within_3"]) for row in rows)
    print(f"within 3 standard errors: {within} of {len(rows)}\n")
    return {"rows": rows, "within_3": within, "cells": len(rows)}


def million() -> list[dict[str, Any]]:
    """Seconds at a million people; the best of three, and the first."""
    rng = np.random.default_rng(0)
    drawn = np.minimum(rng.zipf(1.3, size=200_000), 2_000)
    heavy = drawn[: int(np.searchsorted(np.cumsum(drawn), 1_000_000)) + 1]
    tables = {
        "every size from 1 to 1,413": ClassSizes.from_sizes(np.arange(1, 1_414)),
        "heavy tail": ClassSizes.from_sizes(heavy),
        "k = 5": uniform_sizes(1_000_000, 5),
    }
    rows = []
    print("L = 100,000")
    print(f"{'table':<28} {'people':>10} {'sizes':>6} {'what':<14} {'log P or mean':>14} {'first s':>8} {'best s':>8}")
    for name, sizes in tables.items():
        for targets in (1, 15, 100):
            value, first, best = _timed(partial(_log_risk, sizes, targets))
            rows.append(_row(name, sizes, f"{targets} targets", value, first, best))
        value, first, best = _timed(partial(_mean_named, sizes))
        rows.append(_row(name, sizes, "people named", value, first, best))
    print()
    return rows


def _log_risk(sizes: ClassSizes, targets: int) -> float:
    return leak_risk(sizes, 100_000, targets=targets).log_probability


def _mean_named(sizes: ClassSizes) -> float:
    return distribution(sizes, 100_000).mean


def _timed(ask: Callable[[], float]) -> tuple[float, float, float]:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        value = ask()
        seconds.append(time.perf_counter() - start)
    return value, seconds[0], min(seconds)


def _row(name: str, sizes: ClassSizes, what: str, value: float, first: float, best: float) -> dict[str, Any]:
    print(f"{name:<28} {sizes.people:>10,} {sizes.sizes.size:>6,} {what:<14} {value:>14.6f} {first:>8.3f} {best:>8.3f}")
    return {
        "table": name, "people": sizes.people, "distinct_sizes": sizes.sizes.size, "what": what,
        "value": value, "first_seconds": first, "best_seconds": best,
    }  # fmt: skip


def against_fractions() -> dict[str, Any]:
    """The largest relative error against exact fractions: small mixed tables, and tables of the paper's size."""
    draw, worst, cases = random.Random(0), 0.0, 300
    for _ in range(cases):
        sizes = [draw.randint(1, 9) for _ in range(draw.randint(1, 6))]
        leaked = draw.randint(1, sum(sizes))
        targets = draw.randint(1, leaked)
        exact = by_polynomials(sizes, leaked, targets)
        worst = max(
            worst, abs(leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets).probability / exact - 1)
        )
    paper = 0.0
    for leaked in (15, 1_000, 4_000, 9_990, 10_000):
        for targets in (1, 5, 10, 15):
            exact = by_partitions(PEOPLE, K, leaked, targets)
            found = leak_risk(uniform_sizes(PEOPLE, K), leaked, targets=targets).probability
            paper = max(paper, abs(found / float(exact) - 1))
    print(f"largest relative error against fractions: {worst:.1e} ({cases} small tables), {paper:.1e} (D = {PEOPLE:,})")
    return {"small_cases": cases, "small_worst": worst, "paper_size_worst": paper}


def against_more_digits() -> dict[str, Any]:
    """The largest relative error against 30 digits for mixed classes of 10,000 people."""
    sizes = ClassSizes.from_counts({1: 760, 2: 500, 3: 400, 5: 300, 8: 200, 13: 150, 40: 30, 55: 10})
    worst = 0.0
    for leaked in (500, 4_000, 8_000):
        for targets in (2, 5, 15):
            exact = by_more_digits(sizes, leaked, targets)
            worst = max(worst, abs(float(leak_risk(sizes, leaked, targets=targets).probability / exact - 1)))
    print(f"largest relative error against 30 digits: {worst:.1e} (D = {sizes.people:,}, mixed sizes)")
    return {"people": sizes.people, "worst": worst}


def figures() -> None:
    """Fig. 2 to 5 of the leak-attack paper, exact instead of recursive where it differs."""
    from incrowd.plots.leak import against_leak, against_targets, single_risks
    from incrowd.plots.look import save

    leaks, wanted = range(1_000, PEOPLE + 1, 250), range(1, 21)
    tables = {f"k = {k}": uniform_sizes(PEOPLE, k) for k in (1, 2, 5, 10, 15, 20)}
    by_leak = {name: [leak_risk(sizes, leaked) for leaked in leaks] for name, sizes in tables.items()}
    dots = {name: [simulate_leak(s, leaked, trials=1_000) for leaked in leaks[::6]] for name, s in tables.items()}
    save(against_leak(by_leak, simulations=dots, thresholds=(0.33, 0.09, 0.05)), RESULTS / "leak-2.png", force=True)
    shown = {name: simulate_leak(tables[name], 4_000, trials=1_000) for name in ("k = 1", "k = 10", "k = 20")}
    save(single_risks(shown), RESULTS / "leak-3a.png", force=True)
    shown = {f"L = {n:,}": simulate_leak(tables["k = 5"], n, trials=1_000) for n in (1_000, 2_000, 3_000, 4_000)}
    save(single_risks(shown), RESULTS / "leak-3b.png", force=True)
    large = {name: tables[name] for name in ("k = 5", "k = 10", "k = 15", "k = 20")}
    by_targets = {name: [leak_risk(sizes, PEOPLE, targets=n) for n in wanted] for name, sizes in large.items()}
    dots = {name: [simulate_leak(s, PEOPLE, targets=n, trials=2_000) for n in wanted[::4]] for name, s in large.items()}
    save(against_targets(by_targets, simulations=dots), RESULTS / "leak-4a.png", force=True)
    several = {f"{n} targets": [leak_risk(tables["k = 5"], leaked, targets=n) for leaked in leaks] for n in (5, 10, 15)}
    save(against_leak(several), RESULTS / "leak-4b.png", force=True)
    mixed = {"all classes of 5": tables["k = 5"]} | {f"5 or more, drawn {seed}": _mixed(seed) for seed in (1, 2, 3)}
    lines = {name: [leak_risk(sizes, sizes.people, targets=n) for n in wanted] for name, sizes in mixed.items()}
    chart = against_targets(lines, dashed=list(lines)[1:], title="Equal classes of k are the worst case")
    save(chart, RESULTS / "leak-5.png", force=True)
    print(f"figures written to {RESULTS.name}/leak-*.png")


def _mixed(seed: int) -> ClassSizes:
    """Classes of 5 or more for about 10,000 people: a normal law with mean 5, cut off below 5 (Fig. 5)."""
    drawn = np.random.default_rng(seed).normal(5, 2, size=8_000)
    sizes = np.round(drawn[drawn >= 5]).astype(int)
    return ClassSizes.from_sizes(sizes[: int(np.searchsorted(np.cumsum(sizes), PEOPLE)) + 1])


if __name__ == "__main__":
    main()
