"""The request of `protect`: read and checked before any work, and posed as the problem that a method solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from incrowd._support.progress import Progress
from incrowd.backends import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures.missing_cells import find_skip_groups
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.k_map import RandomSample, read_population
from incrowd.protection.keys import read_key
from incrowd.protection.method_options import (
    BlankOptions,
    GeneraliseOptions,
    MaskOptions,
    MethodKeywords,
    MethodOptions,
    PartitionOptions,
    PerturbOptions,
)
from incrowd.protection.perturbation.date_shift import ShiftDates
from incrowd.protection.perturbation.perturb import read_steps
from incrowd.protection.problem import Demand, Problem, Wishes, check_values, require_known, settle_aim
from incrowd.protection.protect_options import ProtectKeywords
from incrowd.protection.recoding import as_nominal
from incrowd.protection.registry import PROTECTION_METHODS, choose_method
from incrowd.protection.validate import (
    SettledColumns,
    check_columns,
    check_demand,
    check_wishes,
    read_wishes,
    require_sensitive,
    settle_columns,
)
from incrowd.tables import Table, TableLike, read_table


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What `protect` is asked for, checked as far as it can be without encoding the table."""

    table: Table  # the table
    # the options as they were given
    asked: ProtectKeywords = field(repr=False)  # holds the key
    method: str  # the name of the method
    options: MethodOptions | None  # the method's own options
    columns: SettledColumns  # the roles of the columns
    diverse: Sequence[str]  # the sensitive columns that the demand holds for
    demand: Demand  # the guarantee
    wishes: Wishes  # constraints on the result
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
        """Encode the columns and read what is asked about their values: hierarchies, k-map, who was asked."""
        asked, table, apart = self.asked, self.table, self.wishes.apart
        self._refuse_conflicts()
        columns = encode(table, self.columns.quasi_identifiers)
        columns = [as_nominal(one) if one.name in (asked["nominal"] or ()) else one for one in columns]
        check_values(columns)
        hierarchies = _read_hierarchies(asked["hierarchies"], columns)
        return Problem(
            columns,
            table.rows,
            _with_population(self.demand, self.options, columns, table.rows, hierarchies),
            encode(table, self.diverse) if self.diverse else (),
            settle_aim(asked["aim"], columns),
            hierarchies,
            self.options,
            progress,
            wishes=self.wishes,
            table=table,
            asked=find_skip_groups(encode(table, apart), columns) if apart else (),
        )

    def _refuse_conflicts(self) -> None:
        """Refuse options that exclude each other."""
        if removed := [name for name in self.wishes.apart if name in self.columns.removed]:
            raise InputError(
                f"{', '.join(map(repr, removed))} is left out, and people are to be kept apart by it; choose one"
            )
        if self.asked["output"] is None:
            return
        if PROTECTION_METHODS[self.method].perturbs:
            raise InputError(
                "perturbed columns are values of their own type already; leave the output out", hint="output"
            )
        if isinstance(self.options, PartitionOptions) and self.options.population_table is not None:
            raise UnsupportedError("k-map is counted by ranges and sets; leave the output out", hint="output")


