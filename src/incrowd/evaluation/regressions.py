"""Linear and logistic regression, and their predictive accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 30  # iterations of Newton's method
_RIDGE = 1e-6  # a small penalty, so that a model exists for collinear columns
USUAL_PENALTY = 1.0  # ridge penalty on all coefficients except the constant, the usual default for prediction

Matrix = NDArray[np.float64]


def with_constant(features: Matrix) -> Matrix:
    """The features with a column of ones before them."""
    return np.hstack([np.ones((len(features), 1)), features])


def sigmoid(values: Matrix) -> Matrix:
    """The logistic function, from log odds to probabilities."""
    return 1.0 / (1.0 + np.exp(-np.clip(values, -35.0, 35.0)))


def _penalties(features: Matrix, penalty: float) -> Matrix:
    """The penalty of every coefficient: small for the constant, so that no model depends on the outcome's mean."""
    return np.diag([_RIDGE, *[penalty] * (features.shape[1] - 1)])


def fit_linear(features: Matrix, values: Matrix, penalty: float = _RIDGE) -> tuple[Matrix, Matrix]:
    """Least squares on features of which the first is the constant: coefficients and their standard errors."""
    gram = features.T @ features + _penalties(features, penalty)
    coefficients = np.linalg.solve(gram, features.T @ values).astype(np.float64)
    rest = values - features @ coefficients
    freedom = max(len(values) - features.shape[1], 1)
    return coefficients, np.sqrt(np.diag(np.linalg.inv(gram)) * float(rest @ rest) / freedom)


def fit_logistic(features: Matrix, values: Matrix, penalty: float = _RIDGE) -> tuple[Matrix, Matrix]:
    """Logistic regression by Newton's method; arguments and results are those of `fit_linear`."""
    coefficients: Matrix = np.zeros(features.shape[1])
    ridge = _penalties(features, penalty)
    for _ in range(_ROUNDS):
        chance = sigmoid(features @ coefficients)
        curvature = features.T @ (features * (chance * (1 - chance))[:, None]) + ridge
        step = np.linalg.solve(curvature, features.T @ (values - chance) - ridge @ coefficients)
        coefficients += np.clip(step, -5.0, 5.0)
        if np.abs(step).max() < 1e-9:
            break
    return coefficients, np.sqrt(np.diag(np.linalg.inv(curvature)))


def area_under_curve(scores: Matrix, values: Matrix) -> float:
    """The area under the ROC curve: the chance that a record with the outcome scores above one without."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[place]  # equal scores have their mean rank
    positive = float(values.sum())
    negative = values.size - positive
    if not positive or not negative:
        return 0.5
    return float((rank[values > 0].sum() - positive * (positive + 1) / 2) / (positive * negative))


def explained_variance(scores: Matrix, values: Matrix) -> float:
    """R²: the share of the variance that is explained."""
    spread = float(((values - values.mean()) ** 2).sum())
    return 1.0 - float(((values - scores) ** 2).sum()) / spread if spread else 0.0
