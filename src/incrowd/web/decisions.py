"""Decisions about a table with the numbers they rest on, and the record of a decision: a page with lines to sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from incrowd.recipients import in_words, settle_limits, smallest_class
from incrowd.reports.plain_page import html_table, plain_page
from incrowd.web.candidate_jobs import is_candidate, without_rows
from incrowd.web.candidate_verdict import judge_candidate
from incrowd.web.candidates import describe_candidate, name_of
from incrowd.web.downloads import release_hashes
from incrowd.web.fields import ROLE_WORDS
from incrowd.web.jobs import Job
from incrowd.web.models import TableSettings
from incrowd.web.project_models import AcceptedRisk, DecidedNumbers, NewDecision, RecordedDecision
from incrowd.web.projects import describe_table, without_cells
from incrowd.web.refusals import Refusal
from incrowd.web.session_table import OpenTable
from incrowd.web.table_history import utc_now
from incrowd.wording import counted, listed, percent

_DECIDED = {"release": "May go out", "refuse": "Must not go out", "later": "Not decided yet"}
_AGAINST = "Goes out although the verdict is not yes"
_NUMBERS = {
    "headline": "verdict",
    "people": "people",
    "k": "smallest class (k)",
    "uniqueness": "alone in their class",
    "correctness": "average risk within the table",
    "risk": "average risk by the verdict",
    "highest": "person at highest risk",
    "detail": "detail kept of the columns known to others",
    "rows_left_out": "rows left out",
}
_ROLE_HEADS = ("column", "role", "decided", "what speaks for its suggestion")
_PLAIN = ("headline", "people", "k", "rows_left_out")
_BASES = {"table": "in the table", "population": "in the population", "attacks": "by attacks"}


def decide(new: NewDecision, table: OpenTable, candidate: Job | None, jobs: Sequence[Job]) -> RecordedDecision:
    """The decision with its numbers and the settings by which they were judged.

    Args:
        new: the decision.
        table: the table that it is about.
        candidate: the protected table that it is about, if it is about one.
        jobs: the jobs of the table, the newest first.

    Raises:
        Refusal: the candidate is of another table or of other settings than the table has now, a table is released
            without an assessment by these settings, against the verdict without a reason, or while a condition of the
            yes is not confirmed.
    """
    judged, settings = table, table.settings
    if candidate is not None:
        if not is_candidate(candidate) or candidate.table != table.id:
            raise Refusal(409, "only a protection of this table can be decided about")
        if candidate.source is None or candidate.settings is None or candidate.question_changed:
            raise Refusal(
                409,
                "the columns, the reading of the file or the recipient were judged anew since this candidate was made; "
                "protect again, or go back to those settings, before you decide about it",
            )
        judged, settings = candidate.source, candidate.settings
    assessed = next((job for job in jobs if _has_assessed(job, judged, settings)), None)
    if new.decision == "release" and candidate is None and assessed is None:
        raise Refusal(409, "a table is released by an assessment of its settings as they are now; assess it first")
    made = describe_candidate(candidate, judged) if candidate else None
    limits = settle_limits(settings.recipient, threshold=settings.threshold, highest=settings.highest)
    decided = RecordedDecision(
        at=utc_now(),
        **new.model_dump(exclude={"candidate"}),
        table=describe_table(judged),
        settings=without_cells(settings)[0],
        accepted=AcceptedRisk(highest=limits.highest, average=limits.average),
        before=_numbers_before(assessed, candidate),
        after=_numbers_after(candidate) if candidate else None,
        candidate=made.name if made else None,
        protection=without_rows(made.protection) if made else None,
        files=_hash_files(candidate, made.name, judged) if candidate and made else {},
    )
    if decided.is_against_verdict and not new.note.strip():
        raise Refusal(409, "the verdict is not yes: write in the note why it goes out all the same")
    if decided.decision == "release" and not decided.is_against_verdict and decided.unconfirmed:
        missing = decided.unconfirmed
        raise Refusal(
            409,
            f"{counted(len(missing), 'condition', 'conditions')} of the yes {'is' if len(missing) == 1 else 'are'} not "
            f"confirmed yet: {missing[0]}",
        )
    return decided


def _hash_files(candidate: Job, name: str, table: OpenTable) -> dict[str, str]:
    """The files that a candidate is downloaded as, with their SHA-256."""
    release = candidate.answer().release
    assert release is not None
    return release_hashes(release, name, table)


def _numbers_after(candidate: Job) -> DecidedNumbers:
    return DecidedNumbers(**candidate.answer().summary | judge_candidate(candidate).summary)


def _numbers_before(assessed: Job | None, candidate: Job | None) -> DecidedNumbers | None:
    """Numbers of the assessment; without one, the candidate's counts before protection, which have no verdict."""
    if assessed is not None:
        return DecidedNumbers(**assessed.answer().summary)
    return None if candidate is None else DecidedNumbers(**candidate.answer().to_json()["before"])


def _has_assessed(job: Job, table: OpenTable, settings: TableSettings) -> bool:
    """True if a job assessed the table by these settings; the settings of protection may differ."""
    if job.kind != "assessment" or job.state != "done" or job.source is not table or job.settings is None:
        return False
    return job.settings.model_copy(update={"protection": settings.protection}) == settings


