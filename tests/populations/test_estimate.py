"""`population_risk`: truth, bad input, and what a result says."""

import datetime as dt
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from incrowd import ClassSizes, InputError, UnsupportedError, assess, population_risk, record_risk
from incrowd.pitman_yor import PitmanYor
from incrowd.populations import ESTIMATORS, by_fraction, sensitivity
from incrowd.populations.anchored import fit_anchored
from incrowd.populations.combined import combine, fit_trials
from incrowd.populations.intervals import certain_limits
from incrowd.populations.posterior_estimator import estimate_by_posterior, model_class_sizes
from incrowd.populations.sample import read_sample
from incrowd.recipients import RECIPIENTS, judge


@pytest.fixture(scope="module")
def everybody():
    """A population with a numeric column, a date, text and nulls."""
    generator = np.random.default_rng(0)
    age = generator.normal(45, 18, 20_000).clip(0, 95).round()
    return pd.DataFrame(
        {
            "age": age,
            "born": [dt.date(2000, 1, 1) + dt.timedelta(days=int(day)) for day in 30 * (age // 4)],
            "town": np.where(
                generator.random(20_000) < 0.05, None, [f"t{z}" for z in generator.zipf(1.5, 20_000) % 90]
            ),
            "sex": generator.choice(["f", "m"], 20_000),
            "children": generator.poisson(1 + (age > 30), 20_000),
        }
    )


QI = ["age", "born", "town", "sex", "children"]


def truth_of(population, sample, names=QI):
    classes = population.groupby(names, dropna=False).ngroup()
    return float((1 / classes.map(classes.value_counts())).loc[sample.index].mean())


@pytest.mark.parametrize(("method", "tolerance"), [("combined", 0.03), ("anchored", 0.04), ("posterior", 0.08)])
@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_estimates_are_near_the_truth_and_intervals_hold_it(everybody, method, tolerance, fraction):
    sample = everybody.sample(frac=fraction, random_state=1)
    found = population_risk(sample, population=20_000, quasi_identifiers=QI, method=method)
    truth = truth_of(everybody, sample)
    assert pytest.approx(truth, abs=tolerance) == found.sample_to_population
    assert found.interval[0] <= truth <= found.interval[1]
    assert found.population_to_sample <= found.sample_to_population <= found.classes / found.people


@pytest.mark.parametrize("method", ["gaussian", "dvine", "average"])
@pytest.mark.paper("synthetic-estimator", "B (a) 3", "B (b) 3")
def test_the_published_estimators_are_near_the_truth(everybody, method):
    sample = everybody.sample(frac=0.2, random_state=1)
    names = [name for name in QI if name != "born"]  # a column that another determines is more than they can model
    found = population_risk(sample, population=20_000, quasi_identifiers=names, method=method)
    assert pytest.approx(truth_of(everybody, sample, names), abs=0.03) == found.sample_to_population


def test_posterior_intervals_hold_the_truth_of_the_models_own_populations():
    inside = 0
    for seed in range(20):
        sizes = PitmanYor(0.3, 100.0).sample(20_000, seed=seed)
        people = np.repeat(np.arange(sizes.size), sizes)
        drawn = np.random.default_rng(seed).choice(people, 2_000, replace=False)
        seen = np.bincount(drawn)
        found = estimate_by_posterior(model_class_sizes(ClassSizes.from_sizes(seen[seen > 0])), 20_000)
        inside += found.interval[0] <= (1 / sizes[drawn]).mean() <= found.interval[1]
    assert 16 <= inside <= 20


def test_population_uniques_and_what_they_mean_for_sample_uniques():
    sizes = PitmanYor(0.3, 400.0).sample(30_000, seed=3)
    drawn = np.bincount(np.random.default_rng(0).choice(np.repeat(np.arange(sizes.size), sizes), 6_000, replace=False))
    found = population_risk(ClassSizes.from_sizes(drawn[drawn > 0]), population=30_000, method="posterior")
    assert found.population_uniques == pytest.approx((sizes == 1).sum(), rel=0.15)
    alone = np.flatnonzero(drawn == 1)
    assert found.still_unique == pytest.approx((sizes[alone] == 1).mean(), abs=0.05)


def test_the_posterior_answers_for_ten_billion_people():
    found = population_risk(ClassSizes.from_counts({1: 500, 2: 90, 7: 12}), population=10**10, method="posterior")
    assert 0 < found.interval[0] <= found.sample_to_population <= found.interval[1] < 1


def test_the_same_seed_gives_the_same_answer(everybody):
    sample = everybody.sample(400, random_state=2)
    first, again = (population_risk(sample, population=5_000, quasi_identifiers=QI, seed=3) for _ in range(2))
    assert first.sample_to_population == again.sample_to_population
    assert first.seed == 3


def test_several_draws_show_their_spread(everybody):
    sample = everybody.sample(400, random_state=2)
    found = population_risk(sample, population=5_000, quasi_identifiers=QI, method="gaussian", draws=3)
    draws = [value for name, value in found.parts.items() if name.startswith("draw")]
    assert len(set(draws)) == 3
    assert pytest.approx(np.mean(draws)) == found.sample_to_population


@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.i–ii")
def test_monte_carlo_fits_lead_to_about_the_same_risk(everybody):
    sample = everybody.sample(600, random_state=2)
    fast, slow = (
        population_risk(
            sample, population=6_000, quasi_identifiers=QI, method="average", reference=reference
        ).sample_to_population
        for reference in (False, True)
    )
    assert fast == pytest.approx(slow, abs=0.06)


def test_a_table_that_is_everybody_is_counted():
    found = population_risk({"a": [1, 1, 2]}, population=3, quasi_identifiers=["a"])
    assert found.sample_to_population == found.interval[0] == found.interval[1] == 2 / 3
    assert found.population_uniques == 1
    assert "counted" in found.notes[-1]


@pytest.mark.parametrize("method", ESTIMATORS)
def test_all_unique_records_get_an_answer_with_a_note_or_a_refusal(method):
    table = {"a": list(range(60)), "b": [1, 2] * 30}
    found = population_risk(table, population=5_000, quasi_identifiers=["a", "b"], method=method)
    assert 0 < found.sample_to_population <= 1
    assert found.interval[0] < found.interval[1]
    assert any("identifier" in note for note in found.notes)
    if method in ("combined", "posterior"):
        assert any("all 60 records are unique" in note for note in found.notes)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_records_that_are_all_alike_are_hardly_at_risk(method):
    found = population_risk({"a": [1] * 80}, population=5_000, quasi_identifiers=["a"], method=method)
    assert 1 / 5_000 <= found.sample_to_population < 2 / 5_000
    assert any("constant" in note for note in found.notes)


def test_one_record_is_refused():
    with pytest.raises(UnsupportedError, match="one record"):
        population_risk({"a": [1]}, population=100, quasi_identifiers=["a"])


def test_class_sizes_alone_are_answered_by_the_posterior_and_said_so():
    sizes = ClassSizes.from_counts({1: 30, 2: 9, 5: 2})
    found = population_risk(sizes, population=900)
    assert found.sample_to_population == population_risk(sizes, population=900, method="posterior").sample_to_population
    assert any("only class sizes" in note for note in found.notes)
    with pytest.raises(UnsupportedError, match="only class sizes"):
        population_risk(sizes, population=900, method="gaussian")


def test_people_with_several_records_are_answered_by_the_posterior():
    table = {"who": [1, 1, 2, 3, 4, 4], "a": [1, 2, 1, 1, 5, 6]}
    found = population_risk(table, population=50, quasi_identifiers=["a"], person="who")
    assert found.people == 4
    assert any("several records" in note for note in found.notes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "fraction"),
        ({"population": 2}, "cannot hold"),
        ({"population": 10.5}, "whole number"),
        ({"population": float("nan")}, "whole number"),
        ({"population": 10**15}, "at most"),
        ({"fraction": 0}, "above 0"),
        ({"fraction": 1.5}, "at most 1"),
        ({"fraction": 0.5, "population": 9}, "not both"),
        ({"population": 10, "method": "magic"}, "no method"),
        ({"population": 10, "draws": 0}, "draws"),
        ({"population": 10, "seed": -1}, "seed"),
        ({"population": 10, "seed": 0.5}, "seed"),
        ({"population": "1000"}, "must be a number"),
        ({"fraction": "0.1"}, "must be a number"),
        ({"population": 10, "weights": "b"}, "not numeric"),
    ],
)
def test_what_cannot_be_used_is_said(given, message):
    with pytest.raises(InputError, match=message):
        population_risk({"a": [1, 2, 3], "b": ["x", "y", "z"]}, quasi_identifiers=["a"], **given)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([5, 0, 5], "1 are zero"),
        ([5, -1, 5], "1 weights"),
        ([0.5, 0.5, 0.5], "look normalised"),
        ([0.6, 0.9, 1.5], "look normalised"),
        ([1, None, 3], "no weight"),
        ([161_993, 110_831, 90_000], "implied decimals"),
        ([1_499_999_999, 1, 1], "implied decimals"),
    ],
)
def test_weights_that_stand_for_nobody_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        population_risk({"a": [1, 2, 2], "w": weights}, quasi_identifiers=["a"], weights="w")


