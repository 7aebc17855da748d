"""Cells as the app shows them: as short text, or masked."""

from __future__ import annotations

from typing import Any

_MASK = "••••"
_LONGEST = 200


def cell_text(value: Any) -> str:
    """A cell as text of limited length; nothing for a null.

    >>> cell_text(None), cell_text(41), len(cell_text("x" * 1000))
    ('', '41', 200)
    """
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def masked_cell(kind: str) -> str:
    """A cell of which only the kind is told.

    >>> masked_cell("integer")
    '•••• (integer)'
    """
    return f"{_MASK} ({kind})"
