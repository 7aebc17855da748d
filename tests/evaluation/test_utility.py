"""Utility of protected tables, against sums in plain Python and conditions that solutions must satisfy."""

import itertools
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import InputError, evaluate
from incrowd import protect as protect_and_shuffle
from incrowd.evaluation.regressions import area_under_curve, fit_linear, fit_logistic, with_constant

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.sampled_from("xy")), min_size=6, max_size=25)
NAMES = ["a", "b", "c"]


def shares(cell, domain):
    """What a cell may be, each with its share: the plainest reading of ranges and sets."""
    text = str(cell)
    if text == "*":
        members = domain
    elif text.startswith("["):
        low, high = text[1:-1].split(";")
        members = [value for value in domain if int(low) <= value <= int(high)]
    else:
        members = [value for value in domain if str(value) in text.strip("{}").split(",")]
    return {value: Fraction(1, len(members)) for value in members}


def distance(before, after, names, domains):
    tables = []
    for rows in (before, after):
        counts = {}
        for row in rows:
            for cells in itertools.product(*(shares(row[name], domains[name]).items() for name in names)):
                weight = Fraction(1, len(rows))
                for _, share in cells:
                    weight *= share
                key = tuple(value for value, _ in cells)
                counts[key] = counts.get(key, 0) + weight
        tables.append(counts)
    keys = {*tables[0], *tables[1]}
    return sum(abs(tables[0].get(key, 0) - tables[1].get(key, 0)) for key in keys) / 2


@settings(max_examples=30, deadline=None)
@given(ROWS, st.integers(2, 3))
def test_marginals_are_those_of_plain_sums(rows, k):
    before = [dict(zip(NAMES, row, strict=True)) for row in rows]
    table = {name: [row[name] for row in before] for name in NAMES}
    safe = protect(table, quasi_identifiers=NAMES, k=k, identifiers=[], warn=False)
    found = evaluate(table, safe.table, quasi_identifiers=NAMES, utility=True).utility
    domains = {name: sorted(set(table[name])) for name in NAMES}
    after = safe.table.to_pylist()
    for ways in (1, 2, 3):
        sets = list(itertools.combinations(NAMES, ways))
        expected = sum(distance(before, after, names, domains) for names in sets) / len(sets)
        assert found.marginals[ways - 1] == pytest.approx(float(expected), abs=1e-9)


def people(rows, seed=1):
    draw = random.Random(seed)
    age = [draw.randrange(18, 80) for _ in range(rows)]
    sex = [draw.choice("fm") for _ in range(rows)]
    pay = [20 + 0.5 * a + (5 if s == "f" else 0) + draw.gauss(0, 5) for a, s in zip(age, sex, strict=True)]
    rich = ["yes" if one > 45 + draw.gauss(0, 5) else "no" for one in pay]
    return {"age": age, "sex": sex, "pay": pay, "rich": rich}


@pytest.mark.parametrize("outcome", ["pay", "rich"])
def test_nothing_is_lost_where_nothing_changed(outcome):
    table = people(400)
    found = evaluate(table, table, quasi_identifiers=["age", "sex"], outcome=outcome).utility
    assert found.marginals == (0.0, 0.0)
    assert found.propensity_mse == pytest.approx(0.0, abs=1e-12)
    assert found.overlap == pytest.approx(1.0)
    assert found.score_original == found.score_protected


@pytest.mark.parametrize("outcome", ["pay", "rich"])
def test_more_protection_costs_more(outcome):
    table = people(1_000)
    scores = []
    for k in (2, 100, 500):
        safe = protect(table, quasi_identifiers=["age", "sex"], k=k, identifiers=[], other=["pay", "rich"])
        found = evaluate(table, safe.table, quasi_identifiers=["age", "sex"], outcome=outcome).utility
        scores.append((sum(found.marginals), -found.score_protected))
        assert found.score_protected <= found.score_original + 0.02
        assert 0 <= found.propensity_mse <= found.propensity_most
    assert scores[0] < scores[1] < scores[2]


