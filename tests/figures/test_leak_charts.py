"""Figures of leaks: what is drawn is what was computed."""

import json

import pytest

from incrowd import InputError
from incrowd.figures.leak_charts import LeakOfRelease, against_detail, against_leak, against_targets, single_risks
from incrowd.figures.theme import save
from incrowd.leaks import leak_risk_uniform, simulate_leak, uniform_sizes

RISKS = {f"k = {k}": [leak_risk_uniform(people=500, k=k, leaked=n) for n in (0, 50, 100, 500)] for k in (2, 5)}


def test_risk_against_the_leak_with_points_and_thresholds(tmp_path):
    points = {"k = 5": [simulate_leak(uniform_sizes(500, 5), 100, trials=50)]}
    chart = against_leak(RISKS, simulations=points, thresholds=[1 / 3, 1 / 11, 1 / 11, 0.2], leaked=100)
    drawn = json.dumps(chart.to_dict())
    assert "trusted recipient" in drawn
    assert "50 simulated leaks" in drawn
    assert str(RISKS["k = 5"][2].probability) in drawn
    for ending in ("svg", "png"):
        assert save(chart, tmp_path / f"figure.{ending}").stat().st_size > 1_000


def test_a_chance_of_nothing_is_left_off_the_log_scale():
    values = against_leak(RISKS).to_dict()["datasets" if "datasets" in against_leak(RISKS).to_dict() else "data"]
    rows = values["values"] if "values" in values else next(iter(values.values()))
    assert len(rows) == 6
    assert all(row["probability"] > 0 for row in rows)


def test_only_chances_of_nothing_are_refused():
    with pytest.raises(InputError, match="nothing to draw"):
        against_leak({"none": [leak_risk_uniform(people=10, k=2, leaked=0)]})


def test_risk_against_targets_sets_kinds_apart(tmp_path):
    risks = {
        "uniform": [leak_risk_uniform(people=100, k=5, leaked=100, targets=n) for n in (1, 2, 3)],
        "mixed": [leak_risk_uniform(people=100, k=7, leaked=100, targets=n) for n in (1, 2, 3)],
    }
    chart = against_targets(risks, dashed=["mixed"])
    assert "strokeDash" in json.dumps(chart.to_dict())
    assert save(chart, tmp_path / "figure.svg").exists()


def test_single_risks_are_shown_as_fractions(tmp_path):
    chart = single_risks({"k = 3": simulate_leak(uniform_sizes(300, 3), 150, trials=50)})
    drawn = json.dumps(chart.to_dict())
    assert all(f'"risk": "{risk}"' in drawn for risk in ("0", "1", "1/2", "1/3"))
    assert save(chart, tmp_path / "figure.svg").exists()


def test_thresholds_are_named_only_for_one_target():
    several = {"3": [leak_risk_uniform(people=100, k=5, leaked=n, targets=3) for n in (10, 50)]}
    drawn = json.dumps(against_leak(several, thresholds=[0.09]).to_dict())
    assert "9%: the highest accepted" in drawn
    assert "restricted" not in drawn
    assert '"tickMinStep": 1' in drawn


def test_what_a_leak_tells_stands_against_the_detail_that_is_kept(tmp_path):
    releases = [LeakOfRelease(10, 0.6, 0.05, 0.01), LeakOfRelease(2, 0.9, 0.3, 0.02), LeakOfRelease(5, 0.7, 0.1)]
    save(against_detail(releases), tmp_path / "worth.svg")
    drawn = (tmp_path / "worth.svg").read_text(encoding="utf-8")
    for text in ("k = 2", "k = 10", "a secret is learnt", "Detail kept"):
        assert text in drawn
    with pytest.raises(InputError, match="two or more k"):
        against_detail(releases[:1])
