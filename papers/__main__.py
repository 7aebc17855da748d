"""`python -m papers`: reproduce the tables and figures of the papers, with the published numbers for comparison."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, terminal
from incrowd.cli.app import run_command

if TYPE_CHECKING:
    from papers import Context, KeptPart, Paper


def reproduce_paper(
    which: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="scaling-law, synthetic-estimator, proper-anonymization, leak-attack, or all."
        ),
    ] = "all",
    out: Annotated[
        Path, typer.Option("--out", help="Folder to write to; parts that are finished there are not run again.")
    ] = Path("reproduced"),
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder with the public tables. Default: INCROWD_DATA, if that is set."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version of everything in two minutes, kept apart from full runs."),
    ] = False,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Run finished parts again.")] = False,
    json: options.Json = False,
) -> None:
    """Reproduce the tables and figures of the papers behind this package, with the published numbers for comparison."""
    from papers import PAPERS, Context, paper
    from papers.runner import output_name

    if data is None and os.environ.get("INCROWD_DATA"):
        data = Path(os.environ["INCROWD_DATA"])
    papers = [paper(name) for name in (PAPERS if which == "all" else [which])]
    try:
        found = _run(papers, out, Context(data, quick, seed), force)
    except KeyboardInterrupt:
        terminal.problem(f"stopped; finished parts are kept in {out}, and the same command goes on with the rest")
        raise typer.Exit(130) from None
    if json:
        terminal.print_json({name: [part.to_dict() for part in parts] for name, parts in found.items()})
        return
    _show_parts(found)
    for one in papers:
        page = out / output_name(one, quick=quick)
        terminal.line(f"{one.name}: {page}.md and {page}.html")
    if data is None and any(one.uses_data for one in papers):
        terminal.note("no public tables were given (--data): only what can be generated was used")


def _run(papers: list[Paper], out: Path, context: Context, force: bool) -> dict[str, list[KeptPart]]:
    """Run all papers and write their pages; without a terminal for a progress bar, a line is written for each part."""
    from papers import reproduce
    from papers.page import write_pages

    lines = {} if sys.stderr.isatty() else {"announce": terminal.note}
    found: dict[str, list[KeptPart]] = {}
    for one in papers:
        with terminal.show_progress(one.name) as progress:
            found[one.name] = reproduce(one, out, replace(context, progress=progress), force=force, **lines)
            write_pages(out, one, found[one.name])
    return found


def _show_parts(found: dict[str, list[KeptPart]]) -> None:
    rows = [
        [
            name,
            part.name,
            "kept" if part.from_earlier_run else "done",
            None if part.from_earlier_run else part.seconds,
            len(part.tables),
            len(part.figures),
        ]
        for name, parts in found.items()
        for part in parts
    ]
    terminal.table(["paper", "part", "", "seconds", "tables", "figures"], rows)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(reproduce_paper)


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit 0 fine, 2 bad input, 130 stopped."""
    run_command(lambda: app(args=arguments, prog_name="python -m papers"))


if __name__ == "__main__":
    main()
