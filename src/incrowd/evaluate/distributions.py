"""How a column's values are spread, before protection and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.engines import Coded, encode
from incrowd.evaluate.labels import Meaning, understand
from incrowd.notebook import Shown
from incrowd.protect import Protected
from incrowd.protect.problem import is_number
from incrowd.protect.recoding import as_text
from incrowd.table import read_table

_BINS = 20
_REST = "all others"


@dataclass(frozen=True, slots=True)
class Distribution(Shown):
    """The share of records in each bin of a column's values; what a label covers is spread over the values it covers.

    A number has bins of equal width, anything else the commonest values. Shares add up to 1, before and after.
    """

    column: str
    bins: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def moved(self) -> float:
        """The share of records that would have to change bins to make both alike (total variation)."""
        return sum(abs(was - now) for was, now in zip(self.before, self.after, strict=True)) / 2

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "column": self.column,
            "bins": list(self.bins),
            "before": list(self.before),
            "after": list(self.after),
            "moved": self.moved,
        }


def distributions(safe: Protected) -> tuple[Distribution, ...]:
    """Each quasi-identifier of a protected table, as it was and as it is.

    >>> from incrowd import protect
    >>> safe = protect({"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}, quasi_identifiers=["age", "sex"], k=2)
    >>> age, sex = distributions(safe)
    >>> sex.bins, sex.before, sex.after
    (('f', 'm'), (0.75, 0.25), (0.75, 0.25))
    """
    assert safe.original is not None
    names = list(safe.quasi_identifiers)
    after = read_table(safe.table)
    return tuple(
        _distribution(understand(was, now, (safe.hierarchies or {}).get(was.name)))
        for was, now in zip(encode(safe.original, names), encode(after, names), strict=True)
    )


def _distribution(meaning: Meaning) -> Distribution:
    original = meaning.original
    where, bins = _number_bins(meaning) if is_number(original) else _common_values(original)
    before = np.bincount(original.codes, minlength=original.size).astype(np.float64)
    both = (before, _after(meaning))
    shares = [np.bincount(where, weights=records / records.sum(), minlength=len(bins)) for records in both]
    return Distribution(original.name, tuple(bins), *(tuple(one.tolist()) for one in shares))


def _after(meaning: Meaning) -> NDArray[np.float64]:
    """How many records each of the original's values may have now, what a label covers spread evenly over it."""
    size = meaning.original.size
    tally = np.bincount(meaning.codes, minlength=meaning.covered.size)
    used = np.flatnonzero(tally).tolist()
    found = np.zeros(size)
    for label in (label for label in used if meaning.members[label] is not None):
        codes = meaning.members[label]
        assert codes is not None
        found[codes] += tally[label] / codes.size
    ranges = np.array([label for label in used if meaning.members[label] is None], dtype=np.int64)
    filled = meaning.place[: size - meaning.original.has_null]
    first = np.searchsorted(filled, meaning.low[ranges])
    last = np.where(
        meaning.open_ended[ranges],
        np.searchsorted(filled, meaning.high[ranges]),
        np.searchsorted(filled, meaning.high[ranges], "right"),
    )
    first, last = np.where(meaning.wildcard[ranges], 0, first), np.where(meaning.wildcard[ranges], size, last)
    covering = last > first  # a number that the original has not covers nothing
    weight = tally[ranges][covering] / (last - first)[covering]
    steps = np.zeros(size + 1)
    np.add.at(steps, first[covering], weight)
    np.add.at(steps, last[covering], -weight)
    return found + np.cumsum(steps)[:-1]


def _number_bins(meaning: Meaning) -> tuple[NDArray[np.int64], list[str]]:
    """Bins of equal width over a number's values, a null in one of its own."""
    original, filled = meaning.original, meaning.original.size - meaning.original.has_null
    place = meaning.place[:filled]
    low, high = float(place.min()), float(place.max())
    edges = np.linspace(low, high, _BINS + 1)
    where = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, _BINS - 1)
    if filled <= _BINS:
        where = np.arange(filled)  # so few that each has a bin of its own
    texts = as_text(original.values).to_pylist()
    bins = []
    for number in range(_BINS):
        inside = np.flatnonzero(where == number)
        first, last = (texts[inside[0]], texts[inside[-1]]) if inside.size else ("", "")
        bins.append("" if not inside.size else str(first) if first == last else f"{first} – {last}")
    used = [number for number in range(len(bins)) if bins[number]]
    renumbered = np.zeros(len(bins), dtype=np.int64)
    renumbered[used] = np.arange(len(used))
    found = renumbered[where]
    shown = [bins[number] for number in used]
    if original.has_null:
        return np.append(found, len(shown)), [*shown, "empty"]
    return found, shown


def _common_values(original: Coded) -> tuple[NDArray[np.int64], list[str]]:
    """The commonest values, and one bin for the rest."""
    tally = np.bincount(original.codes, minlength=original.size)
    order = np.argsort(-tally, kind="stable")
    kept = order if order.size <= _BINS else order[: _BINS - 1]
    where = np.full(original.size, kept.size, dtype=np.int64)
    where[kept] = np.arange(kept.size)
    texts = as_text(original.values).to_pylist()
    bins = ["empty" if texts[code] is None else str(texts[code]) for code in kept]
    return where, bins if kept.size == order.size else [*bins, _REST]
