"""Limits of recipients, and the one function that judges a risk against a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError
from incrowd.recipients import RECIPIENTS, Limits, judge, limits_of, settle_limits, smallest_class

NAMES = ", ".join(one.name for one in RECIPIENTS)

SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES)
def test_a_limit_inside_the_interval_is_borderline_and_elsewhere_the_risk_decides(risk, limit, one, other):
    low, high = sorted((one, other))
    accepted = limit * (1 + 1e-12)  # the last bit of a division decides nothing
    inside = low <= accepted < high
    assert judge(risk, limit) == ("over" if risk > accepted else "within")
    assert (judge(risk, limit, (low, high)) == "borderline") == inside
    if not inside:
        assert judge(risk, limit, (low, high)) == judge(risk, limit)


def test_the_upper_end_on_the_limit_is_within_and_the_lower_end_on_it_is_not():
    assert judge(0.04, 0.05, (0.03, 0.05)) == "within"
    assert judge(0.06, 0.05, (0.05, 0.07)) == "borderline"


def test_every_recipient_has_a_limit_with_its_source():
    assert {one.name: one.limits.of_average for one in RECIPIENTS} == {
        "trusted": 1 / 3,
        "restricted": 1 / 11,
        "public": 1 / 11,
        "strict": 1 / 20,
    }
    assert [one.name for one in RECIPIENTS if one.is_public] == ["public", "strict"]
    assert all(kind.source and kind.words for kind in RECIPIENTS)
    assert [kind.limits.class_size for kind in RECIPIENTS] == [3, 3, 11, 20]
    assert limits_of("restricted") == Limits(1 / 3, 1 / 11)


def test_limits_of_two_digits_are_the_classes_that_their_sources_mean():
    assert [smallest_class(limit) for limit in (0.33, 0.09, 0.05, 0.2, 0.3, 1.0)] == [3, 11, 20, 5, 4, 1]
    assert settle_limits("public", highest=0.33).highest == 1 / 3


@pytest.mark.parametrize(
    ("recipient", "threshold", "message"),
    [("everybody", None, f"there are: {NAMES}$"), ("public", 0, "above 0"), ("public", 1.1, "up to 1")],
)
def test_a_limit_that_makes_no_sense_is_refused(recipient, threshold, message):
    with pytest.raises(InputError, match=message):
        settle_limits(recipient, threshold=threshold)
    if threshold is not None:
        with pytest.raises(InputError, match=message):
            settle_limits(recipient, highest=threshold)


@pytest.mark.parametrize("limit", [5e-324, 1e-13, float("nan"), -0.1, 1.5])
def test_a_limit_that_no_table_can_meet_is_refused(limit):
    with pytest.raises(InputError, match="above 0"):
        settle_limits("public", highest=limit)
