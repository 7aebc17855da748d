"""What the columns are in one assessment: as the caller says, or as their names and values suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles

if TYPE_CHECKING:
    from incrowd.assessment.question import Question

_DIRECT = ("person name", "contact", "address", "national number", "account")  # known outside the file as well
_WITH_ARTICLE = {
    "quasi-identifier": "a quasi-identifier",
    "sensitive": "a sensitive column",
    "identifier": "an identifier",
    "person": "a person column",
    "weight": "a weight",
}


@dataclass(frozen=True, slots=True)
class Roles(Result):
    """The columns by role, and the suggestions they were taken from (none where they were not asked for).

    `stated` are the columns whose role the caller named.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"suggested", "stated"})
    _derived: ClassVar[tuple[str, ...]] = ("columns",)

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    suggested: tuple[SuggestedRole, ...] = ()
    confirmed: bool = True
    stated: tuple[str, ...] = ()

    @property
    def overlooked_quasi_identifiers(self) -> tuple[str, ...]:
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
            and one.column not in self.stated
        )

    @property
    def identifiers_kept(self) -> tuple[str, ...]:
        """Columns that clearly name people or records, by their form or name, and were given another role.

        Others that look like it, such as amounts that all differ, are left to the person who judged them.
        """
        named = (one for one in self.suggested if one.role == "identifier" and one.confidence == "high")
        kept = {name for name in self.stated if self.role(name) in ("sensitive", "other", "weight")}
        direct = {one.column for one in self.suggested if one.topic in _DIRECT and one.confidence == "high"}
        return tuple(
            one.column for one in named if one.column in kept or (one.column == self.person and one.column in direct)
        )

    def role_in_words(self, column: str) -> str:
        """The role of a column with its article."""
        return _WITH_ARTICLE.get(self.role(column), "a column that nobody outside knows")

    @property
    def unused_weight(self) -> str | None:
        """A column that looks like a sampling weight, if none is used and nobody has said anything about it."""
        return next(iter(self._overlooked("weight")), None) if self.weight is None else None

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Where nobody confirmed the roles: the columns that no number looks at."""
        free = (one.column for one in self.suggested if self.role(one.column) == "other")
        return () if self.confirmed else tuple(name for name in free if name not in self.stated)

    @property
    def generalised_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that hold ranges or sets, as in a table that was protected."""
        names = (one.column for one in self.suggested if one.generalised)
        return tuple(name for name in names if name in self.quasi_identifiers)

    def reason(self, column: str) -> str:
        """Why a column has its role."""
        found = {one.column: one for one in self.suggested}.get(column)
        role = self.role(column)
        if found is None or (found.role == role and column not in self.stated):
            return "as you said" if found is None else found.reason
        if column in self.stated:
            doubt = role == "other" or found.role in ("identifier", "person")
            if found.role != role and found.role != "other" and doubt:
                return f"as you said, though it looks like {_WITH_ARTICLE[found.role]} ({found.reason})"
            return "as you said"
        return f"not named, though it looks like {_WITH_ARTICLE[found.role]} ({found.reason})"

    def role(self, column: str) -> str:
        """The role of a column in this assessment."""
        if column in self.quasi_identifiers:
            return "quasi-identifier"
        if column in self.sensitive:
            return "sensitive"
        if column in self.identifiers:
            return "identifier"
        return "person" if column == self.person else "weight" if column == self.weight else "other"

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Every column that was looked at, with its role and why it has it."""
        return [
            {
                "column": one.column,
                "kind": one.kind,
                "distinct": one.distinct if one.distinct >= 0 else None,
                "missing": one.nulls,
                "role": self.role(one.column),
                "reason": self.reason(one.column),
            }
            for one in self.suggested
        ]


def propose_roles(data: Any) -> Roles:
    """The roles that the columns' names and values suggest; a person should look at them before they are used.

    Args:
        data: whatever `read_table` reads.

    Returns:
        The roles, marked as not confirmed.

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


def settle_roles(table: Table, question: Question) -> Roles:
    """The roles as the question names them; where it names no quasi-identifiers, as suggested and not confirmed.

    `other` columns have no role, whatever they look like. Weights are used only if they are named: their sum would be
    the population, and a wrong guess would make the risk look small.

    Raises:
        InputError: a column does not exist or has two roles, or no quasi-identifier is left.
    """
    suggested = suggest_roles(table)
    proposed = from_suggestions(suggested)
    if question.quasi_identifiers is None:
        if not proposed.quasi_identifiers:
            raise InputError(
                "no column looks like something others know about a person; name the quasi-identifiers; "
                f"the table has: {', '.join(table.columns[:30])}",
                hint="quasi_identifiers",
            )
        roles = replace(proposed, weight=None)
    else:
        names = tuple(table.require(question.quasi_identifiers, "quasi-identifiers"))
        roles = Roles(names, suggested=suggested, identifiers=tuple(n for n in proposed.identifiers if n not in names))
    if question.sensitive is not None:
        wanted = tuple(table.require(question.sensitive, "sensitive columns")) if question.sensitive else ()
        roles = replace(roles, sensitive=wanted)
    if question.person is not None:
        roles = replace(roles, person=table.require([question.person], "person column")[0])
    if question.weights is not None:
        roles = replace(roles, weight=table.require([question.weights], "weight column")[0])
    return _without_taken(table, roles, question)


def _without_taken(table: Table, roles: Roles, question: Question) -> Roles:
    """The roles with identifiers and columns without a role as named; a column has one role."""
    identifiers = table.require(question.identifiers, "identifiers") if question.identifiers else []
    free = table.require(question.other, "other columns") if question.other else []
    single = [name for name in (question.person, question.weights) if name is not None]
    named = [*(question.quasi_identifiers or ()), *(question.sensitive or ()), *single]
    stated = [*named, *identifiers, *free]
    gone = {*identifiers, *free}
    twice = next((name for name in stated if stated.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the column {twice!r} is given two roles; name it once")
    taken = {*roles.sensitive, *named, roles.person, roles.weight, *free}
    roles = replace(
        roles,
        quasi_identifiers=tuple(name for name in roles.quasi_identifiers if name not in gone),
        sensitive=tuple(name for name in roles.sensitive if name not in gone),
        identifiers=tuple(dict.fromkeys([*(name for name in roles.identifiers if name not in taken), *identifiers])),
        person=None if roles.person in gone else roles.person,
        weight=None if roles.weight in gone else roles.weight,
        stated=tuple(stated),
    )
    if not roles.quasi_identifiers:
        raise InputError(
            "no quasi-identifier is left, so there is nothing to assess; name them", hint="quasi_identifiers"
        )
    return roles
