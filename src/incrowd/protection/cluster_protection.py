"""Protecting a table in a cluster: its backend cuts the table into blocks, and workers protect the rows of each block.

Workers run the same code as one machine does (`BlockRecoding`). It is pickled by name, so that they need this package
installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress
from incrowd.backends import Backend, Coded
from incrowd.backends.block_protection import BlockJob, ColumnValues, RankedBlocks, TreeBlocks
from incrowd.backends.scales import Scale
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import measure
from incrowd.protection.guarantee import Guarantee
from incrowd.protection.paper_methods import bound_on_t, distance_to_zero, strata_for
from incrowd.protection.partition import partition_classes
from incrowd.protection.problem import Demand, Problem, check_values, settle_aim
from incrowd.protection.protect_options import WISHES
from incrowd.protection.recoding import Grouping, generalise_classes
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.protection.release_warnings import warn_of_known_columns, warn_of_nearly_unique
from incrowd.protection.request import Request
from incrowd.protection.result import Protected
from incrowd.tables import SuggestedRole, Table, suggest_roles
from incrowd.tables.released_values import as_written

_CLASSES_A_BLOCK = 20  # the fewest classes in a block


@dataclass(frozen=True, slots=True, eq=False)
class BlockRecoding:
    """Local recoding of the rows of a block, with the scales of the whole table."""

    names: tuple[str, ...]  # the quasi-identifiers
    values: tuple[pa.Array, ...]  # their values in the whole table, in order
    counts: tuple[NDArray[np.int64], ...]  # how often each value occurs in the whole table
    demand: Demand  # what the protected table must satisfy
    aim: str  # the loss that classes keep small
    scales: tuple[Scale | None, ...]  # the scales that the user stated for the quasi-identifiers
    sensitive: str | None = None  # the sensitive column, if there is one
    sensitive_values: pa.Array | None = None  # its values in the whole table, in order

    def points(self, columns: list[Coded]) -> NDArray[np.float32]:
        """Every row's scaled coordinates."""
        return self._problem(columns).points()

    def distances(self, columns: list[Coded]) -> NDArray[np.float64]:
        """Every row's distance to zero, the sort key of the paper's algorithms."""
        return distance_to_zero(self._problem(columns))

    def protect(
        self, columns: list[Coded], sensitive: Coded | None, classes: NDArray[np.int64] | None
    ) -> dict[str, pa.Array]:
        """The protected quasi-identifiers of a block as text, by the given classes (None: those of the partition)."""
        problem = self._problem(columns, sensitive)
        grouping = partition_classes(problem) if classes is None else Grouping.by_class(classes)
        recoded = generalise_classes(problem, grouping).columns
        for column in columns:
            if column.name not in recoded:  # unchanged in this block, but perhaps not in others
                recoded[column.name] = as_written(column.values).take(pa.array(column.codes))
        return {name: column.cast(pa.string()) for name, column in recoded.items()}

    def written_values(self) -> list[pa.Array]:
        """The values of every quasi-identifier as unchanged cells show them."""
        return [as_written(values) for values in self.values]

    def _problem(self, columns: list[Coded], sensitive: Coded | None = None) -> Problem:
        sensitive_columns = () if sensitive is None else (sensitive,)
        columns = [replace(column, stated=scale) for column, scale in zip(columns, self.scales, strict=True)]
        return Problem(columns, columns[0].codes.size, self.demand, sensitive_columns, self.aim, tallies=self.counts)


