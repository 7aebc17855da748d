"""`forecast`: how many people are named correctly in any population, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.curves import Curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.law import forecast_class_size_fit, forecast_curve_fit
from incrowd.forecasts.result import Forecast
from incrowd.pitman_yor import ClassSizeFit, CurveFit, fit_class_sizes, fit_curve
from incrowd.pitman_yor.model_checks import HoldOut, hold_out
from incrowd.special import Floats
from incrowd.tables import read_table

POPULATIONS: Mapping[str, int] = {
    "city": 1_000_000,
    "us": 331_000_000,
    "eu": 449_000_000,
    "world": 7_530_000_000,  # as in the scaling-law paper
}
"""Populations that have a name: a city of a million, the United States, the European Union, the world."""

_LARGEST = 1e12
_LARGEST_K = 100


def forecast(
    data: Any,
    at: Sequence[float | str] | float | str,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    k: Sequence[int] = (),
    populations: Mapping[str, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> Forecast:
    """Forecast correctness, uniqueness and k-anonymity violations in populations of any size, by the scaling law.

    A fit to class sizes is carried on from the people at hand, who are part of the population; a fit to a curve gives
    the law's value. Of a table `forecast_table` and `population_risk` know more than the law does.

    Args:
        data: a table (a path, a frame or a `Table`) with `quasi_identifiers`, or with the columns `n` and
            `correctness` of a curve; or `ClassSizes`, a `Curve`, or a fit to either.
        at: populations by size or by name: "city", "us", "eu", "world" and those of `populations`.
        quasi_identifiers: the columns an attacker knows, where a table is given.
        person: the column that says whose record a row is, where people have several.
        k: sizes of classes; the share of people in smaller ones is forecast for each.
        populations: sizes of further populations by name.
        level: of the intervals.
        seed: is noted on the result; the forecast itself has no random draws.
        progress: called with what is done and the share that is done.

    Returns:
        The estimates with their intervals, and notes on what limits them.

    Raises:
        InputError: a population, k or the level is out of range, or quasi-identifiers are missing.
        UnsupportedError: no law can be fitted to the data.

    >>> from incrowd.pitman_yor import fit_curve
    >>> answer = forecast(fit_curve([100, 1000], correctness=[0.9, 0.6]), at=[10_000, "world"])
    >>> answer.names, round(float(answer.correctness.value[0]), 2)
    (('10,000', 'world'), 0.28)
    """
    if not 0 < level < 1:
        raise InputError(f"the level of an interval is between 0 and 1; {level:g} was given")
    if any(one < 2 or one > _LARGEST_K or one != int(one) for one in k):
        raise InputError(f"k must be whole numbers from 2 to {_LARGEST_K}")
    names, sizes = settle_populations(at, populations or {})
    fit = _fit_of(data, quasi_identifiers, person)
    if isinstance(fit, ClassSizeFit):
        return forecast_class_size_fit(fit, names, sizes, k, level, seed, progress)
    return forecast_curve_fit(fit, names, sizes, k, level, seed, progress)


def check_forecast(
    answer: Forecast, fit: ClassSizeFit | CurveFit, *, seed: int = 0
) -> tuple[Forecast, HoldOut | None, str | None]:
    """The forecast with a note where its fit fails on held-out data; the check; and why there is none, where so.

    >>> fit = fit_curve([10, 100, 1000], correctness=[0.99, 0.9, 0.6])
    >>> check_forecast(forecast(fit, at="city"), fit)[1].size
    1000
    """
    try:
        check = hold_out(fit, seed=seed)
    except UnsupportedError as reason:
        return answer, None, str(reason)
    return (replace(answer, notes=(*answer.notes, check.warning)) if check.warning else answer), check, None


def _fit_of(data: Any, quasi_identifiers: Sequence[str] | None, person: str | None) -> ClassSizeFit | CurveFit:
    """The fit that was given, or one of the data."""
    if isinstance(data, ClassSizeFit | CurveFit | Curve):
        if quasi_identifiers is not None or person is not None:
            raise InputError("a fit and a curve have no columns; give the table to use quasi-identifiers")
        return fit_curve(data) if isinstance(data, Curve) else data
    if isinstance(data, ClassSizes):
        return fit_class_sizes(class_sizes_of(data, quasi_identifiers, person))
    table = read_table(data)
    if not quasi_identifiers and person is None and {"n", "correctness"} <= set(table.columns):
        return fit_curve(Curve.read(table))
    return fit_class_sizes(class_sizes_of(table, quasi_identifiers, person))


def settle_populations(
    at: Sequence[float | str] | float | str, more: Mapping[str, float]
) -> tuple[tuple[str, ...], Floats]:
    """Names and sizes of the populations."""
    known = {**POPULATIONS, **{name.lower(): size for name, size in more.items()}}
    wanted = [at] if isinstance(at, str | int | float | np.number) else list(at)
    names, sizes = [], []
    for one in wanted:
        if isinstance(one, str):
            if one.lower() not in known:
                raise InputError(f"no population is called {one!r}; there are {', '.join(known)}; or give a number")
            names.append(one)
            sizes.append(float(known[one.lower()]))
        else:
            names.append(f"{one:,.0f}")
            sizes.append(float(one))
    array = np.array(sizes)
    if not array.size or not np.all(np.isfinite(array)) or np.any(array < 1) or np.any(array != np.floor(array)):
        raise InputError("populations must be whole numbers of 1 or more")
    if array.max() > _LARGEST:
        raise InputError(f"populations can be at most {_LARGEST:.0e}")
    return tuple(names), array
