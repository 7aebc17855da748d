"""`incrowd demo-data`: a generated table to try everything on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import TABLE_OUTPUT


def write_demo(
    out: Annotated[Path, Option(help="File to write: .parquet, .csv, .sav, …"), TABLE_OUTPUT] = Path("demo.parquet"),
    rows: Annotated[str, Option(help="How many hospital stays; the published table has 3985166.")] = "100000",
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Write a table of invented hospital stays; nobody in it exists."""
    from incrowd.demo import QUASI_IDENTIFIERS, demo_table
    from incrowd.tables import write_table

    size = options.parse_count(rows, "number of rows")
    with terminal.show_progress("inventing hospital stays"):
        write_table(demo_table(size, seed), out, force=force)
    terminal.line(f"{size:,} invented hospital stays written to {out}. To measure them:")
    terminal.line(f"  incrowd measure {out} --qi {','.join(QUASI_IDENTIFIERS)} --sensitive charge")
