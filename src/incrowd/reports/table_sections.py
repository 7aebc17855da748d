"""Sections on what is counted in the table: facts, what attackers know, what drives the risk, the columns."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import ROWS, DataTable, Figure, Section, about
from incrowd.wording import percentage_points, share

_OUTSIDE = (
    "people",
    "smallest class (k)",
    "average risk within the table (κ)",
    "highest risk",
)  # what outsiders need to know


def facts(found: Assessment, external: bool) -> Section:
    facts = found.facts
    rows = tuple(
        (row["size"], row["classes"], row["people"], share(row["share"]))
        for row in plots.class_size_bins(facts.sizes)
        if row["people"]
    )
    figure = Figure(
        "class-sizes",
        "How large the crowds are",
        f"{share(facts.uniqueness)} of the people look like nobody else; {share(facts.share_below(5))} like fewer "
        "than four others.",
        plots.class_sizes(facts.sizes),
        DataTable("People by the size of their class", ("people alike", "classes", "people", "share"), rows),
    )
    stated = (*about(found, "facts"), *about(found, "secrets"))
    return Section(
        "facts",
        "The table as it is",
        "People who share every quasi-identifier form a class. Small classes are where people are found; these numbers "
        "are counted, not estimated.",
        tuple(one for one in stated if one.name in _OUTSIDE) if external else stated,
        () if external else (figure,),
    )


def knowledge(found: Assessment) -> Section:
    knowledge = found.knowledge
    worst = tuple(
        (len(risk.columns), ", ".join(risk.columns), share(risk.correctness), share(risk.uniqueness), risk.smallest)
        for risk in knowledge.worst_by_size
    )
    told = tuple(
        (", ".join(risk.columns), share(risk.correctness), share(risk.uniqueness), risk.smallest)
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
            DataTable("The most telling sets of at most three attributes", ("attributes", *columns), told),
        ),
    )
    return Section(
        "knowledge",
        "By what the attacker knows",
        "Few attackers know everything. This is what smaller knowledge is enough for.",
        about(found, "knowledge"),
        figures,
        tuple(_singling_out(found)),
        knowledge.notes,
    )


def _singling_out(found: Assessment) -> Iterator[DataTable]:
    single = found.knowledge.singling_out
    if single is None:
        return
    yield DataTable(
        "People singled out by few attributes",
        ("attributes known", "people", "share"),
        tuple(
            (f"{size} or fewer", records, share(records / single.records)) for size, records in single.by_size.items()
        ),
    )
    if single.sets:
        yield DataTable(
            "The smallest sets that single people out (no part of the set does)",
            ("attributes", "people"),
            tuple((", ".join(columns), records) for columns, records in single.sets[:ROWS]),
        )


def drivers(found: Assessment) -> Section:
    parts = found.knowledge.contributions
    how = (
        "over every order in which they may become known"
        if parts.orders is None
        else f"over {parts.orders:,} random orders"
    )
    rows = tuple(
        (part.column, percentage_points(part.correctness), share(parts.share(part)), percentage_points(part.uniqueness))
        for part in parts.ranked
    )
    most = parts.ranked[0]
    figure = Figure(
        "drivers",
        "What each attribute adds",
        f"{most.column} adds most: {parts.share(most):.0%} of what all attributes add to the average risk.",
        plots.contributions(parts),
        DataTable(
            "What each attribute adds", ("attribute", "points of average risk", "share", "points of uniqueness"), rows
        ),
    )
    return Section(
        "drivers",
        "Which attribute drives the risk",
        f"What each attribute adds to the risk, averaged {how}. The parts add up to the whole.",
        about(found, "drivers"),
        (figure,),
    )


def columns(found: Assessment) -> Section:
    roles = found.roles
    rows = tuple(
        (one.column, one.kind, one.distinct if one.distinct >= 0 else "–", roles.role(one.column), reason)
        for one in roles.suggested
        for reason in [roles.reason(one.column)]
    )
    table = DataTable("Columns and their roles", ("column", "type", "distinct", "role", "why"), rows)
    lead = "Everything above rests on these roles. A column others know that is not a quasi-identifier hides risk."
    return Section("columns", "What the columns are", lead, tables=(table,) if rows else ())
