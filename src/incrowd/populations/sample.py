"""The sample that every estimator starts from: class sizes, columns if there is a table, and the population."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.memory import require_memory
from incrowd.backends import TooManyDistinctError, encode
from incrowd.classes import ClassSizes, assign_classes
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations.copula import informative
from incrowd.populations.crowd_model import CrowdModel, fit_crowd_model
from incrowd.populations.design import Design, Weights, design_of, read_groups, read_weights
from incrowd.populations.fixed_coding import require_fixed_coding
from incrowd.populations.marginals import CodedColumns, columns_in_engine
from incrowd.populations.posterior_estimator import ClassSizeModel, model_class_sizes
from incrowd.tables import Table, read_table
from incrowd.wording import whole

Made = TypeVar("Made")
LARGEST_POPULATION = 10**12
MOST_RECORDS = 200_000
"""Records of the largest sample that is grown person by person; a larger one takes too much memory."""
_BYTES_A_RECORD, _BYTES_A_CELL = 64, 32  # measured memory


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample and its population; `table` is None if only class sizes were given.

    Columns and models do not depend on the population. They are cached in `_made`, which is shared with copies of the
    sample for other populations.
    """

    sizes: ClassSizes
    population: int
    table: Table | None = None
    names: tuple[str, ...] = ()
    person: str | None = None
    weights: Weights | None = None
    notes: tuple[str, ...] = ()
    strata: NDArray[np.int64] | None = None
    clusters: NDArray[np.int64] | None = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def fraction(self) -> float:
        """The share of the population in the sample."""
        return self.sizes.people / self.population

    def why_no_columns(self) -> str | None:
        """The reason why the columns cannot be used; None if they can."""
        if self.table is None:
            return "only class sizes were given, not the table"
        if self.person is not None:
            return "people have several records each, which a copula of single records does not describe"
        return None

    def columns(self, *, pairs: bool = False) -> CodedColumns:
        """The quasi-identifiers as codes, without constant columns.

        A table in a cluster sends its distinct records with counts. If these are too many and `pairs` is True, it sends
        contingency tables of pairs of columns instead.

        Raises:
            TooManyDistinctError: there are too many distinct records, and `pairs` is False.
        """
        return self._once("columns or pairs", self._columns_or_pairs) if pairs else self._once("columns", self._encode)

    def _columns_or_pairs(self) -> CodedColumns:
        try:
            return self.columns()
        except TooManyDistinctError:
            assert self.table is not None
            return columns_in_engine(self.table, self.names)

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return a cached value; it is computed at the first call."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[no-any-return]

    def _encode(self) -> CodedColumns:
        assert self.table is not None
        counted = self.table.backend.counted_rows(self.names)
        needed = counted.backend.rows * (_BYTES_A_RECORD + _BYTES_A_CELL * len(self.names))
        require_memory(f"an estimate from the columns of {counted.backend.rows:,} records", needed, self.table.memory)
        coded = [column for column in encode(counted.backend, self.names) if column.size > 1]
        if not coded:
            return CodedColumns(np.zeros((1, counted.backend.rows), dtype=np.int64), (1,), counted.times)
        codes, times = np.stack([column.codes.astype(np.int64) for column in coded]), counted.times
        if times is not None:  # a cluster has no order of rows: sorted by value, estimates are reproducible
            order = np.lexsort(codes[::-1])
            codes, times = codes[:, order], times[order]
        sizes, names = tuple(column.size for column in coded), tuple(column.name for column in coded)
        return CodedColumns(codes, sizes, times, names)

    @property
    def informative_columns(self) -> CodedColumns:
        """The columns without those whose values another column determines."""
        return self._once("informative", lambda: informative(self.columns(pairs=True)))

    def why_no_records(self) -> str | None:
        """The reason why the sample cannot be grown record by record; None if it can. The columns must be usable."""
        columns = self.columns(pairs=True)
        if columns.people > MOST_RECORDS:
            return f"more than {MOST_RECORDS:,} records are too many to grow"
        if not columns.codes.shape[1]:
            return "the table stays in its cluster, and has too many different records to be brought here"
        return None

    def is_modelled_ungrown(self) -> bool:
        """True if the records are too many to grow but can be modelled; False for a whole population."""
        if self.why_no_columns() is not None or self.population == self.sizes.people:
            return False
        columns = self.columns(pairs=True)
        return columns.people > MOST_RECORDS and columns.codes.shape[1] > 0 and max(columns.sizes) > 1

    @property
    def crowd_model(self) -> CrowdModel:
        """The crowd model of the records."""
        return self._once("crowd", self._fit_crowd)

    def _fit_crowd(self) -> CrowdModel:
        columns = self.columns()
        codes = columns.codes if columns.times is None else np.repeat(columns.codes, columns.times, axis=1)
        return fit_crowd_model(list(codes), self.design)

    @property
    def crowd_columns(self) -> list[str]:
        """The names of the crowd model's columns, in its order."""
        names = self.columns().names
        return [names[place] for place in self.crowd_model.order]

    @property
    def design(self) -> Design | None:
        """The strata and clusters of the records; None if records were sampled independently with equal chances."""
        weights = self.weights
        if weights is None and self.clusters is not None:
            weights = Weights(np.full(self.clusters.size, 2.0))  # any equal weights above 1
        return None if weights is None else self._once("design", lambda: design_of(weights, self.strata, self.clusters))

    @property
    def design_effect(self) -> float:
        """Number of these records that inform as much as one drawn independently with equal chances."""
        return 1.0 if self.design is None else self.design.effect

    @property
    def class_size_model(self) -> ClassSizeModel:
        """The Pitman–Yor model of the class sizes."""
        return self._once("model", lambda: model_class_sizes(self.sizes))


