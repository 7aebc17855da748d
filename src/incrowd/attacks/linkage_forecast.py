"""Linkage in populations larger than the release: the crowd model grows the release, and the scaling law extrapolates.

New records are drawn from a model of the released ones. The same targets are searched among all of them, with the
attacker's noise. Beyond the number of drawn records, the scaling law is fitted to the ranks among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.attacks.encoding import encode_tables
from incrowd.attacks.generator import draw_rows
from incrowd.attacks.result import AtPopulation, wilson
from incrowd.attacks.setting import ORIGINAL, RELEASED, Setting
from incrowd.curves import Curve, robust_curve_from_ranks
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts import forecast
from incrowd.populations.intervals import CROWD_ERROR, ERRORS
from incrowd.special import NORMAL_QUANTILE
from incrowd.tables import read_table

_MOST_GROWN = 200_000  # records of the release and drawn ones together
_LEAST_GROWTH = 1.5  # smaller growths are not worth the time

Ranks = tuple[NDArray[np.int64], NDArray[np.int64]]


def carry_to_populations(
    setting: Setting, rank: Callable[[Setting], Ranks], curve: Curve
) -> tuple[tuple[AtPopulation, ...], list[str]]:
    """Correctness at the requested populations, with a note for those that cannot be forecast.

    Args:
        setting: the attack, with the populations.
        rank: function that returns, for each target of a setting, the number of released records nearer than the right
            one, and of equally near ones.
        curve: correctness by the size of the gallery, in the release.

    Raises:
        InputError: a population is smaller than the release.
    """
    wanted, rows = setting.options.populations, setting.encoded.rows[RELEASED]
    if not wanted:
        return (), []
    if min(wanted) < rows:
        raise InputError(f"a population of {min(wanted):,} for a release of {rows:,} rows; give {rows:,} or more")
    reached = min(max(wanted), _MOST_GROWN)
    notes: list[str] = []
    ranks: Ranks | None = None
    if reached >= _LEAST_GROWTH * rows:
        try:
            ranks = rank(_grown(setting, reached))
            curve = robust_curve_from_ranks(ranks[0] + 1, gallery=reached, ties=ranks[1])
        except UnsupportedError as reason:
            notes.append(f"the release could not be grown to a population, so the scaling law alone was used: {reason}")
    forecasts = []
    for size in sorted(set(wanted)):
        try:
            if ranks is not None and size <= reached:
                forecasts.append(_among_grown(size, rows, reached, *ranks))
            else:
                forecasts.append(_by_the_law(size, rows, reached if ranks else rows, curve, setting.seed))
        except UnsupportedError as reason:
            notes.append(f"what this comes to among {size:,} people could not be forecast: {reason}")
    return tuple(forecasts), notes


def _grown(setting: Setting, people: int) -> Setting:
    """The attack on the release with additional drawn records, up to a given size."""
    released = setting.tables[RELEASED]
    new = draw_rows(released, setting.known, people - released.rows, seed=setting.seed)
    whole = pa.concat_tables([released.to_arrow(list(setting.known)).cast(new.schema), new])
    encoded = encode_tables([setting.tables[ORIGINAL], read_table(whole)], setting.known)
    return replace(setting, encoded=encoded, galleries={})


def _among_grown(
    size: int, rows: int, reached: int, nearer: NDArray[np.int64], tied: NDArray[np.int64]
) -> AtPopulation:
    """Correctness among a number of the grown records."""
    curve = robust_curve_from_ranks(nearer + 1, gallery=reached, ties=tied, at=[size])
    value = float(curve.correctness[0])
    low, high = wilson(value * nearer.size, nearer.size)[1:]
    return AtPopulation(size, *_widened(value, low, high, _error_of_growth(size, rows)))


def _by_the_law(size: int, rows: int, seen: int, curve: Curve, seed: int) -> AtPopulation:
    """Correctness by the law from a curve up to `seen` records, with the usual errors of the law and the growth."""
    estimate = forecast(curve, at=size, seed=seed).correctness
    value, low, high = (float(one[0]) for one in (estimate.value, estimate.low, estimate.high))
    of_the_law = NORMAL_QUANTILE * ERRORS["posterior"].growth * math.log(size / seen)
    return AtPopulation(size, *_widened(value, low, high, math.hypot(of_the_law, _error_of_growth(seen, rows))))


def _error_of_growth(people: int, rows: int) -> float:
    """Half the interval of the crowd model in log odds, which was measured on real tables."""
    return float(CROWD_ERROR * math.log(people / rows) / rows**0.25)


def _widened(value: float, low: float, high: float, error: float) -> tuple[float, float, float]:
    """An estimate with an additional error of its interval, in log odds; the interval of 0 or 1 stays."""
    if not 0 < value < 1:
        return value, low, high
    middle = _log_odds(value)
    low, high = (
        _share(middle + sign * math.hypot(error, _log_odds(end) - middle)) for sign, end in ((-1, low), (1, high))
    )
    return value, low, high


def _log_odds(share: float) -> float:
    return math.log(max(share, 1e-300) / max(1 - share, 1e-16))


def _share(log_odds: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * log_odds))
