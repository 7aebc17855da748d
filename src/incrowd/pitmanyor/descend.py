"""Least squares in two bounded parameters: Levenberg–Marquardt, with all models of a step evaluated in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from incrowd.special import Floats

_ITERATIONS = 60
_SCALES = np.array([0.01, 1.0, 10.0])  # of the damping: three steps are tried at once


@dataclass(frozen=True, slots=True)
class Descent:
    """Where the sum of squares is smallest, the sum, and the slopes of the residuals there (one column a parameter)."""

    at: Floats
    loss: float
    jacobian: Floats


def descend(residuals: Callable[[Floats], Floats], start: Floats, limits: Floats) -> Descent:
    """Minimise the sum of squared `residuals` (rows of parameters in, rows of residuals out) within `limits`."""
    at = np.clip(start, limits[:, 0], limits[:, 1])
    residual, jacobian = _slopes(residuals, at, limits)
    loss, damping = float(residual @ residual), 1e-3
    for _ in range(_ITERATIONS):
        gradient, curvature = jacobian.T @ residual, jacobian.T @ jacobian
        # a parameter at its limit that wants to go beyond it stays there
        free = ~(((at <= limits[:, 0]) & (gradient > 0)) | ((at >= limits[:, 1]) & (gradient < 0)))
        if not np.any(free) or np.max(np.abs(gradient[free])) < 1e-15:
            break
        tried = _trials(at, gradient, curvature, free.astype(np.float64), damping, limits)
        rows = residuals(tried)
        losses = np.einsum("ij,ij->i", rows, rows)
        best = int(np.argmin(losses))
        if losses[best] >= loss:
            damping *= 30.0
            if damping > 1e12:
                break
            continue
        moved, gain = np.max(np.abs(tried[best] - at)), loss - float(losses[best])
        at, damping = tried[best], max(damping * _SCALES[best], 1e-12)
        residual, jacobian = _slopes(residuals, at, limits)
        loss = float(residual @ residual)
        if moved < 1e-10 or gain < 1e-13 * (loss + 1e-12):
            break
    return Descent(at, loss, jacobian)


def _trials(at: Floats, gradient: Floats, curvature: Floats, kept: Floats, damping: float, limits: Floats) -> Floats:
    """Three steps, from bold to careful, in the parameters that are kept free (1, else 0)."""
    wall = np.diag(1.0 - kept)
    pushed = kept[:, None] * curvature * kept + wall
    steps = []
    for scale in _SCALES:
        matrix = pushed + damping * scale * (np.diag(np.diag(pushed)) + 1e-14 * np.eye(2))
        steps.append(np.linalg.solve(matrix, -gradient * kept))
    return np.asarray(np.clip(at + np.array(steps), limits[:, 0], limits[:, 1]))


def _slopes(residuals: Callable[[Floats], Floats], at: Floats, limits: Floats) -> tuple[Floats, Floats]:
    """Residuals and their numerical slopes, stepping inwards at a limit."""
    step = 1e-6 * np.maximum(np.abs(at), 1.0)
    step = np.where(at + step > limits[:, 1], -step, step)
    rows = residuals(at + np.array([[0.0, 0.0], [step[0], 0.0], [0.0, step[1]]]))
    return rows[0], ((rows[1:] - rows[0]) / step[:, None]).T
