"""Labels of one fixed coding, and labels that overlap."""

import pytest

from incrowd import UnsupportedError, population_risk, protect, read_table, record_risk
from incrowd.populations import by_fraction, classical_risk, risk_curve
from incrowd.populations.fixed_coding import overlapping_columns

FIXED = [
    ["[20;29]", "[30;39]", "[40;*]"],
    ["[20;30)", "[30;40)"],
    ["[10;20]", "(20;30]"],
    ["[51;53]", "[60;64]", "70"],
    ["[2001-01-01;2001-06-30]", "[2001-07-01;2001-12-31]"],
    ["{a,b}", "{c}", "d", None],
    ["{1,2}", "3", "[4;9]"],
    ["937**", "938**", "93"],
    ["*", "*"],
    ["a (old)", "b (new)"],
]
OVERLAPPING = [
    ["[20;29]", "[25;34]"],
    ["[20;30]", "[30;40]"],
    ["[20;60]", "[30;31]", "[70;80]"],
    ["[20;29]", "25"],
    ["{a,b}", "{b,c}"],
    ["{a,b}", "a"],
    ["{a,}", None],
    ["{1,7}", "[4;9]"],
    ["937**", "93712"],
    ["93***", "937**"],
    ["*", "a"],
    ["[2001-01-01;2001-06-30]", "[2001-06-01;2001-12-31]"],
]


@pytest.mark.parametrize("labels", FIXED)
def test_labels_of_one_coding_do_not_overlap(labels):
    assert overlapping_columns(read_table({"label": labels}), ["label"]) == ()


@pytest.mark.parametrize("labels", OVERLAPPING)
def test_labels_that_cover_a_value_twice_overlap(labels):
    assert overlapping_columns(read_table({"label": labels, "sex": ["f"] * len(labels)}), ["sex", "label"]) == (
        "label",
    )


def test_numbers_and_plain_texts_are_never_looked_into():
    assert overlapping_columns(read_table({"age": [20, 21], "town": ["Ulm", "Bonn"]}), ["age", "town"]) == ()


def test_every_estimate_for_a_population_refuses_overlapping_labels():
    table = {"age": ["[20;29]", "[25;34]"] * 20 + ["[40;49]"], "sex": ["f", "m", "m"] * 13 + ["f", "f"]}
    known = {"quasi_identifiers": ["age", "sex"]}
    for estimate in (population_risk, record_risk, classical_risk):
        with pytest.raises(UnsupportedError, match="age holds ranges, sets or blanks that overlap"):
            estimate(table, population=1_000, **known)
    with pytest.raises(UnsupportedError, match="overlap"):
        by_fraction(table, fractions=[0.1], **known)
    with pytest.raises(UnsupportedError, match="overlap"):
        risk_curve(table, at=[1_000], **known)
    assert population_risk(table, population=41, **known).sample_to_population  # everybody is in the table: counted


def test_one_coding_for_all_is_estimated():
    ages = [20 + number % 37 for number in range(600)]
    safe = protect({"age": ages}, quasi_identifiers=["age"], k=5, method="generalise", identifiers=[])
    assert population_risk(safe.table, population=10_000, quasi_identifiers=["age"]).population == 10_000
