"""Leak attacks: right against fractions, more digits and simulation; fast at a million people.

`--figures` also draws the leak-attack paper's Fig. 2 to 5, beside the results.
"""

from __future__ import annotations

import random
import sys
import textwrap
from typing import Any

import numpy as np
from tests.leak.oracles import by_more_digits, by_partitions, by_polynomials

from benchmarks import harness
from incrowd.classes import ClassSizes
from incrowd.leak import leak_risk, simulate_leak, uniform_sizes

PEOPLE, K, TRIALS = 10_000, 5, 20_000

_TABLES = {
    "every size from 1 to 1,413": "sizes = ClassSizes.from_sizes(np.arange(1, 1_414))",
    "heavy tail": """
        drawn = np.minimum(np.random.default_rng(0).zipf(1.3, size=200_000), 2_000)
        sizes = ClassSizes.from_sizes(drawn[: np.searchsorted(np.cumsum(drawn), 1_000_000) + 1])
    """,
    "all of 5": "sizes = uniform_sizes(1_000_000, 5)",
}


def main() -> None:
    """Measure everything, print it, keep it."""
    result = {"grid": grid(), "million": million(), "errors": errors()}
    harness.save("leak", result)
    if "--figures" in sys.argv:
        figures()


def grid() -> list[dict[str, Any]]:
    """The exact number, the simulation and the published recursions over the paper's grid."""
    sizes = uniform_sizes(PEOPLE, K)
    rows: list[dict[str, Any]] = []
    for leaked in range(1_000, 10_001, 1_000):
        for targets in (1, 5, 10, 15):
            exact = leak_risk(sizes, leaked, targets=targets).probability
            simulated = simulate_leak(sizes, leaked, targets=targets, trials=TRIALS, seed=0)
            error = simulated.standard_error or 0.0  # 20,000 trials are enough for 15 targets: agrees_with sees to it
            rows.append(
                {
                    "leaked": leaked,
                    "targets": targets,
                    "exact": exact,
                    "simulated": simulated.probability,
                    "standard_error": error,
                    # where every leak is worth the same there is no error but rounding
                    "distance": (simulated.probability - exact) / error if error > 1e-12 * exact else 0.0,
                    "within_3": simulated.agrees_with(exact),
                    "recursion": leak_risk(sizes, leaked, targets=targets, method="recursion").probability,
                    "recursion_by_people": leak_risk(
                        sizes, leaked, targets=targets, method="recursion_by_people"
                    ).probability,
                }
            )
    harness.show(
        f"{PEOPLE:,} people in classes of {K}, {TRIALS:,} simulated leaks each",
        ("leaked", "targets", "exact", "simulated", "in standard errors", "as published", "by people"),
        [
            (
                row["leaked"],
                row["targets"],
                f"{row['exact']:.6e}",
                f"{row['simulated']:.6e}",
                f"{row['distance']:+.2f}",
                *(f"{row[name] / row['exact'] - 1:+.3%}" for name in ("recursion", "recursion_by_people")),
            )
            for row in rows
        ],
    )
    print(f"\nwithin 3 standard errors: {sum(row['within_3'] for row in rows)} of {len(rows)}")
    return rows


def million() -> list[dict[str, Any]]:
    """Seconds at a million people of whom 100,000 leak, each table in a process of its own."""
    setup = "import numpy as np\nfrom incrowd.classes import ClassSizes\nfrom incrowd.leak import *\n"
    rows = []
    for name, table in _TABLES.items():
        questions = {f"{n} targets": f"leak_risk(sizes, 100_000, targets={n}).log_probability" for n in (1, 15, 100)}
        questions["people named"] = "distribution(sizes, 100_000).mean"
        for what, question in questions.items():
            found = harness.timed(setup + textwrap.dedent(table), f"answer = [{question}, sizes.people]")
            rows.append({"table": name, "what": what, **found})
    harness.show(
        "a million people, 100,000 of them leaked",
        ("classes", "people", "question", "log of the chance, or mean", "first s", "best s"),
        [
            (
                row["table"],
                f"{row['answer'][1]:,}",
                row["what"],
                f"{row['answer'][0]:.4f}",
                row["first"],
                row["seconds"],
            )
            for row in rows
        ],
    )
    return rows


def errors() -> dict[str, float]:
    """The largest relative errors."""
    found = {
        "fractions, 300 small mixed tables": small_fractions(),
        f"whole numbers, D = {PEOPLE:,}, k = {K}": paper_fractions(),
        "30 digits, D = 9,760, mixed sizes": more_digits(),
    }
    harness.show(
        "largest relative error", ("against", "error"), [(name, f"{worst:.1e}") for name, worst in found.items()]
    )
    return found


