"""Options that several verbs share, and how their texts are parsed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.option import Option
from incrowd.assessment.question import READING
from incrowd.cli import terminal
from incrowd.cli.command_files import FIGURE_OUTPUT, Input
from incrowd.errors import InputError
from incrowd.wording import number

if TYPE_CHECKING:
    from incrowd.tables import Table

TablePath = Annotated[
    Any,  # a path on the command line, a Table when the verb gets it
    typer.Argument(
        metavar="TABLE",
        help="File (CSV, Parquet, Excel, SPSS, Stata, SAS, R, … also compressed), folder, pattern, - for standard "
        "input, or postgresql://… or sqlite:///….",
        show_default=False,
    ),
    Input(),
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--qi", help="Columns an attacker may know. Commas or repeats.", show_default=False),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", help="Columns to keep secret. Commas or repeats.", show_default=False),
]
Person = Annotated[
    str | None, typer.Option("--person", help="Column that says whose record it is: the unit becomes the person.")
]
Household = Annotated[
    str | None, typer.Option("--household", help="Column that says which household a person lives in.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Write the figure: .html, .svg or .png."), FIGURE_OUTPUT]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="age=5,10,20, age=cuts:18,65, zip=prefix:5,3,1, pay=quantiles:10, or column=file.csv (ARX).",
    ),
    Input(after="=", address=False),
]


def share(text: str | float) -> float:
    """Parse a share: 0.09 or 9%.

    >>> share("9%"), share("0.09")
    (0.09, 0.09)
    """
    written = str(text).strip()
    try:
        number = Decimal(written.removesuffix("%").rstrip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise typer.BadParameter(f"{written!r} is not a share; write it like 0.09 or 9%.")
    return float(number / 100 if written.endswith("%") else number)


def share_option(flag: str, help_text: str) -> Any:
    """How Typer declares an option that is a share."""
    return typer.Option(flag, help=help_text, parser=share, metavar="SHARE")


MaxRisk = Annotated[float | None, share_option("--max-risk", "Exit 1 if the average risk is higher: 0.09 or 9%.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]


def check_share(given: float | None, flag: str) -> None:
    """Refuse a limit that is no share."""
    if given is not None and not 0 <= given <= 1:
        raise InputError(f"{flag} must be between 0 and 1; {number(given)} was given")


_MOST_DIGITS = 30  # before or after the point; more people than that there are none

_LISTS = ("columns", "texts", "codes", "groups", "numbers", "steps")
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(_LISTS, list[str]),
    "whole": int,
    "number": float,
}


def annotation(option: Option) -> Any:
    """How Typer declares an option."""
    if option.kind == "switch":
        flags = f"{option.flag}/--no-{option.name.replace('_', '-')}" if option.default else option.flag
        return Annotated[bool, typer.Option(flags, help=option.help)]
    if option.kind == "share":
        return Annotated[float | None, share_option(str(option.flag), option.help)]
    more: dict[str, Any] = {"show_default": False} if option.kind in _LISTS else {}
    marks = [Input()] if option.kind == "file" else []
    return Annotated[_TYPES.get(option.kind, str) | None, typer.Option(option.flag, help=option.help, **more), *marks]


_READING = {"from_table" if option.name == "table" else option.name: annotation(option) for option in READING}

_LAYOUT = _READING["layout"]
_READING |= {"layout": Annotated[_LAYOUT, Input(address=False)]}
_SWITCHES = {option.name for option in READING if option.kind == "switch"}

_AFTER = {
    "after_table": Annotated[str | None, typer.Option("--after-table", help="--table of AFTER, if it is another.")],
    "after_query": Annotated[str | None, typer.Option("--after-query", help="--query of AFTER, if it is another.")],
}


def add_options(
    command: Callable[..., None], added: Mapping[str, tuple[Any, Any]], *, after: Container[str] | None = None
) -> Callable[..., None]:
    """Give a verb further options, in place of its `**` parameter.

    Args:
        command: the verb.
        added: annotation and default of each option, by name.
        after: the parameters that the options follow; all of them unless given.
    """
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in added.items()
    ]
    place = 1 + max(index for index, parameter in enumerate(own) if after is None or parameter.name in after)
    command.__signature__ = inspect.Signature([*own[:place], *further, *own[place:]])  # type: ignore[attr-defined]
    return command


def takes(more: Mapping[str, tuple[Any, str]], *, after: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare options for the `**` parameter of a verb: name, type and help text of each; unset ones are None."""
    added = {
        name: (_optional(kind, f"--{name.replace('_', '-')}", words), None) for name, (kind, words) in more.items()
    }
    return lambda command: add_options(command, added, after=(after,))


def _optional(kind: Any, name: str, words: str) -> Any:
    if kind is share:
        return Annotated[float | None, share_option(name, words)]
    return Annotated[kind | None, typer.Option(name, help=words)]


