"""The report's section "leaks": if part of it is stolen."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import DataTable, Figure, HowComputed, ReportSection, statements_of
from incrowd.wording import chosen_percent, percent

_METHODS = (
    HowComputed(
        "Leaks",
        "The exact chance over all leaks of a size, from generating functions; no simulation.",
        "Antoniou et al., assessing the risk of re-identification arising from an attack on anonymised data; the "
        "exact form is this package's own.",
    ),
)
_MEANS = (
    "If a tenth of the table leaks, nine in ten people are not in it at all. The lines show the chance that a "
    "given person is in the stolen part and is named, for the table now and for larger classes. For a small leak the "
    "lines are close together: few other members of the class have leaked too, so protection helps little."
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
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
        "The chance that a given person is named from a leak, for this table "
        + (
            "and for the protected ones of the next section."
            if assessment.protection is not None and assessment.protection.costs
            else "and for tables in which every class has exactly k people; this table may also have larger classes."
        ),
        plots.leaks_chart(assessment.leaks, assessment.protection),
        DataTable("Chance by size of the leak", ("leaked", "people", *named), rows),
        means=_MEANS,
    )
    return ReportSection(
        "leaks",
        "If part of it is stolen",
        "A thief rarely gets everything. The smaller the leak, the smaller the chance that a given person is named.",
        statements=statements_of(assessment, "leaks"),
        figures=(figure,),
        methods=_METHODS,
    )
