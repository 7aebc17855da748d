"""Wishes: which columns matter most, which stay as they are, and how wide a range or set may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incrowd.errors import InputError


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the result should look like.

    Attributes:
        importance: by column, what a loss in it weighs; 1 where nothing is said, 0 where the column may vanish.
        keep: columns that stay as they are, so that no class mixes their values.
        widest: by column, the longest range allowed, in its own unit (days for dates); for text, the largest set.
    """

    importance: Mapping[str, float] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    widest: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.importance or self.keep or self.widest)

    @property
    def restrict(self) -> bool:
        """Whether some records may be impossible to protect as wished."""
        return bool(self.keep or self.widest)


def _is_amount(value: object) -> bool:
    """Whether a wish is a finite number of 0 or more."""
    try:
        return math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]
    except (TypeError, OverflowError):
        return False


def read_wishes(
    names: Sequence[str],
    importance: Mapping[str, float] | None,
    keep: Sequence[str] | None,
    widest: Mapping[str, float] | None,
    nominal: Sequence[str] | None,
) -> Wishes:
    """Check wishes one by one and against each other; `nominal` columns are checked too."""
    given = {"an importance": importance, "a wish to keep": keep, "a largest width": widest, "a nominal scale": nominal}
    for what, columns in given.items():
        if isinstance(columns, str):
            raise InputError(f"{what} is given as one text; give a list or a mapping of columns")
        stray = [name for name in columns or () if name not in names]
        if stray:
            raise InputError(f"{what} for {', '.join(map(repr, stray))}, not a quasi-identifier")
    weights, limits = dict(importance or {}), dict(widest or {})
    for name, weight in weights.items():
        if not _is_amount(weight):
            raise InputError(f"an importance of {weight!r} for {name!r}; give a number of 0 or more")
    for name, limit in limits.items():
        if not _is_amount(limit):
            raise InputError(f"a largest width of {limit!r} for {name!r}; give a number of 0 or more")
    if len(weights) == len(names) and not any(weights.values()):
        raise InputError("every quasi-identifier has importance 0, so nothing is worth keeping; raise one of them")
    for name in keep or ():
        if weights.get(name) == 0:
            raise InputError(f"{name!r} is to stay as it is, and has importance 0; drop one of these wishes")
        if name in limits:
            raise InputError(f"{name!r} is to stay as it is, and has a largest width; drop one of these wishes")
    return Wishes(weights, tuple(keep or ()), limits)
