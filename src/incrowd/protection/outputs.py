"""Output forms of protected columns: ranges and sets as text, two bounds, or one value of the column's own type."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy, covered_by_labels
from incrowd.protection.problem import TICKS, require_known
from incrowd.protection.protect_options import OutputKind
from incrowd.protection.recoding import find_kept, labels_of_codes
from incrowd.tables import Anything, Interval, Prefix, parse_generalised, read_table
from incrowd.tables.released_values import ANYTHING, as_days_if_whole, as_written, bounds_of, offset_of

OUTPUTS: tuple[OutputKind, ...] = get_args(OutputKind)
_RANGE = r"^\[(?P<low>[^;]+);(?P<high>[^;]+)[\])]$"


def read_outputs(
    given: str | Mapping[str, str] | None, columns: Sequence[Coded], hierarchies: Mapping[str, Hierarchy]
) -> dict[str, str]:
    """The output form by column. One form for all columns is applied to the columns that can have it."""
    if given is None:
        return {}
    kinds = dict.fromkeys((column.name for column in columns), given) if isinstance(given, str) else dict(given)
    by_name = {column.name: column for column in columns}
    require_known("an output", kinds, list(by_name))
    for name, kind in kinds.items():
        if kind not in OUTPUTS:
            raise InputError(f"there is no output {kind!r} for {name!r}; use {', '.join(OUTPUTS)}", hint="output")
    if isinstance(given, str):
        return {name: kind for name, kind in kinds.items() if not _objection(by_name[name], kind, hierarchies)}
    for name, kind in kinds.items():
        objection = _objection(by_name[name], kind, hierarchies)
        if objection:
            raise InputError(f"the output {kind!r} for {name!r}, which {objection}", hint="output")
    return kinds


def _objection(column: Coded, kind: str, hierarchies: Mapping[str, Hierarchy]) -> str:
    """The reason why a column cannot have an output form; empty if it can."""
    if kind in ("bounds", "midpoint", "mean") and not column.has_distances:
        return "holds categories: use range, mode or label"
    return "has no hierarchy: give one, or use range" if kind == "label" and column.name not in hierarchies else ""


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Converts the columns of a protected table to other output forms."""

    kinds: Mapping[str, str]  # the output form, by column
    columns: Sequence[Coded]  # the quasi-identifiers of the original
    hierarchies: Mapping[str, Hierarchy]  # the meaning of labels that are neither ranges nor sets, by column
    kept_rows: NDArray[np.int64] | None  # the original's rows that are released, None for all
    has_classes: bool  # whether every class has k records, so that a mean or mode of its members may be released

    def write(self, generalised: pa.Table) -> dict[str, Any]:
        """The columns in their output forms; equal cells stay equal, so that no class becomes smaller."""
        by_class = [name for name, kind in self.kinds.items() if kind in ("mean", "mode")]
        if by_class and not self.has_classes:
            raise InputError(
                f"the output {self.kinds[by_class[0]]!r} for {by_class[0]!r} tells about the members of a class, and "
                "this method promises no class of k; use range, bounds or midpoint",
                hint="output",
            )
        names = [column.name for column in self.columns]
        numbers = class_numbers(pack(encode(read_table(generalised), names)))[0] if by_class else None
        written: dict[str, Any] = {}
        for name in generalised.column_names:
            for output_name, values in self._write_column(name, generalised[name], numbers).items():
                if output_name in written or (output_name != name and output_name in generalised.column_names):
                    raise InputError(f"the limits of {name!r} need the name {output_name!r}, which another column has")
                written[output_name] = values
        return written

    def _write_column(self, name: str, cells: pa.ChunkedArray, numbers: NDArray[np.uint32] | None) -> dict[str, Any]:
        kind = self.kinds.get(name, "label")
        if kind == "label":
            return {name: cells}
        column = next(column for column in self.columns if column.name == name)
        if numbers is not None and kind in ("mean", "mode"):
            codes = column.codes if self.kept_rows is None else column.codes[self.kept_rows]
            summarise = class_means if kind == "mean" else _modes
            return {name: summarise(column, codes, numbers).take(pa.array(numbers))}
        is_recoded = pa.types.is_dictionary(cells.type) or pa.types.is_string(cells.type)
        hierarchy = self.hierarchies.get(name)
        covered = self._covered(column, hierarchy) if hierarchy is not None and is_recoded else {}
        encoded = pc.dictionary_encode(pa.concat_arrays((cells.cast(pa.string()) if is_recoded else cells).chunks))
        labels, indices = encoded.dictionary, encoded.indices
        if kind == "range":
            return {name: _as_ranges(column, labels, covered).take(indices) if covered else cells}
        low, high = _limits(column, labels, covered) if is_recoded else (labels, labels)
        if kind == "bounds":
            return dict(zip(bounds_of(name), (low.take(indices), high.take(indices)), strict=True))
        if not is_recoded:
            return {name: cells}
        first = offset_of(column)
        return {name: from_positions(column, (as_floats(low, first) + as_floats(high, first)) / 2).take(indices)}

    def _covered(self, column: Coded, hierarchy: Hierarchy) -> dict[str, NDArray[np.int64]]:
        """For every label of a hierarchy, the codes of its values in kept rows.

        Levels of open-ended ranges are left out, so that these ranges keep hiding the extreme values.
        """
        is_kept = find_kept(column, self.kept_rows)
        levels = [level for level in hierarchy.levels(column) if not level.open_ended]
        return covered_by_labels([level.without_lost_values(column, is_kept) for level in levels], is_kept)


