"""Accuracy of an identification study by group, and among the probes with the highest confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.errors import InputError
from incrowd.results import DataTable, Result
from incrowd.special import NORMAL_QUANTILE
from incrowd.wording import percent, percent_interval

MOST_CONFIDENT = (1.0, 0.5, 0.2, 0.1, 0.05, 0.01)
"""Shares of the probes, the most confident ones, that accuracy is measured among."""


def wilson_interval(share: float, trials: int, *, seen: float = 0.0) -> tuple[float, float]:
    """Wilson's (1927) 95 % interval of a share; `seen` is the sampling fraction, for the finite population correction.

    >>> wilson_interval(0.05, 100)
    (0.0215..., 0.1117...)
    """
    z = NORMAL_QUANTILE**2 * (1.0 - seen) / trials
    middle = (share + z / 2) / (1 + z)
    half = math.sqrt(z * share * (1 - share) + z * z / 4) / (1 + z)
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)


@dataclass(frozen=True, slots=True)
class PartAccuracy(Result):
    """The accuracy among part of the probes: their number, the share named correctly and its 95 % (Wilson) interval."""

    part: str
    people: int
    correct: float
    _derived: ClassVar[tuple[str, ...]] = ("accuracy", "interval")

    @property
    def accuracy(self) -> float:
        """The share named correctly."""
        return self.correct / self.people

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson_interval(self.accuracy, self.people)

    @property
    def row(self) -> tuple[str, int, str, str]:
        """The part as a row of a table."""
        return self.part, self.people, percent(self.accuracy), percent_interval(*self.interval)


@dataclass(frozen=True, slots=True)
class StudyAccuracy(Result):
    """The accuracy of a study: overall, by group, and among the most confident shares of the probes."""

    overall: PartAccuracy
    groups: tuple[PartAccuracy, ...]
    confident: tuple[PartAccuracy, ...]

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The accuracy by group, and among the most confident probes, where these were given."""
        kinds = (
            ("By group", "group", self.groups),
            ("Among those the attacker is most sure of", "most confident", self.confident),
        )
        return tuple(
            DataTable(caption, (head, "probes", "named correctly", "95% interval"), tuple(part.row for part in parts))
            for caption, head, parts in kinds
            if parts
        )


def study_accuracy(
    correct: ArrayLike, *, groups: Sequence[Any] | None = None, confidence: ArrayLike | None = None
) -> StudyAccuracy:
    """Accuracy of an identification study by group: an average may hide a group that is never or always named.

    Args:
        correct: for every probe 1 if it was named correctly, else 0; or the chance of it (1/t if t entries are tied).
        groups: the group of every probe.
        confidence: the attacker's confidence in each name, such as the margin between the best score and the next.

    Returns:
        The accuracy overall, of every group, and among the most confident probes.

    Raises:
        InputError: the lists differ in length, or hold other than shares and numbers.

    >>> found = study_accuracy([1, 1, 0, 0], groups=["f", "f", "m", "m"], confidence=[9, 8, 7, 1])
    >>> [(one.part, one.accuracy) for one in found.groups], found.confident[1].accuracy
    ([('f', 1.0), ('m', 0.0)], 1.0)
    """
    right = np.asarray(correct, dtype=np.float64)
    if right.ndim != 1 or not right.size or not np.all((right >= 0) & (right <= 1)):
        raise InputError("whether probes were named must be a list of shares between 0 and 1, one a probe")
    names = None if groups is None else ["" if one is None else str(one) for one in groups]
    sure = None if confidence is None else np.asarray(confidence, dtype=np.float64)
    if (names is not None and len(names) != right.size) or (sure is not None and sure.shape != right.shape):
        raise InputError(f"{right.size:,} probes; give a group and a confidence for each")
    if sure is not None and not np.all(np.isfinite(sure)):
        raise InputError("some probes have no confidence; leave those out")
    return StudyAccuracy(
        PartAccuracy("all", right.size, float(right.sum())),
        () if names is None else _by_group(right, np.array(names)),
        () if sure is None else _by_confidence(right, sure),
    )


def _by_group(right: NDArray[np.float64], names: NDArray[np.str_]) -> tuple[PartAccuracy, ...]:
    groups, numbers, people = np.unique(names, return_inverse=True, return_counts=True)
    correct = np.bincount(numbers, weights=right)
    return tuple(
        PartAccuracy(str(name), int(count), float(total))
        for name, count, total in zip(groups, people, correct, strict=True)
    )


def _by_confidence(right: NDArray[np.float64], sure: NDArray[np.float64]) -> tuple[PartAccuracy, ...]:
    """Accuracy among the most confident shares of the probes; ties with the last probe of a share are included."""
    order = np.sort(sure)[::-1]
    parts = []
    for share in MOST_CONFIDENT:
        inside = sure >= order[math.ceil(share * right.size) - 1]
        parts.append(PartAccuracy(f"{100 * share:g} %", int(inside.sum()), float(right[inside].sum())))
    return tuple(parts)
