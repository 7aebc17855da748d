"""Singling out: predicates that hold for exactly one released record, and for exactly one person of the original.

A predicate of weight w holds for exactly one of n people with the chance n w (1 − w)^(n−1) even if the release says
nothing about them (Cohen and Nissim, 2020), at most 1/e. The weight is not known; the control counts it on people who
are not in the data, and without them nothing is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.encoding import Labels
from incrowd.attacks.gallery import Probes
from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.special import Floats, log_chance_missed
from incrowd.wording import counted

_CANDIDATES = 200  # for each predicate to find, at most
_BATCH = 4096
_ABOVE_ALL = 1.5  # on the scale of numbers: above every number and below a null

Matches = tuple[NDArray[np.int64], NDArray[np.int64]]
"""How many rows fit each predicate, and one of them."""


def attack_by_singling_out(setting: Setting, method: str = "multivariate") -> AttackRisk:
    """Find predicates that isolate a released record, and count how many isolate a person of the original.

    There are as many attacks as targets; one for which no predicate is found fails. Of tables of different sizes the
    larger one is thinned to the size of the smaller, in expectation, because more people make every predicate fit more
    of them.
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
        notes.append("no predicate isolates a released record, so nobody can be singled out by one")
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
    """How many rows of a table fit each predicate, up to `most`, and one of these rows."""
    gallery = setting.gallery(setting.known, side, RELEASED)
    limits = np.zeros(predicates.low.shape[0])
    _, matches, first = gallery.count(predicates, limits, most=most, progress=setting.progress)
    return matches, gallery.first_row[first]


def _are_exact(setting: Setting) -> bool:
    """Whether no cell of the known columns is a range, a set or * in any table."""
    return all(labels.is_exact for name in setting.known for labels in setting.encoded.column(name).labels)


def _count_in_column(setting: Setting, predicates: Probes, side: int, most: int | None = None) -> Matches:
    """As `_count_in_gallery`, for predicates of one column each and exact cells: by the order of its labels."""
    matches, rows = (np.zeros(predicates.low.shape[0], dtype=np.int64) for _ in range(2))
    for place, name in enumerate(setting.known):
        labels = setting.encoded.column(name).labels[side]
        some = np.flatnonzero(predicates.codes[:, place] >= 0)
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
    """Different predicates that hold for exactly one released record, as many as there are targets if possible."""
    wanted, draws = setting.targets.size, setting.random("singling out")
    found: dict[bytes, tuple[Floats, Floats, NDArray[np.int64]]] = {}
    middles = [_middle(setting.encoded.column(name).labels[RELEASED]) for name in setting.known]
    several = method == "multivariate"
    for tried in range(0, _CANDIDATES * wanted if several else 1, _BATCH):
        candidates = _several_columns(setting, draws, middles) if several else _single_columns(setting, draws)
        level, _ = count(setting, candidates, RELEASED, most=2)
        for place in np.flatnonzero(level == 1).tolist():
            one = candidates.low[place], candidates.high[place], candidates.codes[place]
            found.setdefault(one[0].tobytes() + one[1].tobytes(), one)
        if len(found) >= wanted or (tried and not found):
            break
    kept = list(found.values())[:wanted]
    low, high, codes = (
        np.array([one[part] for one in kept]).reshape(len(kept), len(setting.known)) for part in range(3)
    )
    return Probes(low, high, codes.astype(np.int64))


def _middle(labels: Labels) -> float:
    """The median of a column's cells by where they begin."""
    return float(np.median(labels.low[labels.codes]))


def _several_columns(setting: Setting, draws: np.random.Generator, middles: Sequence[float]) -> Probes:
    """Conjunctions over a few columns of random released records, of numbers towards the nearer end."""
    size, columns = _BATCH, len(setting.known)
    rows = draws.integers(0, setting.encoded.rows[RELEASED], size)
    width = min(setting.options.width, columns)
    chosen = draws.random((size, columns)).argsort(axis=1).argsort(axis=1) < width
    probes = setting.probes(setting.known, RELEASED, rows)
    low, high = probes.low.copy(), probes.high.copy()
    for place, name in enumerate(setting.known):
        if setting.encoded.column(name).number:
            exact = (low[:, place] == high[:, place]) & (low[:, place] <= 1.0)  # neither a range nor a null
            above = exact & (low[:, place] > middles[place])
            low[exact & ~above, place], high[above, place] = -np.inf, _ABOVE_ALL
    return Probes(low, high, probes.codes).without(~chosen)


def _single_columns(setting: Setting, draws: np.random.Generator) -> Probes:
    """Values that one released record has, and the ends of columns of numbers."""
    columns = len(setting.known)
    cells: list[tuple[int, float, float, int]] = []
    for place, name in enumerate(setting.known):
        column = setting.encoded.column(name)
        labels = column.labels[RELEASED]
        once = np.flatnonzero(np.bincount(labels.codes, minlength=labels.low.size) == 1)
        cells += [(place, labels.low[label], labels.high[label], label) for label in once.tolist()]
        values = np.where((labels.low == labels.high) & (labels.low <= 1.0), labels.low, np.nan)
        if column.number and np.isfinite(values).any():
            least, most = int(np.nanargmin(values)), int(np.nanargmax(values))
            cells += [(place, -np.inf, values[least], least), (place, values[most], _ABOVE_ALL, most)]
    cells = [cells[at] for at in draws.permutation(len(cells))[: 2 * setting.targets.size].tolist()]
    low, high = np.full((len(cells), columns), -np.inf), np.full((len(cells), columns), np.inf)
    codes = np.full((len(cells), columns), -1, dtype=np.int64)
    for row, (place, begin, end, label) in enumerate(cells):
        low[row, place], high[row, place], codes[row, place] = begin, end, label
    return Probes(low, high, codes)