def protect_in_cluster(
    request: Request, *, warn: bool, out: str | os.PathLike[str] | None, force: bool, progress: Progress
) -> Protected:
    """Protect a table in its cluster; the workers write it, and it gets its name after the guarantee was counted.

    With `warn`, notes name kept columns that an attacker may know.
    """
    _check_request(request)
    _check_demand(request.demand, request.options.method)
    table, settled, demand, method = request.table, request.columns, request.demand, request.options.method
    names, removed = settled.quasi_identifiers, settled.removed
    sensitive = settled.sensitive[0] if settled.sensitive else None
    kept = settled.without_role(table.columns) if warn else []
    callbacks = _ClusterJob(
        tuple(names), demand, method, sensitive, request.options.aim, kept, table.rows, table.scales
    )
    job = BlockJob(names, sensitive, callbacks.plan, callbacks.check, removed, out, force, progress)
    done = table.backend.protect_blocks(job)
    checked = done.checked
    if done.blocks is not None:
        callbacks.settings["cells"] = done.blocks
    return Protected(
        table=done.frame,
        method=method,
        quasi_identifiers=tuple(names),
        demand=demand,
        guarantee=checked.guarantee,
        classes=checked.classes,
        changed_cells=done.changed,
        rows=table.rows,
        suppressed_rows=0,
        removed=tuple(removed),
        notes=(
            *settled.notes,
            *checked.warnings,
            *warn_of_nearly_unique(((one.column, one.distinct) for one in checked.roles), table.rows),
            "quasi-identifiers are written as text, and rows in no particular order",
            "detail kept and information loss are measured row by row, which a cluster does not do; protect and "
            "evaluate a sample on this machine to see them",
        ),
        settings=callbacks.settings,
        sensitive=(sensitive,) if sensitive else (),
        kept_column_warnings=checked.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Checked:
    """Guarantee and class sizes counted on the protected table, and the roles and warnings of its kept columns."""

    guarantee: Guarantee
    classes: ClassSizes
    roles: tuple[SuggestedRole, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _ClusterJob:
    """The two callbacks of a block job: `plan` chooses how rows are protected, `check` counts the result."""

    names: tuple[str, ...]
    demand: Demand
    method: str
    sensitive: str | None
    aim: str | None
    kept: Sequence[str]
    rows: int
    scales: Mapping[str, Scale]
    settings: dict[str, Any] = field(default_factory=dict)

    def plan(self, columns: Sequence[ColumnValues]) -> tuple[BlockRecoding, TreeBlocks | RankedBlocks]:
        """Choose how rows are recoded and how the table is cut into blocks, from the values of the columns."""
        quasi_identifiers = columns[: len(self.names)]
        check_values([one.column for one in quasi_identifiers])
        recoding = BlockRecoding(
            self.names,
            tuple(one.column.values for one in quasi_identifiers),
            tuple(one.counts for one in quasi_identifiers),
            self.demand,
            settle_aim(self.aim, [one.column for one in quasi_identifiers]),
            tuple(one.column.stated for one in quasi_identifiers),
            self.sensitive,
            columns[-1].column.values if self.sensitive else None,
        )
        if self.method == "partition":
            is_diverse = self._is_diverse if self.demand.l is not None else None
            return recoding, TreeBlocks(_CLASSES_A_BLOCK * self.demand.smallest, is_diverse)
        if self.method == "sorted":
            return recoding, RankedBlocks(self.demand.k)
        self.settings["strata"] = strata_for(self.rows, self.demand.k, self.demand.t)
        return recoding, RankedBlocks(self.settings["strata"], by_sensitive=True)

    def _is_diverse(self, counts: NDArray[Any]) -> bool:
        """True if rows with these counts of sensitive values are l-diverse."""
        shares = counts[counts > 0] / counts.sum()
        reached = np.exp(-(shares @ np.log(shares))) if self.demand.diversity == "entropy" else shares.size
        return bool(reached >= (self.demand.l or 0))

    def check(self, backend: Backend) -> _Checked:
        """Count the guarantee on the written table; refuse a table that misses it or lacks rows."""
        written = Table(backend)
        backend.scales.update({name: scale for name, scale in self.scales.items() if name == self.sensitive})
        bound = bound_on_t(self.rows, self.settings["strata"]) if self.method == "tcloseness" else None
        guarantee, classes = self._count_guarantee(written, bound)
        if not guarantee.holds or classes.records != self.rows:
            reason = "; ".join(guarantee.broken) or f"{classes.records:,} of {self.rows:,} rows were written"
            raise UnsupportedError(f"{self.method} cannot give what was asked: {reason}; nothing was written")
        roles = suggest_roles(written, self.kept) if self.kept else ()
        warnings = tuple(warn_of_known_columns(written, self.names, roles, guarantee.k))
        return _Checked(guarantee, classes, roles, warnings)

    def _count_guarantee(self, written: Table, bound: float | None) -> tuple[Guarantee, ClassSizes]:
        demand, sensitive = self.demand, [self.sensitive] if self.sensitive else []
        measured = measure(written, quasi_identifiers=self.names, sensitive=sensitive)
        facts = measured.sensitive[0] if measured.sensitive else None
        reached_l = None
        if facts is not None and demand.l is not None:
            reached_l = facts.entropy_l if demand.diversity == "entropy" else float(facts.distinct)
        kind = demand.diversity if demand.l is not None else None
        distance = facts.t if facts is not None else None
        filled = None if facts is None else facts.filled_distinct
        return Guarantee(
            *(demand.k, measured.k, demand.l, reached_l, kind, demand.t, distance, bound), filled_l=filled
        ), measured.sizes


def _check_request(request: Request) -> None:
    """Refuse options that a cluster does not take: orders of rows, keys, people, recoding and several secrets."""
    settled, options = request.columns, request.options
    if options.shuffle is not None:
        raise InputError("shuffle= is for tables on this machine; rows in a cluster have no order")
    if request.key is not None:
        raise UnsupportedError("pseudonyms under a key are made on this machine, not in a cluster")
    if request.diverse != settled.sensitive:
        raise UnsupportedError("in a cluster a demand holds for all sensitive columns", hint="diverse")
    wishes = [getattr(options, name) for name in WISHES if name != "aim"]
    if settled.person is not None or options.output or any(wishes):
        refused = "people with several records are" if settled.person is not None else "hierarchies and wishes are"
        raise UnsupportedError(f"{refused} not looked at in a cluster; protect records, without hierarchies and wishes")
    if places := [name for name in settled.quasi_identifiers if request.table.scale_of(name) == "place"]:
        raise UnsupportedError(
            f"{places[0]!r} holds codes of places, and a cluster makes no prefixes; state it as nominal", hint="scales"
        )
    if len(settled.sensitive) > 1:
        raise UnsupportedError(
            f"{len(settled.sensitive)} sensitive columns at once are not protected in a cluster; give one"
        )


def _check_demand(demand: Demand, method: str) -> None:
    """Refuse demands and methods that a cluster does not support."""
    if demand.k_map is not None:
        raise UnsupportedError("k-map is not counted in a cluster; protect a sample here")
    if demand.limits_shares:
        raise UnsupportedError("beta and delta are not looked at in a cluster; ask for t there")
    if not PROTECTION_METHODS[method].runs_in_cluster:
        possible = ", ".join(name for name, entry in PROTECTION_METHODS.items() if entry.runs_in_cluster)
        raise UnsupportedError(f"{method!r} is not done in a cluster; use {possible}", hint="method")
    if method == "partition" and demand.asks_t:
        raise UnsupportedError(
            "t-closeness in a cluster is that of S4; use method='tcloseness'", hint="method=tcloseness"
        )
    if method == "tcloseness" and demand.l is not None:
        raise UnsupportedError("l-diversity in a cluster is that of the partition; ask for t or for l")
    if demand.diversity == "recursive" and demand.l is not None:
        raise UnsupportedError("recursive l-diversity is not counted in a cluster; use distinct or entropy")
