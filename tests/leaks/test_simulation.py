"""The simulation against the exact answer, and its own promises."""

import math

import pytest

from incrowd import ClassSizes, InputError, UnsupportedError, leak_risk
from incrowd.leaks import simulate_leak

SIZES = ClassSizes.from_sizes([1, 1, 2, 3, 5, 8])


@pytest.mark.parametrize("leaked", [6, 10, 15, 20])  # both the leak and the rest are the smaller part
@pytest.mark.parametrize("targets", [1, 2, 4])
@pytest.mark.paper("leak-attack", "simulation, steps 1–4")
def test_the_simulated_mean_is_the_exact_one(leaked, targets):
    simulated = simulate_leak(SIZES, leaked, targets=targets, trials=20_000, seed=7)
    assert simulated.agrees_with(leak_risk(SIZES, leaked, targets=targets).probability, errors=4)


@pytest.mark.paper("leak-attack", "simulation of several")
def test_targets_known_to_have_leaked_are_likelier():
    sizes = ClassSizes.from_sizes([3, 2, 1])
    leak = simulate_leak(sizes, 4, targets=2, trials=40_000, seed=1, targets_from="leak")
    assert leak.agrees_with(7 / 15)  # 0.56 / 3 for anybody, divided by the chance 4/6 · 3/5 that both leaked
    assert simulate_leak(sizes, 4, targets=2, trials=40_000, seed=1).agrees_with(0.56 / 3)
    assert sum(share for risk, share in leak.risks if risk == 0) == 0


def test_no_interval_where_a_few_lucky_trials_decide():
    sizes = ClassSizes.from_counts({5: 200})
    for targets in (30, 100, 300):
        simulated = simulate_leak(sizes, 400, targets=targets, trials=200, seed=1)
        assert simulated.effective_trials < 100
        assert (simulated.interval, simulated.standard_error, simulated.enough_trials) == (None, None, False)
        assert simulated.to_dict()["interval"] is None
        assert math.isfinite(simulated.log_probability)
        with pytest.raises(UnsupportedError, match="too few trials for so many targets"):
            simulated.agrees_with(0.1)


def test_an_interval_with_many_targets_is_sound_or_not_given():
    sizes = ClassSizes.from_counts({5: 200})
    for targets in (10, 20):
        truth = leak_risk(sizes, 400, targets=targets).probability
        runs = [simulate_leak(sizes, 400, targets=targets, trials=2_000, seed=seed).interval for seed in range(100)]
        given = [interval for interval in runs if interval]
        assert all(low > 0 for low, _ in given)
        assert sum(low <= truth <= high for low, high in given) >= 0.87 * len(given)
        assert bool(given) == (targets == 10)


def test_the_interval_covers_the_truth_about_19_times_in_20():
    truth = leak_risk(SIZES, 8, targets=2).probability
    runs = [simulate_leak(SIZES, 8, targets=2, trials=400, seed=seed) for seed in range(300)]
    covered = sum(run.interval[0] <= truth <= run.interval[1] for run in runs)
    assert 270 <= covered <= 298


@pytest.mark.paper("leak-attack", "eq. 6", "Figure 3")
def test_single_risks_are_those_of_a_hypergeometric_leak():
    simulated = simulate_leak(ClassSizes.from_sizes([2, 2, 2]), 3, trials=50_000, seed=3)
    shares = dict(simulated.risks)
    # a given person is outside (1/2), leaks with their twin (1/5), or without (3/10)
    assert shares[0.0] == pytest.approx(0.5)
    assert shares[0.5] == pytest.approx(0.2, abs=0.005)
    assert shares[1.0] == pytest.approx(0.3, abs=0.005)
    assert sum(risk * share for risk, share in simulated.risks) == pytest.approx(simulated.probability)


def test_the_same_seed_gives_the_same_answer():
    one, two, other = (simulate_leak(SIZES, 8, targets=2, trials=100, seed=seed) for seed in (5, 5, 6))
    assert one == two != other


def test_whoever_waits_hears_of_it():
    heard = []
    simulate_leak(SIZES, 8, trials=100, progress=lambda doing, share: heard.append(share))
    assert heard[0] == 0
    assert heard[-1] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"trials": 1},
        {"trials": -5},
        {"seed": -1},
        {"targets": 9},
        {"targets_from": "street"},
        {"targets": 0},
        {"trials": 2.5},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_questions_that_cannot_be_simulated_are_refused(wrong):
    with pytest.raises(InputError):
        simulate_leak(SIZES, 8, **wrong)


def test_more_people_than_memory_are_refused():
    with pytest.raises(UnsupportedError, match="too many"):
        simulate_leak(ClassSizes.from_counts({5: 10**9}), 100, trials=10)
