"""Candidates: protected tables that are listed, compared with each other, and shown beside their original."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from typing import Any, Literal, cast

from incrowd.assessment.reasons import POPULATION_UNUSED
from incrowd.protection import PROTECTION_METHODS
from incrowd.web import candidate_models as models
from incrowd.web.candidate_jobs import asked_by, is_candidate, protection_of, release_of, result_of
from incrowd.web.candidate_verdict import CandidateVerdict, judge_candidate
from incrowd.web.cells import cell_text, masked_cell, masked_release
from incrowd.web.downloads import file_name, upload_ending
from incrowd.web.jobs import Job
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable
from incrowd.wording import counted, number

_LEAST_KEPT = 3  # columns on a card
_OUTPUTS = {"bounds": "bounds", "midpoint": "midpoints", "mean": "means", "mode": "commonest values"}


def describe_candidates(jobs: Sequence[Job], table: OpenTable) -> list[models.Candidate]:
    """The candidates among some jobs; one with the same cells as an older candidate says so."""
    oldest: dict[str, Job] = {}
    same: dict[str, str] = {}
    for job in sorted(filter(is_candidate, jobs), key=lambda job: job.created):
        with suppress(FileNotFoundError):  # its file was deleted meanwhile
            first = oldest.setdefault(release_of(job).fingerprint, job)
            if first is not job:
                same[job.id] = candidate_name(first)
    return [describe_candidate(job, table, same_as=same.get(job.id)) for job in jobs if is_candidate(job)]


def describe_candidate(job: Job, table: OpenTable, *, same_as: str | None = None) -> models.Candidate:
    """A candidate as the API shows it; `same_as` names an older one with the same cells."""
    result, made_by = result_of(job), protection_of(job)
    reopened = table.history.reopened
    earlier = next((run for run in reopened.runs if run.protection == asked_by(job)), None) if reopened else None
    verdict, perturbed = judge_candidate(job), result["guarantee"]["perturbed"]
    name = candidate_name(job)
    return models.Candidate(
        id=job.id,
        kind="solution" if job.kind == "solution" else "protection",
        name=name,
        file_name=file_name(table.name, name, upload_ending(table)),
        created=job.created.isoformat(timespec="milliseconds"),
        stale=job.stale,
        question_changed=job.question_changed,
        protection=made_by,
        before=models.CandidateRisk(**result["before"]),
        after=models.CandidateRisk(**result["after"]),
        people=result["evaluation"]["people"],
        people_before=result["people_before"],
        risk=result["risk"],
        basis=result["basis"],
        highest=verdict.highest,
        highest_basis=cast(Any, verdict.basis),
        highest_before=_highest_before(result, verdict.basis),
        population_unused=population_unused(verdict),
        detail=result["evaluation"]["granularity"],
        cells_unchanged=result["cells_unchanged"],
        detail_words=detail_in_words(result, len(table.table.columns)),
        least_kept=_least_kept(result),
        same_as=same_as,
        decision=verdict.decision,
        stands=verdict.stands,
        headline=verdict.headline,
        sentence=verdict.recommendation,
        reason=next(iter([*verdict.exposures, *(verdict.reasons if perturbed else [])]), None),
        conditions=list(verdict.conditions),
        remarks=list(verdict.remarks),
        recipient=result["recipient"],
        rows=result["rows"],
        suppressed_rows=result["suppressed_rows"],
        columns=len(table.table.columns),
        columns_left_out=result["removed"],
        perturbed=perturbed,
        when_saved=earlier.summary if earlier else None,
    )


def population_unused(verdict: CandidateVerdict) -> str | None:
    """The verdict's reason why a given population does not count for a protected table; None if it counts."""
    return next((reason for reason in verdict.reasons if reason.startswith(POPULATION_UNUSED)), None)


def _highest_before(result: Mapping[str, Any], basis: str) -> float | None:
    """The highest risk of the original on the basis of the candidate's; None if it is not known."""
    if basis == "population":
        before: float | None = result["highest_before"]
        return before
    return 1 / result["before"]["k"] if basis == "table" and not result["guarantee"]["perturbed"] else None


def _least_kept(result: Mapping[str, Any]) -> list[models.ColumnDetail]:
    """The columns that lost most detail, the least kept first."""
    costs = sorted(result["evaluation"]["columns"], key=lambda one: float(one["granularity"]))
    lost = [one for one in costs if one["granularity"] < 1]
    return [models.ColumnDetail(column=one["column"], detail=one["granularity"]) for one in lost[:_LEAST_KEPT]]


def detail_in_words(result: Mapping[str, Any], columns: int) -> str:
    """Of what the detail of a protection's result is a share: the columns known to others; and what is left out.

    >>> result = {"quasi_identifiers": ["age", "zip"], "removed": ["note"], "suppressed_rows": 0}
    >>> detail_in_words(result | {"guarantee": {"perturbed": []}}, 9)
    'of the columns known to others (2); 1 of 9 columns left out'
    """
    known = result["quasi_identifiers"]
    changed = [name for name in known if name in result["guarantee"]["perturbed"]]
    by_chance = f", {len(changed):,} changed by chance" if changed else ""
    parts = [f"of the columns known to others ({len(known):,}{by_chance})"]
    parts += [f"{len(result['removed']):,} of {columns:,} columns left out"] if result["removed"] else []
    rows = result["suppressed_rows"]
    parts += [f"{counted(rows, 'row', 'rows')} left out"] if rows else []
    return "; ".join(parts)


def candidate_name(job: Job) -> str:
    """The name of a candidate: as the user named it, or by how it was protected."""
    return job.name or name_of(protection_of(job), result_of(job)["removed"])


