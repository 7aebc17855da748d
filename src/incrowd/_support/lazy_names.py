"""Names that are read from source files, so that what they stand for is imported on first use only."""

from __future__ import annotations

import ast
import os.path
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """The names that the stub (`__init__.pyi`) of a package lists, and the package's `__getattr__`.

    Args:
        package: the package's `__name__`.
        file: the package's `__file__`.
    """
    stub = _parse(f"{file}i")
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


def literal_names(module: str, name: str) -> tuple[str, ...]:
    """The texts of a `Literal` that a module defines, without importing the module.

    Args:
        module: path of the module within the package, such as "protection/registry.py".
        name: name of the `Literal`.

    >>> literal_names("protection/registry.py", "MethodName")[:2]
    ('partition', 'sorted')
    """
    source = _parse(os.path.join(os.path.dirname(__file__), "..", module))
    defined = next(
        node.value for node in source.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    return tuple(str(node.value) for node in ast.walk(defined) if isinstance(node, ast.Constant))


def _parse(file: str) -> ast.Module:
    with open(file, encoding="utf-8") as source:  # pathlib is slow to import
        return ast.parse(source.read())
