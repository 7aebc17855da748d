"""Warnings about columns that the numbers leave out: identifiers, person columns, overlooked quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from incrowd.wording import Advice, listed

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.knowledge import Knowledge
    from incrowd.measures import Measurement


def column_exposures(roles: Roles, facts: Measurement, knowledge: Knowledge) -> Iterator[str]:
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
    if roles.generalised and knowledge.auxiliary and knowledge.auxiliary[0].uniques and facts.k > 1:
        yield f"The table was made coarser, but {_known_as_well(roles, facts, knowledge)}"


def column_doubts(roles: Roles, facts: Measurement, knowledge: Knowledge) -> Iterator[Advice]:
    """What was left out of the count and others may know."""
    if knowledge.auxiliary:
        yield Advice(f"Not counted, though others may know them: {_known_as_well(roles, facts, knowledge)}")
    if roles.uncounted:
        number = len(roles.uncounted)
        yield Advice(
            f"Nobody looked at the roles, and {number:,} of {len(roles.suggested):,} columns "
            f"{'has' if number == 1 else 'have'} none, so that nothing above counts them: {listed(roles.uncounted)}. "
            "Name those that others may know or that are secret.",
            ("quasi_identifiers", "sensitive"),
        )
    looks = {one.column: one.role for one in roles.suggested}
    names = [name for name in roles.quasi_identifiers if looks.get(name) in ("identifier", "person")]
    if names:
        yield Advice(
            f"Counted as something others know, though it looks like the name or number of a person or a record: "
            f"{listed(names)}. Remove it and assess what is left."
        )


def column_advice(roles: Roles) -> Iterator[Advice]:
    """What to do about them, the most urgent first."""
    if roles.identifiers:
        yield Advice(
            f"Remove {listed(roles.identifiers)} before the table goes anywhere (`incrowd protect` does); if one of "
            "them names nobody, say so.",
            ("other",),
        )
    if roles.unused_person is not None:
        yield Advice(
            f"Count people and not records: name {roles.unused_person} as the person, and assess again; if it does not "
            "say whose record it is, say so.",
            ("person", "other"),
        )
    if roles.person is not None:
        yield Advice(
            f"Replace the values of {roles.person} by random numbers (`incrowd protect` does): others may know them."
        )
    if roles.overlooked_quasi_identifiers:
        yield Advice(
            f"Leave {listed(roles.overlooked_quasi_identifiers)} out of the table, or name them with the "
            "quasi-identifiers and assess again; those that nobody outside can know, say so.",
            ("quasi_identifiers", "other"),
        )


def _known_as_well(roles: Roles, facts: Measurement, knowledge: Knowledge) -> str:
    """What all columns that were not named would do together."""
    known = knowledge.auxiliary[0]
    alone = "person is" if known.uniques == 1 else "people are"
    return (
        f"{listed(roles.overlooked_quasi_identifiers)}. Whoever knows them too finds smaller crowds: "
        f"{known.uniques:,} {alone} unique (against {facts.uniques:,}), the smallest class has {known.k:,} "
        f"(against {facts.k:,})."
    )
