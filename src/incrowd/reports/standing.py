"""How a table stands: three answers, each with one colour, one shape and one stamp on every page."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

Standing = Literal["yes", "if", "no"]

STAMPS: dict[Standing, str] = {"yes": "✓", "if": "◐", "no": "✕"}


def standing_of(decision: str, conditions: Collection[object] = ()) -> Standing:
    """The standing of a decision: a yes without conditions, a no, or not yet: conditions, or something open.

    >>> standing_of("within"), standing_of("within", ["nobody knows age"]), standing_of("undecided")
    ('yes', 'if', 'if')
    >>> standing_of("exposed"), standing_of("over"), standing_of("borderline")
    ('no', 'no', 'if')
    """
    if decision in ("exposed", "over"):
        return "no"
    return "yes" if decision == "within" and not conditions else "if"
