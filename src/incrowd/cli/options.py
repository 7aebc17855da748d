"""Options that several verbs take, read in one way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from incrowd.errors import InputError

TablePath = Annotated[
    str, typer.Argument(metavar="TABLE", help="CSV, TSV, Parquet, Feather, Excel or JSON-lines file.")
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--qi", help="Columns an attacker may know. Commas or repeats.", show_default=False),
]
Person = Annotated[
    str | None, typer.Option("--person", help="Column that says whose record it is: the unit becomes the person.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Write the figure: .html, .svg or .png.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]


def names(given: Sequence[str] | None) -> list[str]:
    """`--qi a,b --qi c` as ['a', 'b', 'c'].

    >>> names(["age,sex", "zip"])
    ['age', 'sex', 'zip']
    """
    return [name.strip() for entry in given or () for name in entry.split(",") if name.strip()]


def count(text: str, what: str) -> int:
    """A number of people as users write it: 60000000, 60_000_000, 6e7.

    >>> count("6e7", "population")
    60000000
    """
    try:
        value = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise InputError(f"{what} {text!r} is not a number; write it like 60000000 or 6e7") from None
    if not 1 <= value < 2**62 or value != int(value):
        raise InputError(f"{what} must be a whole number of 1 or more; {text!r} was given")
    return int(value)
