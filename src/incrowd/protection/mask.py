"""Masking in steps, as in the HIPAA-style sequence of the paper's Table S3; only records that stand out change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy, Level, prefix_labels
from incrowd.protection.intervals import Labels, ValueLabels, equal_parts
from incrowd.protection.method_options import MaskOptions
from incrowd.protection.problem import Problem, is_number
from incrowd.protection.recoding import ANYTHING, Recoding, as_text, as_written, find_kept

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
    """Apply the steps in order, each to the records still in a class smaller than k; then drop those still left."""
    options: MaskOptions = problem.options
    steps, limits = options.steps, {**(options.top or {}), **(options.bottom or {})}
    if not steps and not limits:
        raise InputError("masking needs steps such as [('age', 'ranges=20'), ('sex', '*')], or limits in top or bottom")
    names = [column.name for column in problem.columns]
    unknown = sorted({name for name in [*(step[0] for step in steps), *limits] if name not in names})
    if unknown:
        raise InputError(f"steps for {', '.join(map(repr, unknown))}, not a quasi-identifier")
    current = [_within_limits(problem, column) for column in problem.columns]
    made: list[list[Labels]] = [[] for _ in names]
    for done, (name, action) in enumerate(steps):
        problem.progress("masking", done / len(steps))
        small = _in_small_classes(current, problem.demand.k)
        if not small.any():
            break
        index = names.index(name)
        made[index].append(_labels(problem.columns[index], action))
        current[index] = _masked(current[index], made[index][-1], problem, index, small)
    return _result(problem, current, made)


def _in_small_classes(columns: list[Coded], k: int) -> NDArray[np.bool_]:
    numbers, sizes = class_numbers(pack(columns))
    small: NDArray[np.bool_] = sizes[numbers] < k
    return small


def _within_limits(problem: Problem, column: Coded) -> Coded:
    """Top and bottom coding: values from a limit on become one range, as ages from 85 become [85;97]."""
    labels = pa.array(_limit_labels(problem, column, np.ones(column.size, dtype=np.bool_)), pa.string())
    return column if labels.equals(as_text(column.values)) else _renumbered(column, labels)


def _limit_labels(problem: Problem, column: Coded, is_kept: NDArray[np.bool_]) -> Labels:
    """The label of every value; the ranges beyond the limits end at the outermost values that a kept row has."""
    text: Labels = as_text(column.values).to_pylist()
    top = (problem.options.top or {}).get(column.name)
    bottom = (problem.options.bottom or {}).get(column.name)
    filled = column.size - column.has_null
    kept = np.flatnonzero(is_kept[:filled])
    if (top is None and bottom is None) or not kept.size:
        return text
    if not is_number(column) or pa.types.is_temporal(column.values.type):
        raise InputError(f"limits for {column.name!r}, which holds no numbers")
    if top is not None and bottom is not None and not bottom < top:
        raise InputError(f"the bottom limit for {column.name!r} is not below its top limit; change one of them")
    above = filled if top is None else _first_at_least(column, top, filled)
    below = 0 if bottom is None else _first_at_least(column, bottom, filled)
    if bottom is not None and below < filled and column.values[below].as_py() == bottom:
        below += 1
    smallest, largest = text[kept[0]], text[kept[-1]]
    if kept[-1] >= above and largest != _write_limit(column, top):
        text[above:filled] = [f"[{_write_limit(column, top)};{largest}]"] * (filled - above)
    if kept[0] < below and smallest != _write_limit(column, bottom):
        text[:below] = [f"[{smallest};{_write_limit(column, bottom)}]"] * below
    return text


def _first_at_least(column: Coded, limit: float, filled: int) -> int:
    """Position where the column's ascending values reach a limit."""
    beyond = pc.greater_equal(column.values.slice(0, filled), _to_column_type(column, limit)[0])
    return filled - int(pc.sum(beyond).as_py() or 0)


def _write_limit(column: Coded, limit: Any) -> str:
    """A limit as the column's values are written."""
    return str(as_text(_to_column_type(column, limit))[0].as_py())


