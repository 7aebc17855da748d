"""Roles of the columns in one assessment: as the caller states, or as names and values suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.errors import InputError
from incrowd.populations.design import read_weights, refuse_other_columns
from incrowd.protection.marks import pseudonyms_in
from incrowd.results import Result
from incrowd.tables import SuggestedRole, Table, TableLike, find_times, read_table, suggest_roles
from incrowd.wording import listed

if TYPE_CHECKING:
    from incrowd.assessment.question import Question

BOTH = "both"  # the role of a quasi-identifier that is sensitive as well
_TWO_ANSWERS = {"quasi-identifier", "sensitive"}
_WITH_ARTICLE = {
    "quasi-identifier": "a quasi-identifier",
    "sensitive": "a sensitive column",
    BOTH: "a quasi-identifier that is sensitive as well",
    "identifier": "an identifier",
    "person": "a person column",
    "weight": "a weight",
}
_STATED = {  # the fields of a question that give columns a role, and how messages call them
    "quasi_identifiers": ("quasi-identifier", "quasi-identifiers"),
    "sensitive": ("sensitive", "sensitive columns"),
    "person": ("person", "person column"),
    "weights": ("weight", "weight column"),
    "identifiers": ("identifier", "identifiers"),
    "drop": ("drop", "columns to drop"),
    "other": ("other", "other columns"),
}


@dataclass(frozen=True, slots=True)
class Roles(Result):
    """The columns by role, and the suggestions. A column may be a quasi-identifier and sensitive.

    - `dropped`: columns to leave out of the release.
    - `suggested`: the suggested role of every column; empty if no roles were suggested.
    - `confirmed`: False if the roles are suggestions that nobody confirmed.
    - `stated`: columns whose role the caller named.
    - `pseudonyms`: columns of random numbers that replace those of people, as `protect` draws them.
    - `keyed`: pseudonyms that are the same in every table under one key.
    - `known_anyway`: columns that were declared unknown to others or sensitive although others know them: days of
      birth, exact places, and numbers of a person's records (waves, visits).
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"suggested", "stated", "pseudonyms", "keyed", "known_anyway"})
    _derived: ClassVar[tuple[str, ...]] = ("columns",)

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    dropped: tuple[str, ...] = ()
    suggested: tuple[SuggestedRole, ...] = ()
    confirmed: bool = True
    stated: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    known_anyway: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()

    @property
    def note_on_key(self) -> str | None:
        """Consequence of pseudonyms from a key for every verdict; None if there are none."""
        if not self.keyed:
            return None
        return (
            f"{listed(self.keyed)} {'holds' if len(self.keyed) == 1 else 'hold'} pseudonyms of a key: the table joins "
            "with every table under the same key, and an attacker who has several knows more than each tells; judge "
            "them together"
        )

    @property
    def overlooked_quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that look like quasi-identifiers and that nobody has said anything about."""
        return self._overlooked("quasi-identifier")

    @property
    def unused_person(self) -> str | None:
        """A column that looks like a person column, if none is used and nobody has said anything about it."""
        return next(iter(self._overlooked("person")), None) if self.person is None else None

    @property
    def counts_households(self) -> bool:
        """True if the person column numbers households, so that each household counts once."""
        return any(one.column == self.person and one.topic == "household number" for one in self.suggested)

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

        Less clear cases, such as amounts that all differ, are left to the person who judged them. Pseudonyms that
        `protect` drew are not included.
        """
        named = (one.column for one in self.suggested if one.role == "identifier" and one.confidence == "high")
        roles = ("sensitive", "other", "weight", "person")
        kept = {name for name in self.stated if self.role(name) in roles and name not in self.pseudonyms}
        return tuple(name for name in named if name in kept)

    def role_in_words(self, column: str) -> str:
        """The role of a column with its article."""
        return _WITH_ARTICLE.get(self.role(column), "a column that nobody outside knows")

    @property
    def unused_weight(self) -> str | None:
        """A column that looks like a sampling weight, if none is used and nobody has said anything about it."""
        return next(iter(self._overlooked("weight")), None) if self.weight is None else None

    @property
    def generalised_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that hold ranges or sets, as in a table that was protected."""
        names = (one.column for one in self.suggested if one.generalised)
        return tuple(name for name in names if name in self.quasi_identifiers)

    def reason(self, column: str) -> str:
        """Why a column has its role."""
        found = {one.column: one for one in self.suggested}.get(column)
        role = self.role(column)
        if found is None or (role in (found.role, BOTH) and column not in self.stated):
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
            return BOTH if column in self.sensitive else "quasi-identifier"
        if column in self.sensitive:
            return "sensitive"
        if column in self.identifiers:
            return "identifier"
        if column in self.dropped:
            return "drop"
        return "person" if column == self.person else "weight" if column == self.weight else "other"

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Every column with its role and the reason for it."""
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


