"""Inference: the attacker knows some columns of a person and guesses a sensitive one from the release.

Two methods: the secret that most of the nearest released records have, and a naive Bayes model of the release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.encoding import ScaledColumn, null_rank
from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import ORIGINAL, RELEASED, Setting
from incrowd.errors import InputError, UnsupportedError
from incrowd.special import Floats

_MOST_VOTES = 1 << 16  # with more distinct secrets, the guess is that of the nearest record, without a vote
_BINS = 16  # bins of a column of numbers in the model
_MOST_CLASSES = 4096  # most distinct secrets that the model distinguishes


def attack_by_inference(setting: Setting, method: str = "nearest") -> AttackRisk:
    """Guess the secret of every target, and of the people of the holdout for the control."""
    secret = secret_column(setting)
    guess = {"nearest": _nearest_secrets, "learnt": _learnt_secrets}[method]
    commonest = np.full(setting.targets.size, np.bincount(secret.labels[RELEASED].codes).argmax())
    return setting.result(
        "inference",
        *setting.with_control(lambda side, rows: hits(setting, secret, side, rows, guess(setting, secret, side, rows))),
        method=method,
        chance=float(hits(setting, secret, ORIGINAL, setting.targets, commonest).mean()),
        secret=[secret.name],
    )


def secret_column(setting: Setting) -> ScaledColumn:
    """Return the column of the secret; refuse to attack without one."""
    if setting.secret is None:
        raise InputError("this attack guesses a secret; name its column", hint="secret")
    if not setting.known:
        raise UnsupportedError(f"nothing is known but the secret {setting.secret!r}, so there is nothing to guess by")
    column = setting.encoded.column(setting.secret)
    if column.is_constant:
        raise UnsupportedError(f"the secret {column.name!r} has one value only, so there is nothing to guess")
    return column


def hits(
    setting: Setting, secret: ScaledColumn, side: int, rows: NDArray[np.int64], guesses: NDArray[np.int64]
) -> Floats:
    """The success of each guess (a label of the release): 1, 0, or 1 divided by the number of values that it covers.

    A number is right within the tolerance, a share of the true value. Dates and times have no zero, so their tolerance
    is a share of the column's range.
    """
    truth, labels = secret.labels[side], secret.labels[RELEASED]
    true_low = truth.low[truth.codes[rows]]
    low, high = labels.low[guesses], labels.high[guesses]
    if secret.number:
        guessed = (np.maximum(low, 0.0) + np.minimum(high, np.maximum(low, 1.0))) / 2  # the middle of a range
        size = 1.0 if secret.temporal else np.abs(true_low + secret.least / secret.size)
        room = setting.options.tolerance * size
        exact = np.abs(guessed - true_low) <= room + 1e-12
        return np.asarray(exact & ((true_low <= 1.0) == (low <= 1.0)), dtype=np.float64)
    choices = np.where(np.isfinite(low), high - low + 1, len(secret.values))
    inside = (low <= true_low) & (true_low <= high)
    for label, members in labels.members.items():
        this = guesses == label
        choices[this], inside[this] = members.size, np.isin(true_low[this], members)
    return np.where(inside, 1.0 / choices, 0.0)


def _nearest_secrets(setting: Setting, secret: ScaledColumn, side: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The label of the secret that most of the nearest released records have."""
    gallery = setting.gallery(setting.known, RELEASED, side)
    probes = setting.probes(setting.known, side, rows)
    distances, first = gallery.nearest(probes, progress=setting.progress)
    codes, room = secret.labels[RELEASED].codes, secret.labels[RELEASED].low.size
    if room > _MOST_VOTES:
        return np.asarray(codes[first[:, 0]])
    return gallery.guess(probes, distances[:, 0], codes, room)


def _learnt_secrets(setting: Setting, secret: ScaledColumn, side: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most probable label of the secret by naive Bayes, trained on the release."""
    codes, room = secret.labels[RELEASED].codes, secret.labels[RELEASED].low.size
    if room > _MOST_CLASSES:
        raise UnsupportedError(f"the secret has {room:,} different values, too many for the model to tell apart")
    share = (np.bincount(codes, minlength=room) + 1.0) / (codes.size + room)
    scores = np.repeat(np.log(share)[None, :], rows.size, axis=0)
    for name in setting.known:
        column = setting.encoded.column(name)
        seen, known_bins, size = _bins(column, column.labels[RELEASED].codes, column.labels[side].codes[rows], side)
        table = np.bincount(codes * size + seen, minlength=room * size).reshape(room, size) + share[:, None]
        scores += np.log(table / table.sum(axis=1, keepdims=True)).T[known_bins]
    return np.asarray(scores.argmax(axis=1))


def _bins(
    column: ScaledColumn, released: NDArray[np.int64], asked: NDArray[np.int64], side: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The bins of released and known values, from 0: quantiles of numbers, ranks of text (the middle one of a set)."""
    labels, others = column.labels[RELEASED], column.labels[side]
    lowest, highest = (0.0, 1.0) if column.number else (0.0, max(len(column.values) - 1.0, 0.0))
    middles = [
        (np.clip(one.low, lowest, None) + np.clip(one.high, None, np.maximum(one.low, highest))) / 2
        for one in (labels, others)
    ]
    if not column.number:
        seen, wanted = (np.floor(middle).astype(np.int64) for middle in middles)
        return seen[released], wanted[asked], null_rank(column.values) + 1
    inner = np.quantile(middles[0][released], np.arange(1, _BINS) / _BINS)
    seen, wanted = (np.searchsorted(inner, middle, "right") for middle in middles)
    return seen[released], wanted[asked], _BINS
