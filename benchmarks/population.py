"""Population estimates against the truth: real tables as populations, random samples of them, random columns.

    python -m benchmarks.population [--sets 8] [--only development] [--methods combined,posterior]

Protocol. Constants of the crowd model, of its join with the copula and of the intervals are set on the *development*
tables. The *validation* tables are run once, after all constants are set, and nothing is changed after that. Of each
table sets of 2 to 9 columns are drawn at random, with classes between .003 and .999 of the people, and of each set one
sample for every fraction; samples of fewer than 100 records are left out. Standard errors are by bootstrap over sets of
columns, because the samples of one set have their columns in common.

Prints, for both groups of tables: median and 90th percentile of |B̂ − B|; coverage and median width of the intervals, by
fraction and by table; how well records are told apart (AUC, Brier score and expected calibration error of P(unique in
the population) among the sample's uniques); how far two seeds, and two namings of the values, are apart. Every case is
written to benchmarks/results/population.json.

The calibration error is that of all cases of a fraction together, in ten bins of equal width, each case with the same
weight. Of one case it is mostly chance: a bin of a dozen records is off by a tenth even where every chance is right.
The mean over cases is printed too, beside what it would be if all chances were right.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.harness import DATA, save, show
from incrowd.errors import UnsupportedError
from incrowd.populations.estimators import EstimatorName, estimate_risk, estimate_with_records
from incrowd.populations.fitted_sample import FitOptions
from incrowd.populations.sample import Sample, read_sample

TABLES: Mapping[str, tuple[str, ...]] = {
    "development": ("adult", "atus", "fars", "sd2011", "creditcard", "eusilc_population"),
    "validation": ("happy", "nhanes", "cdc", "cpssw8", "diabetes130", "sdc_testdata"),
}
FRACTIONS = (0.01, 0.05, 0.1, 0.3)
METHODS: tuple[EstimatorName, ...] = ("combined", "crowd", "anchored", "posterior")
_NOT_ASKED = {
    "split",
    "wtssall",
    "wt",
    "id",
    "caseid",
    "patient_nbr",
    "encounter_id",
    "ID",
    "SEQN",
    "pid",
    "hid",
    "fnlwgt",
}
_MOST_PEOPLE, _FEWEST = 60_000, 100
_EVERY = 4  # cases between two that are estimated with another seed and other names too


def read_frame(name: str) -> pd.DataFrame:
    """A table of one record for each person, of so many people at most."""
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    if name == "diabetes130":
        frame = frame.drop_duplicates("patient_nbr")  # one stay of each patient
    if len(frame) > _MOST_PEOPLE:
        frame = frame.iloc[np.random.default_rng(1).choice(len(frame), _MOST_PEOPLE, replace=False)]
    return frame


def read_population(name: str) -> dict[str, np.ndarray]:
    """The columns of a table as codes, without weights and identifiers."""
    frame, columns = read_frame(name), {}
    for column in sorted(frame.columns):
        is_weight = column.startswith("WT") or ("weight" in column.lower() and name != "cdc")
        if column in _NOT_ASKED or is_weight:
            continue
        codes = pd.factorize(frame[column], use_na_sentinel=False)[0]
        if 2 <= codes.max() + 1 <= min(2000, len(frame) * 0.2):
            columns[column] = codes
    return columns


def draw_cases(name: str, sets: int, seed: int) -> Iterator[dict[str, Any]]:
    """Samples of a table, and the size of each record's class in it."""
    columns = read_population(name)
    draw = np.random.default_rng([seed, len(columns)])
    people, made = next(iter(columns.values())).size, 0
    while made < sets:
        names = [str(one) for one in draw.choice(list(columns), int(draw.integers(2, min(9, len(columns)) + 1)), False)]
        _, numbers = np.unique(np.stack([columns[one] for one in names]), axis=1, return_inverse=True)
        sizes = np.bincount(numbers.ravel())
        if not 0.003 < sizes.size / people < 0.999:
            continue
        made += 1
        for fraction in FRACTIONS:
            if round(people * fraction) >= _FEWEST:
                rows = draw.choice(people, round(people * fraction), replace=False)
                yield {
                    "set": f"{name} {made}", "table": name, "columns": names, "fraction": fraction,
                    "people": rows.size, "population": people, "sizes": sizes[numbers.ravel()[rows]],
                    "rows": {one: columns[one][rows] for one in names},
                }  # fmt: skip