def test_the_propensity_of_one_column_is_its_closed_form():
    before, after = {"x": list("aaab") * 25}, {"x": list("abbb") * 25}
    found = evaluate(before, after, quasi_identifiers=["x"], utility=True).utility
    # a: 75 before, 25 after; b the other way round: a model guesses 1/4 and 3/4
    assert found.propensity_mse == pytest.approx(1 / 16, rel=1e-4)
    assert found.propensity_most == 0.25
    assert found.marginals == (0.5,)


def test_fits_satisfy_their_equations():
    generator = np.random.default_rng(3)
    features = with_constant(generator.normal(size=(500, 3)))
    values = features @ [1.0, 2.0, 0.0, -1.0] + generator.normal(size=500)
    coefficients, errors = fit_linear(features, values)
    expected, rest, *_ = np.linalg.lstsq(features, values, rcond=None)
    assert coefficients == pytest.approx(expected, abs=1e-6)
    assert errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(features.T @ features)) * rest[0] / 496), rel=1e-6)
    told = (generator.random(500) < 1 / (1 + np.exp(-values))).astype(float)
    coefficients, errors = fit_logistic(features, told)
    chance = 1 / (1 + np.exp(-(features @ coefficients)))
    assert features.T @ (told - chance) == pytest.approx(np.zeros(4), abs=1e-4)  # the score is zero at the maximum
    information = (features * (chance * (1 - chance))[:, None]).T @ features
    assert errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_the_area_counts_pairs(rows):
    with_it = [score for score, told in rows if told]
    without = [score for score, told in rows if not told]
    found = area_under_curve(
        np.array([score for score, _ in rows], dtype=float), np.array([float(told) for _, told in rows])
    )
    pairs = [(a > b) + 0.5 * (a == b) for a in with_it for b in without]
    assert found == pytest.approx(sum(pairs) / len(pairs) if pairs else 0.5)


@pytest.mark.parametrize(("outcome", "message"), [("sex", "among the quasi-identifiers"), ("town", "has 3 values")])
def test_outcomes_that_make_no_sense_are_refused(outcome, message):
    table = {"sex": list("fmfmfm"), "town": list("abcabc")}
    with pytest.raises(InputError, match=message):
        evaluate(table, table, quasi_identifiers=["sex"], outcome=outcome)


@pytest.mark.parametrize("commonest", ["a", "b", "c"])
def test_a_model_does_not_depend_on_which_category_is_commonest(commonest):
    """a and b have the same pay, so a set of them tells all there is to tell."""
    draw = random.Random(3)
    town = [draw.choice(["a", "b", "c", commonest, commonest]) for _ in range(400)]
    pay = [(10.0 if one == "c" else 0.0) + draw.gauss(0, 1) for one in town]
    table, released = {"town": town, "pay": pay}, {"town": ["c" if one == "c" else "{a,b}" for one in town], "pay": pay}
    found = evaluate(table, released, quasi_identifiers=["town"], outcome="pay").utility
    assert found.score_protected == pytest.approx(found.score_original, abs=0.01)


def test_scores_do_not_depend_on_the_mean_of_the_outcome():
    generator = np.random.default_rng(2)
    age = generator.integers(18, 90, 400)
    year = 2026 - age + generator.integers(0, 3, 400)
    scores = []
    for more in (-1900, 0, 1000):
        table = {"age": age, "year": year + more}
        safe = protect(table, quasi_identifiers=["age"], k=2, other=["year"], identifiers=[], warn=False)
        found = evaluate(table, safe.table, quasi_identifiers=["age"], utility=True, outcome="year").utility
        scores.append((found.score_original, found.score_protected))
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    assert scores[2] == pytest.approx(scores[1], abs=1e-6)
    assert min(scores[1]) > 0.99


def test_a_penalty_leaves_the_share_of_a_rare_outcome_as_it_is():
    generator = np.random.default_rng(3)
    told = (generator.random(400) < 0.03).astype(float)
    features = with_constant(generator.normal(size=(400, 2)))
    for fit, link in ((fit_linear, lambda score: score), (fit_logistic, lambda score: 1 / (1 + np.exp(-score)))):
        coefficients, _ = fit(features, told, 50.0)
        assert link(features @ coefficients).mean() == pytest.approx(told.mean(), abs=1e-6)
