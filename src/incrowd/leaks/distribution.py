"""The distribution of the number of people that a leak identifies, for a breach notice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.errors import InputError, UnsupportedError
from incrowd.leaks.binomial import log_binomial
from incrowd.leaks.count_distributions import CorrectGuesses, tail_width
from incrowd.leaks.inputs import check_leak, check_trials
from incrowd.leaks.leak_probability import expected_classes
from incrowd.leaks.leaked_members import members_at_odds, members_if_all_leak, moments
from incrowd.leaks.saddle_point import Grid, characteristic
from incrowd.leaks.simulation import MOST_PEOPLE, run_trials
from incrowd.results import Result
from incrowd.tables import TableLike
from incrowd.wording import one_decimal, percent, whole

DistributionMethod = Literal["auto", "exact", "simulated"]

_MOST_TERMS = 20_000_000  # sum over class sizes of their numbers of leaked members; more would not fit in memory
_AUTO_SECONDS, _MOST_SECONDS = 5.0, 60.0  # time limits of "auto" for an exact answer, and for any answer
_NODES = 1_000  # nodes of a sum over both directions, within a fifth at any size
_SECONDS_A_COLUMN, _SECONDS_A_TERM = 6e-7, 1e-8  # measured time per node, used only to choose a method
_SECONDS_A_STEP, _SECONDS_A_CLASS = 6e-9, 1.2e-6  # time of a trial per person drawn, or per class drawn
_MOST_DRAWN_BY_CLASS = 10**9  # largest number of people for numpy's hypergeometric distribution


@dataclass(frozen=True, slots=True, eq=False)
class NamedPeople(Result):
    """The number of people named if the attacker guesses once for everybody in the leak.

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
    _derived: ClassVar[tuple[str, ...]] = ("upper_95", "share_of_leak")
    _hidden: ClassVar[frozenset[str]] = frozenset({"first", "chances"})

    @property
    def upper_95(self) -> int:
        """Upper 95 % bound: with a chance of 95 % or more, at most this many people are named."""
        return self.quantile(0.95)

    @property
    def share_of_leak(self) -> float:
        """The mean as a share of the people who leaked."""
        return self.mean / self.leaked if self.leaked else 0.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many of those who leaked are named; nothing if nobody leaked."""
        if not self.leaked:
            return ()
        how = "" if self.method == "exact" else f", in {self.trials:,} simulated leaks with seed {self.seed}"
        return (
            f"If the attacker guesses once for everybody in the leak, {one_decimal(self.mean)} of the {self.leaked:,} "
            f"who leaked ({percent(self.share_of_leak)}) are named on average, and at most {self.upper_95:,} with a "
            f"chance of 95%{how}.",
        )

    def quantile(self, chance: float) -> int:
        """The smallest number that is not exceeded with at least this chance."""
        if not 0 < chance < 1:
            raise InputError(f"a quantile at {chance}; give a chance between 0 and 1")
        # minus 1e-12 for the rounding error of the sum
        return self.first + int(np.searchsorted(np.cumsum(self.chances), chance - 1e-12))

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [{"named": self.first + i, "chance": chance} for i, chance in enumerate(self.chances.tolist())]


def named_people(
    data: ClassSizes | TableLike,
    leaked: int,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    method: DistributionMethod = "auto",
    trials: int = 10_000,
    seed: int = 0,
    progress: Progress = silent,
) -> NamedPeople:
    """Distribution of the number of people named if everybody in the leak is guessed once, each guess independently.

    A person who leaked together with h − 1 others of their class is named with chance 1 / h.

    Args:
        data: class sizes, or a table: a file's path, a frame or a `Table`.
        leaked: people in the leak; `share_of` converts a share to people.
        quasi_identifiers: for a table, the columns that the attacker knows.
        person: for a table, the column that identifies the person of each record.
        method: `"exact"`, `"simulated"` or `"auto"`: exact unless that would take more than about five seconds (classes
            of many or very large sizes) and a simulation less. The result's `method` says which was used.
        trials: number of simulated leaks.
        seed: seed of the simulation.
        progress: callback that receives the current step and the share done.

    Returns:
        Mean, variance and the chance of every number of people.

    Raises:
        InputError: more people leak than there are, or the quasi-identifiers of a table are missing.
        UnsupportedError: the exact answer does not fit into memory, or with `"auto"` neither way takes less than about
            a minute.

    >>> named = named_people(ClassSizes.from_sizes([3, 2, 1]), leaked=4)
    >>> round(named.mean, 6), round(named.variance, 6), named.upper_95
    (2.6, 0.873333, 4)
    """
    sizes = class_sizes_of(data, quasi_identifiers, person)
    leaked, _ = check_leak(sizes.people, leaked)
    trials, seed = check_trials(trials, seed)
    if method not in ("auto", "exact", "simulated"):
        raise InputError(f"the method is 'auto', 'exact' or 'simulated', not {method!r}")
    if method == "simulated" or (method == "auto" and _prefers_simulation(sizes, leaked, trials)):
        return _simulated(sizes, leaked, trials, seed, progress)
    terms, _ = _terms_and_columns(sizes, leaked)
    if terms > _MOST_TERMS:
        raise UnsupportedError(
            f"the exact distribution would need {whole(terms)} terms; it can be simulated", hint="method=simulated"
        )
    return _exact(sizes, leaked)


def _prefers_simulation(sizes: ClassSizes, leaked: int, trials: int) -> bool:
    """True if the exact answer takes longer than a simulation; decided by counts, so equal on every machine."""
    terms, columns = _terms_and_columns(sizes, leaked)
    exact = _NODES * (columns * _SECONDS_A_COLUMN + terms * _SECONDS_A_TERM) if terms <= _MOST_TERMS else math.inf
    if exact <= _AUTO_SECONDS:
        return False
    simulated = trials * min(_seconds_a_trial(sizes, leaked))
    if min(exact, simulated) > _MOST_SECONDS:
        ways = [name for name, seconds in (("exact", exact), ("simulated", simulated)) if math.isfinite(seconds)]
        raise UnsupportedError(
            f"{sizes.people:,} people in classes of so many or so large sizes are too many to count, and too many to "
            f"simulate, within a minute{'; if you can wait: method=' if ways else ''}{' or '.join(map(repr, ways))}"
        )
    return simulated < exact


def _terms_and_columns(sizes: ClassSizes, leaked: int) -> tuple[float, float]:
    """Number of relevant values h of leaked members: summed over class sizes, and the number of distinct values."""
    if leaked in (0, sizes.people):
        return sizes.sizes.size / 30, sizes.sizes.size / 30  # a sum over one direction has a thirtieth of the nodes
    chance = leaked / sizes.people
    middle = np.asarray(sizes.sizes * chance, dtype=np.float64)
    width = tail_width(middle * (1 - chance) + 1)
    low, high = np.maximum(middle - width, 0), np.minimum(middle + width, sizes.sizes)
    before = np.concatenate([[-1.0], np.maximum.accumulate(high)[:-1]])
    return float(np.sum(high - low + 1)), float(np.sum(np.maximum(high - np.maximum(before, low - 1), 0)))


def _seconds_a_trial(sizes: ClassSizes, leaked: int) -> tuple[float, float]:
    """Seconds per trial for two methods: drawing people one by one, and drawing the leaked members of each class."""
    one_by_one = _SECONDS_A_STEP * (sizes.classes + 2 * leaked) if sizes.people <= MOST_PEOPLE else math.inf
    return one_by_one, _SECONDS_A_CLASS * sizes.classes if sizes.people < _MOST_DRAWN_BY_CLASS else math.inf


def _exact(sizes: ClassSizes, leaked: int) -> NamedPeople:
    """Exact, by a contour integral for the leak and a Fourier sum for the people named (see saddle_point.py)."""
    people = sizes.people
    if leaked == 0:
        return NamedPeople(people, 0, "exact", None, None, 0.0, 0.0, 0, np.ones(1))
    if leaked == people:
        members, log_hit = members_if_all_leak(sizes.sizes, sizes.counts, CorrectGuesses()), 0.0
        grid = Grid.over_other(float(moments(members).covariance[1, 1]), sides=2)
    else:
        odds = leaked / (people - leaked)
        members = members_at_odds(sizes.sizes, sizes.counts, odds, CorrectGuesses())
        log_hit = float(log_binomial(leaked, people, odds))
        grid = Grid.over(moments(members), sides=2)
    middle = round(expected_classes(sizes, leaked))
    phi, sums = grid.sums(lambda theta, phi: characteristic(members, theta, phi, leaked, middle), members.largest)
    sums = sums * math.exp(-log_hit) / grid.leak_nodes
    first = max(0, middle - grid.other_nodes // 2)
    numbers = np.arange(first, min(first + grid.other_nodes, leaked + 1))
    waves = np.exp(-1j * np.outer(numbers - middle, phi[1:])) @ sums[1:]
    chances = (sums[0].real + 2 * waves.real) / grid.other_nodes
    return _summary(sizes, leaked, first, chances)


def _summary(sizes: ClassSizes, leaked: int, first: int, chances: NDArray[np.float64]) -> NamedPeople:
    """The result with mean and variance; raises ArithmeticError if the chances contradict the mean in closed form."""
    exact_mean = expected_classes(sizes, leaked)
    numbers = first + np.arange(chances.size)
    total, mean = float(chances.sum()), float(chances @ numbers)
    if abs(total - 1) > 1e-8 or abs(mean - exact_mean) > 1e-8 * exact_mean or chances.min() < -1e-9:
        raise ArithmeticError(f"the chances add up to {total} and their mean is {mean}, not {exact_mean}")
    # computed before small chances are set to 0, because those far from the mean matter; rounding may make it negative
    variance = max(float(chances @ (numbers - exact_mean) ** 2), 0.0)
    chances = np.where(chances > 1e-13, chances, 0.0)  # smaller chances are rounding errors
    return NamedPeople(sizes.people, leaked, "exact", None, None, exact_mean, variance, first, chances)


def _simulated(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NamedPeople:
    one_by_one, by_class = _seconds_a_trial(sizes, leaked)
    if by_class < one_by_one:
        named = _named_by_class(sizes, leaked, trials, seed, progress)
    else:
        from incrowd.leaks import kernels

        named = run_trials(
            sizes,
            leaked,
            trials,
            seed,
            lambda rng, order, each, out: kernels.guess_everybody(rng, order, each, leaked, out),
            progress,
        ).astype(np.int64)
    first = int(named.min())
    chances = np.bincount(named - first) / trials
    mean, variance = float(named.mean()), float(named.var(ddof=1))
    return NamedPeople(sizes.people, leaked, "simulated", trials, seed, mean, variance, first, chances)


def _named_by_class(sizes: ClassSizes, leaked: int, trials: int, seed: int, progress: Progress) -> NDArray[np.int64]:
    """The number of people named in each trial, by drawing the number of leaked members of each class."""
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
