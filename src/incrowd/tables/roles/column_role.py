"""The suggested role of one column from its name and values, with a reason and a confidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from incrowd.results import Result
from incrowd.tables.roles.column_facts import ColumnFacts, has_gaps
from incrowd.tables.roles.direct_identifiers import find_codes, find_direct_identifier, open_sets
from incrowd.tables.roles.evidence import answer
from incrowd.tables.roles.names import NameEvidence, topics, word_list, words_of
from incrowd.tables.roles.unread_values import UnreadValues, find_unread_values
from incrowd.tables.roles.values import (
    MANY,
    ValueEvidence,
    counts_up,
    differs_everywhere,
    find_births,
    find_value_evidence,
    is_exact,
    is_free_text,
    is_measured,
    is_numbered,
    numbers_people,
)
from incrowd.tables.roles.weights import WeightEvidence
from incrowd.wording import one_decimal

Role = Literal["identifier", "quasi-identifier", "sensitive", "person", "weight", "other"]
Confidence = Literal["high", "medium", "low"]
ROLES: tuple[Role, ...] = get_args(Role)
ANSWERS = ("known", "sensitive", "both", "neither", "identifier", "person", "weight", "drop")
"""The words for what a column is: the answers to both questions, or a role in which neither is asked."""

NUMBERS_OF = {"person number", "household number", "person within household", "record number"}
"""The topics of columns that number people, households or records."""
NOTHING = "nothing was found in its name or values; a person must decide"
_NAMING = {"person name", "contact", "address", "national number", "account"}  # topics of cells that tell who
_CALLED_AFTER_PEOPLE = {"area", "country", "education", "employer or institution"}  # towns, schools, firms
_SHARE_A_PLACE = 20  # records of each place or institution; of a person there are fewer
_RECORDS = 50  # records for each value of `id`, up to which it may say whose they are
_YEARS = 5  # distinct years, at least
_MONTHS_OF_LIFE = 1_440.0
_IN_HOUSEHOLD = 15  # rows for each number, up to which it may be that of a household
_ROUND = 0.5  # multiples of ten among the cells, as a share, from which whole numbers are amounts
_DECIMALS = re.compile(r"\d\.\d*[1-9]")
_ALL_DIFFER = "every value differs, or nearly, so each one names a record"


@dataclass(frozen=True, slots=True)
class SuggestedRole(Result):
    """A column, its contents, and what its name and values say of its role.

    `known`, `sensitive` and `guess` are the suggestion; `role` is what the evidence points to, however weak it is.

    Attributes:
        topic: the apparent subject ("age", "income", …); empty if nothing was found.
        also: another role that is equally defensible.
        secondary: a weight that is not proposed as the main weight: replicates, household weights, further weights.
        exact: a day of birth, or a place that few people share, which others know.
        unread: for a text column that is mostly dates or numbers, the reason why it is text.
        names_people: its cells name people, whatever its name: as a quasi-identifier it would name them in sets too.
        found_in: where its topic was found: a codebook, a word or a part of its name, a sentence, its cells.

    The role "other" with low confidence means that nothing was found: a person must decide.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"unread", "names_people", "found_in"})
    _derived: ClassVar[tuple[str, ...]] = ("known", "sensitive", "guess")

    column: str
    kind: str
    distinct: int
    nulls: int
    rows: int
    generalised: bool
    role: str
    reason: str
    confidence: Confidence = "low"
    topic: str = ""
    also: str = ""
    secondary: bool = False
    exact: bool = False
    unread: UnreadValues | None = None
    names_people: bool = False
    found_in: str = "cells"

    @property
    def known(self) -> bool | None:
        """Whether somebody outside can know it about a person; None if too little says so."""
        return self._answer("known")

    @property
    def sensitive(self) -> bool | None:
        """Whether it would harm somebody if it were learned; None if too little says so."""
        return self._answer("sensitive")

    @property
    def guess(self) -> str:
        """The suggestion in a word of `ANSWERS`, an open question counting as yes; empty if nothing is suggested."""
        if self.role in ("identifier", "person", "weight"):
            return "" if self.secondary or self.confidence == "low" else self.role
        if (self.known, self.sensitive) == (None, None):
            return ""
        if self.known is False:
            return "neither" if self.sensitive is False else "sensitive"
        return "known" if self.sensitive is False else "both"

    def _answer(self, question: str) -> bool | None:
        """The answer to one of the two questions, if evidence of this kind was right often enough."""
        if self.role not in ("quasi-identifier", "sensitive"):
            return None
        return answer(question, self.found_in, self.role, self.also)


