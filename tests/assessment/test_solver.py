"""The least protection that passes the verdict, against trying every class size."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.decision import traps
from tests.protection.plain import covers

from incrowd import Hierarchy, protect
from incrowd.assessment import METHODS_TO_TRY, Question, advise, find_release, judge_protected, judge_release
from incrowd.assessment.plan import Plan
from incrowd.assessment.search import repair_plan
from incrowd.assessment.solution import why_chosen
from incrowd.errors import InputError, UnsupportedError
from incrowd.wording import number

NAMES = ["age", "town"]


def table_of(rows, seed):
    draw = random.Random(seed)
    ages = [draw.randrange(20, 20 + rows // 2) for _ in range(rows)]
    return {
        "age": ages,
        "town": [draw.choice("abc") for _ in range(rows)],
        "ill": [draw.choice("xy") for _ in range(rows)],
    }


@pytest.mark.parametrize("recipient", ["trusted", "restricted", "public"])
@pytest.mark.parametrize("seed", range(4))
def test_no_smaller_class_passes(recipient, seed):
    table = table_of(80, seed)
    question = Question(quasi_identifiers=tuple(NAMES), other=("ill",), recipient=recipient)
    options = {"quasi_identifiers": NAMES, "other": ["ill"], "identifiers": []}
    found = find_release(table, question, **options)

    def passes(k):
        safe = protect(table, k=k, **options)
        return judge_protected(safe, question).decision == "within"

    asked = found.protected.demand.k
    assert found.passes
    assert passes(asked)
    assert not passes(asked - 1)
    assert found.trials[0].k == question.limits.class_size
    assert all((trial.why is None) == (trial.decision == "within") for trial in found.trials)
    needed = question.limits.class_size
    limit = f"the limit on the highest risk asks for classes of {needed}"
    below = f"the limit asks for classes of {needed}, but those of {asked - 1} do not pass: "
    assert found.why_this_size.startswith(limit if asked == needed else below)


def lost_detail(safe, table):
    """1 - granularity, from the cells alone: the share of a column's other values that a cell may be."""
    lost = []
    for name in NAMES:
        values = sorted(set(table[name]))
        for cell in safe.table[name].to_pylist():
            fitting = len(values) if cell is None else sum(covers(cell, value) for value in values)
            lost.append((fitting - 1) / (len(values) - 1))
    return sum(lost) / len(lost)


@pytest.mark.parametrize("seed", range(3))
def test_of_several_methods_the_least_loss_that_passes_is_taken(seed):
    draw = random.Random(seed)
    table = {"age": [draw.randrange(20, 26) for _ in range(150)], "town": [draw.choice("abc") for _ in range(150)]}
    question = Question(quasi_identifiers=tuple(NAMES), recipient="trusted")
    options = {"quasi_identifiers": NAMES, "identifiers": []}
    found = find_release(table, question, methods=METHODS_TO_TRY, **options)
    alone = {method: find_release(table, question, method=method, **options) for method in METHODS_TO_TRY}
    losses = {method: lost_detail(one.protected, table) for method, one in alone.items() if one.passes}
    (chosen,) = [trial for trial in found.trials if trial.chosen]
    assert found.passes
    assert chosen.method == found.protected.method
    assert losses[chosen.method] == min(losses.values())
    assert chosen.loss == pytest.approx(min(losses.values()))
    assert {trial.method for trial in found.trials} == {*METHODS_TO_TRY}


@pytest.mark.parametrize(("rows", "towns"), [(300, 8)])
def test_a_column_is_left_out_where_keeping_it_costs_more_detail_than_a_column(rows, towns):
    draw = random.Random(1)
    town = [draw.randrange(towns) for _ in range(rows)]
    ages, jobs = ([draw.randrange(60) for _ in town] for _ in range(2))
    table = {"town": [f"t{one}" for one in town], "age": ages, "job": [f"j{one}" for one in jobs]}
    table |= {"sex": [draw.choice("fm") for _ in town], "code": [100 + 7 * one for one in town]}
    named = {"quasi_identifiers": ["town", "age", "job", "sex"], "other": ["code"]}
    question = Question(**named, rows_are_people=True)
    found = find_release(table, question, methods=("partition", "generalise"), **named, identifiers=[])
    passed = [trial for trial in found.trials if trial.decision == "within"]
    assert ("code",) in {trial.left_out for trial in passed}
    for trial in passed:
        assert trial.cost == pytest.approx(len(trial.left_out) + 4 * (1 - trial.detail_kept))
    (chosen,) = [trial for trial in passed if trial.chosen]
    others = [trial.cost for trial in passed if not trial.chosen]
    assert others
    assert chosen.cost < min(others)
    assert f"costs least is taken: {number(chosen.cost)}, and not {number(min(others))}" in why_chosen(found.trials)
    assert why_chosen([chosen]) is None


