"""Every estimator against the truth: real tables as populations, random samples of them, random quasi-identifiers.

    python -m benchmarks.population [--cases 10] [--tables adult,fars]

Prints the median and the 90th percentile of |B̂ − B| for each method and sampling fraction, the coverage of the
intervals, and the same for each table; writes every case to benchmarks/results/population.json. Two tables, atus and
eusilc_population, were kept out when the estimators' constants were set (docs/population.md: which choices saw them).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

import numpy as np
from papers.synthetic_estimator.cases import COLUMNS, Case, measure, table_samples

from benchmarks.harness import DATA, save

HELD_OUT = ("atus", "eusilc_population")
FRACTIONS = (0.01, 0.05, 0.1, 0.3, 0.5)
METHODS = ("combined", "anchored", "posterior", "average", "gaussian", "dvine")


def table_of_errors(cases: list[Case], title: str) -> None:
    """Median / 90th percentile of the error by method and fraction."""
    print(f"\n{title}: {len(cases)} cases; median / 90th percentile of |estimate − truth|")
    heads = [(f"{fraction:.0%}", (fraction,)) for fraction in FRACTIONS] + [("20 % and above", (0.3, 0.5))]
    print(f"{'':20}" + "".join(f"{head:>17}" for head, _ in heads))
    methods = list(dict.fromkeys(name for case in cases for name in case.estimates))
    for method in methods:
        cells = []
        for _, fractions in heads:
            chosen = [case for case in cases if case.truth.fraction in fractions and method in case.estimates]
            errors = np.array([abs(case.error(method)) for case in chosen])
            cells.append(f"{np.median(errors):.4f} / {np.quantile(errors, 0.9):.3f}" if errors.size else "–")
        print(f"{method:20}" + "".join(f"{cell:>17}" for cell in cells))
    floor = [
        np.array([abs(case.truth.expected - case.truth.B) for case in cases if case.truth.fraction in fractions])
        for _, fractions in heads
    ]
    print(
        f"{'(κ(N) known)':20}"
        + "".join(f"{f'{np.median(one):.4f} / {np.quantile(one, 0.9):.3f}' if one.size else '–':>17}" for one in floor)
    )


def table_of_uniqueness(cases: list[Case]) -> None:
    """The same for population uniqueness, which is what the classical estimators are made for."""
    print("\npopulation uniqueness; median / 90th percentile of |estimate − truth|, and how often there is an answer")
    for method in dict.fromkeys(name for case in cases for name in case.uniques):
        chosen = [case for case in cases if method in case.uniques]
        errors = np.array([abs(case.uniques[method] - case.truth.uniqueness) for case in chosen])
        print(f"{method:20}{np.median(errors):.4f} / {np.quantile(errors, 0.9):.3f}   {len(chosen) / len(cases):.0%}")


def table_of_coverage(cases: list[Case], title: str) -> None:
    """How often the interval holds the truth, and how wide it is."""
    print(f"\n{title}: share of truths inside the 95 % interval (median width)")
    for method in dict.fromkeys(name for case in cases for name in case.intervals):
        row = []
        for fractions in [*((one,) for one in FRACTIONS), FRACTIONS]:
            inside = [
                (case.intervals[method][0] <= case.truth.B <= case.intervals[method][1], np.ptp(case.intervals[method]))
                for case in cases
                if case.truth.fraction in fractions and method in case.intervals
            ]
            row.append(
                f"{np.mean([x for x, _ in inside]):.0%} ({np.median([w for _, w in inside]):.3f})" if inside else "–"
            )
        print(f"{method:20}" + "".join(f"{cell:>14}" for cell in row))


def main() -> None:
    """Run the cases, print the tables, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=8, help="cases for each table and fraction")
    parser.add_argument("--tables", default=",".join(COLUMNS))
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--out", default="population")
    options = parser.parse_args()
    cases: list[Case] = []
    started = time.monotonic()
    for table in options.tables.split(","):
        for fraction in FRACTIONS:
            for truth, sample in table_samples(DATA, table, fraction, options.cases, options.seed):
                cases.append(measure(truth, sample, options.methods.split(",")))
        print(f"{table}: {len(cases)} cases after {time.monotonic() - started:.0f} s", flush=True)
    save(options.out, [asdict(case) for case in cases])
    table_of_errors(cases, "all tables")
    for table in dict.fromkeys(case.truth.table for case in cases):
        title = f"{table} (kept out when constants were set)" if table in HELD_OUT else table
        table_of_errors([case for case in cases if case.truth.table == table], title)
    table_of_uniqueness(cases)
    table_of_coverage(cases, "all tables")
    held = [case for case in cases if case.truth.table in HELD_OUT]
    if held:
        table_of_coverage(held, "tables kept out when constants were set")


if __name__ == "__main__":
    main()
