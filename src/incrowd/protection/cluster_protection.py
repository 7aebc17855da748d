"""Protecting a table whose rows are not here: its backend cuts it into cells, and workers protect them.

What the workers do with the rows of a cell, `CellRecoding`, is the code that protects tables on one machine. It is sent
to them by name, so that they need this package installed.
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
from incrowd.backends.cell_protection import CellJob, ColumnValues, RankedCells, TreeCells
from incrowd.backends.scales import Scale
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.measures import measure
from incrowd.protection.guarantee import Guarantee
from incrowd.protection.paper_methods import bound_on_t, distance_to_zero, strata_for
from incrowd.protection.partition import partition_classes
from incrowd.protection.problem import Demand, Problem, settle_aim
from incrowd.protection.recoding import Grouping, as_written, generalise_classes
from incrowd.protection.registry import METHODS
from incrowd.protection.release_warnings import warn_of_known_columns, warn_of_nearly_unique
from incrowd.protection.result import Protected
from incrowd.protection.validate import SettledColumns, check_values
from incrowd.tables import SuggestedRole, Table, suggest_roles

_CLASSES_A_CELL = 20  # a cell has at least so many classes


@dataclass(frozen=True, slots=True, eq=False)
class CellRecoding:
    """Local recoding of the rows of a cell, with the scales of the whole table.

    Attributes:
        names: the quasi-identifiers.
        values: their values in the whole table, in order.
        counts: how often each value occurs in the whole table.
        demand: what the protected table must satisfy.
        aim: the loss that classes are kept small by.
        scales: the scales that somebody has given the quasi-identifiers.
        sensitive: the sensitive column, if there is one.
        sensitive_values: its values in the whole table, in order.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    counts: tuple[NDArray[np.int64], ...]
    demand: Demand
    aim: str
    scales: tuple[Scale | None, ...]
    sensitive: str | None = None
    sensitive_values: pa.Array | None = None

    def points(self, columns: list[Coded]) -> NDArray[np.float32]:
        """Every row's scaled coordinates."""
        return self._problem(columns).points()

    def distances(self, columns: list[Coded]) -> NDArray[np.float64]:
        """Every row's distance to zero, which the paper's algorithms sort by."""
        return distance_to_zero(self._problem(columns))

    def protect(
        self, columns: list[Coded], sensitive: Coded | None, classes: NDArray[np.int64] | None
    ) -> dict[str, pa.Array]:
        """The protected quasi-identifiers of a cell as text: of given classes, or of those of the partition."""
        problem = self._problem(columns, sensitive)
        if classes is None:
            grouping = partition_classes(problem)
        else:
            _, sizes = np.unique(classes, return_counts=True)
            grouping = Grouping(np.argsort(classes, kind="stable"), np.cumsum(sizes))
        made = generalise_classes(problem, grouping).columns
        for column in columns:
            if column.name not in made:  # nothing changed in this cell, but it may have in others
                made[column.name] = as_written(column.values).take(pa.array(column.codes))
        return {name: column.cast(pa.string()) for name, column in made.items()}

    def written_values(self) -> list[pa.Array]:
        """The values of every quasi-identifier as they are written where they are not changed."""
        return [as_written(values) for values in self.values]

    def _problem(self, columns: list[Coded], sensitive: Coded | None = None) -> Problem:
        secrets = () if sensitive is None else (sensitive,)
        columns = [replace(column, stated=scale) for column, scale in zip(columns, self.scales, strict=True)]
        return Problem(columns, columns[0].codes.size, self.demand, secrets, self.aim, tallies=self.counts)


