"""Membership inference: is a person in the data behind the release? The holdout gives people who are not.

Two scores: the distance to the nearest released record, and the density of the release around the person relative to
other people's data (the idea of DOMIAS, van Breugel et al., 2023). The risk is 2 AUC − 1: 0 is a coin toss, 1
certainty.
"""

from __future__ import annotations

import math

import numpy as np

from incrowd.attacks.gallery import Gallery
from incrowd.attacks.result import AttackRisk, Rate, excess, wilson
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.errors import UnsupportedError
from incrowd.special import NORMAL_QUANTILE, Floats

_NEIGHBOURS = 3  # number of neighbours whose mean distance measures the density
_NO_DISTANCE = 1e-3  # added to distances, so that the density at an identical record is finite
_FALSE_POSITIVES = (0.01, 0.001)


def attack_by_membership(setting: Setting, method: str = "distance") -> AttackRisk:
    """Score the targets and people of the holdout, and measure how well the score separates them."""
    if not setting.has_holdout:
        raise UnsupportedError(
            "membership needs people who are not in the data for comparison; give a holdout of them", hint="holdout"
        )
    members, outsiders = {"distance": _by_distance, "density": _by_density}[method](setting)
    auc = area(members, outsiders)
    measures: dict[str, float | None] = {}
    is_detected = members > np.inf
    for share in _FALSE_POSITIVES:
        name = f"true positives at {share:.1%} false positives"
        if outsiders.size * share < 1:
            measures |= {name: None}
            continue
        threshold = np.sort(outsiders)[::-1][int(outsiders.size * share)]
        above = members > threshold
        is_detected = above if share == _FALSE_POSITIVES[0] else is_detected
        rate = wilson(float(above.sum()), members.size)
        measures |= {name: rate.value, f"{name}, low": rate.low, f"{name}, high": rate.high}
    notes: tuple[str, ...] = ()
    if any(value is None for value in measures.values()):
        notes = (f"{outsiders.size:,} people of the holdout are too few to tell the rarest false positives",)
    return setting.result(
        "membership",
        is_detected.astype(np.float64),
        None,
        method=method,
        chance=0.5,
        attack=auc,
        risk=excess(auc, Rate(0.5, 0.5, 0.5)),
        measures=measures,
        notes=notes,
    )


def area(members: Floats, outsiders: Floats) -> Rate:
    """The chance that a member has a higher score than an outsider, ties counting half, after DeLong et al. (1988).

    >>> area(np.array([2.0, 3.0]), np.array([1.0, 2.0])).value
    0.875
    """
    below, above = (
        (np.searchsorted(np.sort(others), own, "left") + np.searchsorted(np.sort(others), own, "right"))
        / (2 * others.size)
        for own, others in ((members, outsiders), (outsiders, members))
    )
    value = float(below.mean())
    variance = below.var() / max(members.size - 1, 1) + above.var() / max(outsiders.size - 1, 1)
    # perfect separation has no variance; by the rule of three, a share of 3/n may still be misclassified
    half = max(NORMAL_QUANTILE * math.sqrt(variance), 1.5 / min(members.size, outsiders.size) if variance == 0 else 0.0)
    return Rate(value, max(value - half, 0.0), min(value + half, 1.0))


def _by_distance(setting: Setting) -> tuple[Floats, Floats]:
    """Minus the distance to the nearest released record."""
    scores = []
    for side, rows in ((ORIGINAL, setting.targets), (HOLDOUT, setting.controls)):
        gallery = setting.gallery(setting.known, RELEASED, side)
        scores.append(-gallery.nearest(setting.probes(setting.known, side, rows), progress=setting.progress)[0][:, 0])
    return scores[0], scores[1]


def _by_density(setting: Setting) -> tuple[Floats, Floats]:
    """Log ratio of the distance to people who are not in the data and the distance to released records.

    Half of the holdout gives the density of people; the other half are the outsiders.
    """
    some = setting.encoded.only(setting.known)
    shuffled = setting.random("membership").permutation(setting.encoded.rows[HOLDOUT])
    reference = np.sort(shuffled[: shuffled.size // 2])
    outsiders = np.sort(shuffled[shuffled.size // 2 :][: setting.targets.size])
    if reference.size < _NEIGHBOURS or setting.encoded.rows[RELEASED] < _NEIGHBOURS:
        raise UnsupportedError("too few rows to tell how dense people and released records are; give a larger holdout")
    scores = []
    for side, rows in ((ORIGINAL, setting.targets), (HOLDOUT, outsiders)):
        probes = setting.probes(setting.known, side, rows)
        galleries = Gallery(some, HOLDOUT, side, rows=reference), setting.gallery(setting.known, RELEASED, side)
        people, released = (
            one.nearest(probes, wanted=_NEIGHBOURS, progress=setting.progress)[0].mean(axis=1) for one in galleries
        )
        scores.append(np.log((people + _NO_DISTANCE) / (released + _NO_DISTANCE)))
    return scores[0], scores[1]
