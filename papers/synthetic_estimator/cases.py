"""Whole tables as populations, random samples of them by random quasi-identifiers, and what every estimator says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import class_numbers, encode, pack
from incrowd.backends.encode import Coded
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.populations.classical import FROM_SIZES, entropy_score
from incrowd.populations.estimators import EstimatorName, estimate_risk
from incrowd.populations.marginals import CodedColumns
from incrowd.populations.sample import Sample
from incrowd.tables import Table, read_table

SMALLEST_SAMPLE, SMALLEST_RISK = 200, 0.003
MOST_ATTEMPTS = 1_000  # in a row, after which no set of columns is expected to do

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "adult": "age sex race marital_status education native_country workclass occupation relationship "
        "hours_per_week income",
        "fars": "state age sex year modelyr injury Restraint airbag inimpact airbagAvail airbagDeploy D_injury "
        "D_Restraint",
        "diabetes130": "race gender age admission_type_id discharge_disposition_id admission_source_id "
        "time_in_hospital payer_code medical_specialty diag_1 number_inpatient num_procedures number_diagnoses insulin "
        "readmitted",
        "sd2011": "sex age placesize region edu eduspec socprof marital ymarr ls smoke sport height weight",
        "hdv2003": "age sexe nivetud occup qualif freres.soeurs relig clso sport heures.tv",
        "sdc_testdata": "urbrur roof walls water electcon relat sex age hhcivil",
        "atus": "state sex age edu race hispanic country_born citizen marital home_type famincome occup_code ind_code "
        "labor_status work_class hh_size tuyear diary_mo",
        "eusilc_population": "region hsize age gender citizenship ecoStat eqsize pid main hy110n",
    }
)
"""The columns of each public table that may become quasi-identifiers."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One random sample of a table, and what is true of it: A, B, the population's uniqueness and its κ(N)."""

    table: str
    columns: tuple[str, ...]
    fraction: float
    people: int
    population: int
    A: float
    B: float
    uniqueness: float
    expected: float


@dataclass(frozen=True, slots=True)
class Case:
    """What every method made of a sample."""

    truth: Truth
    estimates: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    uniques: dict[str, float]
    seconds: dict[str, float]
    parts: dict[str, float]

    def error(self, method: str) -> float:
        """Estimate less truth."""
        return self.estimates[method] - self.truth.B


@dataclass(frozen=True, slots=True, eq=False)
class CodedSample(Sample):
    """A sample whose columns are at hand as codes already, one row a column."""

    codes: NDArray[np.int64] | None = None

    def why_no_columns(self) -> str | None:
        return None

    def columns(self, *, pairs: bool = False) -> CodedColumns:
        assert self.codes is not None
        return CodedColumns(self.codes, tuple(int(row.max()) + 1 for row in self.codes))


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """A table that is taken to be everybody, by the columns that may be known."""

    name: str
    people: int
    coded: Mapping[str, Coded]

    @classmethod
    def of(cls, name: str, table: Table, columns: Sequence[str]) -> Population:
        """The columns of a table, coded once for all samples."""
        return cls(name, table.rows, {column.name: column for column in encode(table, columns)})


def samples(whole: Population, fraction: float, cases: int, seed: int) -> Iterator[tuple[Truth, CodedSample]]:
    """Random samples of a table by random quasi-identifiers that name at least 3 in 1000 of its people."""
    name, population, coded, columns = whole.name, whole.people, whole.coded, list(whole.coded)
    people = round(population * fraction)
    generator = np.random.default_rng([seed, *name.encode(), round(1000 * fraction)])
    most = min(len(columns), 8)
    misses = 0
    while cases and people >= SMALLEST_SAMPLE:
        chosen = [str(one) for one in generator.choice(columns, generator.integers(3, most + 1), replace=False)]
        numbers, sizes = class_numbers(pack(coded[one] for one in chosen))
        if sizes.size < SMALLEST_RISK * population:
            misses += 1
            if misses == MOST_ATTEMPTS:
                raise UnsupportedError(
                    f"{name}: none of {MOST_ATTEMPTS:,} random sets of its columns names 3 in 1000 of its people; "
                    "take that file out of the data folder"
                )
            continue
        cases, misses = cases - 1, 0
        drawn = generator.choice(population, people, replace=False)
        seen = np.bincount(numbers[drawn])
        codes = np.stack([np.unique(coded[one].codes[drawn], return_inverse=True)[1] for one in chosen])
        yield (
            Truth(
                table=name,
                columns=tuple(chosen),
                fraction=fraction,
                people=people,
                population=population,
                A=int((seen > 0).sum()) / population,
                B=float((1.0 / sizes[numbers[drawn]]).mean()),
                uniqueness=float((sizes == 1).sum()) / population,
                expected=sizes.size / population,
            ),
            CodedSample(ClassSizes.from_sizes(seen[seen > 0]), population, codes=codes),
        )


def table_samples(
    folder: Path, name: str, fraction: float, cases: int, seed: int
) -> Iterator[tuple[Truth, CodedSample]]:
    """Random samples of one of the public tables in a folder, with the truth about each."""
    return samples(public_table(folder, name), fraction, cases, seed)


def public_table(folder: Path, name: str) -> Population:
    """One of the public tables as a population."""
    return Population.of(name, read_table(folder / f"{name}.parquet"), COLUMNS[name].split())


def measure(
    truth: Truth,
    sample: CodedSample,
    methods: Sequence[EstimatorName],
    seed: int = 1,
    *,
    classical: Sequence[str] = tuple(FROM_SIZES),
) -> Case:
    """Ask every method, and the classical estimators."""
    case = Case(truth, {}, {}, {}, {}, {})
    for method in methods:
        result = estimate_risk(sample, method, seed=seed)
        # the published estimators keep to no certain limits
        case.estimates[method] = result.parts.get(f"{method}, unlimited", result.sample_to_population)
        case.seconds[method] = result.seconds
        if result.interval is not None:
            case.intervals[method] = result.interval
        if result.population_uniques is not None:
            case.uniques[method] = result.population_uniques / truth.population
        case.parts.update(result.parts)
    for name in classical:
        try:
            found = FROM_SIZES[name](sample.sizes, truth.population)
        except UnsupportedError:
            continue
        if found.sample_to_population is not None:
            case.estimates[name] = found.sample_to_population
        if found.population_uniqueness is not None:
            case.uniques[name] = found.population_uniqueness
    columns = sample.columns()
    counts = [columns.counts(j) for j in range(len(columns.sizes))]
    score = entropy_score(counts, columns.codes, truth.population).sample_to_population
    assert score is not None
    case.estimates["entropy"] = score
    return case
