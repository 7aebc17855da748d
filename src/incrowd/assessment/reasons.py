"""The reasons of a verdict in words: people who are found, secrets that are known, facts and assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from incrowd.protection.release_warnings import describe_expected, describe_row_order
from incrowd.recipients import Limits
from incrowd.wording import Advice, chosen_percent, counted, listed, one_decimal, people, percent, two_digits

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.evidence import Evidence
    from incrowd.classes import ClassSizes
    from incrowd.measures import Measurement
    from incrowd.measures.disclosed_secrets import DisclosedColumn
    from incrowd.populations import PopulationRisk
    from incrowd.protection.marks import Linkage

_FEWEST_TEXTS, _ROWS_EACH = 10, 5  # different texts of a kept column, and records of each, that are told


def find_exposures(
    question: Question,
    roles: Roles,
    facts: Measurement,
    evidence: Evidence,
    disclosed: Sequence[DisclosedColumn],
) -> Iterator[str]:
    """Exposures, each a reason for a no at any average risk: people who are found, or whose secret is known."""
    if roles.identifiers:
        yield (
            f"The table still names people or their records: {listed(roles.identifiers)}. An attacker needs nothing "
            "else to find them."
        )
    if roles.dropped:
        yield f"The table still holds what you want left out: {listed(roles.dropped)}."
    if evidence.not_counted:
        yield (
            f"Besides the rows that were judged, the file holds: {listed(evidence.not_counted)}. Do not give this file "
            "away; protect writes one that holds nothing else."
        )
    for name in roles.identifiers_kept:
        mend = "let protect replace its numbers" if name == roles.person else "remove it"
        yield f"{name} names people or their records, and is kept as {roles.role_in_words(name)}: {mend}."
    numbered = {one.column for one in roles.suggested if one.topic == "household number"}
    for name in evidence.linking:
        tells = "tells who lives together" if name in numbered else "links people who have much in common"
        yield (
            f"{name} {tells}, and is kept as {roles.role_in_words(name)}: an attacker who knows the people of a home "
            "finds all of them by it. Leave it out, or count households."
        )
    if roles.unused_person is not None and not question.rows_are_people:
        yield (
            f"{roles.unused_person} looks like whose record it is, and records were counted as people: somebody with "
            "several records is easier to find than these numbers say."
        )
    for fact in evidence.given_back:
        them = "them" if fact.others else "it"
        yield (
            f"{fact.telling} {fact.gives_back} back for {percent(fact.told)} of the records: with {them} the smallest "
            f"class has {fact.k:,} and not {facts.k:,}, and {people(fact.uniques)} "
            f"{'is' if fact.uniques == 1 else 'are'} unique."
        )
    if evidence.row_order and evidence.is_release:
        yield f"{_order_in_words(evidence)}. Write the rows in random order."
    if disclosed:
        nearly = question.certain_from < 1
        certain, who = ("certain, or nearly so,", "nearly all") if nearly else ("certain", "all")
        worst, *others = sorted(disclosed, key=lambda column: -column.news)
        names = listed([f"{column.column} ({percent(column.news_share)})" for column in others])
        also = f" So {'are' if len(others) > 1 else 'is'} {names}." if others else ""
        shared = "share one value, and it is not one that most people have"
        if worst.close:
            shared = "share one value, or have numbers that lie close together, and most people do not have these"
        if worst.column in question.named_secrets:
            shared = "have what you named as secret"
        yield (
            f"{worst.column} is {certain} for {counted(worst.news, 'record', 'records')} "
            f"({percent(worst.news_share)}): {who} who look alike {shared} (attribute disclosure).{also}"
        )


def describe_highest_risk(facts: Measurement, population: PopulationRisk | None, limits: Limits) -> str:
    """Describe who is at a risk above the limit on the person at highest risk."""
    if population is None:
        few = facts.sizes.below(limits.class_size)
        alone = f", {facts.uniques:,} of them alone" if facts.uniques else ""
        return (
            f"{people(few)} ({percent(few / facts.people)}) {'looks' if few == 1 else 'look'} like fewer than "
            f"{limits.class_size - 1} others{alone}: an attacker who knows the attributes names them with a chance "
            f"above 1/{limits.class_size}."
        )
    alone_in_all = unique_in_population(facts.sizes, population)
    if alone_in_all >= 1:
        look, who = ("looks", "That person") if facts.uniques == 1 else ("look", "Perhaps all of them")
        if round(alone_in_all) < facts.uniques:
            who = f"Up to {two_digits(alone_in_all)} of them"
        return (
            f"{people(facts.uniques)} {look} like nobody else in the table. {who} may look like nobody else among all "
            f"{population.population:,} people either: an attacker who knows the attributes can be sure to have found "
            "them."
        )
    highest, _ = highest_risk(facts.sizes, population)
    where = "in the table" if population.highest is None else f"among {population.population:,} people"
    return f"The record at highest risk is named with a chance of {percent(highest)} {where}."


def highest_risk(sizes: ClassSizes, population: PopulationRisk | None) -> tuple[float, tuple[float, float] | None]:
    """The risk of the person at highest risk, and its interval if it is an estimate.

    - Without a population, the attacker may know who is in the table: 1 ÷ the smallest class.
    - If somebody of the table may be unique in the population, by the upper end of the estimate: 1.
    - Otherwise the highest estimated 1 ÷ F of a record, with F the size of its class in the population.
    - If no risks of single records were estimated: 1 ÷ the smallest class in the table, which is never lower.
    """
    if population is None:
        return 1 / sizes.smallest, None
    if unique_in_population(sizes, population) >= 1:
        return 1.0, None
    if population.highest is None:
        return 1 / sizes.smallest, None
    return population.highest, population.highest_interval


def unique_in_population(sizes: ClassSizes, population: PopulationRisk) -> float:
    """Upper estimate of the number of people who are unique in the table and in the population."""
    return sizes.uniques * population.still_unique_at_most


def is_upper_bound(sizes: ClassSizes, population: PopulationRisk | None) -> bool:
    """True if the highest risk is 1 by the upper end alone: fewer than one person is expected to be unique in both."""
    if population is None:
        return False
    return unique_in_population(sizes, population) >= 1 > sizes.uniques * (population.still_unique or 0.0)


def describe_linkage(linkage: Linkage) -> str:
    """Result of an attack on a perturbed table, and what the attack cannot show."""
    return (
        f"Values were changed by chance, so classes do not show the risk. Linkage does: {linkage.sentence} "
        "It says nothing about the person at highest risk, nor about attackers who know more; attack the release with "
        "what they may know."
    )


def list_reasons(
    facts: Measurement,
    population: PopulationRisk | None,
    pending: bool,
    weight: str | None,
    no_sample: Advice | None = None,
) -> Iterator[str]:
    """Facts and assumptions that the decision rests on; `no_sample` says why a population was not used."""
    attributes = counted(len(facts.quasi_identifiers), "attribute", "attributes")
    if population is None:
        yield (
            f"Prosecutor risk: somebody who knows the {attributes} of a person in this table names the right "
            f"{'person' if facts.person else 'record'} {percent(facts.correctness)} of the time."
        )
        if no_sample is not None:
            yield f"The population is not used, and the attacker is taken to know who is in the table: {no_sample}."
        elif pending:
            yield "The population is still being estimated; until then the attacker may know who is in the table."
        else:
            yield (
                "No population was given, so the attacker is taken to know who is in the table. If it is a sample and "
                "they cannot know that, give the population: the risk is then lower."
            )
    else:
        summed = "" if weight is None else f" (the sum of {weight})"
        yield (
            f"Journalist risk: the attacker is taken not to know who is in the table. Among {population.population:,} "
            f"people{summed}, of whom {population.people:,} are in it, a record is matched with the right person "
            f"{percent(population.overall)} of the time."
        )
    if facts.k > 1:
        yield (
            f"By the {attributes} nobody is alone: every equivalence class has at least {facts.k:,} people "
            f"(k = {facts.k:,})."
        )


def _order_in_words(evidence: Evidence) -> str:
    words = describe_row_order(evidence.row_order)
    return words[0].upper() + words[1:]


def list_internal_reasons(
    question: Question, roles: Roles, facts: Measurement, evidence: Evidence, population: PopulationRisk | None
) -> Iterator[Advice]:
    """Reasons that stay with the holder of the table, because they would help an attacker."""
    if population is not None:
        look = "looks" if facts.uniques == 1 else "look"
        share = percent(facts.uniqueness)
        alone = f"; {people(facts.uniques)} ({share}) {look} like nobody else in it" if facts.uniques else ""
        yield Advice(
            f"It is assumed that the table is a random sample of {population.population:,} people and that no attacker "
            f"knows who is in it. One who does names a person with a chance of up to {percent(1 / facts.k)}{alone}: "
            "keep secret whose records these are."
        )
    if roles.person is not None and roles.person not in (*roles.pseudonyms, *roles.identifiers_kept):
        yield Advice(
            f"It is assumed that no other file has the numbers in {roles.person}; protect replaces them by random ones."
        )
    if roles.note_on_key is not None:
        yield Advice(f"{roles.note_on_key}.")
    for one in roles.suggested:
        if one.column in roles.known_anyway:
            what = one.reason if one.exact else "it numbers the records of each person, as waves, years and visits do"
            yield Advice(
                f"{one.column} counts as known to others: {what}. Make it a quasi-identifier, or leave it out",
                ("quasi_identifiers", "drop"),
            )
    if evidence.row_order and not evidence.is_release:
        yield Advice(f"{_order_in_words(evidence)}; protect writes them in random order.")
    if evidence.expected:
        apart = ["apart"] if any(one.partly for one in evidence.expected) else []
        yield Advice(describe_expected(evidence.expected), (*apart, "drop", "quasi_identifiers"))
    yield from evidence.unanswered
    if evidence.rows.kind != "people" and question.rows_are_people:
        yield Advice(f"Every row is another person, as you said, although {evidence.rows.reason}.")
    elif evidence.rows.kind != "people" and roles.person is None:
        yield Advice(f"Rows may not be people: {evidence.rows.reason}", ("person", "rows_are_people"))
    skipped: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for column in evidence.secrets.columns if evidence.secrets else ():
        if column.structural_missing:
            skipped.setdefault((column.structural_missing, column.missing_follows_from), []).append(column.column)
    for (missing, follows_from), names in skipped.items():
        yield Advice(
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} missing in {counted(missing, 'record', 'records')} "
            f"because of {listed(follows_from)}; that is no secret."
        )
    if question.tolerated and evidence.secrets:
        known = [
            f"{column.column} ({counted(column.news, 'record', 'records')}, {percent(column.news_share)})"
            for column in evidence.secrets.columns
            if column.news
        ]
        yield Advice(
            f"You accept that the secret of {chosen_percent(question.tolerated)} of the records is known, for each "
            f"sensitive column. It is known in {listed(known) if known else 'no record'}",
            ("tolerate",),
        )
    untold = [
        f"{column.column} ({counted(column.undeclared_missing, 'record', 'records')})"
        for column in (evidence.secrets.columns if evidence.secrets else ())
        if column.undeclared_missing
    ]
    if untold:
        yield Advice(
            f"Words and codes for a missing value (such as refused, unknown or -9) count as missing in "
            f"{listed(untold)}, though nobody declared them: they hide nobody whose class otherwise has one value."
        )
    usual = [
        f"{one.column} ({one.reason})"
        for one in roles.suggested
        if one.role == "quasi-identifier" and one.confidence != "low" and one.column in roles.stated
        if roles.role(one.column) in ("other", "sensitive")
    ]
    if usual:
        yield Advice(f"Declared by you to be unknown to others, who usually know such columns: {listed(usual)}.")
    for one in roles.suggested:
        kept = one.column in roles.stated and roles.role(one.column) in ("sensitive", "other")
        if kept and one.role == "identifier" and one.column not in (*roles.identifiers_kept, *roles.pseudonyms):
            yield Advice(
                f"{one.column} is kept as {roles.role_in_words(one.column)}, though {one.reason}; read some of its "
                "cells before it goes out."
            )
    rare = [
        f"{one.column} ({counted(one.distinct, 'text', 'texts')}, {one_decimal((one.rows - one.nulls) / one.distinct)} "
        "records each)"
        for one in roles.suggested
        if one.column in roles.stated and roles.role(one.column) in ("sensitive", "other")
        if one.role != "identifier" and one.column not in roles.pseudonyms and not one.generalised
        if one.kind == "text" and one.distinct >= _FEWEST_TEXTS and one.rows - one.nulls <= _ROWS_EACH * one.distinct
    ]
    if rare:
        yield Advice(
            f"Few records share each text of {listed(rare)}: such texts may be names or numbers of people, or tell who "
            "they are; read some cells before it goes out."
        )
    looks = {one.column: one.role for one in roles.suggested}
    names = [name for name in roles.quasi_identifiers if looks.get(name) in ("identifier", "person")]
    if names:
        yield Advice(
            "Counted as something others know, though it looks like the name or number of a person or a record: "
            f"{listed(names)}. Remove it and assess what is left."
        )
