"""Compiled loops of the simulation. Imported only when it runs: compiling takes a second the first time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd._support.compiled import njit
from incrowd.special import Floats

Integers = NDArray[np.int64]


@njit(cache=True, nogil=True)
def draw_leak(
    rng: np.random.Generator, order: Integers, sizes: Integers, leaked: int, members: Integers
) -> int:  # pragma: no cover - compiled
    """Draw a random leak; store the number of leaked members of each class in `members`.

    `order` has the class of every person. Only the smaller of leak and rest is shuffled, to the front of `order`; both
    are random subsets. Returns the index in `order` at which the leak starts. The next draw may start from any `order`.
    """
    people = order.size
    fewer = min(leaked, people - leaked)
    for place in range(fewer):
        other = place + int(rng.random() * (people - place))
        order[place], order[other] = order[other], order[place]
    if fewer == leaked:
        members[:] = 0
        for place in range(fewer):
            members[order[place]] += 1
        return 0
    for one in range(sizes.size):  # assigning a slice would take numba a second to compile
        members[one] = sizes[one]
    for place in range(fewer):
        members[order[place]] -= 1
    return fewer


@njit(cache=True, nogil=True)
def attack(
    rng: np.random.Generator,
    order: Integers,
    sizes: Integers,
    leaked: int,
    targets: int,
    log_risks: Floats,
    people_at_risk: Integers,
) -> None:  # pragma: no cover - compiled
    """Compute the log risk of each trial for targets in the leak, and count people by the leaked size of their class.

    For one target it is the mean risk of all leaked people, classes hit ÷ leaked. Several targets are drawn one after
    another, as in the paper's loop.
    """
    members = np.zeros(sizes.size, dtype=np.int64)
    for trial in range(log_risks.size):
        start = draw_leak(rng, order, sizes, leaked, members)
        hit = 0
        for index in range(sizes.size):
            if members[index] > 0:
                hit += 1
                people_at_risk[members[index]] += members[index]
        if targets == 1:
            log_risks[trial] = np.log(hit / leaked)
            continue
        log_risk = 0.0
        for target in range(targets):
            place = start + target
            other = place + int(rng.random() * (leaked - target))
            order[place], order[other] = order[other], order[place]
            log_risk -= np.log(members[order[place]])
            members[order[place]] -= 1
        log_risks[trial] = log_risk


@njit(cache=True, nogil=True)
def guess_everybody(
    rng: np.random.Generator, order: Integers, sizes: Integers, leaked: int, named: Floats
) -> None:  # pragma: no cover - compiled
    """The number of people named in each trial if everybody in the leak is guessed once."""
    members = np.zeros(sizes.size, dtype=np.int64)
    for trial in range(named.size):
        draw_leak(rng, order, sizes, leaked, members)
        right = 0
        for index in range(sizes.size):
            for _ in range(members[index]):
                if rng.random() * members[index] < 1.0:
                    right += 1
        named[trial] = right
