"""Which columns of a table are known, secret, removed or passed on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from incrowd.errors import InputError
from incrowd.tables import Table, suggest_roles
from incrowd.tables.suggest_reading import apply_scales, find_replicate_weights


@dataclass(frozen=True, slots=True)
class SettledColumns:
    """The role of every column that has one.

    Attributes:
        known: the quasi-identifiers.
        secrets: the sensitive columns.
        person: the column that says whose record it is.
        other: columns that nobody outside can know.
        removed: columns that are left out.
        notes: what was decided about columns without being asked.
    """

    known: list[str]
    secrets: list[str]
    person: str | None
    other: list[str]
    removed: list[str]
    notes: list[str]

    def without_role(self, names: Sequence[str]) -> list[str]:
        """The columns, of those given, that have no role."""
        taken = {*self.known, *self.secrets, self.person, *self.other, *self.removed}
        return [name for name in names if name not in taken]


def settle_columns(
    table: Table,
    known: list[str],
    secrets: list[str],
    person: str | None,
    *,
    identifiers: Sequence[str] | None,
    leave_out: Sequence[str],
    other: Sequence[str] | None,
    described: Collection[str],
    in_steps: Collection[str],
) -> SettledColumns:
    """Settle the role of every column: those that were named, identifiers by their looks, and replicate weights.

    Args:
        table: the table. Numbers of its quasi-identifiers and sensitive columns that are codes become categories.
        known: the quasi-identifiers.
        secrets: the sensitive columns.
        person: the column that says whose record it is.
        identifiers: columns that name people. None: those that look so.
        leave_out: further columns to remove.
        other: columns that nobody outside can know.
        described: columns whose values an option describes, so that they are no codes.
        in_steps: columns that steps of perturbation change, so that they are passed on.

    Returns:
        The roles.

    Raises:
        InputError: a column has two roles, or does not exist.
    """
    notes = apply_scales(table, [name for name in [*known, *secrets] if name not in described])
    unknown = table.require(other, "other columns") if other else []
    spoken_for = [*known, *secrets, person]
    _require_one_role(unknown, [*spoken_for, *(identifiers or ())], "be an other column and something else")
    removed = table.require([*(identifiers or ()), *leave_out], "columns to remove") if identifiers or leave_out else []
    _require_one_role(removed, [*spoken_for, *unknown], "be removed and be something else")
    settled = SettledColumns(known, secrets, person, unknown, removed, notes)
    if identifiers is None and (unnamed := settled.without_role(table.columns)):
        removed[:0] = [one.column for one in suggest_roles(table, unnamed) if one.role == "identifier"]
    replicates = find_replicate_weights(table, settled.without_role(table.columns))
    replicates = [name for name in replicates if name not in in_steps]
    if replicates:
        removed += replicates
        notes.append(
            f"{len(replicates):,} replicate weights are set aside ({replicates[0]} to {replicates[-1]}): together they "
            "tell which records were drawn together; name them as other columns to pass them on"
        )
    return settled


def _require_one_role(names: Sequence[str], others: Sequence[str | None], what: str) -> None:
    """Refuse columns that are named for another role too."""
    clash = [name for name in names if name in others]
    if clash:
        raise InputError(f"{', '.join(map(repr, clash))} cannot {what}; name it once")
