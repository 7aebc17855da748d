"""narwhals, imported on first use: files are counted without it.

Other modules import this one as `nw`; the stub beside it tells type checkers what it holds.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(import_module("narwhals.stable.v2"), name)
