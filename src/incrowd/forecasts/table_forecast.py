"""Forecast of a table: one estimate for all sizes, so that the risk in a population has one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.forecasts.law import forecast_fit
from incrowd.forecasts.population_sizes import (
    POPULATIONS,
    forecast_sizes,
    people_drawn,
    round_sizes,
    settle_populations,
)
from incrowd.forecasts.result import Estimate, Forecast, TableForecast
from incrowd.pitman_yor import ClassSizeFit, fit_class_sizes
from incrowd.populations import PopulationRisk
from incrowd.populations.copula import PATENT
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import Sample, read_sample
from incrowd.special import Floats
from incrowd.tables import TableLike, read_table
from incrowd.wording import whole


def forecast_table(
    data: TableLike,
    at: Sequence[float | str] | float | str,
    *,
    quasi_identifiers: Sequence[str],
    population: int | None = None,
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    person: str | None = None,
    k: Sequence[int] = (),
    populations: Mapping[str, float] | None = None,
    seed: int = 0,
    sizes: ClassSizes | None = None,
    progress: Progress = silent,
) -> TableForecast:
    """Forecast a table as `assess` does: the combined population estimate at every size beyond the table.

    Up to the number of people in the table the answer is exact. The shares of people in classes smaller than `k` follow
    the fitted law, because only the law gives them.

    Args:
        data: a table: a path, a frame or a `Table`.
        at: populations by size or by name: "city", "us", "eu", "world".
        quasi_identifiers: the columns an attacker knows.
        population: how many people the table was drawn from, if it is known.
        weights: the column of sampling weights, whose sum replaces `population`.
        strata: the column of the sampling stratum of each record; needs `weights`.
        cluster: the column of the sampling cluster (household, village) of each record.
        person: the column that identifies the person of each record, if people have several.
        k: sizes of classes; the share of people in smaller ones is forecast for each.
        populations: sizes of further populations by name.
        seed: seed of the synthetic people.
        sizes: the class sizes, if they are already counted.
        progress: callback that receives the current step and the share done.

    Returns:
        The forecast at these populations, and along round sizes as a curve.

    Raises:
        InputError: a population or k is out of range, or a column does not exist.
        UnsupportedError: the table cannot support a forecast, such as one in which everybody is unique.

    >>> rows = {"age": [30, 30, 41, 41, 52, 30], "sex": ["f", "f", "m", "f", "m", "m"]}
    >>> found = forecast_table(rows, [4, 1_000], quasi_identifiers=["age", "sex"])
    >>> found.forecast.method, found.forecast.names
    ('combined', ('4', '1,000'))
    """
    table = read_table(data)
    sizes = class_sizes_of(table, quasi_identifiers, person) if sizes is None else sizes
    unknown = population is None and weights is None
    sample = read_sample(
        table,
        population=sizes.people if unknown else population,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        strata=strata,
        cluster=cluster,
        person=person,
        sizes=sizes,
    )
    drawn_from, people = None if unknown else sample.population, sizes.people
    fit = _law_of(sample)
    law = _law_at(fit, *settle_populations(at, populations or {}), k, seed=seed)
    wanted = sorted({*forecast_sizes(people, drawn_from), *(int(size) for size in law.at if size > people)})
    drawn = people_drawn(people, drawn_from)
    risks = estimate_risks(sample, wanted, seed=seed, drawn=drawn, progress=part(progress, 0.0, 1.0))
    beyond = forecast_from_risks(sample, risks, seed=seed)
    within = [size for size in round_sizes(people) if size < people]
    curve = beyond
    if within:
        near = _law_at(fit, tuple(whole(size) for size in within), np.array(within), seed=seed)
        people_along, names = np.concatenate([near.at, beyond.at]), (*near.names, *beyond.names)
        curve = replace(beyond, at=people_along, names=names, violations={}, **_join(near, beyond))
    places = law.at.size + np.minimum(np.searchsorted(beyond.at, law.at), beyond.at.size - 1)
    places = np.where(law.at > people, places, np.arange(law.at.size))  # up to the measured people the law is exact
    answer = replace(law, **_join(law, beyond, places))
    return TableForecast(answer, curve, fit, drawn_from, sample.why_no_columns())


def forecast_from_risks(sample: Sample, risks: Sequence[PopulationRisk], *, seed: int = 0) -> Forecast:
    """The forecast for the populations of `risks`, which are estimates for one sample by ascending population.

    For a random sample the expected B is κ(N). So the risk in a population and the forecast for that size are one
    number with one interval. The fitted law gives h and γ, not the curve: it uses the class sizes only, and its
    interval is right only if the population follows it.
    """
    sizes = sample.sizes
    names = {size: name for name, size in POPULATIONS.items()}
    # h and γ do not depend on the population
    law = _law_at(_law_of(sample), (f"{sizes.people:,}",), np.array([float(sizes.people)]), seed=seed)
    lowest, highest = zip(*(risk.ends for risk in risks), strict=True)
    unique = np.array([risk.population_uniques or 0.0 for risk in risks])
    fewest, most = zip(*(risk.population_uniques_interval or (0.0, 0.0) for risk in risks), strict=True)
    people = np.array([float(risk.population) for risk in risks])
    nearest, farthest = risks[0].notes, risks[-1].notes
    return replace(
        law,
        at=people,
        names=tuple(names.get(risk.population, f"{risk.population:,}") for risk in risks),
        correctness=Estimate.containing([risk.sample_to_population for risk in risks], lowest, highest),
        uniqueness=Estimate.containing(unique / people, np.array(fewest) / people, np.array(most) / people),
        method="combined",
        notes=tuple(note for note in farthest if note not in nearest and note != PATENT),
    )


def _law_at(fit: ClassSizeFit, names: tuple[str, ...], at: Floats, k: Sequence[int] = (), *, seed: int) -> Forecast:
    """The law's own forecast."""
    return forecast_fit(fit, names, at, k, 0.95, seed, silent)


def _law_of(sample: Sample) -> ClassSizeFit:
    """The law fitted to the sample's class sizes."""
    return sample.class_size_model.fit or fit_class_sizes(sample.sizes)  # raises an error with the reason


def _join(near: Forecast, far: Forecast, places: Any = slice(None)) -> dict[str, Any]:
    """The shares of two forecasts, concatenated and indexed, with the method and notes of `far`."""
    assert near.uniqueness is not None
    assert far.uniqueness is not None

    def join(first: Estimate, second: Estimate) -> Estimate:
        sides = ("value", "low", "high")
        return Estimate(*(np.concatenate([getattr(first, side), getattr(second, side)])[places] for side in sides))

    return {
        "correctness": join(near.correctness, far.correctness),
        "uniqueness": join(near.uniqueness, far.uniqueness),
        "method": far.method,
        "notes": far.notes,
    }
