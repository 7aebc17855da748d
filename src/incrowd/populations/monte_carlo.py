"""The two copulas fitted by Monte Carlo, as published: slow and noisy, to check the deterministic fits against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from incrowd._support.progress import Progress, silent
from incrowd.errors import UnsupportedError
from incrowd.populations.copula import upper_edges
from incrowd.populations.copula_fit import chain_columns, correlation_of_vine, nearest_correlation, strata_between
from incrowd.populations.information import observed_information
from incrowd.populations.marginals import CodedColumns
from incrowd.special import Floats


def fit_by_monte_carlo(
    columns: CodedColumns, kinds: Sequence[str], *, seed: int = 0, progress: Progress = silent
) -> list[tuple[CodedColumns, Floats]]:
    """Columns and correlation matrix for each of `kinds`, "gaussian" or "dvine"."""
    if columns.times is not None:
        raise UnsupportedError("the published Monte Carlo needs every record here, and the table stays in its cluster")
    generator = np.random.default_rng([seed, 0x3C])
    count = len(columns.sizes)
    pairs = np.eye(count)
    edges = list(combinations(range(count), 2))
    for done, (i, j) in enumerate(edges):
        pairs[i, j] = pairs[j, i] = match_correlation(columns, i, j, None, generator)
        progress("matching pairs of columns by Monte Carlo", (done + 1) / (len(edges) * len(kinds)))
    fits = []
    for kind in kinds:
        if kind == "gaussian":
            fits.append((columns, nearest_correlation(pairs)))
            continue
        order = chain_columns(pairs)
        ordered = columns.only(order)
        partial = np.eye(count)
        for (i, j), strata in strata_between(ordered).items():
            partial[i, j] = partial[j, i] = match_correlation(ordered, i, j, strata, generator)
        fits.append((ordered, correlation_of_vine(partial)))
    return fits


def match_correlation(
    columns: CodedColumns, first: int, second: int, strata: NDArray[np.int64] | None, generator: np.random.Generator
) -> float:
    """The ρ in [0, 1) that minimises (Î − I)², Î from one draw of n pairs: golden section and parabolas (Brent)."""
    if min(columns.sizes[first], columns.sizes[second]) < 2:
        return 0.0
    information = observed_information(columns.codes[first], columns.codes[second], strata)
    normals = generator.standard_normal((2, columns.people))
    cuts = [upper_edges(columns.counts(j) / columns.people)[:-1] for j in (first, second)]
    one = np.searchsorted(cuts[0], normals[0])

    def misfit(rho: float) -> float:
        other = rho * normals[0] + np.sqrt(1.0 - rho * rho) * normals[1]
        return (observed_information(one, np.searchsorted(cuts[1], other), strata) - information) ** 2

    return float(minimize_scalar(misfit, bounds=(0.0, 0.995), method="bounded").x)
