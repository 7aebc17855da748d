"""Access control: host, token, session and origin are checked before any page or operation.

A page on the internet can make a browser send requests to this machine, and a host name of its own may point here
(DNS rebinding). So the Host must be a name of ours, an Origin must be this very address, changes need an Origin (or the
token itself), and nothing is answered without the token or a cookie that was given for it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
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
_SAFE = {"GET", "HEAD", "OPTIONS"}
_MOST_JSON = 2_000_000  # bytes of a request that is not an upload
_UPLOAD = "/api/v1/tables"
PATIENCE = 30.0  # seconds that the next part of a request may take
_Message = MutableMapping[str, Any]


class _Broken(Exception):  # noqa: N818
    """Raised where an answer cannot be finished; in words of its own, so that no cell is quoted."""


class Guard:
    """ASGI middleware around the whole app: nothing else sees a request before it is checked here."""

    def __init__(
        self,
        app: Any,
        settings: ServerSettings,
        sessions: Sessions,
        wake: Callable[[Session], None] = lambda session: None,
    ) -> None:
        self.app, self.settings, self.sessions, self.wake = app, settings, sessions, wake

    async def __call__(self, scope: _Message, receive: Any, send: Any) -> None:
        """Pass a request on to the app, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = _Request(scope)
        armoured = _Answer(send, request.path)
        try:
            self._check_host(request)
            if request.path == "/" and "token" in request.query:
                await self._begin(request, armoured)
                return
            session = self._session(request)
            self._check_origin(request)
            if session is not None and session.is_asleep:
                await asyncio.to_thread(self.wake, session)
            scope.setdefault("state", {})["session"] = session
            limit = self.settings.max_bytes + _MOST_JSON if request.is_upload else _MOST_JSON
            armoured.body = _Body(receive, request, limit)
            await self.app(scope, armoured.body, armoured)
        except Exception as error:
            body, armoured.body = armoured.body, None
            refusal = error if isinstance(error, Refusal) else body.refusal if body is not None else None
            if refusal is None:
                # a traceback may quote cells, so that only the kind of a mistake of ours is told, and none is logged
                _log.error("%s failed with %s", request.method, type(error).__name__)
                refusal = Refusal(500, f"this should not have happened ({type(error).__name__}); please tell us")
            if armoured.started:
                raise _Broken from None  # the connection is cut: what was sent must not look whole
            await _refuse(armoured, refusal, as_json=request.is_api)

    def _check_host(self, request: _Request) -> None:
        if len(request.all("host")) != 1 or _name_of(request.header("host")) not in self.settings.hosts:
            raise Refusal(403, "this server answers only to its own name; open the address it printed at start-up")

    def _check_origin(self, request: _Request) -> None:
        """Refuse requests of other sites: an Origin must be this address, and a change needs one, or the token."""
        origin = request.header("origin")
        if origin:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or parts.netloc.lower() != request.header("host").lower():
                raise Refusal(403, "this request comes from another site; only the app's own pages may ask")
        elif request.method not in _SAFE and not request.bearer:
            raise Refusal(403, "a change must come from the app's own pages, or with the token as a bearer")
        if request.is_api and request.header("sec-fetch-site") in ("cross-site", "same-site"):
            raise Refusal(403, "this request comes from another site; only the app's own pages may ask")

    def _session(self, request: _Request) -> Session | None:
        if request.bearer:
            if not self._is_token(request.bearer):
                raise Refusal(401, "the token is not right; it stands in the address that was printed at start-up")
            name = request.header("x-incrowd-session") or "api"
            if len(name) > 100:
                raise Refusal(400, "the name of a session is at most 100 characters long")
            return self.sessions.named(name)
        session = self.sessions.of_cookie(request.cookie(self._cookie))
        if session is None and not request.is_static:
            raise Refusal(401, "open the address that was printed at start-up: it holds the token that lets you in")
        return session

    async def _begin(self, request: _Request, send: Any) -> None:
        """Trade the token in the address for a cookie, and take it out of the address."""
        if not self._is_token(request.query["token"][0]) or request.method != "GET":
            raise Refusal(401, "the token is not right; open the address that was printed at start-up")
        # a browser led here by another page sends the new cookie only when one of our own pages leads on
        led = request.header("sec-fetch-site") == "cross-site"
        page = b"<!doctype html><title>incrowd</title><meta http-equiv='refresh' content='0;url=/'>" if led else b""
        headers = [(b"content-length", str(len(page)).encode())]
        headers.append((b"content-type", b"text/html; charset=utf-8") if led else (b"location", b"/"))
        if self.sessions.of_cookie(request.cookie(self._cookie)) is None:
            cookie = f"{self._cookie}={self.sessions.begin()}; Path=/; HttpOnly; SameSite=Strict"
            if self.settings.keep is not None:  # work that is kept is of use only to whoever still has the cookie
                cookie += f"; Max-Age={int(self.settings.keep_seconds)}"
            headers.append((b"set-cookie", cookie.encode()))
        await send({"type": "http.response.start", "status": 200 if led else 303, "headers": headers})
        await send({"type": "http.response.body", "body": page})

    @property
    def _cookie(self) -> str:
        """The name of the session's cookie, with the port: a browser shares cookies between all ports of a machine."""
        return f"incrowd_{self.settings.port}"

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
        """The value of a cookie. Cookies of other programs on this machine, whatever their shape, are passed over."""
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
        """True if it asks for a style sheet or a script: they hold no data, and are sent without the token too."""
        return self.path.startswith("/static/") and self.method in _SAFE

    @property
    def is_upload(self) -> bool:
        return self.path == _UPLOAD and self.method == "POST"


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; nothing where it is not one."""
    try:
        return (urlsplit(f"//{host}").hostname or "") if "@" not in host and "/" not in host else ""
    except ValueError:
        return ""


class _Body:
    """Receives the body of a request; refuses one that is too long, whatever its header says, or stops coming."""

    def __init__(self, receive: Any, request: _Request, limit: int) -> None:
        content_length = request.header("content-length")
        self._receive, self._limit = receive, limit
        self._seen, self._whole = 0, False
        self.refusal: Refusal | None = None
        if content_length and (not content_length.isdigit() or int(content_length) > limit):
            raise self._too_long()

    async def __call__(self) -> _Message:
        """The next part of the body. After the last one the caller waits for the end of the connection."""
        try:
            message: _Message = await asyncio.wait_for(self._receive(), None if self._whole else PATIENCE)
        except TimeoutError:
            self.refusal = Refusal(408, f"nothing more of this request came for {PATIENCE:.0f} seconds; send it again")
            raise self.refusal from None
        self._whole = not message.get("more_body", False)
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            self.refusal = self._too_long()
            raise self.refusal
        return message

    def _too_long(self) -> Refusal:
        return Refusal(413, f"this request is longer than the {self._limit:,} bytes that are taken")


class _Answer:
    """Sends an answer with the headers that tell the browser what it may do with it, and not to keep it."""

    def __init__(self, send: Any, path: str) -> None:
        self._send = send
        self._kept = "no-cache" if path.startswith("/static/") else "no-store"
        self.body: _Body | None = None
        self.started = False

    async def __call__(self, message: _Message) -> None:
        """Send the next part of the answer."""
        if message["type"] == "http.response.start":
            refusal = self.body.refusal if self.body is not None else None
            if refusal is not None and message["status"] != refusal.status:
                raise refusal  # the framework has words of its own for a body that breaks off
            self.started = True
            mine = {**_HEADERS, "cache-control": self._kept}
            headers = [(key, value) for key, value in message.get("headers", []) if key.decode().lower() not in mine]
            message["headers"] = headers + [(key.encode(), value.encode()) for key, value in mine.items()]
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
