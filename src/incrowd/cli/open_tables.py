"""Opening of a verb's tables before it runs, and the reading options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.addresses import DATABASES, masked, scheme_of
from incrowd._support.memory import is_limited_by_container, return_freed_memory
from incrowd._support.watched_memory import watched_memory
from incrowd.assessment.question import READING
from incrowd.cli import terminal
from incrowd.cli.command_files import Input
from incrowd.cli.declared_options import Verb, add_options, typer_annotation

if TYPE_CHECKING:
    from incrowd.tables import Table

_READING = {"from_table" if option.name == "table" else option.name: typer_annotation(option) for option in READING}
_LAYOUT = _READING["layout"]
_READING["layout"] = Annotated[_LAYOUT, Input(address=False)]
_SWITCHES = {option.name for option in READING if option.kind == "switch"}

_AFTER = {
    "after_table": Annotated[str | None, typer.Option("--after-table", help="--table of AFTER, if it is another.")],
    "after_query": Annotated[str | None, typer.Option("--after-query", help="--query of AFTER, if it is another.")],
}


def opens_table(command: Verb) -> Verb:
    """Add the reading options to a verb, and pass it the opened `Table` instead of the path `table`.

    A verb whose table is optional gets None if none is named. Paths in `more` are opened in the same way.
    """

    def open_paths(given: dict[str, Any], reading: dict[str, Any]) -> None:
        if given["table"] is not None:
            given["table"] = open_table(given["table"], reading)
        if given.get("more"):
            given["more"] = [open_table(path, reading) for path in given["more"]]

    return _add_reading_options(command, ("table",), open_paths)


def opens_two_tables(command: Verb) -> Verb:
    """Add the reading options to a verb that takes two tables or saved assessments, `before` and `after`.

    An option that is for databases, or for one file format, applies to those of the two that are of that kind;
    `after_table` and `after_query` apply to the second only.
    """

    def open_paths(given: dict[str, Any], reading: dict[str, Any]) -> None:
        from incrowd.tables.formats import takes_option

        after = {"from_table": reading.pop("after_table"), "query": reading.pop("after_query")}
        databases = {side: scheme_of(given[side]) in DATABASES for side in ("before", "after")}
        for side in ("before", "after"):
            wanted = dict(reading)
            if any(databases.values()) and not databases[side]:
                wanted |= {"from_table": None, "query": None, "timeout": None}
            for option in reading:
                fitting = {one for one in databases if takes_option(given[one], option)}
                if fitting and side not in fitting:
                    wanted[option] = None
            if side == "after" and any(after.values()):
                wanted |= after
            given[side] = _open_or_load(given[side], wanted)

    return _add_reading_options(command, ("before", "after"), open_paths, _READING | _AFTER)


def _add_reading_options(
    command: Verb,
    paths: tuple[str, ...],
    open_paths: Callable[[dict[str, Any], dict[str, Any]], None],
    options: Mapping[str, Any] = _READING,
) -> Verb:
    """Add options to a verb; `open_paths` replaces the paths among its arguments by tables."""

    @functools.wraps(command)
    def with_tables(**given: Any) -> None:
        reading = {name: given.pop(name) for name in options}
        if reading["memory"] is not None or is_limited_by_container():
            return_freed_memory()
        with watched_memory(reading["memory"]):
            open_paths(given, reading)
            command(**given)

    add_options(with_tables, {name: (kind, False if name in _SWITCHES else None) for name, kind in options.items()})
    parameters = [
        one.replace(annotation=Annotated[str | None, *one.annotation.__metadata__]) if one.name in paths else one
        for one in inspect.signature(with_tables).parameters.values()
    ]
    with_tables.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_tables.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_tables


def _open_or_load(path: str, reading: dict[str, Any]) -> Any:
    """Load a saved assessment, or open anything else as a table."""
    from incrowd.reports import read_assessment

    if path.lower().endswith(".json") and Path(path).is_file():
        with open(path, "rb") as file:
            head = file.read(200)
        if b'"schema"' in head and b"incrowd/assessment" in head:
            return read_assessment(path)
    return open_table(path, reading)


def open_table(path: str, reading: dict[str, Any]) -> Table:
    """Open a table; notes on how it was read go to stderr."""
    from incrowd.backends import choose_engine
    from incrowd.tables import read_table

    reading = {"table" if name == "from_table" else name: value for name, value in reading.items()}
    if reading["sheet"] is None:
        del reading["sheet"]
    slow = choose_engine(reading["engine"], reading.get("master")).slow_start
    with terminal.show_progress(f"reading {masked(path)}{f' with {slow}' if slow else ''}", lines=bool(slow)):
        table = read_table(path, **reading)
    for text in table.notes:
        terminal.note(text)
    return table
