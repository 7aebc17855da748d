"""How many people a leak names: the number a breach notice needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.leak.binomial import log_binomial
from incrowd.leak.contour import Grid, turned_product
from incrowd.leak.exact import expected_classes
from incrowd.leak.laws import Guesses, reach
from incrowd.leak.result import checked
from incrowd.leak.simulate import run_trials
from incrowd.leak.terms import leak_terms, moments, whole_terms
from incrowd.notebook import Shown
from incrowd.progress import Progress, silent

How = Literal["auto", "exact", "simulated"]

_MOST_TERMS = 20_000_000  # class sizes times leaked members of each; more would not fit in memory


@dataclass(frozen=True, slots=True, eq=False)
class NamedPeople(Shown):
    """How many people are named when the attacker guesses once for everybody in the leak.

    `chances[i]` is the chance that exactly `first + i` people are named.
    """

    people: int
    leaked: int
    method: Literal["exact", "simulated"]
    trials: int | None
    seed: int | None
    mean: float
    variance: float
    first: int
    chances: NDArray[np.float64]

    @property
    def upper(self) -> int:
        """Upper 95 % bound: at most so many people are named with a chance of 95 % or more."""
        return self.quantile(0.95)

    @property
    def share_of_leak(self) -> float:
        """The mean as a share of the people who leaked."""
        return self.mean / self.leaked if self.leaked else 0.0

    def quantile(self, chance: float) -> int:
        """The smallest number that is not exceeded with at least this chance."""
        if not 0 < chance < 1:
            raise InputError(f"a quantile at {chance}; give a chance between 0 and 1")
        # a hair below, so that a sum of chances that is right but for its last digit is not missed
        return self.first + int(np.searchsorted(np.cumsum(self.chances), chance - 1e-12))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "people": self.people,
            "leaked": self.leaked,
            "method": self.method,
            "trials": self.trials,
            "seed": self.seed,
            "mean": self.mean,
            "variance": self.variance,
            "upper_95": self.upper,
            "share_of_leak": self.share_of_leak,
        }


def distribution(
    sizes: ClassSizes,
    leaked: int,
    *,
    method: How = "auto",
    trials: int = 10_000,
    seed: int = 0,
    progress: Progress = silent,
) -> NamedPeople:
    """The number of people named when everybody in the leak is guessed once, each guess on its own.

    A person who leaked with h − 1 lookalikes is named with chance 1 / h. Exact, unless the classes are of so many and
    so large sizes that only simulation is left (`method` says which it was).

    >>> named = distribution(ClassSizes.from_sizes([3, 2, 1]), leaked=4)
    >>> round(named.mean, 6), round(named.variance, 6), named.upper
    (2.6, 0.873333, 4)
    """
    checked(sizes, leaked)
    if method not in ("auto", "exact", "simulated"):
        raise InputError(f"the method is 'auto', 'exact' or 'simulated', not {method!r}")
    chance = leaked / sizes.people
    spread = np.asarray(sizes.sizes * chance * (1 - chance) + 1, dtype=float)
    terms = 2 * float(np.sum(np.minimum(reach(spread), sizes.sizes)))
    if method == "simulated" or (method == "auto" and terms > _MOST_TERMS):
        return _simulated(sizes, leaked, trials, seed, progress)
    if terms > _MOST_TERMS:
        raise UnsupportedError(f"the exact distribution would need {terms:,.0f} terms; use method='simulated'")
    return _exact(sizes, leaked)


def _exact(sizes: ClassSizes, leaked: int) -> NamedPeople:
    """By a contour integral for the leak and a Fourier sum for the people named (see contour.py)."""
    people = sizes.people
    if leaked == 0:
        return NamedPeople(people, 0, "exact", None, None, 0.0, 0.0, 0, np.ones(1))
    everybody = leaked == people
    if everybody:
        terms, log_hit = whole_terms(sizes.sizes, sizes.counts, Guesses()), 0.0
    else:
        odds = leaked / (people - leaked)
        terms = leak_terms(sizes.sizes, sizes.counts, odds, Guesses())
        log_hit = float(log_binomial(leaked, people, odds))
    now = moments(terms)
    spread = float(now.spread[1, 1])
    grid = Grid(1, 2 * int(reach(spread)) | 1, 0.0, 0.0, spread) if everybody else Grid.over(now, sides=2)
    middle = round(expected_classes(sizes, leaked))
    phi, sums = grid.sums(lambda theta, phi: turned_product(terms, theta, phi, leaked, middle), terms.largest)
    sums = sums * math.exp(-log_hit) / grid.leak_nodes
    first = max(0, middle - grid.other_nodes // 2)
    numbers = np.arange(first, min(first + grid.other_nodes, leaked + 1))
    waves = np.exp(-1j * np.outer(numbers - middle, phi[1:])) @ sums[1:]
    chances = (sums[0].real + 2 * waves.real) / grid.other_nodes
    return _summary(sizes, leaked, first, chances)


def _summary(sizes: ClassSizes, leaked: int, first: int, chances: NDArray[np.float64]) -> NamedPeople:
    """Mean and variance; the mean is known in closed form, and a sum that misses it is not passed on."""
    known = expected_classes(sizes, leaked)
    numbers = first + np.arange(chances.size)
    total, mean = float(chances.sum()), float(chances @ numbers)
    if abs(total - 1) > 1e-8 or abs(mean - known) > 1e-8 * known or chances.min() < -1e-9:
        raise ArithmeticError(f"the chances add up to {total} and their mean is {mean}, not {known}")
    chances = np.where(chances > 1e-13, chances, 0.0)  # below that they are rounding
    variance = float(chances @ (numbers - known) ** 2)
    return NamedPeople(sizes.people, leaked, "exact", None, None, known, variance, first, chances)


def _simulated(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NamedPeople:
    from incrowd.leak import kernels

    def guess(
        rng: np.random.Generator, order: NDArray[np.int64], each: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        kernels.guess_everybody(rng, order, each, leaked, out)

    named = run_trials(sizes, leaked, trials, seed, guess, progress).astype(np.int64)
    first = int(named.min())
    chances = np.bincount(named - first) / trials
    mean, variance = float(named.mean()), float(named.var(ddof=1))
    return NamedPeople(sizes.people, leaked, "simulated", trials, seed, mean, variance, first, chances)
