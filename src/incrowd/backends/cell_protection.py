"""Protecting rows where they are held: what the room that protects tables hands to a backend, and gets back.

The backend cuts the rows into cells and sends each cell to a worker; how the rows of a cell are protected, and whether
the result keeps its promise, is decided by whoever calls it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends.encode import Coded

if TYPE_CHECKING:
    from incrowd.backends.base import Backend

Checked = TypeVar("Checked")


class CellProtection(Protocol):
    """Rule by which rows are protected, cell by cell; it is sent to the workers by pickle.

    `columns` are the quasi-identifiers of some rows as codes of the values of the whole table.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""

    @property
    def values(self) -> tuple[pa.Array, ...]:
        """The values of every quasi-identifier in the whole table, in order."""

    @property
    def sensitive(self) -> str | None:
        """The sensitive column, if there is one."""

    @property
    def sensitive_values(self) -> pa.Array | None:
        """The values of the sensitive column in the whole table, in order."""

    def points(self, columns: list[Coded]) -> NDArray[np.float32]:
        """Every row's coordinates, by which near rows are put into one cell."""

    def distances(self, columns: list[Coded]) -> NDArray[np.float64]:
        """Every row's distance to zero, by which rows are ranked."""

    def protect(
        self, columns: list[Coded], sensitive: Coded | None, classes: NDArray[np.int64] | None
    ) -> dict[str, pa.Array]:
        """The protected quasi-identifiers of the rows of a cell as text; `classes`, where rows have theirs already."""

    def written_values(self) -> list[pa.Array]:
        """The values of every quasi-identifier as they are written where they are not changed."""


@dataclass(frozen=True, slots=True)
class TreeCells:
    """Rows of a cell are near each other: cells of a k-d tree, which `protect` makes classes of.

    Attributes:
        fewest_rows: cells with fewer rows are joined to their neighbours.
        is_enough: whether a cell may stand alone, from how often each sensitive value occurs in it; joined otherwise.
    """

    fewest_rows: int
    is_enough: Callable[[NDArray[Any]], bool] | None = None


@dataclass(frozen=True, slots=True)
class RankedCells:
    """Rows are ranked by their distance, and classes are numbered before `protect`.

    Attributes:
        class_size: rows of a class.
        by_sensitive: a class takes one row of each of `class_size` strata of the sensitive value, all of one rank;
            otherwise rows that follow each other.
    """

    class_size: int
    by_sensitive: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """Values of a column of the whole table, in order, with their counts."""

    column: Coded
    counts: NDArray[np.int64]


Plan = Callable[[Sequence[ColumnValues]], tuple[CellProtection, TreeCells | RankedCells]]
"""Decides how rows are protected from the values of the quasi-identifiers, and of the sensitive column at the end."""


@dataclass(frozen=True, slots=True, eq=False)
class CellJob(Generic[Checked]):
    """Request to a backend to protect rows.

    Attributes:
        names: the quasi-identifiers.
        sensitive: the sensitive column, if there is one.
        plan: decides how rows are protected, from the values of the columns.
        check: looks at the protected table before it gets its name; raises if it is not what was promised.
        removed: columns to leave out.
        out: the folder of Parquet files to write.
        force: replace what is there.
        progress: told how far the work is.
    """

    names: Sequence[str]
    sensitive: str | None
    plan: Plan
    check: Callable[[Backend], Checked]
    removed: Sequence[str] = ()
    out: str | os.PathLike[str] | None = None
    force: bool = False
    progress: Progress = silent


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedCells(Generic[Checked]):
    """Result of protecting rows where they are held.

    Attributes:
        frame: the protected rows, as the engine's own frame.
        cells: how many cells a tree cut the rows into; None where they were ranked.
        changed: how many cells of each quasi-identifier are no longer a single value.
        checked: what the check found.
    """

    frame: Any
    cells: int | None
    changed: dict[str, int]
    checked: Checked


@dataclass(frozen=True, slots=True)
class CellLimits:
    """Limits on what a driver and a worker hold at a time.

    Attributes:
        rows: rows of a cell, about.
        sample: distinct rows that cells are fitted on.
        values: values of all columns together, which every worker is told.
    """

    rows: int = 200_000
    sample: int = 100_000
    values: int = 5_000_000
