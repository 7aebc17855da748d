"""`incrowd reproduce`: the papers' tables and figures, made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, show

if TYPE_CHECKING:
    from incrowd.reproduce import KeptPart


def reproduce_paper(
    which: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="scaling-law, synthetic-estimator, proper-anonymization, leak-attack, or all."
        ),
    ] = "all",
    out: Annotated[
        Path, typer.Option("--out", help="Folder to write to; what is finished there is not done again.")
    ] = Path("reproduced"),
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder with the public tables. Default: INCROWD_DATA, if that is set."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version of everything, two minutes of work, kept apart from full runs."),
    ] = False,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Do finished parts again.")] = False,
    json: options.Json = False,
) -> None:
    """Make the tables and figures of the papers behind this package again, beside the papers' own numbers."""
    from incrowd.reproduce import PAPERS, Context, paper, reproduce
    from incrowd.reproduce.page import write_pages
    from incrowd.reproduce.run import called

    if data is None and os.environ.get("INCROWD_DATA"):
        data = Path(os.environ["INCROWD_DATA"])
    papers = [paper(name) for name in (PAPERS if which == "all" else [which])]
    found: dict[str, list[KeptPart]] = {}
    lines = _nothing if sys.stderr.isatty() else show.note  # a log shows no bar
    try:
        for one in papers:
            with show.working(one.name) as progress:
                context = Context(data, quick, seed, progress)
                found[one.name] = reproduce(one, out, context, force=force, tell_part=lines)
                write_pages(out, one, found[one.name])
    except KeyboardInterrupt:
        show.problem(f"stopped; finished parts are kept in {out}, and the same command goes on with the rest")
        raise typer.Exit(130) from None
    if json:
        show.as_json({name: [part.to_dict() for part in parts] for name, parts in found.items()})
        return
    _show_parts(found)
    for one in papers:
        page = out / called(one, quick=quick)
        show.line(f"{one.name}: {page}.md and {page}.html")
    if data is None and any(one.uses_data for one in papers):
        show.note("no public tables were given (--data): only what can be generated was used")


def _nothing(line: str) -> None:
    """Say nothing: a bar says it."""


def _show_parts(found: dict[str, list[KeptPart]]) -> None:
    rows = [
        [name, part.name, "kept" if part.again else "done", part.seconds, len(part.tables), len(part.figures)]
        for name, parts in found.items()
        for part in parts
    ]
    show.table(["paper", "part", "", "seconds", "tables", "figures"], rows)
