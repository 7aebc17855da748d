"""The simulation against the exact answer, and its own promises."""

import math

import pytest

from incrowd import ClassSizes, InputError, UnsupportedError, leak_risk, simulate_leak

SIZES = ClassSizes.from_sizes([1, 1, 2, 3, 5, 8])


@pytest.mark.parametrize("leaked", [6, 10, 15, 20])  # both the leak and the rest are the smaller part
@pytest.mark.parametrize("targets", [1, 2, 4])
def test_the_simulated_mean_is_the_exact_one(leaked, targets):
    simulated = simulate_leak(SIZES, leaked, targets=targets, trials=20_000, seed=7)
    assert simulated.agrees_with(leak_risk(SIZES, leaked, targets=targets).probability, errors=4)


def test_targets_of_the_leak_are_likelier_by_the_chance_that_all_leaked():
    table = simulate_leak(SIZES, 10, targets=3, trials=500, seed=1)
    leak = simulate_leak(SIZES, 10, targets=3, trials=500, seed=1, targets_from="leak")
    assert table.probability == pytest.approx(leak.probability * math.comb(10, 3) / math.comb(20, 3))
    assert sum(share for risk, share in leak.risks if risk == 0) == 0


def test_the_interval_covers_the_truth_about_19_times_in_20():
    truth = leak_risk(SIZES, 8, targets=2).probability
    runs = [simulate_leak(SIZES, 8, targets=2, trials=400, seed=seed) for seed in range(300)]
    covered = sum(run.interval[0] <= truth <= run.interval[1] for run in runs)
    assert 270 <= covered <= 298


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
    [{"trials": 1}, {"trials": -5}, {"seed": -1}, {"targets": 9}, {"targets_from": "street"}, {"targets": 0}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_questions_that_cannot_be_simulated_are_refused(wrong):
    with pytest.raises(InputError):
        simulate_leak(SIZES, 8, **wrong)


def test_more_people_than_memory_are_refused():
    with pytest.raises(UnsupportedError, match="too many"):
        simulate_leak(ClassSizes.from_counts({5: 10**9}), 100, trials=10)
