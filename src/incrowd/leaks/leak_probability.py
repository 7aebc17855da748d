"""Exact chance that an attacker who holds a leak names the people they look for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.errors import InputError
from incrowd.leaks.binomial import log_none
from incrowd.leaks.inputs import check_leak, whole_number
from incrowd.leaks.recursion import log_recursion
from incrowd.leaks.result import LeakMethod, LeakRisk
from incrowd.leaks.saddle_point import log_coefficient
from incrowd.tables import TableLike
from incrowd.wording import counted


def leak_risk(
    data: ClassSizes | TableLike,
    leaked: int,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    targets: int = 1,
    method: LeakMethod = "exact",
) -> LeakRisk:
    """Chance that all `targets` people are named from a leak of `leaked` people.

    Every subset of that many people is equally likely to leak, and every set of targets equally likely to be searched.
    The attacker guesses among the leaked members of each target's class, removes the one named, and continues.

    Args:
        data: class sizes, or a table: a file's path, a frame or a `Table`.
        leaked: people in the leak; `share_of` converts a share to people.
        quasi_identifiers: for a table, the columns that the attacker knows.
        person: for a table, the column that identifies the person of each record.
        targets: number of people the attacker looks for together.
        method: `"exact"` is the chance described above. `"recursion"` is the published recursion, which draws a new
            leak for each target and weighs classes instead of people; it is exact for one target in classes of one
            size. `"recursion_by_people"` weighs people; it is exact for one target, and when everybody leaks. Both
            are exact where everybody is unique.

    Returns:
        The probability, its logarithm and the odds; for one target also the chance of the person at highest risk.

    Raises:
        InputError: there are fewer people than leak or are looked for, or the quasi-identifiers of a table are missing.
        UnsupportedError: the recursion has too many states to follow, or the exact sum too many terms.

    >>> sizes = ClassSizes.from_sizes([3, 2, 1])
    >>> leak_risk(sizes, leaked=4, targets=2).probability
    0.186666...
    >>> leak_risk(sizes, leaked=4, targets=2, method="recursion").probability
    0.222...
    >>> leak_risk({"age": [30, 30, 30, 40, 40, 50]}, leaked=4, quasi_identifiers=["age"]).odds
    '1 in 2.3'
    """
    sizes = class_sizes_of(data, quasi_identifiers, person)
    leaked, targets = check_leak(sizes.people, leaked, targets)
    if method not in ("exact", "recursion", "recursion_by_people"):
        raise InputError(f"the method is 'exact', 'recursion' or 'recursion_by_people', not {method!r}")
    if targets > leaked:
        return LeakRisk(sizes.people, leaked, targets, method, 0.0, -math.inf, 0.0 if targets == 1 else None)
    if method != "exact":
        log_probability = log_recursion(sizes, leaked, targets, by_people=method == "recursion_by_people")
    elif targets == 1:
        probability = expected_classes(sizes, leaked) / sizes.people
        return LeakRisk(
            sizes.people, leaked, 1, method, probability, math.log(probability), highest_chance(sizes, leaked)
        )
    else:
        log_probability = _log_several(sizes, leaked, targets)
    return LeakRisk(sizes.people, leaked, targets, method, math.exp(log_probability), log_probability)


def leak_risk_uniform(*, people: int, k: int, leaked: int, targets: int = 1, method: LeakMethod = "exact") -> LeakRisk:
    """Chance that all `targets` people are named from a leak of a planned table: `people` in classes of `k`.

    Args:
        people: how many people the table will hold.
        k: the size of every class; if it does not divide the number of people, some classes are larger.
        leaked: people in the leak.
        targets: number of people the attacker looks for together.
        method: a method of `leak_risk`.

    Returns:
        The probability, its logarithm and the odds.

    Raises:
        InputError: a number is not whole, or there are fewer people than it asks for.

    >>> leak_risk_uniform(people=10_000, k=5, leaked=4_000).probability
    0.184...
    """
    return leak_risk(uniform_sizes(people, k), leaked, targets=targets, method=method)


def uniform_sizes(people: int, k: int) -> ClassSizes:
    """Class sizes for as many classes as k allows, as equal as possible.

    Args:
        people: how many people the table will hold.
        k: the smallest size of a class.

    Returns:
        The class sizes; people left over are distributed over the classes, so that none is below k.

    Raises:
        InputError: a number is not whole, or k is not between 1 and the people.

    >>> uniform_sizes(11, 3).histogram()
    {3: 1, 4: 2}
    """
    people, k = whole_number(people, "a table"), whole_number(k, "a class")
    if people < 1:
        raise InputError(f"a table of {people:,} people; give 1 or more")
    if not 1 <= k <= people:
        raise InputError(
            f"classes of k = {k:,} in a table of {counted(people, 'person', 'people')}; give a k from 1 to {people:,}"
        )
    classes = people // k
    size, larger = divmod(people, classes)
    return ClassSizes.from_counts({s: count for s, count in ((size, classes - larger), (size + 1, larger)) if count})


def expected_classes(sizes: ClassSizes, leaked: int) -> float:
    """Expected number of classes with somebody in the leak: Σ_b [1 − C(D − s_b, L) / C(D, L)]."""
    return float(sizes.counts @ -np.expm1(log_none(sizes.sizes, leaked, sizes.people)))


def highest_chance(sizes: ClassSizes, leaked: int) -> float:
    """Chance that the person at highest risk is named: [1 − C(D − s, L) / C(D, L)] / s in the smallest class, of s.

    >>> highest_chance(ClassSizes.from_sizes([3, 2, 1]), leaked=4)  # alone in the class: named if they leaked
    0.666...
    """
    smallest = sizes.sizes[:1]
    return float(-np.expm1(log_none(smallest, leaked, sizes.people))[0] / smallest[0])


def _log_several(sizes: ClassSizes, leaked: int, targets: int) -> float:
    """log of n! / ((D)_n C(D, L)) · [w^L z^n] Π_b Σ_h C(s_b, h) w^h Σ_{c ≤ h} z^c / c!."""
    people = sizes.people
    falling = math.fsum(math.log((i + 1) / (people - i)) for i in range(targets))
    # near the saddle point if targets are few: the odds of the leak, and targets spread evenly over its classes
    start = (leaked / max(people - leaked, 0.5), targets / expected_classes(sizes, leaked))
    return falling + log_coefficient(sizes.sizes, sizes.counts, leaked, targets, start)
