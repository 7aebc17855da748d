"""A sample fitted by everything that its columns allow, and the combined estimate for any population.

Without columns the class sizes answer alone. With the records the crowd model answers, joined with the anchored copula
where the sample is small; where the records cannot be grown, the copula and the class sizes do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from incrowd._support.progress import Progress, part
from incrowd.pitman_yor import ClassSizeFit
from incrowd.populations import anchored, combined, copula, crowd_estimator, posterior_estimator
from incrowd.populations.crowd_estimator import CrowdEstimate, grow_sample
from incrowd.populations.intervals import interval_around, interval_of_crowd, interval_of_uniques
from incrowd.populations.posterior_estimator import estimate_by_posterior
from incrowd.populations.sample import Sample

IN_ORDER_OF_VALUES = (
    "people are grown in the order of the records, and a cluster keeps none: they were sorted by their values, so the "
    "same table read here differs by as much as another seed makes"
)


@dataclass(frozen=True, slots=True)
class MethodEstimate:
    """Estimates of a method. A field that `PopulationRisk` also has is copied to the result."""

    sample_to_population: float
    interval: tuple[float, float]
    population_uniques: float
    still_unique: float | None
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    still_unique_interval: tuple[float, float] | None = None
    crowd: CrowdEstimate | None = None


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Options of an estimate: the seed, the number of draws, and if it is the reference."""

    seed: int
    draws: int
    reference: bool
    progress: Progress
    leave_out: bool = False


def estimate_from_class_sizes(sample: Sample) -> MethodEstimate:
    """The estimate of the class sizes alone."""
    found = estimate_by_posterior(sample.class_size_model, sample.population)
    estimate, still_unique = found.sample_to_population, found.still_unique
    deviation = combined.log_deviation(found.interval)
    return MethodEstimate(
        estimate,
        interval_around("posterior", estimate, sample, scatter=found.scatter, deviation=deviation),
        found.population_uniques,
        still_unique,
        posterior_estimator.ASSUMPTIONS,
        found.notes,
        still_unique_interval=interval_of_uniques("posterior", still_unique, estimate, sample, deviation=deviation),
    )


def note_alone(estimate: MethodEstimate, reason: str) -> MethodEstimate:
    return replace(estimate, notes=(*estimate.notes, f"the posterior estimator alone: {reason}"))


def why_class_sizes_alone(sample: Sample) -> str | None:
    """Why the class sizes answer alone, or None where a copula joins them."""
    reason = sample.why_no_columns()
    if reason is not None:
        return reason
    telling = sample.telling_columns.sizes
    if max(telling) < 2:
        return "all records are alike"
    if sample.design is None and len(telling) < 2:
        return "one column alone tells the records apart, and the other methods are about several"
    return None


def _estimate_without_records(
    sample: Sample, fitted: anchored.AnchoredEstimate, trials: Sequence[ClassSizeFit]
) -> MethodEstimate:
    """The estimate of the copula and the class sizes together."""
    sizes = estimate_by_posterior(sample.class_size_model, sample.population)
    both = combined.combine(fitted, sizes, trials)
    estimate, deviation = both.sample_to_population, both.deviation
    parts = [("anchored", both.anchored), ("posterior", both.posterior), ("weight of class sizes", both.weight)]
    if both.corrected is not None:
        parts.insert(2, ("posterior, corrected", both.corrected))
    return MethodEstimate(
        estimate,
        interval_around("combined", estimate, sample, scatter=sizes.scatter, deviation=deviation),
        both.population_uniques,
        both.still_unique,
        combined.ASSUMPTIONS,
        (*sizes.notes, *fitted.notes, copula.PATENT),
        tuple(parts),
        interval_of_uniques("combined", both.still_unique, estimate, sample, deviation=deviation),
    )


