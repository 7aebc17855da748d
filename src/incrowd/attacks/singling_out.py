"""Singling out: predicates that hold for exactly one released record, and for exactly one person of the original.

A predicate of weight w holds for exactly one of n people with probability n w (1 − w)^(n−1), at most 1/e, even if the
release says nothing about them (Cohen and Nissim, 2020). The weight is not known. The control measures it on people who
are not in the data; without them nothing is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import part
from incrowd.attacks.encoding import ScaledLabels
from incrowd.attacks.gallery import Probes
from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.special import Floats, log_chance_missed
from incrowd.wording import counted, listed

_CANDIDATES = 200  # largest number of candidates for each wanted predicate
_BATCH = 4096
_ABOVE_ALL = 1.5  # position above every number and below a null

Matches = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The number of rows that fit each predicate, and one of them."""


def attack_by_singling_out(setting: Setting, method: str = "multivariate") -> AttackRisk:
    """Find predicates that isolate a released record, and count how many isolate a person of the original.

    There are as many attacks as targets; an attack that finds no predicate fails. A predicate fits more people of a
    larger table. So if original and holdout differ in size, the success is the expectation for a random part of the
    larger one that has the size of the smaller.
    """
    count = _count_in_column if method == "univariate" and _are_exact(setting) else _count_in_gallery
    predicates = _isolating(setting, method, count)
    wanted, tried = setting.targets.size, predicates.low.shape[0]
    rows = {side: setting.encoded.rows[side] for side in (ORIGINAL, HOLDOUT) if side < len(setting.encoded.rows)}
    size = min(rows.values())
    counts = {side: count(setting, predicates, side) for side in rows}
    successes = {side: np.zeros(wanted) for side in rows}
    for side, (matches, _) in counts.items():
        successes[side][:tried] = _isolates(matches, rows[side], size)
    matches, people = counts[ORIGINAL]
    isolated = np.full(wanted, -1, dtype=np.int64)
    isolated[:tried] = np.where(matches == 1, people, -1)
    notes = []
    if not tried:
        notes.append(
            f"nobody is singled out by {listed(setting.known)}: no predicate on them isolates a released record; other "
            "columns were not tried"
        )
    elif tried < wanted:
        isolating = counted(tried, "predicate isolates", "predicates isolate")
        notes.append(f"only {isolating} a released record; the other attacks fail")
    if tried and not setting.has_holdout:
        notes.append(
            "the risk of singling out is its success, an upper bound: without a holdout it is not known how many "
            "predicates isolate a person by chance, which up to 37% of them do"
        )
    if len(set(rows.values())) > 1:
        notes.append(f"success is that among {size:,} people, the size of the smaller of original and holdout")
    return setting.result(
        "singling-out",
        successes[ORIGINAL],
        successes.get(HOLDOUT),
        method=method,
        rows=isolated,
        notes=notes,
        measures={"people singled out": float(np.unique(isolated[isolated >= 0]).size)},
    )


def _isolates(matches: NDArray[np.int64], rows: int, size: int) -> Floats:
    """The chance that exactly one of the matching people is among `size` drawn from `rows`."""
    alone = matches * (size / rows) * np.exp(log_chance_missed(rows - 1.0, np.maximum(matches - 1.0, 0.0), size - 1.0))
    return np.where(matches > 0, alone, 0.0)


def _count_in_gallery(setting: Setting, predicates: Probes, side: int, most: int | None = None) -> Matches:
    """Count the rows of a table that fit each predicate, up to `most`; also return one of these rows."""
    gallery = setting.gallery(setting.known, side, RELEASED)
    limits = np.zeros(predicates.low.shape[0])
    _, matches, first = gallery.count(predicates, limits, most=most, progress=setting.progress)
    return matches, gallery.first_row[first]


def _are_exact(setting: Setting) -> bool:
    """True if no cell of the known columns is a range, a set or * in any table."""
    return all(labels.is_exact for name in setting.known for labels in setting.encoded.column(name).labels)


def _count_in_column(setting: Setting, predicates: Probes, side: int, most: int | None = None) -> Matches:
    """Count the rows that fit each single-column predicate on exact cells, by the order of the labels."""
    matches, rows = (np.zeros(predicates.low.shape[0], dtype=np.int64) for _ in range(2))
    for place, name in enumerate(setting.known):
        labels = setting.encoded.column(name).labels[side]
        some = np.flatnonzero(predicates.codes[:, place] >= 0)
        if not some.size:
            continue
        order = np.argsort(labels.low, kind="stable")
        values, tally = labels.low[order], np.bincount(labels.codes, minlength=labels.low.size)[order]
        before = np.concatenate([[0], np.cumsum(tally)])
        row_of = np.zeros(labels.low.size, dtype=np.int64)
        row_of[labels.codes] = np.arange(labels.codes.size)
        begin = before[np.searchsorted(values, predicates.low[some, place], "left")]
        end = before[np.searchsorted(values, predicates.high[some, place], "right")]
        matches[some] = end - begin
        first = np.searchsorted(before, np.minimum(begin, before[-1] - 1), "right") - 1
        rows[some] = row_of[order[first]]
    return matches, rows