def without_weak_evidence(one: SuggestedRole) -> SuggestedRole:
    """The suggestion, or none where evidence of its kind was right too seldom to say anything."""
    if one.role not in ("quasi-identifier", "sensitive") or one.known or one.sensitive:
        return one
    return replace(one, role="other", topic="", also="", reason=NOTHING, confidence="low")


def describe_role(
    facts: ColumnFacts,
    role: str,
    reason: str,
    confidence: str,
    topic: str = "",
    also: str = "",
    secondary: bool = False,
) -> SuggestedRole:
    """A suggestion together with the counts of the column."""
    counts = (facts.name, facts.holds, facts.distinct, facts.nulls, facts.rows, facts.generalised)
    shown = (topic, also, secondary, is_exact(facts, topic), find_unread_values(facts, topic))
    return SuggestedRole(*counts, role, reason, confidence, *shown)  # type: ignore[arg-type]


def suggest_role(facts: ColumnFacts, evidence: Sequence[NameEvidence], weight: WeightEvidence | None) -> SuggestedRole:
    """Suggest the role of one column; cells that name people outweigh the column name."""
    suggested = _suggest_indirectly(facts, evidence, weight)
    direct = find_direct_identifier(facts)
    names_people = _names_people(facts, direct, suggested)
    if suggested.role == "identifier" and suggested.confidence == "high":
        return replace(suggested, names_people=names_people)
    if direct is None and suggested.role != "identifier" and suggested.topic != "birth":
        direct = find_births(facts)
    if direct is not None:
        suggested = describe_role(facts, direct.role, direct.reason, direct.confidence, direct.topic)
    return replace(suggested, names_people=names_people)


def _names_people(facts: ColumnFacts, direct: ValueEvidence | None, by_name: SuggestedRole) -> bool:
    """True if cells name people.

    Places and institutions may be called after people: the name of the column must say so, and many records share each.
    """
    if direct is None:
        return by_name.topic == "free text" and by_name.role == "identifier" and by_name.confidence == "high"
    if direct.topic == "person name" and by_name.topic in _CALLED_AFTER_PEOPLE and by_name.role == "quasi-identifier":
        return facts.filled < _SHARE_A_PLACE * (len(open_sets(facts)) if facts.generalised else facts.distinct)
    return direct.confidence == "high" and direct.topic in _NAMING


def _suggest_indirectly(
    facts: ColumnFacts, evidence: Sequence[NameEvidence], weight: WeightEvidence | None
) -> SuggestedRole:
    """Suggest a role from the column's properties: nested, empty or constant, then weight, name and values."""
    if facts.kind == "nested":
        return describe_role(
            facts, "other", "it holds lists or records, which are not looked into; a person must decide", "low"
        )
    if facts.distinct == 0:
        return describe_role(facts, "other", "every cell is empty", "high")
    if facts.distinct == 1 and not facts.nulls and facts.filled > 1 and (weight is None or weight.role != "weight"):
        return describe_role(facts, "other", "the same in every filled cell", "high")
    if weight is not None and weight.confidence != "low":
        topic = "weight" if weight.role == "weight" else "body"
        return describe_role(facts, weight.role, weight.reason, weight.confidence, topic)
    for one in evidence:
        if suggested := _by_name(facts, one, only=len(evidence) == 1):
            also = suggested.also or _sensitive_too(suggested, evidence)
            return replace(suggested, also=also, found_in=one.found_in)
    if weight is not None:
        return describe_role(facts, weight.role, weight.reason, weight.confidence, "weight")
    return _by_values(facts)


