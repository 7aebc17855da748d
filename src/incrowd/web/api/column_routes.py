"""Routes of single columns: roles, added risk, histograms, hierarchies; and of reading the file with other options."""

from __future__ import annotations

from fastapi import APIRouter

from incrowd.web import column_models as models
from incrowd.web.api.dependencies import TheServer, TheSession, TheTable, refusals
from incrowd.web.coarsening import view_hierarchy
from incrowd.web.column_details import count_added, draw_histogram, list_columns
from incrowd.web.column_models import HierarchyQuestion, HierarchyView
from incrowd.web.models import TableInfo

router = APIRouter(tags=["columns"])


@router.get("/tables/{table_id:key}/columns", responses=refusals(404, 409))
def read_columns(table: TheTable, server: TheServer) -> models.Triage:
    """The columns with their roles, suggestions and reasons, and which are decided."""
    with server.limit_concurrency():
        return list_columns(table)


@router.post("/tables/{table_id:key}/columns/adds", responses=refusals(404, 409))
def count_adds(question: models.AddsQuestion, table: TheTable, server: TheServer) -> models.Adds:
    """Risk that each of some columns would add if others knew it."""
    with server.limit_concurrency():
        return count_added(table, question)


@router.post("/tables/{table_id:key}/columns/histogram", responses=refusals(404, 409))
def read_histogram(question: models.HistogramQuestion, table: TheTable, server: TheServer) -> models.Histogram:
    """Distribution of a column; its values only with `show`."""
    with server.limit_concurrency():
        return draw_histogram(table, question)


@router.post("/tables/{table_id:key}/columns/hierarchy", responses=refusals(404, 409))
def read_hierarchy(question: HierarchyQuestion, table: TheTable, server: TheServer) -> HierarchyView:
    """Levels of a column under a hierarchy by a rule, by groups of values or from a file; values only with `show`."""
    with server.limit_concurrency():
        return view_hierarchy(table, question)


@router.patch("/tables/{table_id:key}/reading", responses=refusals(404, 409))
def change_reading(
    changes: models.ReadingChanges, table: TheTable, server: TheServer, session: TheSession
) -> models.Triage:
    """Read the file again with other scales or missing codes of some columns; other options stay."""
    return list_columns(server.read_again(session, table, changes.applied_to(table.source.how)))


@router.post("/tables/{table_id:key}/reading", responses=refusals(404, 409))
def read_again(new: models.NewReading, table: TheTable, server: TheServer, session: TheSession) -> TableInfo:
    """Read the file again with other reading options; decisions about columns stay."""
    return server.read_again(session, table, new.reading).info()
