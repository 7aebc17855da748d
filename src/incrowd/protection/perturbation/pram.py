"""PRAM (post-randomisation): categories change at random, with known probabilities (Gouweleeuw et al. 1998)."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from incrowd._support.files import read_small_text
from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, read_number_or_file
from incrowd.special import Floats
from incrowd.tables.released_values import as_text
from incrowd.wording import chosen_percent

Matrix = Mapping[str, Mapping[str, float]]
_ROUNDING = 1e-6  # by which the probabilities of a row may miss 1


@dataclass(frozen=True, slots=True)
class Pram(Step):
    """Categories change with the transition probabilities of a `matrix`: `matrix[old][new]`.

    - A number instead of a matrix makes an invariant one: a value stays with this probability, and is otherwise drawn
      from the column's own distribution, so that the expected counts do not change.
    - A text is the path of a CSV file: the first line has the new values, every other line begins with an old value.

    A missing value stays missing.
    """

    matrix: float | str | os.PathLike[str] | Matrix
    kind: ClassVar[str] = "pram"
    label: ClassVar[str] = "categories drawn anew"
    words: ClassVar[str] = (
        "Categories are drawn anew by chance (PRAM); the number is the probability that a value stays."
    )
    usual: ClassVar[str] = "0.8"
    reads: ClassVar[Readers] = {"matrix": read_number_or_file}

    def __post_init__(self) -> None:
        if isinstance(self.matrix, int | float) and not 0 <= self.matrix < 1:
            raise InputError(f"a value stays with probability {self.matrix!r}; give 0 up to 1, or a matrix")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Draw a new category for every record."""
        found = columns.coded(self.columns)
        if isinstance(self.matrix, int | float):
            keep = float(self.matrix)
            changed = {column.name: self._redraw(column, keep, columns.draws) for column in found}
            return StepOutcome(
                changed,
                f"a value stayed with probability {chosen_percent(keep)}, else it was drawn from the column's values",
                "counts of the column alone are unbiased; in tables with other columns, solve the published matrix",
                {"matrix": {name: invariant_matrix(cells, keep) for name, cells in changed.items()}},
            )
        matrix = read_matrix(self.matrix) if isinstance(self.matrix, str | os.PathLike) else self.matrix
        check_matrix(matrix)
        return StepOutcome(
            {column.name: _draw(column, matrix, columns.draws) for column in found},
            "values were changed by chance, with the published probabilities",
            "counts are unbiased after solving the published matrix, transposed, for the original counts",
            {"matrix": {name: {value: dict(row) for value, row in matrix.items()} for name in self.columns}},
        )

    @staticmethod
    def _redraw(column: Coded, keep: float, draws: np.random.Generator) -> pa.Array:
        """Keep each value with probability `keep`, else draw it from the column's own values."""
        filled = np.flatnonzero(column.is_filled)
        codes = column.codes.astype(np.int64)
        drawn = codes[filled[draws.integers(0, max(filled.size, 1), filled.size)]]
        codes[filled] = np.where(draws.random(filled.size) < keep, codes[filled], drawn)
        return column.values.take(pa.array(codes))


def invariant_matrix(cells: pa.Array, keep: float) -> dict[str, dict[str, float]]:
    """The transition matrix of an invariant PRAM, estimated from the released shares of values.

    >>> invariant_matrix(pa.array(["a", "b", "b", "b"]), 0.6)["a"]
    {'a': 0.7, 'b': 0.3...}
    """
    counts = cells.drop_null().value_counts()
    names = as_text(counts.field("values")).to_pylist()
    shares = counts.field("counts").to_numpy() / max(len(cells) - cells.null_count, 1)
    return {
        value: {
            other: float((1 - keep) * share + (keep if other == value else 0.0))
            for other, share in zip(names, shares, strict=True)
        }
        for value in names
    }


