"""Excel workbooks and JSON lines: small enough to be read whole."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from incrowd.backends.base import refuse_repeated
from incrowd.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def read_excel(path: str, sheet: str | int) -> pa.Table:
    """One sheet of a workbook; its first row names the columns."""
    import python_calamine

    name = os.path.basename(path)
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
    except (python_calamine.CalamineError, OSError):
        raise InputError(f"{name} is not a workbook that can be read; it may be damaged or need a password") from None
    sheets = book.sheet_names
    if isinstance(sheet, int) and 0 <= sheet < len(sheets):
        sheet = sheets[sheet]
    if sheet not in sheets:
        raise InputError(f"{name} has no sheet {sheet!r}; it has: {', '.join(sheets)}")
    rows = book.get_sheet_by_name(str(sheet)).to_python(skip_empty_area=True)
    if not rows:
        raise InputError(f"{name}: sheet {sheet!r} is empty")
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    return _table_of(header, [list(column) for column in zip(*rows[1:], strict=True)] or [[] for _ in header], name)


def read_json_lines(path: str) -> pa.Table:
    """One JSON object a line (or one array of objects); a key that is missing is a null."""
    name = os.path.basename(path)
    with open(path, encoding="utf-8-sig") as file:
        try:
            records = list(_objects(file, name))
        except UnicodeDecodeError:
            raise InputError(f"{name} is not UTF-8, which JSON must be") from None
    header = list(dict.fromkeys(key for record in records for key in record))
    if not header:
        raise InputError(f"{name} has no objects with keys; write one JSON object a line")
    return _table_of(header, [[record.get(key) for record in records] for key in header], name)


def _objects(file: Any, name: str) -> Any:
    """The objects of the file, in order; a bad line is an error that says which."""
    for number, text in enumerate(file, 1):
        if not text.strip():
            continue
        if number == 1 and text.lstrip().startswith("["):
            yield from _whole(text + file.read(), name)
            return
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{name}: line {number} is not JSON; write one object a line") from None
        if not isinstance(record, dict):
            raise InputError(f"{name}: line {number} is not a JSON object; write one object a line")
        yield record


def _whole(text: str, name: str) -> list[dict[str, Any]]:
    """An array of objects."""
    try:
        records = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is neither JSON lines nor one JSON array") from None
    if not all(isinstance(record, dict) for record in records):
        raise InputError(f"{name}: an array must hold objects only")
    return list(records)


def _table_of(header: list[str], columns: list[list[Any]], name: str) -> pa.Table:
    """Columns of cells as Arrow; a blank cell is a null, mixed types become text."""
    import pyarrow as pa

    if "" in header:
        raise InputError(f"{name}: column {header.index('') + 1} has no name in the header")
    refuse_repeated(header, name)
    try:
        return pa.table({key: _column_of(cells) for key, cells in zip(header, columns, strict=True)})
    except UnicodeEncodeError:
        raise InputError(f"{name} holds half a character (a lone surrogate); mend it") from None


def _column_of(cells: list[Any]) -> pa.Array:
    """One type for all cells if there is one, whole numbers where all are whole, else text."""
    import pyarrow as pa

    cells = [None if cell == "" else cell for cell in cells]
    if any(isinstance(cell, float) for cell in cells) and all(
        cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool) and float(cell).is_integer())
        for cell in cells
    ):
        cells = [None if cell is None else int(cell) for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            kinds = {object}
    return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string())


def _as_text(cell: Any) -> str:
    return json.dumps(cell, sort_keys=True, ensure_ascii=False) if isinstance(cell, dict | list) else str(cell)
