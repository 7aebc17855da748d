"""Partial leaks and partial knowledge, against the exact answer where nothing is partial, and against listing."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest

from incrowd import InputError, leak_risk
from incrowd.demo import demo_table
from incrowd.leaks import simulate_partial_leak

STAYS = {
    "who": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "days": [1, 2, 1, 2, 1, 2, 3, 3],
}
HISTORIES = {"a": (1, 2), "b": (1, 2), "c": (1,), "d": (2, 3), "e": (3,)}


def within(found, truth, errors=4.5):
    return abs(found.probability - float(truth)) <= errors * found.standard_error + 1e-9


@pytest.mark.paper("leak-attack", "eq. 5", "eq. 7")
@pytest.mark.parametrize("leaked", [1, 3, 5])
def test_whole_histories_and_whole_knowledge_are_the_exact_chance(leaked):
    found = simulate_partial_leak(STAYS, leaked, quasi_identifiers=["days"], person="who", trials=6_000)
    assert within(found, leak_risk(STAYS, leaked, quasi_identifiers=["days"], person="who").probability)
    assert found.false_positive_rate in (None, pytest.approx(0.2, abs=0.25))


def enumerated(leaked, known, share_all):
    """Every leak, target, choice of known records and of leaked records (one each unless all leak), in fractions."""
    right, wrong_outside, cases, outside_cases = Fraction(0), Fraction(0), Fraction(0), Fraction(0)
    for leak in combinations(HISTORIES, leaked):
        seen = [
            {who: Counter(records) for who, records in zip(leak, choice, strict=True)}
            for choice in product(*([[HISTORIES[w]] if share_all else [(r,) for r in HISTORIES[w]] for w in leak]))
        ]
        for target, history in HISTORIES.items():
            choices = list(combinations(history, min(known, len(history))))
            weight = Fraction(1, len(choices) * len(seen))
            for what, leaks in product(choices, seen):
                memory = Counter(what)
                scores = {
                    who: (records & memory).total()
                    for who, records in leaks.items()
                    if (records & memory).total() and not (share_all and (memory - records).total())
                }
                best = [who for who, score in scores.items() if score == max(scores.values())]
                cases += weight
                right += weight * (Fraction(1, len(best)) if target in best else 0)
                outside_cases += weight * (target not in leak)
                wrong_outside += weight * (target not in leak and bool(best))
    return right / cases, wrong_outside / outside_cases


@pytest.mark.parametrize(("leaked", "known", "share_all"), [(2, 1, True), (3, 1, True), (3, 2, False), (2, 1, False)])
def test_partial_knowledge_and_partial_leaks_are_those_of_listing(leaked, known, share_all):
    truth, false = enumerated(leaked, known, share_all)
    found = simulate_partial_leak(
        STAYS,
        leaked,
        quasi_identifiers=["days"],
        person="who",
        known_records=known,
        share_of_records=1.0 if share_all else 0.5,
        trials=8_000,
        seed=3,
    )
    assert within(found, truth)
    assert found.false_positive_rate == pytest.approx(float(false), abs=0.03)


def test_less_leaked_less_known_and_errors_name_fewer():
    table = demo_table(600, seed=2)
    table = table.append_column("who", [[f"p{at // 2}" for at in range(600)]])
    options = {"quasi_identifiers": ["age_yrs", "sex", "race"], "person": "who", "trials": 1_500}
    full = simulate_partial_leak(table, 150, **options)
    part = simulate_partial_leak(table, 150, known_records=1, **options)
    noisy = simulate_partial_leak(table, 150, error_rate=0.3, **options)
    assert full.true_positive_rate > part.true_positive_rate
    assert full.true_positive_rate > noisy.true_positive_rate
    assert full.precision > noisy.precision
    assert noisy.false_positive_rate > full.false_positive_rate
    assert full.probability == pytest.approx(0.5 * full.true_positive_rate, abs=0.03)


def test_the_same_seed_gives_the_same_answer_and_nobody_leaks_nothing():
    one, two = (
        simulate_partial_leak(STAYS, 2, quasi_identifiers=["days"], person="who", trials=50, seed=9) for _ in range(2)
    )
    assert one == two
    none = simulate_partial_leak(STAYS, 0, quasi_identifiers=["days"], person="who", trials=10)
    assert (none.probability, none.true_positive_rate, none.precision) == (0.0, None, None)


@pytest.mark.parametrize(
    "wrong", [{"share_of_records": 0}, {"known_records": 0}, {"error_rate": 2}, {"trials": 1}, {"leaked": 9}]
)
def test_impossible_questions_are_refused(wrong):
    with pytest.raises(InputError):
        simulate_partial_leak(STAYS, **{"leaked": 2, "quasi_identifiers": ["days"], "person": "who"} | wrong)
