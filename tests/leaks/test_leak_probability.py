"""The exact risk against enumeration, exact fractions, more digits and known answers."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.leaks.oracles import by_definition, by_more_digits, by_partitions, by_polynomials

from incrowd import ClassSizes, InputError, UnsupportedError, leak_risk
from incrowd.leaks import (
    LeakRisk,
    largest_leak,
    leak_risk_uniform,
    leak_table,
    named_people,
    saddle_point,
    simulate_leak,
    uniform_sizes,
)
from incrowd.leaks.leak_probability import _log_several


@pytest.mark.parametrize(
    ("sizes", "leaked", "targets", "known"),
    [
        ([2, 2, 2], 3, 1, 0.4),
        ([2, 2, 2], 3, 2, 0.14),
        ([2, 2, 2], 6, 2, 0.3),
        ([2, 2, 2], 6, 3, 0.2),
        ([3, 2, 1], 4, 2, 0.56 / 3),
        ([3, 2, 1], 6, 2, 0.8 / 3),
        ([2, 2, 3], 5, 2, 0.17687074829931973),
    ],
)
def test_known_answers(sizes, leaked, targets, known):
    risk = leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets)
    assert risk.probability == pytest.approx(known, rel=1e-12)
    assert risk.log_probability == pytest.approx(math.log(known), rel=1e-12)


@pytest.mark.parametrize("sizes", [[3, 2, 1], [2, 2, 1], [4, 1], [6], [1, 1, 1, 1]])
@pytest.mark.paper("leak-attack", "eq. 5", "eq. 7", "Figure 4")
def test_every_leak_and_every_choice_of_targets_enumerated(sizes):
    people = sum(sizes)
    for leaked in range(people + 1):
        for targets in range(1, min(people, 4) + 1):
            risk = leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets)
            assert risk.probability == pytest.approx(float(by_definition(sizes, leaked, targets)), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    leak=st.floats(0, 1),
    wanted=st.floats(0, 1),
)
def test_exact_fractions_agree_to_twelve_digits(sizes, leak, wanted):
    leaked = max(1, round(leak * sum(sizes)))
    targets = max(1, round(wanted * leaked))
    risk = leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets)
    assert risk.probability == pytest.approx(float(by_polynomials(sizes, leaked, targets)), rel=1e-12)


@pytest.mark.parametrize("leaked", [15, 16, 40, 1_000, 4_000, 9_000, 9_990, 9_999, 10_000])
@pytest.mark.parametrize("targets", [1, 5, 10, 15])
@pytest.mark.paper("leak-attack", "eq. 5", "Figure 2", "Figure 4")
def test_whole_numbers_agree_at_the_papers_size(leaked, targets):
    exact = by_partitions(10_000, 5, leaked, targets)
    risk = leak_risk_uniform(people=10_000, k=5, leaked=leaked, targets=targets)
    assert risk.probability == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize(
    ("people", "k", "leaked", "targets"),
    [
        (2_000, 2, 120, 119),  # nearly everybody who leaked is a target
        (2_000, 2, 120, 120),  # everybody who leaked is
        (2_000, 2, 1_999, 100),  # nearly everybody leaked
        (1_000, 1, 500, 499),
        (120, 60, 119, 14),  # two large classes
        (1_360, 680, 944, 5),  # classes so large that no target is short of members
        (300, 3, 60, 40),
    ],
)
def test_whole_numbers_agree_at_the_corners(people, k, leaked, targets):
    exact = by_partitions(people, k, leaked, targets)
    known = math.log(exact.numerator) - math.log(exact.denominator)
    risk = leak_risk_uniform(people=people, k=k, leaked=leaked, targets=targets)
    assert risk.log_probability == pytest.approx(known, abs=1e-11)


def test_more_digits_agree_for_mixed_classes():
    sizes = ClassSizes.from_counts({1: 700, 2: 500, 3: 400, 5: 300, 8: 200, 13: 150, 40: 30, 55: 10})
    assert 8_000 < sizes.people < 12_000
    for leaked, targets in ((4_000, 5), (900, 3)):
        risk = leak_risk(sizes, leaked, targets=targets)
        assert risk.probability == pytest.approx(float(by_more_digits(sizes, leaked, targets)), rel=1e-10)


@pytest.mark.parametrize("leaked", [1, 50, 100_000, 990_000, 998_990])
def test_one_target_by_contour_is_the_closed_form(leaked):
    sizes = ClassSizes.from_sizes(np.arange(1, 1414))  # as many different sizes as a million people can have
    assert _log_several(sizes, leaked, 1) == pytest.approx(leak_risk(sizes, leaked).log_probability, abs=1e-10)


def test_people_who_are_all_unique_are_named_if_they_leak():
    risk = leak_risk_uniform(people=1_000_000, k=1, leaked=100_000, targets=100)
    known = math.fsum(math.log((100_000 - i) / (1_000_000 - i)) for i in range(100))
    assert risk.log_probability == pytest.approx(known, abs=1e-9)


def test_one_class_of_everybody_is_a_guess_among_all_who_leaked():
    risk = leak_risk(ClassSizes.from_sizes([1_000]), 300, targets=40)
    known = -math.fsum(math.log(1_000 - i) for i in range(40))  # every target leaked, each one guessed
    assert risk.log_probability == pytest.approx(known, abs=1e-10)


def test_the_recursion_by_people_is_exact_when_everybody_leaks():
    sizes = ClassSizes.from_counts({5: 600, 6: 500, 7: 250, 8: 100})
    exact = leak_risk(sizes, sizes.people, targets=9).probability
    recursion = leak_risk(sizes, sizes.people, targets=9, method="recursion_by_people").probability
    assert exact == pytest.approx(recursion, rel=1e-11)


def test_a_chance_too_small_for_a_float_keeps_its_logarithm():
    risk = leak_risk_uniform(people=10_000, k=5, leaked=4_000, targets=2_000)
    assert risk.probability == 0.0
    assert -10_000 < risk.log_probability < -3_000
    assert risk.odds.startswith("1 in 10^")


def test_a_larger_leak_names_more_and_more_targets_are_harder():
    sizes = ClassSizes.from_sizes([1, 1, 2, 3, 5, 8, 13])
    by_leak = [leak_risk(sizes, leaked, targets=3).probability for leaked in range(3, 34)]
    assert np.all(np.diff(by_leak) > 0)
    by_targets = [leak_risk(sizes, 20, targets=targets).probability for targets in range(1, 21)]
    assert np.all(np.diff(by_targets) < 0)


def test_nobody_is_named_when_nothing_leaks():
    risk = leak_risk(ClassSizes.from_sizes([3, 2, 1]), 0)
    assert (risk.probability, risk.odds) == (0.0, "never")


def test_more_targets_than_leaked_people_is_said_in_words():
    risk = leak_risk(ClassSizes.from_sizes([3, 2, 1]), 2, targets=3)
    assert risk.probability == 0.0
    assert risk.in_words == "never: a leak of 2 cannot name 3 people"
    assert risk.to_dict()["log_probability"] is None


@pytest.mark.parametrize(("leaked", "targets"), [(7, 1), (-1, 1), (3, 0), (3, 7)])
def test_a_leak_or_search_larger_than_the_table_is_refused(leaked, targets):
    with pytest.raises(InputError, match="6"):
        leak_risk(ClassSizes.from_sizes([3, 2, 1]), leaked, targets=targets)


@pytest.mark.parametrize(("people", "k"), [(0, 1), (10, 0), (10, 11)])
def test_a_plan_without_people_or_with_an_impossible_k_is_refused(people, k):
    with pytest.raises(InputError):
        leak_risk_uniform(people=people, k=k, leaked=0)


@pytest.mark.parametrize("question", [{"leaked": 0.5}, {"leaked": 3.0}, {"leaked": 3, "targets": 1.5}])
def test_a_share_is_not_taken_for_people(question):
    with pytest.raises(InputError, match="whole people"):
        leak_risk(ClassSizes.from_sizes([3, 2, 1]), **question)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="method"):
        leak_risk(ClassSizes.from_sizes([3, 2, 1]), 4, method="guess")


@given(people=st.integers(1, 500), k=st.integers(1, 500))
def test_planned_classes_hold_everybody_and_none_is_below_k(people, k):
    k = min(k, people)
    sizes = uniform_sizes(people, k)
    assert sizes.people == people
    assert sizes.smallest >= k
    assert sizes.classes == people // k
    assert sizes.largest - sizes.smallest <= 1


@pytest.mark.paper("leak-attack", "Table 3", "Table 4")
def test_the_papers_worked_example_has_ten_people_in_three_classes():
    stays = {2887: "0-5 6-15", 3679: "0-5 6-15", 1208: "0-5 6-15", 2257: "20-25", 9006: "20-25", 8773: "20-25",
             4653: "0-5", 7363: "0-5", 5392: "0-5", 6453: "0-5"}  # fmt: skip
    where = {2257: "OX14", 9006: "OX14", 8773: "OX14", 4653: "OX13", 7363: "OX13", 5392: "OX13", 6453: "OX13"}
    rows = [(who, where.get(who, "OX12"), stay) for who, all_stays in stays.items() for stay in all_stays.split()]
    table = dict(zip(("who", "postcode", "stay"), map(list, zip(*rows, strict=True)), strict=True))
    sizes = ClassSizes.from_table(table, quasi_identifiers=["postcode", "stay"], person="who")
    assert (sizes.records, sizes.people, sizes.histogram()) == (13, 10, {3: 2, 4: 1})
    # 1 − C(7, 3)/C(10, 3) for the classes of three, 1 − C(6, 3)/C(10, 3) for that of four
    assert leak_risk(sizes, leaked=3).probability == pytest.approx((2 * (1 - 35 / 120) + 1 - 20 / 120) / 10)


def test_people_count_once_however_many_records_they_have():
    table = {
        "who": ["a", "a", "b", "b", "c", "c", "c", "d", "e", "f"],
        "sex": list("mmmmmmmfff"),
        "days": ["0-5", "6-15"] * 2 + ["0-5", "6-15", "6-15"] + ["20-25"] * 3,
    }
    by_people = ClassSizes.from_table(table, quasi_identifiers=["sex", "days"], person="who")
    assert by_people.histogram() == {1: 1, 2: 1, 3: 1}  # c has one stay more than a and b
    assert leak_risk(by_people, 4, targets=2).probability == pytest.approx(0.56 / 3, rel=1e-12)
    by_rows = ClassSizes.from_table(table, quasi_identifiers=["sex", "days"])
    assert by_rows.histogram() == {3: 2, 4: 1}
    assert leak_risk(by_rows, 3).probability == pytest.approx((2 * (1 - 35 / 120) + 1 - 20 / 120) / 10)


def test_numbers_of_any_kind_become_plain_ones():
    risk = leak_risk(ClassSizes.from_sizes([3, 2, 1]), np.int32(4), targets=np.uint8(2))
    assert json.loads(json.dumps(risk.to_dict()))["leaked"] == 4
    with pytest.raises(InputError, match="whole people"):
        leak_risk(ClassSizes.from_sizes([3, 2, 1]), True)


@pytest.mark.parametrize(
    ("chance", "odds"),
    [(1 / 69e6, "1 in 69 million"), (1 / 999_999, "1 in 1 million"), (0.2, "1 in 5"), (1 / 2.5e9, "1 in 2.5 billion")],
)
def test_odds_are_in_words(chance, odds):
    assert LeakRisk(10, 5, 1, "exact", chance, math.log(chance)).odds == odds


PATIENTS = {"age": [30, 30, 30, 40, 40, 50], "visit": [1, 2, 1, 1, 1, 1], "who": [1, 1, 2, 3, 4, 5]}


@pytest.mark.parametrize(
    "ask",
    [
        lambda data, **columns: leak_risk(data, 3, targets=2, **columns),
        lambda data, **columns: simulate_leak(data, 3, targets=2, trials=50, **columns),
        lambda data, **columns: largest_leak(data, at_most=0.3, **columns),
        lambda data, **columns: named_people(data, 3, **columns),
    ],
    ids=["leak_risk", "simulate_leak", "largest_leak", "named_people"],
)
@pytest.mark.parametrize(
    "columns", [{"quasi_identifiers": ["age", "visit"]}, {"quasi_identifiers": ["age"], "person": "who"}]
)
def test_a_table_is_answered_for_as_its_class_sizes_are(ask, columns):
    assert ask(PATIENTS, **columns).to_dict() == ask(ClassSizes.from_table(PATIENTS, **columns)).to_dict()
    with pytest.raises(InputError, match="needs the columns that an attacker may know"):
        ask(PATIENTS)
    with pytest.raises(InputError, match="counted already"):
        ask(ClassSizes.from_sizes([2, 3]), **columns)


def test_the_distribution_of_named_people_and_a_leak_table_are_frames_of_many_rows():
    named = named_people(PATIENTS, 3, quasi_identifiers=["age"])
    frame = named.to_frame()
    assert (frame["named"] * frame["chance"]).sum() == pytest.approx(named.mean)
    assert leak_table(people=100, ks=[2, 5], shares=[0.1, 0.5, 1.0]).to_frame().shape == (6, 5)


def test_a_sum_that_takes_too_long_is_refused_in_words(monkeypatch):
    sizes = ClassSizes.from_counts({100: 10, 1: 50})
    known = leak_risk(sizes, 600, targets=40)
    assert 0 < known.probability < 1
    monkeypatch.setattr("incrowd.leaks.saddle_point._MOST_NUMBERS", 1_000)
    with pytest.raises(UnsupportedError, match="fewer targets"):
        leak_risk(sizes, 600, targets=40)


def test_a_sum_over_one_large_class_is_refused_before_it_is_made(monkeypatch):
    evaluated = []
    evaluate = saddle_point.characteristic
    monkeypatch.setattr(
        saddle_point, "characteristic", lambda *given: evaluated.append(given[1].size) or evaluate(*given)
    )
    with pytest.raises(UnsupportedError, match="fewer targets"):
        leak_risk(ClassSizes.from_sizes([100_000]), 75_000, targets=50_000)
    assert sum(evaluated) < 200  # of 419 nodes in the smallest grid alone, and 2,909 in all that were made before


def test_looking_at_the_rim_first_changes_no_digit(monkeypatch):
    sizes = ClassSizes.from_counts({400: 2, 3: 100})
    known = leak_risk(sizes, 700, targets=60).log_probability
    monkeypatch.setattr(saddle_point, "_LARGE", 0)
    assert leak_risk(sizes, 700, targets=60).log_probability == known
