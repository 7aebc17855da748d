"""Cells that an attacker predicts from quasi-identifiers, described by a boolean flag for each record.

The flag says, for instance, whether the cell of a column is missing because the question was not asked. A pattern
holds the records whose flag one or two quasi-identifiers predict; the release is then searched for these people.

People may refuse to answer, and an attacker cannot know who refused. So a missing cell among filled ones does not
contradict a prediction, and does not help to find anybody.

`SkipPatterns` of `structural_missing` asks a narrower question: which missing cells are surely no refusals. There every
record of a group must be missing and filled cells are not predicted, because what it finds makes a risk smaller; here
refusals are tolerated and both flags are predicted, because what is found makes a risk larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd._support.chance import OF_CHANCE
from incrowd.backends import Coded
from incrowd.measures.compared_release import one_of_each
from incrowd.measures.determination import Determination
from incrowd.measures.following_columns import join_codes
from incrowd.measures.label_coverage import LabelCoverage

Flags = NDArray[np.bool_]
_Numbers = NDArray[np.float64]

_PREDICTED_FROM = 0.9  # share of the records of a value that have one flag, from which it is predicted for the others
_FEW = 1  # records of a value that may have the other flag, whatever their share
_COMPATIBLE_FROM = 2 / 3  # share of the records that have one flag, from which the others may have refused to answer
_RARE_VALUE = 3  # records: values with at most this many are judged together with the other rare values of a label
_IMPOSSIBLE = 1e3  # divergence of a share from a rate, from which its probability is 0 in floating point
_SIGNIFICANCE = 1e-6  # largest p-value of a prediction
_FALSE_DISCOVERY_RATE = 0.01  # largest expected share of the predicting values that predict by chance


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Prediction of a flag by quasi-identifiers; in a pair of masks, the first is for "not set", the second for "set".

    Attributes:
        columns: the quasi-identifiers.
        determination: how far they determine the flag.
        predicted: records for which the attacker predicts a flag that is not set, and one that is.
        compatible: records whose value mostly goes with that flag; the exceptions may be people who refused to answer.
        rare: records with a rare value, and those of them whose flag is set.
        rate: share of all records whose flag is set.
    """

    columns: tuple[Coded, ...]
    determination: Determination
    predicted: tuple[Flags, Flags]
    compatible: tuple[Flags, Flags]
    rare: tuple[Flags, Flags]
    rate: float

    @property
    def any_predicted(self) -> Flags:
        """Records for which either flag is predicted."""
        return self.predicted[0] | self.predicted[1]

    @property
    def records(self) -> int:
        """Number of records whose flag is predicted."""
        return int(np.count_nonzero(self.any_predicted))


def find_pattern(
    columns: tuple[Coded, ...],
    flag: Coded,
    whose: Coded | None = None,
    *,
    expected: float = _PREDICTED_FROM,
    explained: Flags | None = None,
) -> Pattern:
    """Find the records whose flag is predicted by columns.

    If the columns determine the flag for nearly all records, every value predicts that has enough records of one flag.
    Otherwise only values predict whose p-value excludes chance, and that predict for the people who are not `explained`
    too: few years of school tell that somebody has no wage only because most such people are old.

    Args:
        columns: the quasi-identifiers.
        flag: the flag of every record: code 1 where it is set.
        whose: the person of each record, if people have several records; equal records of one person count once.
        expected: share of the records of a value that have one flag, from which it is predicted for the others.
        explained: records whose flag other columns predict. None: no record.
    """
    joint, is_set = join_codes(columns), np.asarray(flag.codes, dtype=np.float64)
    counted = np.ones(joint.size)
    if whose is not None:
        counted = np.zeros(joint.size)
        counted[one_of_each(whose, [*columns, flag])] = 1.0
    sizes, set_counts = _count_by_value(joint, is_set * counted, counted)
    determination, rate = _determination_of_flag(sizes, set_counts), float(np.average(is_set, weights=counted))
    rest = counted if explained is None else counted * ~explained
    rest_sizes, rest_set_counts = _count_by_value(joint, is_set * rest, rest)
    both, rest_both = _errors_of_both(sizes, set_counts, rate), _errors_of_both(rest_sizes, rest_set_counts, rate)
    predicted, compatible = list[Flags](), list[Flags]()
    for (errors, error_rate), (rest_errors, _) in zip(both, rest_both, strict=True):
        if determination.tells_nearly_all:
            predicts = (errors <= np.maximum((1 - expected) * sizes, _FEW)) & (2 * errors < sizes)
        else:
            predicts = (errors <= min(1 - expected, OF_CHANCE * error_rate) * sizes) & (sizes > 1)
            p_values = _p_value_bounds(errors, sizes, error_rate)
            predicts &= p_values <= _largest_p_value(p_values[predicts], int(np.count_nonzero(sizes)))
            predicts &= rest_errors <= np.maximum((1 - expected) * rest_sizes, _FEW)
        predicted.append((predicts & (sizes > 1))[joint])
        compatible.append(_are_compatible(errors, sizes)[joint])
    is_rare = (sizes <= _RARE_VALUE)[joint]
    rare = is_rare, is_rare & (flag.codes == 1)
    return Pattern(columns, determination, (predicted[0], predicted[1]), (compatible[0], compatible[1]), rare, rate)


