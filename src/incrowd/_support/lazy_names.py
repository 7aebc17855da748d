"""Public names that are listed in a stub file and imported on first use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return the names that a package's stub (`__init__.pyi`) lists, and a `__getattr__` for the package."""
    loader: Any = sys.modules[package].__loader__  # it reads a wheel that is not unpacked, too
    stub = ast.parse(loader.get_data(f"{file}i"))
    module_of = {
        alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    names = sorted(module_of)

    def get(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has: {', '.join(names)}")
        return getattr(import_module(module), name)

    return names, get
