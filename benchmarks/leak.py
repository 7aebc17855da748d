"""Leak attacks: right against fractions, more digits and simulation; fast at a million people.

The leak-attack paper's figures are made by `python -m papers leak-attack`.
"""

from __future__ import annotations

import random
import textwrap
from typing import Any

from papers.leak_attack import several_targets
from papers.leak_attack.reference_values import PEOPLE
from tests.leaks.oracles import by_more_digits, by_partitions, by_polynomials

from benchmarks import harness
from incrowd.classes import ClassSizes
from incrowd.leaks import leak_risk, uniform_sizes

K, TRIALS = several_targets.K, 20_000

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


def grid() -> list[dict[str, Any]]:
    """The exact number, the simulation and the published recursions over the paper's grid."""
    rows: list[dict[str, Any]] = [
        {
            "leaked": one.exact.leaked,
            "targets": one.exact.targets,
            "exact": one.exact.probability,
            "simulated": one.simulated.probability,
            "standard_error": one.simulated.standard_error,
            "distance": one.distance or 0.0,  # 20,000 trials are enough for 15 targets: agrees_with sees to it
            "within_3": one.simulated.agrees_with(one.exact.probability),
            "recursion": one.relative_error(one.published),
            "recursion_by_people": one.relative_error(one.by_people),
        }
        for one in several_targets.grid(TRIALS)
    ]
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
                *(f"{row[name]:+.3%}" for name in ("recursion", "recursion_by_people")),
            )
            for row in rows
        ],
    )
    print(f"\nwithin 3 standard errors: {sum(row['within_3'] for row in rows)} of {len(rows)}")
    return rows


def million() -> list[dict[str, Any]]:
    """Seconds at a million people of whom 100,000 leak, each table in a process of its own."""
    setup = "import numpy as np\nfrom incrowd.classes import ClassSizes\nfrom incrowd.leaks import *\n"
    rows = []
    for name, table in _TABLES.items():
        questions = {f"{n} targets": f"leak_risk(sizes, 100_000, targets={n}).log_probability" for n in (1, 15, 100)}
        questions["people named"] = "named_people(sizes, 100_000).mean"
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


if __name__ == "__main__":
    main()
