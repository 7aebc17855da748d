"""`forecast`: the share of people named correctly in any population, with an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd._support.seed import require_seed
from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.curves import Curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.law import forecast_fit
from incrowd.forecasts.population_sizes import settle_populations
from incrowd.forecasts.result import Forecast
from incrowd.forecasts.table_forecast import forecast_table
from incrowd.forecasts.techniques import hold_out_technique, is_technique
from incrowd.pitman_yor import ClassSizeFit, CurveFit, fit_class_sizes, fit_curve
from incrowd.pitman_yor.model_checks import hold_out
from incrowd.tables import TableLike, read_table

TABLE_LEVEL = 0.95
"""The level of the intervals of a population estimate."""


def forecast(
    data: ClassSizes | Curve | ClassSizeFit | CurveFit | TableLike,
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
    """Forecast correctness, uniqueness and k-anonymity violations in populations of any size.

    For a table, the forecast is the estimate of `population_risk` at each size, by `forecast_table`. Class sizes,
    curves and fits follow the scaling law. A fit to class sizes continues from the measured people, who are part of the
    population. A fit to a curve gives the value of the law. For a technique (a robust curve, or published points) whose
    number of probes is known, the law is averaged with a binormal model of scores, by the evidence for each. The
    forecast is checked on held-out data (`hold_out` of the result), and a note says if it fails.

    Args:
        data: a table (a path, a frame or a `Table`) with `quasi_identifiers`, or with the columns `n` and
            `correctness` of a curve; or `ClassSizes`, a `Curve`, or a fit to either.
        at: populations by size or by name: "city", "us", "eu", "world" and those of `populations`.
        quasi_identifiers: the columns an attacker knows, if a table is given.
        person: the column that identifies the person of each record, if people have several.
        k: sizes of classes; the share of people in smaller ones is forecast for each.
        populations: sizes of further populations by name.
        level: level of the intervals.
        seed: seed of the synthetic people of a table and of the people held out; the law itself has no random draws.
        progress: callback that receives the current step and the share done.

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
    names, sizes = settle_populations(at, populations or {})
    seed = require_seed(seed)
    if not isinstance(data, ClassSizeFit | CurveFit | Curve | ClassSizes):
        data = read_table(data)
        if quasi_identifiers or person is not None or not {"n", "correctness"} <= set(data.columns):
            if level != TABLE_LEVEL:
                raise InputError(
                    f"intervals of a table's forecast have a level of {TABLE_LEVEL:g}, as those of population_risk; "
                    f"{level:g} was given: leave it out, or give the class sizes"
                )
            class_sizes = class_sizes_of(data, quasi_identifiers, person)
            columns = quasi_identifiers or ()
            return forecast_table(
                data, at, quasi_identifiers=columns, person=person, k=k, populations=populations, seed=seed,
                sizes=class_sizes, progress=progress,
            ).forecast  # fmt: skip
    fit = _fit_of(data, quasi_identifiers, person)
    return _checked(forecast_fit(fit, names, sizes, k, level, seed, progress), fit, seed)


def _checked(answer: Forecast, fit: ClassSizeFit | CurveFit, seed: int) -> Forecast:
    """Add the check of the fit on held-out data to the forecast, and a note if it failed or was not possible."""
    try:
        check = hold_out_technique(fit) if is_technique(fit) else hold_out(fit, seed=seed)
    except UnsupportedError as reason:
        note = f"the fit was not checked on a part of the data: {reason}"
        return replace(answer, notes=(*answer.notes, note))
    notes = (*answer.notes, check.warning) if check.warning else answer.notes
    return replace(answer, hold_out=check, notes=notes)


def _fit_of(data: Any, quasi_identifiers: Sequence[str] | None, person: str | None) -> ClassSizeFit | CurveFit:
    """Return the given fit, or fit the data."""
    if isinstance(data, ClassSizeFit | CurveFit | Curve):
        if quasi_identifiers is not None or person is not None:
            raise InputError("a fit and a curve have no columns; give the table to use quasi-identifiers")
        return fit_curve(data) if isinstance(data, Curve) else data
    if isinstance(data, ClassSizes):
        return fit_class_sizes(class_sizes_of(data, quasi_identifiers, person))
    return fit_curve(Curve.read(data))
