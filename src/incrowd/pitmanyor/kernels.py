"""Compiled loops of the Pitman–Yor room."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def seat_everybody(d, alpha, n, random):  # type: ignore[no-untyped-def]
    """Chinese restaurant: person i starts a class with chance (α + K·d)/(α + i), else joins one of f people by f − d."""
    label = np.empty(n, dtype=np.int64)
    sizes = np.zeros(n, dtype=np.int64)
    classes = 0
    for i in range(n):
        if i == 0 or random.random() < (alpha + classes * d) / (alpha + i):
            label[i] = classes
            classes += 1
        elif d < 0 and random.random() * (i - classes * d) >= i:
            # f − d = f + |d|: the second part is the same for every class
            label[i] = np.int64(random.random() * classes)
        else:
            chosen = label[np.int64(random.random() * i)]
            # for d > 0 a class is picked by its size f, then kept with chance (f − d)/f
            while d > 0 and random.random() * sizes[chosen] < d:
                chosen = label[np.int64(random.random() * i)]
            label[i] = chosen
        sizes[label[i]] += 1
    return sizes[:classes].copy()
