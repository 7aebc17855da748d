"""The report's section "knowledge": by what the attacker knows."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.measures.attribute_sets import table_of_risks
from incrowd.measures.minimal_unique_sets import table_of_minimal_sets
from incrowd.reports.elements import ROWS, DataTable, Figure, HowComputed, ReportSection, statements_of
from incrowd.wording import percent

_METHODS = (
    HowComputed(
        "Smallest sets that single people out",
        "Minimal sample uniques: sets of attributes that make a record unique, while no part of the set does.",
        "Elliot, Manning & Ford 2002, a computational algorithm for handling the special uniques problem.",
    ),
)
_KNOWN = (
    "Read it from left to right: an attacker who knows one attribute, then two, then three. Where the line rises "
    "steeply, one more attribute adds much information. Few attackers know all of them."
)
_SETS = (
    "Each bar is one kind of attacker, who knows only these attributes. Its length is the share of people whom that "
    "attacker would name correctly. Short bars are harmless combinations."
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    if external:
        return None
    knowledge = assessment.knowledge
    figures = (
        Figure(
            "known",
            f"{knowledge.sets:,} sets of attributes were counted; the line shows the most telling set of each size.",
            plots.risk_by_attributes_known_chart(knowledge),
            table_of_risks("The most telling set of each size", knowledge.worst_by_size, first="attributes"),
            means=_KNOWN,
        ),
        Figure(
            "sets",
            "An attacker who knows one of these sets names this share of the people correctly.",
            plots.most_telling_sets_chart(knowledge),
            table_of_risks(
                "The most telling sets of at most three attributes", knowledge.most_telling[:ROWS], first="attributes"
            ),
            means=_SETS,
        ),
    )
    return ReportSection(
        "knowledge",
        "By what the attacker knows",
        "Few attackers know all attributes. This section shows the risk if they know fewer.",
        statements=statements_of(assessment, "knowledge"),
        figures=figures,
        tables=tuple(_singling_out(assessment)),
        notes=knowledge.notes,
        methods=_METHODS,
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
    yield from table_of_minimal_sets(dict(single.sets))
