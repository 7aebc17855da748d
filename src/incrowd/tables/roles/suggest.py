"""A role for every column, from its name and its values, with the reason and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from weakref import WeakKeyDictionary

from incrowd.results import Result
from incrowd.tables.roles.columns import ColumnFacts, count_distinct_rows, has_gaps, look_at_columns
from incrowd.tables.roles.names import NameEvidence, find_topics, recognise_codebooks, topics, word_list, words_of
from incrowd.tables.roles.values import (
    MANY,
    counts_up,
    differs_everywhere,
    find_value_evidence,
    is_free_text,
    is_measured,
    is_numbered,
    numbers_people,
)
from incrowd.tables.roles.weights import WeightEvidence, find_replicates, find_weight, measures_bodies
from incrowd.tables.table import Table

Role = Literal["identifier", "quasi-identifier", "sensitive", "person", "weight", "other"]
Confidence = Literal["high", "medium", "low"]
ROLES: tuple[Role, ...] = get_args(Role)

_NUMBERS_OF = {"person number", "household number", "person within household", "record number"}


@dataclass(frozen=True, slots=True)
class SuggestedRole(Result):
    """A column, what it holds, and the role that is suggested for it.

    `topic` is what it seems to be about ("age", "income", …; empty where nothing was found), `also` another role that
    is as defensible, and `secondary` marks weights that are not proposed as the weight: replicates, those of
    households, further ones. A role of "other" with low confidence means that nothing was found: a person must decide.
    """

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


def suggest_roles(table: Table, columns: Sequence[str] | None = None) -> tuple[SuggestedRole, ...]:
    """Suggest a role for every column of a table, with a reason; nothing is decided by it.

    Names count in eight languages and by the codebooks of public surveys, values by their form: numbers that all
    differ, dates, ages, words for sex or marital status, weights. Distinct values are counted exactly; all else is
    looked up in a sample of cells. No reason contains a cell.

    Args:
        table: The table, as `read_table` gives it.
        columns: The columns to look at; all of them where None. Names of the others still tell what table it is.

    Returns:
        One suggestion for each column, in order.

    Raises:
        InputError: A column does not exist, or texts are not UTF-8.

    >>> from incrowd import read_table
    >>> [(c.column, c.role) for c in suggest_roles(read_table({"age": [30, 41, 30], "email": ["a", "b", "c"]}))]
    [('age', 'quasi-identifier'), ('email', 'identifier')]
    """
    wanted = tuple(table.columns if columns is None else table.require(columns))
    known = _suggested.setdefault(table, {})
    if wanted not in known:
        known[wanted] = _suggest_all(table, wanted)
    return known[wanted]


_suggested: WeakKeyDictionary[Table, dict[tuple[str, ...], tuple[SuggestedRole, ...]]] = WeakKeyDictionary()
"""Suggestions made so far: a table is looked at once for each set of columns."""


def _suggest_all(table: Table, wanted: Sequence[str]) -> tuple[SuggestedRole, ...]:
    looked_at = look_at_columns(table, wanted)
    codebooks = recognise_codebooks(table.columns)
    bodies = measures_bodies(table.columns)
    replicates = find_replicates(looked_at)
    found = []
    weights: list[WeightEvidence | None] = []
    for facts in looked_at:
        evidence = find_topics(facts.name, codebooks)
        weight = None if facts.name in replicates else _weight(facts, evidence, bodies)
        suggested = _replicate(facts, replicates) or _suggest(facts, evidence, weight)
        weights.append(weight if suggested.role == "weight" else None)
        found.append(suggested)
    beside = [find_topics(name, codebooks) for name in {*table.columns} - {*wanted}]
    found = _numbered_by_name_first(_one_main_weight(found, weights))
    found = _doubt_long_records(_within_households(_with_groups_of_members(table, found)))
    return _among_known_columns(found, [one[0].topic for one in beside if one])


def _weight(facts: ColumnFacts, evidence: Sequence[NameEvidence], bodies: bool) -> WeightEvidence | None:
    in_codebook = bool(evidence) and evidence[0].topic in {"weight", "replicate weight"}
    return find_weight(facts, bodies=bodies, in_codebook=in_codebook, alone=not evidence)


def _replicate(facts: ColumnFacts, replicates: dict[str, int]) -> SuggestedRole | None:
    if facts.name not in replicates:
        return None
    reason = f"one of {replicates[facts.name]} replicate weights: columns of one stem and a number"
    return _as(facts, "weight", reason, "high", "replicate weight", secondary=True)


def _as(
    facts: ColumnFacts,
    role: str,
    reason: str,
    confidence: str,
    topic: str = "",
    also: str = "",
    secondary: bool = False,
) -> SuggestedRole:
    counts = (facts.name, facts.holds, facts.distinct, facts.nulls, facts.rows, facts.generalised)
    return SuggestedRole(*counts, role, reason, confidence, topic, also, secondary)  # type: ignore[arg-type]


def _suggest(facts: ColumnFacts, evidence: Sequence[NameEvidence], weight: WeightEvidence | None) -> SuggestedRole:
    """The role of one column: what makes every role pointless, then weights, names, values."""
    if facts.kind == "nested":
        return _as(facts, "other", "it holds lists or records, which are not looked into; a person must decide", "low")
    if facts.distinct == 0:
        return _as(facts, "other", "every cell is empty", "high")
    if facts.distinct == 1 and not facts.nulls and facts.filled > 1 and (weight is None or weight.role != "weight"):
        return _as(facts, "other", "the same in every filled cell", "high")
    if weight is not None and weight.confidence != "low":
        topic = "weight" if weight.role == "weight" else "body"
        return _as(facts, weight.role, weight.reason, weight.confidence, topic)
    for one in evidence:
        if suggested := _by_name(facts, one, only=len(evidence) == 1):
            return suggested
    if weight is not None:
        return _as(facts, weight.role, weight.reason, weight.confidence, "weight")
    return _by_values(facts)


def _by_name(facts: ColumnFacts, evidence: NameEvidence, *, only: bool) -> SuggestedRole | None:
    """What a topic of the name means, where the values do not speak against it."""
    topic = topics().get(evidence.topic)
    if topic is None:  # a weight or a flag of a codebook, whose values are not those of one
        return None
    source = f"the codebook of {evidence.how}" if evidence.by_codebook else "its name"
    says = f"{source} says that it holds {topic.meaning}"
    if topic.name == "housing" and words_of(facts.name) == "tenure" and facts.low is not None and facts.distinct > 8:
        topic = topics()["employment"]  # kinds of tenure of a dwelling are few
        says = f"{source} and its many numbers say how long somebody has been in a job, or somewhere else"
    confidence = "high" if evidence.sure else "low" if evidence.how == "stem" else "medium"
    if topic.name in _NUMBERS_OF:
        return _numbers_of(facts, topic.name, says, confidence, evidence, only)
    if topic.name == "free text":
        return _as(facts, "identifier", says, confidence, topic.name) if is_free_text(facts) else None
    if topic.role == "identifier":
        if facts.few and topic.name == "address":  # town or country, not where somebody lives
            return _as(facts, "quasi-identifier", f"{says}, of a few kinds", "low", "area")
        return None if facts.few else _as(facts, "identifier", says, confidence, topic.name)
    if facts.kind == "date or time" and not topic.leads:
        topic = topics()["date"]
        says = "it holds dates or times, which others may know"
    a_quantity = topic.quantity and facts.kind != "text" and not counts_up(facts)
    if differs_everywhere(facts) and not is_measured(facts) and not a_quantity:
        reason = f"every value differs, so each one names a record, though {says}"
        return _as(facts, "identifier", reason, "medium" if topic.quantity else "high", "record number", topic.role)
    if _is_one_of_many(facts) and (facts.whole or facts.kind == "text") and _has_many(facts):
        return _of_people(facts, topic.name == "household")
    if topic.role == "other":
        return _as(facts, "other", says, "low", topic.name)
    return _as(facts, topic.role, says, confidence, topic.name, topic.also)


def _numbers_of(
    facts: ColumnFacts, topic: str, says: str, confidence: str, evidence: NameEvidence, only: bool
) -> SuggestedRole | None:
    """Numbers of people, households, records: identifiers, or the person column where people have several records."""
    each = f"{facts.repeats:.1f} records each"
    all_differ = facts.distinct == facts.filled > 1
    if topic == "person within household":
        return _as(facts, "identifier", f"{says}; with the household's number it names a person", "medium", topic)
    if topic == "household number":
        return None if facts.few else _as(facts, "identifier", f"{says}: {each}", confidence, topic)
    if topic == "person number":
        if all_differ and facts.distinct > MANY:
            return _as(facts, "identifier", f"{says}, and no value occurs twice", "high", topic)
        if evidence.how == "word" and facts.few:
            return None
        return _as(facts, "person", f"{says}: {each}", confidence, topic)
    named_id = bool({"id", "ids"} & {*words_of(facts.name).split()})
    if all_differ and facts.codes and (evidence.how != "word" or named_id or facts.distinct > MANY):
        return _as(facts, "identifier", f"{says}, and no value occurs twice", "high", topic)
    many = facts.distinct > max(MANY, facts.filled / 10) or facts.distinct > 1_000
    if not facts.codes or not many or not (only or evidence.how == "phrase" or differs_everywhere(facts)):
        return None
    if is_numbered(facts) and facts.repeats > 1.5 and _is_one_of_many(facts):
        return _of_people(facts, False)
    return _as(facts, "identifier", f"{says}, or groups of people: {each}", "medium", topic)


def _is_one_of_many(facts: ColumnFacts) -> bool:
    """Whether the name is a word for a person or a case and nothing else: `user`, `patient`."""
    return words_of(facts.name) in word_list("names", "one_of_many")


def _has_many(facts: ColumnFacts) -> bool:
    return numbers_people(facts) or (facts.distinct > max(MANY, facts.filled / 100) and facts.distinct > 50)


def _of_people(facts: ColumnFacts, household: bool) -> SuggestedRole:
    role, what, topic = (
        ("identifier", "that it numbers households", "household number")
        if household
        else ("person", "whose record it is", "person number")
    )
    reason = f"its name and its many values say {what}: {facts.repeats:.1f} records each"
    return _as(facts, role, reason, "medium", topic)


def _by_values(facts: ColumnFacts) -> SuggestedRole:
    """What the values say where the name says nothing."""
    evidence = find_value_evidence(facts)
    if evidence and (evidence.role != "identifier" or not facts.few):
        return _as(facts, evidence.role, evidence.reason, evidence.confidence, evidence.topic)
    if _is_one_of_many(facts) and facts.codes and facts.distinct > MANY:
        if facts.repeats > 1:
            return _of_people(facts, False)
        return _as(facts, "identifier", _ALL_DIFFER, "high", "record number")
    if differs_everywhere(facts) and not is_measured(facts):
        numbered = is_numbered(facts) or facts.kind == "text"
        doubt = "" if numbered else "; if it is an amount, say so"
        return _as(facts, "identifier", _ALL_DIFFER + doubt, "high" if numbered else "medium", "record number")
    if numbers_people(facts):
        each = f"{facts.repeats:.1f} records each"
        reason = f"its whole numbers are spread evenly and repeat, as numbers of people do: {each}"
        return _as(facts, "person", reason, "low", "person number")
    return _as(facts, "other", _what_it_is_like(facts) + _NOTHING, "low")


_ALL_DIFFER = "every value differs, or nearly, so each one names a record"


def _what_it_is_like(facts: ColumnFacts) -> str:
    """Few texts are answers to choose from, and few numbers with gaps are codes; neither is free text or an amount."""
    if facts.kind == "text" and facts.repeats >= 5:
        return "answers to choose from; "
    if facts.whole and facts.distinct <= 40 and facts.repeats >= 5:
        return "codes rather than amounts; " if has_gaps(facts) else "few whole numbers: codes or counts; "
    return ""


def _one_main_weight(
    found: Sequence[SuggestedRole], weights: Sequence[WeightEvidence | None]
) -> tuple[SuggestedRole, ...]:
    """Mark all weights but one as secondary: the one of people, known of every record, goes first; then the first."""
    ranked = [(weight.rank, place) for place, weight in enumerate(weights) if weight is not None]
    if not ranked:
        return tuple(found)
    main = min(ranked)[1]
    result = list(found)
    for rank, place in ranked:
        if place == main:
            continue
        if rank == _BY_VALUES_ONLY:  # one weight is enough to explain the table's design
            result[place] = replace(found[place], role="other", topic="", reason=_NOTHING, confidence="low")
        else:
            reason = f"{found[place].reason}; {found[main].column} is rather the weight of people"
            result[place] = replace(found[place], reason=reason, secondary=True)
    return tuple(result)


def _numbered_by_name_first(found: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Take no column for whose record it is by its values alone where another is a number by its name."""
    if not any(one.topic in _NUMBERS_OF and one.confidence != "low" for one in found):
        return list(found)
    return [
        replace(one, role="other", topic="", reason=_NOTHING)
        if one.role == "person" and one.confidence == "low"
        else one
        for one in found
    ]


