"""`protect` for a recipient and the advice of `assess` are one search: neither costs more, and both say the same."""

import numpy as np
import pytest

from incrowd import assess
from incrowd.assessment import METHODS_TO_TRY, Question, advise, find_release
from incrowd.tables import read_table

pytestmark = pytest.mark.usefixtures("quick_estimates")


def rare_secret(draw, rows):
    ill = draw.choice(["flu", "asthma", "none"], rows, p=[0.3, 0.2, 0.5])
    ill[: rows // 60] = "hiv"
    return {
        "age": np.r_[draw.integers(30, 34, rows // 60), draw.integers(18, 90, rows - rows // 60)],
        "sex": draw.choice(["f", "m"], rows),
        "ill": ill,
    }


def secret_by_age(draw, rows):
    age = draw.integers(20, 80, rows)
    return {"age": age, "sex": draw.integers(0, 2, rows), "ill": np.array(["a", "b", "c"])[age // 27]}


def two_secrets(draw, rows):
    ages = draw.integers(18, 60, rows)
    drug = np.where(ages < 24, "methadone", draw.choice(["none", "statin", "opioid"], rows))
    return {"age": ages, "job": draw.integers(0, 9, rows), "drug": drug, "ill": draw.choice(["x", "y", "z"], rows)}


def column_that_gives_back(draw, rows):
    age = draw.integers(18, 80, rows)
    return {"age": age, "sex": draw.integers(0, 2, rows), "quota": 9_000 - 13 * age}


def skewed(draw, rows):
    return {
        "age": np.minimum(draw.geometric(0.12, rows), 60),
        "sex": draw.integers(1, 3, rows),
        "job": np.minimum(draw.geometric(0.5, rows), 20),
    }


def question_for_some(draw, rows):
    age = draw.integers(0, 80, rows)
    works = [None if one < 16 else str(answer) for one, answer in zip(age, draw.integers(0, 2, rows), strict=True)]
    return {"age": age, "sex": draw.integers(0, 2, rows), "works": works}


def secret_of_all_who_are_alike(draw, rows):
    town = draw.integers(0, 6, rows)
    return {"town": town, "age": draw.integers(20, 90, rows), "faith": np.array(list("abcdef"))[town]}


TABLES = [
    rare_secret,
    secret_by_age,
    two_secrets,
    column_that_gives_back,
    skewed,
    question_for_some,
    secret_of_all_who_are_alike,
]
SECRETS = ("ill", "drug", "faith")
KEPT = ("quota", "works")


def asked_about(table, recipient, population):
    known = tuple(name for name in table if name not in (*SECRETS, *KEPT))
    sensitive, other = (tuple(name for name in table if name in names) for names in (SECRETS, KEPT))
    return {
        "quasi_identifiers": known,
        "sensitive": sensitive,
        "other": other,
        "recipient": recipient,
        "population": population,
        "rows_are_people": True,
    }


def total_cost(removed, detail, rows_left_out, rows, known):
    return removed + known * (1 - detail * (1 - rows_left_out / rows))


@pytest.mark.parametrize("population", [None, 20_000])
@pytest.mark.parametrize("recipient", ["trusted", "restricted", "public"])
@pytest.mark.parametrize("make", TABLES)
def test_protecting_for_a_recipient_costs_no_more_than_the_advice(make, recipient, population):
    rows = 300
    table = read_table({name: list(cells) for name, cells in make(np.random.default_rng(7), rows).items()})
    columns = dict(zip(table.columns, table.read(list(table.columns)), strict=True))
    asked = asked_about(columns, recipient, population)
    found = advise(table, Question(**asked))
    protects = {name: list(asked[name]) for name in ("quasi_identifiers", "sensitive", "other") if asked[name]}
    of_all_methods = recipient == "restricted" and population is None
    if of_all_methods:
        whole = assess(table, **asked).verdict  # its other sections take most of the time and change nothing
        assert (whole.decision, whole.actions) == (found.decision, found.actions)
    for methods in ((), METHODS_TO_TRY) if of_all_methods else ((),):
        solved = find_release(table, Question(**asked), methods=methods, **protects, identifiers=[])
        safe = solved.protected
        known = len(asked["quasi_identifiers"])
        cost = total_cost(len(safe.removed), safe.evaluate().granularity, safe.suppressed_rows, rows, known)
        way = found.actions[-1]
        if found.decision == "within":
            assert solved.passes
            continue
        assert way.expected is not None, found.actions
        assert solved.verdict.decision == way.expected["decision"] == "within"
        removed = len(way.protection.get("leave_out", ()))
        advised = total_cost(removed, way.expected["detail_kept"], way.expected["rows_left_out"], rows, known)
        assert cost <= advised + 1e-12
        if not methods:
            assert len(safe.removed) == removed
            assert cost == pytest.approx(advised)
