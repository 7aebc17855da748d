"""PYC-MB as published: eq. 4 minimised by Nelder–Mead, γ free between −1 and 1."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from incrowd.curves import Curve
from incrowd.pitman_yor import PitmanYor
from incrowd.pitman_yor.curve_fit import limits_of_fit, model_at_coordinates, usable_points
from incrowd.pitman_yor.kernels import best_start, weigh_residuals
from incrowd.pitman_yor.model import discount_and_concentration, expected_correctness
from incrowd.special import Floats

_STARTS = 24


def published_loss(parameters: Floats, curve: Curve) -> Floats:
    """Eq. 4 for rows of (h, γ): Σ log(n_i) [κ̂(n_i) − E κ(n_i | h, γ)]²."""
    sizes, values, weights = usable_points(curve, "correctness", "log")
    d, alpha = discount_and_concentration(parameters[..., 0], parameters[..., 1])
    expected = expected_correctness(d[..., None], alpha[..., None], sizes)
    return np.asarray((values - expected) ** 2 @ weights)


def fit_as_published(curve: Curve) -> PitmanYor:
    """The (h, γ) of the least loss, by Nelder–Mead from the best of a coarse grid.

    >>> model = fit_as_published(Curve.from_points([100, 1000], [0.99, 0.80]))
    >>> round(model.correctness(10_000), 2)
    0.21
    """
    sizes, values, weights = usable_points(curve, "correctness", "log")
    points = sizes, 1.0 - values, np.sqrt(weights), False
    residuals = np.empty(sizes.size)
    limits = limits_of_fit(float(sizes[-1]))

    def loss(at: Floats) -> float:
        """`published_loss`, compiled."""
        return float(weigh_residuals(at[0], at[1], *points, residuals))

    found = minimize(
        loss,
        np.array(best_start(*(np.linspace(*limit, _STARTS) for limit in limits), *points)),
        method="Nelder-Mead",
        bounds=limits,
        options={"xatol": 1e-5, "fatol": 1e-14, "maxiter": 400},
    )
    return model_at_coordinates(*found.x)
