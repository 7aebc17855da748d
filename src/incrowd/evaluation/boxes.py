"""The box rule: a record of generalised values is unique if some point of its box lies in no other record's box.

This is the worst case (maths.md, section 4, after Sánchez et al.): the true value in a range is assumed to be one that
no other record's range covers. Records with equal boxes are never unique, so only boxes of single records are searched.

For a masked table without its original, the domain of a column consists of the values in its labels, and of limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.errors import InputError
from incrowd.evaluation.labels import LabelMeanings, read_meanings
from incrowd.tables import TableLike, parse_generalised, read_table
from incrowd.tables.generalised import split_prefixes, split_ranges, split_sets
from incrowd.tables.released_values import as_text

_MOST_OTHERS = 512  # other boxes that are compared with one box
_MOST_STEPS = 2_000  # pieces into which a box is divided before the search gives up
_MOST_COMPARED = 1 << 30  # comparisons of boxes and groups of boxes before the search gives up: about a minute
_AT_ONCE = 1024  # boxes that are compared between two reports of progress


@dataclass(frozen=True, slots=True)
class Uniques:
    """Records that are unique by the box rule. `undecided` ones count as unique: their search was cut short."""

    unique: int
    undecided: int


class _Atoms(NamedTuple):
    """The labels of a column as sets of atoms: from `low` to `high`, or as bits of `sets` if they are not consecutive.

    An atom is a value, or a range of numbers, that no label divides.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sets: list[int] | None
    atoms: int


def unique_records(
    meanings: Sequence[LabelMeanings], progress: Progress = silent, most_compared: int = _MOST_COMPARED
) -> Uniques:
    """Count the records that are unique by the box rule.

    Args:
        meanings: every quasi-identifier of the protected table, as `read_meanings` reads it.
        progress: callback that receives the current step and the share done.
        most_compared: how many boxes and groups of boxes are compared before the rest is left undecided.

    Returns:
        The number of unique records, and how many of them are undecided.
    """
    columns = [Coded("", meaning.codes, meaning.covered) for meaning in meanings]
    numbers, sizes = class_numbers(pack(columns))
    if not np.any(sizes == 1):
        return Uniques(0, 0)
    atoms = [(_atoms_of_numbers if meaning.original.has_distances else _atoms_of_text)(meaning) for meaning in meanings]
    if all(_are_disjoint(column, meaning) for column, meaning in zip(atoms, meanings, strict=True)):
        return Uniques(int(np.count_nonzero(sizes == 1)), 0)
    first = first_places(numbers)
    boxes = np.stack([meaning.codes[first] for meaning in meanings], axis=1).astype(np.int64)
    return _search(boxes, np.flatnonzero(sizes == 1), atoms, progress, most_compared)


def _search(
    boxes: NDArray[np.int64], singles: NDArray[np.int64], atoms: list[_Atoms], progress: Progress, most_compared: int
) -> Uniques:
    """Screen the boxes of single records, and search those that several other boxes cover in part."""
    from incrowd.evaluation import kernels

    packed = _packed(atoms)
    order = np.arange(len(boxes))
    tree = kernels.build_tree(boxes, packed.low, packed.high, order)
    shared = (boxes, packed.low, packed.high, packed.bits, packed.words, packed.offset, order, *tree)
    met, compared, screened = np.empty(singles.size, dtype=np.int64), 0, 0
    while screened < singles.size and compared < most_compared:
        progress("comparing records", screened / singles.size / 2)
        part = slice(screened, screened + _AT_ONCE)
        compared += kernels.screen(singles[part], *shared, met[part], 1)
        screened = min(part.stop, singles.size)
    undecided = singles.size - screened
    unique = int(np.count_nonzero(met[:screened] == 0)) + undecided
    others_found = np.empty(_MOST_OTHERS, dtype=np.int64)
    partly = singles[:screened][met[:screened] > 0]
    for done, box in enumerate(partly.tolist()):
        if done % 256 == 0:
            progress("looking for unique records", (1 + done / partly.size) / 2)
        if compared >= most_compared:
            return Uniques(unique + partly.size - done, undecided + partly.size - done)
        filled, looked_at = kernels.find_others(box, *shared, others_found)
        compared += looked_at
        if filled <= _MOST_OTHERS and kernels.reaches_a_free_point(box, others_found[:filled], *shared[:6]):
            unique += 1
            continue
        others = [_as_sets(boxes[other], atoms) for other in others_found[: min(filled, _MOST_OTHERS)].tolist()]
        steps = [_MOST_STEPS]
        if _has_uncovered_point(*_within_box(_as_sets(boxes[box], atoms), others), steps):
            unique += 1
            undecided += filled > _MOST_OTHERS or steps[0] <= 0
    return Uniques(unique, undecided)


