"""Slips in the scaling-law paper, each with the numbers that prove it."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from incrowd.curves import Curve, KnownDistribution
from incrowd.pitman_yor import PitmanYor, fit_curve
from papers.parts import Comparison, Context, PartResult, Row
from papers.scaling_law.published import KINDS, TABLE_1

FREQUENCIES = (0.5, 0.25, 0.25)


def correctness_as_printed(model: PitmanYor, n: float) -> float:
    """Eq. 3 as printed, with u = 1 − d and v = α + 1.

    >>> round(correctness_as_printed(PitmanYor(d=0.5, alpha=10), 100), 4)
    -0.4709
    """
    u, v = 1 - model.d, model.alpha + 1
    log_ratio = gammaln(n - u + v) + gammaln(v - 1) - gammaln(n - 1 + v) - gammaln(v - u)
    return float((v - 1) / (n * (u - 1)) * math.expm1(log_ratio))


def known_correctness_as_printed(frequencies: tuple[float, ...], n: int) -> float:
    """Eq. 9 as printed.

    >>> known_correctness_as_printed((0.5, 0.25, 0.25), 1)
    2.0
    """
    chances = np.array(frequencies)
    return float(np.sum(chances * (1 - chances) ** n / (n * chances)))


def pooled_error(fraction: float) -> float:
    """The RMSE of PYC-MB over the curves of all kinds of matching in Table 1.

    >>> round(pooled_error(0.1), 3)
    0.06
    """
    rows = [TABLE_1[kind, fraction] for kind in KINDS]
    return math.sqrt(sum(row["count"] * row["PYC"] ** 2 for row in rows) / sum(row["count"] for row in rows))


def reproduce_slips(context: Context) -> PartResult:
    """What the paper prints, what it should, and a number that tells the two apart."""
    model, known = PitmanYor(d=0.5, alpha=10), KnownDistribution(FREQUENCIES)
    fit = fit_curve(Curve.from_points([100, 1_000], [0.99, 0.80])).pitman_yor
    return PartResult(
        (
            Comparison(
                "Slips",
                (
                    Row(
                        "eq. 3: κ(100) at d = 0.5, α = 10",
                        model.correctness(100),
                        correctness_as_printed(model, 100),
                        "the sign: u − 1 in front must be 1 − u; eq. 13, the same in d and α, is right",
                    ),
                    Row(
                        "eq. 9: κ(1) of classes with chances 1/2, 1/4, 1/4",
                        known.correctness(1),
                        known_correctness_as_printed(FREQUENCIES, 1),
                        "“1 −” is missing before (1 − p)^n; a lone person is always named, and eq. 1 says so",
                    ),
                    Row(
                        "d of the example κ(100) = 0.99, κ(1000) = 0.80",
                        fit.d,
                        "d ∈ [0, 1]",
                        f"the forecast of 0.21 needs a finite population, γ = {fit.gamma:.2f}, so d below 0: the model "
                        "is wider than its stated domain, as Fig. 4 (γ = −1) shows",
                    ),
                    Row(
                        "unit of h: bits in Figs. 4 and 5, nats in the text on Fig. 3",
                        PitmanYor.from_entropy(h=41.54, gamma=0.68).correctness(4e9),
                        0.75,
                        "h = 41.54 of browser fingerprints gives the printed 75 % in nats only: in bits κ is "
                        f"{PitmanYor.from_entropy(h=41.54, gamma=0.68, unit='bits').correctness(4e9):.2f}",
                    ),
                    Row(
                        "RMSE of forecasts ten times ahead, all kinds of matching (introduction)",
                        pooled_error(0.1),
                        0.051,
                        "0.051 is Table 1's row of exact matching; the introduction gives it for the curves of all "
                        "three kinds",
                    ),
                    Row(
                        "baseline RND: what is drawn",
                        "from 0 to κ at the largest size",
                        "from 0 to n(0)",
                        "a share cannot be up to a gallery size: the last measured κ is meant",
                    ),
                ),
                "Each is proved by a test, in `tests/papers/test_slips.py`.",
            ),
        )
    )
