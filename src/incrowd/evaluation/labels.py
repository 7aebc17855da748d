"""Meaning of the labels of a protected column in terms of the original: limits, and the values they cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.arrow_columns import is_text
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy, covered_by_labels
from incrowd.protection.problem import positions, with_null
from incrowd.tables.generalised import Prefixes, split_prefixes
from incrowd.tables.label_cover import LabelCover, expand
from incrowd.tables.labels import read_labels
from incrowd.tables.released_values import ANYTHING, as_days_if_whole, as_written
from incrowd.wording import counted


@dataclass(frozen=True, slots=True, eq=False)
class LabelMeanings:
    """The labels of a protected column in terms of its original.

    Attributes:
        original: the column before protection; times that are all midnights are days.
        codes: the label of every protected row.
        cover: the original's values that each label covers.
        place: the position of every value of the original, as `positions` defines it.
        low: the smallest position of each label, on the scale of `place`.
        high: the largest one.
        wildcard: mask of the labels that may be any value.
        prefixes: the labels of texts that are first characters of codes: codes that no record has begin so too.
    """

    original: Coded
    codes: NDArray[Any]
    cover: LabelCover
    place: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    wildcard: NDArray[np.bool_]
    prefixes: Prefixes

    @property
    def tally(self) -> NDArray[np.int64]:
        """Number of cells with each label."""
        return np.bincount(self.codes, minlength=self.low.size)

    @property
    def covered(self) -> NDArray[np.int64]:
        """Number of the original's values that each label covers; a range between two values is one value."""
        return np.maximum(self.cover.counts, 1)

    @property
    def is_null(self) -> NDArray[np.bool_]:
        """Mask of the labels that are a missing value of the original."""
        if not self.original.has_null:
            return np.zeros(self.low.size, dtype=np.bool_)
        covers_null = self.cover.pairs(np.arange(self.low.size), self.original.filled_size)
        return np.asarray(covers_null & (self.cover.counts == 1))

    def shares(self, by_value: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of every group among the possible values of each label, with equal parts for all values.

        `by_value` has a row for each value of the original, and a column for each group. A range between two values
        counts for the next one.
        """
        cover = self.cover
        by_rank = by_value[cover.places]
        sums = np.vstack([np.zeros(by_value.shape[1]), np.cumsum(by_rank, axis=0)])
        by_run = sums[cover.run_end] - sums[cover.run_start]
        totals = np.vstack([np.zeros(by_value.shape[1]), np.cumsum(by_run, axis=0)])
        shares: NDArray[np.float64] = (totals[cover.starts[1:]] - totals[cover.starts[:-1]]) / self.covered[:, None]
        between = np.flatnonzero(cover.counts == 0)
        filled = self.original.filled_size
        following = np.minimum(np.searchsorted(self.place[:filled], self.low[between]), filled - 1)
        shares[between] = by_value[following]
        return shares


def read_meanings(original: Coded, protected: Coded, hierarchy: Hierarchy | None = None) -> LabelMeanings:
    """Read every distinct label of a protected column once.

    Raises:
        InputError: labels cannot be read, or the original holds infinite numbers.
    """
    if pa.types.is_timestamp(original.values.type):
        original = replace(original, values=as_days_if_whole(original.values))
    is_unchanged = original.size == protected.size and np.array_equal(original.codes, protected.codes)
    if is_unchanged and original.values.equals(protected.values):
        labels = as_written(original.values) if original.is_text else original.values
        named: Mapping[str, NDArray[np.int64]] = {}
    else:
        labels, named = protected.values, _named_by(hierarchy, original)
    cover = read_labels(labels, original.values, name=original.name, named=named)
    _require_read(cover, original)
    place = _places(original, cover)
    low, high = _limits(original, place, cover)
    prefixes = split_prefixes(pa.array([], pa.string()))
    if is_text(labels.type) and not original.has_distances:
        is_named = pc.is_in(labels, value_set=pa.array([*named], pa.string()))
        prefixes = split_prefixes(pc.if_else(is_named, None, labels))
    return LabelMeanings(original, protected.codes, cover, place, low, high, cover.hides_all, prefixes)


def _named_by(hierarchy: Hierarchy | None, original: Coded) -> dict[str, NDArray[np.int64]]:
    """The values that each label of a hierarchy covers: all below it at any level, and the value of that name."""
    if hierarchy is None:
        return {}
    levels = hierarchy.levels(original)
    covered = covered_by_labels(levels)
    coarser = {label for level in levels[1:] for label in level.labels}
    return {label: codes for label, codes in covered.items() if label in coarser and label != ANYTHING}


def _require_read(cover: LabelCover, original: Coded) -> None:
    is_unread = cover.is_unread
    if not original.has_distances:  # there is no category between two others
        is_unread = is_unread | (cover.counts == 0)
    unread = int(np.count_nonzero(is_unread))
    if unread:
        raise InputError(
            f"{counted(unread, 'label', 'labels')} of the protected column {original.name!r} "
            f"{'is neither a value' if unread == 1 else 'are neither values'} of the original nor ranges, sets, "
            "prefixes or *; give its hierarchy",
            hint="hierarchies",
        )


def _places(original: Coded, cover: LabelCover) -> NDArray[np.float64]:
    """The position of every value, counted from the same number as the limits of labels."""
    place = positions(original)  # refuses infinite numbers
    return with_null(cover.positions[: original.filled_size], original) if original.has_distances else place


def _limits(
    original: Coded, place: NDArray[np.float64], cover: LabelCover
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest position of each label; an open end reaches to the original's extreme value."""
    labels = np.arange(cover.low.size)
    if original.has_distances:
        least, most = place[0], place[original.filled_size - 1]
        low = np.where(np.isneginf(cover.low), np.fmin(least, cover.high), cover.low)
        high = np.where(np.isposinf(cover.high), np.fmax(most, cover.low), cover.high)
        if original.has_null:
            covers_null = cover.pairs(labels, original.filled_size)
            high[covers_null] = place[-1]
            low[covers_null & (cover.counts == 1)] = place[-1]
    else:
        _, ranks = expand(cover.run_start, cover.run_end)
        first = np.cumsum(cover.counts) - cover.counts
        low = np.minimum.reduceat(place[cover.places[ranks]], first)
        high = np.maximum.reduceat(place[cover.places[ranks]], first)
    low[cover.hides_all], high[cover.hides_all] = place[0], place[-1]
    return low, high
