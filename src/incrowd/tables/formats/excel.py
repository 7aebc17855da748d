"""Excel and OpenDocument workbooks: one sheet, read whole."""

from __future__ import annotations

import zipfile

import python_calamine

from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, choose_member, describe_others
from incrowd.tables.formats.limited_reading import load_limited, save_cells, too_large
from incrowd.tables.formats.python_cells import table_of_cells
from incrowd.tables.headers import check_header, join_header

_ROWS_SEEN = 1_000  # first rows that are examined to distinguish a header from a row of values
_BYTES_A_SECOND = 100_000  # slowest reading that is allowed
_UNREADABLE = "{name} is not a workbook that can be read; it may be damaged or need a password"
_LARGE = (
    "a workbook is read whole, and one stray cell far from the others makes a sheet large; delete the cells outside "
    "the table, save it as CSV or Parquet, or give more memory"
)


def open_excel(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read one sheet: the first, unless another is named. Its first row names the columns.

    A child process with limited memory reads it, because one stray cell in the last row of a sheet needs hundreds of
    GB.
    """
    rows, metadata = load_limited(
        copy_sheet,
        *(paths[0], name, options.sheet, options.memory, options.header_rows or 1),
        paths=paths,
        name=name,
        options=options,
        bytes_a_second=_BYTES_A_SECOND,
        unreadable=_UNREADABLE.format(name=name),
        advice=_LARGE,
    )
    return FileContents(rows, metadata["notes"], not_counted=metadata["not_counted"], members=metadata["members"])


def copy_sheet(
    path: str, name: str, sheet: str | int | None, most_bytes: int, header_rows: int, file: str
) -> dict[str, list[str]]:
    """Write one sheet as an Arrow file; return notes and the other sheets. Runs in a process that may crash."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            if sum(part.file_size for part in packed.infolist()) > most_bytes:
                raise too_large(name, most_bytes, _LARGE)
    try:
        book = python_calamine.CalamineWorkbook.from_path(path)
        sheets = book.sheet_names
        wanted = choose_member(sheets, 0 if sheet is None else sheet, name, "sheet")
        rows = book.get_sheet_by_name(wanted).to_python(skip_empty_area=True)
    except (python_calamine.CalamineError, OSError):
        raise InputError(_UNREADABLE.format(name=name)) from None
    if len(rows) < header_rows:
        raise InputError(f"{name}: sheet {wanted!r} is empty", hint="sheet")
    top = [["" if cell is None else str(cell).strip() for cell in row] for row in rows[:_ROWS_SEEN]]
    header = join_header(top[:header_rows])
    check_header(header, top[header_rows:], name)
    columns = [list(column) for column in zip(*rows[header_rows:], strict=True)] or [[] for _ in header]
    save_cells(table_of_cells(header, columns, name), file)
    notes = []
    if sheet is None and len(sheets) > 1:
        others = ", ".join(one for one in sheets if one != wanted)
        notes.append(f"the workbook has {len(sheets):,} sheets; {wanted!r} was read, not: {others}")
    return {"notes": notes, "not_counted": describe_others(sheets, wanted, "sheet"), "members": sheets}


FORMAT = FileFormat(
    description="Excel and OpenDocument files",
    extensions=(".xlsx", ".xls", ".xlsb", ".ods"),
    open=open_excel,
    options=("sheet", "header_rows"),
    zipped=(".xlsx", ".xlsb", ".ods"),
)
