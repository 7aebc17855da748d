"""The search for a protection that passes: what is tried, in which order, and how it is cancelled."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from incrowd import (
    assess,
    measure,
    protect,
    read_table,
)
from incrowd.assessment import Question, advise, api, judge_protected, judge_release, way_to_yes
from incrowd.assessment.plan import Plan
from incrowd.assessment.search import (
    Attempt,
    Cost,
    Failed,
    TimeIsUpError,
    find_least,
    find_way,
    least_costly,
    likely_to_pass,
    repair_plan,
    walk_sizes,
)
from incrowd.assessment.sections import population as population_section
from incrowd.assessment.sections import protection as protection_section
from incrowd.assessment.solver import find_release
from incrowd.errors import UnsupportedError
from incrowd.protection.api import memory_to_protect
from incrowd.tables import Table

pytestmark = pytest.mark.usefixtures("quick_estimates")


def test_advised_protection_is_told_to_programs_too():
    table = {
        "full, name": [f"person {n}" for n in range(400)],
        "-sex": ["f", "m"] * 200,
        "age": [20 + n % 40 for n in range(400)],
        "illness, chronic": ["a" if n % 40 < 3 else "abc"[n // 40 % 3] for n in range(400)],
    }
    known, secret = ("-sex", "age"), ("illness, chronic",)
    asked = {"quasi_identifiers": known, "sensitive": secret, "identifiers": ("full, name",), "rows_are_people": True}
    advice = assess(table, **asked).verdict.actions[-1]
    assert advice.protection == {
        "k": 22,
        "sensitive": ["illness, chronic"],
        "l": 2,
        "diversity": "recursive",
        "c": 19.0,  # nobody's value is shared by 95 % of a class: 0.95 / 0.05
        "leave_out": ["full, name"],
    }
    safe = protect(table, quasi_identifiers=list(known), **advice.protection)
    assert judge_protected(safe, Question(**asked)).decision == advice.expected["decision"] == "within"
    assert advice.to_dict()["protection"] == advice.protection


def test_a_column_with_one_value_is_kept_and_one_that_nobody_judged_is_left_out():
    rows = range(400)
    table = {
        "year": [2000] * 400,
        "empty": [None] * 400,
        "mixed": [None if n % 9 else 1 for n in rows],
        "age": [20 + n % 40 for n in rows],
        "sex": ["f" if n % 7 else "m" for n in rows],
    }
    asked = {"quasi_identifiers": ("age", "sex"), "rows_are_people": True}
    advice = advise(table, Question(**asked)).actions[-1]
    assert advice.protection == {"k": 11, "leave_out": ["mixed"]}
    safe = protect(table, quasi_identifiers=["age", "sex"], **advice.protection)
    assert {*safe.table.column_names} == {"year", "empty", "age", "sex"}
    assert judge_release(safe.table, Question(**asked)).decision == advice.expected["decision"] == "within"


@pytest.mark.parametrize("advised", [True, False])
def test_leaving_out_columns_comes_first_and_is_taken_where_it_is_enough(advised):
    table = {
        "ssn": [f"{n * 7919 % 1_000_003:09d}" for n in range(400)],
        "age": [20 + n % 80 for n in range(400)],  # classes of 5, of which the population has many more
        "sex": ["f" if n % 80 < 40 else "m" for n in range(400)],
    }
    known, asked = ("age", "sex"), {"population": 1_000_000, "rows_are_people": True, "recipient": "public"}
    question = Question(quasi_identifiers=known, identifiers=("ssn",), **asked)
    if advised:
        advice = assess(table, quasi_identifiers=known, identifiers=("ssn",), **asked).verdict.actions[-1]
        assert advice.protection == {"k": 5, "leave_out": ["ssn"]}
        assert advice.expected["detail_kept"] == 1
    else:
        found = find_release(table, question, quasi_identifiers=known, identifiers=["ssn"])
        assert found.passes
        assert (found.protected.guarantee.k, set(found.protected.changed_cells.values())) == (5, {0})


def test_people_with_many_like_them_lose_no_detail_in_advice():
    table = {
        "key": [f"K-{n * 7919 % 1_000_003}" for n in range(240)],
        "who": [f"P{n // 2}" for n in range(240)],
        "age": [30 + n // 60 * 10 + n % 2 for n in range(240)],
    }
    asked = {"quasi_identifiers": ("age",), "person": "who", "identifiers": ("key",), "recipient": "public"}
    advice = assess(table, **asked).verdict.actions[-1]
    assert advice.protection == {"k": 11, "leave_out": ["key"]}
    assert advice.expected["detail_kept"] == 1
    assert advice.expected["highest"] == 1 / 30


def test_the_population_is_not_grown_for_ways_whose_ranges_are_made_class_by_class(monkeypatch):
    grown, judged, smallest = [], [], []
    estimate, judge = population_section.estimate_risks, api.judge_release

    def counted(sample, at, **options):
        grown.append(list(at))
        return estimate(sample, at, **options)

    def noted(released, *given, **options):
        verdict = judge(released, *given, **options)
        with one_at_a_time:  # trials go side by side
            judged.append(verdict)
            smallest.append(measure(released, quasi_identifiers=["age", "sex"]).k)
        return verdict

    one_at_a_time = threading.Lock()
    monkeypatch.setattr(population_section, "estimate_risks", counted)
    monkeypatch.setattr(api, "judge_release", noted)
    random = np.random.default_rng(0)
    ages = random.integers(20, 80, 600)
    table = {"age": ages, "sex": random.integers(0, 2, 600), "illness": np.array(["a", "b", "c"])[ages // 27]}
    found = assess(
        table,
        quasi_identifiers=["age", "sex"],
        sensitive=["illness"],
        population=20_000,
    )
    without = [verdict for verdict in judged if verdict.disclosed]
    assert without
    assert all(verdict.basis == "table" and verdict.decision != "within" for verdict in without)
    assert {verdict.basis for verdict in judged} == {"table"}
    assert len(grown[0]) > 1  # for the forecast
    assert len(grown) == 1
    expected = found.verdict.actions[0].expected
    passed = {k: verdict for k, verdict in zip(smallest, judged, strict=True) if verdict.decision == "within"}
    advised = min(k for k in passed if k >= expected["k"])  # the table whose classes have that size or little more
    assert expected["highest"] == passed[advised].highest


def searched(monkeypatch, likely, passes, diverse=(), detail=lambda k: 1 / k, memory=10**9):
    """The class size that the search advises, or why none; and the sizes that it tried."""
    tried = []

    def try_size(work, k, needed, progress):
        tried.append(k)
        plan = Plan(k, diverse=diverse)
        return Attempt(plan, None, lambda: Cost(detail(k), 0, 100, 1, 0)) if passes(k) else Failed(f"{k} is too few")

    monkeypatch.setattr(way_to_yes, "_sizes_to_try", lambda work: [2, 3, 5, 8, 11])
    monkeypatch.setattr(
        way_to_yes, "find_least", lambda sizes, start, *rest, **how: find_least(sizes, likely, *rest, **how)
    )
    monkeypatch.setattr(way_to_yes, "_try_size", try_size)
    monkeypatch.setattr(way_to_yes, "_protect_action", lambda work, way: way.plan.k)
    monkeypatch.setattr(way_to_yes, "_no_way", lambda question, why: why)
    table = SimpleNamespace(rows=100, columns=[], memory=memory, place="t.csv")
    asked = Question(recipient="public")
    work = SimpleNamespace(search_progress=lambda doing, share: None, question=asked, table=table, until=None)
    return way_to_yes.way_to_yes(work), tried


@pytest.mark.parametrize("least", [2, 3, 8, 11, 99])
@pytest.mark.parametrize("likely", range(5))
def test_the_least_class_size_that_passes_is_found_from_any_start(least, likely, monkeypatch):
    advised, tried = searched(monkeypatch, likely, lambda k: k >= least)
    assert advised == (least if least <= 11 else "11 is too few")
    assert len(tried) == len({*tried}) <= 8
    if (first := [2, 3, 5, 8, 11][likely]) < least <= 11:
        assert min(tried) == first  # none is begun before it is needed
    alone, one_by_one = searched(monkeypatch, likely, lambda k: k >= least, memory=0)
    assert (alone, one_by_one) == (advised, tried)


@pytest.mark.parametrize("likely", range(5))
def test_a_smaller_class_size_that_alone_passes_is_found_too(likely, monkeypatch):
    for alone in (2, 3, 5):
        assert searched(monkeypatch, likely, lambda k, alone=alone: k == alone)[0] == alone


@pytest.mark.parametrize("likely", range(5))
def test_where_secrets_must_differ_larger_classes_are_taken_if_they_keep_more(likely, monkeypatch):
    assert searched(monkeypatch, likely, lambda k: True, ("ill",), detail=lambda k: k / 100)[0] == 11
    assert searched(monkeypatch, likely, lambda k: True, ("ill",))[0] == 2


def test_the_class_size_that_is_likely_to_pass_comes_from_the_sampling_fraction():
    def likely(people, population):
        sizes = [2, 3, 5, 8, 11]
        return sizes[likely_to_pass(sizes, 11, people, population)]

    assert likely(1_000, 1_000) == 11  # everybody is in the table
    assert likely(1_000_000, 3_985_166) == 8
    assert likely(200_000, 3_985_166) == 3
    assert likely(1_000, 10**6) == 2


class CancelledError(Exception):
    pass


_DRAWS = np.random.default_rng(0)
AGES = {"age": _DRAWS.integers(20, 80, 240).tolist(), "sex": _DRAWS.integers(0, 2, 240).tolist()}


def test_one_protection_at_a_time_where_the_memory_limit_does_not_allow_two_and_the_result_is_the_same(monkeypatch):
    asked = {"quasi_identifiers": ["age", "sex"], "population": 240, "recipient": "strict"}
    protect_one, running, most = protection_section.protect, [], []

    def counted(*given, **options):
        running.append(None)
        most.append(len(running))
        try:
            time.sleep(0.05)
            return protect_one(*given, **options)
        finally:
            running.pop()

    monkeypatch.setattr(protection_section, "protect", counted)
    monkeypatch.setattr(way_to_yes, "protect", counted)
    needed = memory_to_protect(read_table(AGES))
    found = []
    for memory, at_once in ((2 * needed, 2), (2 * needed - 1, 1)):
        monkeypatch.setattr(Table, "memory", property(lambda table, memory=memory: memory))
        most.clear()
        told = assess(AGES, **asked).to_dict()
        found.append({name: part for name, part in told.items() if name != "provenance"})
        assert max(most) == at_once
        assert len(most) > 3
    assert found[0] == found[1]


def test_only_protections_with_which_the_way_to_a_yes_begins_are_kept(monkeypatch):
    works = []
    monkeypatch.setattr(api, "next_actions", lambda work, verdict: works.append(work) or [])
    assess(AGES, quasi_identifiers=["age", "sex"])
    assess(AGES, quasi_identifiers=["age", "sex"], population=240)
    assess(AGES, quasi_identifiers=["age", "sex"], population=3_000)
    assert [way_to_yes.sizes_to_begin_with(work) for work in works] == [[11, 15]] * 3
    assert [sorted(work.shared["protected"]) for work in works] == [[11]] * 3


@pytest.mark.parametrize(("stage", "call"), [("protect", 3), ("protect", 20), ("trying", 1), ("trying", 6)])
def test_a_cancelled_assessment_stops_within_one_trial(stage, call, monkeypatch):
    told, finished = [], []

    def progress(doing, share):
        if doing.startswith(stage):
            told.append(doing)
            if len(told) == call:  # and not again
                raise CancelledError

    def noted(how):
        def run(*given, progress, **options):
            done = how(*given, **options, progress=progress)
            late = len(told) >= call
            progress("done", 1.0)
            finished.append(late)
            return done

        return run

    for room, name in ((protection_section, "protect"), (protection_section, "evaluate"), (way_to_yes, "protect")):
        monkeypatch.setattr(room, name, noted(getattr(room, name)))
    with pytest.raises(CancelledError):
        assess(AGES, quasi_identifiers=["age", "sex"], population=240, recipient="restricted", progress=progress)
    assert len(told) == call
    assert not any(finished)


def test_progress_does_not_go_back_while_protections_are_tried():
    told = []
    assess(AGES, quasi_identifiers=["age", "sex"], progress=lambda *said: told.append(said))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert any(doing.startswith("trying classes of") for doing, _ in told)
    assert max(shares) <= 1.0


def verdict_of(blamed, disclosed=(), decision="exposed"):
    return SimpleNamespace(
        blamed=blamed,
        disclosed=disclosed,
        learnt=(),
        linking=(),
        decision=decision,
        row_question=None,
        exposures=(),
        recommendation="",
    )


@pytest.mark.parametrize(
    ("enough", "error", "removed"),
    [
        ({"a"}, None, ("a",)),  # the other was blamed with it, and tells nothing alone
        ({"a", "b"}, None, ("a", "b")),
        ({"a"}, TimeIsUpError(), ("a", "b")),
        ({"a"}, UnsupportedError("its values are too rare"), ("a", "b")),
    ],
)
def test_a_column_that_was_blamed_with_another_is_kept_where_it_tells_nothing_alone(enough, error, removed):
    plans = []

    def attempt(plan):
        plans.append(plan)
        if error is not None and len(plan.removed) == 1:
            raise error
        if enough <= {*plan.removed}:
            return Attempt(plan, verdict_of((), decision="within"), lambda: Cost(0.99, 0, 100, 4, len(plan.removed)))
        return Attempt(plan, verdict_of(("a", "b")), lambda: Cost(0.99, 0, 100, 4, 0))

    way = find_way(Plan(11), attempt, 11)
    assert (way.plan.removed, way.plan.blamed) == (removed, removed)
    assert [len(plan.removed) for plan in plans] == ([0, 2, 1, 0] if removed == ("a",) else [0, 2, 1, 1])


def test_nothing_must_differ_where_the_only_secret_that_must_is_left_out():
    plan = Plan(11, l=2, diverse=("ill",)).revise(verdict_of(("ill",)))
    assert (plan.removed, plan.l, plan.diverse) == (("ill",), None, ())


@pytest.mark.parametrize(("start", "largest", "tried"), [(2, 3, [5, 8, 3, 2]), (2, 1, [5, 8, 3, 2]), (0, 1, [2])])
def test_smaller_classes_follow_where_the_likely_ones_cannot_be_made(start, largest, tried):
    sizes, seen = [2, 3, 5, 8], []

    def attempt(plan):
        seen.append(plan.k)
        if plan.k > largest:
            raise UnsupportedError("ask for a smaller k")
        return Attempt(plan, SimpleNamespace(decision="within"), lambda: None)

    def passes(k):
        found = repair_plan(Plan(k), attempt, sizes[0])
        return True if isinstance(found, Attempt) else None if found.rules_out_all_sizes else False

    walk_sizes(sizes, start, passes)
    assert seen == tried


@pytest.mark.parametrize(
    ("needs_none_from", "tried", "chosen"), [(15, [11, 22, 20, 15], 15), (20, [11, 22, 20, 15], 20), (99, [11, 22], 11)]
)
def test_where_larger_classes_need_no_rule_on_secrets_the_smallest_that_need_none_are_found(
    needs_none_from, tried, chosen
):
    seen = []

    def try_size(k):
        seen.append(k)
        diverse, loss = ((), k / 100) if k >= needs_none_from else (("ill",), 0.4 + k / 100)
        cost = Cost(1 - loss, 0, 100, 1, 0)
        return Attempt(Plan(k, l=2, diverse=diverse), SimpleNamespace(decision="within"), lambda: cost)

    found = find_least([11, 15, 20, 22], 0, try_size)
    assert (seen, found.way.plan.k) == (tried, chosen)


def test_from_small_classes_the_search_doubles_and_does_not_leap_over_the_size_that_needs_no_rule():
    seen = []

    def try_size(k):
        seen.append(k)
        diverse, loss = ((), k / 100) if k >= 11 else (("ill",), 0.2 - k / 1000)
        cost = Cost(1 - loss, 0, 100, 1, 0)
        return Attempt(Plan(k, l=2, diverse=diverse), SimpleNamespace(decision="within"), lambda: cost)

    found = find_least([2, 3, 5, 8, 11, 15, 20, 22], 0, try_size)
    assert (seen, found.way.plan.k) == ([2, 5, 11, 8], 11)  # 22 keeps less than 5, and would have hidden 11


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        (Cost(0.99, 0, 100, 4, 1), Cost(0.47, 0, 100, 4, 0), 11),  # 1.04 against 2.12
        (Cost(0.99, 0, 100, 4, 1), Cost(0.76, 0, 100, 4, 0), 22),  # 1.04 against 0.96
        (Cost(0.99, 0, 100, 2, 1), Cost(0.47, 0, 100, 2, 0), 11),  # 1.02 against 1.06
        (Cost(0.99, 0, 100, 1, 1), Cost(0.47, 0, 100, 1, 0), 22),  # 1.01 against 0.53
        (Cost(0.9, 50, 100, 2, 0), Cost(1.0, 0, 100, 2, 1), 22),  # rows that are left out have no detail: 1.1 against 1
        (Cost(1.0, 0, 100, 2, 1), Cost(0.5, 0, 100, 2, 0), 22),  # of equal costs the one with fewer columns left out
    ],
)
def test_a_column_that_is_left_out_costs_as_much_as_a_quasi_identifier_without_detail(first, second, chosen):
    ways = [Attempt(Plan(11), None, lambda: first), Attempt(Plan(22), None, lambda: second)]
    assert least_costly(ways).plan.k == least_costly(ways[::-1]).plan.k == chosen


@pytest.mark.parametrize("seed", range(3))
def test_a_restricted_circle_is_advised_the_smallest_classes_whose_average_passes(seed):
    draw = np.random.default_rng(seed)
    rows = 1_500
    age, job = np.minimum(draw.geometric(0.12, rows), 60), np.minimum(draw.geometric(0.5, rows), 20)
    table = {"age": age, "sex": draw.integers(1, 3, rows), "job": job}
    asked = {"quasi_identifiers": ["age", "sex", "job"], "recipient": "restricted", "rows_are_people": True}
    way = assess(table, **asked).verdict.actions[-1]
    k = way.expected["k"]
    assert 3 <= k < 11

    def decide(size):
        safe = protect(table, quasi_identifiers=asked["quasi_identifiers"], k=size, identifiers=[])
        return judge_protected(safe, Question(**asked)), safe.evaluate().granularity

    verdict, detail = decide(k)
    assert verdict.decision == "within"
    assert verdict.risk <= 1 / 11 < verdict.highest <= 1 / 3
    assert way.expected["detail_kept"] == pytest.approx(detail)
    assert k == 3 or decide(k - 1)[0].decision == "over"
    solved = find_release(table, Question(**asked), quasi_identifiers=asked["quasi_identifiers"], identifiers=[])
    assert solved.protected.guarantee.k >= k
    assert solved.trials[[trial.chosen for trial in solved.trials].index(True)].k == k