def read_matrix(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read a matrix from a CSV file: the first line has the new values, every other line begins with an old one."""
    try:
        (_, *targets), *lines = csv.reader(read_small_text(path))
        return {line[0]: dict(zip(targets, map(float, line[1:]), strict=True)) for line in lines if line}
    except OSError as error:
        raise InputError(f"the matrix {os.fspath(path)} cannot be read: {error.strerror}") from None
    except (ValueError, UnicodeDecodeError):
        raise InputError(
            f"{os.fspath(path)} is no matrix: the first line has the values, the others a value and its probabilities"
        ) from None


def check_matrix(matrix: Matrix) -> None:
    """Refuse a matrix whose entries are not probabilities or whose rows do not add up to 1."""
    for place, row in enumerate(matrix.values(), start=1):
        if any(not 0 <= share <= 1 for share in row.values()):
            raise InputError(f"row {place:,} of the matrix holds a number that is no probability")
        total = sum(row.values())
        if abs(total - 1) > _ROUNDING:
            raise InputError(f"row {place:,} of the matrix adds up to {total:g}, not to 1")
        if any(value not in matrix for value in row):
            raise InputError(f"row {place:,} of the matrix leads to a value that has no row of its own")


def _draw(column: Coded, matrix: Matrix, draws: np.random.Generator) -> pa.Array:
    """Draw a new value for every record by the matrix."""
    filled = column.filled_size
    labels: list[str] = as_text(column.values).to_pylist()[:filled]
    missing = sum(label not in matrix for label in labels)
    if missing:
        raise InputError(f"the matrix has no row for {missing:,} of the {filled:,} values of {column.name!r}")
    targets = list(matrix)
    try:
        values = pa.array([*targets, None], pa.string()).cast(column.values.type)
    except pa.ArrowInvalid:
        raise InputError(f"the matrix has values that are not of the type of {column.name!r}") from None
    chances: Floats = draws.random(column.codes.size)
    drawn = np.full(column.codes.size, len(targets), dtype=np.int64)
    for code, label in enumerate(labels):
        rows = np.flatnonzero(column.codes == code)
        limits = np.cumsum([matrix[label].get(target, 0.0) for target in targets])
        last_possible = int(np.flatnonzero([matrix[label].get(target, 0.0) > 0 for target in targets])[-1])
        drawn[rows] = np.minimum(np.searchsorted(limits, chances[rows], side="right"), last_possible)
    return values.take(pa.array(drawn))


def estimate_counts(released: Mapping[str, float], matrix: Matrix) -> dict[str, float]:
    """Estimate how often values occurred before PRAM, from released counts and the published matrix.

    The estimate is unbiased; for a rare value it may be below 0.

    Args:
        released: the released count of every value.
        matrix: the published matrix.

    Returns:
        The estimated original count of every value.

    Raises:
        InputError: the matrix cannot be solved, or a value has no row in it.

    >>> chances = {"a": {"a": 0.9, "b": 0.1}, "b": {"a": 0.2, "b": 0.8}}
    >>> {value: round(count, 6) for value, count in estimate_counts({"a": 62, "b": 38}, chances).items()}
    {'a': 60.0, 'b': 40.0}
    """
    values, _, inverse = _invert(released, matrix)
    counts = inverse @ [float(released.get(value, 0.0)) for value in values]
    return dict(zip(values, counts.tolist(), strict=True))


def estimate_errors(released: Mapping[str, float], matrix: Matrix) -> dict[str, float]:
    """Standard errors of `estimate_counts`, from the random draws of PRAM only.

    Draws are independent, so the covariance of released counts is the sum of the multinomial covariances of every
    original value. Its unknown original counts are replaced by their estimates (Gouweleeuw et al. 1998).

    Args:
        released: the released count of every value.
        matrix: the published matrix.

    Returns:
        The standard error of the estimated count of every value.

    Raises:
        InputError: the matrix cannot be solved, or a value has no row in it.

    >>> chances = {"a": {"a": 0.9, "b": 0.1}, "b": {"a": 0.2, "b": 0.8}}
    >>> {value: round(error, 2) for value, error in estimate_errors({"a": 62, "b": 38}, chances).items()}
    {'a': 4.91, 'b': 4.91}
    """
    values, chances, inverse = _invert(released, matrix)
    counts = np.maximum(inverse @ [float(released.get(value, 0.0)) for value in values], 0.0)
    covariance = np.diag(counts @ chances) - (chances.T * counts) @ chances
    errors = np.sqrt(np.maximum(np.diag(inverse @ covariance @ inverse.T), 0.0))  # below 0 by rounding alone
    return dict(zip(values, errors.tolist(), strict=True))


def _invert(released: Mapping[str, float], matrix: Matrix) -> tuple[list[str], Floats, Floats]:
    """The values, the matrix of their transition probabilities, and the inverse of its transpose."""
    check_matrix(matrix)
    if any(value not in matrix for value in released):
        raise InputError("a released value has no row in the matrix; is it the one of this column?")
    values = list(matrix)
    chances = np.array([[matrix[value].get(other, 0.0) for other in values] for value in values])
    try:
        return values, chances, np.linalg.inv(chances.T)
    except np.linalg.LinAlgError:
        raise InputError("the matrix has no inverse: values were drawn without regard to what they were") from None