def test_weights_with_implied_decimals_need_the_population():
    rows = {"a": [1, 2, 2], "w": [161_993, 110_831, 90_000]}
    assert population_risk(rows, quasi_identifiers=["a"], weights="w", population=3_000).population == 3_000
    plausible = rows | {"w": [100_000] * 3}
    assert population_risk(plausible, quasi_identifiers=["a"], weights="w").population == 300_000


def test_weights_say_how_many_people_there_are():
    found = population_risk({"a": [1, 2, 2], "w": [50.0, 20.0, 30.0]}, quasi_identifiers=["a"], weights="w")
    assert found.population == 100
    assert any("weights differ" in note for note in found.notes)


def test_a_fraction_says_how_many_people_there_are():
    assert population_risk({"a": [1, 2, 2]}, quasi_identifiers=["a"], fraction=0.1).population == 30


def test_the_result_is_plain():
    found = population_risk(ClassSizes.from_counts({1: 30, 2: 9, 5: 2}), population=4_000)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["overall"] == max(plain["A"], plain["B"])
    assert not {"recipients", "doubtful", "thresholds"} & set(plain)  # thresholds are the verdict's
    assert found.assumptions


@pytest.mark.paper("synthetic-estimator", "D sensitivity")
def test_a_larger_population_is_a_smaller_risk():
    sizes = ClassSizes.from_counts({1: 300, 2: 90, 5: 20})
    found = sensitivity(sizes, population=10_000, method="posterior")
    risks = [row["B"] for row in found.rows]
    assert risks == sorted(risks, reverse=True)
    assert found.rows[2]["change"] == 0
    assert found.assumed.population == 10_000