def measure(case: dict[str, Any], methods: Sequence[EstimatorName], *, again: bool) -> dict[str, Any]:
    """What each method says of one case, next to the truth."""
    truth, population = case["sizes"], case["population"]
    sample = read_case(case["rows"], population)
    started = time.process_time()
    risk, records = estimate_with_records(sample, options=FitOptions(0, 1, False, lambda *_: None))
    found = {name: case[name] for name in ("set", "table", "columns", "fraction", "people", "population")}
    found |= {
        "B": float((1 / truth).mean()),
        "seconds": time.process_time() - started,
        "combined": risk.sample_to_population,
    }
    found |= {"interval": risk.interval, "still_unique": risk.still_unique}
    seen = sample.crowd_model.class_sizes() if records is not None else np.ones(truth.size)
    alone = seen == 1
    if risk.still_unique is not None and records is not None:
        found |= {"truly_unique": float((truth[alone] == 1).mean()), "unique_interval": risk.still_unique_interval}
        chance, is_unique = records.unique[alone], truth[alone] == 1
        found["held"] = float(np.mean((records.low <= 1 / truth) & (1 / truth <= records.high)))
        if 5 <= is_unique.sum() <= is_unique.size - 5:
            found |= {"auc": auc(chance, is_unique), "ece": calibration_error(chance, is_unique)}
            found["ece by chance"] = calibration_by_chance(chance)
            found["reliability"] = reliability(chance, is_unique).tolist()
            found["brier"] = float(np.mean((chance - is_unique) ** 2))
    for method in methods:
        if method != "combined":
            try:
                found[method] = estimate_risk(sample, method).sample_to_population
            except UnsupportedError:
                continue
    if again:
        draw = np.random.default_rng(7)
        renamed = {name: draw.permutation(int(codes.max()) + 1)[codes] for name, codes in case["rows"].items()}
        found["other seed"] = estimate_risk(sample, "combined", seed=1).sample_to_population
        for method, key in (("crowd", "crowd renamed"), ("combined", "combined renamed")):
            found[key] = estimate_risk(read_case(renamed, population), method).sample_to_population
        found["crowd named"] = found.get("crowd", estimate_risk(sample, "crowd").sample_to_population)
    return found


def read_case(rows: Mapping[str, np.ndarray], population: int) -> Sample:
    """The sample of a case."""
    return read_sample(dict(rows), population=population, quasi_identifiers=list(rows))


def auc(score: np.ndarray, is_true: np.ndarray) -> float:
    """Chance that a true case has the higher score."""
    true = int(is_true.sum())
    return float((rankdata(score)[is_true].sum() - true * (true + 1) / 2) / (true * (is_true.size - true)))


def calibration_error(chance: np.ndarray, is_true: np.ndarray, bins: int = 10) -> float:
    """Mean distance between chance and share in bins of about equally many records."""
    parts = np.array_split(np.argsort(chance, kind="stable"), bins)
    return float(
        sum(abs(chance[one].mean() - is_true[one].mean()) * one.size for one in parts if one.size) / chance.size
    )


def calibration_by_chance(chance: np.ndarray, draws: int = 20) -> float:
    """The calibration error that chances have on average if they are right: few records scatter."""
    draw = np.random.default_rng(3)
    return float(np.mean([calibration_error(chance, draw.random(chance.size) < chance) for _ in range(draws)]))


def reliability(chance: np.ndarray, is_true: np.ndarray) -> np.ndarray:
    """Records, sum of chances and true cases in ten bins of equal width."""
    place = np.minimum((chance * 10).astype(int), 9)
    return np.array([np.bincount(place, weights=one, minlength=10) for one in (np.ones(chance.size), chance, is_true)])


def with_error(cases: pd.DataFrame, value: Callable[[pd.DataFrame], float], digits: int = 4) -> str:
    """A figure of some cases with its standard error, by bootstrap over sets of columns."""
    groups = [group for _, group in cases.groupby("set")]
    if not groups:
        return "–"
    draw = np.random.default_rng(0)
    again = [
        value(pd.concat([groups[place] for place in draw.integers(0, len(groups), len(groups))])) for _ in range(200)
    ]
    return f"{value(cases):.{digits}f} ± {np.nanstd(again):.{digits}f}"


