"""Correlation matrices: the nearest one to a table of pairs, and the one a D-vine's partial correlations stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FLOOR = 1e-6  # smallest eigenvalue kept, so that the factor exists


def nearest_correlation(matrix: Floats, *, rounds: int = 200, tolerance: float = 1e-8) -> Floats:
    """The nearest correlation matrix in the Frobenius norm: Higham's alternating projections (2002, algorithm 3.3).

    >>> nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])).round(3)[0].tolist()  # as published
    [1.0, 0.761, 0.157]
    """
    current = np.array(matrix, dtype=np.float64)
    if np.linalg.eigvalsh(current)[0] >= _FLOOR:
        return current
    correction = np.zeros_like(current)
    for _ in range(rounds):
        shifted = current - correction
        values, vectors = np.linalg.eigh(shifted)
        projected = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
        correction = projected - shifted
        previous, current = current, projected.copy()
        np.fill_diagonal(current, 1.0)
        if np.abs(current - previous).max() < tolerance:
            break
    values, vectors = np.linalg.eigh(current)
    fixed = (vectors * np.maximum(values, _FLOOR)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(fixed))
    return np.asarray(fixed * np.outer(scale, scale))


def from_partial(partial: Floats) -> Floats:
    """The correlation matrix of a D-vine whose entry (i, j) is the partial correlation of i and j given those between.

    ρ_ij = a'R⁻¹b + p_ij √((1 − a'R⁻¹a)(1 − b'R⁻¹b)), with R the correlations of the variables between and a, b theirs
    with i and j. Any partial correlations below 1 give a positive definite matrix.

    >>> from_partial(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]))[0].tolist()
    [1.0, 0.5, 0.25]
    """
    size = partial.shape[0]
    full = np.eye(size)
    for distance in range(1, size):
        for i in range(size - distance):
            j = i + distance
            between = slice(i + 1, j)
            value = partial[i, j]
            if distance > 1:
                left, right = full[i, between], full[j, between]
                solved = np.linalg.solve(full[between, between], np.stack([left, right], axis=1))
                free = (1.0 - left @ solved[:, 0]) * (1.0 - right @ solved[:, 1])
                value = left @ solved[:, 1] + partial[i, j] * np.sqrt(np.maximum(free, 0.0))
            full[i, j] = full[j, i] = value
    return full
