"""What the rooms that define results need of the rooms below them, which they never import.

Results are drawn ("figure"), reported on ("report"), evaluated ("evaluation") and attacked ("linkage") further down, by
the functions of `incrowd._service_providers`.
"""

from collections.abc import Callable
from typing import Any

_SERVICES: dict[str, Callable[..., Any]] = {}


def provide(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under a name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        return _SERVICES.setdefault(name, function)

    return register


def provided(name: str) -> Callable[..., Any]:
    """The function that was registered under a name."""
    return _SERVICES[name]