def report(cases: pd.DataFrame, title: str, methods: Sequence[str]) -> None:
    """Print the tables of one group of tables."""
    heads = [f"{fraction:.0%}" for fraction in FRACTIONS]
    parts = [cases[cases.fraction == fraction] for fraction in FRACTIONS]
    for quantile, name in ((0.5, "median"), (0.9, "90th percentile")):
        rows: list[list[Any]] = []
        for method in methods:

            def error(some: pd.DataFrame, method: str = method, quantile: float = quantile) -> float:
                return float((some[method] - some.B).abs().quantile(quantile))

            rows.append([method, *(with_error(one.dropna(subset=[method]), error) for one in parts)])
        show(f"{title}: {name} of |estimate − truth|, {len(cases)} cases", ["", *heads], rows)

    def holds(some: pd.DataFrame, interval: str = "interval", truth: str = "B") -> float:
        some = some.dropna(subset=[interval, truth]) if interval in some else some.iloc[:0]
        inside = [ends[0] <= value <= ends[1] for ends, value in zip(some[interval], some[truth], strict=True)]
        return float(np.mean(inside)) if inside else float("nan")

    def width(some: pd.DataFrame) -> float:
        return float(np.median([ends[1] - ends[0] for ends in some.interval])) if len(some) else float("nan")

    rows = [["all", *(f"{with_error(p, holds, 2)} ({width(p):.4f})" for p in parts), f"{with_error(cases, holds, 3)}"]]
    for table, own in cases.groupby("table"):
        split = [own[own.fraction == fraction] for fraction in FRACTIONS]
        rows.append([table, *(f"{holds(p):.2f} ({width(p):.4f})" for p in split), f"{holds(own):.2f}"])
    uniques = [f"{holds(p, 'unique_interval', 'truly_unique'):.2f}" for p in [*parts, cases]]
    rows.append(["unique in the population", *uniques])
    show(f"{title}: share of truths inside the 95 % interval (median width)", ["", *heads, "all"], rows)

    def pooled_error(some: pd.DataFrame) -> float:
        count, expected, true = np.sum([np.array(one) / np.sum(one[0]) for one in some.reliability], axis=0)
        return float(np.abs(expected - true).sum() / count.sum())

    rows = [["calibration error", *(with_error(p.dropna(subset=["auc"]), pooled_error, 3) for p in parts)]]
    rows.append(["median auc", *(f"{p.auc.median():.3f}" for p in parts)])
    figures = {"auc": "auc", "brier": "brier", "held": "held"}
    figures |= {"ece": "calibration error, mean of cases", "ece by chance": "the same if all chances were right"}
    for figure, title_of_row in figures.items():

        def average(some: pd.DataFrame, figure: str = figure) -> float:
            return float(some[figure].mean())

        rows.append([title_of_row, *(with_error(one.dropna(subset=[figure]), average, 3) for one in parts)])
    show(f"{title}: records (held: share of 1/F inside the record's interval)", ["", *heads], rows)
    twice = cases.dropna(subset=["other seed"])
    apart = (twice["other seed"] - twice.combined).abs()
    renamed = {
        one: (twice[f"{one} renamed"] - twice["crowd named" if one == "crowd" else one]).abs()
        for one in ("crowd", "combined")
    }
    rows = [["another seed", apart.median(), apart.quantile(0.9)]]
    rows += [
        [f"other names of values, {one}", float(off.median()), float(off.quantile(0.9))] for one, off in renamed.items()
    ]
    show(f"{title}: change of B, {len(twice)} cases", ["", "median", "90th percentile"], rows)


def main() -> None:
    """Run the cases, print the tables, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=8, help="sets of columns for each table")
    parser.add_argument("--only", choices=list(TABLES), help="one group of tables")
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--out", default="population")
    options = parser.parse_args()
    methods = options.methods.split(",")
    everything: dict[str, list[dict[str, Any]]] = {}
    for group in [options.only] if options.only else list(TABLES):
        cases = everything[group] = []
        for table in TABLES[group]:
            for number, case in enumerate(draw_cases(table, options.sets, options.seed)):
                cases.append(measure(case, methods, again=number % _EVERY == 0))
        frame = pd.DataFrame(cases)
        report(frame, group, methods)
        print(f"\nseconds of processor time for a combined estimate: {frame.seconds.median():.2f} (median)")
    save(options.out, everything)


if __name__ == "__main__":
    main()
