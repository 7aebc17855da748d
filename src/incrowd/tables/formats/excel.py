"""Excel and OpenDocument workbooks: one sheet, read whole."""

from __future__ import annotations

import python_calamine

from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, choose_member
from incrowd.tables.formats.python_cells import table_of_cells
from incrowd.tables.headers import check_header

_ROWS_SEEN = 1_000  # to tell a header from a row of values


def open_excel(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read one sheet, the first unless another is named; its first row names the columns."""
    try:
        book = python_calamine.CalamineWorkbook.from_path(paths[0])
        sheets = book.sheet_names
        sheet = choose_member(sheets, 0 if options.sheet is None else options.sheet, name, "sheet")
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
    except (python_calamine.CalamineError, OSError):
        raise InputError(f"{name} is not a workbook that can be read; it may be damaged or need a password") from None
    if not rows:
        raise InputError(f"{name}: sheet {sheet!r} is empty", hint="sheet")
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    below = [["" if cell is None else str(cell).strip() for cell in row] for row in rows[1:_ROWS_SEEN]]
    check_header(header, below, name)
    columns = [list(column) for column in zip(*rows[1:], strict=True)] or [[] for _ in header]
    notes = []
    if options.sheet is None and len(sheets) > 1:
        others = ", ".join(one for one in sheets if one != sheet)
        notes.append(f"the workbook has {len(sheets):,} sheets; {sheet!r} was read, not: {others}")
    return FileContents(table_of_cells(header, columns, name), notes)


FORMAT = FileFormat(
    description="workbooks (.xlsx, .xls, .xlsb, .ods)",
    extensions=(".xlsx", ".xls", ".xlsb", ".ods"),
    open=open_excel,
    options=("sheet",),
)
