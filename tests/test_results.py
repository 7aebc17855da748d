"""Every result shows itself in a notebook, and shows names as text."""

import dataclasses
import importlib
import pkgutil

import pytest

import incrowd
from incrowd import ClassSizes, correctness_curve, demo_table, forecast, frontier, leak_risk, measure
from incrowd.figures.registry import FIGURES
from incrowd.leaks import leak_table
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.model_checks import rank_size_check
from incrowd.populations import sensitivity
from incrowd.results import Result


def test_every_result_with_plain_types_is_shown():
    missing = []
    for module in pkgutil.walk_packages(incrowd.__path__, "incrowd."):
        if module.name.split(".")[1] in {"cli", "pytest_plugin"} or module.name.endswith("__main__"):
            continue
        things = vars(importlib.import_module(module.name)).values()
        results = [one for one in things if isinstance(one, type) and dataclasses.is_dataclass(one)]
        missing += [one.__name__ for one in results if hasattr(one, "to_dict") and not issubclass(one, Result)]
    assert missing == []


def test_a_result_is_a_table_in_which_names_are_text():
    found = measure({"<b>age</b>": [1, 1, 2]}, quasi_identifiers=["<b>age</b>"])
    shown = found._repr_html_()
    assert shown.startswith("<table>")
    assert "<b>" not in shown
    assert "&lt;b&gt;age" in shown
    assert "0.6667" in leak_risk(ClassSizes.from_sizes([2, 1]), 3)._repr_html_()


def test_an_assessment_shows_its_decision():
    found = incrowd.assess({"age": [30, 30, 41]}, quasi_identifiers=["age"], protection=False)
    assert "Not as it is" in found._repr_html_()


@pytest.fixture(scope="module")
def results():
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
