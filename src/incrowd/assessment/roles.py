"""What the columns are in one assessment: as the caller says, or as their names and values suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles

_A = {
    "quasi-identifier": "a quasi-identifier",
    "sensitive": "a sensitive column",
    "identifier": "an identifier",
    "person": "a person column",
    "weight": "a weight",
}


@dataclass(frozen=True, slots=True)
class Roles(Result):
    """The columns by role, and the suggestions they were taken from (none where they were not asked for).

    `said` are the columns whose role the caller named.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    suggested: tuple[SuggestedRole, ...] = ()
    confirmed: bool = True
    said: tuple[str, ...] = ()

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Columns that look like quasi-identifiers and that nobody has said anything about."""
        return self._overlooked("quasi-identifier")

    @property
    def unused_person(self) -> str | None:
        """A column that looks like whose record it is, if none is used and nobody has said anything about it."""
        return next(iter(self._overlooked("person")), None) if self.person is None else None

    def _overlooked(self, role: str) -> tuple[str, ...]:
        return tuple(
            one.column
            for one in self.suggested
            if one.role == role
            and not one.secondary
            and self.role(one.column) == "other"
            and one.column not in self.said
        )

    @property
    def unused_weight(self) -> str | None:
        """A column that looks like a sampling weight, if none is used and nobody has said anything about it."""
        return next(iter(self._overlooked("weight")), None) if self.weight is None else None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Where nobody confirmed the roles: the columns that no number looks at."""
        free = (one.column for one in self.suggested if self.role(one.column) == "other")
        return () if self.confirmed else tuple(name for name in free if name not in self.said)

    @property
    def generalised(self) -> bool:
        """Whether some quasi-identifier holds ranges or sets, as in a table that was protected."""
        return any(one.generalised for one in self.suggested if one.column in self.quasi_identifiers)

    def reason(self, column: str) -> str:
        """Why a column has its role."""
        found = {one.column: one for one in self.suggested}.get(column)
        role = self.role(column)
        if found is None or (found.role == role and column not in self.said):
            return "as you said" if found is None else found.reason
        if column in self.said:
            doubt = role == "other" or found.role in ("identifier", "person")
            if found.role != role and found.role != "other" and doubt:
                return f"as you said, though it looks like {_A[found.role]} ({found.reason})"
            return "as you said"
        return f"not named, though it looks like {_A[found.role]} ({found.reason})"

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
    """The suggestions by role; of several person columns the first is taken, of weights the main one."""
    by_role: dict[str, list[str]] = {}
    for one in suggested:
        if not one.secondary:
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
    identifiers: Sequence[str] = (),
    other: Sequence[str] = (),
) -> Roles:
    """The roles as said; where no quasi-identifiers are named, as suggested, and marked as not confirmed.

    `other` columns have no role, whatever they look like. A weight is used only if it is said: its sum would be the
    population, and a wrong guess would make the risk look small.
    """
    suggested = suggest_roles(table)
    proposed = from_suggestions(suggested)
    if quasi_identifiers is None:
        if not proposed.quasi_identifiers:
            raise InputError(
                "no column looks like something others know about a person; name the quasi-identifiers (--qi); "
                f"the table has: {', '.join(table.columns[:30])}"
            )
        roles = replace(proposed, weight=None)
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
    named = [*(quasi_identifiers or ()), *(sensitive or ()), *(one for one in (person, weight) if one is not None)]
    return _with_said(table, roles, named, identifiers, other)


def _with_said(
    table: Table, roles: Roles, named: Sequence[str], identifiers: Sequence[str], other: Sequence[str]
) -> Roles:
    """The roles with identifiers and columns without a role as said; a column has one role."""
    to_go = table.require(identifiers, "identifiers") if identifiers else []
    free = table.require(other, "other columns") if other else []
    said = [*named, *to_go, *free]
    twice = next((name for name in said if said.count(name) > 1 and name in {*to_go, *free}), None)
    if twice is not None:
        raise InputError(f"the column {twice!r} is given two roles; name it once")
    taken = {*roles.sensitive, *named, roles.person, roles.weight, *free}
    roles = replace(
        roles,
        quasi_identifiers=tuple(name for name in roles.quasi_identifiers if name not in {*to_go, *free}),
        sensitive=tuple(name for name in roles.sensitive if name not in {*to_go, *free}),
        identifiers=tuple(dict.fromkeys([*(name for name in roles.identifiers if name not in taken), *to_go])),
        person=None if roles.person in {*to_go, *free} else roles.person,
        weight=None if roles.weight in {*to_go, *free} else roles.weight,
        said=tuple(said),
    )
    if not roles.quasi_identifiers:
        raise InputError("no quasi-identifier is left, so there is nothing to assess; name them (--qi)")
    return roles
