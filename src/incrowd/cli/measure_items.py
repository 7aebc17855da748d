"""`incrowd measure --item`: k^m-anonymity of tables with several items for each person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.cli import terminal
from incrowd.errors import InputError
from incrowd.wording import people, percent

if TYPE_CHECKING:
    from incrowd.tables import Table


def measure_items(table: Table, person: str | None, item: str, known: int, min_k: int | None, *, json: bool) -> bool:
    """Show how many people share any items that somebody has; whether the smallest number is below the threshold."""
    from incrowd.measures import itemset_anonymity

    if person is None:
        raise InputError("--item needs the column that says whose item it is: add --person")
    with terminal.working("counting sets of items") as progress:
        found = itemset_anonymity(table, person=person, item=item, known=known, progress=progress)
    if json:
        terminal.as_json(found.to_dict())
    else:
        terminal.heading(f"Who can be picked out by up to {known} of their items (k^m-anonymity)")
        sizes = enumerate(zip(found.smallest, found.sets, found.alone, strict=True), start=1)
        terminal.table(
            ("items known", "fewest people who share them", "sets", "sets of a single person"),
            [(size, k, sets, f"{alone:,} ({percent(alone / sets)})") for size, (k, sets, alone) in sizes],
        )
        terminal.line(
            f"{found.people:,} people with {found.items:,} different items: whoever knows up to {known} items of "
            f"somebody is left with at least {people(found.k)}, which is k^{known}-anonymity with k = {found.k:,}."
        )
    if min_k is not None and found.k < min_k:
        terminal.note(f"over the threshold: some items are shared by {found.k:,}, at least {min_k:,} were asked for")
        return True
    return False
