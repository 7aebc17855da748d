"""Masking in steps, as in the HIPAA-style sequence of the paper's Table S3; only records in small classes change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy, Level, prefix_labels
from incrowd.protection.interval_labels import Labels, ValueLabels, equal_parts
from incrowd.protection.problem import Problem, require_known
from incrowd.protection.recoding import Recoding, as_dictionary, find_kept
from incrowd.tables.released_values import ANYTHING, as_text, as_written

# Table S3, for the columns of the demo table
HIPAA_STEPS = (
    ("age_yrs", "ranges=20"),
    ("ethncty", "*"),
    ("race", "*"),
    ("sex", "*"),
    ("age_yrs", "ranges=5"),
    ("age_yrs", "*"),
    ("adm_qtr", "*"),
    ("patzip", "keep=3"),
    ("patcnty", "*"),
    ("patzip", "*"),
)


def mask(problem: Problem) -> Recoding:
    """Apply the steps in order, each to the records in classes smaller than k; then drop the records still in them."""
    options, steps = problem.options, problem.options.steps or ()
    limits = {**(options.top or {}), **(options.bottom or {})}
    if not steps and not limits:
        raise InputError(
            "masking needs steps, such as ranges of ages, or limits of top or bottom coding", hint="step=age:ranges=20"
        )
    names = [column.name for column in problem.columns]
    require_known("steps", [*(step[0] for step in steps), *limits], names)
    current = [_within_limits(problem, column) for column in problem.columns]
    labels_by_column: list[list[Labels]] = [[] for _ in names]
    for step_number, (name, action) in enumerate(steps):
        problem.progress("masking", step_number / len(steps))
        in_small = _in_small_classes(current, problem.demand.k)
        if not in_small.any():
            break
        index = names.index(name)
        column = problem.columns[index]
        limits_of_column, labels = _Limits.of(problem, column), _labels(column, action)
        labels_by_column[index].append(labels if limits_of_column is None else limits_of_column.open_ends(labels))
        current[index] = _masked(current[index], labels_by_column[index][-1], problem, index, in_small)
    return _result(problem, current, labels_by_column)


def _in_small_classes(columns: list[Coded], k: int) -> NDArray[np.bool_]:
    numbers, sizes = class_numbers(pack(columns))
    small: NDArray[np.bool_] = sizes[numbers] < k
    return small


def _within_limits(problem: Problem, column: Coded) -> Coded:
    """Top and bottom coding: values beyond a limit become one open range, such as [85;*] for ages from 85."""
    limits = _Limits.of(problem, column)
    if limits is None:
        return column
    text: Labels = as_text(column.values).to_pylist()
    labels = limits.open_ends(text)
    return column if labels == text else _renumbered(column, pa.array(labels, pa.string()))


@dataclass(frozen=True, slots=True)
class _Limits:
    """The limits of top and bottom coding of one column, as text; None for no limit."""

    top: str | None
    bottom: str | None

    @classmethod
    def of(cls, problem: Problem, column: Coded) -> _Limits | None:
        """The limits that were asked for; None if the column has none."""
        top, bottom = ((limits or {}).get(column.name) for limits in (problem.options.top, problem.options.bottom))
        if top is None and bottom is None:
            return None
        if not column.has_distances or pa.types.is_temporal(column.values.type):
            raise InputError(f"limits for {column.name!r}, which holds no numbers")
        if top is not None and bottom is not None and not bottom < top:
            raise InputError(f"the bottom limit for {column.name!r} is not below its top limit; change one of them")
        return cls(*(None if limit is None else _write_limit(column, limit) for limit in (top, bottom)))

    def open_ends(self, labels: Labels) -> Labels:
        """Labels in which values and ranges that reach a limit have an open end, so that they hide extreme values."""
        opened = {label: self._open(label) for label in dict.fromkeys(labels)}
        return type(labels)(opened[label] for label in labels)

    def _open(self, label: str | None) -> str | None:
        ends = None if label is None else _ends_of(label)
        if ends is None:
            return label
        low, high = ends
        above = self.top is not None and Decimal(high) >= Decimal(self.top)
        below = self.bottom is not None and Decimal(low) <= Decimal(self.bottom)
        above, below = above or (below and Decimal(high).is_infinite()), below or (above and Decimal(low).is_infinite())
        if above and below:
            return ANYTHING
        if above and self.top is not None:
            return f"[{min(low, self.top, key=Decimal)};{ANYTHING}]"
        if below and self.bottom is not None:
            return f"[{ANYTHING};{max(high, self.bottom, key=Decimal)}]"
        return label


def _ends_of(label: str) -> tuple[str, str] | None:
    """Both ends of a label of numbers: a number, a range, or a number with hidden last digits; None for other labels.

    The open end of a range is infinite.
    """
    if label[:1] == "[":
        first, _, last = label[1:-1].partition(";")
        ends = ["-Infinity" if first == ANYTHING else first, "Infinity" if last == ANYTHING else last]
    else:
        ends = [label.replace("*", digit) for digit in "09"]
    try:
        low, high = sorted(ends, key=Decimal)
    except (ValueError, InvalidOperation):  # a set or another text
        return None
    return None if set(label) == {"*"} else (low, high)


def _write_limit(column: Coded, limit: Any) -> str:
    """A limit in the text form of the column's values."""
    try:
        return str(as_text(pa.array([limit], column.values.type))[0].as_py())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise InputError(f"a limit for {column.name!r} is not a number of its type ({column.values.type})") from None


