"""A method is a function, perhaps options, and a line in the registry: nothing else knows it by name."""

from dataclasses import dataclass
from typing import get_args

import pytest
from tests.cli.running import run

from incrowd import InputError, protect
from incrowd.evaluation.frontier import FRONTIER_METHODS
from incrowd.protection import METHODS, CoarsenOptions, MethodName
from incrowd.protection.partition import partition
from incrowd.protection.problem import MethodOptions
from incrowd.protection.registry import Method

AGES = {"age": [30, 31, 62, 64], "rest": ["a", "b", "c", "d"]}


@dataclass(frozen=True, slots=True)
class TwiceOptions(MethodOptions):
    times: int = 2


def test_a_new_method_is_a_line_in_the_registry(monkeypatch):
    def twice(problem):
        assert problem.options.times in (2, 3)
        return partition(problem)

    monkeypatch.setitem(METHODS, "twice", Method("twice", twice, options=TwiceOptions))
    for method in ("twice", TwiceOptions(3)):
        safe = protect(AGES, quasi_identifiers=["age"], k=2, method=method)
        assert (safe.method, safe.guarantee.k) == ("twice", 2)
    with pytest.raises(InputError, match="'twice' does not take steps"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="twice", steps=[("age", "*")])
    with pytest.raises(InputError, match="perturb, twice"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="thrice")


def test_options_of_a_method_are_named_one_by_one_or_given_together():
    one = protect(AGES, quasi_identifiers=["age"], method="coarsen", resolution=2)
    same = protect(AGES, quasi_identifiers=["age"], method=CoarsenOptions(resolution=2))
    assert one.table.equals(same.table)
    assert one.to_dict() == same.to_dict()


def test_types_and_help_name_the_methods_of_the_registry(capsys):
    assert list(get_args(MethodName)) == list(METHODS)
    assert list(FRONTIER_METHODS) == ["partition", "sorted", "t-close partition", "tcloseness", "coarsen", "generalise"]
    assert {*FRONTIER_METHODS} == {*METHODS, "t-close partition"} - {"mask", "blank", "perturb"}
    _, shown, _ = run(capsys, "protect", "--help")
    assert all(name in shown for name in METHODS)


def test_every_method_says_what_it_does_and_which_inputs_it_has():
    known = {"k", "t", "l", "resolution", "steps", "suppress"}
    for name, method in METHODS.items():
        assert method.help.endswith("."), name
        assert {method.compared_by or "k"} <= set(method.inputs) <= known, name
