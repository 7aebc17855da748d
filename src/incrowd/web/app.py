"""`create_app`: the app with its access control, API, pages and shutdown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from incrowd.errors import IncrowdError, UnsupportedError
from incrowd.version import __version__
from incrowd.web import api, pages
from incrowd.web.refusals import Refusal, describe_validation_error, public_words
from incrowd.web.security import Guard
from incrowd.web.server import Server
from incrowd.web.server_settings import ServerSettings

_SWEEP_EVERY = 60.0  # seconds between searches for idle sessions


def create_app(settings: ServerSettings | None = None) -> FastAPI:
    """The web app, ready to be served; its state is `app.state.server`, and closing it deletes every file."""
    server = Server(settings or ServerSettings())
    app = FastAPI(
        title="incrowd",
        version=__version__,
        description="How easily a person is picked out of the crowd in a table, and what makes it safe.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    app.state.server = server
    app.include_router(api.router)
    app.include_router(pages.router)
    app.add_exception_handler(IncrowdError, _answer_library_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid_request)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_middleware(Guard, settings=server.settings, sessions=server.sessions, load_saved=server.load_saved)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    server: Server = app.state.server
    for route in app.routes:  # FastAPI builds a route at its first lookup, for which the first visitor would wait
        route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})
    server.start_threads()  # after the routes, since a thread imports modules
    preparing = asyncio.create_task(asyncio.to_thread(pages.prepare))
    sweeping = asyncio.create_task(_sweep(server))
    try:
        yield
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping
        await preparing
        server.close()


async def _sweep(server: Server) -> None:
    """Close idle sessions from time to time."""
    while True:
        await asyncio.sleep(_SWEEP_EVERY)
        await asyncio.to_thread(server.sessions.sweep)


def _answer_library_error(request: Request, error: Exception) -> JSONResponse:
    """An error of the library or a refusal of the app as JSON."""
    status = error.status if isinstance(error, Refusal) else 422 if isinstance(error, UnsupportedError) else 400
    choices = {"choices": error.choices} if isinstance(error, Refusal) and error.choices else {}
    return JSONResponse({"error": public_words(error), **choices}, status_code=status)


def _answer_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """A request that does not fit its model, as JSON without the request's values."""
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"error": describe_validation_error(error.errors())}, status_code=422)


def _answer_http_error(request: Request, error: Exception) -> Response:
    """An error of the framework: JSON under /api, otherwise a page."""
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing here", 405: "this address does not take that method"}
    sentence = words.get(error.status_code, str(error.detail))
    if not request.url.path.startswith("/api/"):
        return pages.refusal(error.status_code, sentence)
    response = JSONResponse({"error": sentence}, status_code=error.status_code)
    if error.status_code == 405:
        response.headers["allow"] = ", ".join(_methods(request.app, request.url.path)) or "GET"
    return response


def _methods(app: FastAPI, path: str) -> list[str]:
    """The methods of an address, from the OpenAPI document."""
    for template, operations in app.openapi()["paths"].items():
        pattern = re.escape(template).replace(r"\{number\}", "[^/]+")
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[0-9a-f]{16}", pattern), path):
            return sorted(method.upper() for method in operations)
    return []


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document with the bearer token, built once; without the error models that the app never sends."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}]
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema
