"""The REST API under /api/v1. The pages use it for all they do."""

from fastapi import APIRouter

from incrowd.web.api import (
    attack_routes,
    candidate_routes,
    column_routes,
    curve_routes,
    job_routes,
    project_routes,
    result_routes,
    server_routes,
    table_routes,
)

router = APIRouter(prefix="/api/v1")
for part in (
    server_routes,
    table_routes,
    column_routes,
    job_routes,
    candidate_routes,
    attack_routes,
    curve_routes,
    project_routes,
    result_routes,
):
    router.include_router(part.router)

__all__ = ["router"]
