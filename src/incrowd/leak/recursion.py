"""The recursion as the leak-attack paper prints it, and with its weights mended, for comparison."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.leak.binomial import log_none

_MOST_STATES = 3_000_000


def log_recursion(sizes: ClassSizes, leaked: int, targets: int, *, by_people: bool) -> float:
    """log of Probability(a, L, D, n) of section 2.3, walked forward over all states at once.

    A state is how many people were taken out of classes of each size, so equal states are met once (the memo) and the
    cost grows with their number, not with the number of paths. Step 5 of the paper's pseudo-code is read as
    a'_i = a_i − 1. The paper weighs a class size by its share of classes (eq. 10), `by_people` by its share of people.
    """
    spans = _spans(sizes, targets)
    base = np.array([(targets + 1) ** index for index in range(len(spans))], dtype=object)
    if base[-1] * (targets + 1) >= 2**62:
        raise UnsupportedError(_too_many(len(spans), targets))
    radix = base.astype(np.int64)
    start = np.array([sizes.histogram().get(span, 0) for span in spans], dtype=np.int64)
    codes, values, log_scale = np.zeros(1, dtype=np.int64), np.ones(1), 0.0
    for taken in range(targets):
        people, left = sizes.people - taken, leaked - taken
        named = -np.expm1(log_none(np.minimum(spans, people), left, people)) / np.array(spans)
        moved: NDArray[np.int64] = codes[:, None] // radix % (targets + 1)
        now = start - moved
        now[:, :-1] += np.where(np.diff(spans) == 1, moved[:, 1:], 0)
        parts = now * np.array(spans) if by_people else now
        weight = parts / parts.sum(axis=1, keepdims=True)
        flow = values[:, None] * weight * named
        row, column = np.nonzero(now)
        codes, where = np.unique(codes[row] + radix[column], return_inverse=True)
        if codes.size > _MOST_STATES:
            raise UnsupportedError(_too_many(len(spans), targets))
        values = np.bincount(where, weights=flow[row, column])
        peak = float(values.max())
        values, log_scale = values / peak, log_scale + math.log(peak)
    return log_scale + math.log(float(values.sum()))


def _spans(sizes: ClassSizes, targets: int) -> list[int]:
    """The sizes a class can have while targets are taken out of it, ascending."""
    met = {size - gone for size in sizes.sizes.tolist() for gone in range(min(size, targets))}
    return sorted(met)


def _too_many(spans: int, targets: int) -> str:
    return (
        f"the published recursion has too many states for {spans:,} class sizes and {targets:,} targets; "
        "use method='exact', or fewer targets"
    )
