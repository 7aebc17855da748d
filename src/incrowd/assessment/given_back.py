"""Kept columns that, by the original, give back what protection made coarser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incrowd.measures.kept_columns import GivenBack, kept_column_facts
from incrowd.tables import Table

if TYPE_CHECKING:
    from incrowd.assessment.question import Question


def coarsened(original: Table, released: Table, names: Sequence[str]) -> list[str]:
    """The columns that have other cells in the protected table."""
    pairs = ((name, original.to_arrow([name])[name], released.to_arrow([name])[name]) for name in names)
    return [name for name, before, after in pairs if before.type != after.type or not before.equals(after)]


def find_given_back(
    original: Table,
    released: Any,
    quasi_identifiers: Sequence[str],
    question: Question,
    person: str | None,
    coarse: Sequence[str],
) -> tuple[GivenBack, ...]:
    """The kept columns that give back what was made coarser, and make classes smaller by it.

    Args:
        original: the table before protection.
        released: the protected table, with ranges, sets or labels.
        quasi_identifiers: the columns that were protected.
        question: the question about the release: its stated columns are kept.
        person: the column that says whose record it is, where people have several.
        coarse: the quasi-identifiers that were changed.
    """
    stated = (*question.other, *(question.sensitive or ()), question.weights)
    kept = [name for name in stated if name is not None and name not in original.nested]
    facts = kept_column_facts(original, released, quasi_identifiers, kept, person, coarse=coarse)
    return tuple(one for one in facts if one.undoes)
