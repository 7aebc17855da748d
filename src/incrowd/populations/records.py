"""Record by record: how likely each one is to be named in the population, and which come first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import Classes, assign_classes
from incrowd.errors import InputError
from incrowd.populations.class_growth import GrownSizes
from incrowd.populations.classical import benedetti_franconi_risk
from incrowd.populations.posterior import ASSUMPTIONS, estimate_posterior
from incrowd.populations.sample import Sample, read_sample

Floats = NDArray[np.float64]

COLUMNS = ("class_size", "risk", "risk_low", "risk_high", "risk_unique", "risk_rank")
"""The columns that are added: `risk` is E 1/F, `risk_low` and `risk_high` hold 1/F, `risk_unique` is P(F = 1)."""
WEIGHTED = "risk_weighted"


@dataclass(frozen=True, slots=True, eq=False)
class RecordRisk:
    """The risk of every record, kept by class: arrays over records are made when asked for.

    `of_class` has one entry a class of the sample; `classes.numbers` says which class each record is in.
    """

    sample: Sample
    classes: Classes
    of_class: dict[str, NDArray[Any]]
    B: float
    interval: tuple[float, float]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]

    def __getitem__(self, column: str) -> NDArray[Any]:
        """One of the added columns, in the order of the records."""
        if column not in self.of_class:
            raise InputError(f"no column {column!r}; there are: {', '.join(self.of_class)}")
        return self.of_class[column][self.classes.numbers]

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
        """The same as the caller's kind of frame; Arrow where a file was read."""
        from incrowd.tables import to_native

        assert self.sample.table is not None
        return to_native(self.to_arrow(), self.sample.table.native)


def record_risk(
    data: Any,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str],
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
) -> RecordRisk:
    """The chance to name each record in the population, from the posterior of its class's size there.

    Worked out once for each class size, then joined to the records. With `weights` the Benedetti–Franconi risk, which
    uses the weights of the record's own class, stands beside it. Ranks start at 1; records alike share one.

    >>> risks = record_risk({"age": [30, 30, 30, 41, 52, 52]}, population=60, quasi_identifiers=["age"])
    >>> risks["risk_rank"].tolist()
    [4, 4, 4, 1, 2, 2]
    """
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
    )
    if sample.table is None:
        raise InputError("class sizes have no records; give the table")
    classes = assign_classes(sample.table, sample.names, person)
    estimate = estimate_posterior(sample.sizes, sample.population)
    of_class = _risk_columns(estimate.grown, classes.people)
    if sample.weights is not None:
        seen = classes.people.astype(np.float64)
        of_class[WEIGHTED] = benedetti_franconi_risk(seen, sample.weights.of_classes(classes.numbers))
    of_class["risk_rank"] = _ranks(of_class.get(WEIGHTED, of_class["risk"]), np.bincount(classes.numbers))
    return RecordRisk(
        sample, classes, of_class, estimate.B, estimate.interval, ASSUMPTIONS, (*sample.notes, *estimate.notes)
    )


def write_record_risk(
    data: Any,
    out: str | os.PathLike[str],
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str],
    fraction: float | None = None,
    force: bool = False,
) -> Path | str:
    """Write a table as Parquet with the added columns of `record_risk`, by its engine and without bringing it here.

    The risk depends on a record's class through its size alone, so that the engine joins a short list to the records:
    DuckDB writes a file and Spark a folder, the rows in no particular order.
    """
    sample = read_sample(data, population=population, fraction=fraction, quasi_identifiers=quasi_identifiers)
    if sample.table is None:
        raise InputError("class sizes have no records; give the table")
    return sample.table.write_with_class_sizes(
        sample.names,
        out,
        facts_by_size=_risk_of_sizes(sample),
        class_counts=sample.sizes.histogram(),
        force=force,
    )


def _risk_of_sizes(sample: Sample) -> Any:
    """The added columns for every class size there is."""
    import pyarrow as pa

    sizes, counts = sample.sizes.sizes, sample.sizes.counts
    grown = estimate_posterior(sample.sizes, sample.population).grown
    columns = _risk_columns(grown, sizes)
    columns["risk_rank"] = _ranks(columns["risk"], sizes * counts)
    return pa.table(columns)


def _risk_columns(grown: GrownSizes, sizes: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """What is added to records in classes of these sizes, but for the rank."""
    place = np.searchsorted(grown.seen, sizes)
    return {
        "class_size": sizes,
        "risk": grown.expected_inverse[place],
        "risk_low": (1.0 / grown.high)[place],
        "risk_high": (1.0 / grown.low)[place],
        "risk_unique": grown.unique[place],
    }


def _ranks(risk: Floats, records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of every class by falling risk, counted in records: 1 + how many records have a higher one."""
    distinct, place = np.unique(-risk, return_inverse=True)
    of_each = np.bincount(place, weights=records, minlength=distinct.size)
    before = np.concatenate([[0.0], np.cumsum(of_each)[:-1]])
    return (1 + before[place]).astype(np.int64)
