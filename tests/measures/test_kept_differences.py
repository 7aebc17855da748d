"""Kept numbers whose difference tells a coarsened column."""

import numpy as np
import pytest

from incrowd.measures import kept_column_facts

ROWS = 4_000


def couples(unit=1, altered=0.0, seed=0):
    """Who works, and the incomes of couples: of all, and of the other one, in thousands if `unit` is 1000."""
    draw = np.random.default_rng(seed)
    works = draw.random(ROWS) < 0.6
    wage = np.where(works, 100 + np.round(draw.lognormal(7, 0.8, ROWS)), 0)
    others = np.round(draw.lognormal(9, 0.8, ROWS))
    wrong = draw.random(ROWS) < altered
    before = {"town": draw.integers(0, 20, ROWS), "works": np.where(wrong, ~works, works).astype(int)}
    kept = {"income": wage + others, "others": others / unit, "noise": draw.lognormal(9, 0.8, ROWS)}
    return before, kept, {"town": before["town"], "works": ["{0;1}"] * ROWS}


def facts_of(before, kept, after, **options):
    facts = kept_column_facts(before | kept, after | kept, ["town", "works"], list(kept), coarse=["works"], **options)
    return [fact for fact in facts if fact.undoes]


@pytest.mark.parametrize("altered", [0.0, 0.005])
@pytest.mark.parametrize("unit", [1, 1_000])
def test_two_incomes_that_differ_only_for_people_who_work_tell_who_does(unit, altered):
    (fact,) = facts_of(*couples(unit, altered), secrets=["others"])
    assert (fact.column, fact.others, fact.gives_back) == ("income", ("others",), "works")
    assert fact.told >= 0.99
    assert fact.k < fact.k_without


def test_a_sign_that_tells_one_value_only_counts_the_people_who_may_have_it():
    before, kept, after = couples()
    rich = kept["income"] > 30_000
    kept["others"] = np.where(
        rich | (before["works"] == 0), kept["others"], kept["income"]
    )  # only some of those who work
    (fact,) = facts_of(before, kept, after)
    assert (fact.kind, fact.gives_back, {fact.column, *fact.others}) == (
        "recovering values",
        "works",
        {"income", "others"},
    )
    assert "differences of" in fact.sentence


def test_differences_of_unrelated_numbers_tell_nothing():
    for seed in range(10):
        before, _, after = couples(seed=seed)
        draw = np.random.default_rng(seed)
        kept = {f"amount_{place}": draw.lognormal(place, 1, ROWS) for place in range(8)}
        assert facts_of(before, kept, after) == []


def test_a_difference_of_people_with_several_records_proves_nothing_about_others():
    before, kept, after = couples()
    who = np.repeat(np.arange(20), ROWS // 20)
    draw = np.random.default_rng(1)
    before["works"] = draw.integers(0, 2, 20)[who]
    kept = {"one": draw.lognormal(0, 1, 20)[who] * draw.permutation(ROWS), "other": draw.lognormal(9, 1, 20)[who] + who}
    numbered = {"who": who}
    assert facts_of(before | numbered, kept, after | numbered, person="who") == []
