"""The socket the app listens on, bound first so that a port in use is reported at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from incrowd.errors import InputError


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket, closed at the end."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
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
