"""`classical_risk`: all classical estimators of one sample, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd.classes import assign_classes
from incrowd.errors import UnsupportedError
from incrowd.populations.classical import FROM_SIZES, ClassicalEstimate, benedetti_franconi, entropy_score
from incrowd.populations.sample import Sample, read_sample


def classical_risk(
    data: Any,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
) -> dict[str, ClassicalEstimate]:
    """Zayatz, Pitman, Ewens, SNB, Dankar's rule, Benedetti–Franconi and the entropy score, by name.

    An estimator without an answer for this sample says why in `refused`. With `weights` the Benedetti–Franconi estimate
    uses each class's own weights. With `person` people are counted, not records. The entropy score
    needs a table of one record a person.

    >>> from incrowd import ClassSizes
    >>> found = classical_risk(ClassSizes.from_counts({1: 300, 2: 120, 3: 60}), population=7200)
    >>> found["zayatz"].population_uniqueness
    0.1888...
    """
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
    )
    if sample.sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    found: dict[str, ClassicalEstimate] = {}
    for name, estimator in FROM_SIZES.items():
        try:
            found[name] = estimator(sample.sizes, sample.population)
        except UnsupportedError as reason:
            found[name] = ClassicalEstimate(method=name, population=sample.population, refused=str(reason))
    if sample.why_no_columns() is None and sample.table is not None:
        if sample.weights is not None:
            classes = assign_classes(sample.table, sample.names)
            estimated = sample.weights.of_classes(classes.numbers)
            found["benedetti-franconi"] = benedetti_franconi(
                sample.sizes, sample.population, seen=classes.people.astype(np.float64), estimated=estimated
            )
        found["entropy"] = _entropy(sample)
    return found


def _entropy(sample: Sample) -> ClassicalEstimate:
    try:
        columns = sample.columns()
    except UnsupportedError as reason:
        return ClassicalEstimate(method="entropy", population=sample.population, refused=str(reason))
    counts = [columns.counts(j) for j in range(len(columns.sizes))]
    return entropy_score(counts, columns.codes, sample.population, times=columns.times)
