"""The combined estimate for any population, from all models that can be fitted to a sample.

Without columns, the posterior of the class sizes is used alone. With records, the crowd model is used, combined with
the anchored copula if the sample is small. If the records cannot be grown, copula and posterior are combined.
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
    """Options of an estimate.

    `reference` fits published copulas by Monte Carlo; `leave_out` also counts the classes without each column.
    """

    seed: int
    draws: int
    reference: bool
    progress: Progress
    leave_out: bool = False


def estimate_from_class_sizes(sample: Sample) -> MethodEstimate:
    """The estimate from the posterior of the class sizes alone."""
    posterior = estimate_by_posterior(sample.class_size_model, sample.population)
    estimate, still_unique = posterior.sample_to_population, posterior.still_unique
    deviation = combined.log_deviation(posterior.interval)
    return MethodEstimate(
        estimate,
        interval_around("posterior", estimate, sample, scatter=posterior.scatter, deviation=deviation),
        posterior.population_uniques,
        still_unique,
        posterior_estimator.ASSUMPTIONS,
        posterior.notes,
        still_unique_interval=interval_of_uniques("posterior", still_unique, estimate, sample, deviation=deviation),
    )


def note_class_sizes_only(estimate: MethodEstimate, reason: str) -> MethodEstimate:
    return replace(estimate, notes=(*estimate.notes, f"the posterior estimator alone: {reason}"))


def why_class_sizes_only(sample: Sample) -> str | None:
    """The reason why only class sizes can be used; None if other models can be fitted."""
    reason = sample.why_no_columns()
    if reason is not None:
        return reason
    column_sizes = sample.informative_columns.sizes
    if max(column_sizes) < 2:
        return "all records are alike"
    if sample.design is None and len(column_sizes) < 2:
        return "one column alone tells the records apart, and the other methods are about several"
    return None


def _estimate_without_records(
    sample: Sample, fitted: anchored.AnchoredEstimate, trials: Sequence[ClassSizeFit]
) -> MethodEstimate:
    """The combination of the copula and the posterior of the class sizes."""
    posterior = estimate_by_posterior(sample.class_size_model, sample.population)
    combination = combined.combine(fitted, posterior, trials)
    estimate, deviation = combination.sample_to_population, combination.deviation
    parts = [
        ("anchored", combination.anchored),
        ("posterior", combination.posterior),
        ("weight of class sizes", combination.weight),
    ]
    if combination.corrected is not None:
        parts.insert(2, ("posterior, corrected", combination.corrected))
    return MethodEstimate(
        estimate,
        interval_around("combined", estimate, sample, scatter=posterior.scatter, deviation=deviation),
        combination.population_uniques,
        combination.still_unique,
        combined.ASSUMPTIONS,
        (*posterior.notes, *fitted.notes, copula.PATENT),
        tuple(parts),
        interval_of_uniques("combined", combination.still_unique, estimate, sample, deviation=deviation),
    )


def estimate_from_crowd(
    sample: Sample, crowd: CrowdEstimate, fitted: anchored.AnchoredEstimate | None
) -> MethodEstimate:
    """The estimate of the crowd model, combined with the copula `fitted` unless it is None."""
    estimate, uniqueness, parts = combined.join_crowd(crowd, fitted, sample.sizes)
    still_unique = uniqueness / sample.sizes.uniqueness if sample.sizes.uniques else None
    notes = crowd.notes if fitted is None else (*crowd.notes, copula.PATENT)
    if sample.columns().times is not None:
        notes = (*notes, IN_ORDER_OF_VALUES)
    return MethodEstimate(
        estimate,
        interval_of_crowd(
            estimate,
            sample,
            grown=crowd.grown,
            variance=crowd.variance,
            drift=crowd.drift,
            gap=combined.gap_between(crowd, fitted),
        ),
        sample.population * uniqueness,
        still_unique,
        crowd_estimator.ASSUMPTIONS,
        (*sample.class_size_model.notes, *notes),
        parts,
        interval_of_uniques("crowd", still_unique, estimate, sample),
        crowd=crowd,
    )


class FittedSample:
    """A sample with its models, fitted once for several populations larger than the sample.

    `drawn` is the number of synthetic people for all populations; None for the number that `sample.population` needs.
    """

    def __init__(self, sample: Sample, options: FitOptions, populations: Collection[int], drawn: int | None) -> None:
        self.sample, self.options = sample, options
        self.reason = why_class_sizes_only(sample)
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
                leave_out=sample.population if options.leave_out else None,
                progress=part(options.progress, 0.0, 0.7),
            )
        with ThreadPoolExecutor(1) as pool:
            # fitted in parallel: the risk of every record needs it later
            modelled = pool.submit(lambda: sample.crowd_model) if sample.is_modelled_ungrown() else None
            # the copula does not use weights
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

    def estimate(self, sample: Sample, *, single_population: bool) -> MethodEstimate:
        """The estimate for one population; with `single_population`, as if only this population were requested."""
        if self.reason is not None:
            return note_class_sizes_only(estimate_from_class_sizes(sample), self.reason)
        fitted = self.copula
        if fitted is not None:
            own = anchored.people_drawn(sample.sizes.people, sample.population)
            if single_population and own != self.drawn:
                fitted = self._fit_copula(own, sample.population)
            fitted = fitted.at(sample.population)
        if self.no_records is None:
            return estimate_from_crowd(sample, self.crowd[sample.population], fitted)
        assert fitted is not None
        trials = self.trials
        if single_population and fitted.copula is not (self.copula and self.copula.copula):
            trials = combined.fit_trials(fitted, seed=[self.options.seed])
        estimate = _estimate_without_records(sample, fitted, trials)
        return replace(estimate, notes=(*estimate.notes, f"by copula and class sizes, because {self.no_records}"))
