"""Linkability: two parts of a person's data are linked if the same released record is nearest to both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import RELEASED, Setting
from incrowd.errors import UnsupportedError
from incrowd.special import Floats


def attack_by_linkability(setting: Setting) -> AttackRisk:
    """Find the nearest released record for either part; equally near records are equally likely."""
    first, second = _parts(setting)
    return setting.result(
        "linkability",
        *setting.with_control(lambda side, rows: _joined(setting, first, second, side, rows)),
        chance=1.0 / setting.encoded.rows[RELEASED],
        secret=second,
    )


def _parts(setting: Setting) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of both parts: the known and the others, or alternating known columns."""
    if setting.options.others:
        return setting.known, setting.options.others
    if len(setting.known) < 2:
        raise UnsupportedError("linkability joins two parts of a record; name two columns at least")
    return setting.known[::2], setting.known[1::2]


def _joined(
    setting: Setting, first: tuple[str, ...], second: tuple[str, ...], side: int, rows: NDArray[np.int64]
) -> Floats:
    """The chance that both parts choose the same row: |A ∩ B| ÷ (|A| |B|), for the rows nearest to each."""
    least, tied = np.zeros(rows.size), np.ones(rows.size)
    for names in (first, second):
        gallery, probes = setting.gallery(names, RELEASED, side), setting.probes(names, side, rows)
        distances = gallery.nearest(probes, progress=setting.progress)[0][:, 0]
        least += distances
        tied *= gallery.count(probes, distances)[1]
    both = (*first, *second)
    # distances add up over columns, so rows at the sum of both least distances are nearest for both parts
    common = setting.gallery(both, RELEASED, side).count(setting.probes(both, side, rows), least)[1]
    return np.asarray(common / tied)