def _isolating(setting: Setting, method: str, count: Callable[..., Matches]) -> Probes:
    """Distinct predicates that hold for exactly one released record, as many as there are targets if possible."""
    wanted, draws = setting.targets.size, setting.random("singling out")
    if method == "univariate":  # no two of them are the same
        candidates = _single_columns(setting, draws)
        level, _ = count(setting, candidates, RELEASED, most=2)
        return candidates.take(np.flatnonzero(level == 1)[:wanted])
    predicates = setting.probes(setting.known, RELEASED, np.empty(0, dtype=np.int64))
    middles = [_middle(setting.encoded.column(name).labels[RELEASED]) for name in setting.known]
    for tried in range(0, _CANDIDATES * wanted, _BATCH):
        candidates = _several_columns(setting, draws, middles)
        step = part(setting.progress, *(place / (_CANDIDATES * wanted + _BATCH) for place in (tried, tried + _BATCH)))
        level, _ = count(replace(setting, progress=step), candidates, RELEASED, most=2)
        predicates = predicates.joined(candidates.take(np.flatnonzero(level == 1)))
        predicates = predicates.take(_first_of_each(np.concatenate([predicates.low, predicates.high], axis=1)))
        if len(predicates.low) >= wanted or (tried and not len(predicates.low)):
            break
    return predicates.take(slice(wanted))


def _first_of_each(rows: Floats) -> NDArray[np.int64]:
    """The first position of each distinct row, in their order."""
    as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.sort(np.unique(as_bytes, return_index=True)[1])


def _middle(labels: ScaledLabels) -> float:
    """The median of the starts of a column's cells."""
    return float(np.median(labels.low[labels.codes]))


def _several_columns(setting: Setting, draws: np.random.Generator, middles: Sequence[float]) -> Probes:
    """Conjunctions over a few columns of random released records; for a number, ≤ or ≥ towards the nearer end."""
    size, columns = _BATCH, len(setting.known)
    rows = draws.integers(0, setting.encoded.rows[RELEASED], size)
    width = min(setting.options.width, columns)
    places = draws.random((size, columns))
    chosen = places <= np.partition(places, width - 1, axis=1)[:, width - 1 : width]
    probes = setting.probes(setting.known, RELEASED, rows)
    low, high = probes.low.copy(), probes.high.copy()
    for place, name in enumerate(setting.known):
        if setting.encoded.column(name).number:
            exact = (low[:, place] == high[:, place]) & (low[:, place] <= 1.0)  # neither a range nor a null
            above = exact & (low[:, place] > middles[place])
            low[exact & ~above, place], high[above, place] = -np.inf, _ABOVE_ALL
    return Probes(low, high, probes.codes).without(~chosen)


def _single_columns(setting: Setting, draws: np.random.Generator) -> Probes:
    """Predicates on one column: values that only one released record has, and the ends of columns of numbers."""
    columns = len(setting.known)
    cells: list[Floats] = []  # the place of a column, both ends, and a label
    for place, name in enumerate(setting.known):
        column = setting.encoded.column(name)
        labels = column.labels[RELEASED]
        once = np.flatnonzero(np.bincount(labels.codes, minlength=labels.low.size) == 1)
        cells.append(np.stack([np.full(once.size, place), labels.low[once], labels.high[once], once], axis=1))
        values = np.where((labels.low == labels.high) & (labels.low <= 1.0), labels.low, np.nan)
        if column.number and np.isfinite(values).any():
            least, most = int(np.nanargmin(values)), int(np.nanargmax(values))
            ends = [(place, -np.inf, values[least], least), (place, values[most], _ABOVE_ALL, most)]
            cells.append(np.array(ends, dtype=np.float64))
    every = np.concatenate(cells)
    drawn = every[draws.permutation(len(every))[: 2 * setting.targets.size]]
    low, high = np.full((len(drawn), columns), -np.inf), np.full((len(drawn), columns), np.inf)
    codes = np.full((len(drawn), columns), -1, dtype=np.int64)
    where = np.arange(len(drawn)), drawn[:, 0].astype(np.int64)
    low[where], high[where], codes[where] = drawn[:, 1], drawn[:, 2], drawn[:, 3].astype(np.int64)
    return Probes(low, high, codes)
