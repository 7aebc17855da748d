"""The report's section "facts": the table as it is."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import DataTable, Figure, HowComputed, ReportSection, statements_of
from incrowd.wording import percent

_METHODS = (
    HowComputed(
        "Classes, k and average risk",
        "People are grouped by all quasi-identifiers. A missing value is a value. Average risk is classes ÷ people.",
        "Sweeney 2002, k-anonymity; Rocher, Hendrickx & de Montjoye, a scaling law to model the effectiveness of "
        "identification techniques, 2025 (κ = Σ 1/f ÷ n).",
    ),
    HowComputed(
        "l and t",
        "Counted in every class; t by the earth mover's distance, over ranks for numbers and dates, otherwise with "
        "all values equally far.",
        "Machanavajjhala et al. 2007, l-diversity; Li, Li & Venkatasubramanian 2007, t-closeness.",
    ),
)
CLASS_SIZES = (
    "Sort the people into groups that look alike. The first bar holds those who are alone: an attacker who knows "
    "their attributes has found them. Bars further right are safer, because a guess among ten is right once in ten "
    "times."
)
"""Explanation of the bars of class sizes for a first-time reader."""

_OUTSIDE = (
    "people",
    "smallest class (k)",
    "average risk within the table (κ)",
    "highest risk",
)  # what outsiders need to know


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    facts, least = assessment.facts, assessment.verdict.limits.class_size
    rows = tuple(
        (row["size"], row["classes"], row["people"], percent(row["share"]))
        for row in plots.class_size_bins(facts.sizes, least)
        if row["people"]
    )
    figure = Figure(
        "class-sizes",
        f"{percent(facts.uniqueness)} of the people look like nobody else; {percent(facts.share_below(least))} like "
        f"fewer than {least - 1:,} others.",
        plots.class_sizes_chart(facts.sizes, least),
        DataTable("People by the size of their class", ("people alike", "classes", "people", "share"), rows),
        means=CLASS_SIZES,
    )
    stated = (*statements_of(assessment, "facts"), *statements_of(assessment, "secrets"))
    return ReportSection(
        "facts",
        "The table as it is",
        "People who share every quasi-identifier form a class. People in small classes are found most easily. These "
        "numbers are counted, not estimated.",
        statements=tuple(one for one in stated if one.name in _OUTSIDE) if external else stated,
        figures=() if external else (figure,),
        methods=_METHODS,
    )
