"""Cells as the app shows them: as short text, or masked."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from incrowd.tables.generalised import Anything, Choice, Interval, Prefix, parse_generalised
from incrowd.wording import counted, number

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


def masked_release(before: str, after: str | None) -> str | None:
    """The text for a hidden cell of a release, which tells only what became of the cell `before`; None if removed.

    >>> masked_release("93701", "{93701,93702,93703}"), masked_release("41", "[40;44]"), masked_release("f", "f")
    ('•••• (a set of 3 values)', '•••• (a range, 4 wide)', '•••• (unchanged)')
    >>> [masked_release("93701", after) for after in ("937**", "*", "93702")] + [masked_release("x", None)]
    ['•••• (its first 3 characters)', '•••• (hidden)', '•••• (another value)', None]
    >>> masked_release("93701", cell_text("{" + ",".join(map(str, range(100))) + "}"))
    '•••• (a set of many values)'
    """
    if after is None:
        return None
    return f"{MASK} ({'unchanged' if before == after else _kind_of_release(after)})"


def _kind_of_release(text: str) -> str:
    if text.startswith("{") and text.endswith("…"):  # cut
        return "a set of many values"
    covered = parse_generalised(text)
    if isinstance(covered, Interval):
        return _width_in_words(covered)
    if isinstance(covered, Choice):
        return f"a set of {counted(len(covered.values), 'value', 'values')}"
    if isinstance(covered, Prefix):
        return f"its first {counted(len(covered.start), 'character', 'characters')}"
    return "hidden" if isinstance(covered, Anything) or not text else "another value"


def _width_in_words(covered: Interval) -> str:
    low, high = covered.low, covered.high
    if isinstance(low, date) and isinstance(high, date):
        return f"a range of {counted((high - low).days + 1, 'day', 'days')}"
    assert not isinstance(low, date)
    assert not isinstance(high, date)
    return f"a range, {number(high - low)} wide" if math.isfinite(high - low) else "a range that is open at one end"
