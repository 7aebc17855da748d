"""Section "forecast": the risk in larger populations, one estimate from the table to the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.assessment.sections.population import risk_curve
from incrowd.assessment.sections.section import AssessmentState, Section, Statement
from incrowd.forecasts import Forecast
from incrowd.forecasts.population_sizes import forecast_sizes
from incrowd.forecasts.table_forecast import forecast_from_risks
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import Sample

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment


def _forecast(work: AssessmentState) -> Forecast:
    sample, risks = risk_curve(work)
    return forecast_from_risks(sample, risks, seed=work.seed)


def _forecast_by_sizes(work: AssessmentState) -> Forecast:
    """A quick forecast from the class sizes alone."""
    sizes = work.answers["facts"].sizes
    sample = Sample(sizes, sizes.people)
    risks = estimate_risks(sample, forecast_sizes(sizes.people, None), seed=work.seed)
    return forecast_from_risks(sample, risks, seed=work.seed)


def _statements(found: Assessment) -> Iterator[Statement]:
    """The shares at populations that have a name, and at that of the question."""
    law = found.forecast
    if law is not None:
        asked = None if found.population is None else float(found.population.population)
        for size, statement in zip(law.at, law.statements, strict=True):
            if size == asked or not statement.is_detail:
                yield replace(statement, is_detail=False)


SECTION = Section("forecast", _forecast, _statements, first_look=_forecast_by_sizes, is_slow=True)
