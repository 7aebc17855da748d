"""The gate: does a table keep the rules it must keep before it goes out?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree import ElementTree

from incrowd._support.progress import Progress, silent
from incrowd.errors import InputError
from incrowd.measures import Diversity, Measurement, measure
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

    name: str
    column: str | None
    limit: float
    found: float

    @property
    def passed(self) -> bool:
        """Whether the table keeps it."""
        return self.found >= self.limit if RULES[self.name].at_least else self.found <= self.limit

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        kind = RULES[self.name]
        about = f" ({self.column})" if self.column is not None else ""
        bound = "at least" if kind.at_least else "at most"
        return f"{kind.words}{about}: {number(self.found)} (rule: {bound} {number(self.limit)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "passed": self.passed,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Check(Result):
    """A table against its rules; `notes` are what the rules do not look at."""

    table: str
    records: int
    people: int
    quasi_identifiers: tuple[str, ...]
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every rule is kept."""
        return all(rule.passed for rule in self.rules)

    @property
    def broken(self) -> tuple[Rule, ...]:
        """The rules that are not kept."""
        return tuple(rule for rule in self.rules if not rule.passed)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "table": self.table,
            "records": self.records,
            "people": self.people,
            "quasi_identifiers": list(self.quasi_identifiers),
            "passed": self.passed,
            "rules": [rule.to_dict() for rule in self.rules],
            "notes": list(self.notes),
        }

    def to_junit(self) -> str:
        """The result as JUnit XML, which CI servers show: a test case for each rule."""
        suite = ElementTree.Element(
            "testsuite",
            name=_xml_text(f"incrowd check {self.table}"),
            tests=str(len(self.rules)),
            failures=str(len(self.broken)),
            errors="0",
            skipped="0",
        )
        for rule in self.rules:
            name = rule.name if rule.column is None else f"{rule.name} of {rule.column}"
            case = ElementTree.SubElement(suite, "testcase", classname="incrowd.gate", name=_xml_text(name))
            if not rule.passed:
                failure = ElementTree.SubElement(case, "failure", message=_xml_text(rule.sentence))
                failure.text = _xml_text(rule.sentence)
        if self.notes:
            ElementTree.SubElement(suite, "system-out").text = _xml_text("\n".join(self.notes))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def check(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    progress: Progress = silent,
    **limits: float | None,
) -> Check:
    """Hold a table against limits: `min_k`, `max_risk`, `max_uniqueness`; for sensitive columns `min_l`, `max_t` ….

    `RULES` has them all. Columns that name people, and others that were overlooked, are said in `notes`;
    `max_identifiers` makes a rule of the first. The risk is the average over people, the same as
    `Measurement.correctness`; the highest risk is 1 ÷ k, so `min_k` bounds it.

    >>> found = check({"age": [30, 30, 41]}, quasi_identifiers=["age"], min_k=2, max_risk=0.7)
    >>> [(rule.name, rule.passed) for rule in found.rules]
    [('min_k', False), ('max_risk', True)]
    """
    asked = checked_limits(limits)
    of_columns = [name for name in asked if RULES[name].of_column]
    if of_columns and not sensitive:
        raise InputError(f"{of_columns[0]} is about sensitive columns; name them with sensitive= (--sensitive)")
    wanted = list(sensitive) if of_columns else []
    table = read_table(data)
    found = measure(table, quasi_identifiers=quasi_identifiers, sensitive=wanted, person=person, progress=progress)
    shown = table.source if isinstance(data, str) and table.source else table.name
    overlooked = _overlooked(table, [*quasi_identifiers, *sensitive, *([person] if person else [])])
    rules = [
        rule for rule_name, limit in asked.items() for rule in _rules(rule_name, limit, found, overlooked["identifier"])
    ]
    notes = tuple(_notes(overlooked, person))
    return Check(shown, found.records, found.people, found.quasi_identifiers, tuple(rules), notes)


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


def checked_limits(limits: Mapping[str, float | None]) -> dict[str, float]:
    """The limits that are set, if every one is known and makes sense; at least one must be."""
    asked: dict[str, float] = {}
    for name, limit in limits.items():
        if name not in RULES:
            raise InputError(f"there is no rule {name!r}; there are: {', '.join(RULES)}")
        if limit is None:
            continue
        kind = RULES[name]
        fits = isinstance(limit, int | float) and not isinstance(limit, bool) and limit >= kind.lowest
        if not fits or (kind.highest is not None and limit > kind.highest):
            bounds = f"{kind.lowest:g} or more" if kind.highest is None else f"from {kind.lowest:g} to {kind.highest:g}"
            raise InputError(f"{name} must be a number {bounds}; {limit!r} was given")
        asked[name] = limit
    if not asked:
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
    **limits: Any,
) -> Check:
    """Fail unless everybody looks like at least k − 1 others and every other limit is kept.

    `limits` are those of `check`: `max_risk`, `max_uniqueness`, `min_l`, `max_t` and so on.

    >>> assert_anonymous({"age": [30, 30, 41, 41]}, quasi_identifiers=["age"], k=2).passed
    True
    >>> assert_anonymous({"age": [30, 30, 41]}, quasi_identifiers=["age"], k=2)
    Traceback (most recent call last):
    AssertionError: the table is not anonymous enough: people in the smallest class: 1 (rule: at least 2)
    """
    __tracebackhide__ = True
    found = check(data, quasi_identifiers=quasi_identifiers, sensitive=sensitive, person=person, min_k=k, **limits)
    if not found.passed:
        raise AssertionError(
            f"{found.table} is not anonymous enough: " + "; ".join(rule.sentence for rule in found.broken)
        )
    return found
