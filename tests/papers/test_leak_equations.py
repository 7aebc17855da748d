"""Equations 1 to 12 of the leak-attack paper, each factor against a listing of every leak and every target."""

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from papers.leak_attack.printed_tables import LEAKED_PATIENTS, QUASI_IDENTIFIERS, TABLE_2, TABLE_3, as_columns
from papers.leak_attack.reference_values import chance_named, enumerate_attacks, published_sum
from papers.leak_attack.worked_example import chance_of_tree, recursion_tree, reproduce_worked_example

from incrowd.classes import ClassSizes
from incrowd.leaks import leak_risk, leak_risk_uniform, simulate_leak, smallest_k
from incrowd.recipients import RECIPIENTS
from papers import Context

PEOPLE, K, LEAKED = 6, 2, 3
UNIFORM = [0, 0, 1, 1, 2, 2]  # the class of every person
MIXED = [0, 0, 0, 1, 1, 2]


def listed(of, leaked=LEAKED):
    """Every leak with every target: the class of the target, whether it leaked, how many of its class did."""
    for leak in combinations(range(len(of)), leaked):
        for target in range(len(of)):
            mine = [other for other in leak if of[other] == of[target]]
            yield of[target], target in leak, len(mine)


def chance(of, event, given=lambda *_: True, leaked=LEAKED):
    """The chance of an event given another; the attacker's guess counts by its chance of being right."""
    cases = [(Fraction(event(*case)), case) for case in listed(of, leaked) if given(*case)]
    return sum((value for value, _ in cases), Fraction(0)) / len(cases)


def named(_, inside, mates):
    return Fraction(1, mates) if inside else Fraction(0)


@pytest.mark.paper("leak-attack", "eq. 1", "eq. 2", "eq. 5")
def test_the_events_add_up_to_the_chance_of_being_named():
    def part(number, h):
        return chance(UNIFORM, lambda of, inside, mates: (of == number and mates == h) * named(of, inside, mates))

    parts = {(number, h): part(number, h) for number in range(3) for h in (1, 2)}
    whole = chance(UNIFORM, named)
    assert sum(parts.values()) == whole == published_sum(PEOPLE, K, LEAKED)
    assert all(parts[number, h] == parts[0, h] for number, h in parts)  # eq. 2: it does not depend on the class
    assert Fraction(PEOPLE, K) * (parts[0, 1] + parts[0, 2]) == whole
    library = leak_risk_uniform(people=PEOPLE, k=K, leaked=LEAKED).probability
    assert library == pytest.approx(float(whole), rel=1e-14)


@pytest.mark.paper("leak-attack", "eq. 3", "eq. 4")
@pytest.mark.parametrize("h", [1, 2])
def test_every_factor_of_equation_3(h):
    """For the first class: 1/h, h/k, k/D and the hypergeometric chance of eq. 4."""
    first = {leak: sum(one < 2 for one in leak) for leak in combinations(range(PEOPLE), LEAKED)}
    size = Fraction(sum(count == h for count in first.values()), len(first))
    assert size == Fraction(comb(K, h) * comb(PEOPLE - K, LEAKED - h), comb(PEOPLE, LEAKED))
    in_leak = chance(UNIFORM, lambda _, inside, __: inside, given=lambda of, _, mates: of == 0 and mates == h)
    assert in_leak == Fraction(h, K)
    assert chance(UNIFORM, lambda of, *_: of == 0) == Fraction(K, PEOPLE)
    guess = chance(UNIFORM, named, given=lambda of, inside, mates: of == 0 and inside and mates == h)
    assert guess == Fraction(1, h)


@pytest.mark.paper("leak-attack", "eq. 6", "Figure 3")
def test_risks_of_single_people_are_those_of_the_leak():
    """Eq. 6 over all leaks: 0 outside, 1 over those of the class inside; their shares are the simulation's."""
    cases = [named(*case) for case in listed(MIXED)]
    shares = {risk: Fraction(cases.count(risk), len(cases)) for risk in set(cases)}
    found = simulate_leak(ClassSizes.from_sizes([3, 2, 1]), LEAKED, trials=40_000, seed=2)
    assert set(dict(found.risks)) == {float(risk) for risk in shares}
    for risk, share in found.risks:
        exact = next(value for key, value in shares.items() if float(key) == pytest.approx(risk))
        assert share == pytest.approx(float(exact), abs=0.006)