def propose_roles(data: TableLike) -> Roles:
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
    """The suggestions by role; the person column is the first with some confidence, the weight is the main one."""
    weights = (one.column for one in suggested if one.role == "weight" and not one.secondary)
    return Roles(
        tuple(one.column for one in suggested if one.known),
        tuple(one.column for one in suggested if one.sensitive),
        tuple(one.column for one in suggested if one.role == "identifier"),
        next((one.column for one in suggested if one.guess == "person"), None),
        next(weights, None),
        suggested=tuple(suggested),
        confirmed=False,
    )


def settle_roles(table: Table, question: Question, original: Any = None) -> Roles:
    """The roles that the question names; if it names no quasi-identifiers, the suggested roles, not confirmed.

    - `other` columns are neither known nor sensitive, whatever they look like.
    - Where nothing is known and nothing looks so, every column that nobody judged counts as known.
    - Days of birth, exact places and numbers of a person's records cannot be `other` or sensitive, because others know
      them; they count as not judged (`known_anyway`).
    - Columns that clearly name people are identifiers, never quasi-identifiers: a set of names would name all of them.
    - Weights are used only if they are named: their sum would be the population, and a wrong guess would make the risk
      look small.
    - `original` shows which columns hold pseudonyms.

    Raises:
        InputError: a column does not exist or has two roles, no quasi-identifier is left, or a weight is none.
    """
    stated = _stated_roles(table, question)
    proposed = from_suggestions(suggest_roles(table))

    def named(role: str, guesses: Sequence[str | None] = ()) -> tuple[str, ...]:
        guessed = (name for name in guesses if name is not None and name not in stated)
        roles_with_it = {role, BOTH} if role in _TWO_ANSWERS else {role}
        return (*guessed, *(name for name in stated if stated[name] in roles_with_it))

    pseudonyms, keyed = pseudonyms_in(table, original)
    person = None if proposed.person == question.cluster else proposed.person  # each record of a cluster is a person
    guess = question.quasi_identifiers is None
    guessed_known = proposed.quasi_identifiers or _without_guess(proposed, table)
    known = named("quasi-identifier", guessed_known if guess else ())
    naming = [one.column for one in proposed.suggested if one.column in known and one.names_people]
    known = tuple(name for name in known if name not in naming)
    if not known:
        raise InputError(
            f"the cells of {', '.join(naming)} name people, so no quasi-identifier is left; name other columns"
            if naming
            else "no quasi-identifier is left, so there is nothing to assess; name them",
            hint="quasi_identifiers",
        )
    secret = named("sensitive", proposed.sensitive if guess and question.sensitive is None else ())
    roles = Roles(
        known,
        tuple(name for name in secret if name not in naming),
        (*naming, *named("identifier", [name for name in proposed.identifiers if name not in (*known, *pseudonyms)])),
        next(iter(named("person", [person] if guess and question.person is None else ())), None),
        next(iter(named("weight")), None),
        named("drop"),
        suggested=proposed.suggested,
        confirmed=not guess,
        stated=tuple(stated),
        pseudonyms=pseudonyms,
        keyed=tuple(name for name in keyed if name in table.columns),
    )
    declared_unknown = {*named("other"), *roles.sensitive} - {*known}
    known_anyway = [one.column for one in roles.suggested if one.exact and one.column in declared_unknown]
    if roles.person is not None:
        known_anyway += find_times(table, roles.person, roles.suggested, [*declared_unknown])
    if known_anyway:
        roles = replace(
            roles,
            sensitive=tuple(name for name in roles.sensitive if name not in known_anyway),
            stated=tuple(name for name in stated if name not in known_anyway),
            known_anyway=tuple(dict.fromkeys(known_anyway)),
        )
    if roles.weight is not None:
        _check_weight(table, roles.weight, roles.suggested, question.population is not None)
    return roles


def _without_guess(proposed: Roles, table: Table) -> tuple[str, ...]:
    """The columns of which nothing is suggested; lists and records are not looked into."""
    nested = {*table.nested}
    return tuple(one.column for one in proposed.suggested if not one.guess and one.column not in nested)


def _stated_roles(table: Table, question: Question) -> dict[str, str]:
    """The role of each column to which the question gives one, or `BOTH`."""
    roles: dict[str, str] = {}
    for field, (role, words) in _STATED.items():
        value = getattr(question, field)
        names = [value] if isinstance(value, str) else list(value or ())
        for name in table.require(names, words) if names else ():
            is_both = {role, roles.get(name)} == _TWO_ANSWERS
            if name in roles and not is_both:
                raise InputError(
                    f"the column {name!r} is given two roles; name it once, unless it is known to others and sensitive"
                )
            roles[name] = BOTH if is_both else role
    return roles


def _check_weight(table: Table, weight: str, suggested: Sequence[SuggestedRole], population_is_given: bool) -> None:
    """Refuse a weight that is not a positive number, or clearly something else: a wrong weight lowers every risk."""
    looks = next(one for one in suggested if one.column == weight)
    refuse_other_columns(looks, population_is_given=population_is_given)
    if table.backend.rows_are_local:
        read_weights(table, weight, population_is_given=population_is_given)