def test_a_method_that_cannot_do_what_is_asked_is_passed_over():
    table = table_of(80, 1)
    question = Question(quasi_identifiers=tuple(NAMES), sensitive=("ill",), recipient="trusted")
    options = {"quasi_identifiers": NAMES, "identifiers": [], "sensitive": ["ill"], "widest": {"age": 40}}
    found = find_release(table, question, methods=("blank", "partition"), **options)
    assert {trial.method for trial in found.trials} == {"partition"}
    with pytest.raises(InputError, match="'blank' does not take widest"):
        find_release(table, question, methods=("blank",), **options)


def test_no_method_is_begun_after_the_time_is_up():
    question = Question(quasi_identifiers=tuple(NAMES), other=("ill",), recipient="trusted")
    options = {"quasi_identifiers": NAMES, "identifiers": [], "other": ["ill"]}
    found = find_release(table_of(80, 1), question, methods=METHODS_TO_TRY, seconds=0.0, **options)
    assert [trial.method for trial in found.trials] == ["partition"]


def test_a_search_that_is_cancelled_ends_within_its_trial_and_its_progress_never_goes_back():
    question = Question(quasi_identifiers=tuple(NAMES), other=("ill",), recipient="trusted")
    options = {"quasi_identifiers": NAMES, "identifiers": [], "other": ["ill"]}
    told = []
    find_release(table_of(80, 1), question, progress=lambda doing, share: told.append((doing, share)), **options)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    within_first = [share for doing, share in told if doing == told[0][0]]
    assert len(within_first) > 3  # protecting and judging say how far they are
    assert len(set(within_first)) > 1

    def cancel(doing, share):
        if share > within_first[0]:
            raise KeyboardInterrupt(doing)

    with pytest.raises(KeyboardInterrupt, match=told[0][0]):
        find_release(table_of(80, 1), question, progress=cancel, **options)


def test_with_a_population_the_search_begins_where_classes_are_likely_to_be_large_enough():
    table = {"age": [row % 150 for row in range(300)]}
    question = Question(quasi_identifiers=("age",), population=600, recipient="public")
    found = find_release(table, question, quasi_identifiers=["age"], identifiers=[])
    sizes = [trial.k for trial in found.trials]
    assert found.passes
    assert sizes[0] > 2
    assert len(sizes) < 5
    assert found.protected.demand.k == min(trial.k for trial in found.trials if trial.decision == "within")


