"""Limits of recipients, and the one function that judges a risk against a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError
from incrowd.recipients import KINDS, RECIPIENTS, judge, settle_threshold

SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES)
def test_a_limit_inside_the_interval_is_borderline_and_elsewhere_the_risk_decides(risk, limit, one, other):
    low, high = sorted((one, other))
    inside = low <= limit < high
    assert judge(risk, limit) == ("over" if risk > limit else "within")
    assert (judge(risk, limit, (low, high)) == "borderline") == inside
    if not inside:
        assert judge(risk, limit, (low, high)) == judge(risk, limit)


def test_the_upper_end_on_the_limit_is_within_and_the_lower_end_on_it_is_not():
    assert judge(0.04, 0.05, (0.03, 0.05)) == "within"
    assert judge(0.06, 0.05, (0.05, 0.07)) == "borderline"


def test_every_recipient_has_a_limit_with_its_source():
    assert {kind.name: kind.average for kind in KINDS} == dict(RECIPIENTS)
    assert all(kind.source and kind.words for kind in KINDS)
    assert all(limit is not None for kind in KINDS for limit in [kind.average or kind.highest])


@pytest.mark.parametrize(
    ("recipient", "threshold", "message"),
    [("everybody", None, "there are: trusted"), ("public", 0, "above 0"), ("public", 1.1, "up to 1")],
)
def test_a_limit_that_makes_no_sense_is_refused(recipient, threshold, message):
    with pytest.raises(InputError, match=message):
        settle_threshold(recipient, threshold)
