"""A method is a function, perhaps options, and a line in the registry: nothing else knows it by name."""

from dataclasses import dataclass
from inspect import signature
from typing import get_args

import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd import InputError, protect
from incrowd._support.option import options_of
from incrowd.cli.protect import protect_table
from incrowd.errors import UnsupportedError
from incrowd.evaluation.method_frontier import FRONTIER_METHODS
from incrowd.protection import PROTECTION_METHODS, CoarsenOptions, MaskOptions, MethodName
from incrowd.protection.method_options import OPTIONS, MethodKeywords, MethodOptions
from incrowd.protection.partition import partition
from incrowd.protection.recoding import recode_columns
from incrowd.protection.registry import ProtectionMethod
from incrowd.web.protection_models import ProtectionRequest

AGES = {"age": [30, 31, 62, 64], "rest": ["a", "b", "c", "d"]}


@dataclass(frozen=True, slots=True)
class TwiceOptions(MethodOptions):
    times: int = 2


def test_a_new_method_is_a_line_in_the_registry(monkeypatch):
    def twice(problem):
        assert problem.options.times in (2, 3)
        return partition(problem)

    monkeypatch.setitem(PROTECTION_METHODS, "twice", ProtectionMethod("twice", twice, options=TwiceOptions))
    for method in ("twice", TwiceOptions(3)):
        safe = protect(AGES, quasi_identifiers=["age"], k=2, method=method)
        assert (safe.method, safe.guarantee.k) == ("twice", 2)
    with pytest.raises(InputError, match="'twice' does not take steps"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="twice", steps=[("age", "*")])
    with pytest.raises(InputError, match=f"{[*PROTECTION_METHODS][-2]}, twice$"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="thrice")


def test_an_options_object_keeps_the_types_of_columns_as_keywords_do():
    races = {"race": [1, 2, 3, 4] * 10}
    by_keyword = protect(races, quasi_identifiers=["race"], k=2, method="mask", top={"race": 3})
    by_object = protect(races, quasi_identifiers=["race"], k=2, method=MaskOptions(top={"race": 3}))
    assert by_object.notes == by_keyword.notes
    for safe in (by_keyword, by_object):
        assert sorted(safe.table["race"].to_pylist()) == ["1"] * 10 + ["2"] * 10 + ["[3;*]"] * 20


def test_what_a_new_method_makes_is_counted_and_refused_where_k_does_not_hold(monkeypatch):
    def hide(problem):
        return recode_columns(problem, lambda column: pa.array(["*"] * column.size, pa.string()))

    def leave(problem):
        return recode_columns(problem, lambda column: None)

    monkeypatch.setitem(PROTECTION_METHODS, "hide", ProtectionMethod("everything hidden", hide))
    monkeypatch.setitem(PROTECTION_METHODS, "leave", ProtectionMethod("nothing hidden", leave))
    guarantee = protect(AGES, quasi_identifiers=["age"], k=3, method="hide").guarantee
    assert (guarantee.asked_k, guarantee.k) == (3, 4)
    with pytest.raises(UnsupportedError, match="1"):
        protect(AGES, quasi_identifiers=["age"], k=3, method="leave")


def test_options_of_a_method_are_named_one_by_one_or_given_together():
    one = protect(AGES, quasi_identifiers=["age"], method="coarsen", resolution=2)
    same = protect(AGES, quasi_identifiers=["age"], method=CoarsenOptions(resolution=2))
    assert one.table.equals(same.table)
    assert one.to_dict() == same.to_dict()


def test_types_and_help_name_the_methods_of_the_registry(capsys):
    assert list(get_args(MethodName)) == list(PROTECTION_METHODS)
    assert list(FRONTIER_METHODS) == ["partition", "sorted", "t-close partition", "tcloseness", "coarsen", "generalise"]
    assert {*FRONTIER_METHODS} == {*PROTECTION_METHODS, "t-close partition"} - {"mask", "blank", "perturb"}
    _, shown, _ = run(capsys, "protect", "--help")
    assert all(name in shown for name in PROTECTION_METHODS)


def test_every_method_says_what_it_does_and_which_inputs_it_has():
    known = {"k", "t", "l", "resolution", "steps", "suppress", "k_map", "aim", "perturbation"}
    for name, method in PROTECTION_METHODS.items():
        assert method.help.endswith("."), name
        varied = "perturbation" if method.perturbs else method.compared_by or "k"  # a perturbation has no class size
        assert {varied} <= set(method.inputs) <= known, name


def test_a_method_takes_its_own_options_and_the_demands_and_wishes_that_it_can_meet():
    taken = {
        name: {option for option in (*OPTIONS, "beta", "c", "keep", "widest", "apart", "aim") if method.takes(option)}
        for name, method in PROTECTION_METHODS.items()
    }
    k_map, secrets = {"suppress", "k_map", "population", "population_table"}, {"beta", "c"}
    assert taken == {
        "partition": {*k_map, *secrets, "keep", "widest", "apart", "aim"},
        "sorted": secrets,
        "tcloseness": {"beta"},
        "coarsen": {"resolution", "levels"},
        "generalise": {*k_map, *secrets, "keep", "widest", "measure"},
        "blank": {"suppress", "wildcards", "subsets", "c", "keep"},
        "mask": {"steps", "top", "bottom", "drop"},
        "perturb": {"steps", "seed"},
    }
    assert [name for name, method in PROTECTION_METHODS.items() if not method.takes("nominal")] == ["perturb"]
    assert all(method.takes("leave_out") for method in PROTECTION_METHODS.values())


def test_every_option_of_a_method_is_a_keyword_a_flag_and_a_field_of_requests():
    declared = {name: option for method in PROTECTION_METHODS.values() for name, option in _declared(method.options)}
    assert declared == dict(OPTIONS)
    assert {*MethodKeywords.__annotations__} == {*declared} <= {*signature(protect).parameters}
    offered = {name for name, option in declared.items() if option.flag is not None}
    assert offered == {*declared} - {"levels", "drop"}
    assert offered <= {*ProtectionRequest.model_fields}
    assert offered <= {*signature(protect_table).parameters}


def _declared(options):
    return [(option.name, option) for option in options_of(options)] if options else []