def read_request(data: TableLike, asked: ProtectKeywords, of_method: MethodKeywords) -> Request:
    """Read the options of `protect` and refuse those that are impossible, exclude each other or do not fit the table.

    Raises:
        TypeError: `of_method` holds an option that no method has.
    """
    if unknown := [name for name in of_method if name not in MethodKeywords.__annotations__]:
        raise TypeError(f"protect() got an unexpected keyword argument {unknown[0]!r}")
    given = {option: value for option, value in of_method.items() if value is not None}
    name, method, options = choose_method(asked["method"], given)
    key = _read_key(asked, options)
    table = read_table(data)
    if isinstance(options, PerturbOptions):
        options = replace(options, steps=read_steps(options.steps, table))
    secrets = require_sensitive(table, asked["sensitive"])
    left_out_secrets = [name for name in secrets if name in asked["leave_out"]]
    quasi_identifiers = check_columns(table, asked["quasi_identifiers"], secrets, asked["person"])
    # classes are formed with a secret that others may know: none can be asked to hold several of its values
    sensitive = [name for name in secrets if name not in {*left_out_secrets, *quasi_identifiers}]
    demand = _read_demand(asked, options)
    diverse = _read_diverse(table, asked["diverse"], sensitive)
    check_demand(demand, table.rows, diverse, method)
    wishes = read_wishes(table, quasi_identifiers, asked)
    if wishes:
        check_wishes(wishes, name, method, asked["person"], demand)
    in_steps = _columns_of_steps(options)
    described = {*quasi_identifiers, *sensitive} if method.perturbs else in_steps | _described_columns(asked, options)
    columns = settle_columns(
        *(table, quasi_identifiers, sensitive, left_out_secrets, asked),
        described=described,
        in_steps=in_steps if method.perturbs else (),
    )
    if isinstance(options, PerturbOptions):
        options = replace(options, steps=_settle_people_of_steps(options.steps, table, columns))
    return Request(table, asked, name, options, columns, diverse, demand, wishes, key)


def _read_key(asked: ProtectKeywords, options: MethodOptions | None) -> bytes | None:
    """The key of pseudonyms; refuses people with k-map, and a key without people."""
    if asked["person"] is not None and isinstance(options, PartitionOptions) and options.k_map is not None:
        raise UnsupportedError(
            "k-map counts records as people and is not for histories of people; leave the person column or k-map out",
            hint=("person", "k_map"),
        )
    if asked["key"] is None:
        return None
    if asked["person"] is None:
        raise InputError("a key is for pseudonyms of people; name the person column", hint="person")
    return read_key(asked["key"])


def _read_demand(asked: ProtectKeywords, options: MethodOptions | None) -> Demand:
    """The guarantee that is asked for."""
    t = asked["t"]
    if isinstance(t, str) and t != "bound":
        raise InputError(f"t must be a number above 0 and at most 1, or 'bound'; {t!r} was given")
    demand = Demand(
        asked["k"],
        asked["l"],
        asked["diversity"],
        asked["c"],
        None if isinstance(t, str) else t,
        asks_t=t is not None,
        beta=asked["beta"],
        delta=asked["delta"],
    )
    if isinstance(options, BlankOptions):
        return replace(demand, wildcards=options.wildcards, subsets=options.subsets)
    if isinstance(options, PartitionOptions) and options.k_map is not None:
        return replace(demand, k_map=options.k_map)
    return demand


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


def _columns_of_steps(options: MethodOptions | None) -> set[str]:
    """The columns that steps of masking or perturbation change."""
    if isinstance(options, PerturbOptions):
        return {name for step in options.steps for name in step.columns}
    if not isinstance(options, MaskOptions):
        return set()
    if not all(isinstance(step, tuple | list) and [*map(type, step)] == [str, str] for step in options.steps):
        raise InputError("a step of masking is a pair of a column and what to do: ('age', 'ranges=20')", hint="step")
    return {name for name, _ in options.steps}


def _described_columns(asked: ProtectKeywords, options: MethodOptions | None) -> set[str]:
    """The columns whose values an option describes."""
    of_method = {one.name: getattr(options, one.name) for one in fields(options)} if options is not None else {}
    of_method.pop("population_table", None)  # a mapping here is a table
    by_column = asked["hierarchies"], asked["widest"], asked["output"], *of_method.values()
    return {name for one in by_column if isinstance(one, Mapping) for name in one}


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
    options: MethodOptions | None,
    columns: Sequence[Coded],
    rows: int,
    hierarchies: Mapping[str, Hierarchy],
) -> Demand:
    """The demand with the population that k-map counts: a table of everybody, or only its size."""
    if not isinstance(options, PartitionOptions):
        return demand
    if options.population_table is not None:
        return replace(demand, population=read_population(options.population_table, columns, hierarchies))
    if options.population is None:
        return demand
    ranges = sum(column.has_distances and column.name not in hierarchies for column in columns)
    boundary_records = 0 if isinstance(options, GeneraliseOptions) else 2 * ranges
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
