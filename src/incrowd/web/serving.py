"""Serving the app: the socket, and the shutdown by Ctrl+C, by a signal or with the terminal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from incrowd.errors import InputError

_KEEP_ALIVE = 120  # seconds; longer than clients reuse a connection, so that none sends a request into a closed one
_PATIENCE = 8.0  # seconds that requests and jobs have to end by themselves


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket, closed at the end. It is bound before the app starts, to report a port in use at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only for TCP
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise InputError(
                f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --port"
            ) from None
        listener.listen(128)
        yield listener
    finally:
        listener.close()


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection if the head of a request does not arrive in time."""

    patience = 20.0  # seconds for the request line and all headers
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Read more of a request; the timer stops when its head is complete."""
        super().data_received(data)
        self._update_timer()

    def _update_timer(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
        elif self._timer is None:
            self._timer = self.loop.call_later(self.patience, self._time_out)

    def _time_out(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def configuration(app: FastAPI) -> uvicorn.Config:
    """Settings of uvicorn: no access log, headers of limited length, and a timeout for incomplete requests."""
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        h11_max_incomplete_event_size=32_768,  # no request line or header is longer
        access_log=False,  # addresses hold the token and the names of tables
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=3,
    )


def serve_until_stopped(app: FastAPI, sockets: list[socket.socket]) -> None:
    """Serve until a signal arrives. The library's temporary files are in the app's private directory too."""
    store = app.state.server.store
    tempfile.tempdir = str(store.scratch)  # so that temporary copies of tables are deleted with the directory
    logging.getLogger("uvicorn.error").addFilter(_without_traceback)
    server = _Server(configuration(app), store.close)
    signal.signal(signal.SIGTERM, _exit)  # uvicorn stops serving, restores this handler and raises the signal again
    if hangup := getattr(signal, "SIGHUP", None):
        signal.signal(hangup, server.handle_exit)
    try:
        server.run(sockets=sockets)
    finally:
        store.close()


class _Server(uvicorn.Server):
    """A server whose process ends at once on a second signal, or when a thread does not end in time."""

    def __init__(self, config: uvicorn.Config, delete_files: Callable[[], None]) -> None:
        super().__init__(config)
        self._delete_files = delete_files

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop serving, and end the process after a few seconds."""
        if self.should_exit:
            self._end_now(sig)
        late = threading.Timer(_PATIENCE, self._end_now, [sig])
        late.daemon = True
        late.start()
        super().handle_exit(sig, frame)

    def _end_now(self, sig: int) -> None:
        self._delete_files()
        os._exit(128 + sig)  # a thread that reads a file cannot be interrupted


def _exit(sig: int, frame: FrameType | None) -> None:
    sys.exit(128 + sig)


def _without_traceback(record: logging.LogRecord) -> bool:
    """Drop tracebacks from the log: they may quote cells."""
    record.exc_info = record.exc_text = None
    return True
