"""Section "population": the risk in the population that the table was drawn from."""

from __future__ import annotations

from incrowd.assessment.sections.section import AssessmentState, RiskCurve, Section
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.population_sizes import forecast_sizes, people_drawn
from incrowd.populations import PopulationRisk
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import Sample, read_sample
from incrowd.wording import listed


def population_is_known(work: AssessmentState) -> bool:
    """True if the population was given, or is the sum of weights; weights of people with histories are not used."""
    return work.question.population is not None or (work.roles.weight is not None and work.roles.person is None)


def risk_curve(work: AssessmentState) -> RiskCurve:
    """The risk from the table to the largest population, estimated once for this section and the forecast.

    Raises:
        UnsupportedError: the data cannot support an estimate.
    """
    if work.curve is None:
        try:
            work.curve = _estimate_curve(work)
        except UnsupportedError as reason:
            work.curve = reason
    if isinstance(work.curve, UnsupportedError):
        raise work.curve
    return work.curve


def _estimate_curve(work: AssessmentState) -> RiskCurve:
    people, sample = work.answers["facts"].people, _read_sample(work)
    asked = sample.population if population_is_known(work) else None
    at = forecast_sizes(people, asked)
    return RiskCurve(
        sample,
        estimate_risks(sample, at, seed=work.seed, drawn=people_drawn(people, asked), progress=work.part(SECTION)),
    )


def _read_sample(work: AssessmentState) -> Sample:
    """The table as a sample of the given population, of the sum of its weights, or of itself."""
    facts, given = work.answers["facts"], work.question.population
    no_sample = work.answers["evidence"].no_sample
    if given is not None and given < facts.people:
        raise InputError(f"a population of {given:,} is smaller than the table, which holds {facts.people:,} people")
    if no_sample is not None:
        raise UnsupportedError(
            f"{no_sample.sentence}; so it is judged by its own classes, as if attackers knew who is in it",
            hint=no_sample.hint,
        )
    strata, cluster = work.question.strata, work.question.cluster
    lost = [name for name in (strata, cluster) if name is not None and name not in work.table.columns]
    if lost:
        raise UnsupportedError(
            f"the records were drawn by {listed(lost)}, which this table does not have; so it is judged by its own "
            "classes, as if attackers knew who is in it"
        )
    return read_sample(
        work.table,
        population=given if population_is_known(work) else facts.people,
        quasi_identifiers=work.roles.quasi_identifiers,
        weights=work.roles.weight if work.roles.person is None else None,
        person=work.roles.person,
        sizes=facts.sizes,
        strata=strata,
        cluster=cluster,
    )


def _risk(work: AssessmentState) -> PopulationRisk:
    if not population_is_known(work):
        raise UnsupportedError(
            "the population was not given; say how many people the table was drawn from", hint="population"
        )
    sample, risks = risk_curve(work)
    return next(risk for risk in risks if risk.population == sample.population)


def estimate_alone(work: AssessmentState) -> PopulationRisk:
    """The risk in the population without the forecast, for a verdict alone."""
    sample = _read_sample(work)
    return estimate_risks(sample, [sample.population], seed=work.seed, tell=False, progress=work.part(SECTION))[0]


SECTION = Section("population", _risk, weight=40, is_asked=population_is_known)