def _to_column_type(column: Coded, limit: Any) -> pa.Array:
    """A limit as an array of one number of the column's type."""
    try:
        return pa.array([limit], column.values.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise InputError(f"a limit for {column.name!r} is not a number of its type ({column.values.type})") from None


def _renumbered(column: Coded, labels: Any) -> Coded:
    """The column with new values, equal ones joined."""
    encoded = labels.dictionary_encode(null_encoding="encode")
    groups = encoded.indices.to_numpy(zero_copy_only=False).astype(np.uint32)
    return Coded(column.name, groups[column.codes], encoded.dictionary)


def _labels(column: Coded, action: Any) -> Labels:
    """The label that a step gives to every original value."""
    if isinstance(action, Hierarchy):
        level = action.levels(column)[1]
        labels = [level.labels[group] for group in level.groups]
        return ValueLabels(labels) if level.from_values else labels
    if isinstance(action, Mapping):
        text, plain = as_text(column.values).to_pylist(), as_written(column.values).to_pylist()
        return [action.get(value, written) for value, written in zip(text, plain, strict=True)]
    kind, number = parse_action(column.name, str(action))
    if kind == "ranges":
        return equal_parts(column, number)
    return prefix_labels(column, number) if kind == "keep" else [ANYTHING] * column.size


def parse_action(column: str, action: str) -> tuple[Literal["*", "ranges", "keep"], int]:
    """What a step of masking does to a column, from text, and its number (0 where it has none)."""
    kind, _, number = action.partition("=")
    if kind in {"*", "suppress"} and not number:
        return "*", 0
    if kind not in {"ranges", "keep"} or not (number.isascii() and number.isdecimal()):
        raise InputError(f"a step {action!r} for {column!r}; use '*', 'ranges=20' or 'keep=3'")
    return ("ranges" if kind == "ranges" else "keep"), int(number)


def _masked(now: Coded, labels: Labels, problem: Problem, index: int, small: NDArray[np.bool_]) -> Coded:
    """The column with the step's label for some records, and what it was for the others."""
    original = problem.columns[index]
    entries = as_written(now.values) if now is original else as_text(now.values)
    table: dict[str | None, int] = {value: code for code, value in enumerate(entries.to_pylist())}
    renamed = np.array([table.setdefault(label, len(table)) for label in labels], dtype=np.uint32)
    codes = np.where(small, renamed[original.codes], now.codes).astype(np.uint32)
    return Coded(now.name, codes, pa.array(list(table), pa.string()))


def _without_lost_values(
    problem: Problem, column: Coded, now: Coded, made: list[Labels], kept_rows: NDArray[np.int64]
) -> tuple[Coded, frozenset[str | None]]:
    """The column with labels made only of values that a kept row has, and the labels that values did not make."""
    is_kept = find_kept(column, kept_rows)
    all_kept = np.ones_like(is_kept)
    limits = _limit_labels(problem, column, is_kept)
    before, after = [_limit_labels(problem, column, all_kept)], [limits]
    for labels in made:
        if isinstance(labels, ValueLabels):
            level = Level.of(labels).without_lost_values(column, is_kept)
            before.append(labels)
            after.append([level.labels[group] for group in level.groups])
    renamed: dict[str | None, str | None] = {}
    for old, new in zip(before, after, strict=True):
        renamed |= {old[code]: new[code] for code in np.flatnonzero(is_kept).tolist() if old[code] != new[code]}
    fixed = frozenset(label for labels in [limits, *made] if not isinstance(labels, ValueLabels) for label in labels)
    if not renamed:
        return now, fixed
    shown = [renamed.get(label, label) for label in as_text(now.values).to_pylist()]
    return _renumbered(now, pa.array(shown, pa.string())), fixed


def _result(problem: Problem, current: list[Coded], made: list[list[Labels]]) -> Recoding:
    columns: dict[str, pa.Array] = {}
    fixed: dict[str, frozenset[str | None]] = {}
    changed: dict[str, int] = {}
    left = _in_small_classes(current, problem.demand.k)
    drop = problem.options.drop and bool(problem.options.steps)
    stays = ~left if drop else np.ones_like(left)
    kept_rows = np.flatnonzero(stays) if left.any() and drop else None
    for before, now, labels in zip(problem.columns, current, made, strict=True):
        after = now
        if kept_rows is not None and now is not before:
            after, fixed[now.name] = _without_lost_values(problem, before, now, labels, kept_rows)
        changed[after.name] = 0
        if after is before:
            continue
        old: list[str | None] = as_written(before.values).to_pylist()
        place = {value: code for code, value in enumerate(as_text(after.values).to_pylist())}
        same = np.array([place.get(value, -1) for value in old])[before.codes]
        differs = same != after.codes
        changed[after.name] = int(np.count_nonzero(differs & stays))
        if differs.any():
            columns[after.name] = after.values.take(pa.array(after.codes.astype(np.int64)))
    return Recoding(columns, changed, kept_rows, promises_k=drop or not left.any(), fixed_labels=fixed)
