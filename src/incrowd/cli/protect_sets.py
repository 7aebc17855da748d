"""`incrowd protect --item` and `--time`: tables with several items or points for each person."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from incrowd._support.addresses import masked
from incrowd.cli import terminal
from incrowd.cli.declared_options import OF_METHODS
from incrowd.errors import InputError
from incrowd.wording import percent

if TYPE_CHECKING:
    from incrowd.tables import Table


_TAKEN = {"table", "out", "person", "item", "known", "time", "place", "amount", "k", "hierarchy", "force", "json"}


def refuse_options_of_tables(
    typed: Mapping[str, Any], declared: Mapping[str, inspect.Parameter], taken: Collection[str] = _TAKEN
) -> None:
    """Refuse every option that was typed and that sets of items and points, or appending, do not take."""
    ignored = [
        str(OF_METHODS[name].flag) if name in OF_METHODS else f"--{name}"
        for name, value in typed.items()
        if name not in taken and value not in (None, [], declared[name].default)
    ]
    if ignored:
        if taken is _TAKEN:
            raise InputError(f"--item and --time do not take {', '.join(ignored)}; leave out what is not for sets")
        raise InputError(f"--append does not take {', '.join(ignored)}; the release's log says what was promised")


def protect_sets(
    table: Table,
    out: str,
    person: str | None,
    columns: Mapping[str, Any],
    known: int | None,
    k: int | None,
    hierarchies: Mapping[str, Any],
    *,
    force: bool,
    json: bool,
) -> None:
    """Protect items or points of people, write them and say what it took."""
    from incrowd.protection import ProtectedItems, ProtectedTrajectories, protect_items, protect_trajectories
    from incrowd.tables import read_table
    from incrowd.tables.write import write_table

    chosen = {name: value for name, value in columns.items() if value is not None}
    if person is None:
        raise InputError("--item and --time need the column that says whose it is: add --person")
    if "item" in chosen and len(chosen) > 1:
        raise InputError("--item is for sets of items, --time, --place and --amount for points; give one kind")
    if "time" in chosen and "place" not in chosen:
        raise InputError("--time needs places too: add --place x,y or --place region")
    coarser = chosen["item"] if "item" in chosen else chosen["place"][0]
    stray = [name for name in hierarchies if name != coarser]
    if stray:
        raise InputError(f"a hierarchy for {stray[0]!r}; only {coarser!r} takes one here")
    given: dict[str, Any] = {
        "person": person,
        "k": 5 if k is None else k,
        "hierarchy": hierarchies.get(coarser),
        **chosen,
    }
    if known is not None:
        given["known"] = known
    with terminal.working("protecting") as progress:
        safe: ProtectedItems | ProtectedTrajectories
        safe = (protect_items if "item" in chosen else protect_trajectories)(table, **given, progress=progress)
        write_table(read_table(safe.table).to_arrow(), out, force=force)
    if json:
        terminal.as_json({"file": masked(out), **safe.to_dict()})
        return
    terminal.heading(f"{masked(out)}: {safe.sentence}")
    if isinstance(safe, ProtectedTrajectories):
        shares = zip(safe.unicity_before, (*safe.unicity_after, *[None] * 5), strict=False)
        terminal.table(
            ("points known", "singled out before", "and after"),
            [
                (number, percent(before), "" if after is None else percent(after))
                for number, (before, after) in enumerate(shares, start=1)
            ],
        )
    what = "items" if "item" in chosen else "points"
    terminal.note(f"assess takes all {what} of a person as known, which is more than this guarantee speaks of")
    terminal.note(f"{person} is replaced by random numbers that cannot be traced back; other columns are left out")
