"""incrowd: how easily a person is picked out of a crowd of records, and how to make the data safe.

Names are imported when they are first used, so that `import incrowd` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.errors import IncrowdError, InputError, UnsupportedError

__version__ = "0.1.0"

_ROOMS = {
    "ClassSizes": "classes",
    "IncrowdError": "errors",
    "InputError": "errors",
    "UnsupportedError": "errors",
}

__all__ = [
    "ClassSizes",
    "IncrowdError",
    "InputError",
    "UnsupportedError",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    return getattr(import_module(f"incrowd.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
