"""Reasons of a verdict that stay with the holder of the table, because they would help an attacker.

A reason is a function from the findings to advice, listed in `_REASONS` in the order in which they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from incrowd.assessment.reasons import Findings, describe_order
from incrowd.populations.design import CHECK_WEIGHTS
from incrowd.wording import Advice, chosen_percent, counted, listed, one_decimal, people, percent

if TYPE_CHECKING:
    from incrowd.measures.disclosed_secrets import DisclosedColumn
    from incrowd.tables import SuggestedRole

_FEWEST_TEXTS, _ROWS_EACH = 10, 5  # different texts of a kept column, and records of each, that are told


def list_internal_reasons(findings: Findings) -> Iterator[Advice]:
    """All internal reasons, in order."""
    for reason in _REASONS:
        yield from reason(findings)


def _population_is_assumed(findings: Findings) -> Iterator[Advice]:
    facts, population = findings.facts, findings.population
    if population is not None:
        look = "looks" if facts.uniques == 1 else "look"
        share = percent(facts.uniqueness)
        alone = f"; {people(facts.uniques)} ({share}) {look} like nobody else in it" if facts.uniques else ""
        yield Advice(
            f"It is assumed that the table is a random sample of {population.population:,} people and that no attacker "
            f"knows who is in it. One who does names a person with a chance of up to {percent(1 / facts.k)}{alone}: "
            "keep secret whose records these are."
        )


def _weights_are_far_from_population(findings: Findings) -> Iterator[Advice]:
    for note in findings.population.notes if findings.population is not None else ():
        if note.endswith(CHECK_WEIGHTS):
            yield Advice(f"{note[0].upper()}{note[1:]}", ("population", "weights"))


def _person_numbers_are_assumed(findings: Findings) -> Iterator[Advice]:
    roles = findings.roles
    if roles.person is not None and roles.person not in (*roles.pseudonyms, *roles.identifiers_kept):
        yield Advice(
            f"It is assumed that no other file has the numbers in {roles.person}; protect replaces them by random ones."
        )


def _key_exists(findings: Findings) -> Iterator[Advice]:
    if findings.roles.note_on_key is not None:
        yield Advice(f"{findings.roles.note_on_key}.")


def why_known_anyway(one: SuggestedRole) -> str:
    """The reason why a column counts as known to others, whatever was declared."""
    return one.reason if one.exact else "it numbers the records of each person, as waves, years and visits do"


def _columns_are_known_anyway(findings: Findings) -> Iterator[Advice]:
    for one in findings.roles.suggested:
        if one.column in findings.roles.known_anyway:
            yield Advice(
                f"{one.column} counts as known to others: {why_known_anyway(one)}. Make it a quasi-identifier, or "
                "leave it out",
                ("quasi_identifiers", "drop"),
            )


def _row_order_tells(findings: Findings) -> Iterator[Advice]:
    if findings.evidence.row_order and not findings.evidence.is_release:
        yield Advice(f"{describe_order(findings.evidence)}; protect writes them in random order.")


def _attack_saw_nothing(findings: Findings) -> Iterator[Advice]:
    """What an attack by kept columns found, and what it would have seen."""
    attack = findings.evidence.attack
    if attack is None or not attack.kept or not (attack.coarse or attack.looks):
        return
    if findings.sees_too_little:
        yield Advice(
            f"Whether kept columns find people could not be seen: {people(attack.people)} could be attacked, too few "
            "to tell success from chance."
        )
        return
    if not attack.looks or findings.exceeds(attack):
        return
    limit = findings.question.limits.highest
    looks = sorted(attack.looks, key=lambda look: -look.share)
    seen = [f"{look.found:,} of {look.people:,} ({percent(look.success)})" for look in looks]
    yield Advice(
        "An attacker who has learned from other people how kept columns depend on the quasi-identifiers finds "
        f"{seen[0]} of the people who were attacked, and {', '.join(seen[1:])} of those of whom they are most "
        f"confident. None of this proves more than the accepted {chosen_percent(limit)}; a success above "
        f"{percent(attack.least_seen(limit))} of everybody would have."
    )


def _something_is_unanswered(findings: Findings) -> Iterator[Advice]:
    yield from findings.evidence.unanswered


def _rows_may_not_be_people(findings: Findings) -> Iterator[Advice]:
    rows = findings.evidence.rows
    if rows.kind != "people" and findings.question.rows_are_people:
        yield Advice(f"Every row is another person, as you said, although {rows.reason}.")
    elif rows.kind != "people" and findings.roles.person is None:
        yield Advice(f"Rows may not be people: {rows.reason}", ("person", "rows_are_people"))


def _missing_values_follow(findings: Findings) -> Iterator[Advice]:
    skipped: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for column in _secret_columns(findings):
        if column.structural_missing:
            skipped.setdefault((column.structural_missing, column.missing_follows_from), []).append(column.column)
    for (missing, follows_from), names in skipped.items():
        yield Advice(
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} missing in {counted(missing, 'record', 'records')} "
            f"because of {listed(follows_from)}; that is no secret."
        )


def _secrets_are_tolerated(findings: Findings) -> Iterator[Advice]:
    tolerated = findings.question.tolerated
    if tolerated and findings.evidence.secrets:
        known = [
            f"{column.column} ({counted(column.news, 'record', 'records')}, {percent(column.news_share)})"
            for column in _secret_columns(findings)
            if column.news
        ]
        yield Advice(
            f"You accept that the secret of {chosen_percent(tolerated)} of the records is known, for each "
            f"sensitive column. It is known in {listed(known) if known else 'no record'}",
            ("tolerate",),
        )


def _codes_count_as_missing(findings: Findings) -> Iterator[Advice]:
    undeclared = [
        f"{column.column} ({counted(column.undeclared_missing, 'record', 'records')})"
        for column in _secret_columns(findings)
        if column.undeclared_missing
    ]
    if undeclared:
        yield Advice(
            f"Words and codes for a missing value (such as refused, unknown or -9) count as missing in "
            f"{listed(undeclared)}, though nobody declared them: they hide nobody whose class otherwise has one value."
        )


def _usually_known_is_declared_unknown(findings: Findings) -> Iterator[Advice]:
    usual = [
        f"{one.column} ({one.reason})"
        for one in findings.roles.suggested
        if one.role == "quasi-identifier" and one.confidence != "low" and _is_declared_unknown(findings, one.column)
    ]
    if usual:
        yield Advice(f"Declared by you to be unknown to others, who usually know such columns: {listed(usual)}.")


def _cells_may_name_people(findings: Findings) -> Iterator[Advice]:
    roles = findings.roles
    for one in roles.suggested:
        is_reported = one.column in (*roles.identifiers_kept, *roles.pseudonyms)
        if one.role == "identifier" and _is_declared_unknown(findings, one.column) and not is_reported:
            yield Advice(
                f"{one.column} is kept as {roles.role_in_words(one.column)}, though {one.reason}; read some of its "
                "cells before it goes out."
            )


def _texts_are_rare(findings: Findings) -> Iterator[Advice]:
    rare = [
        f"{one.column} ({counted(one.distinct, 'text', 'texts')}, {one_decimal((one.rows - one.nulls) / one.distinct)} "
        "records each)"
        for one in findings.roles.suggested
        if one.role != "identifier" and one.column not in findings.roles.pseudonyms and not one.generalised
        if one.kind == "text" and one.distinct >= _FEWEST_TEXTS and one.rows - one.nulls <= _ROWS_EACH * one.distinct
        if _is_declared_unknown(findings, one.column)
    ]
    if rare:
        yield Advice(
            f"Few records share each text of {listed(rare)}: such texts may be names or numbers of people, or tell who "
            "they are; read some cells before it goes out."
        )


def _quasi_identifiers_name_people(findings: Findings) -> Iterator[Advice]:
    looks = {one.column: one.role for one in findings.roles.suggested}
    names = [name for name in findings.roles.quasi_identifiers if looks.get(name) in ("identifier", "person")]
    if names:
        yield Advice(
            "Counted as something others know, though it looks like the name or number of a person or a record: "
            f"{listed(names)}. Remove it and assess what is left."
        )


_REASONS = (
    _population_is_assumed,
    _weights_are_far_from_population,
    _person_numbers_are_assumed,
    _key_exists,
    _columns_are_known_anyway,
    _row_order_tells,
    _attack_saw_nothing,
    _something_is_unanswered,
    _rows_may_not_be_people,
    _missing_values_follow,
    _secrets_are_tolerated,
    _codes_count_as_missing,
    _usually_known_is_declared_unknown,
    _cells_may_name_people,
    _texts_are_rare,
    _quasi_identifiers_name_people,
)


def _secret_columns(findings: Findings) -> Sequence[DisclosedColumn]:
    secrets = findings.evidence.secrets
    return secrets.columns if secrets else ()


def _is_declared_unknown(findings: Findings, column: str) -> bool:
    """True if a person said that others do not know a column that is kept."""
    return column in findings.roles.stated and findings.roles.role(column) in ("other", "sensitive")
