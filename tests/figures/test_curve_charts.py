"""Figures of the scaling law: each is drawn, and says what it should."""

import json
from dataclasses import replace

import numpy as np
import pytest
from papers.figures.regimes import entropy_plot, tail_plot, unique_people_plot

from incrowd import ClassSizes, correctness_curve, fit_curve, forecast
from incrowd.curves import Curve
from incrowd.figures.curve_charts import curve_plot, forecast_plot, rank_size_plot
from incrowd.figures.theme import save
from incrowd.pitman_yor import PitmanYor, compare_fits, fit_class_sizes
from incrowd.pitman_yor.model_checks import HoldOut, rank_size_check
from incrowd.wording import percent

SIZES = ClassSizes.from_counts({1: 300, 2: 90, 5: 20})
POINTS = Curve.from_points([10, 100, 1000], [0.99, 0.9, 0.5], people=300)


def rows(spec):
    """Every row of data in a figure, whichever layer it is in."""
    layers = [spec, *spec.get("layer", [])]
    return [row for layer in layers if "data" in layer for row in layer["data"]["values"]]


def test_the_forecast_figure_holds_points_band_and_baselines():
    answer = forecast(fit_curve(POINTS), [100, 1e4, "world"])
    fits = [fit for name, fit in compare_fits(POINTS).items() if name != "PYC"]
    spec = forecast_plot(POINTS, answer, baselines=fits).to_dict()
    assert [row["correctness"] for row in spec["layer"][3]["data"]["values"]] == [0.99, 0.9, 0.5]
    assert [row["high"] for row in spec["layer"][1]["data"]["values"]] == answer.correctness.high.tolist()
    names = {row["model"] for row in spec["layer"][2]["data"]["values"]}
    assert names >= {"scaling law", "entropy rule (ENT)", "exponential (EXP)", "polynomial (POL)"}
    assert all(0 <= row["correctness"] <= 1 for row in rows(spec) if "correctness" in row)
    (words,) = spec["title"]["subtitle"]
    assert "of 7.53 billion people (world), 95% interval" in words
    assert "0.0%" not in words


def test_the_forecast_figure_tells_of_what_was_asked_and_of_a_failed_check():
    answer = forecast(fit_curve(POINTS), [10, 100, 1e4])
    asked = forecast(fit_curve(POINTS), ["small"], populations={"small": 50})
    failed = HoldOut(100, 1000, 0.5, 0.7, 0.6, 0.8)
    first, second = forecast_plot(POINTS, answer, headline=asked, check=failed).to_dict()["title"]["subtitle"]
    assert "of 50 people (small)" in first
    assert "measured up to 1,000" in first
    assert "trust the forecast less" in second
    passed = replace(failed, high=0.8, low=0.4)
    assert len(forecast_plot(POINTS, answer, check=passed).to_dict()["title"]["subtitle"]) == 1


def test_people_on_the_axis_are_in_words(tmp_path):
    answer = forecast(fit_curve(POINTS), [100, 1e10])
    text = save(forecast_plot(POINTS, answer), tmp_path / "figure.svg").read_text()
    assert "system-ui" in text  # room is made for a wider font, the reader's own is drawn
    assert "Verdana" not in text
    assert "10 billion" in text
    assert "10G" not in text


def test_the_figure_of_a_curve_ends_at_its_last_point():
    curve = correctness_curve(SIZES)
    spec = curve_plot(curve).to_dict()
    assert f"among {SIZES.people:,}" in spec["title"]["subtitle"]
    assert rows(spec)[-1] == {"n": float(SIZES.people), "correctness": pytest.approx(SIZES.correctness)}


def test_the_figures_of_the_regimes_hold_the_values_of_the_model():
    tail = rows(tail_plot(n=1e6, bits=(20,)).to_dict())
    entropy = rows(entropy_plot(n=1e6, gammas=(0.5,)).to_dict())
    for row in tail[::40]:
        model = PitmanYor.from_entropy(h=20, gamma=row["gamma"], unit="bits")
        assert row["correctness"] == pytest.approx(model.correctness(1e6), abs=1e-9)
    for row in entropy[::60]:
        model = PitmanYor.from_entropy(h=row["bits"], gamma=0.5, unit="bits")
        assert row["correctness"] == pytest.approx(model.correctness(1e6), abs=1e-9)
    unique = rows(unique_people_plot(gammas=(1,), largest=1e6).to_dict())
    model = PitmanYor.from_entropy(h=10, gamma=1, unit="bits")
    assert unique[-1]["unique"] == pytest.approx(1e6 * model.uniqueness(1e6))


def test_the_rank_size_figure_shows_the_data_within_the_band():
    check = rank_size_check(fit_class_sizes(SIZES), draws=30)
    spec = rank_size_plot(check).to_dict()
    assert rows(spec)[0]["observed"] == pytest.approx(5 / SIZES.people)
    assert all(row["low"] > 0 for row in rows(spec))
    assert f"at {percent(check.inside)} of ranks" in spec["title"]["subtitle"]
    json.dumps(spec, allow_nan=False)
    assert np.all(check.high >= check.low)