def test_a_certain_secret_asks_for_more_values():
    table = {"age": [30 + i // 12 for i in range(72)], "ill": ["rare" if i < 12 else "xyz"[i % 3] for i in range(72)]}
    question = Question(quasi_identifiers=("age",), sensitive=("ill",), recipient="trusted", secrets=["ill=rare"])
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": []}
    found = find_release(table, question, **options)
    assert found.passes
    assert found.protected.demand.l == 2
    first, second, *larger = found.trials
    assert [(trial.l, trial.decision) for trial in (first, second)] == [(None, "exposed"), (2, "within")]
    assert second.chosen
    assert min(trial.k for trial in larger) > second.k  # classes that need no such rule, and cost more
    assert min(trial.loss for trial in larger if trial.decision == "within") > second.loss
    bigger = replace(found, trials=tuple(replace(trial, chosen=trial is larger[-1]) for trial in found.trials))
    assert f"but those of {max(trial.k for trial in found.trials if trial.k < larger[-1].k)}" in bigger.why_this_size


def test_what_no_class_size_mends_is_said_and_not_searched_for():
    table = table_of(80, 1)
    question = Question(quasi_identifiers=("age",), recipient="public")  # nobody judged the other columns
    found = find_release(table, question, quasi_identifiers=["age"], identifiers=[])
    assert not found.passes
    assert len(found.trials) == 1
    assert found.to_dict()["passes"] is False


def test_a_table_too_small_for_the_limit_is_refused():
    with pytest.raises(InputError, match="classes of 11 from 4 rows"):
        find_release({"age": [1, 2, 3, 4]}, Question(quasi_identifiers=("age",)), quasi_identifiers=["age"])


@pytest.mark.parametrize("output", ["range", "bounds", "midpoint", "mean", "mode"])
@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_a_kept_column_gives_ages_back_however_they_are_written(output, role):
    draw = random.Random(1)
    ages = [draw.randrange(18, 90) for _ in range(400)]
    table = {
        "age": ages,
        "height": [draw.randrange(150, 200) for _ in ages],
        "quota": [9_000 - 13 * age for age in ages],
    }
    named = {"quasi_identifiers": ["age", "height"], role: ["quota"]}
    question = Question(**named, rows_are_people=True)
    safe = protect(table, **named, k=11, output=output, identifiers=[])
    found = judge_protected(safe, question)
    assert (found.decision, found.blamed) == ("exposed", ("quota",))
    assert found.exposures[0].startswith("Kept columns find people")
    solved = find_release(table, question, **named, output=output, identifiers=[])
    assert (solved.passes, solved.protected.removed) == (True, ("quota",))


def test_a_kept_column_gives_back_what_labels_hide():
    towns = [number % 50 for number in range(400)]
    table = {"town": [f"t{number}" for number in towns], "code": [100 + 7 * number for number in towns]}
    ladder = Hierarchy.from_rows([[f"t{number}", f"region {number // 5}"] for number in range(50)])
    named = {"quasi_identifiers": ["town"], "other": ["code"]}
    safe = protect(table, **named, k=40, method="generalise", hierarchies={"town": ladder}, identifiers=[])
    assert len(set(safe.table["town"].to_pylist())) == 10
    found = judge_protected(safe, Question(**named, rows_are_people=True, recipient="strict"))
    assert (found.decision, found.blamed) == ("exposed", ("code",))


def test_a_table_protected_in_a_cluster_is_judged_by_the_columns_it_was_protected_by():
    safe = protect({"age": [30] * 30, "town": ["a"] * 30}, quasi_identifiers=["age", "town"], k=11, identifiers=[])
    in_cluster = replace(safe, released_quasi_identifiers=(), original=None, kept_rows=None)
    assert judge_protected(in_cluster, Question(quasi_identifiers=("age", "town"))).decision == "within"


@pytest.mark.parametrize(("other", "columns"), [(["log"], ["age", "log"]), ([], ["age"])])
def test_lists_that_are_released_are_judged_by_the_rule_they_were_released_by(other, columns):
    table = {"age": [30 + number // 12 for number in range(48)], "log": [[number] for number in range(48)]}
    question = Question(quasi_identifiers=("age",), other=tuple(other))
    found = find_release(table, question, quasi_identifiers=["age"], other=other or None, identifiers=[])
    assert (found.verdict.decision, found.protected.table.column_names) == ("within", columns)


def test_a_release_without_its_numbers_is_asked_what_a_row_of_the_original_was():
    ages = [30 + person % 2 for person in range(60) for _ in range(4)]
    table = {"id": [person for person in range(60) for _ in range(4)], "age": ages}
    safe = protect(table, quasi_identifiers=["age"], k=11, identifiers=["id"])
    question = Question(quasi_identifiers=("age",), identifiers=("id",))
    assert judge_release(safe.table, Question(quasi_identifiers=("age",))).decision == "within"  # it cannot know
    assert judge_protected(safe, question).decision == "undecided"
    assert judge_protected(safe, replace(question, rows_are_people=True)).decision == "within"
    found = find_release(table, question, quasi_identifiers=["age"], identifiers=["id"])
    assert not found.passes


def two_secrets(values):
    draw = random.Random(3)
    ages = [draw.randrange(20, 60) for _ in range(400)]
    two = [draw.choice("xy") for _ in ages]
    return {"age": ages, "job": [f"j{draw.randrange(values)}" for _ in ages], "two": two}


def solve(table, secrets, **options):
    question = Question(quasi_identifiers=("age",), sensitive=secrets, rows_are_people=True, certain=0.9)
    return find_release(table, question, quasi_identifiers=["age"], sensitive=list(secrets), identifiers=[], **options)


@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_values_that_were_asked_for_and_cannot_be_had_are_refused_and_no_secret_is_left_out(kind):
    with pytest.raises(UnsupportedError, match="not 5-diverse"):
        solve(two_secrets(30), ("job", "two"), l=5, diversity=kind)


def test_a_secret_that_is_left_out_does_not_lower_what_was_asked_of_the_others():
    table = two_secrets(8)
    draw = random.Random(5)
    sure = ["x" if age < 30 and draw.random() < 0.97 else f"y{draw.randrange(8)}" for age in table["age"]]
    table["two"] = sure
    found = solve(table, ("job", "two"), l=5)
    (chosen,) = [trial for trial in found.trials if trial.chosen]
    assert (found.passes, chosen.left_out, chosen.l) == (True, ("two",), 5)
    assert found.protected.guarantee.l >= 5


@pytest.mark.parametrize("asked", [{"t": 0.95}, {"diverse": ["ill"]}])
def test_what_else_is_asked_of_secrets_does_not_make_them_nearly_certain(asked):
    draw = random.Random(4)
    ages = [draw.randrange(20, 60) for _ in range(400)]
    ill = ["hiv" if age < 26 and draw.random() < 0.97 else draw.choice("abcd") for age in ages]
    found = solve({"age": ages, "ill": ill}, ("ill",), **asked)
    repaired = [trial for trial in found.trials if trial.l == 2]
    assert found.trials[0].decision == "exposed"
    assert repaired[0].decision == "within"
    assert found.protected.demand.diversity == "recursive"


def test_of_several_secrets_those_are_left_out_that_cannot_differ_alone():
    tried = []

    def attempt(plan):
        tried.append(plan.diverse)
        if "two" in plan.diverse:
            raise UnsupportedError("two has one value")
        return SimpleNamespace(passes=plan.diverse == ("job", "drug"), verdict=None, plan=plan)

    found = repair_plan(Plan(11, l=2, diverse=("job", "two", "drug")), attempt, 11)
    assert (found.plan.removed, found.plan.diverse, found.plan.l) == (("two",), ("job", "drug"), 2)
    assert tried == [("job", "two", "drug"), ("job",), ("two",), ("drug",), ("job", "drug")]


def test_a_low_average_is_reached_by_classes_that_are_larger_than_usual():
    draw = random.Random(6)
    table = {name: [draw.randrange(most) for _ in range(600)] for name, most in (("age", 60), ("zip", 400))}
    question = Question(quasi_identifiers=("age", "zip"), rows_are_people=True, recipient="trusted", threshold=0.02)
    found = find_release(table, question, quasi_identifiers=["age", "zip"], identifiers=[])
    assert found.passes
    assert found.verdict.risk <= 0.02
    assert 20 < found.protected.demand.k <= 50


@pytest.mark.parametrize("kept", ["household", "email"])
def test_columns_that_name_or_link_people_are_left_out_from_the_start_as_in_the_advice(kept):
    made = traps.households()
    known = ("region", "age_group", "sex")
    column = made["hh"] if kept == "household" else [f"p{n}@mail.example" for n in range(len(made["hh"]))]
    table = {kept: column, **{name: made[name] for name in known}}
    asked = {"quasi_identifiers": known, "other": (kept,), "rows_are_people": True}
    found = find_release(table, Question(**asked), quasi_identifiers=list(known), other=[kept], identifiers=[])
    assert [(trial.k, trial.left_out, trial.decision) for trial in found.trials] == [(11, (kept,), "within")]
    advice = advise(table, Question(**asked)).actions[-1]
    assert (advice.protection["k"], advice.protection["leave_out"]) == (11, [kept])


def test_advice_tries_nothing_after_its_time_and_says_how_far_it_is():
    table = {"age": [30, 30, 41, 42]}
    question = Question(quasi_identifiers=("age",), highest=0.5)
    told = []
    (action,) = advise(table, question, seconds=0.0, progress=lambda doing, share: told.append(share)).actions
    assert action.protection is None
    assert "the time is up" in action.sentence
    assert told == sorted(told)
