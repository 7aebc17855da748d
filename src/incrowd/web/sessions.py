"""Sessions: the private tables and jobs of one browser, or of one name that a script gives itself."""

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
    watchers: int = 0  # pages that are told of changes
    is_asleep: bool = False  # its work was kept by an earlier server and is not loaded yet
    lost: list[str] = field(default_factory=list)  # tables that could not be loaded, and why
    waking: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def while_open(self) -> Iterator[None]:
        """Hold the lock while something is added; refuse where the session has ended."""
        with self.lock:
            if self.ended:
                raise Refusal(409, "this session has ended meanwhile, and nothing of it is kept; open the app again")
            yield

    def table(self, name: str) -> OpenTable:
        """A table of the session."""
        found = self.tables.get(name)
        if found is None:
            raise not_found("table")
        return found


class Sessions:
    """All sessions of a server; idle ones are closed and their files deleted."""

    def __init__(
        self,
        most: int,
        idle_seconds: float,
        close: Callable[[Session], None],
        busy: Callable[[Session], bool],
        is_kept: Callable[[str], bool] = lambda key: False,
    ) -> None:
        self._most, self._idle, self._close, self._busy = most, idle_seconds, close, busy
        self._is_kept = is_kept
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self) -> str:
        """Start a session for a browser; returns the secret for its cookie."""
        secret = secrets.token_urlsafe(32)
        self._add(_key(secret))
        return secret

    def of_cookie(self, secret: str) -> Session | None:
        """The session of a cookie, if there is one. Only hashes are compared, so timing reveals nothing."""
        return self._used(_key(secret))

    def named(self, name: str) -> Session:
        """The session that a script with the token gives this name; started on first use."""
        key = "named:" + hashlib.sha256(name.encode()).hexdigest()
        return self._used(key) or self._add(key)

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
            idle = [one for one in self._sessions.values() if now - one.last_used > self._idle]
        for session in idle:
            self.end(session)

    def awake(self) -> list[Session]:
        """The sessions whose work is loaded."""
        return [session for session in list(self._sessions.values()) if not session.is_asleep and not session.ended]

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

    def _used(self, key: str) -> Session | None:
        with self._lock:
            session = self._sessions.get(key)
            if session is not None:
                session.last_used = time.monotonic()
        return session or (self._add(key) if self._is_kept(key) else None)

    def _add(self, key: str) -> Session:
        """Add a session; where there are too many, close an empty and idle one."""
        self.sweep()
        with self._lock:
            if key in self._sessions:
                return self._sessions[key]
            awake = (one for one in self._sessions.values() if not one.is_asleep)  # others have tables to load
            empty = [one for one in awake if not one.tables and not self._busy(one)]
            full = len(self._sessions) >= self._most
            if full and not empty:
                raise Refusal(429, f"{self._most} sessions are open already; close one, or wait until one is idle")
            found = self._sessions[key] = Session(key, is_asleep=self._is_kept(key))
        if full:
            self.end(min(empty, key=lambda one: one.last_used))
        return found


def _key(secret: str) -> str:
    return "browser:" + hashlib.sha256(secret.encode()).hexdigest()
