"""Risk of every record: the chance to name it in the population, and its rank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.classes import Classes, assign_classes
from incrowd.errors import InputError
from incrowd.populations.classical import benedetti_franconi_risk
from incrowd.populations.crowd_records import EntryRisks
from incrowd.populations.estimators import (
    EstimatorName,
    assess_by_size,
    check_method,
    estimate_risk,
    estimate_with_records,
)
from incrowd.populations.fitted_sample import FitOptions
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample, read_sample
from incrowd.results import Result
from incrowd.special import Floats
from incrowd.tables import TableLike, to_native

WEIGHTED, TELLING = "risk_weighted", "telling_column"
BY_SIZE = "the risk of a record is that of the size of its class, not of its values"


@dataclass(frozen=True, slots=True, eq=False)
class RecordRisk(Result):
    """The risk of every record. It is stored by class; `risks["risk"]` returns an array with one entry per record.

    `of_class` has arrays with one entry for each class of the sample; `classes.numbers` is the class of each record.
    """

    sample: Sample
    classes: Classes
    of_class: dict[str, NDArray[Any]]
    sample_to_population: float
    interval: tuple[float, float]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    _hidden: ClassVar[frozenset[str]] = frozenset({"sample", "classes", "of_class"})

    def __getitem__(self, column: str) -> NDArray[Any]:
        """One of the added columns, in the order of the records."""
        if column not in self.of_class:
            raise InputError(f"no column {column!r}; there are: {', '.join(self.of_class)}")
        return self.of_class[column][self.classes.numbers]

    @property
    def telling_columns_of_all(self) -> dict[str, float]:
        """By column, the share of all records whose risk would fall most without it, in descending order."""
        if TELLING not in self.of_class:
            return {}
        records = np.bincount(self.classes.numbers)
        names, place = np.unique(self.of_class[TELLING].astype(str), return_inverse=True)
        shares = np.bincount(place, weights=records) / records.sum()
        return {str(names[one]): float(shares[one]) for one in np.argsort(-shares, kind="stable")}

    def to_arrow(self) -> Any:
        """The table with the added columns."""
        table = self.sample.table
        assert table is not None
        taken = [name for name in self.of_class if name in table.columns]
        if taken:
            raise InputError(f"the table has columns named {', '.join(taken)} already; rename them")
        arrow = table.to_arrow()
        for name in self.of_class:
            arrow = arrow.append_column(name, [self[name]])
        return arrow

    def to_native(self) -> Any:
        """The table with the added columns, as the caller's kind of frame; Arrow if a file was read."""
        assert self.sample.table is not None
        return to_native(self.to_arrow(), self.sample.table.native)

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each record, with the added columns."""
        columns = [self[name].tolist() for name in self.of_class]
        return [dict(zip(self.of_class, row, strict=True)) for row in zip(*columns, strict=True)]


def record_risk(
    data: TableLike,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str],
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    method: EstimatorName = "combined",
    seed: int = 0,
    progress: Progress = silent,
) -> RecordRisk:
    """Estimate for each record the chance that it is named correctly in the population, from its values.

    The mean over the records is the estimate of `population_risk` with the same method and seed. If the columns cannot
    be used (people with several records, one informative column, another method), the risk depends only on the size of
    the record's class, by the posterior of class sizes, and a note says so. With `weights`, the Benedetti–Franconi risk
    is added, which uses the weights of the record's class; records are ranked by it if the risk does not use weights.

    Args:
        data: a table: a path, a frame or a `Table`.
        population: how many people the table was drawn from.
        quasi_identifiers: the columns an attacker knows.
        fraction: the share of the population that is in the table, instead of `population`.
        weights: the column with the number of people that each record represents, instead of `population`.
        person: the column that identifies the person of each record, if people have several.
        strata: the column with the stratum in which each record was drawn; needs `weights`.
        cluster: the column with the cluster (household, village) with which each record was drawn.
        method: an estimator of `population_risk`; only "combined" and "crowd" use the values of each record.
        seed: seed of the grown populations.
        progress: progress callback.

    Returns:
        For every record its class size, the risk E[1/F] with an interval, P(F = 1), and its rank from 1, which equal
        records share. If the risk depends on the record's values, also `telling_column`, the column without which
        the risk would fall most, and `risk_without_it`.

    Raises:
        InputError: the population is not known, or no table was given.

    >>> risks = record_risk({"age": [30, 30, 30, 41, 52, 52]}, population=60, quasi_identifiers=["age"])
    >>> risks["risk_rank"].tolist()
    [4, 4, 4, 1, 2, 2]
    """
    check_method(method)
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
        strata=strata,
        cluster=cluster,
    )
    if sample.table is None:
        raise InputError("class sizes have no records; give the table")
    classes = assign_classes(sample.table, sample.names, person)
    headline, records = estimate_with_records(
        sample, method, options=FitOptions(seed, 1, False, progress, leave_out=True)
    )
    notes = headline.notes
    if records is not None:
        of_class = _risk_of_values(records, classes, sample.crowd_columns)
    else:
        of_class = _risk_of_sizes(sample, headline, classes.people)
        notes = (*notes, BY_SIZE)
    if sample.weights is not None:
        seen = classes.people.astype(np.float64)
        of_class[WEIGHTED] = benedetti_franconi_risk(seen, sample.weights.of_classes(classes.numbers))
    by_weight = records is None and WEIGHTED in of_class
    of_class["risk_rank"] = _ranks(of_class[WEIGHTED if by_weight else "risk"], np.bincount(classes.numbers))
    total, interval, assumptions = headline.sample_to_population, headline.ends, headline.assumptions
    return RecordRisk(sample, classes, of_class, total, interval, assumptions, notes)


def write_record_risk(
    data: TableLike,
    out: str | os.PathLike[str],
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str],
    fraction: float | None = None,
    method: EstimatorName = "combined",
    seed: int = 0,
    force: bool = False,
    progress: Progress = silent,
) -> Path | str:
    """Write a table as Parquet with the added columns of `record_risk`, by its engine and without loading it.

    Unlike in `record_risk`, the risk depends only on the size of a record's class, so that the engine joins a short
    list to the records. DuckDB writes a file and Spark a folder; rows are in no particular order. The mean over the
    records is the estimate of `population_risk` with the same method and seed.

    Args:
        data: a table: a path, a frame or a `Table`.
        out: the file or folder to write.
        population: how many people the table was drawn from.
        quasi_identifiers: the columns an attacker knows.
        fraction: the share of the population that is in the table, instead of `population`.
        method: an estimator of `population_risk`.
        seed: seed of the grown populations.
        force: replace an existing file or folder.
        progress: progress callback.

    Returns:
        The path that was written, or the address of a store.

    Raises:
        InputError: the population is not known, or no table was given.
    """
    check_method(method)
    sample = read_sample(data, population=population, fraction=fraction, quasi_identifiers=quasi_identifiers)
    if sample.table is None:
        raise InputError("class sizes have no records; give the table")
    sizes = sample.sizes.sizes
    columns = _risk_of_sizes(sample, estimate_risk(sample, method, seed=seed, progress=progress), sizes)
    columns["risk_rank"] = _ranks(columns["risk"], sizes * sample.sizes.counts)
    return sample.table.write_with_class_sizes(
        sample.names,
        out,
        facts_by_size=pa.table(columns),
        class_counts=sample.sizes.histogram(),
        force=force,
    )


def _risk_columns(records: EntryRisks, sizes: NDArray[np.int64], index: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The added columns, without the rank, for classes of these sizes; class i is entry `index[i]` of `records`."""
    return {
        "class_size": sizes,
        "risk": records.risk[index],
        "risk_low": records.low[index],
        "risk_high": records.high[index],
        "risk_unique": records.unique[index],
    }


def _risk_of_sizes(sample: Sample, headline: PopulationRisk, sizes: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The added columns for classes of these sizes, if the risk depends on the class size only."""
    return _risk_columns(assess_by_size(sample, headline), sizes, np.searchsorted(sample.sizes.sizes, sizes))


def _risk_of_values(records: EntryRisks, classes: Classes, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The added columns by class, from the risk of every record; records of one class have one risk.

    The telling column is the one without which the risk would be lowest.
    """
    assert records.without is not None
    first = np.unique(classes.numbers, return_index=True)[1]
    without = records.without[:, first]
    return _risk_columns(records, classes.people, first) | {
        TELLING: np.array(names, dtype=object)[np.argmin(without, axis=0)],
        "risk_without_it": without.min(axis=0),
    }


def _ranks(risk: Floats, records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of every class by descending risk, counted in records: 1 + the number of records with a higher risk."""
    distinct, inverse = np.unique(-risk, return_inverse=True)
    of_each = np.bincount(inverse, weights=records, minlength=distinct.size)
    before = np.concatenate([[0.0], np.cumsum(of_each)[:-1]])
    return (1 + before[inverse]).astype(np.int64)
