"""With a person column, what an attacker who knows whole histories learns."""

import pytest

from incrowd import evaluate, protect
from incrowd.errors import UnsupportedError

VISITS = {"w": ["a", "a", "b", "b"], "age": [30, 60, 31, 61], "ill": ["flu", "hiv", "flu", "hiv"]}
SAFE = {**VISITS, "age": ["[30;31]", "[60;61]", "[30;31]", "[60;61]"]}


def test_a_class_of_people_is_no_more_diverse_than_its_records_that_look_alike():
    with pytest.raises(UnsupportedError, match="2-diversity was asked for, the least diverse class has 1"):
        protect(VISITS, quasi_identifiers=["age"], k=2, l=2, sensitive=["ill"], person="w")
    with pytest.raises(UnsupportedError, match=r"one class is 0\.5 away"):
        protect(VISITS, quasi_identifiers=["age"], k=2, t=0.1, sensitive=["ill"], person="w")


def test_a_secret_that_all_like_records_of_a_class_have_is_certain():
    found = evaluate(VISITS, SAFE, quasi_identifiers=["age"], sensitive=["ill"], secret="hiv", person="w")
    assert found.k == 2
    assert found.disclosure.disclosed == 2
    assert found.diversity.distinct == 1


def test_like_records_with_different_secrets_are_diverse():
    mixed = {**VISITS, "ill": ["flu", "hiv", "hiv", "flu"]}
    safe = protect(mixed, quasi_identifiers=["age"], k=2, l=2, sensitive=["ill"], person="w")
    assert safe.guarantee.l == 2


def test_unique_people_are_counted_among_people():
    alone = {"w": ["a", "a", "b", "b", "c", "c"], "age": [30, 60, 30, 60, 31, 61]}
    found = evaluate(alone, alone, quasi_identifiers=["age"], person="w")
    assert (found.uniques, found.uniqueness) == (1, pytest.approx(1 / 3))
    assert "1 of 3 people" in found.verdict
