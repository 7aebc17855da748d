"""Open sets: false alarms and missed people in galleries that were never measured, against known distributions."""

import numpy as np
import pytest
from scipy.stats import norm

from incrowd import InputError, UnsupportedError
from incrowd.forecasts import forecast_open_set

GALLERIES = [30, 100, 300, 1_000, 3_000]


def draw(random, probes, mean, spread, uneven):
    """Match scores, and best impostors in nested galleries; the impostors' level differs between probes."""
    level = uneven * random.standard_normal(probes)
    best, columns, before = np.full(probes, -np.inf), [], 0
    for size in GALLERIES:
        newest = norm.isf(-np.expm1(np.log(random.random(probes)) / (size - before)))
        best = np.maximum(best, newest + level)
        columns.append(best)
        before = size
    return mean + spread * random.standard_normal(probes), np.stack(columns, axis=1)


def rates(random, mean, spread, uneven, threshold, size):
    """FNIR and FPIR of that distribution."""
    level = uneven * random.standard_normal(200_000)
    match = mean + spread * random.standard_normal(200_000)
    hit = np.mean((match >= threshold) * np.exp((size - 1) * norm.logcdf(match - level)))
    return 1 - hit, np.mean(-np.expm1(size * norm.logcdf(threshold - level)))


def test_intervals_hold_both_rates_ten_and_a_hundred_times_ahead():
    random, held = np.random.default_rng(6), []
    for number in range(16):
        mean, spread, uneven = random.uniform(4, 7), random.uniform(0.5, 1.5), 0.3 * (number % 2)
        threshold = float(random.uniform(3.2, 4.2))
        mates, impostors = draw(random, 1_500, mean, spread, uneven)
        answer = forecast_open_set(mates, impostors, GALLERIES, threshold=threshold, at=[30_000, 300_000])
        for place, size in enumerate((30_000, 300_000)):
            missed, alarms = rates(random, mean, spread, uneven, threshold, size)
            held.append(answer.fnir.low[place] <= missed <= answer.fnir.high[place])
            held.append(answer.fpir.low[place] - 1e-12 <= alarms <= answer.fpir.high[place] + 1e-12)
    assert np.mean(held) >= 0.85


def test_measured_rates_are_counts_and_forecasts_grow_with_the_gallery():
    mates, impostors = draw(np.random.default_rng(1), 800, 5.0, 1.0, 0.2)
    answer = forecast_open_set(mates, impostors, GALLERIES, threshold=3.5, at=[3_000, "city"])
    hit = (mates >= 3.5) & (impostors[:, -1] < mates)
    assert answer.measured_fnir == pytest.approx(1 - hit.mean())
    assert answer.measured_fpir == np.mean(impostors[:, -1] >= 3.5)
    assert answer.fnir.value[0] == pytest.approx(answer.measured_fnir, abs=0.03)
    assert answer.fpir.value[0] == pytest.approx(answer.measured_fpir, abs=0.03)
    assert answer.fnir.value[1] > answer.fnir.value[0]
    assert answer.fpir.value[1] > answer.fpir.value[0]


def test_scores_that_are_no_study_are_refused():
    mates, impostors = draw(np.random.default_rng(1), 50, 5.0, 1.0, 0.2)
    ask = {"threshold": 3.5, "at": [10_000]}
    with pytest.raises(InputError, match="each gallery holds the one before"):
        forecast_open_set(mates, impostors[:, ::-1], GALLERIES, **ask)
    with pytest.raises(InputError, match="a row for each probe"):
        forecast_open_set(mates[:-1], impostors, GALLERIES, **ask)
    with pytest.raises(InputError, match="ascending"):
        forecast_open_set(mates, impostors, GALLERIES[::-1], **ask)
    with pytest.raises(UnsupportedError, match="missed"):
        forecast_open_set(mates - 100, impostors - 100, GALLERIES, **ask)
