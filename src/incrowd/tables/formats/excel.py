"""Excel and OpenDocument workbooks: one sheet, read whole."""

from __future__ import annotations

import re
import zipfile

import python_calamine

from incrowd._support.compressed_files import describe_zip
from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, choose_member, describe_others
from incrowd.tables.formats.limited_reading import load_limited, save_cells, too_large
from incrowd.tables.formats.python_cells import table_of_cells
from incrowd.tables.headers import check_header, join_header

_ROWS_SEEN = 1_000  # first rows that are examined to distinguish a header from a row of values
_BYTES_A_SECOND = 100_000  # slowest reading that is allowed
_LISTED = (".xlsx", ".ods")
_TEXTS = "xl/sharedStrings.xml"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
_TEXT_CELL = re.compile(rb"""\st=["']s["'][^>]*>\s*<(?:\w+:)?v>(\d+)""")
_CELLS = re.compile(  # the parts of a workbook with cells, their forms and the names of the file's writer
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/_rels/workbook\.xml\.rels|"
    r"xl/(workbook|styles|sharedStrings|calcChain|metadata)\.xml|xl/theme/theme\d+\.xml|"
    r"xl/worksheets/sheet\d+\.xml|mimetype|(content|styles|meta|settings)\.xml|META-INF/manifest\.xml|manifest\.rdf"
)
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
    unread = ["parts that are no cells, which cannot be listed in a workbook of this kind"]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            if sum(part.file_size for part in packed.infolist()) > most_bytes:
                raise too_large(name, most_bytes, _LARGE)
            if path.lower().endswith(_LISTED):
                unread = [*_describe_parts(packed), *describe_zip(path, packed)]
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
    return {"notes": notes, "not_counted": [*describe_others(sheets, wanted, "sheet"), *unread], "members": sheets}


def _describe_parts(packed: zipfile.ZipFile) -> list[str]:
    """Describe the parts of a workbook that are no cells, such as comments and pictures, and texts that no cell has."""
    names = [part.filename for part in packed.infolist() if not part.is_dir()]
    others = describe_others([name for name in names if not _CELLS.fullmatch(name)], "", "part")
    if _TEXTS in names:
        sheets = [packed.read(name) for name in names if _SHEET.fullmatch(name)]
        used = {int(cell[1]) for sheet in sheets for cell in _TEXT_CELL.finditer(sheet)}
        if len(_TEXT.findall(packed.read(_TEXTS))) > len(used):
            others.append("texts that no cell has")
    return others


FORMAT = FileFormat(
    description="Excel and OpenDocument files",
    extensions=(".xlsx", ".xls", ".xlsb", ".ods"),
    open=open_excel,
    options=("sheet", "header_rows"),
    zipped=(".xlsx", ".xlsb", ".ods"),
)
