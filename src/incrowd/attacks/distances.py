"""Distances from people to the closest released record, compared with people who are not in the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.gallery import SLACK, Gallery
from incrowd.attacks.result import AttackRisk, wilson
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.errors import UnsupportedError
from incrowd.special import Floats

ALONE = (
    "distances alone prove nothing: a release can copy what makes a person unique and stay far from every record, or "
    "come near to many by being right about people in general"
)


def attack_by_distances(setting: Setting) -> AttackRisk:
    """Measure distances from people to the nearest released records; the success is an identical record."""
    labels = [column.labels[RELEASED] for column in setting.encoded.only(setting.known).columns]
    if any(np.any(one.low[one.codes] < one.high[one.codes]) for one in labels):
        raise UnsupportedError("the release holds ranges, sets or *, which are at no distance from a record")
    nearest, ratio = _to_release(setting, ORIGINAL, setting.targets)
    measures: dict[str, float | None] = _in_numbers(nearest, ratio, "people of the original")
    control = None
    if setting.has_holdout:
        others, their_ratio = _to_release(setting, HOLDOUT, setting.controls)
        measures |= _in_numbers(others, their_ratio, "people of the holdout")
        nearer = _nearer_to_original(setting)
        share = wilson(float(nearer.sum()), nearer.size)
        name = "released records nearer to the original than to the holdout"
        measures |= {name: share.value, f"{name}, low": share.low, f"{name}, high": share.high}
        control = (others <= SLACK).astype(np.float64)
    return setting.result("distances", (nearest <= SLACK).astype(np.float64), control, measures=measures, notes=[ALONE])


def _to_release(setting: Setting, side: int, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The distance to the closest released record, and its ratio to the second closest (1 if both are 0)."""
    gallery = setting.gallery(setting.known, RELEASED, side)
    distances, _ = gallery.nearest(setting.probes(setting.known, side, rows), wanted=2, progress=setting.progress)
    closest, second = distances[:, 0], distances[:, 1]
    return closest, np.where(second > SLACK, closest / np.maximum(second, SLACK), 1.0)


def _in_numbers(nearest: Floats, ratio: Floats, whose: str) -> dict[str, float | None]:
    return {
        f"median distance to the closest record, {whose}": float(np.median(nearest)),
        f"5% are nearer than, {whose}": float(np.quantile(nearest, 0.05)),
        f"median nearest-neighbour ratio, {whose}": float(np.median(ratio)),
    }


def _nearer_to_original(setting: Setting) -> Floats:
    """For some released records, 1 if the original is nearer than the holdout, 0 if not; a tie is half.

    Equally many people of both are compared, because more people are nearer by chance.
    """
    draws = setting.random("distances")
    some = setting.encoded.only(setting.known)
    size = min(setting.encoded.rows[ORIGINAL], setting.encoded.rows[HOLDOUT])
    released = setting.encoded.rows[RELEASED]
    rows = np.sort(draws.choice(released, min(setting.targets.size, released), replace=False))
    probes = setting.probes(setting.known, RELEASED, rows)
    distances = []
    for side in (ORIGINAL, HOLDOUT):
        drawn = np.sort(draws.choice(setting.encoded.rows[side], size, replace=False))
        distances.append(Gallery(some, side, RELEASED, rows=drawn).nearest(probes, progress=setting.progress)[0][:, 0])
    gap = distances[1] - distances[0]
    return np.where(np.abs(gap) <= SLACK, 0.5, (gap > 0).astype(np.float64))