@pytest.mark.paper("leak-attack", "eq. 7", "eq. 8", "eq. 9")
def test_events_by_class_size_add_up_and_factor():
    """E_k^j: named from a class of k of whom j others leaked; k = 1, 2, 3 give the six events of eq. 9."""
    sizes = {0: 3, 1: 2, 2: 1}
    events = {}
    for number, k in sizes.items():
        for j in range(k):
            events[k, j] = chance(
                MIXED,
                lambda of, inside, mates, number=number, j=j: (
                    (of == number and mates == j + 1) * named(of, inside, mates)
                ),
            )
            of_size, leaks = Fraction(k, PEOPLE), Fraction(LEAKED, PEOPLE)
            others = Fraction(comb(k - 1, j) * comb(PEOPLE - k, LEAKED - 1 - j), comb(PEOPLE - 1, LEAKED - 1))
            assert events[k, j] == Fraction(1, j + 1) * others * of_size * leaks
    assert len(events) == 6
    whole = sum(events.values())
    assert (
        whole == chance(MIXED, named) == sum(Fraction(k, PEOPLE) * chance_named(k, LEAKED, PEOPLE) for k in (1, 2, 3))
    )
    assert leak_risk(ClassSizes.from_sizes([3, 2, 1]), LEAKED).probability == pytest.approx(float(whole), rel=1e-14)


@pytest.mark.paper("leak-attack", "eq. 10")
def test_the_first_person_of_classes_of_two():
    first = Fraction(LEAKED, PEOPLE) * Fraction(comb(PEOPLE - 2, LEAKED - 1), comb(PEOPLE - 1, LEAKED - 1))
    second = (
        Fraction(1, 2) * Fraction(LEAKED, PEOPLE) * Fraction(comb(PEOPLE - 2, LEAKED - 2), comb(PEOPLE - 1, LEAKED - 1))
    )
    assert first + second == chance(UNIFORM, named) == next(recursion_tree({2: 3}, LEAKED, PEOPLE, 1)).chance


@pytest.mark.paper("leak-attack", "eq. 11", "eq. 12", "Figure 1")
@pytest.mark.parametrize("leaked", [6, 4])
def test_the_tree_multiplies_and_adds_as_the_library_does(leaked):
    nodes = {node.path: node.chance for node in recursion_tree({2: 3}, leaked, PEOPLE, 2)}
    both = nodes[2,] * (nodes[2, 1] + nodes[2, 2])
    assert both == chance_of_tree(list(recursion_tree({2: 3}, leaked, PEOPLE, 2)))
    library = leak_risk(ClassSizes.from_sizes([2, 2, 2]), leaked, targets=2, method="recursion").probability
    assert library == pytest.approx(float(both), rel=1e-12)
    assert both != enumerate_attacks([2, 2, 2], leaked, 2)  # classes are weighed, not people


@pytest.mark.paper("leak-attack", "Table 1", "Table 2", "Table 3", "Table 4", "Figure 1")
def test_the_worked_example():
    found = reproduce_worked_example(Context())
    made, claims, tree = found.tables
    assert len(made.cells) == 13  # one admission has no counterpart
    rows = {row.quantity: row for row in claims.rows}
    assert rows["people and classes of Table 3, by incrowd"].ours == "10 people in classes of 3, 3, 4"
    assert rows["the same, of Table 3 as printed"].ours == "10 people in classes of 3, 3, 4"
    assert rows["risks of the three people of Table 4 (eq. 6)"].ours == "1/2, 1/2, 1"
    assert len(tree.cells) == 6
    printed = ClassSizes.from_table(as_columns(TABLE_3), quasi_identifiers=QUASI_IDENTIFIERS, person="patient")
    of = {patient: tuple(row) for patient, *row, _ in TABLE_3}
    people = list(of)
    total, cases = Fraction(0), 0
    for leak in combinations(people, len(LEAKED_PATIENTS)):
        for target in people:
            cases += 1
            total += Fraction(1, sum(of[one] == of[target] for one in leak)) if target in leak else 0
    assert leak_risk(printed, 3).probability == pytest.approx(float(total / cases), rel=1e-12)
    _, sex, age, postcode, ethnicity = TABLE_2
    fits = [
        who for who, (s, ages, code, e, _) in of.items()
        if s == sex and int(ages[:2]) <= age <= int(ages[3:]) and postcode.startswith(code) and e == ethnicity
    ]  # fmt: skip
    assert len(fits) == 3
    assert rows["John Doe of Table 2, everybody leaks"].ours == pytest.approx(1 / len(fits))


@pytest.mark.paper("leak-attack", "thresholds")
def test_quoted_thresholds_are_classes_of_3_11_and_20():
    found = [smallest_k(people=10_000, leaked=10_000, at_most=limit).k for limit in (0.33, 0.09, 0.05)]
    assert found == [3, 11, 20]
    assert {kind.name: kind.limits.class_size for kind in RECIPIENTS} == {
        "trusted": 3, "restricted": 3, "public": 11, "strict": 20,
    }  # fmt: skip
