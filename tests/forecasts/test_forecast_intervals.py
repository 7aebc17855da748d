"""Intervals of forecasts against populations whose answer is known, of every kind of tail and of matching."""

import numpy as np
import pytest

from incrowd import ClassSizes, correctness_curve, demo_table, fit_curve, forecast, population_risk
from incrowd._support.progress import silent
from incrowd.curves import robust_curve, sparse_curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts import forecast_table
from incrowd.forecasts.law import forecast_fit
from incrowd.pitman_yor import PitmanYor, fit_class_sizes
from incrowd.pitman_yor.model_checks import subsample

pytestmark = pytest.mark.usefixtures("quick_estimates")


def draw_population(kind, random):
    tails = {"finite": (-0.9, -0.05), "heavy": (0.05, 0.6), "geometric": (0.0, 0.0)}
    model = PitmanYor.from_entropy(h=random.uniform(4, 8.5), gamma=random.uniform(*tails[kind]))
    whole = ClassSizes.from_sizes(model.sample(20_000, int(random.integers(2**31))))
    return whole, subsample(whole, int(10 ** random.uniform(2.3, 3.4)), random)


@pytest.mark.parametrize("kind", ["finite", "geometric", "heavy"])
def test_intervals_hold_finite_and_heavy_tailed_populations_alike(kind):
    random, held = np.random.default_rng(8), []
    for number in range(20):
        whole, sizes = draw_population(kind, random)
        fits = [fit_class_sizes(sizes)]
        if number % 10 == 0:
            fits.append(fit_curve(correctness_curve(sizes)))
        for fit in fits:
            found = forecast_fit(fit, ("all",), np.array([float(whole.people)]), (), 0.95, 0, silent)
            assert found.correctness.low[0] <= found.correctness.value[0] <= found.correctness.high[0]
            held.append(found.correctness.low[0] <= whole.correctness <= found.correctness.high[0])
            held.append(found.uniqueness.low[0] <= whole.uniqueness <= found.uniqueness.high[0])
    assert np.mean(held) >= 0.9


def test_both_signs_of_gamma_are_in_the_interval_where_the_data_do_not_decide():
    open_fit = fit_class_sizes(ClassSizes.from_sizes(PitmanYor.from_entropy(h=5, gamma=0.0).sample(300, 2)))
    assert open_fit.gamma >= 0
    assert open_fit.below_zero() is not None
    found = forecast(open_fit, [10_000])
    assert found.gamma.low < 0 <= found.gamma.value
    heavy = fit_class_sizes(ClassSizes.from_sizes(PitmanYor.from_entropy(h=8, gamma=0.6).sample(3_000, 2)))
    assert heavy.below_zero() is None
    assert forecast(heavy, [10_000]).gamma.low > 0


def test_intervals_of_sparse_and_robust_curves_grow_with_what_the_law_gets_wrong():
    random = np.random.default_rng(1)
    gallery = random.standard_normal((1_500, 12)) + 3 * random.standard_normal((30, 12))[random.integers(0, 30, 1_500)]
    probes = gallery + 1.2 * random.standard_normal(gallery.shape) * random.lognormal(0, 0.6, (1_500, 1))
    known = random.permutation(1_500)[:150]
    whole = robust_curve(probes, gallery, metric="euclidean")
    part = robust_curve(probes[known], gallery[known], metric="euclidean")
    points = {"person": np.repeat(np.arange(3_000), 12), "item": random.zipf(1.4, 36_000) % 400}
    few = {name: column[: 12 * 300] for name, column in points.items()}
    sparse = [sparse_curve(table, person="person", item="item", known=2, draws=2) for table in (few, points)]
    for curve, larger in ((part, whole), (sparse[0], sparse[1])):
        size = int(larger.sizes[-1])
        found = forecast(curve, [int(curve.sizes[-1]), size, 100 * size]).correctness
        assert found.low[1] <= larger.correctness[-1] <= found.high[1]
        odds = np.log(np.array([found.low, found.high]) / (1 - np.array([found.low, found.high])))
        assert np.all(np.diff(odds[1] - odds[0]) > 0.3)


def test_the_forecast_of_a_table_is_its_population_estimate():
    table, names = demo_table(6_000, seed=2), ["age_yrs", "sex", "patcnty"]
    found = forecast(table, [50_000, "city"], quasi_identifiers=names)
    assert found.method == "combined"
    for place, size in enumerate((50_000, 1_000_000)):
        risk = population_risk(table, population=size, quasi_identifiers=names)
        assert found.correctness.value[place] == pytest.approx(risk.sample_to_population, rel=1e-9)
        assert (found.correctness.low[place], found.correctness.high[place]) == pytest.approx(risk.interval)
    same = forecast_table(table, [50_000, "city"], quasi_identifiers=names).forecast
    assert same.correctness.value.tolist() == found.correctness.value.tolist()
    with pytest.raises(InputError, match="level"):
        forecast(table, 50_000, quasi_identifiers=names, level=0.5)


def test_the_check_is_on_the_result():
    sizes = np.array([10, 30, 100, 300, 1000, 3000])
    bent = PitmanYor.from_entropy(h=7, gamma=0.2).correctness(sizes)
    bent[-1] = bent[-2] - 1e-3
    found = forecast(fit_curve(sizes, correctness=bent, people=30_000), "city")
    assert not found.hold_out.inside
    assert any("missed the largest measured size" in note for note in found.notes)
    two = forecast(fit_curve([100, 1000], correctness=[0.9, 0.6]), "city")
    assert two.hold_out is None
    assert any("not checked" in note for note in two.notes)


def test_without_a_prior_gamma_is_free():
    points = [10, 100, 1000], [0.997, 0.95, 0.62]
    assert fit_curve(*points).gamma >= 0
    assert fit_curve(*points, prior=None).gamma < 0
    assert fit_curve(*points, prior=None).loss <= fit_curve(*points).loss
    with pytest.raises(InputError, match="prior"):
        fit_curve(*points, prior="strong")


def test_a_curve_without_look_alikes_is_refused_by_counts():
    with pytest.raises(UnsupportedError, match="nobody was ever confused"):
        fit_curve([10, 100, 1000], correctness=[1.0, 1 - 1e-15, 1 - 1e-15])
