"""Merging classes until their sensitive columns are l-diverse, t-close, and within the limits of β and δ.

A union of classes that satisfy a demand satisfies it too, so merging for one demand or column never breaks another. t
is reached by repair: only classes that are too far from the table are merged, each with its best partner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.errors import UnsupportedError
from incrowd.protection.problem import DIVERSITIES, Demand, Problem
from incrowd.protection.recoding import Grouping
from incrowd.special import Floats

_REACH = (200, 2_000)  # fewest and most candidate partners on either side, in the order of `order_near`
_PAIRS = 20_000_000  # approximate number of pairs of classes that are compared in one round
_BINS = 64  # bins of sensitive values, by which partners are compared
_MOST_COUNTS = 2**25  # counts of bins in memory
_ROUNDING = 1e-12


def sensitive_codes(problem: Problem, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The codes of some rows in every sensitive column."""
    return [column.codes[rows].astype(np.int64) for column in problem.sensitive]


def merge_until_diverse(
    demand: Demand, sensitive: Sequence[NDArray[np.int64]], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Merge neighbouring classes until each is l-diverse in every sensitive column.

    A union of diverse classes is diverse, so the columns can be treated one after the other.

    Args:
        demand: the l that is asked for, and its kind.
        sensitive: the codes of every sensitive column, class by class.

    Returns:
        The ends of the merged classes; empty if even all records together are not diverse.
    """
    from incrowd.protection import kernels_classes

    for codes in sensitive:
        ends = kernels_classes.merge_until_diverse(codes, ends, *_kernel_demand(demand, codes))
    return ends


def require_diverse(problem: Problem, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Merge neighbouring classes of some rows until each is l-diverse; raises if all rows together are not."""
    ends = merge_until_diverse(problem.demand, sensitive_codes(problem, rows), ends)
    if not ends.size:
        raise UnsupportedError(
            f"the records are not {problem.demand.l:g}-diverse ({problem.demand.diversity}) even all together; "
            f"ask for a smaller l"
        )
    return ends


def _kernel_demand(demand: Demand, codes: NDArray[np.int64]) -> tuple[int, int, float, float]:
    """The arguments of the compiled loops: number of values, kind of diversity, l and c."""
    return int(codes.max(initial=0)) + 1, DIVERSITIES.index(demand.diversity), float(demand.l or 1), float(demand.c)


def find_diverse(demand: Demand, sensitive: Sequence[NDArray[np.int64]], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Boolean mask of the classes that are l-diverse in every sensitive column."""
    from incrowd.protection import kernels_classes

    diverse = np.ones(ends.size, dtype=np.bool_)
    for codes in sensitive:
        kernels_classes.find_diverse(codes, ends, *_kernel_demand(demand, codes), diverse)
    return diverse


def is_diverse(demand: Demand, sensitive: Sequence[NDArray[np.int64]]) -> bool:
    """True if one class with these codes is l-diverse in every sensitive column."""
    return bool(find_diverse(demand, sensitive, np.array([sensitive[0].size])).all())


class SecretCodes(NamedTuple):
    """A sensitive column: the code of every member, and the share of each value in the whole table."""

    codes: NDArray[np.int64]
    share: NDArray[np.float64]
    ordered: bool


def secret_codes(column: Coded, rows: NDArray[np.int64] | None = None) -> SecretCodes:
    """A sensitive column with the distribution of its values in some rows (None: all)."""
    codes = column.codes.astype(np.int64)
    tally = np.bincount(codes if rows is None else codes[rows], minlength=column.size)
    return SecretCodes(codes, tally / tally.sum(), column.has_order)


def merge_until_close(
    points: NDArray[np.float32],
    nominal: NDArray[np.float64],
    power: int,
    grouping: Grouping,
    secrets: Sequence[SecretCodes],
    t: float,
) -> Grouping:
    """Merge classes until none is farther than t from the table in any sensitive column.

    If all members together are farther than t, they become one class.

    Args:
        points: coordinates of every member (`Problem.points`).
        nominal: cost of one more value (`Problem.nominal`).
        power: exponent of the loss (`Problem.power`).
        grouping: the initial classes; every member is in one.
    """
    from incrowd.protection import kernels_repair

    bins, shares, widths = _make_bins(secrets, grouping.ends.size)
    cumulative = [np.cumsum(secret.share) for secret in secrets]
    distributions = (
        np.cumsum([0, *(secret.share.size for secret in secrets)]),
        np.array([secret.ordered for secret in secrets]),
        np.concatenate([secret.share for secret in secrets]),
        np.concatenate(cumulative),
        np.concatenate([np.concatenate([[0.0], np.cumsum(sums)]) for sums in cumulative]),
    )
    part_of = kernels_repair.merge_until_close(
        points,
        grouping.order,
        grouping.ends,
        order_near(points, grouping),
        (nominal, power, int(np.clip(_PAIRS // grouping.ends.size, *_REACH)), t + 1e-12),
        np.stack([secret.codes for secret in secrets]),
        distributions,
        (bins, shares, widths),
    )
    merged = Grouping.by_class(np.repeat(part_of, grouping.sizes))
    return Grouping(grouping.order[merged.order], merged.ends)


def order_near(points: NDArray[np.float32], grouping: Grouping) -> NDArray[np.int64]:
    """Order of classes in which classes with near centres are close to each other: the leaves of a k-d tree."""
    from incrowd.protection import kernels

    sums = np.add.reduceat(points[grouping.order], grouping.ends - grouping.sizes, axis=0, dtype=np.float64)
    centres = (sums / grouping.sizes[:, None]).astype(np.float32)
    near = np.arange(grouping.ends.size)
    kernels.split(centres, near, 0, near.size, 1, 1, np.empty(near.size, dtype=np.float32))
    return near


def _make_bins(
    secrets: Sequence[SecretCodes], classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """The bin of every value of all columns, the table's share of every bin, and the number of bins of each column.

    Ordered values are binned in runs. Of other values, the commonest have a bin each, and the rest share one.
    """
    most_bins = int(np.clip(_MOST_COUNTS // (classes * len(secrets)), 2, _BINS))
    bins, widths = [], np.array([min(secret.share.size, most_bins) for secret in secrets])
    shares = np.zeros((len(secrets), int(widths.max())))
    for index, (secret, width) in enumerate(zip(secrets, widths.tolist(), strict=True)):
        if secret.ordered:
            bin_of = np.arange(secret.share.size) * width // secret.share.size
        else:
            bin_of = np.empty(secret.share.size, dtype=np.int64)
            bin_of[np.argsort(-secret.share, kind="stable")] = np.minimum(np.arange(secret.share.size), width - 1)
        bins.append(bin_of)
        shares[index, :width] = np.bincount(bin_of, weights=secret.share, minlength=width)
    return np.concatenate(bins), shares, widths


def limits_on_shares(demand: Demand, share: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest share that every value may have in a class, given its share of the table.

    β-likeness (Cao & Karras 2012): at most 1 + β times the share of the table. δ-disclosure (Brickell & Shmatikov
    2008): between e^-δ and e^δ times the share of the table, so that no class lacks a value.

    >>> limits_on_shares(Demand(2, beta=0.5), np.array([0.4, 0.6]))
    (array([0., 0.]), array([0.6, 0.9]))
    """
    low, high = np.zeros(share.size), np.ones(share.size)
    if demand.beta is not None:
        high = np.minimum(high, (1 + demand.beta) * share)
    if demand.delta is not None:
        low, high = math.exp(-demand.delta) * share, np.minimum(high, math.exp(demand.delta) * share)
    return low, high


def merge_until_within(
    demand: Demand, points: NDArray[np.float32], grouping: Grouping, secrets: Sequence[SecretCodes]
) -> Grouping:
    """Merge classes that are near each other until the share of every value is within its limits in each class."""
    from incrowd.protection import kernels_classes

    near = grouping.take(order_near(points, grouping))
    ends = near.ends
    for secret in secrets:
        low, high = limits_on_shares(demand, secret.share)
        codes = secret.codes[near.order]
        ends = kernels_classes.merge_until_within(codes, ends, low - _ROUNDING, high + _ROUNDING)
    return Grouping(near.order, ends)


def find_within(
    demand: Demand, secrets: Sequence[SecretCodes], members: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Boolean mask of the classes within β, δ and t in every sensitive column; `members` lists rows class by class."""
    from incrowd.protection import kernels_classes, kernels_repair

    good = np.ones(ends.size, dtype=np.bool_)
    for secret in secrets:
        codes = secret.codes[members]
        if demand.beta is not None or demand.delta is not None:
            low, high = limits_on_shares(demand, secret.share)
            kernels_classes.find_within(codes, ends, low - _ROUNDING, high + _ROUNDING, good)
        if demand.t is not None:
            cumulative = np.cumsum(secret.share)
            before = np.concatenate([[0.0], np.cumsum(cumulative)])
            shape = (secret.ordered, secret.share, cumulative, before)
            kernels_repair.find_close(codes, ends, *shape, demand.t + _ROUNDING, good)
    return good
