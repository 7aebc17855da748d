"""incrowd: how easily a person is picked out of a crowd of records, and how to make the data safe.

The public names are listed in `__init__.pyi` and nowhere else. Each is imported on first use, so that `import incrowd`
stays quick.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import incrowd._wiring  # noqa: F401 - registers figures, reports and evaluations

__version__ = "0.1.0"

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_MODULE_OF = {
    alias.name: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names
}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
