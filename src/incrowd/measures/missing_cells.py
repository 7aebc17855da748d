"""Kept columns whose missing cells tell what was made coarser, such as a question for people with a job only.

Whoever knows an age knows whether the question was asked, and looks among the records of the same ranges where it was.
Who refuses to answer is as unknown as what others answer, so refusals hide no skip pattern, and find nobody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.determination import OF_CHANCE, Determination
from incrowd.measures.following_columns import (
    ROWS_FOR_EACH,
    count_classes,
    entropy,
    find_telling,
    join_codes,
)
from incrowd.measures.label_coverage import LabelCoverage
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.tables import Table
from incrowd.tables.suggest_reading import find_not_asked_values

_ANY_OF_THEM = object()  # the flag of all cells that say that nothing was asked
_Codes = NDArray[np.int64]
_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.float64]

_EXPECTED = 0.9  # share of the records of a value from which others of it are expected to be so too
_FEW = 1  # records of a value that may differ whatever their share
_MOSTLY = 2 / 3  # share from which those who differ count as people who refused
_RARE_VALUE = 3  # records of a value up to which it is judged together with the other rare ones behind a label
_UNLIKELY = 1e-6  # how seldom chance may show so many values that are told
_FALSELY_TOLD = 0.01  # share of the values that are told which chance may have told
_COMMON = 0.1  # share of the records from which on people may be expected to have a value
_MORE = 30  # records that two columns must tell beyond one of them
_PAIRS = 3  # pairs of columns that are counted
_NOBODY_ASKED: WeakKeyDictionary[Coded, list[int]] = WeakKeyDictionary()  # kept as long as the codes are
_ROWS = 20_000  # rows by which pairs are looked for
_FALSE_AND_TRUE = pa.array([False, True])
_FLAGS_OF_A_PATTERN = 11  # bytes a record that are held


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Quasi-identifiers that tell which cells are missing.

    `told` has, for filled and for missing, the records whose cell whoever knows these expects to be so; `alike` those
    whose values mostly have that; `rare` has those whose values few share, and those of them whose cell is missing.
    """

    columns: tuple[Coded, ...]
    found: Determination
    told: tuple[_Flags, _Flags]
    alike: tuple[_Flags, _Flags]
    rare: tuple[_Flags, _Flags]
    rate: float

    @property
    def records(self) -> int:
        """Number of records whose cell is disclosed."""
        return int(np.count_nonzero(self.told[0] | self.told[1]))


def facts_of_missing_cells(
    kept: Sequence[Coded],
    known: Sequence[Coded],
    table: Table,
    coarse: Sequence[str],
    *,
    person: str | None = None,
    progress: Progress = silent,
) -> Iterator[RecoveringColumn]:
    """Find kept columns whose cells are missing where one or two quasi-identifiers, of which one was made coarser, say.

    Columns that do no harm alone are counted together with the others of that kind.

    Args:
        kept: the columns of the original that are released as they were.
        known: its quasi-identifiers.
        table: the protected table; its rows may be in another order.
        coarse: the quasi-identifiers that were made coarser.
        person: the column that says whose record it is, where people have several.
        progress: told how far the work is.

    Yields:
        A fact for every column that makes the smallest class smaller.
    """
    flags = ((place, sort, flag) for place, column in enumerate(kept) for sort, flag in missing_flags(column).items())
    first = next(flags, None)
    if first is None:
        return
    names = [column.name for column in known]
    k_without = count_with_auxiliary(table, names, [], person=person).k
    bits = [entropy(one) for one in known]
    released, harmless, told = encode(table, names), list[Coded](), np.ones(table.rows, dtype=bool)
    behind = LabelCoverage(known, released, coarse)
    held = patterns_held(table, len(known))

    @lru_cache(held)
    def patterns_of(key: bytes) -> list[Pattern]:
        found = _patterns(_flag_of(key, known[0].codes.size), known, coarse, bits)
        return sorted(found, key=lambda one: -one.records)

    @lru_cache(held)
    def behind_pattern(pattern: Pattern) -> tuple[_Flags, ...] | None:
        return find_behind(behind, pattern)

    undone = set[str]()
    for place, sort, flag in itertools.chain([first], flags):
        progress("comparing missing cells", place / len(kept))
        after = missing_flags(*encode(table, [flag.name])).get(sort)
        if after is None or flag.name in undone:
            continue
        patterns = patterns_of(_key(flag))
        for pattern in patterns:
            open_flag, expected = expect(behind_pattern(pattern), after)
            counts = (
                count_classes(table, [*released, open_flag], expected, person),
                count_classes(table, [*released, *harmless, open_flag], expected & told, person),
            )
            gives_back, determined = next(one.name for one in pattern.columns if one.name in coarse), pattern.found
            shares = max(determined.told, pattern.records / flag.codes.size), determined.by_chance
            fact = RecoveringColumn(
                *(flag.name, gives_back, *shares, *min(counts), k_without), follows=True, missing=True
            )
            if fact.undoes:
                undone.add(flag.name)
                yield fact
                break
        else:
            if patterns:
                open_flag, expected = expect(behind_pattern(patterns[0]), after)  # of what tells most
                harmless.append(open_flag)
                told &= expected


