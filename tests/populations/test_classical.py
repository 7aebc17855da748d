"""The classical estimators against hand-worked answers and simulated truth."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from incrowd import ClassSizes, UnsupportedError
from incrowd.pitman_yor import PitmanYor
from incrowd.populations import classical_risk
from incrowd.populations.classical import (
    benedetti_franconi,
    benedetti_franconi_risk,
    dankar,
    entropy_score,
    ewens,
    pitman,
    slide_negative_binomial,
    zayatz,
)

UNIQUE = ClassSizes.from_counts({1: 50})
ALIKE = ClassSizes.from_counts({50: 1})
PAIRS = ClassSizes.from_counts({2: 20, 3: 4})


def test_zayatz_by_hand():
    counts, people, population = {1: 4, 2: 3, 3: 1}, 13, 40
    classes = sum(counts.values())
    once = {j: Fraction(j * math.comb(population - j, people - 1), math.comb(population, people)) for j in counts}
    total = sum(Fraction(count, classes) * once[j] for j, count in counts.items())
    chance = Fraction(counts[1], classes) * once[1] / total
    found = zayatz(ClassSizes.from_counts(counts), population)
    assert found.population_uniques == pytest.approx(float(4 * chance * population / people))


@pytest.mark.parametrize(
    ("seen", "estimated"), [(1, 10.0), (2, 20.0), (5, 5000.0), (30, 3e4), (31, 3e4), (31, 32.0), (900, 1e6), (1, 1e8)]
)
def test_benedetti_franconi_is_the_hypergeometric_function(seen, estimated):
    p = mpmath.mpf(seen) / mpmath.mpf(estimated)
    wanted = p**seen / seen * mpmath.hyp2f1(seen, seen, seen + 1, 1 - p)
    found = benedetti_franconi_risk(np.array([float(seen)]), np.array([estimated]))
    assert found[0] == pytest.approx(float(wanted), rel=1e-10)


def test_benedetti_franconi_has_the_quoted_forms_for_one_and_two():
    p = 0.07
    odds = p / (1 - p)
    found = benedetti_franconi_risk(np.array([1.0, 2.0]), np.array([1 / p, 2 / p]))
    assert found == pytest.approx([odds * math.log(1 / p), odds - odds**2 * math.log(1 / p)])


def test_benedetti_franconi_of_everybody_is_the_risk_in_the_table():
    sizes = ClassSizes.from_counts({1: 10, 2: 5, 4: 2})
    assert pytest.approx(sizes.correctness) == benedetti_franconi(sizes, sizes.people).sample_to_population


def subsample(sizes, people, seed):
    everybody = np.repeat(np.arange(sizes.size), sizes)
    counts = np.bincount(np.random.default_rng(seed).choice(everybody, people, replace=False))
    return ClassSizes.from_sizes(counts[counts > 0])


@pytest.mark.parametrize(("estimator", "d"), [(pitman, 0.4), (ewens, 0.0)])
def test_pitman_and_ewens_find_the_uniques_of_their_own_populations(estimator, d):
    truth = PitmanYor(d, 300.0).sample(60_000, seed=1)
    found = [estimator(subsample(truth, 6_000, seed), 60_000) for seed in range(4)]
    assert np.mean([one.population_uniques for one in found]) == pytest.approx((truth == 1).sum(), rel=0.12)
    assert np.mean([one.sample_to_population for one in found]) == pytest.approx(truth.size / 60_000, rel=0.05)


def test_snb_finds_the_uniques_of_its_own_population():
    generator = np.random.default_rng(0)
    truth = 1 + generator.negative_binomial(0.5, 0.1, 20_000)
    population = int(truth.sum())
    found = [slide_negative_binomial(subsample(truth, population // 4, seed), population) for seed in range(4)]
    assert np.mean([one.population_uniques for one in found]) == pytest.approx((truth == 1).sum(), rel=0.1)


def test_dankars_rule_chooses_by_the_sampling_fraction():
    sizes = subsample(PitmanYor(0.4, 300.0).sample(30_000, seed=1), 6_000, 0)
    assert dankar(sizes, 60_000).population_uniques == pitman(sizes, 60_000).population_uniques
    smaller = min(zayatz(sizes, 30_000).population_uniques, slide_negative_binomial(sizes, 30_000).population_uniques)
    assert dankar(sizes, 30_000).population_uniques == smaller


def test_the_entropy_score_by_hand():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 0]])
    counts = [np.array([2, 2]), np.array([3, 1])]
    expected = [10 * 0.5 * 0.75, 10 * 0.5 * 0.25, 10 * 0.5 * 0.75, 10 * 0.5 * 0.75]
    found = entropy_score(counts, codes, 10).sample_to_population
    assert found == pytest.approx(np.mean([min(1, 1 / one) for one in expected]))


@pytest.mark.parametrize(
    ("estimator", "sizes"),
    [
        (zayatz, PAIRS),
        (zayatz, UNIQUE),
        (pitman, UNIQUE),
        (pitman, ALIKE),
        (ewens, UNIQUE),
        (ewens, ALIKE),
        (slide_negative_binomial, UNIQUE),
        (slide_negative_binomial, PAIRS),
        (dankar, UNIQUE),
    ],
)
def test_an_estimator_without_an_answer_refuses(estimator, sizes):
    with pytest.raises(UnsupportedError):
        estimator(sizes, 5_000)


def test_pitman_refuses_where_there_is_no_heavy_tail():
    even = ClassSizes.from_sizes(1 + np.random.default_rng(0).multinomial(3000, np.full(400, 1 / 400)))
    with pytest.raises(UnsupportedError, match="tail"):
        pitman(even, 30_000)


def test_all_are_listed_and_refusals_are_in_words():
    found = classical_risk({"a": list(range(30))}, population=500, quasi_identifiers=["a"])
    assert set(found) == {"zayatz", "pitman", "ewens", "snb", "dankar", "benedetti-franconi", "entropy"}
    assert "unique" in found["ewens"].refused
    assert found["ewens"].population_uniques is None
    assert found["ewens"].to_dict()["B"] is None


def test_weights_enter_benedetti_franconi_class_by_class():
    table = {"a": [1, 1, 2], "w": [4.0, 6.0, 30.0]}
    found = classical_risk(table, quasi_identifiers=["a"], weights="w")["benedetti-franconi"]
    by_class = benedetti_franconi_risk(np.array([2.0, 1.0]), np.array([10.0, 30.0]))
    assert pytest.approx((2 * by_class[0] + by_class[1]) / 3) == found.sample_to_population
    assert found.population == 40


def test_people_with_several_records_are_counted_once():
    table = {"who": [1, 1, 2, 2, 3, 4, 5], "a": [1, 1, 1, 1, 2, 2, 3]}
    found = classical_risk(table, population=50, quasi_identifiers=["a"], person="who")
    assert found["zayatz"].population_uniques == zayatz(ClassSizes.from_sizes([2, 2, 1]), 50).population_uniques


def test_one_record_says_nothing():
    with pytest.raises(UnsupportedError, match="one record"):
        classical_risk({"a": [1]}, population=50, quasi_identifiers=["a"])


def test_classical_estimates_are_a_frame_with_a_row_for_each_estimator():
    found = classical_risk(ClassSizes.from_counts({1: 300, 2: 120, 3: 60}), population=7_200)
    frame = found.to_frame()
    assert frame["method"].tolist() == list(found)
    assert len(found) == 6
    assert frame["B"].tolist()[2] == found["ewens"].sample_to_population
