"""The simulation of the leak-attack paper: draw a leak, look people up in it, repeat."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.errors import InputError, UnsupportedError
from incrowd.leaks.inputs import check_leak, check_trials
from incrowd.results import Result
from incrowd.special import NORMAL_QUANTILE
from incrowd.tables import TableLike
from incrowd.wording import one_decimal

TargetsFrom = Literal["table", "leak"]

TOO_FEW_TRIALS = "too few trials for so many targets"

MOST_PEOPLE = 200_000_000  # one eight-byte number a person
# with fewer effective trials there is no interval; with more, intervals were measured to cover 19 times in 20. The
# limit for the observed number is lower, because it is too high in runs that have not drawn the tail
_FEWEST_EFFECTIVE, _FEWEST_LOG_NORMAL = 100, 200
_STEPS_A_CALL = 20_000_000  # people drawn between two reports of progress


@dataclass(frozen=True, slots=True)
class LeakSimulation(Result):
    """The simulated chance of naming all targets, with its 95 % interval and the risk of single people.

    With many targets, a few lucky trials make up nearly all of the mean. `effective_trials` is the equivalent number of
    equal trials, (Σr)² / Σr² over the risks r of the trials. It is too high if the luckiest trials have not been drawn,
    so a second number is used: for log-normal risks, trials · e^(−v) are effective, where v is `log_variance`, the
    variance of log r. There is no interval if the first is below 100, or the second below 200 (and below half the
    trials).

    `risks` gives the share of people (of the table, or of the leak) by their chance of being named: 0 for those who did
    not leak, 1 / h for those who leaked with h − 1 others of their class.
    """

    people: int
    leaked: int
    targets: int
    targets_from: TargetsFrom
    trials: int
    seed: int
    probability: float
    log_probability: float
    effective_trials: float
    log_variance: float
    risks: tuple[tuple[float, float], ...]
    _derived: ClassVar[tuple[str, ...]] = ("standard_error", "interval")

    @property
    def enough_trials(self) -> bool:
        """True if the trials are enough for an interval."""
        log_normal = self.trials * math.exp(-self.log_variance)
        return all(
            effective >= min(fewest, self.trials / 2)
            for effective, fewest in ((self.effective_trials, _FEWEST_EFFECTIVE), (log_normal, _FEWEST_LOG_NORMAL))
        )

    @property
    def relative_error(self) -> float | None:
        """Standard error as a share of the probability; None with too few trials for so many targets."""
        if not self.enough_trials:
            return None
        return math.sqrt(max(self.trials / self.effective_trials - 1, 0.0) / (self.trials - 1))

    @property
    def standard_error(self) -> float | None:
        """Standard error of the probability; None with too few trials for so many targets."""
        error = self.relative_error
        return None if error is None else error * self.probability

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the probability, formed on the log scale; None with too few trials for so many targets."""
        error = self.relative_error
        if error is None:
            return None
        low, high = (math.exp(self.log_probability + side * NORMAL_QUANTILE * error) for side in (-1, 1))
        return low, min(high, 1.0)  # a chance ends at 1

    def agrees_with(self, probability: float, *, errors: float = 3.0) -> bool:
        """True if a number is within this many standard errors; if all trials are equal, rounding is allowed for."""
        error = self.standard_error
        if error is None:
            worth = one_decimal(self.effective_trials)
            raise UnsupportedError(
                f"{TOO_FEW_TRIALS}: the {self.trials:,} of this simulation are worth {worth} and cannot be "
                "compared with a number; simulate more, or look for fewer people"
            )
        return abs(self.probability - probability) <= errors * error + 1e-9 * probability

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types."""
        return Result.to_dict(self) | {"risks": [{"risk": risk, "share": share} for risk, share in self.risks]}


def simulate_leak(
    data: ClassSizes | TableLike,
    leaked: int,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    targets: int = 1,
    trials: int = 10_000,
    seed: int = 0,
    targets_from: TargetsFrom = "table",
    progress: Progress = silent,
) -> LeakSimulation:
    """Simulate the attack: a check on `leak_risk`, and the risk of single people.

    Args:
        data: class sizes, or a table: a file's path, a frame or a `Table`.
        leaked: people in the leak; `share_of` converts a share to people.
        quasi_identifiers: for a table, the columns that the attacker knows.
        person: for a table, the column that identifies the person of each record.
        targets: number of people the attacker looks for together.
        trials: number of simulated leaks.
        seed: seed of the random numbers.
        targets_from: `"leak"`: targets are people who leaked (the paper's loop). `"table"`: targets are people of the
            whole table, as in `leak_risk`. A person who did not leak is never named, so the second probability is the
            first times the known chance that all targets leaked.
        progress: callback that receives the current step and the share done.

    Returns:
        The simulated probability with its interval, and the share of people at each risk.

    Raises:
        InputError: the targets do not fit into the leak, or the quasi-identifiers of a table are missing.
        UnsupportedError: there are too many people to draw one by one.

    >>> simulated = simulate_leak(ClassSizes.from_sizes([3, 2, 1]), leaked=4, targets=2, trials=20_000, seed=1)
    >>> simulated.agrees_with(0.18666666)
    True
    """
    sizes = class_sizes_of(data, quasi_identifiers, person)
    leaked, targets = check_leak(sizes.people, leaked, targets)
    trials, seed = check_trials(trials, seed)
    if targets > leaked:
        raise InputError(
            f"{targets:,} targets cannot all be in a leak of {leaked:,} people; the chance is 0, no need to try"
        )
    if targets_from not in ("table", "leak"):
        raise InputError(f"targets come from the 'table' or the 'leak', not from {targets_from!r}")
    from incrowd.leaks import kernels

    at_risk = np.zeros(sizes.largest + 1, dtype=np.int64)

    logs = run_trials(
        sizes,
        leaked,
        trials,
        seed,
        lambda rng, order, each, out: kernels.attack(rng, order, each, leaked, targets, out, at_risk),
        progress,
    )
    if targets_from == "table":
        logs += math.fsum(math.log((leaked - i) / (sizes.people - i)) for i in range(targets))
    # relative to the largest, because the chance of a hundred targets is too small for a float
    peak = float(logs.max())
    shares = np.exp(logs - peak)
    log_probability = peak + math.log(float(shares.mean()))
    return LeakSimulation(
        people=sizes.people,
        leaked=leaked,
        targets=targets,
        targets_from=targets_from,
        trials=trials,
        seed=seed,
        probability=math.exp(log_probability),
        log_probability=log_probability,
        effective_trials=float(shares.sum() ** 2 / (shares @ shares)),
        log_variance=float(logs.var(ddof=1)),
        risks=_risk_shares(at_risk, trials * (sizes.people if targets_from == "table" else leaked)),
    )


def run_trials(
    sizes: ClassSizes,
    leaked: int,
    trials: int,
    seed: int,
    simulate: Callable[[np.random.Generator, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]], None],
    progress: Progress,
) -> NDArray[np.float64]:
    """One number for each trial, simulated in portions so that progress is reported."""
    if sizes.people > MOST_PEOPLE:
        raise UnsupportedError(
            f"{sizes.people:,} people are too many to simulate (at most {MOST_PEOPLE:,}); use the exact answer"
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


def _risk_shares(at_risk: NDArray[np.int64], total: int) -> tuple[tuple[float, float], ...]:
    """Each risk 1 / h with the share of people who had it, and 0 for the rest, largest risk first."""
    shares = [(1 / h, int(at_risk[h]) / total) for h in np.flatnonzero(at_risk).tolist()]
    safe = total - int(at_risk.sum())
    return tuple(shares + ([(0.0, safe / total)] if safe else []))
