"""Revision of suggested roles in view of all columns: one main weight, numbers of households and their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incrowd.tables.roles.column_facts import count_distinct_rows
from incrowd.tables.roles.column_role import NOTHING, NUMBERS_OF, SuggestedRole
from incrowd.tables.roles.names import find_topics
from incrowd.tables.roles.weights import WeightEvidence
from incrowd.tables.table import Table

_WITHIN = "it numbers people within households: with the household's number it names a person"
_BY_VALUES_ONLY = 5  # the rank of a weight that was found by its values alone; see `find_weight`
_FEW = 60  # distinct values, up to which a column is codes or answers to choose from
_MANY_RECORDS = 50  # records for each value, above which a person column is doubtful


def choose_main_weight(
    roles: Sequence[SuggestedRole], weights: Sequence[WeightEvidence | None]
) -> tuple[SuggestedRole, ...]:
    """Mark all weights but one as secondary. Preferred: a weight of people, known for every record; then the first."""
    ranked = [(weight.rank, place) for place, weight in enumerate(weights) if weight is not None]
    if not ranked:
        return tuple(roles)
    main = min(ranked)[1]
    result = list(roles)
    for rank, place in ranked:
        if place == main:
            continue
        if rank == _BY_VALUES_ONLY:  # one weight is enough to explain the table's design
            result[place] = replace(roles[place], role="other", topic="", reason=NOTHING, confidence="low")
        else:
            reason = f"{roles[place].reason}; {roles[main].column} is rather the weight of people"
            result[place] = replace(roles[place], reason=reason, secondary=True)
    return tuple(result)


def prefer_numbers_by_name(roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Drop a person column found by its values alone if the name of another column says that it is a number."""
    if not any(one.topic in NUMBERS_OF and one.confidence != "low" for one in roles):
        return list(roles)
    return [
        replace(one, role="other", topic="", reason=NOTHING)
        if one.role == "person" and one.confidence == "low"
        else one
        for one in roles
    ]


def find_household_numbers(table: Table, roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Take a column for the household number if few numbers of people differ within each of its values.

    The test requires that rows which share both numbers are too many for unrelated columns.
    """
    members = [one for one in roles if _may_be_within(one)]
    if not members or any(one.topic == "household number" for one in roles):
        return list(roles)
    for group in (one for one in roles if _may_be_groups(one)):
        by_chance = (group.rows - group.distinct) / members[0].distinct  # rows that would share both, at least
        if by_chance < 10 or group.rows < 1.2 * group.distinct:
            continue
        if count_distinct_rows(table, [group.column, members[0].column]) == group.rows:
            reason = (
                f"it and {members[0].column} together differ in every row: households or families, and their members"
            )
            named = replace(group, role="identifier", reason=reason, confidence="medium", topic="household number")
            return [named if one is group else one for one in roles]
    return list(roles)


def doubt_long_records(roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Doubt a person column if each value has very many rows and no column holds a time."""
    if any(one.topic in {"time", "date"} for one in roles):
        return list(roles)
    doubt = "; so many, and no column of times: say whether it tells whose record it is"
    return [
        replace(one, confidence="low", reason=one.reason + doubt)
        if one.role == "person" and one.rows - one.nulls > _MANY_RECORDS * one.distinct
        else one
        for one in roles
    ]


def find_numbers_within_households(roles: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Take columns with few numbers of people for numbers within households, if another column numbers households."""
    if not any(one.topic == "household number" for one in roles):
        return list(roles)
    return [
        replace(one, role="identifier", reason=_WITHIN, confidence="medium", topic="person within household")
        if _may_be_within(one)
        else one
        for one in roles
    ]


def _may_be_within(one: SuggestedRole) -> bool:
    """True if a column has few numbers of people: by its role, or by its name if nothing else is known."""
    is_open = one.role == "other" and not one.topic and one.kind == "integer"
    is_named_so = is_open and any(evidence.topic == "person number" for evidence in find_topics(one.column))
    return _has_few_values(one) and (one.role == "person" or is_named_so)


def _may_be_groups(one: SuggestedRole) -> bool:
    """True if a column has many codes and no empty cell, and its name says nothing."""
    is_open = (one.role == "other" and not one.topic) or (one.role == "person" and one.confidence == "low")
    return is_open and one.kind in {"integer", "text"} and not one.nulls and one.distinct > _FEW


def _has_few_values(one: SuggestedRole) -> bool:
    """True if values are codes or answers to choose from, each of which occurs often."""
    return 2 <= one.distinct <= _FEW and one.rows - one.nulls >= 10 * one.distinct and one.kind != "nested"
