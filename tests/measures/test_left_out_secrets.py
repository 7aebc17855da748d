"""Secrets that a release leaves out and kept columns give back."""

from dataclasses import replace

import numpy as np
import pytest

from incrowd import assess, protect, read_table
from incrowd.assessment import Question, find_release, judge_protected, judge_release
from incrowd.measures import kept_column_facts, left_out_secret_facts
from incrowd.protection import write_protected
from incrowd.protection.marks import read_mark

ROWS = 3_000
KNOWN = {"quasi_identifiers": ["age", "region"]}


def couples(share=0.0, seed=0):
    """Incomes of couples, of whom one in three has no wage, by age and region, and the sum for all others."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, 9, ROWS)
    wage = np.where(region % 3 == 0, 0, np.round(draw.lognormal(8, 1, ROWS)))
    others = np.round(draw.lognormal(9, 1, ROWS))
    wrong = draw.random(ROWS) < share
    return {
        "age": draw.integers(20, 70, ROWS),
        "region": draw.permutation(list("abcdefghi"))[region],
        "wage": wage,
        "others": others,
        "income": np.where(wrong, draw.permutation(others), wage + others),
        "rooms": draw.integers(1, 7, ROWS),
    }


def without(table, *names):
    return {name: column for name, column in table.items() if name not in names}


def facts_of(table, kept, left_out=("wage",), **options):
    released = {name: table[name] for name in ("age", "region", *kept)}
    return left_out_secret_facts(table, released, ["age", "region"], kept, left_out, **options)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_left_out_difference_of_two_kept_columns_is_found(share):
    table = couples(share)
    table["age"] = table["age"] // 25
    (fact,) = facts_of(table, ["others", "income", "rooms"], secrets=["others", "income"])
    assert ({*fact.columns}, fact.gives_back, fact.kind) == ({"others", "income"}, "wage", "regained secret")
    assert fact.told == pytest.approx(1, abs=0.02)
    assert fact.news == pytest.approx(np.count_nonzero(table["wage"] == 0), abs=30 if not share else ROWS / 3)


def test_what_gives_a_secret_back_but_no_class_discloses_is_no_fact():
    table = couples()
    table["wage"] = np.random.default_rng(1).permutation(table["wage"])
    table["income"] = table["wage"] + table["others"]
    table |= {"age": table["age"] // 25, "region": np.where(table["region"] < "e", "a", "b")}
    assert facts_of(table, ["others", "income"]) == ()
    assert facts_of(table, ["others", "rooms"]) == ()  # nor where nothing gives it back


def test_a_left_out_secret_is_found_as_any_function_of_kept_columns():
    table = couples()
    draw = np.random.default_rng(2)
    illness = np.where(table["region"] == "a", 3, draw.integers(0, 12, ROWS))
    table |= {
        "age": table["age"] // 25,
        "illness": illness,
        "code": draw.permutation(12)[illness],
    }
    (fact,) = facts_of(table, ["code", "rooms"], ["illness"])
    assert (fact.columns, fact.others) == (("code",), ())
    assert fact.news == np.count_nonzero(table["region"] == "a")
    table |= {"low": illness % 3, "high": illness // 3}
    (fact,) = facts_of(table, ["low", "high", "rooms"], ["illness"])
    assert fact.columns == ("high", "low")


def test_a_threshold_of_a_kept_amount_gives_a_left_out_secret_back():
    table = couples()
    table |= {"age": table["age"] // 25, "others": np.where(table["region"] == "a", 90_000, 0) + table["others"]}
    table["rich"] = table["others"] > 80_000
    (fact,) = facts_of(table, ["others", "rooms"], ["rich"])
    assert (fact.columns, fact.news >= 0.9 * np.count_nonzero(table["rich"])) == (("others",), True)


def test_a_secret_that_others_know_by_themselves_is_given_back_by_no_other_column():
    table = couples()
    table |= {"wage": np.where(table["region"] < "e", 1, 2), "age": table["age"] // 25}
    assert facts_of(table, ["others", "rooms"]) == ()


def test_unrelated_columns_give_no_left_out_secret_back():
    for seed in range(10):
        draw = np.random.default_rng(seed)
        kept = {f"kept_{n}": draw.integers(0, 2 + 20 * n, ROWS) for n in range(6)} | {
            "amount": draw.lognormal(9, 1, ROWS)
        }
        table = couples(seed=seed) | kept
        assert facts_of(table, list(kept)) == ()
        assert facts_of(table, list(kept), ["rooms"]) == ()


def test_the_mark_tells_the_next_assessment_of_a_left_out_secret(tmp_path):
    table, file = couples(), tmp_path / "safe.parquet"
    secrets = ["others", "income"]
    named = {"leave_out": ["wage"], "other": ["rooms"], "identifiers": []}
    safe = protect(table, **KNOWN, k=11, sensitive=[*secrets, "wage"], **named)
    write_protected(safe, file)
    question = Question(**KNOWN, sensitive=tuple(secrets), other=("rooms",), rows_are_people=True)
    (fact,) = read_mark(read_table(file)).given_back
    assert fact.gives_back == "wage"
    assert any("back the left-out secret wage" in note for note in safe.notes)
    verdict = judge_release(file, question)
    assert (verdict.decision, verdict.giving_back) == ("exposed", (fact.column,))
    assert judge_release(file, replace(question, tolerate=0.5)).decision == "within"
    of_original = replace(question, sensitive=(*secrets, "wage"))
    assert judge_protected(safe, of_original).decision == "exposed"
    unsaid = protect(table, **KNOWN, k=11, sensitive=secrets, **named)
    assert judge_protected(unsaid, of_original).decision == "exposed"  # the question says what is secret
    again = protect(read_table(file), **KNOWN, k=11, sensitive=secrets, other=["rooms"], identifiers=[])
    assert judge_protected(again, question).decision == "exposed"  # carried over from the mark


def test_the_advice_leaves_out_what_gives_a_left_out_secret_back(tmp_path):
    table, draw = couples(), np.random.default_rng(4)
    works = table["wage"] > 0
    jobs = {f"job_{n}": np.where(works, draw.choice(["a", "b"], ROWS), "none") for n in range(8)}
    table = without(table, "region", "age") | jobs  # to mix those who work with the others costs more than two columns
    known = {"quasi_identifiers": list(jobs)}
    question = {**known, "sensitive": ["others", "income", "wage"], "other": ["rooms"], "rows_are_people": True}
    advice = assess(table, **question).verdict.actions[-1]
    assert "wage" in advice.protection["leave_out"]
    assert not {"others", "income"} <= {*advice.protection["sensitive"]} - {*advice.protection["leave_out"]}
    assert "back wage, together with other columns" in advice.sentence
    safe = protect(table, **known, other=["rooms"], identifiers=[], **advice.protection)
    assert judge_protected(safe, Question(**question)).decision == "within"
    found = find_release(table, Question(**question), **known, other=["rooms"], identifiers=[])
    assert found.passes
    assert {*found.protected.removed} == {*advice.protection["leave_out"]}


def test_a_secret_that_is_left_out_of_a_table_that_is_released_as_it_is_is_looked_for():
    region = np.random.default_rng(1).integers(0, 4, 600)
    table = {"sex": np.arange(600) % 2, "region": region, "ill": np.array(list("abcd"))[region]}
    found = assess(table, quasi_identifiers=["sex", "region"], sensitive=["ill"], recipient="public")
    assert found.verdict.actions[0].protection["leave_out"] == ["ill"]


@pytest.mark.parametrize("left_out", [[], ["wage"]])
def test_where_nothing_was_made_coarser_nothing_but_a_left_out_secret_is_given_back(left_out):
    draw, days = np.random.default_rng(1), np.repeat(np.arange(200), 10)
    kept = {"days": days, "years": days / 365.25 + draw.normal(0, 0.01, days.size)}
    table = kept | {"wage": draw.integers(0, 5, days.size)}
    assert kept_column_facts(table, kept, ["days"], ["years"], coarse=[], left_out=left_out) == ()
