"""The leak-attack paper's simulation: draw a leak, look people up in it, repeat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.leak.result import checked
from incrowd.notebook import Shown
from incrowd.progress import Progress, silent

TargetsFrom = Literal["table", "leak"]

_MOST_PEOPLE = 200_000_000  # one eight-byte number a person
_STEPS_A_CALL = 20_000_000  # people drawn between two words about progress


@dataclass(frozen=True, slots=True)
class LeakSimulation(Shown):
    """The chance of naming all targets as simulated, with its 95 % interval and the risk of single people.

    `risks` says what share of people (of the table, or of the leak) had which chance of being named: 0 for those who
    did not leak, 1 / h for those who leaked with h − 1 lookalikes.
    """

    people: int
    leaked: int
    targets: int
    targets_from: TargetsFrom
    trials: int
    seed: int
    probability: float
    standard_error: float
    risks: tuple[tuple[float, float], ...]

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the probability."""
        half = 1.959963984540054 * self.standard_error
        return self.probability - half, self.probability + half

    def agrees_with(self, probability: float, *, errors: float = 3.0) -> bool:
        """Whether a number is within so many standard errors; rounding is allowed for where every trial is equal."""
        return abs(self.probability - probability) <= errors * self.standard_error + 1e-9 * probability

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "people": self.people,
            "leaked": self.leaked,
            "targets": self.targets,
            "targets_from": self.targets_from,
            "trials": self.trials,
            "seed": self.seed,
            "probability": self.probability,
            "standard_error": self.standard_error,
            "interval": list(self.interval),
            "risks": [{"risk": risk, "share": share} for risk, share in self.risks],
        }


def simulate_leak(
    sizes: ClassSizes,
    leaked: int,
    *,
    targets: int = 1,
    trials: int = 10_000,
    seed: int = 0,
    targets_from: TargetsFrom = "table",
    progress: Progress = silent,
) -> LeakSimulation:
    """Simulate the attack: the check on `leak_risk`, and the risk of single people.

    `targets_from="leak"` looks for people who are known to have leaked (the paper's loop); `"table"` for people of the
    whole table, which is what `leak_risk` answers. Somebody who did not leak is never named, so the second is the first
    times the chance that all targets leaked, which is known and not simulated: the mean is the same, the noise is less.

    >>> simulated = simulate_leak(ClassSizes.from_sizes([3, 2, 1]), leaked=4, targets=2, trials=20_000, seed=1)
    >>> simulated.agrees_with(0.18666666)
    True
    """
    checked(sizes, leaked, targets)
    if targets > leaked:
        raise InputError(
            f"{targets:,} targets cannot all be in a leak of {leaked:,} people; the chance is 0, no need to try"
        )
    if targets_from not in ("table", "leak"):
        raise InputError(f"targets come from the 'table' or the 'leak', not from {targets_from!r}")
    from incrowd.leak import kernels

    at_risk = np.zeros(sizes.largest + 1, dtype=np.int64)

    def attack(
        rng: np.random.Generator, order: NDArray[np.int64], each: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        kernels.attack(rng, order, each, leaked, targets, out, at_risk)

    logs = run_trials(sizes, leaked, trials, seed, attack, progress)
    if targets_from == "table":
        logs += math.fsum(math.log((leaked - i) / (sizes.people - i)) for i in range(targets))
    risks = np.exp(logs)
    return LeakSimulation(
        people=sizes.people,
        leaked=leaked,
        targets=targets,
        targets_from=targets_from,
        trials=trials,
        seed=seed,
        probability=float(risks.mean()),
        standard_error=float(risks.std(ddof=1) / math.sqrt(trials)),
        risks=_shares(at_risk, trials * (sizes.people if targets_from == "table" else leaked)),
    )


def run_trials(
    sizes: ClassSizes,
    leaked: int,
    trials: int,
    seed: int,
    simulate: Callable[[np.random.Generator, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]], None],
    progress: Progress,
) -> NDArray[np.float64]:
    """One number a trial, simulated in portions, so that whoever waits hears of it."""
    if trials < 2:
        raise InputError(f"{trials:,} trials; give 2 or more, some thousands for a usable interval")
    if seed < 0:
        raise InputError(f"a seed of {seed}; give 0 or more")
    if sizes.people > _MOST_PEOPLE:
        raise UnsupportedError(
            f"{sizes.people:,} people are too many to simulate (at most {_MOST_PEOPLE:,}); use the exact answer"
        )
    each = np.repeat(sizes.sizes, sizes.counts)
    order = np.repeat(np.arange(each.size), each)
    out, rng = np.zeros(trials), np.random.default_rng(seed)
    portion = max(1, _STEPS_A_CALL // (sizes.classes + leaked))
    for first in range(0, trials, portion):
        progress("simulating leaks", first / trials)
        simulate(rng, order, each, out[first : first + portion])
    progress("simulating leaks", 1.0)
    return out


def _shares(at_risk: NDArray[np.int64], total: int) -> tuple[tuple[float, float], ...]:
    """Each risk 1 / h with the share of people who had it, and 0 for the rest, largest risk first."""
    shares = [(1 / h, int(at_risk[h]) / total) for h in np.flatnonzero(at_risk).tolist()]
    safe = total - int(at_risk.sum())
    return tuple(shares + ([(0.0, safe / total)] if safe else []))
