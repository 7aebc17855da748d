"""Hierarchies of a single column, by a rule, groups of values or a file, and their effect on its rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.backends import Coded, encode
from incrowd.errors import InputError
from incrowd.figures.column_spread import most_common
from incrowd.protection import Hierarchy
from incrowd.protection.hierarchies import Level
from incrowd.tables.released_values import as_text
from incrowd.web import column_models as models
from incrowd.web.cells import cell_text
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.protect_task import read_hierarchy

_MAX_VALUES = 20_000  # of a hierarchy by rows
_MAX_LISTED = 200  # parts of a level, and values, that a response lists
Rows = list[list[str]]


def view_hierarchy(table: OpenTable, question: models.HierarchyQuestion) -> models.HierarchyView:
    """A hierarchy of a column and the rows at each level; labels and values only with `show`.

    Raises:
        InputError: the column does not exist, or the hierarchy does not fit it or is given in two ways.
    """
    if sum(given is not None for given in (question.hierarchy, question.groups, question.text)) > 1:
        raise InputError("a hierarchy is given once: by a rule or rows, by groups, or as a text")
    table.check_names([question.column])
    (column,) = encode(table.table, [question.column])
    given = _hierarchy_of(question, column)
    levels = _levels_without(column) if given is None else read_hierarchy(given).levels(column)
    tally = column.tally
    filled = column.filled_size
    common = most_common(tally[:filled], _MAX_LISTED)
    first = levels[min(1, len(levels) - 1)]
    text = as_text(column.values.take(common)).to_pylist() if question.show else [None] * common.size
    values = [
        models.GroupedValue(
            value=value, label=_label(first, int(first.groups[code]), question.show), rows=int(tally[code])
        )
        for code, value in zip(common.tolist(), text, strict=True)
    ]
    return models.HierarchyView(
        column=question.column,
        hierarchy=given,
        levels=[_describe(level, tally, question.show) for level in levels[1:-1]],
        values=values,
        other_values=filled - common.size,
        other_rows=int(tally[:filled].sum() - tally[common].sum()),
        groups=_groups(column, first) if question.show and isinstance(given, list) else [],
        csv=arx_text(_all_rows(column, levels)) if question.csv and given is not None else None,
        masked=not question.show,
    )


def _levels_without(column: Coded) -> list[Level]:
    """The levels of a column without a hierarchy: its values twice, with no coarser level between."""
    values = Level.of(as_text(column.values).to_pylist())
    return [values, values]


def _hierarchy_of(question: models.HierarchyQuestion, column: Coded) -> str | Rows | None:
    """The hierarchy of a request in the form that a protection takes: a rule, or rows."""
    if question.groups is not None:
        return _rows_of_groups(question, column)
    return _read_arx(question.text) if question.text is not None else question.hierarchy


def _rows_of_groups(question: models.HierarchyQuestion, column: Coded) -> Rows:
    """Every value of the column with the name of its group; values in no group get the label `rest`, or their own."""
    names: dict[str, str] = {}
    for group in question.groups or ():
        repeated = sum(value in names for value in group.values)
        if repeated:
            raise InputError(f"{repeated:,} values are in two groups; put each into one")
        names |= dict.fromkeys(group.values, group.name)
    values = [value for value in as_text(column.values).to_pylist() if value is not None]
    if len(values) > _MAX_VALUES:
        raise InputError(f"{len(values):,} different values; groups are for up to {_MAX_VALUES:,}: use a rule")
    unknown = len({*names} - {*values})
    if unknown:
        raise InputError(f"{unknown:,} grouped values are none of {column.name!r}; look at its values again")
    return [[value, names.get(value) or question.rest or value] for value in values]


def _read_arx(text: str) -> Rows:
    """The rows of a file in ARX's layout; the separator is the semicolon, tab or comma of its first line."""
    plain = text.removeprefix("\ufeff")
    first = plain.partition("\n")[0]
    separator = next((one for one in ";\t," if one in first), ";")
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(plain), delimiter=separator) if row]
    except csv.Error:
        raise InputError("the hierarchy is no CSV file; it needs a value and its labels on each line") from None
    if len(rows) > _MAX_VALUES or any(len(row) > 20 for row in rows):
        raise InputError(f"a hierarchy of {len(rows):,} values; {_MAX_VALUES:,} values of 20 labels are the most")
    Hierarchy.from_rows(rows)
    return rows


def _describe(level: Level, tally: Any, show: bool) -> models.HierarchyLevel:
    """A level with its parts, ordered by the first value of each; the null is a part of its own."""
    rows = level.tally(tally)
    parts = [models.LevelPart(label=_label(level, group, show), rows=int(rows[group])) for group in range(rows.size)]
    return models.HierarchyLevel(parts=rows.size, smallest=int(rows[rows > 0].min()), first=parts[:_MAX_LISTED])


def _groups(column: Coded, level: Level) -> list[models.LabelledValues]:
    """The values whose label is not the value itself, by label."""
    by_label: dict[str, list[str]] = {}
    for code, value in enumerate(as_text(column.values).to_pylist()):
        label = str(level.labels[level.groups[code]])
        if value is not None and label != value:
            by_label.setdefault(label, []).append(value)
    return [models.LabelledValues(name=label, values=values) for label, values in by_label.items()]


def _label(level: Level, group: int, show: bool) -> str | None:
    return cell_text(level.labels[group]) if show else None


def _all_rows(column: Coded, levels: Sequence[Level]) -> Iterable[list[str]]:
    """Every value with its label at each level; the last label is `*`."""
    for code, value in enumerate(as_text(column.values).to_pylist()):
        if value is not None:
            yield [value, *(str(level.labels[level.groups[code]]) for level in levels[1:])]


def arx_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows of a hierarchy in ARX's layout: a value, then its label at each coarser level.

    >>> arx_text([["A", "north", "*"]])
    'A;north;*\\n'
    """
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()
