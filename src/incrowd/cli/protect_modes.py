"""`incrowd protect` in other modes: `--append` to a release, sets of items (`--item`), points of people (`--time`)."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from incrowd._support.addresses import masked
from incrowd.assessment.command_line import to_command
from incrowd.assessment.question import DECIDING, Question
from incrowd.cli import terminal
from incrowd.cli.assess_text import show_verdict
from incrowd.cli.hints import flag, options_typed
from incrowd.errors import InputError
from incrowd.protection.protect_options import APPENDED_WISHES

if TYPE_CHECKING:
    from incrowd.tables import Table

OF_APPENDING = {"table", "out", "append", "delay", "person", "force", "json", *APPENDED_WISHES} | {
    option.name for option in DECIDING if option.section == "question" and option.name != "population"
}
"""The options of `--append`."""
OF_SETS = {
    *("table", "out", "person", "item", "known", "time", "place", "amount", "k", "hierarchies", "population"),
    *("force", "json"),
}
"""The options of `--item` and `--time`."""


def refuse_other_options(
    typed: Mapping[str, Any], declared: Mapping[str, inspect.Parameter], taken: Collection[str]
) -> None:
    """Refuse every option that was typed and that a mode does not take."""
    ignored = [flag(name) for name in options_typed(typed, declared) if name not in taken]
    if ignored:
        if taken is OF_SETS:
            raise InputError(f"--item and --time do not take {', '.join(ignored)}; leave out what is not for sets")
        raise InputError(f"--append does not take {', '.join(ignored)}; the release's log says what was promised")


def append(
    table: Table,
    release: str,
    out: str,
    delay: int | None,
    given: Mapping[str, Any],
    judged: Question | None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Append a batch to a release; print what joined, waits and is left out, and the verdict or how to get one."""
    from incrowd.assessment import judge_release
    from incrowd.protection import append_release

    with terminal.show_progress("protecting") as progress:
        appended = append_release(table, release, out, delay=delay, force=force, progress=progress, **given)
    question = replace(
        judged or Question(),
        quasi_identifiers=appended.log.released,
        sensitive=appended.log.sensitive,
        other=given.get("other", ()),
        source=out,
    )
    verdict = None if judged is None else judge_release(out, question)
    is_refused = verdict is not None and verdict.decision != "within"
    if json:
        decided = {} if verdict is None else {"verdict": verdict.to_dict()}
        terminal.print_json({"file": masked(out), **appended.to_dict(), **decided})
        raise typer.Exit(1 if is_refused else 0)
    terminal.heading(f"{masked(out)}: {appended.sentence}")
    terminal.line("Published rows are unchanged; all rows are in random order.")
    terminal.line("Counted again on the file itself, also for the new rows alone.")
    for text in appended.notes:
        terminal.note(text)
    held = "records as they came, and the key" if appended.batch.waiting else "the key"
    terminal.note(
        f"{masked(out)}.waiting holds {held} by which batches are recognised: only you can read it; do not pass it on"
    )
    terminal.note(f"the next batch joins {masked(out)}; nothing joins {masked(release)} any more")
    if verdict is None:
        terminal.line("May it go out? For a verdict, give every other column a role:")
        terminal.command(to_command(question) or "")
    else:
        show_verdict(verdict)
    if is_refused:
        raise typer.Exit(1)


def protect_sets(
    table: Table,
    out: str,
    columns: Mapping[str, Any],
    known: int | None,
    asked: Mapping[str, Any],
    *,
    force: bool,
    json: bool,
) -> None:
    """Protect items or points of people, write them, and print what it cost."""
    from incrowd.protection import ProtectedItems, ProtectedTrajectories, protect_items, protect_trajectories
    from incrowd.tables import read_table
    from incrowd.tables.write import write_table

    chosen = {name: value for name, value in columns.items() if value is not None}
    person, hierarchies = asked.get("person"), asked.get("hierarchies", {})
    if person is None:
        raise InputError("--item and --time need the column that says whose it is: add --person")
    if "item" in chosen and len(chosen) > 1:
        raise InputError("--item is for sets of items, --time, --place and --amount for points; give one kind")
    if "time" in chosen and "place" not in chosen:
        raise InputError("--time needs places too: add --place x,y or --place region")
    if "item" in chosen and "population" in asked:
        raise InputError("--item and --population cannot go together: only of points unicity is forecast")
    coarser = chosen["item"] if "item" in chosen else chosen["place"][0]
    stray = [name for name in hierarchies if name != coarser]
    if stray:
        raise InputError(f"a hierarchy for {stray[0]!r}; only {coarser!r} takes one here")
    given: dict[str, Any] = {
        "person": person,
        "k": asked.get("k", 5),
        "hierarchy": hierarchies.get(coarser),
        **chosen,
    }
    given |= {"population": asked["population"]} if "population" in asked else {}
    if known is not None:
        given["known"] = known
    with terminal.show_progress("protecting") as progress:
        safe: ProtectedItems | ProtectedTrajectories
        safe = (protect_items if "item" in chosen else protect_trajectories)(table, **given, progress=progress)
        write_table(read_table(safe.table).to_arrow(), out, force=force)
    if json:
        terminal.print_json({"file": masked(out), **safe.to_dict()})
        return
    terminal.heading(f"{masked(out)}: {safe.sentence}")
    for rows in safe.data_tables:
        terminal.rows(rows)
    what = "items" if "item" in chosen else "points"
    terminal.note(f"assess takes all {what} of a person as known, which is more than this guarantee speaks of")
    terminal.note(f"{person} is replaced by random numbers that cannot be traced back; other columns are left out")
