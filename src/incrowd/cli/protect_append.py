"""`incrowd protect --append`: new records join a release that is out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from incrowd._support.addresses import masked
from incrowd.cli import terminal

if TYPE_CHECKING:
    from incrowd.tables import Table

_WISHES = ("importance", "keep", "widest", "nominal", "output", "hierarchies", "aim", "other")
TAKEN = {"table", "out", "append", "delay", "person", "recipient", "force", "json", "hierarchy", *_WISHES}


def append(
    table: Table,
    release: str,
    out: str,
    delay: int | None,
    person: str | None,
    given: Mapping[str, Any],
    recipient: str | None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Append a batch to a release, say what joined, waits and is left out, and judge it or say how to."""
    from incrowd.assessment import Question, judge_release
    from incrowd.assessment.repeat import to_command
    from incrowd.protection import append_release

    wishes = {name: given[name] for name in _WISHES if given.get(name)}
    with terminal.working("protecting") as progress:
        found = append_release(
            table, release, out, delay=delay, person=person, force=force, progress=progress, **wishes
        )
    question = Question(
        quasi_identifiers=found.log.released, sensitive=found.log.sensitive, other=given.get("other") or (), source=out
    )
    verdict = None if recipient is None else judge_release(out, replace(question, recipient=recipient))
    no_yes = verdict is not None and verdict.decision != "within"
    if json:
        terminal.as_json(
            {"file": masked(out), **found.to_dict(), **({"verdict": verdict.to_dict()} if verdict else {})}
        )
        raise typer.Exit(1 if no_yes else 0)
    terminal.heading(f"{masked(out)}: {found.sentence}")
    terminal.line("Published rows are as they were; all rows are in random order.")
    terminal.line("Counted again on the file itself, the new rows alone too.")
    for text in found.notes:
        terminal.note(text)
    held = "records as they came, and the key" if found.batch.waiting else "the key"
    terminal.note(
        f"{masked(out)}.waiting holds {held} by which batches are recognised: only you can read it; do not pass it on"
    )
    terminal.note(f"the next batch joins {masked(out)}; nothing joins {masked(release)} any more")
    if verdict is None:
        terminal.line("May it go out? Ask with the roles of every other column that it has:")
        terminal.command(to_command(question) or "")
    else:
        for text in (verdict.recommendation, verdict.sentence, *verdict.exposures):
            terminal.line(text)
    if no_yes:
        raise typer.Exit(1)