def is_about(decision: RecordedDecision, table: OpenTable) -> bool:
    """True if a decision is about this table, not about an earlier table of its project; by name, rows and columns."""
    described, columns = decision.table, [one.name for one in decision.table.columns]
    return (described.name, described.rows, columns) == (table.name, table.table.rows, list(table.table.columns))


def record_page(decision: RecordedDecision) -> str:
    """The record of a decision as an HTML page without cells; later changes of the table do not change it."""
    when = decision.at[:16].replace("T", ", ")
    name = (decision.candidate or "").replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    about = f"{decision.table.name}, " + (f"protected as “{name}”" if name else "the table as it is")
    question = [*_list_question(decision), *_list_protection(decision)]
    judged = decision.after or decision.before
    reasons = {one.condition: one.reason for one in decision.confirmed}
    body = (
        f"<h1>{escape(_AGAINST if decision.is_against_verdict else _DECIDED[decision.decision])}: {escape(about)}</h1>"
        f"<p><strong>{escape(decision.by)}</strong>, {escape(when)} UTC</p>"
        + (f"<p>{escape(decision.note)}</p>" if decision.note else "")
        + f"<h2>Question</h2>{html_table(('', ''), question)}"
        f"<h2>Before and after</h2>{html_table(('', 'before', 'after'), _list_numbers(decision))}"
        + (f"<p>{escape(judged.recommendation)}</p>" if judged and judged.recommendation else "")
        + "".join(
            f"<p>{escape(condition)}{_confirmed_in_words(decision, reasons.get(condition))}</p>"
            for condition in ((*judged.careful, *judged.conditions, *judged.remarks) if judged else ())
        )
        + "<h2>Signatures</h2><p>Name, date: ______________________________</p>"
        "<p>Name, date: ______________________________</p>"
        f"<h2>Columns</h2>{html_table(_ROLE_HEADS, _list_roles(decision))}"
    )
    title = f"Decision of {when[:10]} on {decision.table.name}"
    return plain_page(title, body, "report.css", style=" main { padding: 2rem 1.5rem; }")


def _confirmed_in_words(decision: RecordedDecision, reason: str | None) -> str:
    """Who confirmed a condition, and the reason in their words; nothing if nobody did."""
    if reason is None:
        return ""
    words = f" “{reason}”" if reason else ""
    return f"<br><strong>☑ Confirmed by {escape(decision.by)}.</strong>{escape(words)}"


def _list_question(decision: RecordedDecision) -> Iterator[tuple[str, str]]:
    """The table, the recipient and the accepted risks."""
    table, average = decision.table, decision.accepted.average
    yield "table", f"{table.name}, {counted(table.rows, 'row', 'rows')}, {len(table.columns):,} columns"
    yield "recipient", in_words(decision.settings.recipient)
    highest = f"highest risk 1/{smallest_class(decision.accepted.highest)}"
    yield "accepted", f"{highest}, average risk {'no limit' if average is None else percent(average)}"
    yield "population", _population(decision)


def _list_protection(decision: RecordedDecision) -> Iterator[tuple[str, str]]:
    """The files of a protected table and how it was made; nothing for a table as it is."""
    protection = decision.protection
    if protection is None:
        return
    yield from (("file", f"{name}, SHA-256 {digest}") for name, digest in decision.files.items())
    gone = {name for name, role in decision.settings.roles.items() if role in ("identifier", "drop")}
    left_out = [one.name for one in decision.table.columns if one.name in gone.union(protection.leave_out)]
    yield "protected by", name_of(protection, left_out)
    if secrets := protection.released_secrets(left_out):
        yield "kept secret", ", ".join(secrets)
    if left_out:
        yield "left out", ", ".join(left_out)
    if further := protection.further_in_words():
        yield "further demands", "; ".join(further)


def _list_numbers(decision: RecordedDecision) -> Iterator[tuple[str, str, str]]:
    """The numbers that are known of the table before or after its protection."""
    for key, words in _NUMBERS.items():
        if any(getattr(side, key, None) is not None for side in (decision.before, decision.after)):
            yield words, _shown(decision.before, key), _shown(decision.after, key)


def _list_roles(decision: RecordedDecision) -> Iterator[tuple[str, str, str, str]]:
    """The role of every column, and whether a person decided on it."""
    settings = decision.settings
    words = {name: ROLE_WORDS[role] for name, role in settings.roles.items()}
    for one in decision.table.columns:
        yield one.name, words.get(one.name, "–"), "yes" if one.name in settings.decided else "no", one.reason


def _population(decision: RecordedDecision) -> str:
    """The population that a decision assumes, in words."""
    settings = decision.settings
    if settings.population is not None:
        return f"{settings.population:,} people"
    weights = [name for name, role in settings.roles.items() if role == "weight"]
    return f"as many people as the weights in {listed(weights)} add up to" if weights else "the table itself"


def _shown(numbers: DecidedNumbers | None, key: str) -> str:
    value = getattr(numbers, key, None)
    if value is None:
        return "not assessed" if key == "headline" else "–"
    if key in _PLAIN:
        return f"{value:,}" if isinstance(value, int) else str(value)
    place = _BASES.get(getattr(numbers, "basis", None) or "", "") if key in ("risk", "highest") else ""
    return f"{percent(value)} {place}".strip()
