"""Access control: host, token, session and origin are checked before any page or operation.

A page on the internet can make a browser send requests to this machine, and its host name may point here (DNS
rebinding). So the Host header must name this server, an Origin header must be this very address, a request that
changes something needs an Origin or the token, and every request needs the token or the cookie of a session.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from incrowd.web import pages
from incrowd.web.refusals import Refusal
from incrowd.web.server_settings import ServerSettings
from incrowd.web.sessions import Session, Sessions

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'; object-src 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}
_log = logging.getLogger("incrowd.web")
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_KEPT = "max-age=31536000, immutable"  # a year: the longest that browsers keep a file
_HOST = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]@/:\s]*))(:[0-9]*)?")
_MAX_JSON = 2_000_000  # bytes of a request that is not an upload
_UPLOAD_PATH = "/api/v1/tables"
PATIENCE = 30.0  # seconds that the next part of a request may take
_Message = MutableMapping[str, Any]


class _BrokenResponse(Exception):  # noqa: N818
    """Raised to cut the connection when a response cannot be finished. It has no message, which might quote a cell."""


class Guard:
    """ASGI middleware around the whole app: it checks every request before anything else sees it."""

    def __init__(
        self, app: Any, settings: ServerSettings, sessions: Sessions, load_saved: Callable[[Session], None]
    ) -> None:
        self.app, self.settings, self.sessions, self.load_saved = app, settings, sessions, load_saved

    async def __call__(self, scope: _Message, receive: Any, send: Any) -> None:
        """Pass a request on to the app, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = _Request(scope)
        response = _Response(send, request.path)
        try:
            self._check_host(request)
            if request.path == "/" and "token" in request.query:
                await self._start_session(request, response)
                return
            session = self._session(request)
            self._check_origin(request)
            if session is not None and not session.is_loaded:
                await asyncio.to_thread(self.load_saved, session)
            scope.setdefault("state", {})["session"] = session
            limit = self.settings.max_bytes + _MAX_JSON if request.is_upload else _MAX_JSON
            response.body = _RequestBody(receive, request, limit)
            await self.app(scope, response.body, response)
        except Exception as error:
            body, response.body = response.body, None
            refusal = error if isinstance(error, Refusal) else body.refusal if body is not None else None
            if refusal is None:
                # a message or traceback may quote cells, so only the type of an unexpected error is logged and shown
                _log.error("%s failed with %s", request.method, type(error).__name__)
                refusal = Refusal(500, f"this should not have happened ({type(error).__name__}); please tell us")
            if response.started:
                raise _BrokenResponse from None  # so that the part that was sent does not look complete
            await _refuse(response, refusal, as_json=request.is_api)

    def _check_host(self, request: _Request) -> None:
        if len(request.all("host")) != 1 or _name_of(request.header("host")) not in self.settings.hosts:
            raise Refusal(403, "this server answers only to its own name; open the address it printed at start-up")

    def _check_origin(self, request: _Request) -> None:
        """Refuse requests of other sites: an Origin must be this address, and a change needs an Origin or the token."""
        origin = request.header("origin")
        if origin:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or parts.netloc.lower() != request.header("host").lower():
                raise Refusal(403, "this request comes from another site; only the app's own pages may ask")
        elif request.method not in _SAFE_METHODS and not request.bearer:
            raise Refusal(403, "a change must come from the app's own pages, or with the token as a bearer")
        if request.is_api and request.header("sec-fetch-site") in ("cross-site", "same-site"):
            raise Refusal(403, "this request comes from another site; only the app's own pages may ask")

    def _session(self, request: _Request) -> Session | None:
        """The session of the token or the cookie; static files are sent without one."""
        if request.bearer:
            if not self._is_token(request.bearer):
                raise Refusal(401, "the token is not right; it is in the address that was printed at start-up")
            name = request.header("x-incrowd-session") or "api"
            if len(name) > 100:
                raise Refusal(400, "the name of a session is at most 100 characters long")
            return self.sessions.named(name)
        session = self.sessions.of_cookie(request.cookie(self._cookie))
        if session is None and not request.is_static:
            raise Refusal(401, "open the address that was printed at start-up: it holds the token that lets you in")
        return session

    async def _start_session(self, request: _Request, send: Any) -> None:
        """Set a session cookie for the token in the address, and redirect to the address without it."""
        if not self._is_token(request.query["token"][0]) or request.method != "GET":
            raise Refusal(401, "the token is not right; open the address that was printed at start-up")
        # after a link on another site, browsers hold back a SameSite=Strict cookie in redirects; a page of ours gets it
        by_link = request.header("sec-fetch-site") == "cross-site"
        page = b"<!doctype html><title>incrowd</title><meta http-equiv='refresh' content='0;url=/'>" if by_link else b""
        headers = [(b"content-length", str(len(page)).encode())]
        headers.append((b"content-type", b"text/html; charset=utf-8") if by_link else (b"location", b"/"))
        if self.sessions.of_cookie(request.cookie(self._cookie)) is None:
            cookie = f"{self._cookie}={self.sessions.begin()}; Path=/; HttpOnly; SameSite=Strict"
            if self.settings.keep is not None:  # a kept session can be found again only by its cookie
                cookie += f"; Max-Age={int(self.settings.keep_seconds)}"
            headers.append((b"set-cookie", cookie.encode()))
        await send({"type": "http.response.start", "status": 200 if by_link else 303, "headers": headers})
        await send({"type": "http.response.body", "body": page})

    @property
    def _cookie(self) -> str:
        """Name of the session cookie, of this server alone: a browser shares cookies between all ports of a machine.

        A kept session is found again on any port: the name is that of its folder.
        """
        if self.settings.keep is None:
            return f"incrowd_{self.settings.port}"
        return f"incrowd_{hashlib.sha256(str(self.settings.keep.resolve()).encode()).hexdigest()[:16]}"

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.settings.token.encode())


