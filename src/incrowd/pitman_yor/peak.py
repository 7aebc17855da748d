"""Maximum of a function of two variables by Newton's method; the function is evaluated at many points at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from incrowd.special import Floats

_ITERATIONS = 40
_STENCIL = np.array([(i, j) for i in (-1.0, 0.0, 1.0) for j in (-1.0, 0.0, 1.0)])
_DAMPED = np.array([1.0, 0.5, 0.25, 0.08, 0.02, 0.002])


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest point found, its height, and the curvature there (negative Hessian)."""

    at: Floats
    height: float
    precision: Floats


def find_peak(function: Callable[[Floats], Floats], starts: Floats, limits: Floats) -> Peak:
    """Maximise `function` (rows of two numbers in, heights out) from the best of `starts`, within `limits`.

    A height of −inf is allowed: steps to it are not taken.
    """
    starts = np.clip(starts, limits[:, 0], limits[:, 1])
    value = function(starts)
    best = int(np.argmax(value))
    at, height = starts[best], float(value[best])
    step, precision = np.minimum(0.05 * np.ones(2), 0.1 * (limits[:, 1] - limits[:, 0])), np.eye(2)
    idle = 0  # steps in a row with hardly any gain
    for _ in range(_ITERATIONS):
        centre = np.clip(at, limits[:, 0] + step, limits[:, 1] - step)
        value = function(centre + _STENCIL * step)
        if not np.all(np.isfinite(value)):
            if step.max() < 1e-7:
                break
            step = step / 4
            continue
        gradient, precision = _derivatives(value.reshape(3, 3), step, at - centre)
        before = height
        moved, height = _best_move(function, at, height, gradient, precision, limits)
        idle = idle + 1 if height - before < 1e-3 else 0
        deviations = _standard_deviations(precision, step)
        settled = bool(np.all(np.abs(moved - at) < 1e-3 * deviations))
        at = moved
        fine = np.clip(0.3 * deviations, 1e-6, None)
        if (settled and np.all(step <= 1.01 * fine)) or idle > 4:
            break
        step = np.minimum(np.maximum(fine, step / 8), 0.2 * (limits[:, 1] - limits[:, 0]))
        step = np.minimum(step, 1.0)
    return Peak(at, height, precision)


def is_peaked(precision: Floats) -> bool:
    """True if the curvature is that of a maximum in both directions."""
    return bool(np.all(np.isfinite(precision)) and precision[0, 0] > 0 and np.linalg.det(precision) > 0)


def _standard_deviations(precision: Floats, otherwise: Floats) -> Floats:
    """Standard deviations of the normal density with this curvature."""
    return np.sqrt(np.diag(np.linalg.inv(precision))) if is_peaked(precision) else otherwise


def _derivatives(value: Floats, step: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Gradient at `offset` from the centre of a 3 × 3 stencil, and the negative Hessian at the centre."""
    first = (value[2, 1] - 2 * value[1, 1] + value[0, 1]) / step[0] ** 2
    second = (value[1, 2] - 2 * value[1, 1] + value[1, 0]) / step[1] ** 2
    mixed = (value[2, 2] - value[2, 0] - value[0, 2] + value[0, 0]) / (4 * step[0] * step[1])
    hessian = np.array([[first, mixed], [mixed, second]])
    gradient = np.array([(value[2, 1] - value[0, 1]) / (2 * step[0]), (value[1, 2] - value[1, 0]) / (2 * step[1])])
    return gradient + hessian @ offset, -hessian


def _best_move(
    function: Callable[[Floats], Floats], at: Floats, height: float, gradient: Floats, precision: Floats, limits: Floats
) -> tuple[Floats, float]:
    """The best of Newton's step and the two one-axis steps, damped and kept within the limits."""
    curvature = np.maximum(np.abs(np.diag(precision)), 1e-12)
    alone = gradient / curvature
    joint = np.linalg.solve(precision, gradient) if is_peaked(precision) else alone
    directions = np.array([joint, [alone[0], 0.0], [0.0, alone[1]]])
    candidates = (at + directions[:, None, :] * _DAMPED[:, None]).reshape(-1, 2)
    candidates = np.clip(candidates, limits[:, 0], limits[:, 1])
    value = function(candidates)
    best = int(np.argmax(value))
    return (candidates[best], float(value[best])) if value[best] > height else (at, height)
