"""Section "forecast": the risk in larger populations, one estimate from the table to the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from incrowd.assessment.sections.population import risk_curve
from incrowd.assessment.sections.section import AssessmentState, Section, Statement
from incrowd.forecasts import Forecast
from incrowd.forecasts.population_sizes import forecast_sizes
from incrowd.forecasts.table_forecast import forecast_from_risks
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import Sample
from incrowd.wording import about_people, interval_at, people, percent

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment


def _forecast(work: AssessmentState) -> Forecast:
    risks = risk_curve(work)
    return forecast_from_risks(work.shared["sample"], risks, seed=work.seed)


def _forecast_by_sizes(work: AssessmentState) -> Forecast:
    """A quick forecast from the class sizes alone."""
    sizes = work.answers["facts"].sizes
    sample = Sample(sizes, sizes.people)
    risks = estimate_risks(sample, forecast_sizes(sizes.people, None), seed=work.seed)
    return forecast_from_risks(sample, risks, seed=work.seed)


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
                f"{name} people" if name[0].isdigit() else f"{place} ({people(law.at[index])})",
                value,
                percent(value),
                f"Named correctly in a population of that size: about {about_people(law.people_named[index])}.",
                interval_at(law.level, low, high),
                "the table is a random sample of a population of that size; estimated as the risk in a given "
                "population is",
            )


SECTION = Section("forecast", _forecast, _statements, first_look=_forecast_by_sizes, is_slow=True)
