"""Logs of binomial chances, to the last digits."""

import mpmath
import numpy as np
import pytest

from incrowd.leaks.binomial import log_binomial, log_none


@pytest.mark.parametrize(
    ("hits", "draws", "odds"),
    [(0, 50, 0.3), (50, 50, 0.3), (2, 4, 1.0), (15, 31, 1.1), (16, 33, 2.0), (3, 2_000, 0.01),
     (100_000, 1_000_000, 1 / 9), (99_000, 1_000_000, 1 / 9), (500_000_000, 1_000_000_000, 1.0)],
)  # fmt: skip
def test_binomial_chances_lose_no_digits(hits, draws, odds):
    with mpmath.workdps(40):
        p = mpmath.mpf(odds) / (1 + mpmath.mpf(odds))
        known = (
            mpmath.loggamma(draws + 1) - mpmath.loggamma(hits + 1) - mpmath.loggamma(draws - hits + 1)
            + hits * mpmath.log(p) + (draws - hits) * mpmath.log(1 - p)
        )  # fmt: skip
    assert float(log_binomial(hits, draws, odds)) == pytest.approx(float(known), rel=1e-14, abs=1e-13)


@pytest.mark.parametrize(("size", "drawn", "people"), [(5, 4_000, 10_000), (3_000, 17, 10_000), (300, 1_000, 10**6)])
def test_the_chance_that_a_class_is_missed_loses_no_digits(size, drawn, people):
    with mpmath.workdps(40):
        known = mpmath.log(mpmath.binomial(people - size, drawn)) - mpmath.log(mpmath.binomial(people, drawn))
    assert float(log_none([size], drawn, people)[0]) == pytest.approx(float(known), rel=1e-13)


def test_a_class_too_large_to_be_missed_and_a_leak_of_nothing():
    assert log_none([4], 3, 6)[0] == -np.inf
    assert log_none([4], 0, 6)[0] == 0.0
