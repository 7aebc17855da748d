"""`incrowd regenerate`: fill masked cells from published counts of the values behind them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, terminal
from incrowd.cli.command_files import TABLE_OUTPUT, Input
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.tables import Table

_COLUMNS = ("column", "value", "count")


@options.opens_table
def regenerate_table(
    table: options.TablePath,
    counts: Annotated[
        str,
        typer.Option("--counts", help="Table of column, value and count: the values behind masked cells."),
        Input(),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="File to write: .parquet or .csv.", show_default=False), TABLE_OUTPUT
    ],
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Fill masked cells (*, ranges, sets, prefixes) with values drawn from published counts.

    The counts of a column add up to its masked cells. Every column gets exactly the values published for it; which
    record gets which is drawn at random.

    [bold]incrowd regenerate masked.csv --counts counts.csv --out filled.csv[/bold]
    """
    from incrowd.protection import regenerate
    from incrowd.tables import read_table, write_table

    originals = _counts(read_table(counts))
    filled = regenerate(table, originals, seed=seed)
    write_table(filled, out, force=force)
    cells = sum(sum(values.values()) for values in originals.values())
    terminal.line(f"{cells:,} masked cells of {', '.join(originals)} were filled; the table is in {out}.")


def _counts(table: Table) -> dict[str, dict[str, int]]:
    """Counts by column and value; a value that is listed twice counts twice."""
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"the counts have no column {', '.join(missing)}; they need column, value and count")
    found: dict[str, dict[str, int]] = {}
    rows = zip(*(table.to_arrow([name])[name].to_pylist() for name in _COLUMNS), strict=True)
    for number, (column, value, count) in enumerate(rows, start=1):
        if value is None or not isinstance(count, int):
            raise InputError(f"row {number} of the counts has no value or no whole number; fill it in")
        values = found.setdefault(str(column), {})
        values[str(value)] = values.get(str(value), 0) + count
    return found
