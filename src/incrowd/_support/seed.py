"""Seeds of random choices."""

from numbers import Integral
from typing import Any

from incrowd.errors import InputError


def require_seed(seed: Any) -> int:
    """Return a seed as a plain whole number; raise an error for an invalid one.

    >>> import numpy as np
    >>> require_seed(np.int64(7))
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError("a seed is a whole number of 0 or more; another one was given", hint="seed")
    return int(seed)
