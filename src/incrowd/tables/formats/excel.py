"""Excel and OpenDocument workbooks: one sheet, read whole."""

from __future__ import annotations

import python_calamine

from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.python_cells import table_of_cells


def open_excel(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read one sheet, the first unless another is named; its first row names the columns."""
    try:
        book = python_calamine.CalamineWorkbook.from_path(paths[0])
    except (python_calamine.CalamineError, OSError):
        raise InputError(f"{name} is not a workbook that can be read; it may be damaged or need a password") from None
    sheet = 0 if options.sheet is None else options.sheet
    sheets = book.sheet_names
    if isinstance(sheet, int) and 0 <= sheet < len(sheets):
        sheet = sheets[sheet]
    if sheet not in sheets:
        raise InputError(f"{name} has no sheet {sheet!r}; it has: {', '.join(sheets)}", hint="sheet")
    rows = book.get_sheet_by_name(str(sheet)).to_python(skip_empty_area=True)
    if not rows:
        raise InputError(f"{name}: sheet {sheet!r} is empty", hint="sheet")
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    columns = [list(column) for column in zip(*rows[1:], strict=True)] or [[] for _ in header]
    return FileContents(table_of_cells(header, columns, name))


FORMAT = FileFormat(
    description="workbooks (.xlsx, .xls, .xlsb, .ods)",
    extensions=(".xlsx", ".xls", ".xlsb", ".ods"),
    open=open_excel,
    options=("sheet",),
)
