"""Sessions: the private tables and jobs of one browser, or of a script under a session name."""

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
    """The state of one browser or script. `key` identifies it inside the server and is never shown."""

    key: str
    tables: dict[str, OpenTable] = field(default_factory=dict)
    last_used: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tables_opening: int = 0  # tables that are being received or read
    reserved_bytes: int = 0  # bytes that uploads under way may still take
    ended: bool = False
    watchers: int = 0  # pages that receive events
    is_loaded: bool = True  # False for one that an earlier server saved, before its first request
    lost: list[str] = field(default_factory=list)  # tables that could not be loaded, and why
    loading: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def while_open(self) -> Iterator[None]:
        """Hold the lock while something is added; refuse if the session has ended."""
        with self.lock:
            if self.ended:
                raise Refusal(409, "this session has ended meanwhile, and nothing of it is kept; open the app again")
            yield

    def table(self, name: str) -> OpenTable:
        """A table of the session."""
        table = self.tables.get(name)
        if table is None:
            raise not_found("table")
        return table


class Sessions:
    """All sessions of a server; idle ones are closed and their files deleted."""

    def __init__(
        self,
        max_sessions: int,
        idle_seconds: float,
        close: Callable[[Session], None],
        is_busy: Callable[[Session], bool],
        is_saved: Callable[[str], bool],
    ) -> None:
        self._max_sessions, self._idle_seconds = max_sessions, idle_seconds
        self._close, self._is_busy, self._is_saved = close, is_busy, is_saved
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self) -> str:
        """Start a session for a browser; returns the secret for its cookie."""
        secret = secrets.token_urlsafe(32)
        self._add(_key(secret))
        return secret

    def of_cookie(self, secret: str) -> Session | None:
        """The session of a cookie, if there is one. Only hashes are compared, so timing reveals nothing."""
        return self._find(_key(secret))

    def named(self, name: str) -> Session:
        """The session of this name, for scripts that send the token; started on first use."""
        key = "named:" + hashlib.sha256(name.encode()).hexdigest()
        return self._find(key) or self._add(key)

    def end(self, session: Session) -> None:
        """Close a session and delete what it holds."""
        with self._lock:
            self._sessions.pop(session.key, None)
        with session.lock:
            session.ended = True
        self._close(session)

    def sweep(self) -> None:
        """Close the idle sessions."""
        now = time.monotonic()
        with self._lock:
            idle = [one for one in self._sessions.values() if now - one.last_used > self._idle_seconds]
        for session in idle:
            self.end(session)

    def open(self) -> list[Session]:
        """The open sessions, also those whose saved work is not loaded yet."""
        return [session for session in list(self._sessions.values()) if not session.ended]

    def leave_all(self) -> None:
        """End every session without deleting what it holds."""
        with self._lock:
            for session in self._sessions.values():
                session.ended = True
            self._sessions.clear()

    def end_all(self) -> None:
        """Close every session."""
        for session in list(self._sessions.values()):
            self.end(session)

    def _find(self, key: str) -> Session | None:
        """The open or saved session of a key, which counts as used now."""
        with self._lock:
            session = self._sessions.get(key)
            if session is not None:
                session.last_used = time.monotonic()
        return session or (self._add(key) if self._is_saved(key) else None)

    def _add(self, key: str) -> Session:
        """Add a session. If there are too many, the session without tables and jobs that was idle longest is closed."""
        self.sweep()
        with self._lock:
            if key in self._sessions:
                return self._sessions[key]
            loaded = (one for one in self._sessions.values() if one.is_loaded)  # others have tables to load
            empty = [one for one in loaded if not one.tables and not self._is_busy(one)]
            full = len(self._sessions) >= self._max_sessions
            if full and not empty:
                raise Refusal(
                    429, f"{self._max_sessions} sessions are open already; close one, or wait until one is idle"
                )
            session = self._sessions[key] = Session(key, is_loaded=not self._is_saved(key))
        if full:
            self.end(min(empty, key=lambda one: one.last_used))
        return session


def _key(secret: str) -> str:
    return "browser:" + hashlib.sha256(secret.encode()).hexdigest()
