"""Routes of correctness curves, checks of the law, sets of items and masked values."""

from __future__ import annotations

from fastapi import APIRouter

from incrowd.web import curve_equivalents as equivalents
from incrowd.web import curve_models as models
from incrowd.web.api.dependencies import TheServer, TheSession, refusals
from incrowd.web.api.job_routes import AnyTableJob, TableJob
from incrowd.web.models import JobInfo
from incrowd.web.refusals import Refusal
from incrowd.web.tasks.curve_tasks import check_task, exact_task, ranks_task, robust_task, sparse_task, techniques_task
from incrowd.web.tasks.forecast_task import MeasuredTechnique
from incrowd.web.tasks.masked_task import masked_task, regenerate_task
from incrowd.web.tasks.sets_task import items_task, sets_task

router = APIRouter(tags=["curves"])


@router.post("/tables/{table_id:key}/checks", status_code=202, responses=refusals(404, 409))
def start_check(start: TableJob, question: models.CheckQuestion | None = None) -> JobInfo:
    """Check the fit of the law to the table: samples drawn from the law, and the share inside their band."""
    return start("check", check_task, equivalents.check, question or models.CheckQuestion())


@router.post("/tables/{table_id:key}/itemsets", status_code=202, responses=refusals(404, 409))
def start_items(start: AnyTableJob, question: models.ItemsQuestion) -> JobInfo:
    """k^m-anonymity of a table with a row for each item of a person."""
    return start("itemsets", items_task, equivalents.itemsets, question)


@router.post("/tables/{table_id:key}/set-protections", status_code=202, responses=refusals(404, 409))
def start_sets(start: AnyTableJob, question: models.SetsQuestion, server: TheServer, session: TheSession) -> JobInfo:
    """Protect items or points of people; the protected table can be downloaded."""
    server.check_room(session)
    folder = server.store.folder
    return start("sets", lambda table, asked: sets_task(table, asked, folder), equivalents.protected_sets, question)


@router.post("/tables/{table_id:key}/masked", status_code=202, responses=refusals(404, 409))
def start_masked(start: AnyTableJob, question: models.MaskedQuestion | None = None) -> JobInfo:
    """Count the unique records of a masked table by the values its ranges, sets and wildcards cover."""
    return start("masked", masked_task, equivalents.masked, question or models.MaskedQuestion())


@router.post("/tables/{table_id:key}/regenerations", status_code=202, responses=refusals(404, 409))
def start_regeneration(
    start: AnyTableJob, question: models.RegenerationQuestion, server: TheServer, session: TheSession
) -> JobInfo:
    """Fill masked cells with values drawn from published counts; the filled table can be downloaded."""
    counts = session.table(question.counts)
    server.check_room(session)
    return start(
        "regeneration",
        lambda table, asked: regenerate_task(table, asked, counts, server.store.folder),
        lambda table, asked: equivalents.regeneration(table, asked, counts.source),
        question,
    )


@router.post("/tables/{table_id:key}/curves/exact", status_code=202, responses=refusals(404, 409))
def start_exact(start: AnyTableJob, question: models.ExactQuestion | None = None) -> JobInfo:
    """Correctness of an attacker who knows columns exactly, in galleries of every size and in larger populations."""
    return start("curve", exact_task, equivalents.exact_curve, question or models.ExactQuestion())


@router.post("/tables/{table_id:key}/curves/techniques", status_code=202, responses=refusals(404, 409))
def start_techniques(
    start: AnyTableJob, question: models.TechniquesQuestion, server: TheServer, session: TheSession
) -> JobInfo:
    """Several techniques side by side: curves of finished jobs, and points that were measured elsewhere."""
    jobs = {one.name: server.jobs.get(session.key, one.job) for one in question.techniques if one.job is not None}
    measured = {name: job.answer().value for name, job in jobs.items()}
    if not all(isinstance(one, MeasuredTechnique) for one in measured.values()):
        raise Refusal(409, "only curves and forecasts can be compared with each other")
    made_by = {name: job.equivalent for name, job in jobs.items()}
    return start(
        "techniques",
        lambda table, asked: techniques_task(asked, measured),
        lambda table, asked: equivalents.techniques(asked, made_by),
        question,
    )


@router.post("/tables/{table_id:key}/curves/sparse", status_code=202, responses=refusals(404, 409))
def start_sparse(start: AnyTableJob, question: models.SparseQuestion) -> JobInfo:
    """Correctness of an attacker who knows a few points of a person, also in larger populations."""
    return start("curve", sparse_task, equivalents.sparse_curve, question)


@router.post("/tables/{table_id:key}/curves/ranks", status_code=202, responses=refusals(404, 409))
def start_ranks(start: AnyTableJob, question: models.RanksQuestion) -> JobInfo:
    """Correctness of a matcher with these ranks, also in larger populations."""
    return start("curve", ranks_task, equivalents.ranks_curve, question)


@router.post("/tables/{table_id:key}/curves/robust", status_code=202, responses=refusals(404, 409))
def start_robust(start: AnyTableJob, question: models.RobustQuestion, session: TheSession) -> JobInfo:
    """Rate at which noisy vectors find their own person in a gallery, also in larger populations."""
    gallery = session.table(question.gallery)
    return start(
        "curve",
        lambda table, asked: robust_task(table, asked, gallery),
        lambda table, asked: equivalents.robust_curve(table, asked, gallery.source),
        question,
    )
