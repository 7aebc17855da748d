"""Additive normal noise, independent for each column or with the covariance of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, as_values
from incrowd.special import Floats
from incrowd.wording import listed

_MOST = 1_000  # standard deviations; more would make values useless and overflow their types


@dataclass(frozen=True, slots=True)
class Noise(Step):
    """Normal noise whose standard deviation is `size` times that of the column.

    Whole numbers and dates are rounded. Nothing is clipped: a column that must not be negative needs a bottom limit.
    """

    size: float
    kind: ClassVar[str] = "noise"
    label: ClassVar[str] = "noise"
    words: ClassVar[str] = "Normal noise; the number is its size in standard deviations of the column."
    usual: ClassVar[str] = "0.2"
    reads: ClassVar[Readers] = {"size": float}

    def __post_init__(self) -> None:
        if not 0 < self.size <= _MOST:
            raise InputError(f"noise of {self.size!r} standard deviations; give a number above 0, at most {_MOST:,}")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Add noise to every value; a missing one stays missing."""
        found = columns.numbers(self.columns)
        values = np.stack([positions for _, positions in found])
        noise = self._draw(values, columns.draws)
        return StepOutcome(
            {column.name: as_values(column, was + added) for (column, was), added in zip(found, noise, strict=True)},
            self._treatment(),
            f"means are unbiased; a variance is too large by the factor 1 + size² (here {1 + self.size**2:.6g}); "
            + self._about_relations(),
            {"size": self.size},
            {column.name: self.size * float(np.nanstd(was)) for column, was in found if np.nanstd(was) > 0},
        )

    def _draw(self, values: Floats, draws: np.random.Generator) -> Floats:
        """Noise for every value, independent from column to column."""
        deviations = np.nanstd(values, axis=1, keepdims=True)
        noise: Floats = self.size * deviations * draws.standard_normal(values.shape)
        return noise

    def _treatment(self) -> str:
        return f"normal noise of {self.size:g} standard deviations of the column was added to every value"

    def _about_relations(self) -> str:
        """Sentence on how relations to other columns are biased, and how to correct them."""
        return (
            "the slope of a regression on the column alone is too small by it, and a correlation with another column "
            "by its square root; with several explaining columns, divide the variance of this one by it in their "
            "covariance matrix and solve for the slopes again"
        )


@dataclass(frozen=True, slots=True)
class CorrelatedNoise(Noise):
    """Normal noise with the covariance of the columns, `size`² times as large (Kim 1986)."""

    kind: ClassVar[str] = "correlated"
    label: ClassVar[str] = "noise that keeps correlations"
    words: ClassVar[str] = (
        "Normal noise that keeps the correlations of two columns or more; "
        "the number is its size in standard deviations."
    )

    def __post_init__(self) -> None:
        Noise.__post_init__(self)
        if len(self.columns) < 2:
            raise InputError(f"correlated noise for {listed(self.columns)} alone; name two columns or more")

    def _draw(self, values: Floats, draws: np.random.Generator) -> Floats:
        """Noise for every value, with the covariance of the records that have all values."""
        complete = values[:, ~np.isnan(values).any(axis=0)]
        if complete.shape[1] < 2:
            raise InputError(f"fewer than 2 records have a value in each of {listed(self.columns)}; add noise to each")
        covariance = np.atleast_2d(np.cov(complete, bias=True))
        noise = draws.multivariate_normal(
            np.zeros(len(values)), self.size**2 * covariance, values.shape[1], method="eigh"
        )
        return np.ascontiguousarray(noise.T)

    def _treatment(self) -> str:
        return (
            f"normal noise with {self.size:g}² times the covariance of {listed(self.columns)} was added to every value"
        )

    def _about_relations(self) -> str:
        return (
            f"correlations among {listed(self.columns)} and slopes of one on others are unbiased; slopes of another "
            "column on all of them are too small by it"
        )
