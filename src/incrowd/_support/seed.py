"""Seeds of random choices."""

from typing import Any

import numpy as np

from incrowd.errors import InputError


def require_seed(seed: Any) -> int:
    """A seed as a plain whole number; refuses what nothing can be drawn by.

    >>> require_seed(np.int64(7))
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError("a seed is a whole number of 0 or more; another one was given", hint="seed")
    return int(seed)
