"""The covariance of a curve: by enumeration of every partition, and by simulation."""

from collections import Counter

import numpy as np
import pytest
from tests.pitman_yor.oracle import partitions

from incrowd import ClassSizes, correctness_curve
from incrowd.pitman_yor import PitmanYor
from incrowd.pitman_yor.curve_posterior import CurveMoments
from incrowd.pitman_yor.likelihood import log_likelihood


@pytest.mark.parametrize(("d", "alpha"), [(0.4, 2.0), (0.0, 5.0), (0.7, 0.5), (-2.0, 8.0)])
@pytest.mark.parametrize("unique", [False, True])
def test_the_covariance_agrees_with_all_partitions(d, alpha, unique):
    gallery = np.array([7.0, 4.0, 2.0])
    rows, chances = [], []
    for sizes, ways in Counter(tuple(sorted(one)) for one in partitions(7)).items():
        classes = ClassSizes.from_sizes(sizes)
        curve = correctness_curve(classes, gallery)
        rows.append((curve.uniqueness if unique else curve.correctness)[::-1])
        chances.append(ways * float(np.exp(log_likelihood(classes, d, alpha))))
    rows, chances = np.array(rows), np.array(chances)
    assert chances.sum() == pytest.approx(1)
    spread = rows - chances @ rows
    found = CurveMoments.of(7, gallery, unique=unique).covariance(d, alpha)
    assert found == pytest.approx((spread.T * chances) @ spread, abs=1e-12)


@pytest.mark.parametrize(("h", "gamma"), [(7, 0.4), (12, 0.1), (5, -0.5)])
def test_the_covariance_agrees_with_simulated_samples(h, gamma):
    model = PitmanYor.from_entropy(h=h, gamma=gamma)
    if model.d < 0:
        model = PitmanYor(model.d, -model.d * round(model.categories))
    gallery = np.array([600.0, 200.0, 60.0])
    rows = [
        correctness_curve(ClassSizes.from_sizes(model.sample(600, seed)), gallery).correctness[::-1]
        for seed in range(400)
    ]
    simulated = np.cov(np.array(rows).T)
    found = CurveMoments.of(600, gallery, unique=False).covariance(model.d, model.alpha)
    assert np.sqrt(np.diag(found)) == pytest.approx(np.sqrt(np.diag(simulated)), rel=0.15)
    assert found / np.sqrt(np.outer(np.diag(found), np.diag(found))) == pytest.approx(
        np.corrcoef(np.array(rows).T), abs=0.05
    )