def small_fractions() -> float:
    """Against the generating function multiplied out in fractions."""
    draw, worst = random.Random(0), 0.0
    for _ in range(300):
        sizes = [draw.randint(1, 9) for _ in range(draw.randint(1, 6))]
        leaked = draw.randint(1, sum(sizes))
        targets = draw.randint(1, leaked)
        exact = float(by_polynomials(sizes, leaked, targets))
        worst = max(
            worst, abs(leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets).probability / exact - 1)
        )
    return worst


def paper_fractions() -> float:
    """Against whole numbers at the paper's size."""
    return max(
        abs(
            leak_risk(uniform_sizes(PEOPLE, K), leaked, targets=targets).probability
            / float(by_partitions(PEOPLE, K, leaked, targets))
            - 1
        )
        for leaked in (15, 1_000, 4_000, 9_990, 10_000)
        for targets in (1, 5, 10, 15)
    )


def more_digits() -> float:
    """Against another contour at 30 digits, for mixed classes."""
    sizes = ClassSizes.from_counts({1: 760, 2: 500, 3: 400, 5: 300, 8: 200, 13: 150, 40: 30, 55: 10})
    return max(
        abs(float(leak_risk(sizes, leaked, targets=targets).probability / by_more_digits(sizes, leaked, targets) - 1))
        for leaked in (500, 4_000, 8_000)
        for targets in (2, 5, 15)
    )


def figures() -> None:
    """Fig. 2 to 5 of the leak-attack paper, exact instead of recursive where it differs."""
    from incrowd.plots.leak import against_leak, against_targets, single_risks
    from incrowd.plots.look import save

    leaks, wanted = range(1_000, PEOPLE + 1, 250), range(1, 21)
    tables = {f"k = {k}": uniform_sizes(PEOPLE, k) for k in (1, 2, 5, 10, 15, 20)}
    by_leak = {name: [leak_risk(sizes, leaked) for leaked in leaks] for name, sizes in tables.items()}
    dots = {name: [simulate_leak(s, leaked, trials=1_000) for leaked in leaks[::6]] for name, s in tables.items()}
    save(
        against_leak(by_leak, simulations=dots, thresholds=(0.33, 0.09, 0.05)),
        harness.RESULTS / "leak-2.png",
        force=True,
    )
    shown = {name: simulate_leak(tables[name], 4_000, trials=1_000) for name in ("k = 1", "k = 10", "k = 20")}
    save(single_risks(shown), harness.RESULTS / "leak-3a.png", force=True)
    shown = {f"L = {n:,}": simulate_leak(tables["k = 5"], n, trials=1_000) for n in (1_000, 2_000, 3_000, 4_000)}
    save(single_risks(shown), harness.RESULTS / "leak-3b.png", force=True)
    large = {name: tables[name] for name in ("k = 5", "k = 10", "k = 15", "k = 20")}
    by_targets = {name: [leak_risk(sizes, PEOPLE, targets=n) for n in wanted] for name, sizes in large.items()}
    dots = {name: [simulate_leak(s, PEOPLE, targets=n, trials=2_000) for n in wanted[::4]] for name, s in large.items()}
    save(against_targets(by_targets, simulations=dots), harness.RESULTS / "leak-4a.png", force=True)
    several = {f"{n} targets": [leak_risk(tables["k = 5"], leaked, targets=n) for leaked in leaks] for n in (5, 10, 15)}
    save(against_leak(several), harness.RESULTS / "leak-4b.png", force=True)
    mixed = {"all classes of 5": tables["k = 5"]} | {f"5 or more, drawn {seed}": _mixed(seed) for seed in (1, 2, 3)}
    lines = {name: [leak_risk(sizes, sizes.people, targets=n) for n in wanted] for name, sizes in mixed.items()}
    chart = against_targets(lines, dashed=list(lines)[1:], title="Equal classes of k are the worst case")
    save(chart, harness.RESULTS / "leak-5.png", force=True)
    print(f"figures written to {harness.RESULTS.name}/leak-*.png")


def _mixed(seed: int) -> ClassSizes:
    """Classes of 5 or more for about 10,000 people: a normal law with mean 5, cut off below 5 (Fig. 5)."""
    drawn = np.random.default_rng(seed).normal(5, 2, size=8_000)
    sizes = np.round(drawn[drawn >= 5]).astype(int)
    return ClassSizes.from_sizes(sizes[: int(np.searchsorted(np.cumsum(sizes), PEOPLE)) + 1])


if __name__ == "__main__":
    main()
