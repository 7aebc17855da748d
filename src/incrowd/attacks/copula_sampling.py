"""Rows drawn from a Gaussian copula: every column keeps its shares, and pairs their monotone dependence.

A column is a standard normal that is cut according to its shares. Values of text have no order. They are ordered by
their mean on the first principal component of the other columns, as in correspondence analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from incrowd.populations.copula import upper_edges
from incrowd.populations.copula_fit import nearest_correlation
from incrowd.special import Floats

_ROUNDS = 5  # iterations to order text values; the order hardly changes after a few
_STRONGEST = 0.999  # largest correlation of latent normals
_TERMS = 60  # terms of Mehler's series
_HALVINGS = 30


def draw_from_copula(
    columns: Sequence[NDArray[np.int64]], ordered: Sequence[bool], rows: int, draws: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Draw rows from a Gaussian copula that is fitted to some columns.

    Args:
        columns: codes of each column, from 0, each code at least once.
        ordered: which of them have codes in a meaningful order.

    Returns:
        The codes of the drawn rows, column by column.

    >>> draws = np.random.default_rng(0)
    >>> size = np.array([0, 0, 1, 1, 2, 2] * 50)
    >>> first, second = draw_from_copula([size, 2 - size], [True, True], 1000, draws)
    >>> bool(np.corrcoef(first, second)[0, 1] < -0.9)
    True
    """
    ranks = [np.arange(int(column.max()) + 1) for column in columns]  # by code
    for _ in range(0 if all(ordered) else _ROUNDS):
        scores = _scores([rank[column] for rank, column in zip(ranks, columns, strict=True)])[0]
        _, _, axes = np.linalg.svd(np.corrcoef(scores))
        weighted = axes[0][:, None] * scores / scores.std(axis=1, keepdims=True)
        component = weighted.sum(axis=0)
        for place, column in enumerate(columns):
            if not ordered[place]:
                means = np.bincount(column, component - weighted[place]) / np.bincount(column)
                ranks[place] = means.argsort(kind="stable").argsort(kind="stable")
    scores, edges = _scores([rank[column] for rank, column in zip(ranks, columns, strict=True)])
    correlation = np.eye(len(columns))
    parts = [_hermite_parts(cuts) for cuts in edges]
    for one, other in combinations(range(len(columns)), 2):
        covariance = float(np.mean(scores[one] * scores[other]))
        correlation[one, other] = correlation[other, one] = _matching(parts[one] * parts[other], covariance)
    factor = np.linalg.cholesky(nearest_correlation(correlation))
    normals = factor @ draws.standard_normal((len(columns), rows))
    return [
        np.argsort(rank)[np.searchsorted(cuts[:-1], normal, "right")]
        for rank, cuts, normal in zip(ranks, edges, normals, strict=True)
    ]


def _scores(ranks: Sequence[NDArray[np.int64]]) -> tuple[Floats, list[Floats]]:
    """For each row and column, the mean of a normal between the cuts of its value; also returns the cuts."""
    scores, edges = [], []
    for rank in ranks:
        shares = np.bincount(rank) / rank.size
        cuts = upper_edges(shares)
        heights = np.exp(-0.5 * np.concatenate([[-np.inf], cuts]) ** 2) / np.sqrt(2 * np.pi)
        scores.append(((heights[:-1] - heights[1:]) / shares)[rank])
        edges.append(cuts)
    return np.stack(scores), edges


def _hermite_parts(cuts: Floats) -> Floats:
    """The coefficients of a column's scores on the normalised Hermite polynomials of its normal, from the first on.

    By Mehler's formula the covariance of two columns' scores is Σ ρ^k times the product of their k-th parts.
    """
    inner = cuts[:-1]
    height = np.exp(-0.5 * inner**2) / np.sqrt(2 * np.pi)
    shares = np.diff(np.concatenate([[0.0], ndtr(inner), [1.0]]))
    scores = -np.diff(np.concatenate([[0.0], height, [0.0]])) / shares
    below, polynomial = np.zeros_like(inner), np.ones_like(inner)
    parts = np.empty(_TERMS)
    for k in range(1, _TERMS + 1):
        pieces = -np.diff(np.concatenate([[0.0], polynomial * height, [0.0]])) / np.sqrt(k)  # over every value
        parts[k - 1] = pieces @ scores
        below, polynomial = polynomial, (inner * polynomial - np.sqrt(k - 1) * below) / np.sqrt(k)
    return parts


def _matching(parts: Floats, covariance: float) -> float:
    """The ρ at which Σ ρ^k parts[k] equals the covariance, by bisection; the sum grows with ρ."""
    low, high = -_STRONGEST, _STRONGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.polynomial.polynomial.polyval(middle, np.concatenate([[0.0], parts])) < covariance:
            low = middle
        else:
            high = middle
    return (low + high) / 2
