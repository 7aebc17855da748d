"""Recoded columns: the result of every method, and the text form of classes and values in cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.problem import Problem
from incrowd.tables import Choice, parse_generalised
from incrowd.tables.released_values import ANYTHING, as_text, as_written, quote_members

if TYPE_CHECKING:
    from incrowd.protection.hierarchies import Level


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """Result of a method: changed columns, their numbers of changed cells in kept rows, and the kept rows (None: all).

    `promises_k` is False if k is counted but not required. `bound` is the t that S4 promises. `notes` and `settings` go
    into the result of `protect`.
    `fixed_labels` are, by column, labels that were not made from its values: those of a user or of a fixed grid.
    `perturbed` are the columns in which a record may have another record's value or a random one.
    """

    columns: dict[str, pa.Array]
    changed: dict[str, int]
    kept_rows: NDArray[np.int64] | None = None
    promises_k: bool = True
    bound: float | None = None
    notes: tuple[str, ...] = ()
    fixed_labels: dict[str, frozenset[str | None]] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)
    perturbed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Records listed class by class, and where each class ends in that list."""

    order: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def by_class(cls, class_of: NDArray[np.integer[Any]]) -> Grouping:
        """The records of every class, ascending; classes in the order of their numbers.

        >>> [members.tolist() for members in Grouping.by_class(np.array([7, 2, 7])).members]
        [[1], [0, 2]]
        """
        order = np.argsort(class_of, kind="stable")
        numbers = class_of[order]
        return cls(order, np.flatnonzero(np.append(numbers[1:] != numbers[:-1], True)[: order.size]) + 1)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each class."""
        return np.diff(self.ends, prepend=0)

    @property
    def members(self) -> list[NDArray[np.int64]]:
        """The records of each class."""
        return np.split(self.order, self.ends[:-1])

    def take(self, classes: NDArray[np.int64]) -> Grouping:
        """Some of the classes, in the order given."""
        sizes = self.sizes[classes]
        ends = np.cumsum(sizes)
        return Grouping(self.order[np.repeat(self.ends[classes] - ends, sizes) + np.arange(sizes.sum())], ends)

    @classmethod
    def chain(cls, parts: Iterable[Grouping]) -> Grouping:
        """The classes of every part, one part after the other."""
        orders, sizes = zip(*((part.order, part.sizes) for part in parts), strict=True)
        return cls(np.concatenate(orders), np.cumsum(np.concatenate(sizes)))

    def numbers(self, rows: int) -> NDArray[np.uint32]:
        """The class number of every record; records in no class get an arbitrary number."""
        numbers = np.zeros(rows, dtype=np.uint32)
        numbers[self.order] = np.repeat(np.arange(self.ends.size, dtype=np.uint32), self.sizes)
        return numbers


def generalise_classes(problem: Problem, grouping: Grouping) -> Recoding:
    """Give all records of a class one cell: the range, set or label of its members, or their value if all are equal."""
    numbers, sizes = grouping.numbers(problem.rows), grouping.sizes
    columns: dict[str, pa.Array] = {}
    changed: dict[str, int] = {}
    fixed: dict[str, frozenset[str | None]] = {}
    for done, column in enumerate(problem.columns):
        problem.progress("writing ranges and sets", done / len(problem.columns))
        hierarchy = problem.hierarchies.get(column.name)
        levels = hierarchy.levels(column) if hierarchy is not None else []
        fixed[column.name] = frozenset(label for level in levels if not level.from_values for label in level.labels)
        labels, entries, differ = class_labels(column, grouping, levels)
        changed[column.name] = int(sizes[differ].sum())
        if changed[column.name]:
            columns[column.name] = as_dictionary(labels[numbers], entries)
    return Recoding(columns, changed, fixed_labels=fixed)


def class_labels(
    column: Coded, grouping: Grouping, levels: Sequence[Level]
) -> tuple[NDArray[np.int32], pa.Array, NDArray[np.bool_]]:
    """The label index of every class, the labels, and a boolean mask of classes whose members differ."""
    from incrowd.protection import kernels_classes

    low, high = class_limits(column.codes, grouping)
    differ = low != high
    if levels:
        return (*_ancestors(column, grouping, levels), differ)
    if column.has_distances:
        pairs, labels = np.unique(low.astype(np.uint64) * np.uint64(column.size) + high, return_inverse=True)
        low, high = np.divmod(pairs, np.uint64(column.size))
        return labels.astype(np.int32), interval_labels(column, low.astype(np.int64), high.astype(np.int64)), differ
    flat = np.empty(grouping.order.size, dtype=column.codes.dtype)
    offsets = np.empty(grouping.ends.size + 1, dtype=np.int32)
    kernels_classes.class_sets(column.codes, grouping.order, grouping.ends, flat, offsets)
    encoded = set_labels(column, flat[: offsets[-1]], offsets).dictionary_encode()
    return _indices(encoded), encoded.dictionary, differ


def class_limits(codes: NDArray[np.unsignedinteger], grouping: Grouping) -> tuple[NDArray[Any], NDArray[Any]]:
    """The smallest and largest code in every class."""
    members, starts = codes[grouping.order], grouping.ends - grouping.sizes
    return np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts)


def _ancestors(column: Coded, grouping: Grouping, levels: Sequence[Level]) -> tuple[NDArray[np.int32], pa.Array]:
    """The label index of every class, at the finest level where its members share a label; and the labels."""
    labels = np.full(grouping.ends.size, -1, dtype=np.int64)
    entries: dict[str | None, int] = {}
    is_kept = find_kept(column, grouping.order)
    for level in levels:  # at the last level, all share *
        low, high = class_limits(level.groups[column.codes], grouping)
        is_shared = (low == high) & (labels < 0)
        shown = level.without_lost_values(column, is_kept).labels
        index_of = np.array([entries.setdefault(label, len(entries)) for label in shown])
        labels[is_shared] = index_of[low[is_shared]]
    return labels.astype(np.int32), pa.array(list(entries), pa.string())


def interval_labels(column: Coded, low: NDArray[np.int64], high: NDArray[np.int64]) -> pa.Array:
    """The range [24;28] of every pair of codes; the plain value if they are equal, * if only one is a null."""
    text = as_text(column.values)
    first, last = text.take(pa.array(low)), text.take(pa.array(high))
    ranges = pc.binary_join_element_wise("[", first, ";", last, "]", "")
    mixed = pa.array((low != high) & (high == column.size - 1)) if column.has_null else pa.scalar(False)
    return pc.if_else(pa.array(low == high), first, pc.if_else(mixed, pa.scalar(ANYTHING), ranges))


def set_labels(column: Coded, flat: NDArray[np.unsignedinteger], offsets: NDArray[np.int32]) -> pa.Array:
    """The set {a,b} of every list of codes; the plain value of a single code. A null is an empty member."""
    text = as_written(column.values)
    members = quote_members(as_text(column.values)).fill_null("").take(pa.array(flat.astype(np.int64)))
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), members), ",")
    sets = pc.binary_join_element_wise("{", joined, "}", "")
    alone = text.take(pa.array(flat[np.minimum(offsets[:-1], flat.size - 1)].astype(np.int64)))
    return pc.if_else(pa.array(np.diff(offsets) == 1), alone, sets)


def labels_of_codes(column: Coded, codes: NDArray[np.int64], starts: NDArray[np.int64]) -> list[str | None]:
    """The range or set of every list of ascending codes; `codes` holds all lists, and `starts` where each begins."""
    ends = np.append(starts[1:], codes.size)
    if column.has_distances:
        labels = interval_labels(column, codes[starts], codes[ends - 1])
    else:
        labels = set_labels(column, codes.astype(np.uint64), np.append(starts, codes.size).astype(np.int32))
    return list(labels.to_pylist())


def values_in_label(label: str | None) -> frozenset[str | None]:
    """Values that a label names: the members of a set, or the ends of a range.

    >>> sorted(values_in_label("{a,b}")), sorted(values_in_label("[3;7]")), sorted(values_in_label("93*"))
    (['a', 'b'], ['3', '7'], [])
    """
    if label is not None and label.startswith("[") and label.endswith("]") and label.count(";") == 1:
        return frozenset(label[1:-1].split(";"))
    meaning = None if label is None else parse_generalised(label)
    return meaning.values if isinstance(meaning, Choice) else frozenset()


def find_kept(column: Coded, kept_rows: NDArray[np.int64] | None) -> NDArray[np.bool_]:
    """Boolean mask of the values of a column that occur in kept rows."""
    if kept_rows is None:
        return np.ones(column.size, dtype=np.bool_)
    return np.bincount(column.codes[kept_rows], minlength=column.size) > 0


def format_set(members: Sequence[str]) -> str:
    """Write a set of members that `quote_members` has quoted."""
    return "{" + ",".join(members) + "}"


def escape_unchanged(column: Coded) -> pa.Array | None:
    """Escape the values of an unchanged column that look like ranges or sets; None if there are none."""
    written = as_written(column.values)
    if written.equals(as_text(column.values)):
        return None
    return as_dictionary(column.codes.astype(np.int32), written)


def as_nominal(column: Coded) -> Coded:
    """The column as text, so that its numbers are categories: written as sets, never as ranges."""
    text = as_text(column.values)
    filled = column.filled_size
    order = np.append(np.argsort(np.array(text.slice(0, filled).to_pylist(), dtype=object)), [filled] * column.has_null)
    new_code = np.empty(column.size, dtype=column.codes.dtype)
    new_code[order.astype(np.int64)] = np.arange(column.size)
    return Coded(column.name, new_code[column.codes], text.take(pa.array(order.astype(np.int64))))


def recode_values(column: Coded, labels: pa.Array, kept_rows: NDArray[np.int64] | None = None) -> tuple[pa.Array, int]:
    """The column with a new label for every value, and the number of changed cells in kept rows."""
    encoded = labels.dictionary_encode()
    own_index = pc.index_in(as_written(column.values), value_set=encoded.dictionary)
    is_unchanged = pc.fill_null(pc.equal(encoded.indices, own_index), False).to_numpy(zero_copy_only=False)
    if column.has_null:
        is_unchanged[-1] = not labels[-1].is_valid
    tally = np.bincount(column.codes if kept_rows is None else column.codes[kept_rows], minlength=column.size)
    return as_dictionary(_indices(encoded)[column.codes], encoded.dictionary), int(tally[~is_unchanged].sum())


def _indices(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    """The dictionary index of each label; for a null, the index after the last entry."""
    indices: NDArray[np.int32] = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return indices


def as_dictionary(indices: NDArray[np.int32], entries: pa.Array) -> pa.Array:
    """A dictionary-encoded text column with distinct entries; an index beyond them, or of a null entry, is a null."""
    encoded = entries.dictionary_encode()
    distinct = encoded.dictionary
    renumbered = np.append(_indices(encoded), len(distinct)).astype(np.int32)
    codes = renumbered[np.minimum(indices, len(entries))]
    missing = codes >= len(distinct)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing if missing.any() else None), distinct)


def recode_columns(
    problem: Problem, label: Callable[[Coded], pa.Array | None], kept_rows: NDArray[np.int64] | None = None
) -> Recoding:
    """Recode every column by a label for each of its values; a column with None as labels does not change."""
    columns: dict[str, pa.Array] = {}
    changed = {column.name: 0 for column in problem.columns}
    for done, column in enumerate(problem.columns):
        problem.progress("recoding columns", done / len(problem.columns))
        labels = label(column)
        if labels is not None:
            recoded, cells = recode_values(column, labels, kept_rows)
            changed[column.name] = cells
            if cells:
                columns[column.name] = recoded
    return Recoding(columns, changed, kept_rows=kept_rows)
