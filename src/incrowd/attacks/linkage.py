"""Linkage: the attacker knows some values of a person and looks for that person's record in the release.

Released records are ranked by their distance to the known values. The rank of the right record gives the noise-free
curve of robust matching, in which ties share the success. The scaling law extends the curve to populations of any size.
If the columns are released unchanged, all records of the class are equally near, and the correctness is κ.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.gallery import Gallery, Probes
from incrowd.attacks.linkage_forecast import carry_to_populations
from incrowd.attacks.result import AttackRisk, wilson
from incrowd.attacks.setting import ORIGINAL, RELEASED, Setting
from incrowd.curves import robust_curve_from_ranks
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables.release_marks import is_shuffled
from incrowd.wording import counted

_ERRORS_APART = 3.0  # standard errors by which the mean rank must be below that of a random record


def attack_by_linkage(setting: Setting) -> AttackRisk:
    """Rank the released records for each target, and count how often the right one is first."""
    own = _own_records(setting)
    targets = setting.targets[own[setting.targets] >= 0]
    if not targets.size:
        raise UnsupportedError("none of the targets is in the released table; give more targets")
    rows = setting.encoded.rows[RELEASED]
    nearer, tied = _rank_records(setting, own, targets)
    if setting.options.kept_rows is None:
        _check_order(nearer, tied, rows)
    curve = robust_curve_from_ranks(nearer + 1, gallery=rows, ties=tied)
    successes = np.where(nearer == 0, 1.0 / tied, 0.0)
    populations, notes = carry_to_populations(setting, lambda one: _rank_records(one, own, targets), curve)
    dropped = int(np.count_nonzero(own < 0))
    if dropped:
        notes.append(f"{counted(dropped, 'record is', 'records are')} not in the release and cannot be linked")
    rate = wilson(float(successes.sum()), targets.size, everybody=int(np.count_nonzero(own >= 0)))
    return replace(
        setting.result(
            "linkage",
            successes,
            None,
            chance=1.0 / rows,
            rows=targets,
            notes=notes,
            attack=rate,
            risk=rate,
            measures={
                "median rank of the right record": float(np.median(nearer + 1)),
                "released records nearest to a target": float(np.mean(np.where(nearer == 0, tied, 0))),
                "people named in the release": float(successes.mean() * rows),
            },
        ),
        populations=populations,
        curve=curve,
    )


def _rank_records(
    setting: Setting, own: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each target, count the released rows nearer than the right one, and those equally near, itself included."""
    spread = setting.options.spread
    gallery = (
        Gallery(setting.encoded.only(setting.known), RELEASED, ORIGINAL, spread=spread)
        if spread
        else setting.gallery(setting.known, RELEASED, ORIGINAL)
    )
    probes = _as_known(setting, setting.probes(setting.known, ORIGINAL, targets))
    limits = gallery.distances_to(probes, gallery.record_of[own[targets]])
    return gallery.count(probes, limits, progress=setting.progress)[:2]


def _own_records(setting: Setting) -> NDArray[np.int64]:
    """The released row of every original row, -1 if it was suppressed."""
    before, after = setting.encoded.rows[ORIGINAL], setting.encoded.rows[RELEASED]
    kept = setting.options.kept_rows
    if kept is None:
        if before != after:
            raise UnsupportedError(
                f"the original has {before:,} rows and the release {after:,}, so it is not known whose record is "
                "whose; linkage needs the rows that were kept",
                hint="kept_rows",
            )
        if is_shuffled(setting.tables[RELEASED]):
            raise UnsupportedError(
                "the rows of the release were put in random order, so it is not known whose record is whose; linkage "
                "needs the row of the original that each was made from",
                hint="kept_rows",
            )
        return np.arange(before)
    rows = read_kept_rows(kept)
    if not rows.size or rows.size != after or np.unique(rows).size != after or rows.min() < 0 or rows.max() >= before:
        raise InputError(
            f"{rows.size:,} kept rows for a release of {after:,}; name for each the row of the original it was made "
            f"from, each once and of {before:,}",
            hint="kept_rows",
        )
    own = np.full(before, -1, dtype=np.int64)
    own[rows] = np.arange(after)
    return own


def read_kept_rows(kept: Sequence[int] | str | os.PathLike[str]) -> NDArray[np.int64]:
    """The row of the original of each released row, from 0: numbers, or a text file of numbers from 1."""
    return _read_rows(kept) if isinstance(kept, str | os.PathLike) else np.asarray(kept, dtype=np.int64)


def _read_rows(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Row numbers of a text file, from 1, as numbers from 0."""
    try:
        return np.array([int(word) for word in Path(path).read_text(encoding="utf-8").split()], dtype=np.int64) - 1
    except (OSError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "it holds something else than row numbers, one a line"
        raise InputError(f"{Path(path).name} cannot be read: {reason}", hint="kept_rows") from None


def _check_order(nearer: NDArray[np.int64], tied: NDArray[np.int64], rows: int) -> None:
    """Refuse a release whose rows may not be in the order of the original: the right record is no nearer than others.

    If the right record is always among the nearest, no order would make the attack more successful.
    """
    middle = float(np.mean((nearer + (tied + 1) / 2) / (rows + 1)))
    if middle <= 0.5 - _ERRORS_APART / math.sqrt(12 * nearer.size) or not np.any(nearer):
        return  # the right record is nearer than a random one, or always among the nearest
    raise UnsupportedError(
        "the right record is no nearer than any other: the rows of the release are not in the order of the original, "
        "or they say nothing about single people; give the original row of each released row (also if all are in "
        "order), or leave linkage out for a synthetic table",
        hint="kept_rows",
    )


def _as_known(setting: Setting, probes: Probes) -> Probes:
    """The attacker's knowledge of the targets: with the stated noise, and with missing cells."""
    options, draws = setting.options, setting.random("linkage")
    low, high = probes.low.copy(), probes.high.copy()
    for name, width in options.noise.items():
        if name not in setting.known:
            raise InputError(f"noise for {name!r}, which the attacker does not know; name it among the known columns")
        column = setting.encoded.column(name)
        if width < 0 or not np.isfinite(width):
            raise InputError(f"the noise of {name!r} is a number of 0 or more; {width} was given")
        if column.has_sets:
            raise UnsupportedError(f"noise for {name!r} cannot be combined with sets in the release; leave it out")
        place = setting.known.index(name)
        half = width / column.size if column.number and column.size else width
        error = draws.uniform(-half, half, low.shape[0])
        if not column.number:
            error = np.rint(error)
        low[:, place] += error - half
        high[:, place] += error + half
    if not 0 <= options.missing < 1:
        raise InputError(f"the share of known cells that are missing is from 0 to below 1; {options.missing} was given")
    known = Probes(low, high, probes.codes)
    return known.without(draws.random(low.shape) < options.missing) if options.missing else known
