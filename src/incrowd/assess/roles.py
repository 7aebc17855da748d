"""What the columns are in one assessment: as the caller says, or as their names and values suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.errors import InputError
from incrowd.notebook import Shown
from incrowd.table import SuggestedRole, Table, read_table, suggest_roles

_A = {
    "quasi-identifier": "a quasi-identifier",
    "sensitive": "a sensitive column",
    "identifier": "an identifier",
    "person": "a person column",
    "weight": "a weight",
}


@dataclass(frozen=True, slots=True)
class Roles(Shown):
    """The columns by role, and the suggestions they were taken from (none where they were not asked for)."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    suggested: tuple[SuggestedRole, ...] = ()
    confirmed: bool = True

    def reason(self, column: str) -> str:
        """Why a column has its role."""
        found = {one.column: one for one in self.suggested}.get(column)
        role = self.role(column)
        if found is not None and found.role == role:
            return found.reason
        if found is not None and role == "other":
            return f"as you said, though it looks like {_A[found.role]} ({found.reason})"
        return "as you said"

    def role(self, column: str) -> str:
        """The role of a column in this assessment."""
        if column in self.quasi_identifiers:
            return "quasi-identifier"
        if column in self.sensitive:
            return "sensitive"
        if column in self.identifiers:
            return "identifier"
        return "person" if column == self.person else "weight" if column == self.weight else "other"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "identifiers": list(self.identifiers),
            "person": self.person,
            "weight": self.weight,
            "confirmed": self.confirmed,
            "columns": [
                {
                    "column": one.column,
                    "kind": one.kind,
                    "distinct": one.distinct if one.distinct >= 0 else None,
                    "missing": one.nulls,
                    "role": self.role(one.column),
                    "reason": self.reason(one.column),
                }
                for one in self.suggested
            ],
        }


def propose_roles(data: Any) -> Roles:
    """The roles that the columns' names and values suggest; a person should look at them before they are used.

    >>> propose_roles({"age": [30, 41, 30], "email": ["a", "b", "c"], "diagnosis": ["x", "y", "x"]}).sensitive
    ('diagnosis',)
    """
    return from_suggestions(suggest_roles(read_table(data)))


def from_suggestions(suggested: Sequence[SuggestedRole]) -> Roles:
    """The suggestions by role; of several person or weight columns the first is taken."""
    by_role: dict[str, list[str]] = {}
    for one in suggested:
        by_role.setdefault(one.role, []).append(one.column)
    return Roles(
        tuple(by_role.get("quasi-identifier", ())),
        tuple(by_role.get("sensitive", ())),
        tuple(by_role.get("identifier", ())),
        next(iter(by_role.get("person", ())), None),
        next(iter(by_role.get("weight", ())), None),
        tuple(suggested),
        confirmed=False,
    )


def settle_roles(
    table: Table,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    person: str | None,
    weight: str | None,
) -> Roles:
    """The roles as said; where no quasi-identifiers are named, as suggested, and marked as not confirmed."""
    suggested = suggest_roles(table)
    proposed = from_suggestions(suggested)
    if quasi_identifiers is None:
        if not proposed.quasi_identifiers:
            raise InputError(
                "no column looks like something others know about a person; name the quasi-identifiers (--qi); "
                f"the table has: {', '.join(table.columns[:30])}"
            )
        roles = proposed
    else:
        names = tuple(table.require(quasi_identifiers, "quasi-identifiers"))
        roles = Roles(names, suggested=suggested, identifiers=tuple(n for n in proposed.identifiers if n not in names))
    if sensitive is not None:
        wanted = tuple(table.require(sensitive, "sensitive columns")) if sensitive else ()
        roles = replace(roles, sensitive=wanted)
    if person is not None:
        roles = replace(roles, person=table.require([person], "person column")[0])
    if weight is not None:
        roles = replace(roles, weight=table.require([weight], "weight column")[0])
    taken = {*roles.sensitive, roles.person, roles.weight}
    return replace(roles, identifiers=tuple(name for name in roles.identifiers if name not in taken))
