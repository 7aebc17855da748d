"""Options that several verbs share, and the parsers of texts that options hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    ),
    Input(),
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--qi", help="Columns an attacker may know. Commas or repeats."),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", help="Columns that would harm somebody if they were learned. Commas or repeats."),
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
        "--hierarchy", help="age=5,10,20, age=cuts:18,65, zip=prefix:5,3,1, pay=quantiles:10, or column=file.csv (ARX)."
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


def share_option(flag: str, help_text: str, *also: str) -> Any:
    """The declaration of an option that is a share, for Typer; `also` are its other flags."""
    return typer.Option(flag, *also, help=help_text, parser=share, metavar="SHARE")


MaxRisk = Annotated[float | None, share_option("--max-risk", "Exit 1 if the average risk is higher: 0.09 or 9%.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]


def check_max_risk(given: float | None) -> None:
    """Refuse a limit that is not between 0 and 1."""
    if given is not None and not 0 <= given <= 1:
        raise InputError(f"--max-risk must be between 0 and 1; {number(given)} was given")


def exit_over_threshold(*reasons: str) -> None:
    """Print the stated thresholds that are crossed, and exit 1 if there are any."""
    for reason in reasons:
        terminal.note(f"over the threshold: {reason}")
    if reasons:
        raise typer.Exit(1)


_MAX_DIGITS = 30  # before or after the point; no number of people has more


def parse_names(given: Sequence[str] | None, columns: Sequence[str] = ()) -> list[str]:
    """Parse `--qi a,b --qi c` into ['a', 'b', 'c']; an entry that is the name of a column is not split.

    >>> parse_names(["age,sex", "zip"])
    ['age', 'sex', 'zip']
    >>> parse_names(["income, net"], columns=["age", "income, net"])
    ['income, net']
    """
    existing = set(columns)
    parsed: list[str] = []
    for entry in given or ():
        parts = [entry] if entry in existing else entry.split(",")
        parsed += [part if part in existing else part.strip() for part in parts if part.strip()]
    return parsed


def quasi_identifiers(given: Sequence[str] | None, table: Table, otherwise: Iterable[str] = ()) -> list[str]:
    """The columns named with --qi, or else those in `otherwise`; refused if there are none."""
    columns = parse_names(given, table.columns) or list(otherwise)
    if not columns:
        raise InputError(f"name the columns an attacker may know with --qi; the table has: {', '.join(table.columns)}")
    return columns


def parse_groups(
    given: Sequence[str] | None, what: str = "group", like: str = "census=age,sex"
) -> dict[str, list[str]]:
    """Parse `--groups census=age,sex spatial=zip` into names by label.

    >>> parse_groups(["census=age,sex", "spatial=zip"])
    {'census': ['age', 'sex'], 'spatial': ['zip']}
    """
    parsed: dict[str, list[str]] = {}
    for entry in given or ():
        label, equals, members = entry.partition("=")
        if not equals or not label.strip() or not parse_names([members]):
            raise InputError(f"{what} {entry!r} is not understood; write it like {like}")
        if label.strip() in parsed:
            raise InputError(f"{what} {label.strip()!r} is given twice; name each once")
        parsed[label.strip()] = parse_names([members])
    return parsed


def parse_hierarchies(given: Sequence[str] | None) -> dict[str, str]:
    """Parse `--hierarchy age=5,10 --hierarchy zip=zip.csv` into a text by column.

    >>> parse_hierarchies(["age=5,10", "zip=zip.csv"])
    {'age': '5,10', 'zip': 'zip.csv'}
    """
    given_rules = parse_groups(given, "hierarchy", "age=5,10,20 or zip=zip.csv")
    return {name: ",".join(members) for name, members in given_rules.items()}


def parse_count(text: str, what: str, like: str = "60000000 or 6e7") -> int:
    """Parse a number of people: 60000000, 60_000_000, 6e7.

    >>> parse_count("6e7", "population")
    60000000
    """
    value = parse_decimal(text, what, like)
    if not 1 <= value < 2**62 or value != int(value):
        raise InputError(f"{what} must be a whole number of 1 or more; {text!r} was given")
    return int(value)


def parse_decimal(text: str, what: str, like: str) -> Decimal:
    """Parse a number without rounding: 60_000_000, 6e7, 0.07.

    An exponent in the millions is refused: such a number takes hours to expand.
    """
    try:
        value = Decimal(text.strip().replace("_", "").replace(",", ""))
    except InvalidOperation:
        raise InputError(f"{what} {text!r} is not a number; write it like {like}") from None
    if not value.is_finite():
        raise InputError(f"{what} {text!r} is not a number; write it like {like}")
    if abs(value.adjusted()) > _MAX_DIGITS:
        raise InputError(f"{what} {text!r} is too large or too small a number; write it like {like}")
    return value