def read_sample(
    data: Any,
    *,
    population: float | None = None,
    fraction: float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    weights: str | None = None,
    person: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    sizes: ClassSizes | None = None,
) -> Sample:
    """Count the classes of a table, or take given class sizes, and determine N; `sizes` are those already counted."""
    by_record = weights or strata or cluster
    if isinstance(data, ClassSizes):
        if by_record is not None or person is not None:
            raise InputError("class sizes have no columns; give the table to use columns of the design or of persons")
        people = settle_population(data.people, population=population, fraction=fraction)
        return Sample(data, people)
    table = read_table(data)
    names = table.require(quasi_identifiers or (), "quasi-identifiers")
    if by_record is not None:
        table.backend.require_local("a survey design", "give the population instead")
    if by_record is not None and person is not None:
        raise InputError(
            "weights, strata and clusters belong to records and not to people; give them or a person column"
        )
    if strata is not None and weights is None:
        raise InputError(
            "strata do not say how many people are in each; give the column of weights too", hint="weights"
        )
    is_given = population is not None or fraction is not None
    weight_values = None if weights is None else read_weights(table, weights, population_is_given=is_given)
    in_strata = None if strata is None else read_groups(table, strata, "stratum")
    in_clusters = None if cluster is None else read_groups(table, cluster, "cluster")
    if sizes is not None:
        pass
    elif weight_values is None:
        sizes = ClassSizes.from_table(table, quasi_identifiers=names, person=person)
    else:
        sizes = assign_classes(table, names, person).sizes
    people = settle_population(sizes.people, population=population, fraction=fraction, weights=weight_values)
    if weight_values is not None:
        if in_strata is not None and weight_values.are_of_some_strata(people):
            raise UnsupportedError(
                f"the weights of all strata in the table stand for {whole(weight_values.total)} of {people:,} people, "
                "so the table has some strata only and says nothing about the people of the others; give the "
                "population of these strata, or a table that has all",
                hint="population",
            )
        weight_values = weight_values.scaled_to(people)
    if people > sizes.people:
        require_fixed_coding(table, names)
    notes = _notes(table, names, sizes) if table.backend.rows_are_local else ()
    every_note = (*notes, *(weight_values.notes if weight_values else ()))
    return Sample(sizes, people, table, tuple(names), person, weight_values, every_note, in_strata, in_clusters)


def settle_population(
    people: int, *, population: float | None = None, fraction: float | None = None, weights: Weights | None = None
) -> int:
    """Return N: the given population, the one that the sampling fraction implies, or the sum of the weights."""
    if population is not None and fraction is not None:
        raise InputError("give the population or the sampling fraction, not both")
    given: dict[str, Any] = {"population": population, "sampling fraction": fraction}
    for name, value in given.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise InputError(f"the {name} must be a number; {type(value).__name__} was given")
    if fraction is not None:
        if not 0 < fraction <= 1:
            raise InputError(f"the sampling fraction must be above 0 and at most 1; {fraction:g} was given")
        population = max(people, round(people / fraction))
    if population is None and weights is not None:
        if weights.normalised:
            raise InputError(
                f"the weights add up to {whole(weights.total)} for {people:,} records; they look normalised and do not "
                "say how many people there are: give the population too",
                hint="population",
            )
        if weights.is_implausible:
            raise InputError(
                f"the weights add up to {whole(weights.total)} people for {people:,} records; that is more than they "
                "can stand for, so the weights may have implied decimals: give the population too",
                hint="population",
            )
        population = round(weights.total)
    if population is None:
        raise InputError(
            f"how many people do these {people:,} stand for? give the population, or the sampling fraction (the share "
            "of it that is in the table), or a column of survey weights",
            hint=("population", "fraction", "weights"),
        )
    if not math.isfinite(population) or population != int(population):
        raise InputError(f"the population must be a whole number; {population:g} was given")
    if population < people:
        raise InputError(
            f"a population of {int(population):,} cannot hold a sample of {people:,} people; give {people:,} or more"
        )
    if population > LARGEST_POPULATION:
        raise InputError(f"the population must be at most {LARGEST_POPULATION:,}; {int(population):,} was given")
    return int(population)


def _notes(table: Table, names: Sequence[str], sizes: ClassSizes) -> list[str]:
    """Notes on columns that distinguish nobody, and on columns that distinguish everybody."""
    values = table.backend.count_values(names)
    rows = sizes.records
    constant = [name for name, size in values.items() if size == 1 and rows > 1]
    own = [name for name, size in values.items() if size == rows > 1]
    notes = []
    if constant:
        notes.append(f"constant, tells nobody apart: {', '.join(constant)}")
    if own:
        notes.append(f"a different value in every record, looks like an identifier: {', '.join(own)}")
    return notes