def _as_ranges(column: Coded, labels: pa.Array, covered: Mapping[str, NDArray[np.int64]]) -> pa.Array:
    """Replace labels of a hierarchy by the range or set of the values they cover."""
    written = []
    for label in labels.to_pylist():
        codes = covered.get(label)
        if codes is None or label == ANYTHING or _is_written_range(label):
            written.append(label)
        else:
            written += labels_of_codes(column, codes, np.array([0]))
    return pa.array(written, pa.string())


def _is_written_range(label: str) -> bool:
    """True for a range of numbers or dates in the notation of this library."""
    return re.search(_RANGE, label) is not None and isinstance(parse_generalised(label), Interval)


def _limits(column: Coded, labels: pa.Array, covered: Mapping[str, NDArray[np.int64]]) -> tuple[pa.Array, pa.Array]:
    """The smallest and largest value of each label, in the column's own type; null for an open end."""
    kind = column.values.type
    parts = pc.extract_regex(labels, _RANGE)
    plain = pa.array([None if label in covered else label for label in labels.to_pylist()], pa.string())
    low, high = (_cast(pc.coalesce(pc.struct_field(parts, end), plain), kind).to_pylist() for end in ("low", "high"))
    for index, label in enumerate(labels.to_pylist()):
        meaning = None if low[index] is not None or label is None else parse_generalised(label)
        is_open = isinstance(meaning, Interval) and (meaning.low == -math.inf or meaning.high == math.inf)
        if low[index] is not None or label is None or isinstance(meaning, Anything) or is_open:
            continue
        if isinstance(meaning, Prefix) and meaning.start.isdigit():
            ends = _cast(pa.array([meaning.start + digit * meaning.hidden for digit in "09"]), kind)
        elif label in covered:
            ends = column.values.take(pa.array(covered[label][[0, -1]]))
        else:
            continue
        low[index], high[index] = ends.to_pylist()
    return pa.array(low, kind), pa.array(high, kind)


