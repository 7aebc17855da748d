"""Tails of techniques: the binormal model against mpmath, the average against generated vectors of known truth."""

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import ncx2

from incrowd import fit_curve, forecast
from incrowd.curves import Curve, robust_curve_from_ranks
from incrowd.forecasts.score_model import binormal_shortfall
from incrowd.forecasts.tails import ProbeCounts, TailAverage, effective_probes
from incrowd.pitman_yor import PitmanYor


@pytest.mark.parametrize(
    ("mean", "spread", "size"), [(2, 1, 2), (8, 1.5, 1e6), (12, 2, 7.53e9), (6, 0.3, 1e4), (3, 5, 1e5), (15, 2, 1e9)]
)
def test_the_score_model_agrees_with_mpmath(mean, spread, size):
    def failing(t):
        return -mp.expm1((size - 1) * mp.log1p(-mp.erfc(t / mp.sqrt(2)) / 2)) * mp.npdf(t, mean, spread)

    with mp.workdps(25):
        truth = mp.quad(failing, mp.linspace(mean - 14 * spread, mean + 14 * spread, 50))
    assert float(binormal_shortfall([mean], [spread], [size])[0, 0]) == pytest.approx(float(truth), rel=1e-9)


def test_the_score_model_agrees_with_simulated_scores():
    random = np.random.default_rng(3)
    match = random.normal(2.0, 1.5, 40_000)
    best = random.standard_normal((40_000, 19)).max(axis=1)
    assert float(binormal_shortfall([2.0], [1.5], [20])[0, 0]) == pytest.approx(np.mean(best > match), abs=0.008)


def vectors(random, dimensions, spread, uneven):
    """P(a random person is nearer to a probe than its match), for many probes: exact, without a gallery."""
    noise = spread * np.sqrt(dimensions / 16) * np.exp(uneven * random.standard_normal((20_000, 1)))
    error = noise * random.standard_normal((20_000, dimensions))
    probe = random.standard_normal((20_000, dimensions)) + error
    return ncx2.cdf((error**2).sum(axis=1), dimensions, (probe**2).sum(axis=1))


def correctness(nearer, size):
    return float(np.mean(np.exp((size - 1) * np.log1p(-np.minimum(nearer, 1 - 1e-16)))))


def test_intervals_hold_ten_and_a_hundred_times_ahead():
    random, held = np.random.default_rng(11), []
    while len(held) < 60:
        nearer = vectors(
            random, int(random.choice([8, 32, 128])), random.choice([0.25, 0.4, 0.7]), random.choice([0, 0.6])
        )
        gallery, probes = int(10 ** random.uniform(3, 4)), int(10 ** random.uniform(2.7, 4))
        if correctness(nearer, 10 * gallery) < 0.02 or correctness(nearer, gallery) > 0.999:
            continue
        curve = robust_curve_from_ranks(
            1 + random.binomial(gallery - 1, random.choice(nearer, probes)), gallery=gallery
        )
        _, low, high = TailAverage.of(curve).correctness(np.array([10.0, 100.0]) * gallery, 0.95)
        truth = [correctness(nearer, times * gallery) for times in (10, 100)]
        held += [low[place] <= truth[place] <= high[place] for place in (0, 1)]
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("floor", [0.0, 0.03])
def test_a_share_that_the_gallery_does_not_explain_is_weighed_with_small_galleries_only(floor):
    sizes = np.unique(np.geomspace(2, 10_000, 20).round())
    right = (1.0 - floor) * PitmanYor.from_entropy(h=30, gamma=0.8).correctness(sizes)
    average = TailAverage.of(Curve.from_points(sizes, right, people=50_000))
    evidence = {(tail.form.name, tail.has_floor): tail.log_evidence for tail in average.tails}
    assert len(evidence) == 4
    assert (evidence["law", True] > evidence["law", False]) == (floor > 0)
    if floor:
        best = max(average.tails, key=lambda tail: tail.log_evidence)
        assert best.floor @ best.weights == pytest.approx(floor, abs=0.01)
    large = Curve.from_points(sizes[sizes > 10], right[sizes > 10], people=50_000)
    assert not any(tail.has_floor for tail in TailAverage.of(large).tails)


def test_accurate_points_are_neither_perfect_nor_lost():
    sizes, shares = [1_000, 10_000, 100_000, 1_000_000], [0.9990, 0.9984, 0.9978, 0.9971]
    answer = forecast(fit_curve(sizes, correctness=shares), at=["city", "world"])
    ((_, *city), (value, *world)) = answer.correctness.rows
    assert city[0] < 0.9971 < city[1]
    assert city[1] - city[0] < 0.004
    assert value == pytest.approx(0.9946, abs=5e-5)
    assert 0.98 < world[0] < value < world[1] < 0.999
    assert set(answer.tails) == {"law", "binormal"}
    assert any("each tail is shown by itself" in note for note in answer.notes)
    assert [table.caption for table in answer.data_tables][1] == "Named correctly, by each tail"


def test_near_the_gallery_no_tail_stands_by_itself():
    points = {"sizes": [10, 100, 1000], "correctness": [0.99, 0.95, 0.85]}
    answer = forecast(Curve.from_points(**points, people=800), at=[10_000])
    assert (answer.tails, answer.method) == ({}, "average")
    assert forecast(Curve.from_points(**points), at=[10_000]).method == "law"


def test_points_that_no_form_explains_count_less():
    bent = Curve.from_points([10, 100, 1000, 10_000], [0.97, 0.95, 0.5, 0.3], people=30_000)
    smooth = Curve.from_points([10, 100, 1000, 10_000], [0.97, 0.87, 0.66, 0.42], people=30_000)
    at = np.array([100_000.0])
    wide, narrow = (TailAverage.of(curve).correctness(at, 0.95) for curve in (bent, smooth))
    assert wide[2][0] - wide[1][0] > 2 * (narrow[2][0] - narrow[1][0])


def test_counts_are_of_those_who_fail_first():
    counts = ProbeCounts.of(Curve.from_points([1, 10, 100], [1.0, 0.9, 0.7], people=200))
    assert counts.sizes.tolist() == [10.0, 100.0]
    assert counts.counts.tolist() == pytest.approx([20.0, 40.0, 140.0])
    assert effective_probes(30_000) == pytest.approx(3_000)


def test_a_finite_crowd_is_in_the_interval_where_the_fit_is_finite():
    answer = forecast(fit_curve([100, 1000], correctness=[0.99, 0.80]), at=[10_000])
    ((value, low, high),) = answer.correctness.rows
    assert value == pytest.approx(0.2146, abs=1e-4)
    assert low < 0.2 < 0.25 < high