def _sensitive_too(suggested: SuggestedRole, evidence: Sequence[NameEvidence]) -> str:
    """The role "sensitive" if the name of a quasi-identifier also says something sensitive, as `SmokeAge` does."""
    said = {topics()[one.topic].role for one in evidence if one.topic in topics()}
    return "sensitive" if suggested.role == "quasi-identifier" and "sensitive" in said else ""


def _by_name(facts: ColumnFacts, evidence: NameEvidence, *, only: bool) -> SuggestedRole | None:
    """The role of the topic in the name, unless the values contradict it."""
    topic = topics().get(evidence.topic)
    if topic is None:  # a weight or a flag by the codebook, but not by its values
        return None
    source = f"the codebook of {evidence.how}" if evidence.by_codebook else "its name"
    says = f"{source} says that it holds {topic.meaning}"
    confidence = "high" if evidence.sure else "low" if evidence.how in ("stem", "sentence") else "medium"
    if topic.name == "household" and _has_decimals(facts):
        if not only:  # `childHeight`: the other topic of the name tells what was measured
            return None
        says, confidence = f"{source} says that it is about the family or the household of a person", "low"
    if topic.name == "age" and evidence.how == "stem" and not _are_years_of_life(facts):
        return None
    if topic.name in NUMBERS_OF:
        return _numbers_of(facts, topic.name, says, confidence, evidence, only)
    if topic.name == "free text":
        return describe_role(facts, "identifier", says, confidence, topic.name) if is_free_text(facts) else None
    if topic.role == "identifier":
        if facts.few and topic.name == "address":  # town or country, not where somebody lives
            return describe_role(facts, "quasi-identifier", f"{says}, of a few kinds", "low", "area")
        return None if facts.few else describe_role(facts, "identifier", says, confidence, topic.name)
    if not topic.leads and (facts.kind == "date or time" or (topic.role == "sensitive" and _are_years(facts))):
        topic = topics()["date"]
        says = "it holds dates, times or years, which others may know"
    a_quantity = topic.quantity and facts.kind != "text" and not counts_up(facts)
    if differs_everywhere(facts) and not is_measured(facts) and not a_quantity:
        reason = f"every value differs, so each one names a record, though {says}"
        return describe_role(
            facts, "identifier", reason, "medium" if topic.quantity else "high", "record number", topic.role
        )
    if _is_one_of_many(facts) and facts.codes and _has_many(facts) and not _has_decimals(facts):
        if topic.name != "household" or not _are_amounts(facts):
            return _of_people(facts, topic.name == "household")
        says, topic = f"{source} says a household, and its whole numbers are amounts", topics()["income"]
        confidence = "low"
    if topic.role == "other":
        return describe_role(facts, "other", says, "low", topic.name)
    return describe_role(facts, topic.role, says, confidence, topic.name, topic.also)


def _numbers_of(
    facts: ColumnFacts, topic: str, says: str, confidence: str, evidence: NameEvidence, only: bool
) -> SuggestedRole | None:
    """The role of numbers of people, households or records: identifier, or person if people have several records."""
    each = f"{one_decimal(facts.repeats)} records each"
    all_differ = facts.distinct == facts.filled > 1
    if topic == "person within household":
        return describe_role(
            facts, "identifier", f"{says}; with the household's number it names a person", "medium", topic
        )
    if topic == "household number":
        return None if facts.few else describe_role(facts, "identifier", f"{says}: {each}", confidence, topic)
    if topic == "person number":
        if all_differ:
            return describe_role(facts, "identifier", f"{says}, and no value occurs twice", "high", topic)
        if evidence.how == "word" and facts.few:
            return None
        return describe_role(facts, "person", f"{says}: {each}", confidence, topic)
    named_id = bool({"id", "ids"} & {*words_of(facts.name).split()})
    if all_differ and facts.codes and (evidence.how != "word" or named_id or facts.distinct > MANY):
        return describe_role(facts, "identifier", f"{says}, and no value occurs twice", "high", topic)
    many = facts.distinct > max(MANY, facts.filled / 10) or facts.distinct > 1_000
    if not facts.codes or not many or not (only or evidence.how == "phrase" or differs_everywhere(facts)):
        return None
    bare_id = words_of(facts.name) == "id" and facts.repeats <= _RECORDS
    if is_numbered(facts) and facts.repeats > 1.5 and (bare_id or _is_one_of_many(facts)):
        return _of_people(facts, False)
    return describe_role(facts, "identifier", f"{says}, or groups of people: {each}", "medium", topic)


