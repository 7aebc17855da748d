"""Validation of the inputs of all leak functions."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np

from incrowd._support.seed import require_seed
from incrowd.errors import InputError
from incrowd.wording import chosen_percent, counted


def check_leak(people: int, leaked: int, targets: int = 1) -> tuple[int, int]:
    """Return the leak and the targets as plain whole numbers; refuse more people than there are."""
    leaked, targets = whole_number(leaked, "a leak"), whole_number(targets, "a number of targets")
    if not 0 <= leaked <= people:
        raise InputError(
            f"a leak of {counted(leaked, 'person', 'people')} from a table of {people:,}; give 0 to {people:,}"
        )
    if not 1 <= targets <= people:
        raise InputError(
            f"{counted(targets, 'target', 'targets')} in a table of {counted(people, 'person', 'people')}; "
            f"give 1 to {people:,}"
        )
    return leaked, targets


def check_trials(trials: int, seed: int) -> tuple[int, int]:
    """Return the number of trials and the seed as plain whole numbers; refuse numbers that cannot be simulated."""
    trials = whole_number(trials, "a number of trials", "a whole number")
    if trials < 2:
        raise InputError(f"{counted(trials, 'trial', 'trials')}; give 2 or more, some thousands for a usable interval")
    return trials, require_seed(seed)


def whole_number(
    number: int, what: str, expected: str = "whole people such as 3 (share_of converts a share to people)"
) -> int:
    """Return any kind of whole number as a plain one; refuse a float, because 0.5 may be meant as a share.

    >>> whole_number(np.int32(3), "a leak")
    3
    """
    if isinstance(number, bool | np.bool_) or not hasattr(number, "__index__"):
        raise InputError(f"{what} of {number!r}; give {expected}")
    return operator.index(number)


def share_of(share: float | Fraction, people: int) -> int:
    """Convert a share to a number of people, rounded up so that the risk is not understated.

    Args:
        share: between 0 and 1; a float is read as its shortest decimal form.
        people: how many people there are.

    Returns:
        The number of people.

    Raises:
        InputError: the share is not between 0 and 1.

    >>> share_of(0.1, 48_842)
    4885
    """
    if not 0 <= share <= 1:
        raise InputError(f"a leak of {chosen_percent(float(share))} of the people; give 0 to 100%")
    # the float 0.07 is not exactly seven hundredths: use its decimal form
    exact = share if isinstance(share, Fraction) else Fraction(repr(float(share)))
    return math.ceil(exact * people)