def _count_by_value(joint: NDArray[np.int64], is_set: _Numbers, counted: _Numbers) -> tuple[_Numbers, _Numbers]:
    """The records of each value, and those of them whose flag is set."""
    sizes, set_counts = np.bincount(joint, weights=counted), np.bincount(joint, weights=is_set)
    return sizes.astype(np.float64), set_counts.astype(np.float64)


def _errors_of_both(
    sizes: _Numbers, set_counts: _Numbers, rate: float
) -> tuple[tuple[_Numbers, float], tuple[_Numbers, float]]:
    """The errors of each value and the error rate in all records: predicting "not set" first, then predicting "set"."""
    return (set_counts, rate), (sizes - set_counts, 1 - rate)


def _are_compatible(errors: _Numbers, sizes: _Numbers) -> Flags:
    """True for values with so few errors that people who refused to answer explain them."""
    return np.asarray(errors <= np.maximum((1 - _COMPATIBLE_FROM) * sizes, _FEW))


def _determination_of_flag(sizes: _Numbers, set_counts: _Numbers) -> Determination:
    """Determination of a flag by groups, from their sizes and the counts of set flags; see `determination`."""
    shared = sizes > 1
    counts = np.array([set_counts[shared], (sizes - set_counts)[shared]])
    records = float(sizes[shared].sum())
    if not records:
        return Determination(0, 0.0, 0.0)
    told = float(counts.max(axis=0)[np.abs(counts[0] - counts[1]) > 1].sum())
    return Determination(int(records), told / records, float(counts.sum(axis=1).max()) / records)


def _p_value_bounds(errors: _Numbers, sizes: _Numbers, rate: float) -> _Numbers:
    """Chernoff's bound on the probability of at most `errors` errors in `sizes` records, below the error rate."""
    from scipy.special import rel_entr  # takes longer to import than this module

    share = errors / np.maximum(sizes, 1.0)
    divergence = rel_entr(share, rate) + rel_entr(1 - share, 1 - rate)
    bound: _Numbers = np.exp(-sizes * np.minimum(divergence, _IMPOSSIBLE))  # infinite where the rate excludes the share
    return bound


def _largest_p_value(p_values: _Numbers, values: int) -> float:
    """The p-value up to which values predict; 0 where chance explains all of them.

    At a threshold p, `values` × p values are expected by chance. That must be a small share of those found (the false
    discovery rate), and finding so many must itself be improbable: a Poisson tail, bounded by Chernoff.
    """
    ordered = np.maximum(np.sort(p_values), 1e-300)
    found, expected = np.arange(1, ordered.size + 1), values * ordered
    log_tail = found * (1 + np.log(expected / found)) - expected
    is_significant = (expected <= _FALSE_DISCOVERY_RATE * found) & (log_tail < np.log(_SIGNIFICANCE))
    return float(ordered[is_significant].max(initial=0.0))


def find_behind(coverage: LabelCoverage, pattern: Pattern) -> tuple[Flags, ...] | None:
    """Find the released records that may belong to people with a predicted flag.

    Nobody can say of a single rare value whether the people who have it refused to answer. So all rare values that a
    label covers are judged together.

    Returns:
        Four masks of the released records, None if they take too long to count. The first two are of records that may
        belong to a person whose flag is predicted as not set, and as set. The last two are of records that may belong
        to a person whose value is not compatible with that flag.
    """
    incompatible = [~one for one in pattern.compatible]
    counts = coverage.count(pattern.columns, [*pattern.predicted, *incompatible, pattern.rare[0]])
    if counts is None:
        return None
    *masks, covers_rare = counts > 0
    if not covers_rare.any():
        return tuple(masks)
    pooled = coverage.count(pattern.columns, pattern.rare, same=False)
    if pooled is None:
        return None
    sizes, set_counts = pooled.astype(np.float64)
    for side, (errors, error_rate) in enumerate(_errors_of_both(sizes, set_counts, pattern.rate)):
        predicts = covers_rare & (errors <= (1 - _PREDICTED_FROM) * sizes) & (sizes > 1)
        is_significant = _p_value_bounds(errors, sizes, error_rate) <= _SIGNIFICANCE
        masks[side] |= predicts & (pattern.determination.tells_nearly_all | is_significant)
        masks[2 + side] |= covers_rare & ~_are_compatible(errors, sizes)
    return tuple(masks)


def expect(behind: tuple[Flags, ...] | None, flag: Coded) -> tuple[Coded, Flags]:
    """The flag of every released record as the attacker uses it, and the records where it is predicted for somebody.

    If one flag is predicted for all people who may be behind a label, the attacker takes the other records of the label
    for refusals and does not distinguish them: all get the predicted flag.

    Args:
        behind: the masks from `find_behind`; None counts every record as predicted, with its own flag.
        flag: the flag of every released record.
    """
    if behind is None:
        return flag, np.ones(flag.codes.size, dtype=bool)
    unset, is_set, contradicts_unset, contradicts_set = behind
    codes = np.where(unset & ~contradicts_unset, 0, np.where(is_set & ~contradicts_set, 1, flag.codes))
    return Coded(flag.name, codes, flag.values), np.where(codes == 1, is_set, unset)
