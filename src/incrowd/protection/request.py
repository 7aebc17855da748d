"""The request of `protect`: read and checked before any work, and posed as the problem that a method solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incrowd._support.progress import Progress
from incrowd.backends import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.k_map import RandomSample, read_population
from incrowd.protection.keys import read_key
from incrowd.protection.method_options import MEASURES, require_whole
from incrowd.protection.perturbation.date_shift import ShiftDates
from incrowd.protection.perturbation.perturb import read_steps
from incrowd.protection.problem import Demand, Problem, check_values, require_known, settle_aim
from incrowd.protection.protect_options import ProtectOptions
from incrowd.protection.recoding import as_nominal
from incrowd.protection.registry import PROTECTION_METHODS, require_method
from incrowd.protection.validate import (
    SettledColumns,
    check_columns,
    check_demand,
    check_wishes,
    require_sensitive,
    settle_columns,
)
from incrowd.tables import Table, TableLike, read_table


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What `protect` is asked for, checked as far as it can be without encoding the table."""

    table: Table  # the table
    # as they were given, with steps that were read; they hold the key
    options: ProtectOptions = field(repr=False)
    columns: SettledColumns  # the roles of the columns
    diverse: Sequence[str]  # the sensitive columns that the demand holds for
    demand: Demand  # the guarantee
    key: bytes | None = field(repr=False)  # the bytes from which pseudonyms are derived

    def without_nested(self) -> Request:
        """The request with columns of lists and records removed, unless they have a role."""
        nested = self.columns.without_role(self.table.nested)
        if not nested:
            return self
        note = f"set aside, for lists and records are not looked into: {', '.join(nested)}"
        removed, notes = [*self.columns.removed, *nested], [*self.columns.notes, note]
        return replace(self, columns=replace(self.columns, removed=removed, notes=notes))

    def pose_problem(self, progress: Progress) -> Problem:
        """Encode the columns and read what is asked about their values: hierarchies and k-map."""
        options, table = self.options, self.table
        self._refuse_conflicts()
        columns = encode(table, self.columns.quasi_identifiers)
        nominal = options.nominal or ()
        columns = [as_nominal(column) if column.name in nominal else column for column in columns]
        check_values(columns)
        hierarchies = _read_hierarchies(options.hierarchies, columns)
        return Problem(
            columns,
            table.rows,
            _with_population(self.demand, options, columns, table.rows, hierarchies),
            encode(table, self.diverse) if self.diverse else (),
            settle_aim(options.aim, columns),
            hierarchies,
            options,
            progress,
            table=table,
        )

    def _refuse_conflicts(self) -> None:
        """Refuse options that exclude each other."""
        options = self.options
        if options.output is None:
            return
        if PROTECTION_METHODS[options.method].perturbs:
            raise InputError(
                "perturbed columns are values of their own type already; leave the output out", hint="output"
            )
        if options.population_table is not None:
            raise UnsupportedError("k-map is counted by ranges and sets; leave the output out", hint="output")


def read_request(data: TableLike, options: ProtectOptions) -> Request:
    """Read the options of `protect`; refuse those that are impossible, exclude each other or do not fit the table."""
    method = require_method(options)
    _check_options(options)
    key = _read_key(options)
    table = read_table(data)
    if method.perturbs:
        options = replace(options, steps=read_steps(options.steps or (), table))
    secrets = require_sensitive(table, options.sensitive)
    left_out_secrets = [name for name in secrets if name in (options.leave_out or ())]
    quasi_identifiers = check_columns(table, options.quasi_identifiers, secrets, options.person)
    # classes are formed with a secret that others may know: none can be asked to hold several of its values
    sensitive = [name for name in secrets if name not in {*left_out_secrets, *quasi_identifiers}]
    demand = _read_demand(options)
    diverse = _read_diverse(table, options.diverse, sensitive)
    check_demand(demand, table.rows, diverse, method)
    check_wishes(quasi_identifiers, options, demand)
    in_steps = _columns_of_steps(options)
    described = {*quasi_identifiers, *sensitive} if method.perturbs else in_steps | _described_columns(options)
    columns = settle_columns(
        *(table, quasi_identifiers, sensitive, left_out_secrets, options),
        described=described,
        in_steps=in_steps if method.perturbs else (),
    )
    if method.perturbs:
        options = replace(options, steps=_settle_people_of_steps(options.steps or (), table, columns))
    return Request(table, options, columns, diverse, demand, key)


def _check_options(options: ProtectOptions) -> None:
    """Refuse values of options that say nothing, whatever the table."""
    if not 0.0 <= float(options.suppress) < 1.0:
        raise InputError(f"at most a share of {options.suppress:g} of the rows suppressed; give 0 or more, below 1")
    if options.measure is not None and options.measure not in MEASURES:
        raise InputError(f"there is no measure {options.measure!r}; use {', '.join(MEASURES)}", hint="measure")
    populations = (options.population_table is not None) + (options.population is not None)
    if populations != (options.k_map is not None):
        raise InputError(
            "k-map counts people of a population: give how many a class must cover, and either a table of everybody or "
            "how many people the table is a random sample of",
            hint=("k_map", "population_table", "population"),
        )
    if options.k_map is not None:
        require_whole("k of k-map", options.k_map, 1)
    if options.subsets is not None:
        if not options.wildcards:
            raise InputError(
                "k by subsets of columns is counted with blanks as wildcards; ask for both", hint="wildcards"
            )
        require_whole("the size of subsets", options.subsets, 1)


