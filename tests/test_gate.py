"""The gate: rules, their words, JUnit XML, the assertion for test suites."""

from inspect import signature
from xml.etree import ElementTree

import numpy as np
import pytest

from incrowd import InputError, check, measure
from incrowd.assessment import Question
from incrowd.gate import RULES, assert_anonymous, check_limits

TABLE = {
    "age": [30, 30, 30, 41, 41, 50, 50],
    "illness": ["a", "b", "b", "a", "a", "b", "c"],
}


def test_every_rule_reads_the_measurement_it_names():
    facts = measure(TABLE, quasi_identifiers=["age"], sensitive=["illness"])
    column = facts.sensitive[0]
    found = check(
        TABLE,
        quasi_identifiers=["age"],
        sensitive=["illness"],
        original=TABLE,
        **{name: kind.lowest for name, kind in RULES.items()},
    )
    assert {rule.name: rule.found for rule in found.rules} == {
        "min_k": 2,
        "max_risk": facts.correctness,
        "max_uniqueness": 0,
        "max_identifiers": 0,
        "max_attack": 1.0,  # without a holdout not every attack can be run
        "min_l": column.distinct,
        "min_entropy_l": column.entropy_l,
        "max_t": column.t,
        "max_alpha": column.alpha,
        "max_beta": column.beta,
        "max_delta": column.delta,
        "max_given_away": column.given_away,
    }


@pytest.mark.parametrize(
    ("limits", "passed"),
    [({"min_k": 2}, True), ({"min_k": 3}, False), ({"max_risk": 3 / 7}, True), ({"max_risk": 0.42}, False)],
)
def test_a_limit_is_kept_up_to_its_edge(limits, passed):
    assert check(TABLE, quasi_identifiers=["age"], **limits).passed is passed


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "nothing to check"),
        ({"max_risk": 1.5}, "from 0 to 1"),
        ({"min_k": 0}, "1 or more"),
        ({"max_risk": True}, "must be a number"),
        ({"max_t": 0.2}, "sensitive="),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(limits, message):
    with pytest.raises(InputError, match=message):
        check(TABLE, quasi_identifiers=["age"], **limits)


def test_a_rule_that_is_not_known_is_refused_in_words():
    for refuse in (
        check_limits,
        lambda limits: assert_anonymous(TABLE, quasi_identifiers=["age"], k=2, **limits),
    ):
        with pytest.raises(InputError, match="there are: min_k"):
            refuse({"max_rsik": 0.1})


def test_every_rule_is_a_parameter_of_check_and_an_option_of_its_verb():
    from incrowd.cli.check import check_table

    for parameters in (signature(check).parameters, signature(check_table).parameters):
        assert list(RULES) == [name for name in parameters if name in RULES]


def test_junit_has_a_case_for_each_rule_even_with_names_xml_cannot_hold():
    name = 'ill\x00ness <&"\x1b'
    found = check(
        {"age": TABLE["age"], name: TABLE["illness"]}, quasi_identifiers=["age"], sensitive=[name], min_k=3, max_t=1
    )
    suite = ElementTree.fromstring(found.to_junit())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is None for case in suite.iter("testcase")] == [False, True]
    assert 'ness <&"' in suite[1].get("name")


def test_an_assertion_says_which_rule_is_broken():
    assert assert_anonymous(TABLE, quasi_identifiers=["age"], k=2, max_uniqueness=0).passed
    with pytest.raises(AssertionError, match=r"smallest class: 2 \(rule: at least 5\)"):
        assert_anonymous(TABLE, quasi_identifiers=["age"], k=5)


def test_pytest_finds_the_fixture(assert_anonymous):
    assert assert_anonymous(TABLE, quasi_identifiers=["age"], k=2).rules[0].name == "min_k"