def _with_groups_of_members(table: Table, found: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Take a column for the number of households where few numbers of people differ within each of its values.

    Were the two unrelated, so many rows would share both that none does by chance.
    """
    members = [one for one in found if _may_be_within(one)]
    if not members or any(one.topic == "household number" for one in found):
        return list(found)
    for group in (one for one in found if _may_be_groups(one)):
        by_chance = (group.rows - group.distinct) / members[0].distinct  # rows that would share both, at least
        if by_chance < 10 or group.rows < 1.2 * group.distinct:
            continue
        if count_distinct_rows(table, [group.column, members[0].column]) == group.rows:
            reason = (
                f"it and {members[0].column} together differ in every row: households or families, and their members"
            )
            named = replace(group, role="identifier", reason=reason, confidence="medium", topic="household number")
            return [named if one is group else one for one in found]
    return list(found)


def _doubt_long_records(found: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Doubt that a column tells whose record it is where each value has very many rows and no column tells a time."""
    if any(one.topic in {"time", "date"} for one in found):
        return list(found)
    doubt = "; so many, and no column of times: say whether it tells whose record it is"
    return [
        replace(one, confidence="low", reason=one.reason + doubt)
        if one.role == "person" and one.rows - one.nulls > _MANY_RECORDS * one.distinct
        else one
        for one in found
    ]


def _within_households(found: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Take a few numbers of people beside numbers of households for the numbers of people within households."""
    if not any(one.topic == "household number" for one in found):
        return list(found)
    return [
        replace(one, role="identifier", reason=_WITHIN, confidence="medium", topic="person within household")
        if _may_be_within(one)
        else one
        for one in found
    ]


def _may_be_within(one: SuggestedRole) -> bool:
    """Whether a column has few numbers of people: it is taken for that, or called so and nothing else is known."""
    is_open = one.role == "other" and not one.topic and one.kind == "integer"
    called_so = is_open and any(evidence.topic == "person number" for evidence in find_topics(one.column))
    return _has_few_values(one) and (one.role == "person" or called_so)


def _may_be_groups(one: SuggestedRole) -> bool:
    """Whether a column has many codes and no empty cell, and its name says nothing."""
    is_open = (one.role == "other" and not one.topic) or (one.role == "person" and one.confidence == "low")
    return is_open and one.kind in {"integer", "text"} and not one.nulls and one.distinct > _FEW


def _among_known_columns(found: Sequence[SuggestedRole], beside: Sequence[str]) -> tuple[SuggestedRole, ...]:
    """Suggest columns of few values as quasi-identifiers where nearly all that is recognised beside them is one.

    In an extract of a census or a register an abbreviation that no list has is rather one more of the same. In a
    questionnaire, where columns that say nothing are many, they stay undecided. Of columns that were not asked for,
    the topics `beside` are those of their names.
    """
    roles = [one.role for one in found if one.topic] + [topics()[one].role for one in beside if one in topics()]
    known = [role for role in roles if role in {"quasi-identifier", "sensitive"}]
    quasi_identifiers = [role for role in known if role == "quasi-identifier"]
    unknown = [one for one in found if one.role == "other" and not one.topic and one.confidence == "low"]
    alike = {one.column for one in unknown if _has_few_values(one)}
    if len(quasi_identifiers) < max(5, 0.6 * len(known)) or len(unknown) > len(quasi_identifiers):
        return tuple(found)
    return tuple(
        replace(one, role="quasi-identifier", reason=_LIKE_THE_OTHERS) if one.column in alike else one for one in found
    )


def _has_few_values(one: SuggestedRole) -> bool:
    """Whether values are codes or answers to choose from, each of which occurs often."""
    return 2 <= one.distinct <= _FEW and one.rows - one.nulls >= 10 * one.distinct and one.kind != "nested"


_LIKE_THE_OTHERS = "its name says nothing, but it has few values, and most columns beside it are such as others know"
_WITHIN = "it numbers people within households: with the household's number it names a person"
_BY_VALUES_ONLY = 5
_FEW = 60  # values, each of which occurs often: codes or answers to choose from
_MANY_RECORDS = 50  # for each person, from which on they are rather rows of something else
_NOTHING = "nothing was found in its name or values; a person must decide"
