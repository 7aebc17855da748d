"""l-diversity of classes: which have it, and merging neighbours until all do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import UnsupportedError
from incrowd.protection.problem import DIVERSITIES, Demand, Problem


def sensitive_codes(problem: Problem, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The codes of some rows in every sensitive column."""
    return [column.codes[rows].astype(np.int64) for column in problem.sensitive]


def merge_until_diverse(
    demand: Demand, sensitive: Sequence[NDArray[np.int64]], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Merge neighbouring classes until each is l-diverse in every sensitive column.

    A union of diverse classes is diverse, so one column after the other keeps what was reached.

    Args:
        demand: the l that is asked for, and its kind.
        sensitive: the codes of every sensitive column, class by class.
        ends: where classes end.

    Returns:
        Where classes end now; nothing where not even all together are diverse.
    """
    from incrowd.protection import kernels_classes

    for codes in sensitive:
        ends = kernels_classes.merge_until_diverse(codes, ends, *_kernel_demand(demand, codes))
    return ends


def require_diverse(problem: Problem, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Merge neighbouring classes of some rows until each is l-diverse; raises where all together are not."""
    ends = merge_until_diverse(problem.demand, sensitive_codes(problem, rows), ends)
    if not ends.size:
        raise UnsupportedError(
            f"the records are not {problem.demand.l:g}-diverse ({problem.demand.diversity}) even all together; "
            f"ask for a smaller l"
        )
    return ends


def _kernel_demand(demand: Demand, codes: NDArray[np.int64]) -> tuple[int, int, float, float]:
    """The number of values, the kind of diversity, l and c."""
    return int(codes.max(initial=0)) + 1, DIVERSITIES.index(demand.diversity), float(demand.l or 1), float(demand.c)


def find_diverse(demand: Demand, sensitive: Sequence[NDArray[np.int64]], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which classes are l-diverse in every sensitive column, as they are."""
    from incrowd.protection import kernels_classes

    diverse = np.ones(ends.size, dtype=np.bool_)
    for codes in sensitive:
        kernels_classes.find_diverse(codes, ends, *_kernel_demand(demand, codes), diverse)
    return diverse


def is_diverse(demand: Demand, sensitive: Sequence[NDArray[np.int64]]) -> bool:
    """Whether one class with these codes is l-diverse in every sensitive column."""
    return bool(find_diverse(demand, sensitive, np.array([sensitive[0].size])).all())