def _read_key(options: ProtectOptions) -> bytes | None:
    """The key of pseudonyms; refuses people with k-map, and a key without people."""
    if options.person is not None and options.k_map is not None:
        raise UnsupportedError(
            "k-map counts records as people and is not for histories of people; leave the person column or k-map out",
            hint=("person", "k_map"),
        )
    if options.key is None:
        return None
    if options.person is None:
        raise InputError("a key is for pseudonyms of people; name the person column", hint="person")
    return read_key(options.key)


def _read_demand(options: ProtectOptions) -> Demand:
    """The guarantee that is asked for."""
    t = options.t
    if isinstance(t, str) and t != "bound":
        raise InputError(f"t must be a number above 0 and at most 1, or 'bound'; {t!r} was given")
    return Demand(
        options.k,
        options.l,
        options.diversity,
        options.c,
        None if isinstance(t, str) else t,
        asks_t=t is not None,
        beta=options.beta,
        delta=options.delta,
        wildcards=options.wildcards,
        subsets=options.subsets,
        k_map=options.k_map,
    )


def _read_diverse(table: Table, diverse: Sequence[str] | None, sensitive: Sequence[str]) -> Sequence[str]:
    """The sensitive columns that the demand holds for."""
    if not diverse:
        return sensitive
    names = require_sensitive(table, diverse)
    if missing := [name for name in names if name not in sensitive]:
        raise InputError(
            f"{missing[0]!r} is to be diverse, and is not among the sensitive columns that nobody outside knows",
            hint="sensitive",
        )
    return names


def _columns_of_steps(options: ProtectOptions) -> set[str]:
    """The columns that steps of masking or perturbation change."""
    steps = options.steps or ()
    if options.method == "perturb":
        return {name for step in steps for name in step.columns}
    if not all(
        isinstance(step, tuple | list)
        and len(step) == 2
        and isinstance(step[0], str)
        and isinstance(step[1], str | Hierarchy)
        for step in steps
    ):
        raise InputError("a step of masking is a pair of a column and what to do: ('age', 'ranges=20')", hint="step")
    return {name for name, _ in steps}


def _described_columns(options: ProtectOptions) -> set[str]:
    """The columns whose values an option describes."""
    of_method = options.resolution, options.levels, options.top, options.bottom
    by_column = options.hierarchies, options.widest, options.output, *of_method
    return {name for value in by_column if isinstance(value, Mapping) for name in value}


def _settle_people_of_steps(steps: Sequence[Any], table: Table, settled: SettledColumns) -> list[Any]:
    """Give the table's person column to date shifts that name none.

    Raises:
        InputError: the column that a step names would be released as it is.
    """
    settled_steps = []
    for step in steps:
        if isinstance(step, ShiftDates) and step.person is None:
            step = replace(step, person=settled.person)
        person = step.person if isinstance(step, ShiftDates) else None
        hidden_columns = [*settled.removed, settled.person]
        if person is not None and table.require([person], "person column of a step")[0] not in hidden_columns:
            raise InputError(
                f"{person!r} tells a step whose record it is, and would be released as it is; name it as the person "
                "column, so that people get pseudonyms, or as an identifier, so that it is removed",
                hint=("person", "identifiers"),
            )
        settled_steps.append(step)
    return settled_steps


def _read_hierarchies(given: Mapping[str, Any] | None, columns: Sequence[Coded]) -> dict[str, Hierarchy]:
    """The given hierarchies, and the hierarchy of places for columns of place codes without one."""
    require_known("a hierarchy", given or (), [column.name for column in columns])
    places = {column.name: Hierarchy.places() for column in columns if column.scale == "place"}
    return places | {
        name: hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.parse(hierarchy)
        for name, hierarchy in (given or {}).items()
    }


def _with_population(
    demand: Demand,
    options: ProtectOptions,
    columns: Sequence[Coded],
    rows: int,
    hierarchies: Mapping[str, Hierarchy],
) -> Demand:
    """The demand with the population that k-map counts: a table of everybody, or only its size."""
    if options.population_table is not None:
        return replace(demand, population=read_population(options.population_table, columns, hierarchies))
    if options.population is None:
        return demand
    ranges = sum(column.has_distances and column.name not in hierarchies for column in columns)
    boundary_records = 0 if options.method == "generalise" else 2 * ranges
    return _with_sample(demand, RandomSample.of(rows, options.population), boundary_records)


def _with_sample(demand: Demand, sample: RandomSample, boundary_records: int) -> Demand:
    """The demand with the class size that k-map needs by an estimate.

    `boundary_records` are the records of a class that only define the ends of its ranges (see `edges_of_classes`).
    """
    assert demand.k_map is not None
    k = max(demand.k, min(demand.k_map, sample.smallest_class(demand.k_map) + boundary_records))
    if k > sample.records:
        raise InputError(
            f"a k-map of {demand.k_map:,} takes, by an estimate, classes of more than the {sample.records:,} records "
            "that there are; ask for less",
            hint="k_map",
        )
    return replace(demand, k=k, sample=sample)
