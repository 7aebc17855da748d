"""A session is the private state of one browser, or of one name a script gives itself: its tables and its jobs."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd.web.refusals import Refusal, not_found

if TYPE_CHECKING:
    from incrowd.web.session_table import OpenTable


@dataclass(slots=True, eq=False)
class Session:
    """What one browser has opened. `key` names it inside the server and is never shown."""

    key: str
    tables: dict[str, OpenTable] = field(default_factory=dict)
    last_used: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tables_opening: int = 0  # tables that are being received or read
    reserved_bytes: int = 0  # bytes that uploads under way may still take
    ended: bool = False

    @contextmanager
    def while_open(self) -> Iterator[None]:
        """Held while something is added to it, so that nothing is added to a session that has ended."""
        with self.lock:
            if self.ended:
                raise Refusal(409, "this session has ended meanwhile, and nothing of it is kept; open the app again")
            yield

    def table(self, name: str) -> OpenTable:
        """One of its tables."""
        found = self.tables.get(name)
        if found is None:
            raise not_found("table")
        return found


class Sessions:
    """All sessions; those that nobody uses are closed, with everything they hold."""

    def __init__(
        self, most: int, idle_seconds: float, close: Callable[[Session], None], busy: Callable[[Session], bool]
    ) -> None:
        self._most, self._idle, self._close, self._busy = most, idle_seconds, close, busy
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self) -> str:
        """A new session for a browser; the answer is the secret for its cookie."""
        secret = secrets.token_urlsafe(32)
        self._add(_key(secret))
        return secret

    def of_cookie(self, secret: str) -> Session | None:
        """The session of a cookie, if there is one: only hashes are compared, so timing tells nothing."""
        return self._used(_key(secret))

    def named(self, name: str) -> Session:
        """The session that a script with the token calls by this name; made when it is first called."""
        key = "named:" + hashlib.sha256(name.encode()).hexdigest()
        return self._used(key) or self._add(key)

    def end(self, session: Session) -> None:
        """Close a session and forget it."""
        with self._lock:
            self._sessions.pop(session.key, None)
        with session.lock:
            session.ended = True
        self._close(session)

    def sweep(self) -> None:
        """Close the sessions that were not used for long."""
        now = time.monotonic()
        with self._lock:
            idle = [one for one in self._sessions.values() if now - one.last_used > self._idle]
        for session in idle:
            self.end(session)

    def end_all(self) -> None:
        """Close every session."""
        for session in list(self._sessions.values()):
            self.end(session)

    def _used(self, key: str) -> Session | None:
        with self._lock:
            session = self._sessions.get(key)
            if session is not None:
                session.last_used = time.monotonic()
        return session

    def _add(self, key: str) -> Session:
        """A new session; where there are too many, one that holds nothing and does nothing makes room."""
        self.sweep()
        with self._lock:
            if key in self._sessions:
                return self._sessions[key]
            empty = [one for one in self._sessions.values() if not one.tables and not self._busy(one)]
            full = len(self._sessions) >= self._most
            if full and not empty:
                raise Refusal(429, f"{self._most} sessions are open already; close one, or wait until one is idle")
            found = self._sessions[key] = Session(key)
        if full:
            self.end(min(empty, key=lambda one: one.last_used))
        return found


def _key(secret: str) -> str:
    return "browser:" + hashlib.sha256(secret.encode()).hexdigest()
