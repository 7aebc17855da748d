"""Every estimator against the truth: real tables as populations, random samples of them, random quasi-identifiers.

    python -m benchmarks.population [--cases 10] [--tables adult,fars]

Prints the median and the 90th percentile of |B̂ − B| for each method and sampling fraction, the coverage of the
intervals, and the same for each table; writes every case to benchmarks/results/population.json. Two tables, atus and
eusilc_population, were kept out of every choice made in the estimators.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import DATA, save
from incrowd import ClassSizes, UnsupportedError, read_table
from incrowd.engines import class_numbers, encode, pack
from incrowd.population.classical import FROM_SIZES, entropy_score
from incrowd.population.estimate import answer
from incrowd.population.marginals import Columns
from incrowd.population.sample import Sample

HELD_OUT = ("atus", "eusilc_population")
FRACTIONS = (0.01, 0.05, 0.1, 0.3, 0.5)
METHODS = ("combined", "anchored", "posterior", "average", "gaussian", "dvine")
SMALLEST_SAMPLE, SMALLEST_RISK = 200, 0.003

COLUMNS = {
    "adult": "age sex race marital_status education native_country workclass occupation relationship hours_per_week "
    "income",
    "fars": "state age sex year modelyr injury Restraint airbag inimpact airbagAvail airbagDeploy D_injury D_Restraint",
    "diabetes130": "race gender age admission_type_id discharge_disposition_id admission_source_id time_in_hospital "
    "payer_code medical_specialty diag_1 number_inpatient num_procedures number_diagnoses insulin readmitted",
    "sd2011": "sex age placesize region edu eduspec socprof marital ymarr ls smoke sport height weight",
    "hdv2003": "age sexe nivetud occup qualif freres.soeurs relig clso sport heures.tv",
    "sdc_testdata": "urbrur roof walls water electcon relat sex age hhcivil",
    "atus": "state sex age edu race hispanic country_born citizen marital home_type famincome occup_code ind_code "
    "labor_status work_class hh_size tuyear diary_mo",
    "eusilc_population": "region hsize age gender citizenship ecoStat eqsize pid main hy110n",
}


@dataclass(slots=True)
class Case:
    """One sample of one table: the truth, and what every method made of it."""

    table: str
    columns: list[str]
    fraction: float
    people: int
    population: int
    truth: float
    uniqueness: float
    expected: float
    estimates: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    uniques: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)


class CodedSample(Sample):
    """A sample whose columns are at hand as codes already."""

    codes: NDArray[np.int64]

    def why_no_columns(self) -> str | None:
        return None

    def columns(self, *, pairs: bool = False) -> Columns:
        return Columns(self.codes, tuple(int(row.max()) + 1 for row in self.codes))


def samples(table: str, fraction: float, cases: int, seed: int) -> Iterator[tuple[Case, CodedSample]]:
    """Random samples of a table by random quasi-identifiers."""
    source = read_table(DATA / f"{table}.parquet")
    names = COLUMNS[table].split()
    coded = {column.name: column for column in encode(source, names)}
    population = source.rows
    people = round(population * fraction)
    generator = np.random.default_rng([seed, *table.encode(), round(1000 * fraction)])
    while cases and people >= SMALLEST_SAMPLE:
        chosen = [str(name) for name in generator.choice(names, generator.integers(3, 9), replace=False)]
        numbers, sizes = class_numbers(pack(coded[name] for name in chosen))
        if sizes.size < SMALLEST_RISK * population:
            continue
        cases -= 1
        drawn = generator.choice(population, people, replace=False)
        seen = np.bincount(numbers[drawn])
        sample = CodedSample(ClassSizes.from_sizes(seen[seen > 0]), population)
        codes = [coded[name].codes for name in chosen]
        object.__setattr__(sample, "codes", np.stack([np.unique(row[drawn], return_inverse=True)[1] for row in codes]))
        truth = float((1.0 / sizes[numbers[drawn]]).mean())
        yield (
            Case(
                table, chosen, fraction, people, population, truth, float((sizes == 1).sum()) / population,
                sizes.size / population,
            ),
            sample,
        )  # fmt: skip


def measure(case: Case, sample: CodedSample, methods: tuple[str, ...]) -> None:
    """Ask every method."""
    for method in methods:
        result = answer(sample, method, seed=1)
        case.estimates[method], case.seconds[method] = result.B, result.seconds
        if result.interval is not None:
            case.intervals[method] = result.interval
        if result.population_uniques is not None:
            case.uniques[method] = result.population_uniques / case.population
        case.parts |= result.parts
    columns = sample.columns()
    for name, estimator in FROM_SIZES.items():
        try:
            found = estimator(sample.sizes, case.population)
        except UnsupportedError:
            continue
        if found.B is not None:
            case.estimates[name] = found.B
        if found.population_uniqueness is not None:
            case.uniques[name] = found.population_uniqueness
    counts = [columns.counts(j) for j in range(len(columns.sizes))]
    score = entropy_score(counts, columns.codes, case.population).B
    assert score is not None
    case.estimates["entropy"] = score


def table_of_errors(cases: list[Case], title: str) -> None:
    """Median / 90th percentile of the error by method and fraction."""
    print(f"\n{title}: {len(cases)} cases; median / 90th percentile of |estimate − truth|")
    heads = [(f"{fraction:.0%}", (fraction,)) for fraction in FRACTIONS] + [("20 % and above", (0.3, 0.5))]
    print(f"{'':20}" + "".join(f"{head:>17}" for head, _ in heads))
    methods = list(dict.fromkeys(name for case in cases for name in case.estimates))
    for method in methods:
        cells = []
        for _, fractions in heads:
            chosen = [case for case in cases if case.fraction in fractions and method in case.estimates]
            errors = np.array([abs(case.estimates[method] - case.truth) for case in chosen])
            cells.append(f"{np.median(errors):.4f} / {np.quantile(errors, 0.9):.3f}" if errors.size else "–")
        print(f"{method:20}" + "".join(f"{cell:>17}" for cell in cells))
    floor = [
        np.array([abs(case.expected - case.truth) for case in cases if case.fraction in fractions])
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
        errors = np.array([abs(case.uniques[method] - case.uniqueness) for case in chosen])
        print(f"{method:20}{np.median(errors):.4f} / {np.quantile(errors, 0.9):.3f}   {len(chosen) / len(cases):.0%}")


def table_of_coverage(cases: list[Case], title: str) -> None:
    """How often the interval holds the truth, and how wide it is."""
    print(f"\n{title}: share of truths inside the 95 % interval (median width)")
    for method in dict.fromkeys(name for case in cases for name in case.intervals):
        row = []
        for fractions in [*((one,) for one in FRACTIONS), FRACTIONS]:
            inside = [
                (case.intervals[method][0] <= case.truth <= case.intervals[method][1], np.ptp(case.intervals[method]))
                for case in cases
                if case.fraction in fractions and method in case.intervals
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
            for case, sample in samples(table, fraction, options.cases, options.seed):
                measure(case, sample, tuple(options.methods.split(",")))
                cases.append(case)
        print(f"{table}: {len(cases)} cases after {time.monotonic() - started:.0f} s", flush=True)
    save(options.out, [asdict(case) for case in cases])
    table_of_errors(cases, "all tables")
    for table in dict.fromkeys(case.table for case in cases):
        title = f"{table} (kept out of all tuning)" if table in HELD_OUT else table
        table_of_errors([case for case in cases if case.table == table], title)
    table_of_uniqueness(cases)
    table_of_coverage(cases, "all tables")
    held = [case for case in cases if case.table in HELD_OUT]
    if held:
        table_of_coverage(held, "tables kept out of all tuning")


if __name__ == "__main__":
    main()