class _Request:
    """Parts of a request that the guard checks."""

    def __init__(self, scope: _Message) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [value.decode("latin-1") for key, value in self._headers if key == wanted]

    def header(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def cookie(self, name: str) -> str:
        """The value of a cookie, or an empty text. Other cookies, also malformed ones, are ignored."""
        for pair in ";".join(self.all("cookie")).split(";"):
            key, _, value = pair.partition("=")
            if key.strip() == name:
                return value.strip()
        return ""

    @property
    def bearer(self) -> str:
        scheme, _, token = self.header("authorization").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    @property
    def is_api(self) -> bool:
        return self.path.startswith("/api/")

    @property
    def is_static(self) -> bool:
        """True for a style sheet or a script. They hold no data and are sent without the token too."""
        return self.path.startswith("/static/") and self.method in _SAFE_METHODS

    @property
    def is_upload(self) -> bool:
        return self.path == _UPLOAD_PATH and self.method == "POST"


def _name_of(host: str) -> str:
    """The name in a Host header, without the port; an empty text if the header is malformed."""
    matched = _HOST.fullmatch(host)
    return "" if matched is None else (matched["address"] or matched["name"]).lower()


class _RequestBody:
    """Receives the body of a request; refuses one that is longer than the limit, or whose next part takes too long."""

    def __init__(self, receive: Any, request: _Request, limit: int) -> None:
        content_length = request.header("content-length")
        self._receive, self._limit = receive, limit
        self._received, self._complete = 0, False
        self.refusal: Refusal | None = None
        if content_length and (not content_length.isdigit() or int(content_length) > limit):
            raise self._too_long()

    async def __call__(self) -> _Message:
        """The next part of the body. After the last one the caller waits for the end of the connection."""
        try:
            message: _Message = await asyncio.wait_for(self._receive(), None if self._complete else PATIENCE)
        except TimeoutError:
            self.refusal = Refusal(408, f"nothing more of this request came for {PATIENCE:.0f} seconds; send it again")
            raise self.refusal from None
        self._complete = not message.get("more_body", False)
        self._received += len(message.get("body", b""))
        if self._received > self._limit:
            self.refusal = self._too_long()
            raise self.refusal
        return message

    def _too_long(self) -> Refusal:
        return Refusal(413, f"this request is longer than the {self._limit:,} bytes that are taken")


class _Response:
    """Sends a response with security headers, and without permission to store it in a cache.

    Static files may be kept: a page loads forty, and their address changes with their content.
    """

    def __init__(self, send: Any, path: str) -> None:
        self._send = send
        is_static = path.startswith("/static/")
        is_current = is_static and path.startswith(f"{pages.static_folder()}/")
        self._cache_control = _KEPT if is_current else "no-cache" if is_static else "no-store"
        self.body: _RequestBody | None = None
        self.started = False

    async def __call__(self, message: _Message) -> None:
        """Send the next part of the response."""
        if message["type"] == "http.response.start":
            refusal = self.body.refusal if self.body is not None else None
            if refusal is not None and message["status"] != refusal.status:
                raise refusal  # in place of the framework's message for a body that breaks off
            self.started = True
            kept = self._cache_control if message["status"] < 400 else "no-store"
            own = {**_HEADERS, "cache-control": kept}
            headers = [(key, value) for key, value in message.get("headers", []) if key.decode().lower() not in own]
            message["headers"] = headers + [(key.encode(), value.encode()) for key, value in own.items()]
        await self._send(message)


async def _refuse(send: Any, refusal: Refusal, *, as_json: bool) -> None:
    if as_json:
        body, kind = json.dumps({"error": str(refusal)}).encode(), b"application/json"
    else:
        body, kind = bytes(pages.refusal(refusal.status, str(refusal)).body), b"text/html; charset=utf-8"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
