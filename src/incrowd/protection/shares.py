"""Limits on the share that a sensitive value has of a class: β-likeness, δ-disclosure, and t-closeness as a test.

All three are kept by a union of classes that keep them, so that classes are joined until they do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping
from incrowd.protection.repair import SecretCodes, order_near
from incrowd.special import Floats

_ROUNDING = 1e-12


def limits_on_shares(demand: Demand, share: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest share of a class that every value may have, given its share of the table.

    β-likeness (Cao & Karras 2012): at most 1 + β times as much. δ-disclosure (Brickell & Shmatikov 2008): at most e^δ
    times as much or as little, so that no class lacks a value.

    >>> limits_on_shares(Demand(2, beta=0.5), np.array([0.4, 0.6]))
    (array([0., 0.]), array([0.6, 0.9]))
    """
    low, high = np.zeros(share.size), np.ones(share.size)
    if demand.beta is not None:
        high = np.minimum(high, (1 + demand.beta) * share)
    if demand.delta is not None:
        low, high = math.exp(-demand.delta) * share, np.minimum(high, math.exp(demand.delta) * share)
    return low, high


def merge_until_within(problem: Problem, grouping: Grouping, secrets: Sequence[SecretCodes]) -> Grouping:
    """Join classes that are near each other until every value's share is within its limits in each."""
    from incrowd.protection import kernels_classes

    near = order_near(problem.points(), grouping)
    members = np.split(grouping.order, grouping.ends[:-1])
    order, ends = np.concatenate([members[number] for number in near]), np.cumsum(grouping.sizes[near])
    for secret in secrets:
        low, high = limits_on_shares(problem.demand, secret.share)
        codes = secret.codes[order]
        ends = kernels_classes.merge_until_within(codes, ends, low - _ROUNDING, high + _ROUNDING)
    return Grouping(order, ends)


def find_within(
    demand: Demand, secrets: Sequence[SecretCodes], members: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which classes keep β, δ and t in every sensitive column; `members` lists the rows class by class."""
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
