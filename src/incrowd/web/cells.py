"""Cells as the app shows them: as short text, or masked."""

from __future__ import annotations

from typing import Any

MASK = "••••"
_LONGEST = 200  # characters


def cell_text(value: Any) -> str:
    """A cell as text, shortened if it is long; an empty text for a null.

    >>> cell_text(None), cell_text(41), len(cell_text("x" * 1000))
    ('', '41', 200)
    """
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def masked_cell(kind: str) -> str:
    """The text for a hidden cell, which tells only its kind.

    >>> masked_cell("integer")
    '•••• (integer)'
    """
    return f"{MASK} ({kind})"
