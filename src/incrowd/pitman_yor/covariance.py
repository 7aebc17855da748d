"""How far a measured curve strays from the law: the exact covariance of its points under a Pitman–Yor process.

A curve is Σ_f a_f g_s(f) over the a_f classes of size f, so its covariance needs two moments of the a_f alone. With
blocks A and B of sizes f and g, P(A and B are classes) = (α+d) (1−d)_{f−1} (1−d)_{g−1} (α+2d)_{n−f−g} / (α+1)_{n−1}
(Pitman 1995): beside what depends on f and on g it depends on f + g only, and the double sum is a convolution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from incrowd.special import Floats, log_chance_missed, log_gamma_ratio


@dataclass(frozen=True, slots=True, eq=False)
class CurveMoments:
    """Means and covariances of the curve of `people` people at some gallery sizes.

    `shortfall` has a row for each size: by how much a class of f people lowers the share there, so that
    1 − share = Σ_f a_f · shortfall. People alone in their class lower nothing.
    """

    people: int
    sizes: Floats
    shortfall: Floats

    @classmethod
    def of(cls, people: int, sizes: Floats, *, unique: bool) -> CurveMoments:
        """For the correctness or the uniqueness at these gallery sizes, of at most `people`."""
        drawn = sizes[:, None]
        size = np.arange(1.0, people + 1.0)
        if unique:
            kept = size / people * np.exp(log_chance_missed(people - 1.0, size - 1.0, drawn - 1.0))
        else:
            kept = -np.expm1(log_chance_missed(people, size, drawn)) / drawn
        shortfall = size / people - kept
        shortfall[:, 0] = 0.0
        return cls(people, sizes, shortfall)

    def covariance(self, d: float, alpha: float) -> Floats:
        """Between the points, over random samples of the process with discount `d` and concentration `alpha`."""
        people = self.people
        size = np.arange(1.0, people)
        # (1−d)_{f−1} / f!, and what is left for the others by how many they are: both as running products
        within = np.concatenate([[0.0], np.cumsum(np.log((size - d) / (size + 1.0)))])
        taken = np.arange(2.0, people)
        others = np.concatenate([[0.0], np.cumsum(np.log((people - taken) / (alpha + 2.0 * d + people - taken - 1.0)))])
        start = np.log((alpha + d) / (alpha + 1.0)) + float(log_gamma_ratio(alpha + 2.0, 2.0 * d - 2.0, people - 2.0))
        # f and g carry their share of the decay with f + g, lest one factor runs away while the other vanishes
        tilt = np.log(people / (alpha + people))
        pairs = people * (people - 1.0) * np.exp(start + others - np.arange(2.0, people + 1.0) * tilt)
        weighted = np.exp(within + np.arange(1.0, people + 1.0) * tilt) * self.shortfall
        single = self._classes(d, alpha, within)
        mean = self.shortfall @ single
        both = weighted[:, : people - 1] @ _correlated(pairs, weighted[:, : people - 1]).T
        return np.asarray(both + (self.shortfall * single) @ self.shortfall.T - np.outer(mean, mean))

    def _classes(self, d: float, alpha: float, within: Floats) -> Floats:
        """E a_f = n!/(f! (n−f)!) (1−d)_{f−1} (α+d)_{n−f} / (α+1)_{n−1}."""
        people = self.people
        taken = np.arange(1.0, people)
        others = np.concatenate([[0.0], np.cumsum(np.log((people - taken) / (alpha + d + people - taken - 1.0)))])
        start = float(log_gamma_ratio(alpha + 1.0, d - 1.0, people - 1.0))
        return np.asarray(people * np.exp(start + others + within))


def _correlated(pairs: Floats, rows: Floats) -> Floats:
    """Σ_g pairs[f + g] · row[g] for every f, of each row, by the fast Fourier transform."""
    count = pairs.size
    length = next_fast_len(2 * count, real=True)
    spectrum = rfft(pairs, length) * np.conj(rfft(rows, length, axis=1))
    return np.asarray(irfft(spectrum, length, axis=1)[:, :count])
