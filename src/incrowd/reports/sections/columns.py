"""The report's section "columns": the roles of the columns."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.reports.elements import DataTable, ReportSection

AFTER = "protection"


def show(assessment: Assessment, external: bool) -> ReportSection | None:
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
    lead = (
        "All results depend on these roles. If others know a column that is not a quasi-identifier, the risk is higher."
    )
    return ReportSection("columns", "What the columns are", lead, tables=(table,) if rows else (), methods=())
