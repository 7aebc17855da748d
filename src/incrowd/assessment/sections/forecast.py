"""Section "forecast": the risk in larger populations, one estimate from the table to the world."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.assessment.sections.population import populations_ahead, risk_curve
from incrowd.assessment.sections.section import Section, Statement, Work
from incrowd.classes import ClassSizes
from incrowd.forecasts.api import POPULATIONS, Estimate, Forecast, forecast
from incrowd.pitman_yor import fit_class_sizes
from incrowd.populations import PopulationRisk
from incrowd.populations.copula import PATENT
from incrowd.populations.risk_curve import curve_of
from incrowd.populations.sample import Sample
from incrowd.wording import about_people, interval_at, share

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment


def _forecast(work: Work) -> Forecast:
    return _along(work, risk_curve(work))


def _forecast_by_sizes(work: Work) -> Forecast:
    """The forecast by the class sizes alone, which takes no time."""
    sizes: ClassSizes = work.answers["facts"].sizes
    at = populations_ahead(sizes.people, None)
    return _along(work, curve_of(Sample(sizes, sizes.people), at, seed=work.seed))


def _along(work: Work, risks: Sequence[PopulationRisk]) -> Forecast:
    """The forecast for the populations of `risks`; the law is fitted once, for the first look and the whole."""
    sizes: ClassSizes = work.answers["facts"].sizes
    if "law" not in work.shared:  # h and γ are the same wherever it looks
        work.shared["law"] = forecast(fit_class_sizes(sizes), at=sizes.people, seed=work.seed)
    return forecast_along(work.shared["law"], sizes, risks)


def forecast_along(law: Forecast, sizes: ClassSizes, risks: Sequence[PopulationRisk]) -> Forecast:
    """The forecast for the populations of `risks`, which are estimates for one sample.

    For a random sample the expected B is κ(N): the risk in a population and the forecast for a population of that size
    are one number, and so are their intervals. The fitted law gives h and γ, not the curve: it knows the class sizes
    only, and its interval holds only if the population follows it.
    """
    name_of = {size: name for name, size in POPULATIONS.items()}
    open_end = -math.expm1(math.log(0.05) / sizes.people)  # nobody unique among n: at most about 3/n are
    ends = [risk.still_unique_interval or (0.0, 0.0) for risk in risks]
    unique = [(risk.population_uniques or 0.0) / risk.population for risk in risks]
    least, most = ([end[side] * sizes.uniqueness for end in ends] for side in (0, 1))
    lowest, highest = zip(*(risk.interval or (risk.B, risk.B) for risk in risks), strict=True)
    near, far = risks[0].notes, risks[-1].notes
    return replace(
        law,
        at=np.array([float(risk.population) for risk in risks]),
        names=tuple(name_of.get(risk.population, f"{risk.population:,}") for risk in risks),
        correctness=_estimate([risk.B for risk in risks], lowest, highest),
        uniqueness=_estimate(unique, least, most if sizes.uniques else [min(open_end, end) for end in highest]),
        method="combined",
        notes=tuple(note for note in far if note not in near and note != PATENT),  # of the farthest populations only
    )


def _estimate(value: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Estimate:
    return Estimate(np.array(value), np.array(low), np.array(high))


def _statements(found: Assessment) -> Iterator[Statement]:
    law = found.forecast
    if law is None:
        return
    asked = None if found.population is None else float(found.population.population)
    for index, name in enumerate(law.names):
        value, low, high = (float(getattr(law.correctness, side)[index]) for side in ("value", "low", "high"))
        if not name.replace(",", "").isdigit() or law.at[index] == asked:
            place = name.upper() if len(name) == 2 else name
            yield Statement(
                "forecast",
                f"{name} people" if name[0].isdigit() else f"{place} ({law.at[index]:,.0f} people)",
                value,
                share(value),
                f"Named correctly in a population of that size: about {about_people(law.people_named[index])}.",
                interval_at(law.level, low, high),
                "the table is a random sample of a population of that size; estimated as the risk in a given "
                "population is",
            )


SECTION = Section("forecast", _forecast, _statements, first_look=_forecast_by_sizes, is_slow=True)