def test_factors_below_the_sample_are_left_out_and_given_ones_refused():
    sizes = ClassSizes.from_counts({1: 300, 2: 90, 5: 20})
    assert [row["factor"] for row in sensitivity(sizes, population=600, method="posterior").rows] == [1.0, 1.25, 2.0]
    with pytest.raises(InputError, match="cannot hold"):
        sensitivity(sizes, population=[10, 1000, 2000], method="posterior")
    with pytest.raises(InputError, match="empty"):
        sensitivity(sizes, population=[], method="posterior")


def test_risk_by_fraction_ends_at_the_table_itself():
    sizes = ClassSizes.from_counts({1: 300, 2: 90, 5: 20})
    found = by_fraction(sizes, method="posterior")
    assert found.rows[0]["B"] == sizes.correctness
    assert found.rows[-1]["fraction"] == pytest.approx(0.001)


def test_a_known_table_of_the_literature(shared_data):
    # ARX's example: 3 016 of 30 162 Adult records, nine quasi-identifiers; truth there B = 0.641, uniqueness 0.514
    adult = pd.read_parquet(shared_data / "adult.parquet")
    adult = adult[adult["split"] == "train"].dropna()
    names = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income"]
    whole = ClassSizes.from_table(adult, quasi_identifiers=names)
    assert len(adult) == 30_162
    assert whole.uniqueness == pytest.approx(0.514, abs=5e-4)
    sample = adult.sample(3_016, random_state=0)
    classes = adult.groupby(names).ngroup()
    truth = float((1 / classes.map(classes.value_counts())).loc[sample.index].mean())
    assert truth == pytest.approx(0.641, abs=0.02)
    found = population_risk(sample, population=30_162, quasi_identifiers=names)
    assert pytest.approx(truth, abs=0.03) == found.sample_to_population
    assert found.interval[0] <= truth <= found.interval[1]
    assert found.population_uniques / 30_162 == pytest.approx(0.514, abs=0.04)


