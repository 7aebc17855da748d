"""The options of `protect` are declared once: its signature, the command line, requests and commands agree with it."""

from inspect import getdoc, signature

import pytest
import typer

from incrowd import InputError, protect
from incrowd.assessment.command_line import words_of
from incrowd.cli.app import app
from incrowd.cli.declared_options import read_protect_options
from incrowd.cli.protect_modes import OF_APPENDING, OF_SETS
from incrowd.protection import Stream
from incrowd.protection.protect_options import APPENDED_WISHES, OPTIONS, ProtectOptions
from incrowd.web.protection_models import ProtectionRequest

COLUMNS = ["age", "zip, code", "=note", "none", " blank"]
SAID = {
    "quasi_identifiers": ("age", "zip, code"),
    "k": 7,
    "method": "mask",
    "sensitive": ("=note",),
    "diverse": ("=note",),
    "l": 2.5,
    "diversity": "recursive",
    "c": 2.0,
    "t": "bound",
    "beta": 1.5,
    "delta": 0.25,
    "person": "-who",
    "key": "key.txt",
    "other": ("=note", " blank"),
    "hierarchies": {"age": "5,10", "zip": "zip.csv"},
    "importance": {"age": 3, "zip": 0.5},
    "keep": ("age",),
    "widest": {"age": 10},
    "nominal": ("age",),
    "output": {"age": "mean", "zip": "label"},
    "aim": "granularity",
    "identifiers": [],
    "leave_out": ("zip, code",),
    "shuffle": False,
    "resolution": {"age": "20", "zip": "1/8"},
    "suppress": 0.1,
    "measure": "entropy",
    "k_map": 3,
    "population_table": "all.csv",
    "population": 60_000_000,
    "steps": [("age", "ranges=20"), ("zip", "keep=3")],
    "top": {"age": 85},
    "bottom": {"age": -1.5},
    "wildcards": True,
    "subsets": 2,
    "seed": 0,
}


@pytest.fixture(scope="module")
def command():
    return typer.main.get_command(app).commands["protect"]


def typed(command, words):
    """What the command line makes of words."""
    context = command.make_context("protect", ["table.csv", "--out", "safe.csv", *words])
    return read_protect_options(context.params, COLUMNS)


def test_the_signature_and_the_help_of_protect_are_its_declaration():
    parameters, help_text = signature(protect).parameters, getdoc(protect)
    assert [*parameters] == ["data", *OPTIONS, "warn", "out", "force", "progress"]
    declared = signature(ProtectOptions).parameters
    for name, option in OPTIONS.items():
        assert parameters[name] == declared[name]
        assert f"\n    {name}: " in help_text
        assert " ".join(option.help.split()) in " ".join(help_text.split())


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"quasi_identifiers": ["age"], "colour": 3}, r"protect\(\) got an unexpected keyword argument 'colour'"),
        ({"k": 3}, r"protect\(\) missing a required argument: 'quasi_identifiers'"),
    ],
)
def test_keywords_that_do_not_fit_are_refused_as_those_of_any_function(keywords, message):
    with pytest.raises(TypeError, match=message):
        protect({"age": [1, 2]}, **keywords)


def test_every_option_is_a_flag_and_reads_back_what_is_written(command):
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert {option.flag for option in OPTIONS.values() if option.flag} <= flags
    assert {name for name, option in OPTIONS.items() if option.flag} == {*SAID}
    for name, value in SAID.items():
        assert typed(command, words_of(OPTIONS, {name: value})) == {name: value}, name
    assert typed(command, words_of(OPTIONS, SAID)) == SAID
    assert typed(command, words_of(OPTIONS, {"shuffle": True, "output": "mean", "t": 0.3, "resolution": "16"})) == {
        "shuffle": True,
        "output": "mean",
        "t": 0.3,
        "resolution": "16",
    }


def test_the_default_that_is_typed_is_said_and_what_is_empty_is_not(command):
    assert typed(command, ["--k", "5", "--method", "partition"]) == {"k": 5, "method": "partition"}
    assert typed(command, ["--identifier", "", "--sensitive", ""]) == {}
    for words, wrong in ((["--t", "x"], "--t 'x' is not a number; give one above 0 and at most 1, or 'bound'"),
                         (["--output", "mean,age=mode"], "--output takes one word for all columns"),
                         (["--output", "age=mean,age=mode"], "--output is given twice for 'age'"),
                         (["--importance", "age=3", "--importance", "age=0"], "--importance is given twice for 'age'"),
                         (["--resolution", "age=3,age=4"], "--resolution is given twice for 'age'"),
                         (["--resolution", "age=3,4"], "--resolution takes one for all columns")):  # fmt: skip
        with pytest.raises(InputError, match=wrong):
            typed(command, words)


@pytest.mark.parametrize(
    "said",
    [
        {"keep": [" "]},
        {"widest": {"a,b": 1}},
        {"steps": [("a:b", "*")]},
        {"identifiers": ["none"]},
        {"top": {"a=b": 1}},
    ],
)
def test_a_name_that_would_be_read_otherwise_makes_no_command(said):
    assert words_of(OPTIONS, said) is None


def test_a_request_has_every_option_but_those_that_roles_tell():
    by_role = {"quasi_identifiers", "person", "identifiers", "other"}
    assert {*OPTIONS} - {*ProtectionRequest.model_fields} == by_role | {"shuffle", "key", "levels", "drop"}
    assert {*ProtectionRequest.model_fields} <= {*OPTIONS}
    assert ProtectionRequest().given_options() == {}


@pytest.mark.parametrize(
    "name", sorted({*OPTIONS, "typo"} - {*APPENDED_WISHES, "identifiers", "leave_out", *signature(Stream).parameters})
)
def test_a_stream_takes_what_is_declared_for_it_and_nothing_else(name):
    with pytest.raises(InputError, match=f"a stream does not take {name}"):
        Stream(quasi_identifiers=["age"], **{name: None})


def test_other_modes_take_what_is_named_for_them():
    assert {*OPTIONS} & OF_SETS == {"person", "k", "hierarchies", "population"}
    assert {*OPTIONS} & OF_APPENDING == {"person", *APPENDED_WISHES}
