"""How many people a leak names: the number a breach notice needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.contour import Grid, turned_product
from incrowd.leaks.exact import expected_classes
from incrowd.leaks.laws import Guesses, reach
from incrowd.leaks.result import checked
from incrowd.leaks.simulate import MOST_PEOPLE, checked_trials, run_trials
from incrowd.leaks.terms import leak_terms, moments, whole_terms
from incrowd.results import Result

How = Literal["auto", "exact", "simulated"]

_MOST_TERMS = 20_000_000  # class sizes times leaked members of each; more would not fit in memory
_PATIENCE, _MOST_PATIENCE = 5.0, 60.0  # seconds that "auto" spends on an exact answer, and on any
_NODES = 1_000  # that a sum over both directions takes, give or take a fifth at any size
_SECONDS_A_COLUMN, _SECONDS_A_TERM = 6e-7, 1e-8  # at each node: measured, to choose by and no more
_SECONDS_A_STEP, _SECONDS_A_CLASS = 6e-9, 1.2e-6  # of a trial that draws people one by one, or class by class
_MOST_DRAWN_BY_CLASS = 10**9  # people that numpy's hypergeometric law takes


@dataclass(frozen=True, slots=True, eq=False)
class NamedPeople(Result):
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

    A person who leaked with h − 1 lookalikes is named with chance 1 / h. `"auto"` is exact unless that would take more
    than about five seconds (classes of many or very large sizes) and a simulation less; the result's `method` says
    which it was. What would take either more than about a minute is refused; ask for one of them if you can wait.

    >>> named = distribution(ClassSizes.from_sizes([3, 2, 1]), leaked=4)
    >>> round(named.mean, 6), round(named.variance, 6), named.upper
    (2.6, 0.873333, 4)
    """
    leaked, _ = checked(sizes, leaked)
    trials, seed = checked_trials(trials, seed)
    if method not in ("auto", "exact", "simulated"):
        raise InputError(f"the method is 'auto', 'exact' or 'simulated', not {method!r}")
    if method == "simulated" or (method == "auto" and _simulation_is_called_for(sizes, leaked, trials)):
        return _simulated(sizes, leaked, trials, seed, progress)
    terms, _ = _terms_and_columns(sizes, leaked)
    if terms > _MOST_TERMS:
        raise UnsupportedError(f"the exact distribution would need {terms:,.0f} terms; use method='simulated'")
    return _exact(sizes, leaked)


def _simulation_is_called_for(sizes: ClassSizes, leaked: int, trials: int) -> bool:
    """Whether the exact answer takes long and trials do not. The same on every machine: it asks no clock."""
    terms, columns = _terms_and_columns(sizes, leaked)
    exact = _NODES * (columns * _SECONDS_A_COLUMN + terms * _SECONDS_A_TERM) if terms <= _MOST_TERMS else math.inf
    if exact <= _PATIENCE:
        return False
    simulated = trials * min(_seconds_a_trial(sizes, leaked))
    if min(exact, simulated) > _MOST_PATIENCE:
        ways = [name for name, seconds in (("exact", exact), ("simulated", simulated)) if math.isfinite(seconds)]
        raise UnsupportedError(
            f"{sizes.people:,} people in classes of so many or so large sizes are too many to count, and too many to "
            f"simulate, within a minute{'; if you can wait: method=' if ways else ''}{' or '.join(map(repr, ways))}"
        )
    return simulated < exact


def _terms_and_columns(sizes: ClassSizes, leaked: int) -> tuple[float, float]:
    """How many leaked sizes h carry weight, counted for every class size, and counted once."""
    if leaked in (0, sizes.people):
        return sizes.sizes.size / 30, sizes.sizes.size / 30  # one direction less to sum over: a thirtieth of the nodes
    chance = leaked / sizes.people
    middle = np.asarray(sizes.sizes * chance, dtype=np.float64)
    width = reach(middle * (1 - chance) + 1)
    low, high = np.maximum(middle - width, 0), np.minimum(middle + width, sizes.sizes)
    before = np.concatenate([[-1.0], np.maximum.accumulate(high)[:-1]])
    return float(np.sum(high - low + 1)), float(np.sum(np.maximum(high - np.maximum(before, low - 1), 0)))


def _seconds_a_trial(sizes: ClassSizes, leaked: int) -> tuple[float, float]:
    """Drawing people one by one, and drawing how many leak of each class."""
    one_by_one = _SECONDS_A_STEP * (sizes.classes + 2 * leaked) if sizes.people <= MOST_PEOPLE else math.inf
    return one_by_one, _SECONDS_A_CLASS * sizes.classes if sizes.people < _MOST_DRAWN_BY_CLASS else math.inf


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
    # before small chances are cut, for the far ones weigh most; a spread of nothing may round to below it
    variance = max(float(chances @ (numbers - known) ** 2), 0.0)
    chances = np.where(chances > 1e-13, chances, 0.0)  # below that they are rounding
    return NamedPeople(sizes.people, leaked, "exact", None, None, known, variance, first, chances)


def _simulated(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NamedPeople:
    one_by_one, by_class = _seconds_a_trial(sizes, leaked)
    if by_class < one_by_one:
        named = _named_by_class(sizes, leaked, trials, seed, progress)
    else:
        named = _named_one_by_one(sizes, leaked, trials, seed, progress)
    first = int(named.min())
    chances = np.bincount(named - first) / trials
    mean, variance = float(named.mean()), float(named.var(ddof=1))
    return NamedPeople(sizes.people, leaked, "simulated", trials, seed, mean, variance, first, chances)


def _named_one_by_one(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NDArray[np.int64]:
    """How many each trial names, every leak drawn person by person."""
    from incrowd.leaks import kernels

    def guess(
        rng: np.random.Generator, order: NDArray[np.int64], each: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        kernels.guess_everybody(rng, order, each, leaked, out)

    return run_trials(sizes, leaked, trials, seed, guess, progress).astype(np.int64)


def _named_by_class(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NDArray[np.int64]:
    """The same for few large classes: how many leak of each is drawn at once."""
    each, rng = np.repeat(sizes.sizes, sizes.counts), np.random.default_rng(seed)
    named = np.zeros(trials, dtype=np.int64)
    portion = max(1, _MOST_TERMS // 10 // each.size)
    for first in range(0, trials, portion):
        progress("simulating leaks", first / trials)
        size = min(portion, trials - first)
        members = rng.multivariate_hypergeometric(each, leaked, size=size, method="marginals")
        named[first : first + size] = rng.binomial(members, 1 / np.maximum(members, 1)).sum(axis=1)
    progress("simulating leaks", 1.0)
    return named
