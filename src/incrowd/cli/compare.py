"""`incrowd compare`: two tables or two saved assessments side by side."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import Input
from incrowd.cli.declared_options import question_from, with_question_options
from incrowd.cli.open_tables import opens_two_tables


@opens_two_tables
@with_question_options("quasi_identifiers", "sensitive", "person", "population")
def compare_tables(
    before: Annotated[Any, typer.Argument(help="Table, or assessment saved with `assess --json`."), Input()],
    after: Annotated[Any, typer.Argument(help="Table or assessment to compare with it."), Input()],
    fail: Annotated[bool, Option("--fail-if-worse", help="Exit 1 if any number got worse.")] = False,
    json: options.Json = False,
    **typed: Any,
) -> None:
    """What got better and what got worse, from one table to another?

    [bold]incrowd compare patients.csv protected.csv --qi age,sex,zip --sensitive illness[/bold]

    [bold]incrowd compare january.json february.json --fail-if-worse[/bold]

    [bold]incrowd compare clinic.db clinic.db --table january --after-table february --qi age,sex,zip[/bold]
    """
    from incrowd.assessment.comparison import compare

    sides = (before, after)
    columns = [name for side in sides for name in getattr(side, "columns", ())]
    question = question_from(typed, columns)
    with terminal.show_progress("comparing") as progress:
        comparison = compare(
            *sides,
            quasi_identifiers=question.quasi_identifiers,
            sensitive=question.sensitive or (),
            person=question.person,
            population=question.population,
            progress=progress,
        )
    if json:
        terminal.print_json(comparison.to_dict())
    else:
        terminal.result(comparison)
        for text in comparison.notes:
            terminal.note(text)
    if fail and comparison.of("worse"):
        raise typer.Exit(1)
