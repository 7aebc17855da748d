"""The best attacker of a release: who knows the law of the kept columns and the known columns of everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_LARGEST_CLASS = 400  # members of larger classes are hidden whatever is kept: within them nobody is attacked
LIMIT = 1 / 11
BROKEN, HARMLESS = 3 * LIMIT, 1.5 * LIMIT


class Law(Protocol):
    """How kept columns come from known ones."""

    name: str
    noise: str
    sample: Callable[[pd.DataFrame, np.random.Generator], dict[str, Any]]
    loglik: Callable[[pd.DataFrame, pd.DataFrame], Any]


@dataclass(frozen=True, slots=True)
class Success:
    """Success of the best attacker: of everybody, and of the most confident 1 % (as it came out, and as expected)."""

    average: float
    top: float
    expected: float

    @property
    def kind(self) -> str:
        """Broken, harmless, or between them: by the success among the most confident 1 %."""
        if self.top > BROKEN:
            return "broken"
        return "harmless" if self.top < HARMLESS else "between"


def best_success(law: Law, known: pd.DataFrame, kept: pd.DataFrame, classes: NDArray[np.int64]) -> Success:
    """The Bayes-optimal attacker within each class.

    The posterior of row j for target i is P(x_j | q_i) / sum over members of P(x_j | q_.), normalised over j.
    """
    groups = _members(classes)
    targets = np.concatenate([np.repeat(group, len(group)) for group in groups])
    rows = np.concatenate([np.tile(group, len(group)) for group in groups])
    log = np.asarray(law.loglik(kept.iloc[rows].reset_index(drop=True), known.iloc[targets].reset_index(drop=True)))
    confidence, success = np.zeros(len(known)), np.zeros(len(known))
    start = 0
    for group in groups:
        size = len(group)
        weights = _posterior(log[start : start + size * size].reshape(size, size))
        start += size * size
        best = weights.max(axis=1)
        is_best = weights >= best[:, None] * (1 - 1e-9)
        confidence[group] = best
        success[group] = is_best.diagonal() / is_best.sum(axis=1)
    top = np.argsort(-confidence, kind="stable")[: max(10, len(known) // 100)]
    return Success(float(success.mean()), float(success[top].mean()), float(confidence[top].mean()))


def _members(classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order])) + 1
    return [group for group in np.split(order, starts) if len(group) <= _LARGEST_CLASS]


def _posterior(log: Numbers) -> Numbers:
    likelihood = np.exp(log - log.max(axis=0, keepdims=True)) + 1e-27
    balanced = likelihood / likelihood.sum(axis=0, keepdims=True)
    posterior: Numbers = balanced / balanced.sum(axis=1, keepdims=True)
    return posterior
