"""Every result shows itself in a notebook, and shows names as text."""

import dataclasses
import importlib
import json
import pkgutil
import random

import numpy as np
import pytest
from tests.forecasts.test_open_set import GALLERIES
from tests.forecasts.test_open_set import draw as draw_scores

import incrowd
from incrowd import (
    ClassSizes,
    correctness_curve,
    demo_table,
    forecast,
    frontier,
    leak_risk,
    leaks,
    measures,
    read_table,
)
from incrowd.assessment import Question, find_release
from incrowd.attacks.api import attack_release
from incrowd.attacks.copies import CopiedPeople, NearCopies
from incrowd.attacks.learned_result import LearntSecret
from incrowd.attacks.synthesis import synthesise
from incrowd.curves.study_accuracy import study_accuracy
from incrowd.evaluation import distributions
from incrowd.figures.figure_of_result import FIGURES
from incrowd.forecasts import forecast_open_set, forecast_table
from incrowd.leaks import leak_table
from incrowd.leaks.leak_of_sample import leak_of_sample
from incrowd.leaks.partial_leak import simulate_partial_leak
from incrowd.measures.auxiliary import find_refinements
from incrowd.measures.row_order import followed_columns
from incrowd.pitman_yor import compare_fits, fit_class_sizes
from incrowd.pitman_yor.model_checks import hold_out, rank_size_check
from incrowd.populations import classical_risk, record_risk, sensitivity
from incrowd.protection import make_codebook, protect_items, protect_trajectories
from incrowd.protection.original_facts import facts_of_protected
from incrowd.protection.stream import Stream
from incrowd.results import Result
from incrowd.tables import describe_rows


def modules():
    """Every module of the package that can be imported by itself."""
    for module in pkgutil.walk_packages(incrowd.__path__, "incrowd."):
        if module.name.split(".")[1] not in {"cli", "pytest_plugin"} and not module.name.endswith("__main__"):
            yield importlib.import_module(module.name)


def test_every_result_with_plain_types_is_shown():
    missing = []
    for module in modules():
        results = [one for one in vars(module).values() if isinstance(one, type) and dataclasses.is_dataclass(one)]
        missing += [one.__name__ for one in results if hasattr(one, "to_dict") and not issubclass(one, Result)]
    assert missing == []


def test_a_result_is_a_table_in_which_names_are_text():
    found = measures.contributions({"<b>age</b>": [1, 1, 2]}, ["<b>age</b>"])
    shown = found._repr_html_()
    assert shown.startswith("<table>")
    assert "<b>" not in shown
    assert "&lt;b&gt;age" in shown
    assert "0.6667" in leak_risk(ClassSizes.from_sizes([2, 1]), 3)._repr_html_()


def test_an_assessment_shows_its_decision():
    found = incrowd.assess({"age": [30, 30, 41]}, quasi_identifiers=["age"], protection=False)
    assert "No: the risk is too high" in found._repr_html_()


@pytest.fixture(scope="module")
def results(quick_estimates):
    table = demo_table(400)
    names = ["age_yrs", "sex"]
    sizes = ClassSizes.from_sizes([9, 7, 5, 4, 3, 3, 2, 2, 1, 1, 1])
    fitted = fit_class_sizes(sizes)
    found = incrowd.assess(table, quasi_identifiers=names, seed=1)
    return [
        found,
        found.verdict,
        found.facts,
        found.knowledge,
        found.knowledge.contributions,
        found.leaks,
        found.protection,
        sizes,
        forecast(fitted, at=[100, 1_000], seed=0),
        correctness_curve(sizes),
        leak_table(people=100, ks=[2, 5]),
        frontier(table, quasi_identifiers=names, k=[2, 5], methods=["partition"]),
        sensitivity(table, population=10_000, quasi_identifiers=names),
        rank_size_check(fitted),
    ]


