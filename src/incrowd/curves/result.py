"""A measured curve: the share of people named correctly, by the size of the gallery."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from incrowd.curves.sub_galleries import gallery_sizes
from incrowd.errors import InputError
from incrowd.results import DataTable, Result, as_json
from incrowd.special import Floats
from incrowd.tables import Table, read_table, write_table
from incrowd.wording import percent

CurveKind = Literal["exact", "sparse", "robust", "published"]
_MOST_PEOPLE = 10**12
_MOST_ROWS = 12  # sizes of the gallery that are shown


@dataclass(frozen=True, slots=True, eq=False)
class Curve(Result):
    """Correctness (and uniqueness, if it exists) at ascending gallery sizes.

    `people` is the number of different people tested, which determines the noise of the points; 0 if it is not known,
    as for points of a publication. `covariance` is the covariance of the correctness between sizes, if it was measured.
    `how` names the source of the curve.

    >>> curve = Curve.from_points([100, 1000], [0.99, 0.80])
    >>> curve.sizes.tolist(), curve.kind
    ([100, 1000], 'published')
    """

    sizes: NDArray[np.int64]
    correctness: Floats
    uniqueness: Floats | None
    kind: CurveKind
    how: str
    people: int = 0
    notes: tuple[str, ...] = ()
    covariance: Floats | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"covariance"})

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The shares at about a dozen sizes of the gallery, from the smallest to the largest."""
        step = max(1, -(-self.sizes.size // _MOST_ROWS))
        columns = {
            "people in the gallery": self.sizes.tolist(),
            "named correctly": list(map(percent, self.correctness)),
        }
        if self.uniqueness is not None:
            columns["unique"] = list(map(percent, self.uniqueness))
        rows = tuple(zip(*columns.values(), strict=True))
        shown = (*rows[:-1:step], rows[-1])
        return (DataTable(f"Correctness by size of gallery, {self.kind} matching", (*columns,), shown),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The correctness in the largest gallery, and where it is from."""
        return (
            f"In a gallery of {self.sizes[-1]:,} an attacker names {percent(self.correctness[-1])} of people "
            f"correctly; measured from {self.how}.",
        )

    @classmethod
    def from_points(
        cls,
        sizes: ArrayLike,
        correctness: ArrayLike,
        *,
        uniqueness: ArrayLike | None = None,
        people: int = 0,
        how: str = "given points",
    ) -> Curve:
        """Make a curve from published or otherwise measured points; points are sorted, and repeated sizes averaged.

        Args:
            sizes: gallery sizes.
            correctness: share of people named correctly at each size.
            uniqueness: share of people who are unique at each size, if it was measured.
            people: how many people were tested; 0 if it is not known.
            how: the source of the points.

        Raises:
            InputError: sizes are not whole numbers of 1 or more, or shares are not from 0 to 1.
        """
        size = gallery_sizes(sizes)
        columns = [_shares(correctness, "correctness", size.size)]
        if uniqueness is not None:
            columns.append(_shares(uniqueness, "uniqueness", size.size))
        notes = []
        if np.any(np.diff(size) < 0):
            notes.append("the sizes were not in ascending order; they were sorted")
        distinct, where, count = np.unique(size, return_inverse=True, return_counts=True)
        if distinct.size < size.size:
            repeats = size.size - distinct.size
            notes.append(f"{repeats} repeated size{'s were' if repeats > 1 else ' was'} pooled into the mean")
        pooled = [np.bincount(where, column) / count for column in columns]
        rises = int(np.sum(np.diff(pooled[0]) > 0))
        if rises:
            steps = f"{rises} of {distinct.size - 1} step{'s' if distinct.size > 2 else ''}"
            notes.append(f"the values rise at {steps}, but must fall as a gallery grows: noise, or an error")
        second = pooled[1] if len(pooled) > 1 else None
        return cls(distinct, pooled[0], second, "published", how, _people_tested(people), tuple(notes))

    @classmethod
    def read(cls, source: Any) -> Curve:
        """Read a curve from a table with columns `n`, `correctness` and optionally `uniqueness`, `people`, `kind`."""
        table = read_table(source)
        missing = [name for name in ("n", "correctness") if name not in table.columns]
        if missing:
            raise InputError(
                f"{table.name} has no column {' or '.join(map(repr, missing))}; a curve has columns n and correctness"
            )
        columns = {name: _numbers(table, name) for name in ("n", "correctness", "uniqueness") if name in table.columns}
        people = _one_number(table, "people") if "people" in table.columns else 0
        curve = cls.from_points(
            columns["n"],
            columns["correctness"],
            uniqueness=columns.get("uniqueness"),
            people=people,
            how=f"points of {table.name}",
        )
        return replace(curve, kind=_kind(table)) if "kind" in table.columns else curve

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a CSV (or Parquet) file for `Curve.read`: points, people tested (if known) and kind.

        The covariance of sparse and robust curves is not written: intervals then come from simulated people.
        """
        columns: dict[str, Any] = {"n": self.sizes, "correctness": self.correctness}
        if self.people:
            columns["people"] = np.full(self.sizes.size, self.people)
        if self.uniqueness is not None:
            columns["uniqueness"] = self.uniqueness
        if self.kind != "published":
            columns["kind"] = [self.kind] * self.sizes.size
        return write_table(pa.table(columns), path, force=force)

    def up_to(self, size: int) -> Curve:
        """The part of the curve at galleries of at most `size`."""
        inside = self.sizes <= size
        second = self.uniqueness[inside] if self.uniqueness is not None else None
        covariance = self.covariance[np.ix_(inside, inside)] if self.covariance is not None else None
        return replace(
            self,
            sizes=self.sizes[inside],
            correctness=self.correctness[inside],
            uniqueness=second,
            covariance=covariance,
        )

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each gallery size."""
        unique = self.uniqueness if self.uniqueness is not None else [None] * self.sizes.size
        columns = zip(self.sizes.tolist(), self.correctness.tolist(), as_json(unique), strict=True)
        return [{"n": size, "correctness": right, "uniqueness": alone} for size, right, alone in columns]


def _shares(values: ArrayLike, what: str, wanted: int) -> Floats:
    """Return the values as shares from 0 to 1, one for each size; refuse anything else."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers") from None
    if array.shape != (wanted,):
        raise InputError(f"{wanted} sizes but {array.size} values of {what}; give one for each size")
    if np.any(np.isnan(array)):
        raise InputError(f"{what} has {int(np.isnan(array).sum())} missing values; leave those points out")
    if array.min() < 0 or array.max() > 1:
        percent = "; divide percentages by 100" if 1 < array.max() <= 100 and array.min() >= 0 else ""
        raise InputError(
            f"{what} must be shares from 0 to 1; values from {array.min():.6g} to {array.max():.6g} were given{percent}"
        )
    return array


def _numbers(table: Table, name: str) -> list[float]:
    """Return a column as numbers; a missing value stays missing and is refused later."""
    ((_, column),) = table.read([name])
    try:
        return [float("nan") if value is None else float(value) for value in column.to_pylist()]
    except (TypeError, ValueError):
        raise InputError(
            f"column {name!r} of {table.name} holds something that is not a number; write shares as 0.99, with a "
            "decimal point and without a percent sign"
        ) from None


def _one_number(table: Table, name: str) -> int:
    """Return the whole number that a column holds in every row."""
    values = set(_numbers(table, name))
    if len(values) != 1 or not min(values) >= 1 or min(values) != int(min(values)):
        raise InputError(f"column {name!r} of {table.name} must hold one whole number of 1 or more, in every row")
    return int(values.pop())


def _kind(table: Table) -> CurveKind:
    ((_, column),) = table.read(["kind"])
    kinds = set(column.to_pylist())
    for kind in get_args(CurveKind):
        if kinds == {kind}:
            return kind  # type: ignore[no-any-return]
    raise InputError(f"column 'kind' of {table.name} must hold one of {', '.join(get_args(CurveKind))}, in every row")


def _people_tested(people: int) -> int:
    if not (people == 0 or 2 <= people <= _MOST_PEOPLE) or people != int(people):
        raise InputError(f"the people tested are a whole number of 2 or more, 0 if it is not known; {people} was given")
    return int(people)