def name_of(made_by: ProtectionRequest, removed: Sequence[str]) -> str:
    """A name that says how a table was protected, and which columns were `removed`, by their role or by the request.

    >>> name_of(ProtectionRequest(k=11, l=2, sensitive="illness"), [])
    'partition, k = 11, l = 2'
    >>> name_of(ProtectionRequest(k=11, leave_out=["note"]), ["note", "name"])
    'partition, k = 11, without name and note'
    >>> name_of(ProtectionRequest(k=11, output="midpoint"), [])
    'partition, k = 11, midpoints'
    >>> name_of(ProtectionRequest(k=11, beta=2, sensitive="illness"), [])
    'partition, k = 11, beta = 2'
    """
    parts = [PROTECTION_METHODS[made_by.method].label]
    if PROTECTION_METHODS[made_by.method].guarantees_k:
        parts.append(f"k = {made_by.k:,}")
    parts += [f"l = {number(made_by.l)}"] if made_by.l is not None else []
    parts += [f"t = {made_by.t if isinstance(made_by.t, str) else number(made_by.t)}"] if made_by.t is not None else []
    parts += (
        [_OUTPUTS[made_by.output] if isinstance(made_by.output, str) else "written by column"] if made_by.output else []
    )
    parts += [f"without {_few(sorted(removed))}"] if removed else []
    further = made_by.further_in_words()
    parts += further if len("".join(further)) < 60 else [counted(len(further), "further demand", "further demands")]
    return ", ".join(parts)


def _few(names: Sequence[str]) -> str:
    """One or two names, otherwise the number of names."""
    return f"{len(names):,} columns" if len(names) > 2 else " and ".join(name[:20] for name in names)


def name_candidates(jobs: Iterable[Job]) -> None:
    """Give every candidate of a table without a name a new one that no other has, the oldest first."""
    candidates = sorted((job for job in jobs if is_candidate(job)), key=lambda job: job.created)
    taken = {job.name for job in candidates}
    for job in candidates:
        if not job.name:
            made_by = protection_of(job)
            left_out = result_of(job)["removed"]
            name = name_of(made_by, left_out)
            if name in taken and (secrets := made_by.released_secrets(left_out)):
                name += f", {_few(secrets)} kept secret"
            job.name = distinct_name(name, taken)
            taken.add(job.name)


def distinct_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken.

    >>> distinct_name("partition, k = 5", {"partition, k = 5", "partition, k = 5 (2)"})
    'partition, k = 5 (3)'
    """
    numbered = (f"{name} ({number})" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def compare_pair(first: Job, second: Job, table: OpenTable) -> models.Pair:
    """Two candidates side by side: numbers, and the distributions of the quasi-identifiers that both release."""
    a, b = describe_candidate(first, table), describe_candidate(second, table)
    ones, others = ({one["column"]: one for one in result_of(job)["distributions"]} for job in (first, second))
    return models.Pair(
        a=a,
        b=b,
        numbers=[_compare(*entry) for entry in _numbers(result_of(first), result_of(second))],
        columns=[
            models.ComparedColumn(
                column=name,
                groups=ones[name]["groups"],
                original=ones[name]["before"],
                a=ones[name]["after"],
                b=others[name]["after"],
                distance_a=ones[name]["distance"],
                distance_b=others[name]["distance"],
            )
            for name in table.table.columns
            if name in ones and name in others
        ],
    )


def _numbers(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, Any, Any, bool]]:
    """The numbers that are compared: the name, both values, and whether less is better."""
    rows: list[tuple[str, tuple[str, ...], bool]] = [
        ("smallest class", ("after", "k"), False),
        ("alone", ("after", "uniqueness"), True),
        ("average risk within the table", ("after", "correctness"), True),
        ("average risk", ("verdict", "risk"), True),
        ("highest risk", ("verdict", "highest"), True),
        ("detail kept", ("evaluation", "granularity"), False),
        ("information loss", ("evaluation", "information_loss"), True),
        ("rows left out", ("suppressed_rows",), True),
        ("share of cells changed", ("share_changed",), True),
    ]
    numbers = [(name, _at(a, path), _at(b, path), less) for name, path, less in rows]
    return [*numbers, ("columns left out", len(a["removed"]), len(b["removed"]), True)]


def _at(result: dict[str, Any], path: tuple[str, ...]) -> Any:
    for key in path:
        result = result[key]
    return result


def _compare(name: str, a: float | None, b: float | None, less_is_better: bool) -> models.ComparedNumber:
    better: Literal["a", "b"] | None = None
    if a is not None and b is not None and a != b:
        better = "a" if (a < b) == less_is_better else "b"
    return models.ComparedNumber(name=name, a=a, b=b, better=better)


def rows_side_by_side(job: Job, table: OpenTable, question: models.RowsQuestion) -> models.RowPairs:
    """Some rows of the original and of the protected table, with the cells that changed marked."""
    release = release_of(job)
    total = release.table.rows
    count = max(0, min(question.rows, total - question.start))
    records = [release.record_of(question.start + row) for row in range(count)]
    names = list(table.table.columns)
    columns = []
    if records:
        first, last = min(records), max(records)
        cells = table.rows_between(first, last + 1)
        before = [[cell_text(cells[name][record - first].as_py()) for record in records] for name in names]
        columns = list(zip(names, before, release.cells(names, question.start, count), strict=True))
    rows = []
    for index, record in enumerate(records):
        pairs = [(name, was[index], now[index]) for name, was, now in columns]
        rows.append(
            models.RowPair(
                record=record,
                before=[was if question.show else masked_cell(table.kind_of(name)) for name, was, _ in pairs],
                after=[now if question.show else masked_release(was, now) for _, was, now in pairs],
                changed=[was != now for _, was, now in pairs],
            )
        )
    return models.RowPairs(columns=names, rows=rows, total=total, masked=not question.show)
