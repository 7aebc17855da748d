"""A method is a function, perhaps options, and a line in the registry: nothing else knows it by name."""

from inspect import signature
from typing import get_args

import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd import InputError, protect
from incrowd.cli.protect import protect_table
from incrowd.errors import UnsupportedError
from incrowd.evaluation.method_frontier import FRONTIER_METHODS
from incrowd.protection import PROTECTION_METHODS, MethodName
from incrowd.protection.partition import partition
from incrowd.protection.protect_options import OF_METHODS, OPTIONS
from incrowd.protection.recoding import recode_columns
from incrowd.protection.registry import ProtectionMethod
from incrowd.web.protection_models import ProtectionRequest

AGES = {"age": [30, 31, 62, 64], "rest": ["a", "b", "c", "d"]}


def test_a_new_method_is_a_line_in_the_registry(monkeypatch):
    monkeypatch.setitem(PROTECTION_METHODS, "again", ProtectionMethod("partition again", partition))
    safe = protect(AGES, quasi_identifiers=["age"], k=2, method="again")
    assert (safe.method, safe.guarantee.k) == ("again", 2)
    with pytest.raises(InputError, match="'again' does not take steps; mask and perturb do"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="again", steps=[("age", "*")])
    with pytest.raises(InputError, match=f"{[*PROTECTION_METHODS][-2]}, again$"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="thrice")


def test_limits_of_top_coding_keep_the_types_of_columns():
    races = {"race": [1, 2, 3, 4] * 10}
    safe = protect(races, quasi_identifiers=["race"], k=2, method="mask", top={"race": 3})
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
        name: {option for option in (*OF_METHODS, "beta", "c", "keep", "widest", "aim") if method.takes(option)}
        for name, method in PROTECTION_METHODS.items()
    }
    k_map, secrets = {"suppress", "k_map", "population", "population_table"}, {"beta", "c"}
    assert taken == {
        "partition": {*k_map, *secrets, "keep", "widest", "aim"},
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


def test_methods_of_an_option_are_of_the_registry_and_every_option_is_a_flag_and_a_field_of_requests():
    assert {name for option in OPTIONS.values() for name in option.methods} <= {*PROTECTION_METHODS}
    of_methods = {*OF_METHODS}
    assert of_methods == {name for name in OF_METHODS if OPTIONS[name].methods}
    offered = {name for name in OF_METHODS if OPTIONS[name].flag is not None}
    assert offered == of_methods - {"levels", "drop"}
    assert offered <= {*ProtectionRequest.model_fields} & {*signature(protect_table).parameters}
