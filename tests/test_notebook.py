"""Every result shows itself in a notebook, and shows names as text."""

import dataclasses
import importlib
import pkgutil

import incrowd
from incrowd import ClassSizes, leak_risk, measure
from incrowd.notebook import Shown


def test_every_result_with_plain_types_is_shown():
    missing = []
    for module in pkgutil.walk_packages(incrowd.__path__, "incrowd."):
        if module.name.split(".")[1] in {"cli", "pytest_plugin"} or module.name.endswith("__main__"):
            continue
        things = vars(importlib.import_module(module.name)).values()
        results = [one for one in things if isinstance(one, type) and dataclasses.is_dataclass(one)]
        missing += [one.__name__ for one in results if hasattr(one, "to_dict") and not issubclass(one, Shown)]
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
