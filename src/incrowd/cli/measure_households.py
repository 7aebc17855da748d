"""`incrowd measure --household`: the risk that any member of a household is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.cli import terminal
from incrowd.wording import percent

if TYPE_CHECKING:
    from incrowd.measures import HouseholdRisk


def show_households(found: HouseholdRisk) -> None:
    """Show the risk of households by what the attacker knows."""
    terminal.heading(f"Households, by {found.household}: the risk that any of their members is found")
    terminal.table(
        ("the attacker knows", "average", "of people", "highest", "found for certain"),
        [
            (row.knows, percent(row.average), percent(row.average_of_people), percent(row.highest), f"{row.certain:,}")
            for row in found.by_knowledge
        ],
    )
    terminal.line(
        f"{found.households:,} households of {found.people:,} people, the largest of {found.largest:,}. Whoever finds "
        "one member has found the others."
    )
