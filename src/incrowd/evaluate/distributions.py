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
    tally = np.bincount(original.codes, minlength=original.size)
    before = np.bincount(where, weights=tally, minlength=len(bins))
    labels = np.bincount(meaning.codes, minlength=meaning.covered.size)
    after = np.zeros(len(bins))
    for label in np.flatnonzero(labels):
        inside = _covered(meaning, int(label))
        spread = np.bincount(where[inside], minlength=len(bins)) / max(inside.size, 1)
        after += labels[label] * spread
    total = after.sum()
    return Distribution(
        original.name,
        tuple(bins),
        tuple((before / before.sum()).tolist()),
        tuple((after / total if total else after).tolist()),
    )


def _covered(meaning: Meaning, label: int) -> NDArray[np.int64]:
    """The codes of the original that a label may stand for."""
    listed = meaning.members[label]
    if listed is not None:
        return listed
    if meaning.wildcard[label]:
        return np.arange(meaning.original.size)
    above = meaning.place >= meaning.low[label]
    below = meaning.place < meaning.high[label] if meaning.open_ended[label] else meaning.place <= meaning.high[label]
    return np.flatnonzero(above & below)


def _number_bins(meaning: Meaning) -> tuple[NDArray[np.int64], list[str]]:
    """Bins of equal width over a number's values, a null in one of its own."""
    original, filled = meaning.original, meaning.original.size - meaning.original.has_null
    place = meaning.place[:filled]
    low, high = float(place.min()), float(place.max())
    edges = np.linspace(low, high, min(_BINS, filled) + 1)
    where = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, edges.size - 2)
    texts = as_text(original.values).to_pylist()
    bins = []
    for number in range(edges.size - 1):
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
