"""`incrowd regenerate`: fill masked cells from published counts of their values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import TABLE_OUTPUT, Input
from incrowd.cli.open_tables import opens_table


@opens_table
def regenerate_table(
    table: options.TablePath,
    counts: Annotated[str, Option(help="Table of column, value and count: the values behind masked cells."), Input()],
    out: Annotated[Path, Option(help="File to write: .parquet or .csv."), TABLE_OUTPUT],
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Fill masked cells (*, ranges, sets, prefixes) with values drawn from published counts.

    The counts of a column add up to its masked cells. Every column gets exactly the values published for it; which
    record gets which is drawn at random.

    [bold]incrowd regenerate masked.csv --counts counts.csv --out filled.csv[/bold]
    """
    from incrowd.protection import regenerate
    from incrowd.protection.regeneration import read_counts
    from incrowd.tables import write_table

    originals = read_counts(counts)
    filled = regenerate(table, originals, seed=seed)
    write_table(filled, out, force=force)
    cells = sum(sum(values.values()) for values in originals.values())
    terminal.line(f"{cells:,} masked cells of {', '.join(originals)} were filled; the table is in {out}.")
