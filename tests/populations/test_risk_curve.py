"""One sample, many populations: the answers are those of one estimator, and hold the truth."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.growths import all_growths

from incrowd import ClassSizes, InputError, correctness_curve, demo_table, population_risk
from incrowd.pitman_yor import PitmanYor
from incrowd.populations import risk_curve
from incrowd.populations.constraints import count_possible_classes
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import read_sample

pytestmark = pytest.mark.usefixtures("quick_estimates")
QI = ["age_yrs", "sex", "race", "patcnty"]
AT = [5_000, 20_000, 60_000]


@pytest.fixture(scope="module")
def everybody():
    return demo_table(60_000, seed=2).to_pandas()


@pytest.fixture(scope="module")
def risks(everybody):
    with all_growths():
        return risk_curve(everybody.sample(2_000, random_state=1)[QI], at=AT, quasi_identifiers=QI)


def test_every_population_has_its_truth_inside(everybody, risks):
    sizes = ClassSizes.from_sizes(everybody.groupby(QI).size().to_numpy())
    truth = correctness_curve(sizes, np.array([2_000, *AT]))
    for risk, correctness, alone in zip(risks, truth.correctness[1:], truth.uniqueness[1:], strict=True):
        assert risk.interval[0] <= correctness <= risk.interval[1]
        assert pytest.approx(correctness, rel=0.1) == risk.sample_to_population
        still = alone / truth.uniqueness[0]
        assert risk.still_unique_interval[0] <= still <= risk.still_unique_interval[1]
        assert risk.still_unique == pytest.approx(still, rel=0.25)


@pytest.mark.usefixtures("exact_estimates")
def test_the_curve_passes_through_the_answer_for_one_population(everybody, risks):
    alone = population_risk(everybody.sample(2_000, random_state=1)[QI], population=60_000, quasi_identifiers=QI)
    assert pytest.approx(alone.sample_to_population, rel=0.03) == risks[-1].sample_to_population
    assert risks[-1].interval == pytest.approx(alone.interval, rel=0.1)


@pytest.mark.parametrize("population", [4_000, 60_000, 7_000_000])
def test_at_the_population_of_the_sample_the_curve_is_the_answer_itself(everybody, population):
    rows = everybody.sample(2_000, random_state=1)[QI]
    sample = read_sample(rows, population=population, quasi_identifiers=QI)
    along = estimate_risks(sample, [2_000, 3_000, population, 10**8], drawn=max(population, 8_000))
    alone = population_risk(rows, population=population, quasi_identifiers=QI)
    known = next(risk for risk in along if risk.population == population)
    assert (known.sample_to_population, known.interval, known.still_unique, known.still_unique_interval) == (
        (alone.sample_to_population, alone.interval, alone.still_unique, alone.still_unique_interval)
    )
    named = [risk.sample_to_population * risk.population for risk in along]
    assert all(one <= other * (1 + 1e-12) for one, other in pairwise(named))


@pytest.mark.usefixtures("exact_estimates")
def test_uniqueness_is_the_slope_of_the_curve(everybody):
    # the last person to come is unique if they add a class: N (kappa(N) - kappa(N - 1)) + kappa(N - 1) = Xi(N)
    one, other = risk_curve(everybody.sample(2_000, random_state=1)[QI], at=[36_000, 44_000], quasi_identifiers=QI)
    added = (other.sample_to_population * other.population - one.sample_to_population * one.population) / (
        other.population - one.population
    )
    between = (one.population_uniques / one.population + other.population_uniques / other.population) / 2
    assert added == pytest.approx(between, rel=0.05)


def test_class_sizes_alone_are_carried_on_by_the_posterior():
    sizes = PitmanYor(0.3, 400.0).sample(3_000, seed=3)
    seen = ClassSizes.from_sizes(sizes)
    (near, far) = risk_curve(seen, at=[3_000, 30_000])
    assert (near.sample_to_population, near.interval) == (seen.correctness, (seen.correctness, seen.correctness))
    same = population_risk(seen, population=30_000, method="posterior")
    assert (far.sample_to_population, far.interval, far.still_unique) == (
        same.sample_to_population,
        same.interval,
        same.still_unique,
    )
    assert any("posterior estimator alone" in note for note in far.notes)


@pytest.mark.usefixtures("exact_estimates")
def test_a_population_beyond_those_drawn_says_so_and_is_less_sure(everybody):
    sample = everybody.sample(500, random_state=1)[QI]
    near, far = risk_curve(sample, at=[400_000, 7_530_000_000], quasi_identifiers=QI)
    assert any("extrapolated" in note for note in far.notes)
    assert not any("extrapolated" in note for note in near.notes)
    assert far.interval[1] / far.interval[0] > near.interval[1] / near.interval[0]
    assert far.sample_to_population < near.sample_to_population


def test_populations_must_be_given_and_hold_the_sample(everybody):
    with pytest.raises(InputError, match="empty list"):
        risk_curve(everybody, at=[], quasi_identifiers=QI)
    with pytest.raises(InputError, match="cannot hold a sample"):
        risk_curve(everybody, at=[10], quasi_identifiers=QI)


def test_a_chance_stays_a_chance_all_the_way_to_the_world():
    at = [10**power for power in range(4, 10)]
    for seed in range(3):
        sample = demo_table(800, seed=seed)
        for risk in risk_curve(sample, at=at, quasi_identifiers=["age_yrs", "sex", "patcnty"]):
            low, high = risk.still_unique_interval
            assert 0 <= low <= risk.still_unique <= high <= 1
            assert risk.population_uniques <= risk.sample_to_population * risk.population * (1 + 1e-9)
            # who is unique there is named there: no more of them in the interval than the interval of B has
            assert high * risk.uniques <= risk.interval[1] * risk.people * (1 + 1e-9)


def test_the_number_of_people_named_never_falls_nor_passes_the_combinations():
    draw = np.random.default_rng(5)
    rows = pd.DataFrame({name: draw.geometric(0.3, 3_000).clip(max=8) for name in "abcd"})
    risks = risk_curve(rows, at=[3_000, 10**5, 10**7, 449_000_000, 7_530_000_000], quasi_identifiers=list("abcd"))
    named = [risk.sample_to_population * risk.population for risk in risks]
    assert all(one <= other * (1 + 1e-12) for one, other in pairwise(named))
    assert named[0] == rows.drop_duplicates().shape[0]
    assert named[-1] <= 8**4 * (1 + 1e-12)
    assert all(
        risk.interval is None or risk.interval[0] <= risk.sample_to_population <= risk.interval[1] for risk in risks
    )


def test_values_that_nobody_has_yet_leave_the_combinations_open():
    rows = pd.DataFrame({"a": [*([1, 2, 3] * 500), 4], "b": [*([1] * 750), *([2] * 751)]})
    assert count_possible_classes(read_sample(rows, fraction=1.0, quasi_identifiers=["a", "b"])) is None
    assert count_possible_classes(read_sample(rows[:-1], fraction=1.0, quasi_identifiers=["a", "b"])) == 6


@pytest.mark.usefixtures("exact_estimates")
def test_where_all_combinations_are_seen_intervals_hold_the_truth_and_nobody_unique():
    """The people named may be fewer than the classes of the sample, and the usual truth is that nobody is unique."""
    generator = np.random.default_rng(3)
    shares = [0.55, 0.3, 0.12, 0.03]
    people = pd.DataFrame(
        {"a": generator.choice(4, 2_000, p=shares), "b": generator.choice(3, 2_000, p=[0.7, 0.2, 0.1])}
    )
    crowd = people.groupby(["a", "b"])["a"].transform("size")
    inside = alone = 0
    for seed in range(12):
        chosen = np.random.default_rng(seed).choice(2_000, 200, replace=False)
        sample = people.iloc[chosen]
        risk = risk_curve(sample, at=[200, 400, 2_000], quasi_identifiers=["a", "b"], seed=seed)[-1]
        inside += risk.interval[0] <= float((1 / crowd.iloc[chosen]).mean()) <= risk.interval[1]
        alone += risk.still_unique_interval is None or risk.still_unique_interval[0] == 0.0
    assert inside >= 11
    assert alone == 12
