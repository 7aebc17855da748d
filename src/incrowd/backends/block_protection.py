"""Interface between the protection room and backends that protect rows in their engine.

A block is some rows that one worker protects. The backend divides the rows into blocks and sends each to a worker.
The caller decides how a block is protected and checks the guarantee of the result.
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


class BlockProtection(Protocol):
    """Rule for protecting the rows of a block; it is pickled and sent to the workers.

    In its methods, `columns` are the quasi-identifiers of some rows, with codes of the values of the whole table.
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
        """The coordinates of every row, for the k-d tree that puts near rows into one block."""

    def distances(self, columns: list[Coded]) -> NDArray[np.float64]:
        """The distance of every row from the origin, by which rows are ranked."""

    def protect(
        self, columns: list[Coded], sensitive: Coded | None, classes: NDArray[np.int64] | None
    ) -> dict[str, pa.Array]:
        """The protected quasi-identifiers of a block, as text; `classes` are the rows' classes if already assigned."""

    def written_values(self) -> list[pa.Array]:
        """The text that is written for each unchanged value of every quasi-identifier."""


@dataclass(frozen=True, slots=True)
class TreeBlocks:
    """Blocks are the leaves of a k-d tree, so that their rows are near each other; `protect` cuts them into classes."""

    fewest_rows: int  # blocks with fewer rows are merged with their neighbours
    # True if a block with these counts of sensitive values need not be merged with its neighbours
    is_enough: Callable[[NDArray[Any]], bool] | None = None


@dataclass(frozen=True, slots=True)
class RankedBlocks:
    """Rows are ranked by their distance from the origin, and classes are assigned before `protect`."""

    class_size: int  # number of rows of a class
    # True if a class has one row from each of `class_size` strata of the sensitive value, all with the same rank within
    # their stratum; False if it has consecutive rows
    by_sensitive: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """Values of a column of the whole table, in order, with their counts."""

    column: Coded
    counts: NDArray[np.int64]


Plan = Callable[[Sequence[ColumnValues]], tuple[BlockProtection, TreeBlocks | RankedBlocks]]
"""Function of the values of the quasi-identifiers, followed by the sensitive column's, that chooses the protection."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockJob(Generic[Checked]):
    """Request to a backend to protect rows."""

    names: Sequence[str]  # the quasi-identifiers
    sensitive: str | None  # the sensitive column, if there is one
    plan: Plan  # chooses the protection from the values of the columns
    # checks the guarantee on the protected table before the folder gets its name; raises if it is not met
    check: Callable[[Backend], Checked]
    removed: Sequence[str] = ()  # columns to leave out
    out: str | os.PathLike[str] | None = None  # the folder of Parquet files to write
    force: bool = False  # replace an existing folder
    progress: Progress = silent  # progress callback


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedBlocks(Generic[Checked]):
    """Result of protecting rows in an engine."""

    frame: Any  # the protected rows, as the engine's own frame
    blocks: int | None  # number of blocks of the k-d tree; None if rows were ranked
    changed: dict[str, int]  # for each quasi-identifier, the number of records whose value was generalised
    checked: Checked  # what the check returned


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """Limits on the data that the driver or a worker holds at a time."""

    rows: int = 200_000  # approximate number of rows of a block
    sample: int = 100_000  # number of distinct rows that the k-d tree is fitted on
    values: int = 5_000_000  # number of distinct values of all columns together; they are sent to every worker
