"""Linkability: two parts of a person's data are joined if the same released record is nearest to both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.errors import UnsupportedError
from incrowd.special import Floats


def attack_by_linkability(setting: Setting) -> AttackRisk:
    """Look for the nearest released record by either part; of equally near ones the first in the table is taken."""
    first, second = _parts(setting)
    control = _joined(setting, first, second, HOLDOUT, setting.controls) if setting.has_holdout else None
    return setting.result(
        "linkability",
        _joined(setting, first, second, ORIGINAL, setting.targets),
        control,
        chance=1.0 / setting.encoded.rows[RELEASED],
        secret=second,
    )


def _parts(setting: Setting) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of both parts: the known and the others, or every second one of the known."""
    if setting.options.others:
        return setting.known, setting.options.others
    if len(setting.known) < 2:
        raise UnsupportedError("linkability joins two parts of a record; name two columns at least")
    return setting.known[::2], setting.known[1::2]


def _joined(
    setting: Setting, first: tuple[str, ...], second: tuple[str, ...], side: int, rows: NDArray[np.int64]
) -> Floats:
    found = [
        setting.gallery(names, RELEASED, side).nearest(setting.probes(names, side, rows), progress=setting.progress)[1]
        for names in (first, second)
    ]
    return np.asarray(found[0][:, 0] == found[1][:, 0], dtype=np.float64)