def patterns_held(table: Table, known: int) -> int:
    """For how many sets of missing cells what tells them is held: in a quarter of the memory, and found again beyond.

    A pattern has six flags of every record, and five once the release was held against it; a set of cells has one
    pattern for each of the `known` quasi-identifiers and one for each pair that is counted.
    """
    a_record = _FLAGS_OF_A_PATTERN * (known + _PAIRS)
    return max(1, table.memory // 4 // (a_record * max(table.rows, 1)))


def find_skip_groups(kept: Sequence[Coded], known: Sequence[Coded]) -> list[tuple[_Codes, _Codes]]:
    """Find which quasi-identifiers tell who was asked, those that tell it of most records first.

    Args:
        kept: the columns that only some people were asked; of one without missing cells, its common values count so.
        known: the quasi-identifiers.

    Returns:
        For each of them, whether people of every record's values were asked (0), were not (2) or some were (1); and the
        number of its run of such values: no range or set of values of one run covers values of another.
    """
    names, bits = [column.name for column in known], [entropy(one) for one in known]
    flags = [flag for column in kept for flag in (missing_flags(column) or common_flags(column)).values()]
    distinct = {_key(flag): flag for flag in flags}.values()
    found = [pattern for flag in distinct for pattern in _patterns(flag, known, names, bits)]
    return [_sides(pattern) for pattern in sorted(found, key=lambda one: -one.records)]


def _key(flag: Coded) -> bytes:
    """A key of the records in which a column is missing, which many columns have in common."""
    return np.packbits(flag.codes).tobytes()


def _flag_of(key: bytes, rows: int) -> Coded:
    """The flag of some records by its key."""
    return Coded("", np.unpackbits(np.frombuffer(key, np.uint8), count=rows), _FALSE_AND_TRUE)


def _sides(pattern: Pattern) -> tuple[_Codes, _Codes]:
    """Who was asked of the people with each record's values (0 all, 1 some, 2 nobody), and the run of such values.

    Runs are along the column that has an order, or the most values. Values of the other column that are the same all
    along it have the same runs.
    """
    *other, along = sorted(pattern.columns, key=lambda one: (one.has_order, one.size))
    joint = join_codes([*other, along])
    shape = math.prod(one.size for one in other), along.size
    sides, may_be = np.ones(shape, dtype=np.int64), np.ones((2, *shape), dtype=bool)
    sides.reshape(-1)[joint] = np.where(pattern.told[0], 0, np.where(pattern.told[1], 2, 1))
    may_be.reshape(2, -1)[:, joint] = pattern.alike
    steps = range(1, along.size)
    for at, before in [*((at, at - 1) for at in steps), *((at - 1, at) for at in reversed(steps))]:
        is_like = np.where(sides[:, before] == 0, may_be[0, :, at], may_be[1, :, at])
        sides[:, at] = np.where((sides[:, at] == 1) & is_like, sides[:, before], sides[:, at])
    runs = np.cumsum(np.diff(sides, axis=1, prepend=sides[:, :1]) != 0, axis=1) if along.has_order else sides
    course = np.unique(sides, axis=0, return_inverse=True)[1].reshape(-1, 1)
    runs = course * (along.size + 3) + runs
    return sides.reshape(-1)[joint], runs.reshape(-1)[joint]


def missing_flags(column: Coded) -> dict[Any, Coded]:
    """Flags of cells that mean "not asked": empty cells, cells of each code or word, and the union of them.

    Everybody sees which of these a cell is. Flags that all cells have, or none, are left out.
    """
    sorts = {one.as_py(): [number] for number, one in _values_of_nobody_asked(column)}
    if len(sorts) > 1:
        sorts[_ANY_OF_THEM] = [number for numbers in sorts.values() for number in numbers]
    flags = {}
    for sort, numbers in sorts.items():
        flag = _flag(column, numbers)
        if 0 < flag.codes.sum() < flag.codes.size:
            flags[sort] = flag
    return flags


def common_flags(column: Coded, values: Collection[Any] | None = None) -> dict[Any, Coded]:
    """Flags of the cells that have each common value of a column, or each of `values`, or may have any.

    Whoever expects a value of somebody knows that people may refuse to tell it. Flags that all cells have are left out.
    """
    nobody_asked = [number for number, _ in _values_of_nobody_asked(column)]
    counts = np.bincount(column.codes, minlength=column.size)
    codes = np.setdiff1d(np.flatnonzero(counts >= _COMMON * column.codes.size), nobody_asked).tolist()
    if values is not None:
        codes = [code for code, value in enumerate(column.values.to_pylist()) if value in values]
    flags = {column.values[code].as_py(): _flag(column, [code, *nobody_asked]) for code in codes}
    return {value: flag for value, flag in flags.items() if not flag.codes.all()}


def _flag(column: Coded, numbers: Sequence[int]) -> Coded:
    is_among = np.zeros(column.size, dtype=np.uint8)
    is_among[numbers] = 1
    return Coded(column.name, is_among[column.codes], _FALSE_AND_TRUE)


def _values_of_nobody_asked(column: Coded) -> Iterator[tuple[int, pa.Scalar]]:
    """The numbers and values of a column that say that nothing was asked."""
    if column not in _NOBODY_ASKED:
        is_such = find_not_asked_values(column.values).to_numpy(zero_copy_only=False)
        _NOBODY_ASKED[column] = np.flatnonzero(is_such).tolist()
    for number in _NOBODY_ASKED[column]:
        yield number, column.values[number]


def count_with_missing_cells(
    table: Table, quasi_identifiers: Sequence[str], column: str, person: str | None
) -> tuple[int, int]:
    """The smallest class by quasi-identifiers and what cells of a column say of nothing asked; who is alone by that."""
    *known, kept = encode(table, [*quasi_identifiers, column])
    sorts = np.zeros(kept.size, dtype=np.int64)
    for sort, (number, _) in enumerate(_values_of_nobody_asked(kept), start=1):
        sorts[number] = sort
    flag = Coded(kept.name, sorts[kept.codes], pa.array(np.arange(sorts.max(initial=0) + 1)))
    return count_classes(table, [*known, flag], np.ones(table.rows, dtype=bool), person)


def _patterns(flag: Coded, known: Sequence[Coded], coarse: Sequence[str], bits: Sequence[float]) -> Iterator[Pattern]:
    """Columns that disclose a flag: single ones, and a pair that discloses nearly all of it or pairs that add most."""
    alone = {one.name: find_pattern((one,), flag) for one in known}
    yield from (alone[name] for name in coarse if name in alone and alone[name].records)
    nearly_all = (columns for columns, _ in find_telling(flag, known, coarse, bits) if len(columns) > 1)
    first = next((columns for columns in nearly_all if not _is_told_anyway(columns, flag, coarse)), None)
    if first is not None:
        yield find_pattern(first, flag)
        return
    some = slice(None, None, -(-flag.codes.size // _ROWS))
    few, told = _part(flag, some), {name: _any(pattern.told)[some] for name, pattern in alone.items()}
    more = []
    for pair in itertools.combinations(known, 2):
        is_shared = pair[0].size * pair[1].size <= few.codes.size / ROWS_FOR_EACH
        if is_shared and any(one.name in coarse for one in pair):
            beyond = _any(find_pattern(tuple(_part(one, some) for one in pair), few).told)
            beyond &= ~(told[pair[0].name] | told[pair[1].name])
            more.append((np.count_nonzero(beyond), pair))
    more = sorted((one for one in more if one[0] >= _MORE), key=lambda one: -one[0])[:_PAIRS]
    yield from (find_pattern(pair, flag) for _, pair in more)


def _part(column: Coded, rows: slice) -> Coded:
    return Coded(column.name, column.codes[rows], column.values)


def _is_told_anyway(columns: Sequence[Coded], flag: Coded, coarse: Sequence[str]) -> bool:
    """True if columns tell a flag for no record for which those of them that are released as they were do not."""
    as_they_were = [one for one in columns if one.name not in coarse]
    return bool(as_they_were) and not (_tell_flag(columns, flag) & ~_tell_flag(as_they_were, flag)).any()


def _tell_flag(columns: Sequence[Coded], flag: Coded) -> NDArray[np.bool_]:
    """True for records whose flag most of the other records with the same values share."""
    groups = np.unique(join_codes(columns), return_inverse=True)[1]
    sizes, is_set = np.bincount(groups), np.bincount(groups, weights=flag.codes)
    same = np.where(flag.codes == 1, is_set[groups], (sizes - is_set)[groups])
    return np.asarray(2 * same - 1 > sizes[groups])


def _any(flags: tuple[_Flags, _Flags]) -> _Flags:
    return flags[0] | flags[1]


def find_pattern(columns: tuple[Coded, ...], flag: Coded, *, expected: float = _EXPECTED) -> Pattern:
    """Disclosure of a flag by columns: by all their values if that is nearly all of it, else by those beyond chance.

    `expected` is the share of the records of a value from which others of it are expected to be so too.
    """
    joint, is_set = join_codes(columns), np.asarray(flag.codes, dtype=np.float64)
    sizes, missing = np.bincount(joint).astype(np.float64), np.bincount(joint, weights=is_set).astype(np.float64)
    found, rate = _judge_groups(sizes, missing), float(is_set.mean())
    told, alike = list[_Flags](), list[_Flags]()
    for errors, of_chance in _errors(sizes, missing, rate):
        if found.tells_nearly_all:
            is_told = (errors <= np.maximum((1 - expected) * sizes, _FEW)) & (2 * errors < sizes)
        else:
            is_told = (errors <= min(1 - expected, OF_CHANCE * of_chance) * sizes) & (sizes > 1)
            chance = _chance(errors, sizes, of_chance)
            is_told &= chance <= _rarest(chance[is_told], int(np.count_nonzero(sizes)))
        told.append((is_told & (sizes > 1))[joint])
        alike.append(_are_alike(errors, sizes)[joint])
    is_rare = (sizes <= _RARE_VALUE)[joint]
    rare = is_rare, is_rare & (flag.codes == 1)
    return Pattern(columns, found, (told[0], told[1]), (alike[0], alike[1]), rare, rate)


def _errors(sizes: _Numbers, missing: _Numbers, rate: float) -> tuple[tuple[_Numbers, float], tuple[_Numbers, float]]:
    """The records that are not as expected, and their share of all, for cells that are expected filled and missing."""
    return (missing, rate), (sizes - missing, 1 - rate)


def _are_alike(errors: _Numbers, sizes: _Numbers) -> _Flags:
    """True where so few records differ from the others that they may have refused to answer."""
    return np.asarray(errors <= np.maximum((1 - _MOSTLY) * sizes, _FEW))


def _judge_groups(sizes: NDArray[np.float64], missing: NDArray[np.float64]) -> Determination:
    """Determination of which cells are missing by groups of these sizes and counts; see `determination`."""
    shared = sizes > 1
    sides = np.array([missing[shared], (sizes - missing)[shared]])
    records = float(sizes[shared].sum())
    if not records:
        return Determination(0, 0.0, 0.0)
    told = float(sides.max(axis=0)[np.abs(sides[0] - sides[1]) > 1].sum())
    return Determination(int(records), told / records, float(sides.sum(axis=1).max()) / records)


def _chance(errors: NDArray[np.float64], sizes: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """A bound (Chernoff's) on the chance of so few errors among so many records, where they are below the rate."""
    from scipy.special import rel_entr  # takes longer to import than this module

    share = errors / np.maximum(sizes, 1.0)
    bound: NDArray[np.float64] = np.exp(-sizes * (rel_entr(share, rate) + rel_entr(1 - share, 1 - rate)))
    return bound


def _rarest(chance: NDArray[np.float64], values: int) -> float:
    """The chance up to which values are told: so many are as rare as no chance explains, and hardly any by chance."""
    ordered = np.maximum(np.sort(chance), 1e-300)
    found, expected = np.arange(1, ordered.size + 1), values * ordered
    tail = found * (1 + np.log(expected / found)) - expected  # of Poisson's law, by Chernoff, where fewer are expected
    beyond = (expected <= _FALSELY_TOLD * found) & (tail < np.log(_UNLIKELY))
    return float(ordered[beyond].max(initial=0.0))


def find_behind(behind: LabelCoverage, pattern: Pattern) -> tuple[_Flags, ...] | None:
    """Flags of released records behind which people may be: told as filled, told as missing, and not alike.

    Of a rare value alone nobody knows whether those who have it refused, so all rare values behind a label are taken
    together. None where that takes too long to find out.
    """
    counts = behind.count(pattern.columns, [*pattern.told, *(~one for one in pattern.alike), pattern.rare[0]])
    if counts is None:
        return None
    *found, is_rare = counts > 0
    if not is_rare.any():
        return tuple(found)
    pooled = behind.count(pattern.columns, pattern.rare, same=False)
    if pooled is None:
        return None
    sizes, missing = pooled.astype(np.float64)
    for side, (errors, rate) in enumerate(_errors(sizes, missing, pattern.rate)):
        is_told = is_rare & (errors <= (1 - _EXPECTED) * sizes) & (sizes > 1)
        found[side] |= is_told & (pattern.found.tells_nearly_all | (_chance(errors, sizes, rate) <= _UNLIKELY))
        found[2 + side] |= is_rare & ~_are_alike(errors, sizes)
    return tuple(found)


def expect(found: tuple[_Flags, ...] | None, flag: Coded) -> tuple[Coded, _Flags]:
    """The flag as far as it tells somebody apart, and the records that have the one that is expected of somebody.

    Where all who may be behind a range are expected to have the same, the others in it are those who refused. Where it
    is not known who may be behind it, every record counts as expected.
    """
    if found is None:
        return flag, np.ones(flag.codes.size, dtype=bool)
    filled, missing, unlike_filled, unlike_missing = found
    is_set = np.where(filled & ~unlike_filled, 0, np.where(missing & ~unlike_missing, 1, flag.codes))
    return Coded(flag.name, is_set, flag.values), np.where(is_set == 1, missing, filled)
