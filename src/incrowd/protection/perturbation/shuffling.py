"""Data shuffling: values are reassigned to other records so that rank correlations are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, read_names, taken
from incrowd.special import Floats
from incrowd.wording import listed

_MOST_CATEGORIES = 100  # rarer categories count as one


@dataclass(frozen=True, slots=True)
class Shuffle(Step):
    """Reassigns the values of a column to records (Muralidhar & Sarathy 2006).

    A rank is drawn for every record from a normal copula given the columns in `by`, independently of the record's own
    value; the sorted values are then assigned by these ranks. So the set of values does not change, and the rank
    correlations among the shuffled columns and with those in `by` are approximately kept.
    """

    by: tuple[str, ...] = ()
    kind: ClassVar[str] = "shuffle"
    label: ClassVar[str] = "values dealt out anew"
    words: ClassVar[str] = (
        "The values are dealt out to other records; name the columns whose correlation stays, joined by plus signs."
    )
    reads: ClassVar[Readers] = {"by": read_names}

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Assign the values of every column by drawn ranks; a missing value stays missing."""
        both = [name for name in self.by if name in self.columns]
        if both:
            raise InputError(f"{listed(both)} cannot be shuffled by itself; take it out of one of them")
        found = columns.coded(self.columns)
        for column in found:
            if not column.has_order:
                raise InputError(f"{column.name!r} has no order by which values could be dealt out; shuffle numbers")
        scores = np.stack([_scores(column) for column in found], axis=1)
        predictors = np.concatenate(
            [np.ones((columns.table.rows, 1)), *map(_predictors, columns.coded(self.by))], axis=1
        )
        complete = ~np.isnan(scores).any(axis=1)
        if np.count_nonzero(complete) <= predictors.shape[1]:
            raise InputError(f"too few records have a value in each of {listed(self.columns)} to shuffle them together")
        slopes = np.linalg.lstsq(predictors[complete], scores[complete], rcond=None)[0]
        residuals = scores[complete] - predictors[complete] @ slopes
        covariance = residuals.T @ residuals / np.count_nonzero(complete)
        drawn = predictors @ slopes + columns.draws.multivariate_normal(
            np.zeros(len(found)), covariance, columns.table.rows, method="eigh"
        )
        return StepOutcome(
            {column.name: _assign(column, drawn[:, place]) for place, column in enumerate(found)},
            f"values were shuffled between records{f', given {listed(self.by)}' if self.by else ''}",
            "each column alone is as it was; rank correlations among the shuffled columns"
            + (f" and with {listed(self.by)}" if self.by else "")
            + " are about kept, those with other columns only as far as they follow from these",
            {"by": list(self.by)},
        )


def _scores(column: Coded) -> Floats:
    """Normal scores of every record by its rank; NaN where it has no value."""
    from scipy.special import ndtri  # a slow import, and every method of protection loads this module

    filled = column.is_filled
    tally = np.bincount(column.codes[filled], minlength=column.size)
    middle = (np.cumsum(tally) - tally / 2) / max(tally.sum(), 1)  # mean rank of equal values
    scores: Floats = np.where(filled, ndtri(middle)[column.codes], np.nan)
    return scores


def _predictors(column: Coded) -> Floats:
    """Predictors from a column: normal scores of numbers (0 if missing), or one dummy for each category except the
    commonest."""
    if column.has_distances:
        scores = np.nan_to_num(_scores(column))
        return np.stack([scores, np.isnan(_scores(column))], axis=1) if column.has_null else scores[:, None]
    commonest = np.argsort(-column.tally, kind="stable")[1:_MOST_CATEGORIES]
    dummies: Floats = (column.codes[:, None] == commonest).astype(np.float64)
    return dummies


def _assign(column: Coded, drawn: Floats) -> pa.Array:
    """The sorted values of a column, assigned to records in the order of the drawn numbers."""
    filled = np.flatnonzero(column.is_filled)
    codes = column.codes.copy()
    codes[filled[np.argsort(drawn[filled], kind="stable")]] = np.sort(column.codes[filled])
    return taken(column, codes)
