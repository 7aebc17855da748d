"""The release gate: rules that a table must keep before it is released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd._support.junit import JunitCase, junit_xml
from incrowd._support.progress import Progress, silent
from incrowd.assessment import Question, Roles, Verdict, judge_release
from incrowd.assessment.roles import settle_roles
from incrowd.attacks import attack_release, kinds_for
from incrowd.errors import InputError
from incrowd.gate_rules import RULES, Rule, check_limits
from incrowd.measures import DisclosedColumn, Measurement, count_disclosed_secrets, measure
from incrowd.results import Result
from incrowd.tables import Table, TableLike, read_table

_RULES_ON_L = {"min_l", "min_entropy_l"}
_GIVEN_AWAY = "max_given_away"
_SINGLE = (str, float, int, type(None))  # types of a role that is not a list of names

RULES_ONLY = (
    "Only these rules were checked. This is no verdict on whether the table may be released: that depends on every "
    "column and on the recipient."
)
"""The note of a check without a verdict."""


@dataclass(frozen=True, slots=True)
class Check(Result):
    """The results of all rules for a table.

    `notes` are findings that no rule covers; `verdict` is the verdict of `assess`. Without a verdict, nobody has judged
    whether the table may be released, even if it keeps all rules.
    """

    _derived: ClassVar[tuple[str, ...]] = ("passed",)

    table: str
    records: int
    people: int
    quasi_identifiers: tuple[str, ...]
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None

    @property
    def passed(self) -> bool:
        """True if every rule is kept and the verdict, if one was requested, is a yes."""
        return all(rule.passed for rule in self.rules) and (self.verdict is None or self.verdict.decision == "within")

    @property
    def broken(self) -> tuple[Rule, ...]:
        """The rules that are not kept."""
        return tuple(rule for rule in self.rules if not rule.passed)

    def to_junit(self) -> str:
        """The result as JUnit XML, which CI servers show: a test case for each rule."""
        cases = [
            JunitCase(
                rule.name if rule.column is None else f"{rule.name} of {rule.column}",
                None if rule.passed else rule.sentence,
            )
            for rule in self.rules
        ]
        notes = [*self.notes, *([RULES_ONLY] if self.verdict is None else map(str, self.verdict.conditions))]
        if (verdict := self.verdict) is not None:
            failure = None if verdict.decision == "within" else verdict.recommendation
            cases.append(JunitCase("verdict", failure, "\n".join(verdict.why)))
        return junit_xml(f"incrowd check {self.table}", cases, "incrowd.gate", "\n".join(notes))


def check(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    identifiers: Sequence[str] = (),
    drop: Sequence[str] = (),
    other: Sequence[str] = (),
    secrets: Sequence[str] = (),
    certain: float | None = None,
    min_k: float | None = None,
    max_risk: float | None = None,
    max_uniqueness: float | None = None,
    max_identifiers: float | None = None,
    max_attack: float | None = None,
    min_l: float | None = None,
    min_entropy_l: float | None = None,
    max_t: float | None = None,
    max_alpha: float | None = None,
    max_beta: float | None = None,
    max_delta: float | None = None,
    max_given_away: float | None = None,
    original: TableLike | None = None,
    holdout: TableLike | None = None,
    kept_rows: Sequence[int] | str | None = None,
    question: Question | None = None,
    progress: Progress = silent,
) -> Check:
    """Compare a table with limits. Set at least one limit, or a question; `RULES` lists all of them.

    `notes` lists columns that name people, and other columns that may have been overlooked.

    Args:
        data: whatever `read_table` reads.
        quasi_identifiers: columns that others may know about a person.
        sensitive: the columns that `min_l` and all limits below it are about.
        person: the column that identifies the person of each record.
        identifiers: direct identifiers, in addition to those that are recognised.
        drop: columns to remove before the release; a note lists those that are still present.
        other: columns that nobody outside can know and that harm nobody, whatever they look like: no rule and no note
            is about them.
        secrets: for `max_given_away` and the verdict, the values that are secret, such as "illness=HIV,AIDS".
        certain: for both, the share of a class with one value from which that secret counts as known. None: 0.95.
        min_k: fewest people in a class; the highest risk is 1 ÷ k, so this bounds it.
        max_risk: highest average chance of being named, as in `Measurement.correctness`.
        max_uniqueness: largest share of unique people.
        max_identifiers: most columns that name people or records, or look so and were given no role.
        max_attack: highest risk of an attack on the table, by the upper end of its interval; an attack that could not
            be run counts as one that succeeds.
        min_l: smallest number of different values in a class.
        min_entropy_l: smallest effective number of values in a class, by entropy; rare values count less.
        max_t: largest distance of a class from the table, 0 to 1.
        max_alpha: largest share of one value in a class.
        max_beta: largest relative gain in a value's share.
        max_delta: largest |ln| of a value's share over the table's.
        max_given_away: largest share of records whose secret classes give away, as the verdict of `assess` counts it:
            a missing value is no secret, and one that most people have is no news unless `secrets` names it.
        original: the table that this one was made from: for `max_attack`, and for the verdict, which finds with it the
            kept columns that give back coarsened ones.
        holdout: for `max_attack`, people of the same population who are not in the original.
        kept_rows: for `max_attack`, the original's row that each row was made from, or a file of these, where some
            were dropped or the order cannot be told from the tables; see `attack`.
        question: also give the verdict of `assess` on this question; only a yes passes. Rules and verdict are about
            the same roles: those of the question, and those given here where it has none.
        progress: callback that receives the current step and the share done.

    Returns:
        The result of each rule; `passed` is true if all are kept.

    Raises:
        InputError: no limit is set, one makes no sense, or one is about sensitive columns and none are named; or a
            role differs from the question's.

    >>> found = check({"age": [30, 30, 41]}, quasi_identifiers=["age"], min_k=2, max_risk=0.7)
    >>> [(rule.name, rule.passed) for rule in found.rules]
    [('min_k', False), ('max_risk', True)]
    """
    limits = check_limits({name: limit for name, limit in locals().items() if name in RULES}, any_of=question is None)
    asked = _with_roles(
        question,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        person=person,
        identifiers=identifiers,
        drop=drop,
        other=other,
        secrets=secrets,
        certain=certain,
    )
    _require_sensitive(limits, asked)
    table = read_table(data)
    counts = _Counts(table, asked, settle_roles(table, asked, original), _measure(table, asked, limits, progress))
    if "max_attack" in limits:
        counts.attack(original, holdout, kept_rows)
    if _GIVEN_AWAY in limits:
        counts.count_given_away(progress)
    return Check(
        table.source if isinstance(data, str) and table.source else table.name,
        counts.facts.records,
        counts.facts.people,
        counts.facts.quasi_identifiers,
        tuple(rule for name, limit in limits.items() for rule in counts.hold_against(name, limit)),
        tuple(counts.notes(on_l=not _RULES_ON_L.isdisjoint(limits))),
        None if question is None else judge_release(table, asked, original=original, progress=progress),
    )


def _with_roles(question: Question | None, **given: Sequence[str] | str | float | None) -> Question:
    """The question with the given roles and secrets added, so that rules and verdict use the same ones."""
    named = {name: value if isinstance(value, _SINGLE) else tuple(value) for name, value in given.items()}
    for name, value in named.items():
        stated = getattr(question, name, None)
        if value and stated and {*_listed(stated)} != {*_listed(value)}:
            raise InputError(f"{name} is given here and in the question, and they differ; name it once", hint=name)
    return (question or Question()).with_given(**named)


def _listed(value: Sequence[str] | str | float) -> Sequence[str | float]:
    return [value] if isinstance(value, _SINGLE) else value


def _require_sensitive(limits: Mapping[str, float], asked: Question) -> None:
    """Refuse rules about sensitive columns if none is named."""
    of_columns = [name for name in limits if RULES[name].of_column]
    if of_columns and not asked.sensitive:
        raise InputError(f"{of_columns[0]} is about sensitive columns; name them with sensitive=", hint="sensitive")


def _measure(table: Table, asked: Question, limits: Mapping[str, float], progress: Progress) -> Measurement:
    """The facts about the classes; those of sensitive columns only if a rule is about them."""
    of_columns = {name for name in limits if RULES[name].of_column} - {_GIVEN_AWAY}
    return measure(
        table,
        quasi_identifiers=asked.quasi_identifiers or (),
        sensitive=list(asked.sensitive or ()) if of_columns else [],
        person=asked.person,
        progress=progress,
    )


@dataclass(slots=True)
class _Counts:
    """What rules are held against: facts about the classes, and what is counted for some rules alone.

    `highest_attack` is the upper end of the highest risk of an attack. `given_away` are the sensitive columns with the
    records whose secret is known and news, as the verdict counts them.
    """

    table: Table
    asked: Question
    roles: Roles
    facts: Measurement
    highest_attack: float = 1.0
    attack_notes: Sequence[str] = ()
    given_away: Sequence[DisclosedColumn] = ()

    @property
    def naming(self) -> list[str]:
        """The columns that name people or their records, or look so and were given no role."""
        return list(dict.fromkeys([*self.roles.identifiers, *self.roles.identifiers_kept]))

    def attack(self, original: Any, holdout: Any, kept_rows: Sequence[int] | str | None) -> None:
        """Attack the table; attacks that could not be run count as attacks that succeed."""
        if original is None:
            raise InputError("max_attack compares the table with the one it was made from; give that", hint="original")
        known, sensitive = self.asked.quasi_identifiers or (), self.asked.sensitive or ()
        kinds = kinds_for(sensitive)
        attacks = attack_release(
            original, self.table, known=known, secret=sensitive, holdout=holdout, kinds=kinds, kept_rows=kept_rows
        )
        missing = attacks.reason_against(1.0)
        reasons = [f"{name} was not run: {reason}" for name, reason in attacks.not_run.items()]
        notes = [note for attack in attacks.attacks for note in attack.notes]
        self.highest_attack = 1.0 if missing or attacks.worst is None else attacks.worst.risk.high
        self.attack_notes = list(dict.fromkeys([*([missing] if missing else []), *reasons, *notes]))

    def count_given_away(self, progress: Progress) -> None:
        """Count the records of each sensitive column whose secret is known and news."""
        self.given_away = count_disclosed_secrets(
            self.table,
            quasi_identifiers=self.asked.quasi_identifiers or (),
            sensitive=self.asked.sensitive or (),
            secrets=self.asked.named_secrets,
            certain_from=self.asked.certain_from,
            person=self.asked.person,
            progress=progress,
        ).columns

    def hold_against(self, name: str, limit: float) -> list[Rule]:
        """The results of one rule: one, or one for each sensitive column."""
        kind = RULES[name]
        if kind.of_column:
            columns: Sequence[Any] = self.given_away if name == _GIVEN_AWAY else self.facts.sensitive
            return [Rule(name, column.column, limit, getattr(column, kind.field)) for column in columns]
        if name == "max_identifiers":
            return [Rule(name, None, limit, len(self.naming))]
        return [
            Rule(name, None, limit, self.highest_attack if name == "max_attack" else getattr(self.facts, kind.field))
        ]

    def notes(self, *, on_l: bool) -> Iterator[str]:
        """Findings that no rule covers, with those on l if a rule is about it."""
        yield from _notes(self.roles, self.naming)
        if on_l:
            yield from _notes_on_l(self.facts)
        yield from self.attack_notes


def _notes(roles: Roles, naming: Sequence[str]) -> Iterator[str]:
    """Findings that no rule covers; columns with a given role are left out."""
    if naming:
        yield f"these columns name people or their records, or look like it: {', '.join(naming)}; remove them"
    if roles.dropped:
        yield f"these columns are to be left out and are still there: {', '.join(roles.dropped)}"
    if roles.person is not None and roles.person not in (*roles.pseudonyms, *naming):
        yield (
            f"it is assumed that no other file has the numbers in {roles.person}; protect replaces them by random ones"
        )
    if roles.note_on_key is not None:
        yield roles.note_on_key
    if roles.unused_person is not None:
        yield (
            f"{roles.unused_person} looks like a person column, and records were counted as people; name it as the "
            "person column"
        )
    if roles.overlooked_quasi_identifiers:
        yield (
            "these columns look like something others may know, and were not counted: "
            f"{', '.join(roles.overlooked_quasi_identifiers)}; remove them, or name them too"
        )


def _notes_on_l(facts: Measurement) -> Iterator[str]:
    """Sensitive columns whose l is lower without missing values."""
    for one in facts.sensitive:
        if one.filled_distinct < one.distinct:
            yield (
                f"a missing value of {one.column} counts as one of the different values (l): without it the fewest in "
                f"a class are {one.filled_distinct}, not {one.distinct}"
            )


def junit_error(table: str, message: str) -> str:
    """JUnit XML for a table that could not be checked at all."""
    return junit_xml(f"incrowd check {table}", [JunitCase("check", message, kind="error")], "incrowd.gate")


def assert_anonymous(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    k: int | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    **limits: float | None,
) -> Check:
    """Raise an error unless everybody looks like at least k − 1 others and every other limit is kept.

    Args:
        data: whatever `read_table` reads.
        quasi_identifiers: columns that others may know about a person.
        k: fewest people in a class.
        sensitive: columns that people keep to themselves.
        person: the column that identifies the person of each record.
        limits: further limits of `check`, as `RULES` lists them: `max_risk`, `min_l`, `max_t` and so on.

    Returns:
        The result of each rule.

    Raises:
        AssertionError: a rule is not kept.
        InputError: no limit is set, or one makes no sense.

    >>> assert_anonymous({"age": [30, 30, 41, 41]}, quasi_identifiers=["age"], k=2).passed
    True
    >>> assert_anonymous({"age": [30, 30, 41]}, quasi_identifiers=["age"], k=2)
    Traceback (most recent call last):
    AssertionError: the table is not anonymous enough: people in the smallest class: 1 (rule: at least 2)
    """
    __tracebackhide__ = True
    rules: dict[str, Any] = check_limits({"min_k": k, **limits})
    result = check(data, quasi_identifiers=quasi_identifiers, sensitive=sensitive, person=person, **rules)
    if not result.passed:
        raise AssertionError(
            f"{result.table} is not anonymous enough: " + "; ".join(rule.sentence for rule in result.broken)
        )
    return result
