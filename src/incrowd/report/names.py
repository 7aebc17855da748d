"""Column names that people may have chosen badly, made fit to show: long ones, right-to-left ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

_LONG = 60
_ISOLATE, _END = "\u2068", "\u2069"  # what is between them cannot turn the text around it


def shown_names(columns: Iterable[str]) -> dict[str, str]:
    """For every name that cannot be shown as it is, how it is shown instead."""
    shown = {}
    for number, name in enumerate(columns, start=1):
        text = "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter for letter in name)
        if len(text) > _LONG:
            text = f"{text[: _LONG - 10]}… (column {number})"
        if any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text):
            text = f"{_ISOLATE}{text}{_END}"
        if text != name:
            shown[name] = text
    return dict(sorted(shown.items(), key=lambda item: -len(item[0])))


def renamed(value: Any, shown: dict[str, str]) -> Any:
    """The same structure with every such name replaced, wherever it stands in a text."""
    if not shown:
        return value
    if isinstance(value, str):
        for name, text in shown.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, dict):
        return {key: renamed(entry, shown) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(renamed(entry, shown) for entry in value)
    return value
