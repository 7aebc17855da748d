"""A leak of part of a sample: the attacker does not know whether the person they look for is in the sample at all.

N people are a population in classes of sizes F; n of them are a sample, every subset equally likely, and L of the
sample leak. Then the leak is L random people of the population, so a class has somebody in the leak with a chance of
1 − C(N − F, L) / C(N, L), whatever n is. The sample matters only for what is known of its members.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.leaks.binomial import log_none
from incrowd.leaks.inputs import check_leak, whole_number
from incrowd.results import Result


@dataclass(frozen=True, slots=True)
class LeakOfSample(Result):
    """What an attacker achieves who guesses among the leaked people that fit, for a random person of each kind.

    `named` is the chance that the right person is named: of somebody in the population, in the sample, in the leak.
    `misled` is the chance that somebody fits and the guess is wrong, for somebody of the population; and
    `misled_outside` the same chance for somebody who is not in the leak.
    """

    population: int
    people: int
    leaked: int
    named: float
    named_in_sample: float
    named_in_leak: float
    misled: float
    misled_outside: float
    _derived: ClassVar[tuple[str, ...]] = ("precision",)

    @property
    def precision(self) -> float | None:
        """The share of guesses that are right, if the attacker looks for anybody of the population."""
        guesses = self.named + self.misled
        return self.named / guesses if guesses else None


def leak_of_sample(population: ClassSizes, *, people: int, leaked: int) -> LeakOfSample:
    """The chances of an attacker who has a stolen part of a random sample. Exact.

    Args:
        population: class sizes of the whole population.
        people: people in the sample.
        leaked: people of the sample in the leak.

    Returns:
        The chances for members of the population, of the sample and of the leak, and how often a guess is wrong.

    Raises:
        InputError: the sample is larger than the population, or the leak larger than the sample.

    >>> found = leak_of_sample(ClassSizes.from_sizes([3, 2, 1]), people=4, leaked=2)
    >>> round(found.named, 4), round(found.named_in_sample, 4), round(found.precision, 4)
    (0.2889, 0.4333, 0.4407)
    """
    whole, people = population.people, whole_number(people, "a sample")
    if not 1 <= people <= whole:
        raise InputError(f"a sample of {people:,} from a population of {whole:,}; give 1 to {whole:,}")
    leaked, _ = check_leak(people, leaked)
    sizes, counts = population.sizes.astype(np.int64), population.counts.astype(np.float64)
    hit = -np.expm1(log_none(sizes, leaked, whole))
    right = float(counts @ hit)
    fitting = float(counts * sizes @ hit)
    outside = 0.0
    if leaked < whole:  # of people who did not leak: somebody else of their class did
        outside = float(counts * sizes @ -np.expm1(log_none(sizes - 1, leaked, whole - 1))) / whole
    return LeakOfSample(
        population=whole,
        people=people,
        leaked=leaked,
        named=right / whole,
        named_in_sample=right / people,
        named_in_leak=right / leaked if leaked else 0.0,
        misled=(fitting - right) / whole,
        misled_outside=outside,
    )