def _cast(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast text to a type; null where a text is not a value of the type."""
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    plain = pa.timestamp(kind.unit) if zone is not None else kind
    text = pc.replace_substring_regex(text, "Z$", "") if zone is not None else text
    try:
        values = text.cast(plain)
    except pa.ArrowInvalid:
        if len(text) == 1:
            return pa.nulls(1, kind)
        return pa.concat_arrays([_cast(text.slice(at, 1), kind) for at in range(len(text))])
    return values if zone is None else pc.assume_timezone(values, "UTC").cast(kind)


def positions_with_gaps(column: Coded) -> NDArray[np.float64]:
    """The position of every value, NaN for a null."""
    values = column.values.slice(0, column.filled_size)
    return np.append(as_floats(values, offset_of(column)), [np.nan] * column.has_null)


def class_means(column: Coded, codes: NDArray[np.unsignedinteger], numbers: NDArray[np.uint32]) -> pa.Array:
    """The mean of every class; null if a member has no value."""
    place = positions_with_gaps(column)
    sizes = np.bincount(numbers)
    means = np.bincount(numbers, weights=place[codes]) / sizes
    low, high = np.full(sizes.size, column.size), np.zeros(sizes.size, dtype=np.int64)
    np.minimum.at(low, numbers, codes)
    np.maximum.at(high, numbers, codes)
    return from_positions(column, np.where(low == high, place[low], means))  # no rounding of equal values


def _modes(column: Coded, codes: NDArray[np.unsignedinteger], numbers: NDArray[np.uint32]) -> pa.Array:
    """The mode of every class; of several modes the smallest."""
    pairs, counts = np.unique(numbers.astype(np.int64) * column.size + codes, return_counts=True)
    number, code = np.divmod(pairs, column.size)
    order = np.lexsort([code, -counts, number])
    first = order[run_starts(number[order])]
    values = column.values if column.has_distances else as_written(column.values)
    return values.take(pa.array(code[first]))


def from_positions(column: Coded, positions: NDArray[np.float64]) -> pa.Array:
    """Convert positions to values of the column's own type, rounded for whole numbers and days; NaN becomes null."""
    kind, first, missing = column.values.type, offset_of(column), np.isnan(positions)
    if pa.types.is_timestamp(kind) and pa.types.is_date(as_days_if_whole(column.values).type):
        day = 86_400 * TICKS[kind.unit]
        positions = np.rint((positions + first) / day) * day - first
    if pa.types.is_floating(kind):
        return pa.array(positions, pa.float64(), mask=missing).cast(kind)
    if pa.types.is_decimal(kind):
        unit = Decimal(1).scaleb(-kind.scale)
        return pa.array(
            [None if np.isnan(position) else Decimal(position).quantize(unit) for position in positions], kind
        )
    rounded = np.where(missing, 0.0, np.rint(positions)).tolist()
    whole = pa.array([int(position) + first for position in rounded], pa.int64() if first <= 2**62 else pa.uint64())
    whole = pc.if_else(pa.array(missing), pa.scalar(None, whole.type), whole)
    return (whole.cast(pa.int32()) if pa.types.is_date32(kind) else whole).cast(kind)


def parse_range(text: str | None) -> tuple[Any, Any]:
    """Read a cell of a protected column of numbers or dates as its smallest and its largest possible value.

    Args:
        text: the cell: a range, a prefix, a plain value, or `*`.

    Returns:
        Two numbers or two dates; None for an open end. Both are None if the cell is `*` or missing.

    Raises:
        InputError: the cell is a set or a word.

    >>> parse_range("[23;25]"), parse_range("937**"), parse_range("24"), parse_range("*")
    ((23, 25), (93700, 93799), (24, 24), (None, None))
    >>> parse_range("[85;*]"), parse_range("[*;18]")
    ((85, None), (None, 18))
    >>> parse_range("[2020-01-01;2020-03-31]")
    (datetime.date(2020, 1, 1), datetime.date(2020, 3, 31))
    """
    meaning = None if text is None else parse_generalised(text)
    if text is None or isinstance(meaning, Anything):
        return None, None
    if isinstance(meaning, Interval):
        low, high = (
            None if end in (-math.inf, math.inf) else _without_point(end) for end in (meaning.low, meaning.high)
        )
        return low, high
    if isinstance(meaning, Prefix) and meaning.start.isdigit():
        return int(meaning.start + "0" * meaning.hidden), int(meaning.start + "9" * meaning.hidden)
    for read in (float, date.fromisoformat):
        try:
            value = _without_point(read(text.strip()))
        except ValueError:
            continue
        return value, value
    raise InputError("a cell is neither a range of numbers or dates nor one of them; its column may hold categories")


def _without_point(value: Any) -> Any:
    """Convert a float that is a whole number to int; other values stay as they are."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
