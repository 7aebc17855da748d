"""Algorithm S2 of Sánchez, Martínez & Domingo-Ferrer: sort by distance, cut into runs of k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.protection.problem import Problem, moments, positions
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes


def distance_to_zero(problem: Problem) -> NDArray[np.float64]:
    """Squared standardised distance (eq. 2) of every record to the record whose quasi-identifiers are all zero.

    Text counts by its rank; a column that never varies is the same for all and adds nothing to the order.
    """
    distance = np.zeros(problem.rows)
    for index, column in enumerate(problem.columns):
        place = positions(column)
        _, deviation = moments(column, place, problem.tally(index))
        if deviation > 0.0:
            distance += ((place / deviation) ** 2)[column.codes]
    return distance


def sort(problem: Problem) -> Recoding:
    """Apply algorithm S2: classes of k in ascending order of distance, the last of k to 2k-1."""
    order = np.argsort(distance_to_zero(problem), kind="stable")
    k = problem.demand.k
    ends = np.arange(1, problem.rows // k + 1, dtype=np.int64) * k
    ends[-1] = problem.rows
    return generalise_classes(problem, Grouping(order, ends))
