"""Kept columns whose missing cells disclose a coarsened quasi-identifier: a question that only people with a job get.

An attacker who knows a person's age knows whether that person was asked (a skip pattern). Among the released records
whose ranges cover the age, only those count whose cell is filled or missing accordingly, so the class is smaller.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.measures.auxiliary import count_classes
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.following_columns import (
    ROWS_FOR_EACH,
    entropy,
    find_telling,
    join_codes,
)
from incrowd.measures.predicted_cells import Flags, Pattern, expect, find_behind, find_pattern
from incrowd.measures.recovering_columns import FollowingMissingCells
from incrowd.tables import Table
from incrowd.tables.suggest_reading import find_not_asked_values

_Codes = NDArray[np.int64]

_ANY_NOT_ASKED = object()  # key of the flag that is the union of all other flags of a column
_COMMON = 0.1  # share of the records from which a value is common enough that an attacker expects people to have it
_FEWEST_MORE = 30  # records that a pair of columns must predict beyond what each column predicts alone
_MOST_PAIRS = 3  # pairs of columns whose patterns are used for each flag
_SAMPLED_ROWS = 20_000  # rows on which pairs of columns are compared
_NOT_ASKED_CODES: WeakKeyDictionary[Coded, list[int]] = WeakKeyDictionary()  # cache: "not asked" codes of a column
_FALSE_AND_TRUE = pa.array([False, True])
_BYTES_A_PATTERN = 11  # for each record: six masks, and up to five arrays once it is compared with a release


def facts_of_missing_cells(
    kept: Sequence[Coded], release: ComparedRelease, *, progress: Progress = silent
) -> Iterator[FollowingMissingCells]:
    """Find kept columns whose missing cells follow from one or two quasi-identifiers, at least one of them coarsened.

    A column that does not make the smallest class smaller by itself is counted together with the other such columns.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.
        progress: callback that receives the current step and the share done.

    Yields:
        A fact for every column that makes the smallest class smaller.
    """
    flags = ((place, sort, flag) for place, column in enumerate(kept) for sort, flag in missing_flags(column).items())
    first = next(flags, None)
    if first is None:
        return
    known, table, released = release.known, release.table, release.labels
    bits = [entropy(one) for one in known]
    harmless_flags, expected_by_harmless = list[Coded](), np.ones(table.rows, dtype=bool)
    cache_size = patterns_held(table, len(known))

    @lru_cache(cache_size)
    def patterns_of(key: bytes) -> list[Pattern]:
        patterns = _patterns(_flag_of(key, known[0].codes.size), known, release.coarse, bits, release.whose)
        return sorted(patterns, key=lambda one: -one.records)

    @lru_cache(cache_size)
    def behind_pattern(pattern: Pattern) -> tuple[Flags, ...] | None:
        return find_behind(release.coverage, pattern)

    done = set[str]()
    for place, sort, flag in itertools.chain([first], flags):
        progress("comparing missing cells", place / len(kept))
        after = missing_flags(release.column(flag.name)).get(sort)
        if after is None or flag.name in done:
            continue
        patterns = patterns_of(_key(flag))
        for pattern in patterns:
            attacker_flag, expected = expect(behind_pattern(pattern), after)
            counts = (
                release.count_with(attacker_flag, expected),
                count_classes(
                    table, [*released, *harmless_flags, attacker_flag], expected & expected_by_harmless, release.person
                ),
            )
            gives_back = next(one.name for one in pattern.columns if one.name in release.coarse)
            determined = pattern.determination
            told = determined.told if determined.tells_nearly_all else pattern.records / flag.codes.size
            fact = FollowingMissingCells(
                flag.name, gives_back, told, determined.by_chance, *min(counts), k_without=release.k
            )
            if fact.undoes:
                done.add(flag.name)
                yield fact
                break
        else:
            if patterns:
                attacker_flag, expected = expect(behind_pattern(patterns[0]), after)  # predicts for most records
                harmless_flags.append(attacker_flag)
                expected_by_harmless &= expected


def patterns_held(table: Table, known: int) -> int:
    """Size of the caches of patterns, in distinct flags: as many as fit into a quarter of the memory limit.

    A flag has at most one pattern for each of the `known` quasi-identifiers and one for each pair.
    """
    a_record = _BYTES_A_PATTERN * (known + _MOST_PAIRS)
    return max(1, table.memory // 4 // (a_record * max(table.rows, 1)))


def find_skip_groups(kept: Sequence[Coded], known: Sequence[Coded]) -> list[tuple[_Codes, _Codes]]:
    """Find the quasi-identifiers that predict who was asked, those that predict it for most records first.

    Args:
        kept: the columns that only some people were asked. In a column without missing cells, each common value takes
            the place of "missing".
        known: the quasi-identifiers.

    Returns:
        For each pattern, two arrays with an entry for each record. The first says who was asked among the people with
        the record's values: all (0), some (1) or nobody (2). The second is the number of the run of neighbouring values
        with the same answer. A range or set must not cover values of two runs.
    """
    names, bits = [column.name for column in known], [entropy(one) for one in known]
    flags = [flag for column in kept for flag in (missing_flags(column) or common_flags(column)).values()]
    distinct = {_key(flag): flag for flag in flags}.values()
    patterns = [pattern for flag in distinct for pattern in _patterns(flag, known, names, bits)]
    return [_answers_and_runs(pattern) for pattern in sorted(patterns, key=lambda one: -one.records)]


def _key(flag: Coded) -> bytes:
    """A hashable copy of a flag: columns that are missing in the same records have the same key."""
    return np.packbits(flag.codes).tobytes()


def _flag_of(key: bytes, rows: int) -> Coded:
    """The flag that a key was made from."""
    return Coded("", np.unpackbits(np.frombuffer(key, np.uint8), count=rows), _FALSE_AND_TRUE)


def _answers_and_runs(pattern: Pattern) -> tuple[_Codes, _Codes]:
    """For each record, who was asked among the people with its values (0 all, 1 some, 2 nobody), and the run's number.

    Runs go along one column: the one that has an order, or else the one with more values. Values of the other column
    share their runs if their answers are the same along the whole column. A value with the answer 1 takes the answer of
    its neighbour if it is compatible with it.
    """
    *other, along = sorted(pattern.columns, key=lambda one: (one.has_order, one.size))
    joint = join_codes([*other, along])
    shape = math.prod(one.size for one in other), along.size
    answers, is_compatible = np.ones(shape, dtype=np.int64), np.ones((2, *shape), dtype=bool)
    answers.reshape(-1)[joint] = np.where(pattern.predicted[0], 0, np.where(pattern.predicted[1], 2, 1))
    is_compatible.reshape(2, -1)[:, joint] = pattern.compatible
    steps = range(1, along.size)
    for at, neighbour in [*((at, at - 1) for at in steps), *((at - 1, at) for at in reversed(steps))]:
        fits = np.where(answers[:, neighbour] == 0, is_compatible[0, :, at], is_compatible[1, :, at])
        answers[:, at] = np.where((answers[:, at] == 1) & fits, answers[:, neighbour], answers[:, at])
    runs = np.cumsum(np.diff(answers, axis=1, prepend=answers[:, :1]) != 0, axis=1) if along.has_order else answers
    distinct_rows = np.unique(answers, axis=0, return_inverse=True)[1].reshape(-1, 1)
    runs = distinct_rows * (along.size + 3) + runs
    return answers.reshape(-1)[joint], runs.reshape(-1)[joint]


def missing_flags(column: Coded) -> dict[Any, Coded]:
    """Flags of cells that mean "not asked": one for empty cells, one for each such code or word, and their union.

    Each kind of cell is visible in the release, so each is a flag of its own. A flag that is set in all cells or in
    none is left out.
    """
    codes_of = {value.as_py(): [code] for code, value in _not_asked_values(column)}
    if len(codes_of) > 1:
        codes_of[_ANY_NOT_ASKED] = [code for codes in codes_of.values() for code in codes]
    flags = {}
    for sort, codes in codes_of.items():
        flag = _flag(column, codes)
        if 0 < flag.codes.sum() < flag.codes.size:
            flags[sort] = flag
    return flags


def common_flags(column: Coded, values: Collection[Any] | None = None) -> dict[Any, Coded]:
    """Flags of the cells that have a value or are missing, for each common value of a column or each of `values`.

    A missing cell is flagged too, because an attacker who expects the value knows that people may refuse to answer. A
    flag that is set in all cells is left out.
    """
    not_asked = [code for code, _ in _not_asked_values(column)]
    counts = column.tally
    codes = np.setdiff1d(np.flatnonzero(counts >= _COMMON * column.codes.size), not_asked).tolist()
    if values is not None:
        codes = [code for code, value in enumerate(column.values.to_pylist()) if value in values]
    flags = {column.values[code].as_py(): _flag(column, [code, *not_asked]) for code in codes}
    return {value: flag for value, flag in flags.items() if not flag.codes.all()}


def _flag(column: Coded, codes: Sequence[int]) -> Coded:
    """The flag of the cells that have one of these codes."""
    is_among = np.zeros(column.size, dtype=np.uint8)
    is_among[codes] = 1
    return Coded(column.name, is_among[column.codes], _FALSE_AND_TRUE)


def _not_asked_values(column: Coded) -> Iterator[tuple[int, pa.Scalar]]:
    """The values of a column that mean "not asked", each after its dictionary code."""
    if column not in _NOT_ASKED_CODES:
        mask = find_not_asked_values(column.values).to_numpy(zero_copy_only=False)
        _NOT_ASKED_CODES[column] = np.flatnonzero(mask).tolist()
    for code in _NOT_ASKED_CODES[column]:
        yield code, column.values[code]


def count_with_missing_cells(
    table: Table, quasi_identifiers: Sequence[str], column: str, person: str | None
) -> tuple[int, int]:
    """The smallest class and the unique people for an attacker who also knows which cells of a column are missing.

    Each kind of missing cell (empty, or a code for "not asked") is told apart; all other values count as one.
    """
    *known, kept = encode(table, [*quasi_identifiers, column])
    sorts = np.zeros(kept.size, dtype=np.int64)
    for sort, (code, _) in enumerate(_not_asked_values(kept), start=1):
        sorts[code] = sort
    flag = Coded(kept.name, sorts[kept.codes], pa.array(np.arange(sorts.max(initial=0) + 1)))
    return count_classes(table, [*known, flag], np.ones(table.rows, dtype=bool), person)


def _patterns(
    flag: Coded,
    known: Sequence[Coded],
    coarse: Collection[str],
    bits: Sequence[float],
    whose: Coded | None = None,
) -> Iterator[Pattern]:
    """Patterns of a flag: those of coarsened columns alone, then those of pairs of columns.

    If a pair determines the flag for nearly all records, it is the only one. Otherwise the pairs follow that predict
    most records beyond what single columns predict; they are chosen on a sample of rows.
    """
    alone, explained = _patterns_alone(flag, known, whose)
    yield from (alone[name] for name in coarse if name in alone and alone[name].records)
    determining = (columns for columns, _ in find_telling(flag, known, coarse, bits, whose) if len(columns) > 1)
    pair = next((columns for columns in determining if not _unchanged_suffice(columns, flag, coarse)), None)
    if pair is not None:
        yield find_pattern(pair, flag, whose)
        return
    sample = slice(None, None, -(-flag.codes.size // _SAMPLED_ROWS))
    sampled_flag, sampled_whose = flag.take(sample), None if whose is None else whose.take(sample)
    gains = []
    for one, other in itertools.combinations(known, 2):
        is_shared = one.size * other.size <= sampled_flag.codes.size / ROWS_FOR_EACH
        if is_shared and (one.name in coarse or other.name in coarse):
            sampled = one.take(sample), other.take(sample)
            found = find_pattern(sampled, sampled_flag, sampled_whose, explained=explained[sample])
            gains.append((np.count_nonzero(found.any_predicted & ~explained[sample]), (one, other)))
    gains = sorted((gain for gain in gains if gain[0] >= _FEWEST_MORE), key=lambda gain: -gain[0])[:_MOST_PAIRS]
    yield from (find_pattern(columns, flag, whose, explained=explained) for _, columns in gains)


def _patterns_alone(flag: Coded, known: Sequence[Coded], whose: Coded | None) -> tuple[dict[str, Pattern], Flags]:
    """The pattern of each column by its name, and the records that any of them predicts.

    Those that predict most records come first; what they predict is explained for the others.
    """
    alone = {one.name: find_pattern((one,), flag, whose) for one in known}
    explained = np.zeros(flag.codes.size, dtype=bool)
    for name, pattern in sorted(alone.items(), key=lambda item: -item[1].records):
        if explained.any() and pattern.records:
            alone[name] = find_pattern(pattern.columns, flag, whose, explained=explained)
        explained |= alone[name].any_predicted
    return alone, explained


def _unchanged_suffice(columns: Sequence[Coded], flag: Coded, coarse: Collection[str]) -> bool:
    """True if the columns that are released unchanged predict the flag wherever all columns together do."""
    unchanged = [one for one in columns if one.name not in coarse]
    return bool(unchanged) and not (_agrees_with_most(columns, flag) & ~_agrees_with_most(unchanged, flag)).any()


def _agrees_with_most(columns: Sequence[Coded], flag: Coded) -> Flags:
    """True for records whose flag is that of most other records with the same values."""
    groups = np.unique(join_codes(columns), return_inverse=True)[1]
    sizes, is_set = np.bincount(groups), np.bincount(groups, weights=flag.codes)
    same = np.where(flag.codes == 1, is_set[groups], (sizes - is_set)[groups])
    return np.asarray(2 * same - 1 > sizes[groups])
