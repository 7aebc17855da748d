"""The report's section "evidence": what was judged, and what was not."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.assessment import Assessment
from incrowd.assessment.question import OPTIONS
from incrowd.measures.secret_values import parse_secret
from incrowd.reports.elements import DataTable, HowComputed, ReportSection, statements_of
from incrowd.wording import counted, listed, percent

_METHODS = (
    HowComputed(
        "Sensitive values that classes disclose",
        "In every class the records with one value are counted. A value counts as disclosed if its share is large "
        "enough to be certain and the value is news: not missing, and not the value that most people have.",
        "Attribute disclosure: Machanavajjhala et al. 2007, l-diversity.",
    ),
)
_FLAGS = {option.name: option.flag for option in OPTIONS}  # declarations are quoted verbatim


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    """Evidence for the decision other than the classes; outsiders do not see it, because it would help an attacker."""
    if external:
        return None
    return ReportSection(
        "evidence",
        "What was judged, and what was not",
        "A yes needs every column judged by a person. A column that nobody judged counts as known to the attacker. "
        "A sensitive value counts as disclosed (attribute disclosure) if it is certain in an equivalence class and is "
        "news.",
        statements=statements_of(assessment, "evidence"),
        tables=tuple(_tables(assessment)),
        notes=tuple(_notes(assessment)),
        methods=_METHODS,
    )


def _tables(assessment: Assessment) -> Iterator[DataTable]:
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
    if evidence.secrets:
        yield DataTable(
            "Sensitive values that classes disclose (attribute disclosure), in records",
            (
                *(
                    "sensitive column",
                    "secret",
                    "missing",
                    "certain",
                    "of them missing",
                    "of them common",
                    "close numbers",
                ),
                *("news", "share"),
            ),
            tuple(
                (
                    one.column,
                    one.secret,
                    one.missing,
                    one.certain,
                    one.certain_missing,
                    one.certain_common,
                    one.close,
                    one.news,
                    percent(one.news_share),
                )
                for one in evidence.secrets.columns
            ),
        )


def _notes(assessment: Assessment) -> Iterator[str]:
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
                f"{one.column} is missing in {counted(one.structural_missing, 'record', 'records')} because of "
                f"{listed(one.missing_follows_from)} (structural missing); that is no secret."
            )
    if evidence.harmless:
        yield (
            f"Cannot add risk: {listed(evidence.harmless)}. They have one value, or follow from the quasi-identifiers."
        )
    if evidence.rows.kind != "people":
        yield f"Rows may not be people: {evidence.rows.reason}."
