"""Routes of curves of sparse and noisy matching, of the check of the law, and of k^m-anonymity."""

from __future__ import annotations

from fastapi import APIRouter

from incrowd.web import curve_equivalents as equivalents
from incrowd.web import curve_models as models
from incrowd.web.api.dependencies import TheSession, refusals
from incrowd.web.api.job_routes import AnyTableJob, TableJob
from incrowd.web.models import JobInfo

router = APIRouter(tags=["curves"])


@router.post("/tables/{table_id:key}/checks", status_code=202, responses=refusals(404, 409))
def start_check(start: TableJob, question: models.CheckQuestion | None = None) -> JobInfo:
    """Whether the law fits the table: samples drawn from it, and the share inside their band."""
    from incrowd.web.tasks.curve_tasks import check_task

    return start("check", check_task, equivalents.check, question or models.CheckQuestion())


@router.post("/tables/{table_id:key}/itemsets", status_code=202, responses=refusals(404, 409))
def start_items(start: AnyTableJob, question: models.ItemsQuestion) -> JobInfo:
    """k^m-anonymity of a table with a row for each item of a person."""
    from incrowd.web.tasks.curve_tasks import items_task

    return start("itemsets", items_task, equivalents.itemsets, question)


@router.post("/tables/{table_id:key}/curves/sparse", status_code=202, responses=refusals(404, 409))
def start_sparse(start: AnyTableJob, question: models.SparseQuestion) -> JobInfo:
    """How often an attacker is right who knows a few points of a person, and in larger populations."""
    from incrowd.web.tasks.curve_tasks import sparse_task

    return start("curve", sparse_task, equivalents.sparse_curve, question)


@router.post("/tables/{table_id:key}/curves/ranks", status_code=202, responses=refusals(404, 409))
def start_ranks(start: AnyTableJob, question: models.RanksQuestion) -> JobInfo:
    """How often a matcher whose ranks these are is right, and in larger populations."""
    from incrowd.web.tasks.curve_tasks import ranks_task

    return start("curve", ranks_task, equivalents.ranks_curve, question)


@router.post("/tables/{table_id:key}/curves/robust", status_code=202, responses=refusals(404, 409))
def start_robust(start: AnyTableJob, question: models.RobustQuestion, session: TheSession) -> JobInfo:
    """How often noisy vectors find their own person in a gallery, and in larger populations."""
    from incrowd.web.tasks.curve_tasks import robust_task

    gallery = session.table(question.gallery)
    return start("curve", lambda table, asked: robust_task(table, asked, gallery), equivalents.robust_curve, question)
