"""The result of an attack: success rates with and without the release, and the people found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.curves import Curve
from incrowd.curves.study_accuracy import wilson_interval
from incrowd.recipients import is_within
from incrowd.results import Result
from incrowd.special import Floats
from incrowd.wording import counted, large_number, percent, percent_interval

AttackKind = Literal["linkage", "singling-out", "linkability", "inference", "attribution", "membership", "distances"]

LEVEL = 0.95
_NEEDS_NO_CONTROL = ("linkage", "membership")


class Rate(NamedTuple):
    """A success rate and its 95 % interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Plain JSON types."""
        return self._asdict()


def wilson(successes: float, trials: int, *, everybody: int | None = None) -> Rate:
    """A success rate with the interval of Wilson (1927).

    Successes may be fractions, because ties share a success; the interval is then wider than necessary.

    Args:
        everybody: number of people from whom targets were drawn without replacement, if the rate is about them only.

    >>> wilson(5, 100)
    Rate(value=0.05, low=0.0215..., high=0.1117...)
    >>> wilson(5, 100, everybody=100)
    Rate(value=0.05, low=0.05, high=0.05)
    """
    share = successes / trials
    seen = trials / everybody if everybody else 0.0
    return Rate(share, *((share, share) if seen >= 1.0 else wilson_interval(share, trials, seen=seen)))


def fewest_trials(limit: float) -> int:
    """The fewest attacks without any success whose interval stays below a limit.

    >>> fewest_trials(1 / 11), wilson(0, 39).high < 1 / 11 < wilson(0, 38).high
    (39, True)
    """
    trials = 1
    while not is_within(wilson(0, trials).high, limit):
        trials *= 2
    low, high = trials // 2, trials
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_within(wilson(0, middle).high, limit) else (middle, high)
    return high


def excess(attack: Rate, control: Rate) -> Rate:
    """(attack − control)/(1 − control): the share of people, among those safe by the control, whom the release exposes.

    The interval is that of Newcombe (1998, method 10) for the difference of two rates. A value below 0 means that the
    attack is no better than the control, and is reported as 0.

    >>> excess(wilson(30, 100), wilson(10, 100)).value
    0.222...
    """
    room = 1.0 - control.value
    if room <= 0.0:
        return Rate(0.0, 0.0, 1.0)  # nobody is safe without the release, so nobody can be exposed by it
    difference = attack.value - control.value
    below = math.hypot(attack.value - attack.low, control.high - control.value)
    above = math.hypot(attack.high - attack.value, control.value - control.low)
    ends = (difference, difference - below, difference + above)
    value, low, high = (min(max(end / room, 0.0), 1.0) for end in ends)
    return Rate(value, low, high)


@dataclass(frozen=True, slots=True)
class AtPopulation(Result):
    """Correctness of the linkage in a population of another size than the release, by the scaling law."""

    people: int
    correctness: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class AttackRisk(Result):
    """The result of one attack on a release.

    Attributes:
        kind: the attack.
        method: its variant, if there are several.
        known: the columns that the attacker knows.
        secret: the column that the attacker wants to know, or the columns of the other part of the record.
        targets: the number of people, predicates or records attacked.
        attack: the success rate.
        control: the success rate on people who are not in the data behind the release; None without a holdout.
        chance: the success rate of a guess without the release, if it is known.
        risk: the excess of the success over the control, or over chance if there is no holdout, with its 95 %
            interval; for linkage the success itself.
        measures: further numbers of this kind of attack.
        populations: the success in populations of other sizes.
        notes: limits of the answer.
        rows: the rows of the original that were attacked; `successes` has the success rate of each.
        curve: correctness by the size of the gallery, for linkage.
    """

    kind: AttackKind
    method: str
    known: tuple[str, ...]
    secret: tuple[str, ...]
    targets: int
    attack: Rate
    control: Rate | None
    chance: float | None
    risk: Rate
    seed: int
    measures: Mapping[str, float | None] = field(default_factory=dict)
    populations: tuple[AtPopulation, ...] = ()
    notes: tuple[str, ...] = ()
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    successes: Floats = field(default_factory=lambda: np.empty(0))
    curve: Curve | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"rows", "successes", "curve"})
    _derived: ClassVar[tuple[str, ...]] = ("name", "sentence", "proven")

    @property
    def name(self) -> str:
        """The attack in words."""
        return f"{self.kind.replace('-', ' ')}{f' ({self.method})' if self.method else ''}"

    @property
    def about(self) -> str:
        """The attack in words, with the secret that it guesses."""
        return f"{self.name} of {self.secret[0]}" if self.kind in ("inference", "attribution") else self.name

    @property
    def lacks_control(self) -> bool:
        """True if only attacks on people who are not in the original could tell a leak from a good guess."""
        return self.control is None and self.kind not in _NEEDS_NO_CONTROL

    @property
    def proven(self) -> bool:
        """True if the interval lies above 0 (for linkage, above a guess): chance alone does not explain the success."""
        return self.risk.low > (self.chance or 0.0 if self.kind == "linkage" else 0.0)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        text = f"{SUCCESS[self.kind]} in {percent(self.attack.value)} of {counted(self.targets, 'attack', 'attacks')}"
        if self.control is not None:
            text += f", against {percent(self.control.value)} without the release"
        elif self.chance is not None:
            text += f", against {percent(self.chance)} by a guess"
        text += f"; risk {percent(self.risk.value)} ({percent_interval(self.risk.low, self.risk.high)})"
        for one in self.populations:
            text += f"; among {large_number(one.people)} people {percent(one.correctness)}"
        return text + "."

    def _rows(self) -> list[dict[str, Any]]:
        """One row of numbers."""
        row: dict[str, Any] = {"attack": self.name, "known": ", ".join(self.known), "targets": self.targets}
        for name, rate in (("success", self.attack), ("control", self.control), ("risk", self.risk)):
            row |= (
                {name: None} if rate is None else {name: rate.value, f"{name} low": rate.low, f"{name} high": rate.high}
            )
        return [row | dict(self.measures)]


SUCCESS: Mapping[str, str] = {
    "linkage": "The right record is named",
    "singling-out": "A predicate built from the release isolates one person",
    "linkability": "Two parts of a person's data are joined",
    "inference": "The secret is guessed",
    "attribution": "Records with the same known values disclose the secret",
    "membership": "A person of the original is distinguished from an outsider (AUC)",
    "distances": "A released record is identical to a person's",
}