def _is_one_of_many(facts: ColumnFacts) -> bool:
    """True if the name is only a word for a person or a case: `user`, `patient`."""
    return words_of(facts.name) in word_list("names", "one_of_many")


def _are_years_of_life(facts: ColumnFacts) -> bool:
    """True unless numbers cannot be ages, in years or months; texts may be bands of ages."""
    return facts.low is None or (facts.low >= 0 and (facts.high or 0.0) <= _MONTHS_OF_LIFE and facts.distinct > 2)


def _are_years(facts: ColumnFacts) -> bool:
    """True if all whole numbers are years: of a diagnosis, of an arrest."""
    low, high = facts.low or 0.0, facts.high or 0.0
    return facts.whole and facts.distinct >= _YEARS and low >= 1_880 and high <= 2_100


def _has_decimals(facts: ColumnFacts) -> bool:
    """True if numbers, or ranges and sets of them, are measured: some are not whole. Nobody is numbered so."""
    if facts.kind == "text":
        return facts.generalised and any(_DECIMALS.search(cell) for cell in facts.sample)
    return facts.low is not None and not facts.whole


def _has_many(facts: ColumnFacts) -> bool:
    return numbers_people(facts) or (facts.distinct > max(MANY, facts.filled / 100) and facts.distinct > 50)


def _are_amounts(facts: ColumnFacts) -> bool:
    """True if whole numbers are amounts and number no households: many rows share each, or most are round."""
    if facts.low is None or numbers_people(facts):  # a household may have many rows: purchases, waves
        return False
    if is_numbered(facts):
        return facts.repeats > _IN_HOUSEHOLD
    is_round = sum(cell % 10 == 0 for cell in facts.sample) > _ROUND * len(facts.sample)
    return is_round or facts.repeats > _IN_HOUSEHOLD


def _of_people(facts: ColumnFacts, household: bool) -> SuggestedRole:
    role, what, topic = (
        ("identifier", "that it numbers households", "household number")
        if household
        else ("person", "whose record it is", "person number")
    )
    reason = f"its name and its many values say {what}: {one_decimal(facts.repeats)} records each"
    return describe_role(facts, role, reason, "medium", topic)


def _by_values(facts: ColumnFacts) -> SuggestedRole:
    """The role from the values, if the name says nothing."""
    evidence = find_value_evidence(facts) or find_codes(facts)
    if evidence and (evidence.role != "identifier" or not facts.few):
        return describe_role(facts, evidence.role, evidence.reason, evidence.confidence, evidence.topic)
    if _is_one_of_many(facts) and facts.codes and facts.distinct > MANY:
        if facts.repeats > 1:
            return _of_people(facts, False)
        return describe_role(facts, "identifier", _ALL_DIFFER, "high", "record number")
    if differs_everywhere(facts) and not is_measured(facts):
        numbered = is_numbered(facts) or facts.kind == "text"
        doubt = "" if numbered else "; if it is an amount, say so"
        return describe_role(
            facts, "identifier", _ALL_DIFFER + doubt, "high" if numbered else "medium", "record number"
        )
    if numbers_people(facts):
        each = f"{one_decimal(facts.repeats)} records each"
        reason = f"its whole numbers are spread evenly and repeat, as numbers of people do: {each}"
        return describe_role(facts, "person", reason, "low", "person number")
    return describe_role(facts, "other", _what_it_is_like(facts) + NOTHING, "low")


def _what_it_is_like(facts: ColumnFacts) -> str:
    """Describe the values: few texts are answers to choose from, few numbers with gaps are codes."""
    if facts.kind == "text" and facts.repeats >= 5:
        return "answers to choose from; "
    if facts.whole and facts.distinct <= 40 and facts.repeats >= 5:
        return "codes rather than amounts; " if has_gaps(facts) else "few whole numbers: codes or counts; "
    return ""
