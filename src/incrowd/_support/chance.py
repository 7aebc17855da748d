"""Thresholds from which one column predicts another, and not by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

NEARLY_ALL = 0.95  # share of the records that must be predicted
OF_CHANCE = 0.2  # largest number of errors, as a share of the errors that chance makes
_BEYOND = 3.0  # √(errors of chance) − √errors, at least; the square root of a count has a standard error of 1/2


def is_beyond_chance(errors: Any, of_chance: Any, most: float = OF_CHANCE) -> Any:
    """True where errors are at most the share `most` of those that chance makes, and significantly fewer.

    >>> bool(is_beyond_chance(1, 100)), is_beyond_chance(np.array([1, 30]), np.array([9, 100]))
    (True, array([False, False]))
    """
    return (errors <= most * of_chance) & (np.sqrt(of_chance) - np.sqrt(errors) >= _BEYOND)
