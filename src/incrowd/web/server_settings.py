"""Settings of a server: address, allowed folders and limits."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from incrowd.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Limits of one server; where a comment says so, of one session (one browser).

    `names` are further accepted host names. Tables may be opened by path in `folders`.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    memory: str | None = None
    max_bytes: int = 4 * 10**9  # of one upload
    max_session_bytes: int = 20 * 10**9  # of all tables of a session together, protected ones included
    min_free: int = 10**9  # bytes of the disk that stay free
    max_unpacked: int = 2 * 10**9  # of a compressed file after unpacking
    max_rows: int = 200_000_000
    max_columns: int = 2_000
    max_demo_rows: int = 5_000_000
    max_sessions: int = 200
    max_tables: int = 20  # of a session
    max_jobs: int = 20  # waiting or running, of a session
    max_opening: int = 20  # requests that read or count a table at the same time
    workers: int = 2
    kept_jobs: int = 30  # finished, of one kind and session; the oldest are dropped
    idle_seconds: float = 12 * 3600.0
    keep: Path | None = None  # the folder that keeps sessions when the server ends; None deletes them
    keep_seconds: float = 30 * 24 * 3600.0  # after which an unused kept session is deleted

    def __post_init__(self) -> None:
        if len(self.token) < 16:
            raise InputError("a token of fewer than 16 characters can be guessed; give a longer one, or none")
        for folder in self.folders:
            if not folder.is_dir():
                raise InputError(f"{folder} is not a folder; name folders that exist (--folder)")

    @property
    def hosts(self) -> frozenset[str]:
        """Accepted host names; an attacker may have pointed any other name to this machine."""
        return frozenset(name.lower() for name in (*LOOPBACK, self.host, *self.names))

    @property
    def address(self) -> str:
        """The address to open first; it holds the token."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/?token={self.token}"