def opens_table(command: Callable[..., None]) -> Callable[..., None]:
    """Add the reading options to a verb, and pass it the opened `Table` instead of the path `table`.

    Where the table is optional and none is named, the verb gets None. Paths in `more` are opened in the same way.
    """

    def open_paths(given: dict[str, Any], reading: dict[str, Any]) -> None:
        if given["table"] is not None:
            given["table"] = open_table(given["table"], reading)
        if given.get("more"):
            given["more"] = [open_table(path, reading) for path in given["more"]]

    return _add_reading_options(command, ("table",), open_paths)


def opens_two_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Add the reading options to a verb that takes two tables or saved assessments, `before` and `after`.

    Options for databases, or for files of one kind, apply to those of the two that are of that kind; `after_table` and
    `after_query` apply to the second only.
    """

    def open_paths(given: dict[str, Any], reading: dict[str, Any]) -> None:
        from incrowd._support.addresses import DATABASES, scheme_of
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
    command: Callable[..., None],
    paths: tuple[str, ...],
    open_paths: Callable[[dict[str, Any], dict[str, Any]], None],
    options: Mapping[str, Any] = _READING,
) -> Callable[..., None]:
    """Add options to a verb; `open_paths` replaces the paths among its arguments by tables."""

    @functools.wraps(command)
    def with_tables(**given: Any) -> None:
        open_paths(given, {name: given.pop(name) for name in options})
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
    from incrowd._support.addresses import masked
    from incrowd.tables import read_table

    reading = {"table" if name == "from_table" else name: value for name, value in reading.items()}
    if reading["sheet"] is None:
        del reading["sheet"]
    slow = reading["engine"] == "spark"  # which takes long to start
    with terminal.working(f"reading {masked(path)}{' with Spark' if slow else ''}", lines=slow):
        table = read_table(path, **reading)
    for text in table.notes:
        terminal.note(text)
    return table


def names(given: Sequence[str] | None, columns: Sequence[str] = ()) -> list[str]:
    """Parse `--qi a,b --qi c` into ['a', 'b', 'c']; an entry that is the name of a column is not split.

    >>> names(["age,sex", "zip"])
    ['age', 'sex', 'zip']
    >>> names(["income, net"], columns=["age", "income, net"])
    ['income, net']
    """
    existing = set(columns)
    parsed: list[str] = []
    for entry in given or ():
        parts = [entry] if entry in existing else entry.split(",")
        parsed += [part if part in existing else part.strip() for part in parts if part.strip()]
    return parsed


def quasi_identifiers(given: Sequence[str] | None, table: Table, otherwise: Iterable[str] = ()) -> list[str]:
    """The columns named with --qi, or those otherwise; one at least."""
    wanted = names(given, table.columns) or list(otherwise)
    if not wanted:
        raise InputError(f"name the columns an attacker may know with --qi; the table has: {', '.join(table.columns)}")
    return wanted


def groups(given: Sequence[str] | None) -> dict[str, list[str]]:
    """Parse `--groups census=age,sex spatial=zip` into a mapping.

    >>> groups(["census=age,sex", "spatial=zip"])
    {'census': ['age', 'sex'], 'spatial': ['zip']}
    """
    parsed: dict[str, list[str]] = {}
    for entry in given or ():
        label, equals, members = entry.partition("=")
        if not equals or not label.strip() or not names([members]):
            raise InputError(f"group {entry!r} is not understood; write it like census=age,sex")
        if label.strip() in parsed:
            raise InputError(f"group {label.strip()!r} is given twice; name each once")
        parsed[label.strip()] = names([members])
    return parsed


def rules(given: Sequence[str] | None) -> dict[str, str]:
    """Parse `--hierarchy age=5,10 --hierarchy zip=zip.csv` into a text by column.

    >>> rules(["age=5,10", "zip=zip.csv"])
    {'age': '5,10', 'zip': 'zip.csv'}
    """
    return {name: ",".join(members) for name, members in groups(given).items()}


def count(text: str, what: str, like: str = "60000000 or 6e7") -> int:
    """Parse a number of people: 60000000, 60_000_000, 6e7.

    >>> count("6e7", "population")
    60000000
    """
    value = decimal(text, what, like)
    if not 1 <= value < 2**62 or value != int(value):
        raise InputError(f"{what} must be a whole number of 1 or more; {text!r} was given")
    return int(value)


def decimal(text: str, what: str, like: str) -> Decimal:
    """Parse a number without rounding: 60_000_000, 6e7, 0.07.

    An exponent in the millions is refused: such a number takes hours to expand.
    """
    try:
        value = Decimal(text.strip().replace("_", "").replace(",", ""))
    except InvalidOperation:
        raise InputError(f"{what} {text!r} is not a number; write it like {like}") from None
    if not value.is_finite():
        raise InputError(f"{what} {text!r} is not a number; write it like {like}")
    if abs(value.adjusted()) > _MOST_DIGITS:
        raise InputError(f"{what} {text!r} is too large or too small a number; write it like {like}")
    return value