def test_categories_nobody_has_do_not_count():
    values = ["a", "b", "a", "c", "b", "a"]
    plain = pd.DataFrame({"x": values, "y": [1, 2, 1, 2, 2, 1]})
    wide = plain.assign(x=pd.Categorical(values, categories=[*"abcdefghijklmnopqrstuvwxyz"]))
    first, second = (population_risk(table, population=60, quasi_identifiers=["x", "y"]) for table in (plain, wide))
    assert first.sample_to_population == second.sample_to_population


@pytest.mark.parametrize("method", ESTIMATORS)
def test_the_chance_to_stay_unique_is_a_chance_where_few_are_unique(method):
    table = {"a": [0, *np.repeat(np.arange(1, 201), 2), *np.repeat(np.arange(201, 301), 3)]}
    table["b"] = [value % 7 for value in table["a"]]
    found = population_risk(table, population=1_402, quasi_identifiers=["a", "b"], method=method)
    assert found.uniques == 1
    assert 0 <= found.still_unique <= 1
    assert found.to_dict()["still_unique"] == found.still_unique


def test_the_chance_to_stay_unique_is_that_of_the_single_records():
    sizes = ClassSizes.from_counts({1: 1, 2: 200, 3: 100})
    found = population_risk(sizes, population=1_402, method="posterior")
    assert found.still_unique == estimate_by_posterior(model_class_sizes(sizes), 1_402).class_growth.unique[0]
    assert population_risk(ClassSizes.from_counts({2: 9, 3: 4}), population=100).still_unique is None


@pytest.mark.paper("synthetic-estimator", "formula (1)", "formula (2)")
def test_a_sample_may_be_at_less_risk_than_classes_over_population():
    low, high = certain_limits(ClassSizes.from_sizes([19, 1]), 100)  # of classes of 90 and 10
    truth = (19 / 90 + 1 / 10) / 20
    assert low == pytest.approx((np.sqrt(19) + 1) ** 2 / 2_000)
    assert low < truth < 2 / 100
    assert high == 2 / 20


def test_no_way_to_fill_the_classes_is_below_the_certain_limit():
    seen = np.array([7, 2, 1])
    low, high = certain_limits(ClassSizes.from_sizes(seen), 40)
    risks = [
        float((seen / np.array([one, two, 40 - one - two])).sum()) / 10
        for one in range(7, 38)
        for two in range(2, 40 - one)
    ]
    assert low <= min(risks) < low * 1.01
    assert max(risks) <= high


def test_intervals_hold_the_truth_where_classes_are_few_and_large():
    people = np.repeat(np.arange(12), [30_000, 9_000, 5_000, 2_000, 1_500, 900, 600, 400, 300, 200, 60, 40])
    sizes = np.bincount(people)
    inside = 0
    for seed in range(30):
        drawn = np.random.default_rng(seed).choice(people, 5_000, replace=False)
        found = population_risk(
            ClassSizes.from_sizes([n for n in np.bincount(drawn) if n]), population=50_000, method="posterior"
        )
        inside += found.interval[0] <= (1 / sizes[drawn]).mean() <= found.interval[1]
    assert inside >= 27


@pytest.mark.parametrize("method", ESTIMATORS)
def test_where_all_records_are_unique_everybody_may_be(method):
    generator = np.random.default_rng(0)
    table = {"a": np.arange(300), "b": generator.integers(0, 50, 300)}
    found = population_risk(table, population=3_000, quasi_identifiers=["a", "b"], method=method)
    assert found.interval[0] <= 1.0 == found.interval[1]
    if method == "combined":
        by_sizes = population_risk(ClassSizes.from_sizes([1] * 300), population=3_000).sample_to_population
        assert by_sizes < found.sample_to_population <= 1.0  # every value of one column is new: the columns know more


