"""t-closeness by repair: only classes that are too far from the whole table are merged, each with its best partner.

The earth mover's distance of a union is at most the larger one of its parts, so that merging never breaks what other
classes or other sensitive columns have reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.recoding import Grouping

_REACH = (200, 2_000)  # fewest and most classes on either side, as a k-d tree lists them, among which partners are
_PAIRS = 20_000_000  # pairs of classes that are compared in about a round
_BINS = 64  # bins of sensitive values, by which partners are compared
_MOST_COUNTS = 2**25  # counts of bins that are held


class SecretCodes(NamedTuple):
    """The sensitive value of every member, and how the whole table's values are distributed."""

    codes: NDArray[np.int64]
    share: NDArray[np.float64]
    ordered: bool


def secret_codes(column: Coded, rows: NDArray[np.int64] | None = None) -> SecretCodes:
    """The codes of a column, and its distribution in some rows (None: all)."""
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

    Where even all members together are farther, they become one class.

    Args:
        points: coordinates of every member, as of `Problem.points`.
        nominal: cost of one more value, as of `Problem.nominal`.
        power: as of `Problem.power`.
        grouping: the classes to begin with; every member is in one.
        secrets: the sensitive columns.
        t: the largest distance that is allowed.

    Returns:
        The merged classes.
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
    class_of = np.repeat(part_of, grouping.sizes)
    order = np.argsort(class_of, kind="stable")
    _, sizes = np.unique(class_of, return_counts=True)
    return Grouping(grouping.order[order], np.cumsum(sizes))


def order_near(points: NDArray[np.float32], grouping: Grouping) -> NDArray[np.int64]:
    """List classes so that those whose centres are near each other are near in the list, as leaves of a k-d tree."""
    from incrowd.protection import kernels

    sums = np.add.reduceat(points[grouping.order], grouping.ends - grouping.sizes, axis=0, dtype=np.float64)
    centres = (sums / grouping.sizes[:, None]).astype(np.float32)
    near = np.arange(grouping.ends.size)
    kernels.split(centres, near, 0, near.size, 1, 1, np.empty(near.size, dtype=np.float32))
    return near


def _make_bins(
    secrets: Sequence[SecretCodes], classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """The bin of every value, column after column; the table's share of every bin; and the number of bins a column.

    Bins of ordered values are runs of them; of others, the commonest have one each and the rest one together.
    """
    most = int(np.clip(_MOST_COUNTS // (classes * len(secrets)), 2, _BINS))
    bins, widths = [], np.array([min(secret.share.size, most) for secret in secrets])
    shares = np.zeros((len(secrets), int(widths.max())))
    for index, (secret, width) in enumerate(zip(secrets, widths.tolist(), strict=True)):
        if secret.ordered:
            found = np.arange(secret.share.size) * width // secret.share.size
        else:
            found = np.empty(secret.share.size, dtype=np.int64)
            found[np.argsort(-secret.share, kind="stable")] = np.minimum(np.arange(secret.share.size), width - 1)
        bins.append(found)
        shares[index, :width] = np.bincount(found, weights=secret.share, minlength=width)
    return np.concatenate(bins), shares, widths
