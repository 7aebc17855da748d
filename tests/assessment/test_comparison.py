"""Two tables or two assessments side by side."""

import json

import pytest

from incrowd import InputError, assess, compare, demo_table, protect

pytestmark = pytest.mark.usefixtures("quick_estimates")
NAMES = ["age_yrs", "sex", "patcnty"]


@pytest.fixture(scope="module")
def tables():
    before = demo_table(2_000)
    return before, protect(before, quasi_identifiers=NAMES, k=5).table


def test_protection_makes_every_risk_better_or_leaves_it(tables):
    found = compare(*tables, quasi_identifiers=NAMES, sensitive=["charge"])
    by_name = {change.name: change for change in found.changes}
    assert (by_name["smallest class (k)"].before, by_name["smallest class (k)"].after) == (1, 5)
    assert by_name["unique"].after == by_name["in classes below 5"].after == 0
    assert found.of("worse") == ()
    assert len(found.of("better")) >= 7
    kept = {one.name: (one.before, one.after) for one in found.kept}
    assert kept["rows"] == (2_000, 2_000)
    assert kept["columns"][1] <= kept["columns"][0]
    ages = [str(age) for age in tables[1]["age_yrs"].to_pylist()]
    assert kept["plain values of age_yrs"] == (2_000, sum(age.isdigit() for age in ages))


def test_the_other_way_round_everything_is_worse(tables):
    there, back = compare(*tables, quasi_identifiers=NAMES), compare(*tables[::-1], quasi_identifiers=NAMES)
    assert len(there.of("better")) == len(back.of("worse")) > 0


def coarser():
    """The table with the same ranges of ages for everybody, which no person made."""
    ages = demo_table(2_000).to_pandas()
    return ages.assign(age_yrs=ages["age_yrs"] // 20)


def test_saved_assessments_are_compared_as_they_were_saved(tables):
    both = (tables[0], coarser())
    before, after = (assess(table, quasi_identifiers=NAMES, population=100_000, protection=False) for table in both)
    saved = json.loads(json.dumps(before.to_dict()))
    found = compare(saved, after)
    assert "risk in the population" in {change.name for change in found.changes}
    local = assess(tables[1], quasi_identifiers=NAMES, population=100_000, protection=False)
    assert any("is not compared: " in note and "overlap" in note for note in compare(saved, local).notes)
    decisions = f"the decision was “{before.verdict.headline}” and is “{after.verdict.headline}”"
    assert any(decisions in note for note in found.notes)
    assert [one.name for one in found.kept] == ["rows", "columns"]
    assert compare(saved, saved).of("same") == compare(saved, saved).changes


def test_a_table_beside_an_assessment_is_measured_by_its_columns(tables):
    before = assess(tables[0], quasi_identifiers=NAMES, sensitive=["charge"], protection=False)
    found = compare(before, tables[1])
    assert "charge: t" in {change.name for change in found.changes}


def test_different_questions_are_pointed_out(tables):
    first = assess(tables[0], quasi_identifiers=["sex"], protection=False)
    second = assess(tables[0], quasi_identifiers=NAMES, protection=False)
    assert any("quasi-identifiers differ" in note for note in compare(first, second).notes)
    assert any("people" in note for note in compare(tables[0], demo_table(500), quasi_identifiers=NAMES).notes)


def test_two_tables_need_columns(tables):
    with pytest.raises(InputError, match="quasi_identifiers="):
        compare(*tables)


def test_tables_are_compared_in_their_population_too(tables):
    before, after = tables[0], coarser()
    found = compare(before, after, quasi_identifiers=["age_yrs", "sex", "patcnty"], population=100_000)
    assert not any("is not compared" in note for note in found.notes)
    change = next(one for one in found.changes if one.name == "risk in the population")
    assert change.direction == "better"
    assert change.after < change.before < 1
    local = compare(*tables, quasi_identifiers=["age_yrs", "sex", "patcnty"], population=100_000)
    assert "risk in the population" not in {one.name for one in local.changes}
    assert any("is not compared: " in note and "overlap" in note for note in local.notes)
