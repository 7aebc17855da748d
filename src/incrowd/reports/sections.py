"""The sections of a report: what each says of an assessment, with its figures and tables.

Every section is a function of an assessment and of whether the page is for outsiders; it is None where outsiders are
not shown it. `PAGE` lists them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from incrowd.assessment import Assessment, Protection
from incrowd.assessment.question import OPTIONS
from incrowd.figures import assessment_charts as plots
from incrowd.measures.secret_values import parse_secret
from incrowd.populations.copula import PATENT
from incrowd.reports.elements import ROWS, DataTable, Figure, Section, about, missing
from incrowd.wording import chosen_percent, listed, number, people, percent, percent_interval, percentage_points

_FLAGS = {option.name: option.flag for option in OPTIONS}  # what was declared is quoted as it was said
_OUTSIDE = (
    "people",
    "smallest class (k)",
    "average risk within the table (κ)",
    "highest risk",
)  # what outsiders need to know


def facts(assessment: Assessment, external: bool) -> Section | None:
    facts = assessment.facts
    rows = tuple(
        (row["size"], row["classes"], row["people"], percent(row["share"]))
        for row in plots.class_size_bins(facts.sizes)
        if row["people"]
    )
    figure = Figure(
        "class-sizes",
        "How large the crowds are",
        f"{percent(facts.uniqueness)} of the people look like nobody else; {percent(facts.share_below(5))} like fewer "
        "than four others.",
        plots.class_sizes(facts.sizes),
        DataTable("People by the size of their class", ("people alike", "classes", "people", "share"), rows),
    )
    stated = (*about(assessment, "facts"), *about(assessment, "secrets"))
    return Section(
        "facts",
        "The table as it is",
        "People who share every quasi-identifier form a class. Small classes are where people are found; these numbers "
        "are counted, not estimated.",
        tuple(one for one in stated if one.name in _OUTSIDE) if external else stated,
        () if external else (figure,),
    )


def evidence(assessment: Assessment, external: bool) -> Section | None:
    """What the decision rests on besides the classes; it would help an attacker, so outsiders are not shown it."""
    if external:
        return None
    return Section(
        "evidence",
        "What was judged, and what was not",
        "A yes needs every column judged by a person. A column that nobody judged counts as known to the attacker; a "
        "secret counts as disclosed (attribute disclosure) where it is certain in an equivalence class and is news.",
        about(assessment, "evidence"),
        (),
        tuple(_evidence_tables(assessment)),
        tuple(_evidence_notes(assessment)),
    )


def _evidence_tables(assessment: Assessment) -> Iterator[DataTable]:
    evidence = assessment.evidence
    if evidence.undecided:
        yield DataTable(
            "Columns that nobody judged, and what each adds if others know it",
            ("column", "looks like", "why", "smallest class", "unique people", "average risk"),
            tuple(
                (one.column, one.suggested, one.reason, one.k, one.uniques, percent(one.correctness))
                for one in evidence.undecided
            ),
        )
    if evidence.given_back:
        yield DataTable(
            "Kept columns that give back what was made coarser",
            ("column", "gives back", "records told", "smallest class with it", "unique people with it"),
            tuple((one.column, one.gives_back, percent(one.told), one.k, one.uniques) for one in evidence.given_back),
        )
    if evidence.secrets:
        yield DataTable(
            "Secrets that classes give away (attribute disclosure), in records",
            ("sensitive column", "secret", "missing", "certain", "of them missing", "of them common", "news", "share"),
            tuple(
                (
                    one.column,
                    one.secret,
                    one.missing,
                    one.certain,
                    one.certain_missing,
                    one.certain_common,
                    one.news,
                    percent(one.news_share),
                )
                for one in evidence.secrets.columns
            ),
        )


def _evidence_notes(assessment: Assessment) -> Iterator[str]:
    evidence = assessment.evidence
    for column in assessment.verdict.declared:
        yield f"Declared by you ({_FLAGS['other']}): nobody outside can know {column}."
    if assessment.provenance.question.rows_are_people:
        yield f"Declared by you ({_FLAGS['rows_are_people']}): every row is another person."
    for text in assessment.provenance.question.secrets:
        column, secret = parse_secret(text)
        yield f"Declared by you ({_FLAGS['secrets']}): the secret of {column} is {secret.in_words}."
    for one in evidence.secrets.columns if evidence.secrets else ():
        if one.structural_missing:
            yield (
                f"{one.column} is missing for {people(one.structural_missing)} because of "
                f"{listed(one.missing_follows_from)} (structural missing); that is no secret."
            )
    if evidence.harmless:
        yield (
            f"Cannot matter, whoever knows them: {listed(evidence.harmless)}. They have one value, or the "
            "quasi-identifiers tell them."
        )
    if evidence.rows.kind != "people":
        yield f"Rows may not be people: {evidence.rows.reason}."


def knowledge(assessment: Assessment, external: bool) -> Section | None:
    if external:
        return None
    knowledge = assessment.knowledge
    worst = tuple(
        (len(risk.columns), ", ".join(risk.columns), percent(risk.correctness), percent(risk.uniqueness), risk.smallest)
        for risk in knowledge.worst_by_size
    )
    small_sets = tuple(
        (", ".join(risk.columns), percent(risk.correctness), percent(risk.uniqueness), risk.smallest)
        for risk in knowledge.most_telling[:ROWS]
    )
    columns = ("named correctly", "unique", "smallest class")
    figures = (
        Figure(
            "known",
            "Risk by what the attacker knows",
            f"{knowledge.sets:,} sets of attributes were counted; the line shows the most telling set of each size.",
            plots.by_attributes_known(knowledge),
            DataTable("The most telling set of each size", ("size", "attributes", *columns), worst),
        ),
        Figure(
            "sets",
            "The most telling small sets",
            "Whoever knows one of these sets names this share of the people correctly.",
            plots.most_telling_sets(knowledge),
            DataTable("The most telling sets of at most three attributes", ("attributes", *columns), small_sets),
        ),
    )
    return Section(
        "knowledge",
        "By what the attacker knows",
        "Few attackers know everything. This is what smaller knowledge is enough for.",
        about(assessment, "knowledge"),
        figures,
        tuple(_singling_out(assessment)),
        knowledge.notes,
    )


def _singling_out(assessment: Assessment) -> Iterator[DataTable]:
    single = assessment.knowledge.singling_out
    if single is None:
        return
    yield DataTable(
        "People singled out by few attributes",
        ("attributes known", "people", "share"),
        tuple(
            (f"{size} or fewer", records, percent(records / single.records)) for size, records in single.by_size.items()
        ),
    )
    if single.sets:
        yield DataTable(
            "The smallest sets that single people out (no part of the set does)",
            ("attributes", "people"),
            tuple((", ".join(columns), records) for columns, records in single.sets[:ROWS]),
        )


def drivers(assessment: Assessment, external: bool) -> Section | None:
    if external:
        return None
    parts = assessment.knowledge.contributions
    how = (
        "over every order in which they may become known"
        if parts.orders is None
        else f"over {parts.orders:,} random orders"
    )
    rows = tuple(
        (
            part.column,
            percentage_points(part.correctness),
            percent(parts.share(part)),
            percentage_points(part.uniqueness),
        )
        for part in parts.ranked
    )
    most = parts.ranked[0]
    figure = Figure(
        "drivers",
        "What each attribute adds",
        f"{most.column} adds most: {percent(parts.share(most))} of what all attributes add to the average risk.",
        plots.contributions(parts),
        DataTable(
            "What each attribute adds", ("attribute", "points of average risk", "share", "points of uniqueness"), rows
        ),
    )
    return Section(
        "drivers",
        "Which attribute drives the risk",
        f"What each attribute adds to the risk, averaged {how}. The parts add up to the whole.",
        about(assessment, "drivers"),
        (figure,),
    )


def population(assessment: Assessment, external: bool) -> Section | None:
    risk = assessment.population
    if external and risk is None:
        return None
    lead = (
        "The table is a sample. Somebody who does not know whether a person is in it has to find them among everybody."
    )
    if risk is None:
        return Section("population", "Sample against population", lead, notes=(missing(assessment, "population"),))
    rows = (
        ("somebody known to be in the table", percent(assessment.facts.correctness), "counted"),
        (
            "a record among the population (B)",
            percent(risk.sample_to_population),
            "no interval" if risk.interval is None else percent_interval(*risk.interval),
        ),
        ("a person of the population in the table (A)", percent(risk.population_to_sample), "counted"),
    )
    figure = Figure(
        "population",
        "In the table and in the population",
        f"The table holds {percent(risk.fraction)} of {risk.population:,} people.",
        plots.population(assessment),
        DataTable("Average risk by what the attacker looks for", ("who", "risk", "95% interval"), rows),
    )
    return Section(
        "population",
        "Sample against population",
        lead,
        about(assessment, "population"),
        (figure,),
        (),
        () if external else tuple(note for note in risk.notes if note != PATENT),
    )


def forecast(assessment: Assessment, external: bool) -> Section | None:
    if external:
        return None
    law = assessment.forecast
    lead = (
        "The same attributes single out fewer people the more there are. This is the risk if the table were a random "
        "sample of so many people, by the same estimate as for a given population."
    )
    if law is None:
        return Section("forecast", "In larger populations", lead, notes=(missing(assessment, "forecast"),))
    rows = tuple(
        (
            f"{law.at[index]:,.0f}",
            percent(law.correctness.value[index]),
            percent_interval(law.correctness.low[index], law.correctness.high[index]),
            percent(law.uniqueness.value[index]) if law.uniqueness is not None else "–",
        )
        for index in range(len(law.at))
    )
    figure = Figure(
        "forecast",
        "From the table to the world",
        f"From {law.measured:,} people to the world, if the table is a random sample of them.",
        plots.forecast(law, assessment.verdict.threshold),
        DataTable("Forecast", ("people", "named correctly", f"{chosen_percent(law.level)} interval", "unique"), rows),
    )
    return Section("forecast", "In larger populations", lead, about(assessment, "forecast"), (figure,), (), law.notes)


def leaks(assessment: Assessment, external: bool) -> Section | None:
    if external:
        return None
    risks = assessment.leaks.risks
    targets = sorted({risk.targets for risk in risks})
    shares = sorted({risk.share_leaked for risk in risks if risk.targets == 1})
    by = {(risk.share_leaked, risk.targets): risk for risk in risks}
    rows = tuple(
        (chosen_percent(part), by[part, 1].leaked, *(percent(by[part, each].probability) for each in targets))
        for part in shares
    )
    named = tuple("one person named" if each == 1 else f"all of {each} named" for each in targets)
    figure = Figure(
        "leaks",
        "Chance of being named by the size of the leak",
        "The chance that a given person is named from a leak, for this table "
        + (
            "and for the protected ones of the next section."
            if assessment.protection is not None and assessment.protection.costs
            else "and for tables in which every class has exactly k people; this one may have larger classes, too."
        ),
        plots.leaks(assessment.leaks, assessment.protection),
        DataTable("Chance by size of the leak", ("leaked", "people", *named), rows),
    )
    return Section(
        "leaks",
        "If part of it is stolen",
        "A thief rarely gets everything. The less leaks, the less likely a given person is in it and found.",
        about(assessment, "leaks"),
        (figure,),
    )


def attacks(assessment: Assessment, external: bool) -> Section | None:
    """What attackers achieve on a release; only where one was named, and not told to outsiders in detail."""
    if assessment.provenance.question.released is None:
        return None
    lead = (
        "The release was attacked by somebody who knows the quasi-identifiers. The risk is the share of the people "
        "safe without the release whom it exposes; an attack that could not be run is not known to fail."
    )
    found = assessment.attacks
    if found is None:
        return Section("attacks", "If it is attacked", lead, notes=(missing(assessment, "attacks"),))
    table = DataTable(
        "Attacks on the release",
        ("attack", "success", "without the release", "risk", "95% interval"),
        tuple(found.as_text()),
    )
    notes = [f"Not run: {name}: {reason}." for name, reason in found.not_run.items()]
    notes += dict.fromkeys(note for one in found.attacks for note in one.notes)
    said = () if external else about(assessment, "attacks")
    return Section("attacks", "If it is attacked", lead, said, (), (table,), () if external else tuple(notes))


def protection(assessment: Assessment, external: bool) -> Section | None:
    released = assessment.provenance.question.released is not None
    if assessment.protection is None and (external or released):
        return None
    lead = "Values are made coarser just enough that everybody shares them with k − 1 others. This is what it costs."
    if assessment.protection is None:
        return Section("protection", "What protection would cost", lead, notes=(missing(assessment, "protection"),))
    costs = assessment.protection.costs
    rows = tuple(
        (
            cost.k,
            percent(cost.risk),
            *([percent_interval(*cost.population_limits)] if cost.population_limits else []),
            percent(cost.granularity),
            percent(cost.cells_changed),
            "–" if cost.information_loss is None else number(cost.information_loss),
        )
        for cost in costs
    )
    where: tuple[str, ...] = ("average risk in the table",)
    if any(cost.population_limits for cost in costs):
        where = ("average risk in the population", "what is certain of it")
    columns = ("k", *where, "detail kept", "cells changed", "information loss")
    figure = Figure(
        "protection",
        "Risk left and detail kept",
        f"From k = {costs[0].k} to k = {costs[-1].k}: the risk falls to {percent(costs[-1].risk)}, "
        f"{percent(costs[-1].granularity)} of the detail is kept. The limit on the average is "
        f"{chosen_percent(assessment.verdict.threshold)}; classes of {assessment.verdict.limits.class_size} keep that "
        "on the highest."
        if costs
        else "The table is too small to protect.",
        plots.protection(assessment.protection, assessment.verdict.threshold),
        DataTable("Cost of protection", columns, rows),
    )
    return Section(
        "protection",
        "What protection would cost",
        lead,
        (*about(assessment, "protection"), *(() if external else about(assessment, "secrets left"))),
        (figure,) if costs else (),
        () if external else tuple(_secrets_left(assessment.protection)),
        assessment.protection.notes,
    )


def _secrets_left(protection: Protection) -> Iterator[DataTable]:
    """What classes of each size still give away about each sensitive column."""
    rows = tuple(
        (secret.column, cost.k, secret.l, number(secret.t, digits=3), percent(secret.given_away))
        for cost in protection.costs
        for secret in cost.secrets
    )
    if rows:
        caption = "What is left of each secret (k alone does not protect it; t and l can be asked for as well)"
        yield DataTable(caption, ("sensitive column", "k", "l", "t", "given away"), tuple(sorted(rows)))


def columns(assessment: Assessment, external: bool) -> Section | None:
    if external:
        return None
    roles = assessment.roles
    rows = tuple(
        (
            one.column,
            one.kind,
            one.distinct if one.distinct >= 0 else "–",
            roles.role(one.column),
            "you" if one.column in roles.stated else "nobody",
            roles.reason(one.column),
        )
        for one in roles.suggested
    )
    table = DataTable("Columns and their roles", ("column", "type", "distinct", "role", "judged by", "why"), rows)
    lead = "Everything above rests on these roles. A column others know that is not a quasi-identifier hides risk."
    return Section("columns", "What the columns are", lead, tables=(table,) if rows else ())


PAGE: tuple[Callable[[Assessment, bool], Section | None], ...] = (
    facts,
    evidence,
    knowledge,
    drivers,
    population,
    forecast,
    leaks,
    attacks,
    protection,
    columns,
)
"""The sections in the order of the page."""
