"""E[1/F | f] in another way than the package: added up at given d and α, and integrated where sizes are too many."""

import numpy as np
from scipy.special import psi, zeta

from incrowd.special import log_beta_binomial

_EXACT = 4096  # sums over at most this many population sizes are added one by one
_PANELS, _NODES = 24, 16


def expected_inverse_size(d, alpha, *, people, population, seen):
    """E[1/F | f]: the chance to name a person of the sample whose class has `seen` people in it.

    A sum over the sizes the class may have in the population: one by one where they are few, else the first
    ones one by one and the rest as an integral over log size.
    """
    sizes = np.atleast_1d(np.asarray(seen, dtype=np.float64))
    arrivals = population - people
    if arrivals <= 0:
        return np.reshape(1.0 / sizes, np.shape(seen))
    value = [_expected_inverse_of_one(d, alpha, float(people), arrivals, float(size)) for size in sizes]
    return np.reshape(np.array(value), np.shape(seen))


def _expected_inverse_of_one(d, alpha, people, arrivals, seen):
    first, second = seen - d, people + alpha - seen + d
    exact = np.arange(0.0, min(arrivals, _EXACT) + 1.0)
    total = float(np.sum(np.exp(log_beta_binomial(exact, arrivals, first, second)) / (seen + exact)))
    if arrivals <= _EXACT:
        return total
    # log of the class's share: its mean ± 12 standard deviations holds all the mass that matters
    middle = float(np.log(arrivals) + psi(first) - psi(first + second))
    # the binomial noise on top of it is largest at the smallest sizes left, where it is 1/64 or less
    width = 12.0 * float(np.sqrt(zeta(2.0, first))) + 12.0 / _EXACT**0.5
    low, high = np.log(_EXACT + 0.5), np.log(arrivals + 0.5)
    start, stop = max(low, middle - width), min(high, middle + width)
    if stop <= start:
        return total
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(start, stop, _PANELS + 1)
    half = 0.5 * np.diff(edges)[:, None]
    log_size = (edges[:-1, None] + half + half * nodes).ravel()
    size = np.minimum(np.exp(log_size), arrivals)
    chance = np.exp(log_beta_binomial(size, arrivals, first, second))
    return total + float(np.sum((half * weights).ravel() * size * chance / (seen + size)))