def _renumbered(column: Coded, labels: Any) -> Coded:
    """The column with a new label for each value; equal labels get the same code."""
    encoded = labels.dictionary_encode(null_encoding="encode")
    groups = encoded.indices.to_numpy(zero_copy_only=False).astype(np.uint32)
    return Coded(column.name, groups[column.codes], encoded.dictionary)


def _labels(column: Coded, action: Any) -> Labels:
    """The label that a step gives to every original value."""
    if isinstance(action, Hierarchy):
        return action.levels(column)[1].by_value()
    if isinstance(action, Mapping):
        text, plain = as_text(column.values).to_pylist(), as_written(column.values).to_pylist()
        return [action.get(value, written) for value, written in zip(text, plain, strict=True)]
    kind, number = parse_action(column.name, str(action))
    if kind == "ranges":
        return equal_parts(column, number)
    return prefix_labels(column, number) if kind == "keep" else [ANYTHING] * column.size


def parse_action(column: str, action: str) -> tuple[Literal["*", "ranges", "keep"], int]:
    """Parse a step of masking into its action and the number of the action (0 if it has none)."""
    kind, _, number = action.partition("=")
    if kind in {"*", "suppress"} and not number:
        return "*", 0
    if kind not in {"ranges", "keep"} or not (number.isascii() and number.isdecimal() and len(number) <= 20):
        raise InputError(f"a step {action!r} for {column!r}; use '*', 'ranges=20' or 'keep=3'")
    return ("ranges" if kind == "ranges" else "keep"), int(number)


def _masked(now: Coded, labels: Labels, problem: Problem, index: int, in_small: NDArray[np.bool_]) -> Coded:
    """The column with the step's labels for records in small classes, and its current values for the others."""
    original = problem.columns[index]
    entries = as_written(now.values) if now is original else as_text(now.values)
    code_of: dict[str | None, int] = {value: code for code, value in enumerate(entries.to_pylist())}
    new_codes = np.array([code_of.setdefault(label, len(code_of)) for label in labels], dtype=np.uint32)
    codes = np.where(in_small, new_codes[original.codes], now.codes).astype(np.uint32)
    return Coded(now.name, codes, pa.array(list(code_of), pa.string()))


def _without_lost_values(
    problem: Problem, column: Coded, now: Coded, step_labels: list[Labels], kept_rows: NDArray[np.int64]
) -> tuple[Coded, frozenset[str | None]]:
    """The column with labels rebuilt from the values of kept rows only, and its fixed labels (not made from values)."""
    is_kept, limits = find_kept(column, kept_rows), _Limits.of(problem, column)
    fixed = {label for labels in step_labels if not isinstance(labels, ValueLabels) for label in labels}
    if limits is not None:
        text: Labels = as_text(column.values).to_pylist()
        fixed |= {*limits.open_ends(text)} - {*text}
    new_label: dict[str | None, str | None] = {}
    for old in step_labels:
        if isinstance(old, ValueLabels):
            level = Level.of(old).without_lost_values(column, is_kept)
            new = level.by_value() if limits is None else limits.open_ends(level.by_value())
            new_label |= {old[code]: new[code] for code in np.flatnonzero(is_kept).tolist() if old[code] != new[code]}
    if not new_label:
        return now, frozenset(fixed)
    shown = [new_label.get(label, label) for label in as_text(now.values).to_pylist()]
    return _renumbered(now, pa.array(shown, pa.string())), frozenset(fixed)


def _result(problem: Problem, current: list[Coded], labels_by_column: list[list[Labels]]) -> Recoding:
    """Drop the records that are still in small classes, if asked for, and collect the changed columns."""
    columns: dict[str, pa.Array] = {}
    fixed: dict[str, frozenset[str | None]] = {}
    changed: dict[str, int] = {}
    in_small = _in_small_classes(current, problem.demand.k)
    drop = problem.options.drop and bool(problem.options.steps)
    is_kept = ~in_small if drop else np.ones_like(in_small)
    kept_rows = np.flatnonzero(is_kept) if in_small.any() and drop else None
    for before, now, labels in zip(problem.columns, current, labels_by_column, strict=True):
        after = now
        if kept_rows is not None and now is not before:
            after, fixed[now.name] = _without_lost_values(problem, before, now, labels, kept_rows)
        changed[after.name] = 0
        if after is before:
            continue
        old: list[str | None] = as_written(before.values).to_pylist()
        code_of = {value: code for code, value in enumerate(as_text(after.values).to_pylist())}
        old_codes = np.array([code_of.get(value, -1) for value in old])[before.codes]
        differs = old_codes != after.codes
        changed[after.name] = int(np.count_nonzero(differs & is_kept))
        if differs.any():
            columns[after.name] = as_dictionary(after.codes.astype(np.int32), as_text(after.values))
    return Recoding(columns, changed, kept_rows, promises_k=drop or not in_small.any(), fixed_labels=fixed)
