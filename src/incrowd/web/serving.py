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

_KEPT = 120  # seconds that an idle connection stays open: longer than clients use it again, whose request would be lost
_PATIENCE = 8.0  # seconds that requests and jobs have to end by themselves


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket, closed at the end. It is bound first, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named: asyncio sets TCP_NODELAY only then
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, port))
        except OSError as error:
            raise InputError(
                f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --port"
            ) from None
        found.listen(128)
        yield found
    finally:
        found.close()


class TimedProtocol(H11Protocol):
    """HTTP whose connections are closed where the head of a request does not come in time."""

    patience = 20.0  # seconds for the request line and all headers
    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is not whole yet has to be in time."""
        super().data_received(data)
        self._await_head()

    def _await_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            if self._head is not None:
                self._head.cancel()
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(self.patience, self._end_waiting)

    def _end_waiting(self) -> None:
        self._head = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def configuration(app: FastAPI) -> uvicorn.Config:
    """Settings of the server: no log of addresses, bounded headers, no waiting for requests that never arrive whole."""
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        h11_max_incomplete_event_size=32_768,  # no request line or header is longer
        access_log=False,  # addresses hold the token and the names of tables
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_KEPT,
        timeout_graceful_shutdown=3,
    )


def serve_until_stopped(app: FastAPI, sockets: list[socket.socket]) -> None:
    """Serve until a signal arrives. Temporary files of the library go to the app's private directory too."""
    store = app.state.server.store
    tempfile.tempdir = str(store.scratch)  # private copies of tables go with the folder, whoever still holds them
    logging.getLogger("uvicorn.error").addFilter(_without_traceback)
    server = _Server(configuration(app), store.close)
    signal.signal(signal.SIGTERM, _leave)  # uvicorn stops for it, and then raises it again
    if hangup := getattr(signal, "SIGHUP", None):
        signal.signal(hangup, server.handle_exit)
    try:
        server.run(sockets=sockets)
    finally:
        store.close()


class _Server(uvicorn.Server):
    """A server that ends at once on a second signal, or when a thread does not end in time."""

    def __init__(self, config: uvicorn.Config, clean: Callable[[], None]) -> None:
        super().__init__(config)
        self._clean = clean

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop serving, and end the process after a few seconds."""
        if self.should_exit:
            self._end_now(sig)
        late = threading.Timer(_PATIENCE, self._end_now, [sig])
        late.daemon = True
        late.start()
        super().handle_exit(sig, frame)

    def _end_now(self, sig: int) -> None:
        self._clean()
        os._exit(128 + sig)  # a thread that reads a file knows no signal


def _leave(sig: int, frame: FrameType | None) -> None:
    sys.exit(128 + sig)


def _without_traceback(record: logging.LogRecord) -> bool:
    """Drop tracebacks from the log: they may quote cells."""
    record.exc_info = record.exc_text = None
    return True
