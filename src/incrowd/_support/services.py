"""Registry of functions that results call from rooms below them on the map, without importing these rooms.

`incrowd._service_providers` registers them: "figure" draws a result, "report" reports on it, "evaluation" evaluates it,
and "linkage" attacks it.
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
    """Return the function that was registered under a name."""
    return _SERVICES[name]
