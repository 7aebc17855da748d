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
    """Draw a random leak. `members` gets the leaked members of each class; the leak is `order` from the returned place
    on.

    It is enough to shuffle the smaller of leak and rest, because both are random subsets. `order` stays a shuffle of
    the classes of all people, so the next draw may start from it.
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
    for one in range(sizes.size):  # to assign a slice takes a second to compile, for its error message
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
    """Return the log of each trial's risk for targets of the leak, and the number of people by leaked class size.

    One target: the mean risk of all leaked people, classes hit ÷ leaked. Several: the paper's loop, one after another.
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
