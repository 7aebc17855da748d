"""The gate: does a table keep the rules it must keep before it goes out?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree

from incrowd._support.progress import Progress, silent
from incrowd.assessment import Question, Verdict, judge_release
from incrowd.errors import InputError
from incrowd.measures import Diversity, Measurement, measure
from incrowd.recipients import judge, read_limit
from incrowd.results import Result
from incrowd.tables import Table, read_table, suggest_roles
from incrowd.wording import number

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


class _Kind(NamedTuple):
    """What a rule looks at: how its number is found, in words, and what limits make sense."""

    found: Any
    words: str
    at_least: bool
    lowest: float
    highest: float | None
    of_column: bool


def _fact(name: str, words: str, *, at_least: bool, lowest: float, highest: float | None = None) -> _Kind:
    return _Kind(lambda facts: getattr(facts, name), words, at_least, lowest, highest, False)


def _secret(name: str, words: str, *, at_least: bool, lowest: float, highest: float | None = None) -> _Kind:
    return _Kind(lambda column: getattr(column, name), words, at_least, lowest, highest, True)


RULES: Mapping[str, _Kind] = {
    "min_k": _fact("k", "people in the smallest class", at_least=True, lowest=1),
    "max_risk": _fact("correctness", "average chance of being named", at_least=False, lowest=0, highest=1),
    "max_uniqueness": _fact("uniqueness", "share of people nobody looks like", at_least=False, lowest=0, highest=1),
    "max_identifiers": _Kind(None, "columns that name people or records", False, 0, None, False),
    "min_l": _secret("distinct", "fewest different values in a class", at_least=True, lowest=1),
    "min_entropy_l": _secret("entropy_l", "fewest values in a class, rare ones counting less", at_least=True, lowest=1),
    "max_t": _secret("t", "farthest a class is from the table", at_least=False, lowest=0, highest=1),
    "max_alpha": _secret("alpha", "largest share of one value in a class", at_least=False, lowest=0, highest=1),
    "max_beta": _secret("beta", "largest relative gain in a value's share", at_least=False, lowest=0),
    "max_delta": _secret("delta", "largest |ln| of a value's share over the table's", at_least=False, lowest=0),
    "max_given_away": _secret(
        "given_away", "share of records whose value is certain", at_least=False, lowest=0, highest=1
    ),
}
"""Every rule by name; those of sensitive columns are checked for each of them."""


@dataclass(frozen=True, slots=True)
class Rule(Result):
    """One rule and how the table stands to it; `column` is the sensitive column it is about."""

    _derived: ClassVar[tuple[str, ...]] = ("passed", "sentence")

    name: str
    column: str | None
    limit: float
    found: float

    @property
    def passed(self) -> bool:
        """Whether the table keeps it."""
        if self.name == "max_risk" and self.limit:
            return judge(self.found, read_limit(self.limit, "highest average risk")) == "within"
        return self.found >= self.limit if RULES[self.name].at_least else self.found <= self.limit

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        kind = RULES[self.name]
        about = f" ({self.column})" if self.column is not None else ""
        bound = "at least" if kind.at_least else "at most"
        return f"{kind.words}{about}: {number(self.found)} (rule: {bound} {number(self.limit)})"


@dataclass(frozen=True, slots=True)
class Check(Result):
    """A table against its rules; `notes` are what the rules do not look at, `verdict` is that of `assess`."""

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
        """Whether every rule is kept and, where a verdict was asked for, it is a yes."""
        return all(rule.passed for rule in self.rules) and (self.verdict is None or self.verdict.decision == "within")

    @property
    def broken(self) -> tuple[Rule, ...]:
        """The rules that are not kept."""
        return tuple(rule for rule in self.rules if not rule.passed)

    def to_junit(self) -> str:
        """The result as JUnit XML, which CI servers show: a test case for each rule."""
        suite = ElementTree.Element(
            "testsuite",
            name=_xml_text(f"incrowd check {self.table}"),
            tests=str(len(self.rules) + (self.verdict is not None)),
            failures=str(len(self.broken) + (self.verdict is not None and self.verdict.decision != "within")),
            errors="0",
            skipped="0",
        )
        for rule in self.rules:
            name = rule.name if rule.column is None else f"{rule.name} of {rule.column}"
            case = ElementTree.SubElement(suite, "testcase", classname="incrowd.gate", name=_xml_text(name))
            if not rule.passed:
                failure = ElementTree.SubElement(case, "failure", message=_xml_text(rule.sentence))
                failure.text = _xml_text(rule.sentence)
        if self.verdict is not None:
            case = ElementTree.SubElement(suite, "testcase", classname="incrowd.gate", name="verdict")
            if self.verdict.decision != "within":
                failure = ElementTree.SubElement(case, "failure", message=_xml_text(self.verdict.recommendation))
                failure.text = _xml_text("\n".join([self.verdict.sentence, *self.verdict.exposures]))
        if self.notes:
            ElementTree.SubElement(suite, "system-out").text = _xml_text("\n".join(self.notes))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def check(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    min_k: float | None = None,
    max_risk: float | None = None,
    max_uniqueness: float | None = None,
    max_identifiers: float | None = None,
    min_l: float | None = None,
    min_entropy_l: float | None = None,
    max_t: float | None = None,
    max_alpha: float | None = None,
    max_beta: float | None = None,
    max_delta: float | None = None,
    max_given_away: float | None = None,
    question: Question | None = None,
    progress: Progress = silent,
) -> Check:
    """Hold a table against limits. One at least must be set, or a question; `RULES` has them all.

    Columns that name people, and others that were overlooked, are said in `notes`.

    Args:
        data: whatever `read_table` reads.
        quasi_identifiers: columns that others may know about a person.
        sensitive: the columns that `min_l` and all limits below it are about.
        person: the column that says whose record it is.
        min_k: fewest people in a class; the highest risk is 1 ÷ k, so this bounds it.
        max_risk: highest average chance of being named, as in `Measurement.correctness`.
        max_uniqueness: largest share of people nobody looks like.
        max_identifiers: most columns that look like names or numbers of people.
        min_l: fewest different values in a class.
        min_entropy_l: fewest values in a class by entropy, rare ones counting less.
        max_t: farthest a class may be from the table, 0 to 1.
        max_alpha: largest share of one value in a class.
        max_beta: largest relative gain in a value's share.
        max_delta: largest |ln| of a value's share over the table's.
        max_given_away: largest share of records whose value is certain.
        question: also give the verdict of `assess` on this question; only a yes passes.
        progress: told how far the work is.

    Returns:
        The rules and how the table stands to each; `passed` if all are kept.

    Raises:
        InputError: no limit is set, one makes no sense, or one is about sensitive columns and none are named.

    >>> found = check({"age": [30, 30, 41]}, quasi_identifiers=["age"], min_k=2, max_risk=0.7)
    >>> [(rule.name, rule.passed) for rule in found.rules]
    [('min_k', False), ('max_risk', True)]
    """
    limits = checked_limits({name: limit for name, limit in locals().items() if name in RULES}, any_of=question is None)
    of_columns = [name for name in limits if RULES[name].of_column]
    if of_columns and not sensitive:
        raise InputError(f"{of_columns[0]} is about sensitive columns; name them with sensitive=", hint="sensitive")
    table = read_table(data)
    facts = measure(
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=list(sensitive) if of_columns else [],
        person=person,
        progress=progress,
    )
    overlooked = _overlooked(table, [*quasi_identifiers, *sensitive, *([person] if person else [])])
    rules = [rule for name, limit in limits.items() for rule in _rules(name, limit, facts, overlooked["identifier"])]
    return Check(
        table.source if isinstance(data, str) and table.source else table.name,
        facts.records,
        facts.people,
        facts.quasi_identifiers,
        tuple(rules),
        tuple(_notes(overlooked, person)),
        None if question is None else judge_release(table, question, progress=progress),
    )


def _overlooked(table: Table, spoken_for: Sequence[str]) -> dict[str, list[str]]:
    """The other columns that look like something, by role."""
    found: dict[str, list[str]] = {"identifier": [], "quasi-identifier": [], "person": []}
    others = [name for name in table.columns if name not in spoken_for]
    if others:
        for one in suggest_roles(table, others):
            found.setdefault(one.role, []).append(one.column)
    return found


def _notes(overlooked: Mapping[str, Sequence[str]], person: str | None) -> Iterator[str]:
    """What no rule looks at and somebody should."""
    if overlooked["identifier"]:
        yield f"these columns look like names or numbers of people: {', '.join(overlooked['identifier'])}; remove them"
    if overlooked["person"] and person is None:
        yield (
            f"{overlooked['person'][0]} looks like whose record it is, and records were counted as people; name it "
            "as the person column"
        )
    if overlooked["quasi-identifier"]:
        yield (
            "these columns look like something others may know, and were not counted: "
            f"{', '.join(overlooked['quasi-identifier'])}; remove them, or name them too"
        )


def checked_limits(limits: Mapping[str, float | None], *, any_of: bool = True) -> dict[str, float]:
    """The limits that are set.

    Args:
        limits: limits by the names of their rules; None is not set.
        any_of: whether one at least must be set.

    Raises:
        InputError: a rule is not known, a limit makes no sense, or none is set.
    """
    asked: dict[str, float] = {}
    for name, limit in limits.items():
        if name not in RULES:
            raise InputError(f"there is no rule {name!r}; there are: {', '.join(RULES)}")
        if limit is None:
            continue
        kind = RULES[name]
        fits = isinstance(limit, int | float) and not isinstance(limit, bool) and kind.lowest <= limit < math.inf
        if not fits or (kind.highest is not None and limit > kind.highest):
            bounds = f"{kind.lowest:g} or more" if kind.highest is None else f"from {kind.lowest:g} to {kind.highest:g}"
            raise InputError(f"{name} must be a number {bounds}; {limit!r} was given")
        asked[name] = limit
    if any_of and not asked:
        raise InputError(f"no rule is set, so there is nothing to check; set one of {', '.join(RULES)}")
    return asked


def _rules(name: str, limit: float, facts: Measurement, identifiers: Sequence[str]) -> list[Rule]:
    kind = RULES[name]
    if name == "max_identifiers":
        return [Rule(name, None, limit, len(identifiers))]
    if not kind.of_column:
        return [Rule(name, None, limit, kind.found(facts))]
    columns: Sequence[Diversity] = facts.sensitive
    return [Rule(name, column.column, limit, kind.found(column)) for column in columns]


def junit_error(table: str, message: str) -> str:
    """JUnit XML for a table that could not be checked at all."""
    suite = ElementTree.Element(
        "testsuite", name=_xml_text(f"incrowd check {table}"), tests="1", failures="0", errors="1", skipped="0"
    )
    case = ElementTree.SubElement(suite, "testcase", classname="incrowd.gate", name="check")
    ElementTree.SubElement(case, "error", message=_xml_text(message)).text = _xml_text(message)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _xml_text(text: str) -> str:
    """Text without the control characters and lone surrogates that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def assert_anonymous(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    k: int | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    **limits: float | None,
) -> Check:
    """Fail unless everybody looks like at least k − 1 others and every other limit is kept.

    Args:
        data: whatever `read_table` reads.
        quasi_identifiers: columns that others may know about a person.
        k: fewest people in a class.
        sensitive: columns that people keep to themselves.
        person: the column that says whose record it is.
        limits: further limits of `check`: `max_risk`, `max_uniqueness`, `min_l`, `max_t` and so on.

    Returns:
        The rules and how the table stands to each.

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
    rules: dict[str, Any] = checked_limits({"min_k": k, **limits})
    found = check(data, quasi_identifiers=quasi_identifiers, sensitive=sensitive, person=person, **rules)
    if not found.passed:
        raise AssertionError(
            f"{found.table} is not anonymous enough: " + "; ".join(rule.sentence for rule in found.broken)
        )
    return found
