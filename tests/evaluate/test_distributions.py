"""Distributions before and after protection, against counting by hand."""

from collections import Counter
from fractions import Fraction

import pytest

from incrowd import demo_table, protect
from incrowd.demo import QUASI_IDENTIFIERS
from incrowd.evaluate import distributions

AGES = [20, 20, 25, 30, 41, 41, 60, 64]


def test_a_number_is_spread_over_the_values_its_label_covers():
    safe = protect({"age": AGES, "sex": list("ffmmffmm")}, quasi_identifiers=["age", "sex"], k=2, identifiers=[])
    age = distributions(safe)[0]
    expected: Counter[int] = Counter()
    for label in safe.table["age"].to_pylist():
        low, _, high = str(label).strip("[]").partition(";")
        covered = [value for value in sorted(set(AGES)) if int(low) <= value <= int(high or low)]
        for value in covered:
            expected[value] += Fraction(1, 8 * len(covered))
    shown = {name: (was, now) for name, was, now in zip(age.bins, age.before, age.after, strict=True)}
    assert set(shown) == {str(value) for value in AGES}
    for value in set(AGES):
        was, now = shown[str(value)]
        assert was == pytest.approx(AGES.count(value) / 8)
        assert now == pytest.approx(float(expected[value]))


def test_a_table_that_did_not_change_has_the_same_distribution():
    rows = {"age": [30, 30, 41, 41, None, None], "city": ["a", "a", "b", "b", "a", "a"]}
    for found in distributions(protect(rows, quasi_identifiers=["age", "city"], k=2, identifiers=[])):
        assert found.before == pytest.approx(found.after)
        assert found.moved == pytest.approx(0)
        assert "empty" in found.bins or found.column == "city"


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("partition", {}),
        ("sorted", {}),
        ("coarsen", {"resolution": 8}),
        ("mask", {"steps": [("sex", "*"), ("patzip", "keep=3")]}),
    ],
)
def test_shares_add_up_for_every_method(method, more):
    safe = protect(
        demo_table(2_000), quasi_identifiers=QUASI_IDENTIFIERS if method != "mask" else ["sex", "patzip"],
        method=method, k=3, identifiers=[], **more,
    )  # fmt: skip
    for found in distributions(safe):
        assert sum(found.before) == pytest.approx(1)
        assert sum(found.after) == pytest.approx(1)
        assert 0 <= found.moved <= 1
        assert len(found.bins) <= 21
        assert len(set(found.bins)) == len(found.bins)
