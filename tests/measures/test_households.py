"""Household risk by plain Python and exact fractions: the chance that any member of a household is found."""

import random
from collections import Counter
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from incrowd import InputError, measure, protect, record_risk
from incrowd.measures import household_risk


def by_hand(homes, keys):
    """For every household 1 − Π (1 − 1 ÷ the people with the same key), over its members."""
    alike = Counter(keys)
    members = {home: [key for place, key in zip(homes, keys, strict=True) if place == home] for home in homes}
    return {home: 1 - prod(1 - Fraction(1, alike[key]) for key in inside) for home, inside in members.items()}


def summary(risks, homes):
    of_people = sum(risks[home] for home in homes) / len(homes)
    return (
        float(sum(risks.values()) / len(risks)),
        float(of_people),
        float(max(risks.values())),
        sum(risk == 1 for risk in risks.values()),
    )


def made(seed, people=60):
    generator = random.Random(seed)
    homes = [generator.randrange(people // 3) for _ in range(people)]
    return {
        "home": homes,
        "age": [generator.randrange(4) for _ in homes],
        "sex": [generator.choice("fm") for _ in homes],
        "role": [generator.choice(["head", "spouse", "child", None]) for _ in homes],
    }


@pytest.mark.parametrize("seed", range(6))
def test_every_row_is_what_plain_python_counts(seed):
    table = made(seed)
    homes, keys = table["home"], list(zip(table["age"], table["sex"], strict=True))
    size = Counter(homes)
    inside = {home: [i for i, place in enumerate(homes) if place == home] for home in size}
    roles = {home: tuple(sorted(table["role"][i] or "" for i in rows)) for home, rows in inside.items()}
    whole = {home: tuple(sorted(keys[i] for i in rows)) for home, rows in inside.items()}
    often = Counter(whole.values())
    expected = [
        by_hand(homes, keys),
        by_hand(homes, [(key, size[home]) for key, home in zip(keys, homes, strict=True)]),
        by_hand(homes, [(key, roles[home]) for key, home in zip(keys, homes, strict=True)]),
        {home: Fraction(1, often[alike]) for home, alike in whole.items()},
    ]
    found = household_risk(table, household="home", quasi_identifiers=["age", "sex"], relationship="role")
    assert (found.households, found.people, found.largest) == (len(size), len(homes), max(size.values()))
    for risks, row in zip(expected, found.by_knowledge, strict=True):
        one = (row.average, row.average_of_people, row.highest, row.certain)
        assert one == pytest.approx(summary(risks, homes), abs=1e-12)


def test_more_knowledge_is_more_risk_and_no_relationship_leaves_a_row_out():
    rows = household_risk(made(9), household="home", quasi_identifiers=["age"]).by_knowledge
    assert [row.knows.split()[0] for row in rows] == ["the", "also", "the"]
    assert rows[0].average <= rows[1].average


def test_people_who_live_alone_have_their_own_risk():
    table = {"home": list(range(6)), "age": [1, 1, 2, 2, 2, 3]}
    row = household_risk(table, household="home", quasi_identifiers=["age"]).by_knowledge[0]
    assert row.average == pytest.approx(measure(table, quasi_identifiers=["age"]).correctness)


def test_risks_may_be_those_of_the_population():
    table = made(1, people=300)
    names = ["age", "sex"]
    risks = record_risk(table, quasi_identifiers=names, population=3_000)["risk"]
    found = household_risk(table, household="home", quasi_identifiers=names, risks=risks)
    safe = dict.fromkeys(table["home"], 1.0)
    for home, risk in zip(table["home"], risks, strict=True):
        safe[home] *= 1 - risk
    (row,) = found.by_knowledge
    assert row.average == pytest.approx(1 - sum(safe.values()) / len(safe))
    assert household_risk(table, household="home", quasi_identifiers=names).by_knowledge[0].average > row.average


def test_a_household_of_many_is_not_certain_by_rounding():
    table = {"home": [1] * 80 + [2] * 80, "age": [*range(80), *range(80)]}
    row = household_risk(table, household="home", quasi_identifiers=["age"]).by_knowledge[0]
    assert (row.highest, row.certain) == (1.0, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"quasi_identifiers": ["age", "home"]}, "cannot be a quasi-identifier too"),
        ({"risks": [0.5]}, "4 chances between 0 and 1"),
        ({"risks": np.array([0.5, 0.5, 1.5, 0.1])}, "4 chances between 0 and 1"),
        ({"household": "gap"}, "have no household"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words):
    table = {"home": [1, 1, 2, 2], "gap": [1, 1, 2, None], "age": [1, 2, 1, 2]}
    with pytest.raises(InputError, match=words):
        household_risk(table, **{"household": "home", "quasi_identifiers": ["age"], **change})


def test_protection_by_household_keeps_households_together():
    table = made(3, people=240)
    safe = protect(table, quasi_identifiers=["age", "sex"], k=3, person="home")
    rows = safe.table.to_pylist()
    inside = {}
    for row in rows:
        inside.setdefault(row["home"], []).append((str(row["age"]), str(row["sex"])))
    often = Counter(tuple(sorted(members)) for members in inside.values())
    assert min(often.values()) >= 3  # counted on whole households, by hand
    assert not {*inside} & {*table["home"]}
    whole = household_risk(safe.table, household="home", quasi_identifiers=["age", "sex"]).by_knowledge[-1]
    assert whole.highest <= 1 / 3