def test_one_telling_column_is_left_to_the_class_sizes():
    sizes = PitmanYor(0.6, 4_000.0).sample(20_000, seed=2)
    drawn = np.random.default_rng(1).choice(np.repeat(np.arange(sizes.size), sizes), 1_000, replace=False)
    table = {"income": drawn, "bracket": drawn // 500}
    found = population_risk(table, population=20_000, quasi_identifiers=["income", "bracket"])
    assert (
        found.sample_to_population
        == population_risk(
            table, population=20_000, quasi_identifiers=["income"], method="posterior"
        ).sample_to_population
    )
    assert found.interval[0] <= (1 / sizes[drawn]).mean() <= found.interval[1]
    assert any("one column alone" in note for note in found.notes)


def test_parts_that_disagree_widen_the_interval(everybody):
    sample = everybody.sample(400, random_state=2)
    read = read_sample(sample, population=20_000, quasi_identifiers=QI)
    fitted = fit_anchored(read.columns(), read.sizes, read.population, seed=[0])
    sizes, trials = estimate_by_posterior(read.class_size_model, read.population), fit_trials(fitted, seed=[0])
    near = combine(fitted, sizes, trials)
    far = combine(replace(fitted, at_population=fitted.at_population / 2), sizes, trials)
    gap_near, gap_far = (abs(np.log(one.anchored / one.corrected)) for one in (near, far))
    assert gap_far > gap_near
    assert far.deviation > near.deviation


def test_a_small_risk_has_a_narrow_interval():
    generator = np.random.default_rng(0)
    sizes = ClassSizes.from_sizes(np.bincount(generator.integers(0, 80, 2_000)))
    found = population_risk(sizes, population=38_000_000, method="posterior")
    assert pytest.approx(80 / 38e6, rel=0.05) == found.sample_to_population
    assert found.interval[1] < 10 * found.sample_to_population


def test_populations_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="numbers"):
        sensitivity(ClassSizes.from_counts({1: 30, 2: 9}), population=["1000", "2000"], method="posterior")


@pytest.mark.parametrize("scale", [0.03, 0.3])
def test_weights_that_disagree_with_the_population_are_rescaled(scale):
    weights = np.array([50.0, 20.0, 30.0])
    table = {"a": [1, 2, 2], "w": weights * scale}
    risks = record_risk(table, population=100, quasi_identifiers=["a"], weights="w")
    assert risks["risk_weighted"] == pytest.approx(
        record_risk(table | {"w": weights}, quasi_identifiers=["a"], weights="w")["risk_weighted"]
    )
    assert any("rescaled" in note for note in risks.notes)


@pytest.mark.parametrize(("scale", "is_told"), [(100, True), (1.2, False), (0.4, True), (0.02, False)])
def test_weights_far_from_the_population_are_told_by_the_assessment_too(scale, is_told):
    table = {"age": [20 + n % 30 for n in range(300)], "w": [scale * 50.0 + n % 2 * 0.01 for n in range(300)]}
    asked = {"quasi_identifiers": ["age"], "population": 15_000, "weights": "w"}
    assert any("check both" in note for note in population_risk(table, **asked).notes) == is_told
    reasons = assess(table, **asked, rows_are_people=True, protection=False).verdict.internal_reasons
    assert any("The weights add up to" in one.sentence for one in reasons) == is_told  # normalised ones say nothing


def test_weights_that_agree_are_left_alone():
    table = {"a": [1, 2, 2], "w": [50.0, 20.0, 30.0]}
    found = population_risk(table, population=100, quasi_identifiers=["a"], weights="w")
    assert not any("rescaled" in note for note in found.notes)


def test_a_risk_is_borderline_where_its_interval_reaches_above_the_limit():
    found = population_risk(ClassSizes.from_counts({1: 30, 2: 9, 5: 2}), population=4_000)

    def judged(risk):
        return {one.name: judge(risk.overall, one.limits.of_average, risk.interval) for one in RECIPIENTS}

    near = replace(found, sample_to_population=0.08, interval=(0.06, 0.2))
    told = judged(near)
    assert [told[name] for name in ("trusted", "restricted", "public", "strict")] == [
        "within", "borderline", "borderline", "over"
    ]  # fmt: skip
    assert set(judged(replace(found, sample_to_population=0.01, interval=(0.005, 0.02))).values()) == {"within"}


def test_risk_by_fraction_counts_people():
    table = {"who": [1, 1, 2, 3, 4, 4], "a": [1, 2, 1, 1, 5, 6]}
    found = by_fraction(table, quasi_identifiers=["a"], person="who", fractions=(0.1, 0.5), method="posterior")
    assert [risk.people for risk in found.risks] == [4, 4]
