"""Columns that the numbers leave out: names of people, whose record it is, what others may know as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from incrowd.wording import listed

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.knowledge import Knowledge
    from incrowd.measures import Measurement


def exposed_by_columns(roles: Roles, facts: Measurement, knowledge: Knowledge) -> Iterator[str]:
    """What makes every other number worthless: people are found by a column that was not counted."""
    if roles.identifiers:
        yield (
            f"The table still names people or their records: {listed(roles.identifiers)}. Whoever reads it needs "
            "nothing else to find them."
        )
    if roles.unused_person is not None:
        yield (
            f"{roles.unused_person} looks like whose record it is, and records were counted as people: somebody with "
            "several records is easier to find than these numbers say."
        )
    if roles.generalised and knowledge.beside and knowledge.beside[0].uniques and facts.k > 1:
        yield f"The table was made coarser, but {_undone(roles, facts, knowledge)}"


def doubts_by_columns(roles: Roles, facts: Measurement, knowledge: Knowledge) -> Iterator[str]:
    """What was left out of the count and others may know."""
    if knowledge.beside:
        yield f"Not counted, though others may know them: {_undone(roles, facts, knowledge)}"
    if roles.left_out:
        number = len(roles.left_out)
        yield (
            f"Nobody looked at the roles, and {number:,} of {len(roles.suggested):,} columns "
            f"{'has' if number == 1 else 'have'} none, so that nothing above counts them: {listed(roles.left_out)}. "
            "Name those that others may know (--qi) or that are secret (--sensitive)."
        )
    looks = {one.column: one.role for one in roles.suggested}
    names = [name for name in roles.quasi_identifiers if looks.get(name) in ("identifier", "person")]
    if names:
        yield (
            f"Counted as something others know, though it looks like the name or number of a person or a record: "
            f"{listed(names)}. Remove it and assess what is left."
        )


def advice_by_columns(roles: Roles) -> Iterator[str]:
    """What to do about them, the most urgent first."""
    if roles.identifiers:
        yield (
            f"Remove {listed(roles.identifiers)} before the table goes anywhere (`incrowd protect` does); if one of "
            "them names nobody, say so (--other)."
        )
    if roles.unused_person is not None:
        yield (
            f"Count people and not records: name {roles.unused_person} as the person (--person), and assess again; if "
            "it does not say whose record it is, say so (--other)."
        )
    if roles.person is not None:
        yield (
            f"Replace the values of {roles.person} by random numbers (`incrowd protect` does): others may know them."
        )
    if roles.unnamed:
        yield (
            f"Leave {listed(roles.unnamed)} out of the table, or name them with the quasi-identifiers (--qi) and "
            "assess again; those that nobody outside can know, say so (--other)."
        )


def _undone(roles: Roles, facts: Measurement, knowledge: Knowledge) -> str:
    """What all columns that were not named would do together."""
    known = knowledge.beside[0]
    alone = "person is" if known.uniques == 1 else "people are"
    return (
        f"{listed(roles.unnamed)}. Whoever knows them too finds smaller crowds: {known.uniques:,} {alone} unique "
        f"(against {facts.uniques:,}), the smallest class has {known.k:,} (against {facts.k:,})."
    )
