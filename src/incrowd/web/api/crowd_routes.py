"""Routes of the crowd: classes and marks, the riskiest records, one record as others see it."""

from __future__ import annotations

from fastapi import APIRouter

from incrowd.web import crowd_models as models
from incrowd.web.api.dependencies import TheServer, TheSession, TheTable, refusals
from incrowd.web.crowd import describe_crowd, riskiest_records, view_person

router = APIRouter(tags=["crowd"])


@router.post("/tables/{table_id:key}/crowd", responses=refusals(404, 409))
def count_crowd(table: TheTable, server: TheServer, question: models.CrowdQuestion | None = None) -> models.Crowd:
    """Classes by size and marks to draw, for a choice of columns."""
    with server.limit_concurrency():
        return describe_crowd(table, question or models.CrowdQuestion())


@router.post("/tables/{table_id:key}/riskiest", responses=refusals(404, 409))
def list_riskiest(
    table: TheTable, server: TheServer, question: models.RiskiestQuestion | None = None
) -> models.Riskiest:
    """The records that are easiest to find, masked unless values are asked for."""
    with server.limit_concurrency():
        return riskiest_records(table, question or models.RiskiestQuestion())


@router.post("/tables/{table_id:key}/person-view", responses=refusals(404, 409))
def see_person(
    question: models.PersonQuestion, table: TheTable, server: TheServer, session: TheSession
) -> models.PersonView:
    """One record as others see it: by what it is found, and what protections do to it."""
    with server.limit_concurrency():
        found = [(key, server.release(session, key, table)) for key in question.candidates]
        return view_person(table, question, found)
