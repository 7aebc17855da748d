"""The REST API under /api/v1: the same operations as the pages, for scripts."""

from fastapi import APIRouter

from incrowd.web.api import jobs, meta, results, tables

router = APIRouter(prefix="/api/v1")
for part in (meta, tables, jobs, results):
    router.include_router(part.router)

__all__ = ["router"]
