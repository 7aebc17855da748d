"""The reasons of a verdict come in the order in which they decide, wherever they are shown."""

import pytest

from incrowd.assessment import assess

pytestmark = pytest.mark.usefixtures("quick_estimates")

NAMES = {"name": [f"Person {n:03}" for n in range(110)], "sex": ["f", "m"] * 55}


def verdict_on(table, **asked):
    return assess(table, rows_are_people=True, protection=False, **asked).verdict


def test_what_makes_a_table_a_no_within_the_limits_comes_first():
    verdict = verdict_on(NAMES, quasi_identifiers=("sex",), identifiers=("name",))
    assert verdict.decision == "exposed"
    assert verdict.why[0].startswith("The table still names people or their records: name.")
    assert verdict.why[-1] == verdict.sentence
    assert verdict.to_dict()["why"] == list(verdict.why)


def test_a_risk_above_the_limit_comes_before_other_reasons():
    table = {**NAMES, "age": [*range(110)]}
    verdict = verdict_on(table, quasi_identifiers=("sex", "age"), identifiers=("name",))
    assert (verdict.decision, verdict.why[0]) == ("over", verdict.sentence)