def test_columns_that_name_people_are_said_and_can_be_forbidden():
    table = {
        "name": [f"person {number}" for number in range(40)],
        "patient_id": [number // 2 for number in range(40)],
        "zip": [number % 5 for number in range(40)],
        "age": [30] * 20 + [40] * 20,
    }
    found = check(table, quasi_identifiers=["age"], min_k=5)
    assert found.passed
    names, person, others = found.notes
    assert "name" in names
    assert "patient_id" in person
    assert "zip" in others
    assert "name" in found.to_junit()
    assert not check(table, quasi_identifiers=["age"], max_identifiers=0).passed
    assert check(table, quasi_identifiers=["age"], max_identifiers=1).passed
    assert check({"age": [30, 30]}, quasi_identifiers=["age"], min_k=2).notes == ()


def test_an_attack_that_could_not_be_run_breaks_the_rule_and_one_that_fails_keeps_it():
    draws = np.random.default_rng(3)
    people = {"age": draws.integers(20, 80, 900), "zip": draws.integers(0, 50, 900).astype(str)}
    original, others, released = ({name: column[at::3] for name, column in people.items()} for at in range(3))
    asked = {"quasi_identifiers": ["age", "zip"], "original": original}
    without = check(released, **asked, max_attack=0.2)
    assert not without.passed  # membership needs a holdout
    assert any("membership" in note for note in without.notes)
    unknown = check(released, **asked, holdout=others, max_attack=0.3)
    assert not unknown.passed  # whose rows they are cannot be told
    assert any(note.startswith("linkage was not run: the right record is no nearer") for note in unknown.notes)
    kept = check(released, **asked, holdout=others, max_attack=0.3, kept_rows=range(300))
    assert kept.passed, kept
    order = draws.permutation(300)
    shuffled = {name: column[order] for name, column in original.items()}
    assert not check(shuffled, **asked, holdout=others, max_attack=0.3).passed
    constant = {**original, "sex": np.full(300, "f")}
    noted = check(constant, **{**asked, "quasi_identifiers": ["age", "zip", "sex"], "original": constant}, max_attack=1)
    assert any("one value only" in note for note in noted.notes)
    assert not check(original, **asked, holdout=others, max_attack=0.3).passed
    with pytest.raises(InputError, match="made from"):
        check(released, quasi_identifiers=["age", "zip"], max_attack=0.3)


def test_rules_and_verdict_are_about_the_same_columns():
    table = {"sex": ["f", "m"] * 30, "zip": [number // 3 for number in range(60)], "ill": ["a", "b", "c"] * 20}
    question = Question(quasi_identifiers=["zip", "sex"], sensitive=["ill"], rows_are_people=True)
    with pytest.raises(InputError, match="quasi_identifiers is given here and in the question"):
        check(table, quasi_identifiers=["sex"], min_k=20, question=question)
    with pytest.raises(InputError, match="sensitive is given here and in the question"):
        check(table, quasi_identifiers=["sex", "zip"], sensitive=["zip"], min_k=20, question=question)
    found = check(table, quasi_identifiers=["sex", "zip"], min_k=2, min_l=2, question=question)  # any order
    assert set(found.quasi_identifiers) == {"sex", "zip"}
    assert [(rule.column, rule.found) for rule in found.rules] == [(None, 1), ("ill", 1)]


def test_roles_that_a_question_lacks_are_those_given_to_the_gate():
    table = {"sex": ["f", "m"] * 30, "note": ["a", "b", "c"] * 20}
    found = check(table, quasi_identifiers=["sex"], other=["note"], question=Question(rows_are_people=True))
    assert found.passed
    assert not check(table, quasi_identifiers=["sex"], question=Question(rows_are_people=True)).passed


MISSING = {
    "zip": [1] * 12 + [2] * 12 + [3] * 12,
    "illness": ["hiv"] * 11 + [None] + ["none"] * 12 + ["none"] * 7 + ["flu"] * 5,
    "pension": [None] * 24 + ["yes", "no"] * 6,
}
"""A class of one illness and a refusal, one of a common value, and a question that few were asked."""


@pytest.mark.parametrize(
    ("more", "given_away"),
    [({}, 11 / 36), ({"secrets": ["illness=none"]}, 12 / 36), ({"secrets": ["illness=flu"], "certain": 0.51}, 0.0)],
)
def test_the_rule_on_secrets_counts_what_the_verdict_counts(more, given_away):
    hidden = ["illness", "pension"]
    found = check(MISSING, quasi_identifiers=["zip"], sensitive=hidden, max_given_away=0, **more)
    illness, pension = found.rules
    assert (illness.found, pension.found) == (pytest.approx(given_away), 0)
    asked = Question(quasi_identifiers=["zip"], sensitive=hidden, recipient="public", **more)
    judged = check(MISSING, quasi_identifiers=["zip"], max_given_away=0, question=asked)
    assert judged.rules == found.rules
    assert judged.verdict.disclosed == (("illness",) if given_away else ())
    assert judged.passed is found.passed is (given_away == 0)


def test_a_secret_of_the_rule_differs_from_that_of_the_question():
    asked = Question(quasi_identifiers=["zip"], sensitive=["illness"], certain=0.9)
    with pytest.raises(InputError, match="certain is given here and in the question"):
        check(MISSING, quasi_identifiers=["zip"], question=asked, certain=0.8)


def test_an_l_that_rests_on_missing_values_says_so():
    found = check(MISSING, quasi_identifiers=["zip"], sensitive=["illness"], min_l=1, min_k=2)
    assert found.notes == ()
    only = {name: values[:12] + values[24:] for name, values in MISSING.items()}
    found = check(only, quasi_identifiers=["zip"], sensitive=["illness"], min_l=2)
    assert found.passed
    assert found.notes == (
        "a missing value of illness counts as one of the different values (l): without it the fewest in a class are "
        "1, not 2",
    )
    assert found.notes[0] in found.to_junit()