def protect_in_cluster(
    table: Table,
    settled: SettledColumns,
    demand: Demand,
    *,
    method: str,
    recoded: bool,
    aim: str | None,
    warn: bool,
    out: str | os.PathLike[str] | None,
    force: bool,
    progress: Progress,
) -> Protected:
    """Protect a table in its cluster and let the workers write it; it gets its name when the guarantee was counted.

    `recoded` tells that hierarchies, wishes or kinds of output are asked for; with `warn`, notes tell of kept columns
    that somebody may know.
    """
    _check_columns(table, settled, recoded=recoded)
    _check_demand(demand, method)
    names, removed = settled.known, settled.removed
    sensitive = settled.secrets[0] if settled.secrets else None
    left = settled.without_role(table.columns) if warn else []
    work = _Work(tuple(names), demand, method, sensitive, aim, left, table.rows, table.scales)
    job = CellJob(names, sensitive, work.plan, work.check, removed, out, force, progress)
    cells = table.backend.protect_cells(job)
    found = cells.checked
    if cells.cells is not None:
        work.settings["cells"] = cells.cells
    return Protected(
        table=cells.frame,
        method=method,
        quasi_identifiers=tuple(names),
        demand=demand,
        guarantee=found.guarantee,
        classes=found.classes,
        changed_cells=cells.changed,
        rows=table.rows,
        suppressed_rows=0,
        removed=tuple(removed),
        notes=(
            *settled.notes,
            *found.warnings,
            *warn_of_nearly_unique(((one.column, one.distinct) for one in found.roles), table.rows),
            "quasi-identifiers are written as text, and rows in no particular order",
            "detail kept and information loss are measured row by row, which a cluster does not do; protect and "
            "evaluate a sample on this machine to see them",
        ),
        settings=work.settings,
        sensitive=(sensitive,) if sensitive else (),
        kept_column_warnings=found.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Checked:
    """Guarantee as counted on the protected table."""

    guarantee: Guarantee
    classes: ClassSizes
    roles: tuple[SuggestedRole, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Request to the backend: how rows are protected, and what the result must satisfy."""

    names: tuple[str, ...]
    demand: Demand
    method: str
    sensitive: str | None
    aim: str | None
    left: Sequence[str]
    rows: int
    scales: Mapping[str, Scale]
    settings: dict[str, Any] = field(default_factory=dict)

    def plan(self, columns: Sequence[ColumnValues]) -> tuple[CellRecoding, TreeCells | RankedCells]:
        """Rule by which rows are protected, made from the values of the columns."""
        known = columns[: len(self.names)]
        check_values([one.column for one in known])
        recoding = CellRecoding(
            self.names,
            tuple(one.column.values for one in known),
            tuple(one.counts for one in known),
            self.demand,
            settle_aim(self.aim, [one.column for one in known]),
            tuple(one.column.stated for one in known),
            self.sensitive,
            columns[-1].column.values if self.sensitive else None,
        )
        if self.method == "partition":
            is_diverse = self._is_diverse if self.demand.l is not None else None
            return recoding, TreeCells(_CLASSES_A_CELL * self.demand.smallest, is_diverse)
        if self.method == "sorted":
            return recoding, RankedCells(self.demand.k)
        self.settings["strata"] = strata_for(self.rows, self.demand.k, self.demand.t)
        return recoding, RankedCells(self.settings["strata"], by_sensitive=True)

    def _is_diverse(self, counts: NDArray[Any]) -> bool:
        """True if rows are l-diverse, from how often each sensitive value occurs among them."""
        shares = counts[counts > 0] / counts.sum()
        reached = np.exp(-(shares @ np.log(shares))) if self.demand.diversity == "entropy" else shares.size
        return bool(reached >= (self.demand.l or 0))

    def check(self, backend: Backend) -> _Checked:
        """Count the protected table as it is, and stop if it is not what was asked, or not all of it."""
        written = Table(backend)
        backend.scales.update({name: scale for name, scale in self.scales.items() if name == self.sensitive})
        bound = bound_on_t(self.rows, self.settings["strata"]) if self.method == "tcloseness" else None
        guarantee, classes = self._count_guarantee(written, bound)
        if not guarantee.holds or classes.records != self.rows:
            wrong = "; ".join(guarantee.broken) or f"{classes.records:,} of {self.rows:,} rows were written"
            raise UnsupportedError(f"{self.method} cannot give what was asked: {wrong}; nothing was written")
        roles = suggest_roles(written, self.left) if self.left else ()
        warnings = tuple(warn_of_known_columns(written, self.names, roles, guarantee.k))
        return _Checked(guarantee, classes, roles, warnings)

    def _count_guarantee(self, written: Table, bound: float | None) -> tuple[Guarantee, ClassSizes]:
        demand, sensitive = self.demand, [self.sensitive] if self.sensitive else []
        found = measure(written, quasi_identifiers=self.names, sensitive=sensitive)
        facts = found.sensitive[0] if found.sensitive else None
        reached = None
        if facts is not None and demand.l is not None:
            reached = facts.entropy_l if demand.diversity == "entropy" else float(facts.distinct)
        kind = demand.diversity if demand.l is not None else None
        distance = facts.t if facts is not None else None
        return Guarantee(demand.k, found.k, demand.l, reached, kind, demand.t, distance, bound), found.sizes


def _check_columns(table: Table, settled: SettledColumns, *, recoded: bool) -> None:
    """Refuse columns and ways to write them that a cluster does not have."""
    if settled.person is not None or recoded:
        what = "people with several records are" if settled.person is not None else "hierarchies and wishes are"
        raise UnsupportedError(f"{what} not looked at in a cluster; protect records, without hierarchies and wishes")
    if places := [name for name in settled.known if table.scale_of(name) == "place"]:
        raise UnsupportedError(
            f"{places[0]!r} holds codes of places, and a cluster makes no prefixes; state it as nominal", hint="scales"
        )
    if len(settled.secrets) > 1:
        raise UnsupportedError(
            f"{len(settled.secrets)} sensitive columns at once are not protected in a cluster; give one"
        )


def _check_demand(demand: Demand, method: str) -> None:
    """Refuse what is not done in a cluster."""
    if demand.k_map is not None:
        raise UnsupportedError("k-map is not counted in a cluster; protect a sample here")
    if demand.limits_shares:
        raise UnsupportedError("beta and delta are not looked at in a cluster; ask for t there")
    if not METHODS[method].runs_in_cluster:
        possible = ", ".join(name for name, entry in METHODS.items() if entry.runs_in_cluster)
        raise UnsupportedError(f"{method!r} is not done in a cluster; use {possible}", hint="method")
    if method == "partition" and demand.by_strata:
        raise UnsupportedError(
            "t-closeness in a cluster is that of S4; use method='tcloseness'", hint="method=tcloseness"
        )
    if method == "tcloseness" and demand.l is not None:
        raise UnsupportedError("l-diversity in a cluster is that of the partition; ask for t or for l")
    if demand.diversity == "recursive" and demand.l is not None:
        raise UnsupportedError("recursive l-diversity is not counted in a cluster; use distinct or entropy")