def estimate_from_crowd(
    sample: Sample, crowd: CrowdEstimate, fitted: anchored.AnchoredEstimate | None
) -> MethodEstimate:
    """The estimate of the crowd model and, where it is given, the copula."""
    estimate, uniqueness, parts = combined.join_crowd(crowd, fitted, sample.sizes)
    still_unique = uniqueness / sample.sizes.uniqueness if sample.sizes.uniques else None
    notes = crowd.notes if fitted is None else (*crowd.notes, copula.PATENT)
    if sample.columns().times is not None:
        notes = (*notes, IN_ORDER_OF_VALUES)
    return MethodEstimate(
        estimate,
        interval_of_crowd(estimate, sample, grown=crowd.grown, variance=crowd.variance),
        sample.population * uniqueness,
        still_unique,
        crowd_estimator.ASSUMPTIONS,
        (*sample.class_size_model.notes, *notes),
        parts,
        interval_of_uniques("crowd", still_unique, estimate, sample),
        crowd=crowd,
    )


class FittedSample:
    """A sample fitted once, by everything that its columns allow, for several populations larger than it.

    `drawn` is how many synthetic people the copula draws for all of them; None: what the sample's own needs.
    """

    def __init__(self, sample: Sample, options: FitOptions, populations: Collection[int], drawn: int | None) -> None:
        self.sample, self.options = sample, options
        self.reason = why_class_sizes_alone(sample)
        self.crowd: dict[int, CrowdEstimate] = {}
        self.copula: anchored.AnchoredEstimate | None = None
        self.dependence: anchored.Dependence | None = None
        people = sample.sizes.people
        own = anchored.people_drawn(people, sample.population)
        self.drawn = own if drawn is None else max(drawn, people)
        self.trials: list[ClassSizeFit] = []
        larger = [population for population in populations if population > people]
        if self.reason is not None or not larger:
            return
        self.no_records = sample.why_no_records()
        if self.no_records is None:
            self.crowd = grow_sample(
                sample.crowd_model,
                larger,
                seed=[options.seed],
                keep=sample.population,
                leave_out=options.leave_out,
                progress=part(options.progress, 0.0, 0.7),
            )
        with ThreadPoolExecutor(1) as pool:
            # its records are asked for afterwards, whatever the copula says
            modelled = pool.submit(lambda: sample.crowd_model) if sample.is_modelled_ungrown() else None
            # the copula does not know of weights
            if self.no_records is not None or (sample.design is None and combined.copula_weight(people) > 0.0):
                self.copula = self._fit_copula(self.drawn, sample.population)
            if self.no_records is not None and self.copula is not None:
                options.progress("joining it with the class sizes", 0.95)
                self.trials = combined.fit_trials(self.copula, seed=[options.seed])
            if modelled is not None:
                modelled.result()

    def _fit_copula(self, drawn: int, population: int) -> anchored.AnchoredEstimate:
        columns, progress = self.sample.columns(pairs=True), part(self.options.progress, 0.7, 0.9)
        self.dependence = self.dependence or anchored.fit_dependence(columns, progress=part(progress, 0.0, 0.3))
        return anchored.fit_anchored(
            columns,
            self.sample.sizes,
            max(drawn, population),
            seed=[self.options.seed],
            draws=self.options.draws,
            drawn=drawn,
            dependence=self.dependence,
            progress=progress,
        )

    def estimate(self, sample: Sample, *, alone: bool) -> MethodEstimate:
        """The estimate for one of the populations; `alone`: as if no other population were asked for."""
        if self.reason is not None:
            return note_alone(estimate_from_class_sizes(sample), self.reason)
        fitted = self.copula
        if fitted is not None:
            own = anchored.people_drawn(sample.sizes.people, sample.population)
            if alone and own != self.drawn:
                fitted = self._fit_copula(own, sample.population)
            fitted = fitted.at(sample.population)
        if self.no_records is None:
            return estimate_from_crowd(sample, self.crowd[sample.population], fitted)
        assert fitted is not None
        trials = self.trials
        if alone and fitted.copula is not (self.copula and self.copula.copula):
            trials = combined.fit_trials(fitted, seed=[self.options.seed])
        found = _estimate_without_records(sample, fitted, trials)
        return replace(found, notes=(*found.notes, f"by copula and class sizes, because {self.no_records}"))
