"""Sensitive numbers that lie so close together in a class that an attacker who knows the class nearly knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.class_values import ClassValueCounts
from incrowd.measures.quantities import read_quantity
from incrowd.tables.infer_types import NUMBER

_CLOSE = 0.01  # largest difference of numbers that count as close, as a share of the width of the central 90 %
_OUTER = 0.05  # share of the records at each end that are left out of that width


@dataclass(frozen=True, slots=True, eq=False)
class NearValues:
    """The numbers of a column, and the difference up to which they count as close.

    Attributes:
        places: the number of each code, NaN for a missing one.
        width: the largest difference of numbers that are close.
        ordered: the distinct numbers, ascending.
        below: the number of records below each of these, and of all records at the end.
    """

    places: NDArray[np.float64]
    width: float
    ordered: NDArray[np.float64]
    below: NDArray[np.int64]

    def count_close(self, part: ClassValueCounts, certain_from: float, common: float) -> int:
        """Number of records in classes whose numbers are all close, without being one value that is certain.

        Args:
            part: counts of class × code pairs.
            certain_from: the share of a class from which a value is certain; people without a value count by the rule
                of succession.
            common: the number of records above which a range is no news, because so many have a number in it.
        """
        codes, starts = part.split(self.places.size)
        counts, place = part.counts, self.places[codes]
        told = np.where(np.isnan(place), 0, counts)
        people, filled = np.add.reduceat(counts, starts), np.add.reduceat(told, starts)
        low, high = np.fmin.reduceat(place, starts), np.fmax.reduceat(place, starts)

        def is_known(records: NDArray[np.int64]) -> NDArray[np.bool_]:
            expected = records + (people - filled) * (records + 1) / (filled + 2)
            return np.asarray((2 * filled > people) & (expected >= certain_from * people * (1 - 1e-12)))

        is_close = (high > low) & (high - low <= self.width) & is_known(filled)
        is_close &= ~is_known(np.maximum.reduceat(told, starts))
        first, last = np.searchsorted(self.ordered, low), np.searchsorted(self.ordered, high, side="right")
        within = self.below[np.minimum(last, self.ordered.size)] - self.below[np.minimum(first, self.ordered.size)]
        return int(filled[is_close & (within <= common)].sum())


def find_near_values(column: Coded, tally: NDArray[np.int64], told: NDArray[Any], common: float) -> NearValues | None:
    """The numbers of a column; None if it does not hold numbers, or if none can be close.

    A number that most people have (such as no benefits) is left out of the width of the central 90 %, which it would
    make 0.

    Args:
        column: the sensitive column.
        tally: the number of records of each code.
        told: mask of the codes that are values, not words or codes for a missing one.
        common: the number of records above which a number is one that most people have.

    >>> from incrowd.backends import encode
    >>> from incrowd.tables import read_table
    >>> (pay,) = encode(read_table({"pay": list(range(1_000))}), ["pay"])
    >>> find_near_values(pay, np.ones(1_000, dtype=np.int64), np.ones(1_000, dtype=bool), 500).width
    9.0
    """
    places = _read_numbers(column, told)
    if places is None:
        return None
    filled = np.flatnonzero(~np.isnan(places) & (tally > 0))
    if filled.size < 2:
        return None
    ordered, place = np.unique(places[filled], return_inverse=True)
    records = np.bincount(place, tally[filled])
    below = np.concatenate([[0], np.cumsum(records)]).astype(np.int64)
    uncommon = np.cumsum(np.where(records > common, 0, records))
    low, high = (ordered[np.searchsorted(uncommon, share * uncommon[-1])] for share in (_OUTER, 1 - _OUTER))
    width = _CLOSE * float(high - low)
    return NearValues(places, width, ordered, below) if width > np.diff(ordered).min() else None


def _read_numbers(column: Coded, told: NDArray[Any]) -> NDArray[np.float64] | None:
    """The number of each code, NaN for a missing one; None if the column holds codes, days or texts.

    One "unknown" makes texts of all numbers of a file: texts are numbers if all that are told are.
    """
    values = column.values
    if column.is_text:
        texts = pc.if_else(pa.array(told), values, pa.scalar(None, values.type))
        if not pc.all(pc.match_substring_regex(texts, f"^{NUMBER}$"), min_count=0).as_py():
            return None
        numbers = np.asarray(texts.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    quantity = read_quantity(column) if column.has_order and not pa.types.is_temporal(values.type) else None
    return None if quantity is None else np.where(told, quantity.places, np.nan)