def test_every_result_with_a_figure_shows_it_as_text_as_html_and_as_vega_lite(results):
    assert {type(result) for result in results} == set(FIGURES)
    for result in results:
        bundle = result._repr_mimebundle_()
        (drawn,) = set(bundle) - {"text/plain", "text/html"}
        assert drawn.startswith("application/vnd.vegalite.v")
        assert bundle[drawn]["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
        assert "data:image/svg+xml;base64," in bundle["text/html"]
        assert bundle["text/plain"].startswith(type(result).__name__)


def test_a_result_without_a_figure_is_text_and_html():
    bundle = leak_risk(ClassSizes.from_sizes([2, 1]), 3)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "0.6667" in bundle["text/plain"]


def test_a_printed_result_is_a_table_and_no_cell_of_a_protected_one_is_printed():
    assert str(ClassSizes.from_sizes([2, 1])).splitlines()[0] == "ClassSizes"
    safe = incrowd.protect(
        {"age": [30, 30, 41, 41], "seen": ["heron", "heron", "egret", "egret"]}, quasi_identifiers=["age"], k=2
    )
    assert "heron" not in str(safe) + repr(safe)


def test_a_viewer_may_choose():
    found = ClassSizes.from_sizes([2, 1])
    assert set(found._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert "text/html" not in found._repr_mimebundle_(exclude={"text/html"})


NAME = "<b>city</b>"


@pytest.fixture(scope="module")
def every_result(results):
    """One result of every class at least: results of every verb, and those that they hold."""
    draw = random.Random(0)
    rows = 60
    table = {
        NAME: [draw.choice("abc") for _ in range(rows)],
        "age": [draw.randrange(20, 40) for _ in range(rows)],
        "illness": [draw.choice(["flu", "gout", "none"]) for _ in range(rows)],
    }
    names = [NAME, "age"]
    born = {"age": [20 + row // 2 for row in range(80)], "born": [2000 - row // 2 for row in range(80)]}
    safe = incrowd.protect(table, quasi_identifiers=names, k=4)
    sizes = ClassSizes.from_table(table, quasi_identifiers=names)
    fits = compare_fits(correctness_curve(ClassSizes.from_sizes([9, 7, 5, 4, 3, 3, 2, 2, 1, 1, 1])))
    numbers = {"age": table["age"], "paid": [draw.randrange(900) for _ in range(rows)]}
    visits = {"who": [row // 2 for row in range(rows)], "age": table["age"]}
    attacks = attack_release(table, table, known=names, secret="illness", population=5_000, kinds=("linkage",))
    found = [
        *results,
        *results[0].statements,
        attacks,
        attacks.exposed(least=0.0),
        attacks.by_group(table, NAME),
        synthesise(table, rows=5),
        study_accuracy([1, 1, 0, 0], groups=["f", "f", "m", "m"], confidence=[9, 8, 7, 1]),
        simulate_partial_leak(visits, 10, quasi_identifiers=["age"], person="who", trials=20),
        *incrowd.suggest_roles(incrowd.read_table(table)),
        describe_rows(incrowd.read_table(table)),
        incrowd.assess(table, quasi_identifiers=names, sensitive=["illness"], population=5_000, seed=1),
        incrowd.compare(table, safe.table, quasi_identifiers=names, sensitive=["illness"]),
        incrowd.check(table, quasi_identifiers=names, min_k=2),
        incrowd.evaluate(table, safe.table, quasi_identifiers=names, sensitive=["illness"], secret="flu"),
        *distributions(table, safe.table, columns=names),
        *followed_columns(incrowd.read_table(born)),
        safe,
        make_codebook(safe),
        find_release(
            {"age": table["age"]}, Question(quasi_identifiers=("age",)), quasi_identifiers=["age"], identifiers=[]
        ),
        incrowd.evaluate(
            numbers,
            incrowd.protect(numbers, quasi_identifiers=["age"], k=4).table,
            outcome="paid",
            quasi_identifiers=["age"],
        ),
        incrowd.protect(table, quasi_identifiers=[NAME], k=4, l=2, sensitive=["illness", "age"]),
        facts_of_protected(safe),
        facts_of_protected(
            incrowd.protect(table, quasi_identifiers=["age"], method="perturb", steps=[("age", "noise=0.5")], seed=1)
        ),
        Stream(quasi_identifiers=["age"], k=2, identifiers=[]).append({"age": [30, 30, 30, 40]}),
        incrowd.measures.count_with_auxiliary(numbers, ["age"], ["paid"]),
        CopiedPeople(("age",), 10, 2, 10, 0),
        NearCopies(("age",), 10, 2, 10, 0),
        protect_items({"who": [1, 1, 2, 2], "item": list("abab")}, person="who", item="item", k=2),
        protect_trajectories(
            {"who": [1, 1, 2, 2], "day": [1, 2, 1, 2], "at": list("abab")}, person="who", time="day", place=["at"], k=2
        ),
        incrowd.population_risk(table, quasi_identifiers=names, population=5_000),
        record_risk(table, quasi_identifiers=names, population=5_000),
        classical_risk(table, quasi_identifiers=names, population=5_000),
        *classical_risk(table, quasi_identifiers=names, population=5_000).values(),
        forecast_table(table, at=["city"], quasi_identifiers=names, population=5_000),
        leaks.leak_risk(sizes, 20),
        leaks.named_people(sizes, 20),
        leaks.learnt_secrets(table, 20, quasi_identifiers=["age"], sensitive="illness"),
        leaks.simulate_leak(sizes, 20, trials=50),
        leaks.largest_leak(sizes, at_most=0.2),
        leaks.smallest_k(people=60, leaked=20, at_most=0.2),
        measures.minimal_sets(table, names, up_to=2),
        measures.itemset_anonymity({"who": [1, 1, 2, 2], "item": list("abab")}, person="who", item="item", known=1),
        (homes := measures.household_risk({"h": [1, 1], "a": [1, 2]}, household="h", quasi_identifiers=["a"])),
        *homes.by_knowledge,
        LearntSecret("illness", 100, 40, 39, 20, 0.1),
        leak_of_sample(ClassSizes.from_sizes([3, 2, 1, 1]), people=5, leaked=2),
        forecast_open_set(
            *draw_scores(np.random.default_rng(6), 1_500, 5.0, 1.0, 0.0), GALLERIES, threshold=3.5, at=[3_000]
        ),
        *find_refinements(
            read_table({"town": np.arange(600) % 60, "county": np.arange(600) % 60 // 20}), ["county"], ["town"]
        ),
        measures.count_disclosed_secrets(table, quasi_identifiers=names, sensitive=["illness"]),
        measures.measure_presence(table, table, quasi_identifiers=names),
        *fits.values(),
        *(fit.model for fit in fits.values()),
        hold_out(fit_class_sizes(ClassSizes.from_sizes([*range(1, 60), 1, 1, 1, 2, 2]))),
        fit_class_sizes(sizes),
        fit_class_sizes(sizes).posterior(),
    ]
    kinds = {}
    while found:
        one = found.pop()
        if isinstance(one, Result):
            kinds.setdefault(type(one), one)
            found += [getattr(one, field.name) for field in dataclasses.fields(one)]
        elif isinstance(one, list | tuple):
            found += one
        elif isinstance(one, dict):
            found += one.values()
    return kinds


def result_classes():
    """Every class of result of the package."""
    found = [one for module in modules() for one in vars(module).values() if isinstance(one, type)]
    return {one for one in found if issubclass(one, Result) and one is not Result}


def test_there_is_an_example_of_every_class_of_result(every_result):
    assert {one.__name__ for one in result_classes()} - {one.__name__ for one in every_result} == set()


def test_every_result_is_plain_json(every_result):
    plain = {kind.__name__: result.to_dict() for kind, result in every_result.items()}
    assert [name for name, one in plain.items() if json.loads(json.dumps(one, allow_nan=False)) != one] == []


def test_every_result_is_a_frame_with_rows(every_result):
    assert [kind.__name__ for kind, result in every_result.items() if not len(result.to_frame())] == []


def test_every_result_is_one_short_line_in_a_prompt(every_result):
    for kind, result in every_result.items():
        assert repr(result).startswith(f"{kind.__name__}(")
        assert "\n" not in repr(result)
        assert len(repr(result)) <= 600, repr(result)


def test_every_result_shows_names_as_text_in_a_notebook(every_result):
    for kind, result in every_result.items():
        html = result._repr_html_()
        assert NAME not in html, kind
        assert kind.__name__ in html or html.startswith("<"), kind