def _within_box(box: tuple[int, ...], others: list[tuple[int, ...]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The box and its intersections with the others, without duplicates; columns with one atom are left out."""
    wide = [column for column, mine in enumerate(box) if mine & (mine - 1)]
    pieces = {tuple(box[column] & other[column] for column in wide): None for other in others}
    return tuple(box[column] for column in wide), list(pieces)


def _has_uncovered_point(box: tuple[int, ...], others: list[tuple[int, ...]], steps: list[int]) -> bool:
    """True if some point of a box is in no other box: subtract one of them, and search the pieces recursively."""
    steps[0] -= 1
    others = [other for other in others if all(a & b for a, b in zip(box, other, strict=True))]
    if not others or steps[0] <= 0:
        return True
    other = max(others, key=lambda one: sum((a & b).bit_count() / a.bit_count() for a, b in zip(box, one, strict=True)))
    piece = list(box)
    for column, (mine, theirs) in enumerate(zip(box, other, strict=True)):
        rest = mine & ~theirs
        if rest:
            piece[column] = rest
            if _has_uncovered_point(tuple(piece), others, steps):
                return True
        piece[column] = mine & theirs
    return False


def _as_sets(box: NDArray[np.int64], atoms: list[_Atoms]) -> tuple[int, ...]:
    """A box as one set of atoms per column, each as the bits of a whole number."""
    return tuple(_set_of(column, label) for column, label in zip(atoms, box.tolist(), strict=True))


def _set_of(column: _Atoms, label: int) -> int:
    if column.sets is not None:
        return column.sets[label]
    low, high = int(column.low[label]), int(column.high[label])
    return (1 << (high + 1)) - (1 << low)


def _atoms_of_numbers(meaning: LabelMeanings) -> _Atoms:
    """Atoms of a numeric column: every limit of a label, and the gap between two limits if it can hold a value."""
    kind, cover = meaning.original.values.type, meaning.cover
    whole = pa.types.is_integer(kind) or pa.types.is_date32(kind)
    null = meaning.original.filled_size if meaning.original.has_null else -1
    top = meaning.place[meaning.original.filled_size - 1]
    low, high = meaning.low, np.where(meaning.wildcard, top, meaning.high)
    is_null = meaning.is_null
    listed = np.flatnonzero(cover.is_list & (cover.counts > 1)).tolist()
    members = {label: cover.values_of(label) for label in listed}
    inner = [meaning.place[codes[codes != null]] for codes in members.values()]
    limits = np.unique(np.concatenate([[top], low[~is_null], high[~is_null], *inner]))
    gaps = np.diff(limits) > (1 if whole else 0)
    number = np.arange(limits.size) + np.concatenate([[0], np.cumsum(gaps)])
    count = int(number[-1]) + 1 + (null >= 0)
    # the position of a null is beyond all limits; its atom is set below
    first, last = (number[np.minimum(np.searchsorted(limits, end), limits.size - 1)] for end in (low, high))
    # an excluded end is not covered: the label ends with the gap beside it if there is one, else with the next limit
    last = np.where(cover.excludes_high & (last > first), last - 1, last)
    first = np.where(cover.excludes_low & (last > first), first + 1, first)
    first[is_null] = last[is_null] = count - 1
    # a wildcard covers the domain and the null; their atoms are consecutive unless a label goes beyond the domain
    apart = null >= 0 and bool(limits[-1] > top)
    if null >= 0 and not apart:
        last[meaning.wildcard] = count - 1
    if not listed and not (apart and meaning.wildcard.any()):
        return _Atoms(first, last, None, count)
    sets = [(1 << (int(b) + 1)) - (1 << int(a)) for a, b in zip(first, last, strict=True)]
    for label, codes in members.items():
        atoms = np.where(codes == null, count - 1, number[np.searchsorted(limits[:-1], meaning.place[codes])])
        sets[label] = sum(1 << atom for atom in atoms.tolist())
        first[label], last[label] = atoms.min(), atoms.max()
    if apart:
        for label in np.flatnonzero(meaning.wildcard).tolist():
            sets[label] |= 1 << (count - 1)
            last[label] = count - 1
    return _Atoms(first, last, sets, count)


def _atoms_of_text(meaning: LabelMeanings) -> _Atoms:
    """Atoms of a text column: every value of the original, and values with a prefix that the original does not have."""
    cover, values = meaning.cover, meaning.original.size
    places, *parts = meaning.prefixes
    patterns = list(zip(*parts, strict=True))
    distinct = sorted({*patterns})
    count = values + len(distinct)
    sets = [sum(1 << code for code in cover.values_of(label).tolist()) for label in range(cover.low.size)]
    for label in np.flatnonzero(meaning.wildcard).tolist():
        sets[label] = (1 << count) - 1
    for label, (start, hidden) in zip(places.tolist(), patterns, strict=True):
        for index, (other_start, other_hidden) in enumerate(distinct):
            if other_start.startswith(start) and len(other_start) + other_hidden == len(start) + hidden:
                sets[label] |= 1 << (values + index)
    low = np.array([(bits & -bits).bit_length() - 1 for bits in sets], dtype=np.int64)
    high = np.array([bits.bit_length() - 1 for bits in sets], dtype=np.int64)
    return _Atoms(low, high, sets, count)


def _are_disjoint(column: _Atoms, meaning: LabelMeanings) -> bool:
    """True if no two labels of a column share an atom: boxes are then equal or disjoint."""
    used = np.unique(meaning.codes)
    if column.sets is None:
        order = used[np.argsort(column.low[used])]
        return bool(np.all(column.low[order][1:] > column.high[order][:-1]))
    together, total = 0, 0
    for label in used.tolist():
        together |= column.sets[label]
        total += column.sets[label].bit_count()
    return together.bit_count() == total


class _Packed(NamedTuple):
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    words: NDArray[np.int64]
    offset: NDArray[np.int64]


def _packed(atoms: list[_Atoms]) -> _Packed:
    """The labels of all columns in plain arrays for the compiled search."""
    labels = max(column.low.size for column in atoms)
    low, high = np.zeros((len(atoms), labels), dtype=np.int64), np.zeros((len(atoms), labels), dtype=np.int64)
    words, offset = np.zeros(len(atoms), dtype=np.int64), np.zeros(len(atoms), dtype=np.int64)
    bits: list[NDArray[np.uint64]] = []
    for index, column in enumerate(atoms):
        low[index, : column.low.size], high[index, : column.high.size] = column.low, column.high
        if column.sets is not None:
            words[index] = (column.atoms + 63) // 64
            offset[index] = sum(part.size for part in bits)
            raw = b"".join(one.to_bytes(int(words[index]) * 8, "little") for one in column.sets)
            bits.append(np.frombuffer(raw, dtype=np.uint64))
    return _Packed(low, high, np.concatenate(bits) if bits else np.zeros(1, dtype=np.uint64), words, offset)


def count_fitting_uniques(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    domains: Mapping[str, tuple[float, float]] | None = None,
    progress: Progress = silent,
) -> Uniques:
    """Count the records of a masked table that are unique by the fit rule (proper-anonymization paper, eq. 1).

    Ranges, sets, prefixes and wildcards represent all values that they cover. A record is unique if one of its possible
    values fits no other record. A wildcard covers what is seen in its column: every value, and every end of a range.

    Args:
        data: the masked table: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that an attacker may know.
        domains: the smallest and the largest value that a column of numbers can have; its wildcards cover these too.
        progress: callback that receives the current step and the share done.

    Returns:
        The number of unique records, and how many of them are undecided.

    Raises:
        InputError: a column is missing, or a domain is that of no column of numbers.

    >>> ages = {"age": ["*", "[30;40]"]}
    >>> count_fitting_uniques(ages, quasi_identifiers=["age"], domains={"age": (0, 85)}).unique
    1
    >>> count_fitting_uniques({"age": ["26", "[24;28]", "24", "[25;27]", "28"]}, quasi_identifiers=["age"]).unique
    0
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    limits = domains or {}
    for name in limits:
        if name not in names:
            raise InputError(f"a domain of {name!r}, which is no quasi-identifier here")
    columns = encode(table, names)
    return unique_records(
        [read_meanings(_domain(column, limits.get(column.name)), column) for column in columns], progress
    )


def generalised_columns(data: TableLike, names: Sequence[str]) -> list[str]:
    """The columns that hold a range, a set, a prefix or a wildcard.

    Args:
        data: the masked table.
        names: the columns to look at.

    >>> generalised_columns({"age": ["26", "[24;28]"], "sex": ["f", "m"]}, ["age", "sex"])
    ['age']
    """
    return [column.name for column in encode(read_table(data), names) if any(map(parse_generalised, _labels(column)))]


def _labels(column: Coded) -> list[str]:
    return [text for text in as_text(column.values).to_pylist() if text is not None]


def _domain(column: Coded, limits: tuple[float, float] | None = None) -> Coded:
    """The values that a column's labels name (plain ones, ends of ranges and prefixes, members of sets), and limits."""
    if limits is not None and not limits[0] <= limits[1]:
        raise InputError(f"the domain of {column.name!r} must have its smallest value first")
    labels = pa.array(_labels(column), pa.string())
    trimmed = pc.utf8_trim_whitespace(labels)
    ranges, prefixes, sets = split_ranges(trimmed), split_prefixes(trimmed), split_sets(trimmed)
    is_any = pc.match_substring_regex(trimmed, r"^\*+$").to_numpy(zero_copy_only=False)
    is_range = np.isin(np.arange(len(labels)), ranges.places)
    generalised = np.concatenate([prefixes.places, sets.places, np.flatnonzero(is_any)])
    is_plain = np.isin(np.arange(len(labels)), generalised, invert=True)
    begun = zip(prefixes.starts, prefixes.hidden, strict=True)
    ends = [start + digit * hidden for start, hidden in begun for digit in "09"]
    named = pa.concat_arrays([pa.array(sets.texts, pa.string()).drop_null(), pa.array(ends, pa.string())])
    quantities = [labels.filter(pa.array(is_plain & ~is_range)), ranges.low.drop_null(), ranges.high.drop_null()]
    if limits is not None:
        quantities.append(pa.array([f"{limit:.17g}" for limit in limits], pa.string()))
    values = _as_quantities(pa.concat_arrays([named, *quantities]))
    if values is None and limits is not None:
        raise InputError(f"a domain of {column.name!r}, whose labels are no numbers; leave it out")
    if values is None:
        values = pa.concat_arrays([named, labels.filter(pa.array(is_plain))])
    if column.has_null:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    (domain,) = encode(read_table(pa.table({column.name: values if len(values) else ["*"]})), [column.name])
    return domain


def _as_quantities(texts: pa.Array) -> pa.Array | None:
    """All texts as whole numbers, as fractions, as dates or as moments; None if they are something else."""
    for kind in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")):
        with suppress(pa.ArrowInvalid):
            values = texts.cast(kind)
            is_whole = pa.types.is_floating(kind) and pc.all(pc.equal(values, pc.round(values))).as_py()
            return values.cast(pa.int64()) if is_whole else values
    return None
