"""The page of all items of the papers: complete, not stale, and no name on it is invented."""

import functools
from importlib import import_module

import pytest
import typer
from papers.coverage import PAGE, STATES, collect_checks, coverage_page, numbered_items

from incrowd import InputError
from incrowd.cli.app import app as commands

ITEMS = numbered_items()


def resolved(name):
    """The object of a dotted name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[length:], module)
    raise ModuleNotFoundError(name)


def test_every_item_is_listed_once():
    labels = [(item.paper, item.label) for item in ITEMS]
    assert len(labels) == len(set(labels)) > 100


def test_every_item_has_a_check():
    found = collect_checks()
    wanted = {(item.paper, item.label) for item in ITEMS if item.state != "missing"}
    assert wanted == set(found)


def test_what_is_not_done_has_a_reason():
    assert {item.state for item in ITEMS} == set(STATES)
    assert all(bool(item.reason) == (item.state != "done") for item in ITEMS)


def test_the_page_is_not_stale():
    assert PAGE.read_text(encoding="utf-8") == coverage_page(), "write it again: python -m papers.coverage"


def test_every_function_exists():
    for name in {name for item in ITEMS for name in item.library}:
        assert resolved(name) is not None


def test_every_command_and_option_exists():
    verbs = typer.main.get_command(commands).commands
    for line in {line for item in ITEMS for line in item.commands}:
        verb, *options = line.split()
        known = {flag for parameter in verbs[verb].params for flag in parameter.opts}
        assert set(options) <= known, line


def test_only_studies_are_not_on_the_command_line():
    """What a command does not show is a study over many tables, which `python -m papers` runs."""
    missing = [item for item in ITEMS if not item.commands]
    assert all(name.startswith("papers.") for item in missing for name in item.library)


def test_every_part_of_the_app_exists():
    from incrowd.web.api import curve_routes, job_routes

    routes = [*job_routes.router.routes, *curve_routes.router.routes]
    paths = {piece for route in routes for piece in route.path.split("/")}
    assert {part for item in ITEMS for part in item.app} <= paths


def test_a_test_cannot_claim_an_item_that_is_not_there(tmp_path):
    (tmp_path / "test_x.py").write_text('@pytest.mark.paper("leak-attack", "eq. 99")\ndef test_it(): ...\n')
    with pytest.raises(InputError, match=r"test_x.py::test_it is marked with leak-attack eq. 99"):
        collect_checks(tmp_path)
