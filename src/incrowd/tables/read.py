"""Opening a table from a file, a frame, a mapping of columns or a database."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd._support.addresses import DATABASES, masked, scheme_of
from incrowd._support.compressed_files import ZIP
from incrowd._support.files import file_state
from incrowd._support.memory import memory_in_bytes
from incrowd.backends.arrow_columns import as_text
from incrowd.backends.base import ArrowRows
from incrowd.backends.engines import Engine, choose_engine, open_frame
from incrowd.backends.scales import Scale, check_scales, parse_scale
from incrowd.backends.sql import sqlite
from incrowd.backends.sql.database import open_database
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats import ENDINGS, FORMATS, ReadOptions, fixed_width, format_of, parquet, takes_option
from incrowd.tables.formats.file_format import describe_others
from incrowd.tables.infer_types import DATE_ORDERS, TypeInference, infer_type
from incrowd.tables.missing_codes import MissingCodes, add_counts, find_merged, note_unused
from incrowd.tables.reshape import reshape
from incrowd.tables.sources import STANDARD_INPUT, STORES, WEB, Files, describe_folder, fetch, find_files
from incrowd.tables.table import Table
from incrowd.wording import listed

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

_MERGED = "perhaps several codes for a missing value, which were counted as one value"

TableLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | IntoFrame | Table"


def read_table(
    source: TableLike,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    null: str | Sequence[str] | Mapping[str, Any] | None = None,
    skip_bad_lines: bool = False,
    sheet: str | int | None = None,
    layout: str | os.PathLike[str] | None = None,
    header_rows: int | None = None,
    dates: str | None = None,
    scales: Mapping[str, str | Scale] | str | None = None,
    explode: str | None = None,
    serial_dates: str | Sequence[str] | None = None,
    fold: bool = False,
    allow_network: bool = False,
    memory: str | int | None = None,
    table: str | None = None,
    query: str | None = None,
    timeout: float | None = None,
    engine: str | None = None,
    master: str | None = None,
    most_columns: int | None = None,
) -> Table:
    """Open a table: a file, a frame that the caller holds, a mapping of columns or a table of a database.

    Files of every kind in `incrowd.tables.formats.FORMATS` are read, such as CSV, Parquet, Excel, SPSS or Stata. A
    folder or a pattern of files of one kind is one table; a file may be compressed (.gz, .bz2, .xz, .zst or .zip), and
    `-` is standard input. Types are kept: `00501` stays text. An empty cell is a null, and a null is a value. Value
    labels are shown in place of codes, and missing codes are nulls. A frame is not copied.

    Databases are `postgresql://host/name` and SQLite (`sqlite:///path`, or the path of a .db or .sqlite file). Give a
    password in the environment (PGPASSWORD, PGSERVICE) or in ~/.pgpass. What needs only counts is counted there.

    Args:
        source: a path or address, a pandas, Polars, Arrow, DuckDB or Spark frame, a mapping of columns, or a `Table`.
        separator: the character between the cells of a CSV file; found by reading the file's beginning.
        encoding: the encoding of a text file; UTF-8, UTF-16 with its mark, or else a Western one.
        null: texts or codes that stand for a missing value, besides the empty cell: "NA,-9" or ["NA", "-9"]; in single
            columns, where a code may be a range: {"age": [-9, "97-99"]}, or "NA;age=-9,97-99" for both.
        skip_bad_lines: whether lines of a CSV file that do not fit its header are left out instead of refused.
        sheet: which table of a file that holds several, by name or number: the sheet of a workbook (otherwise the
            first), the member of a .zip file, the object of an R file.
        layout: the layout of a fixed-width file: a CSV file with name,start,end or name,start,width.
        header_rows: number of header rows of a CSV file or a sheet, if there are several.
        dates: "day-first" or "month-first": the order of dates such as 05/06/2020 in a text file, if no day is above 12
        scales: by column, whether it is nominal, ordered, numeric, a date or a place: {"race": "nominal"}, or
            "race=nominal,pain=low<middle<high". Otherwise the file's own statement, or the type.
        explode: a column of lists, records or maps that becomes a row for each item; the column `record` numbers the
            rows they come from.
        serial_dates: columns of whole numbers that are Excel's dates: "born,admitted" or ["born", "admitted"].
        fold: whether texts that differ only in case, blanks or Unicode form are one value.
        allow_network: whether an address (https://, s3://, gs://, abfs://) may be fetched.
        memory: the limit that work on the table keeps to, such as "2GB"; three quarters of the machine's memory.
        table: the table or view of a database.
        query: the query of a database that gives the rows, in place of `table`.
        timeout: how many seconds a statement of a database may take.
        engine: "duckdb", this machine and its disk (the default), or "spark": Parquet is then read by the cluster at
            `master`, where every worker must see it; other files and frames are read here and sent there. A Spark
            frame stays in its cluster by itself.
        master: the address of a Spark cluster, "local[*]" or "spark://host:7077".
        most_columns: refuse a CSV file with more columns by its header, before it is read.

    Returns:
        The table; values are read when they are needed.

    Raises:
        InputError: if there is no such source, it cannot be read, or an option does not apply to it.

    >>> read_table({"age": [30, 41], "zip": ["00501", "02139"]}).columns
    ('age', 'zip')
    """
    if isinstance(source, Table):
        return source
    options = ReadOptions(
        memory_in_bytes(memory),
        most_columns,
        separator,
        encoding,
        str(MissingCodes.parse(null)) or None,
        skip_bad_lines,
        sheet,
        None if layout is None else os.fspath(layout),
        header_rows,
        dates,
    )
    if header_rows is not None and header_rows < 1:
        raise InputError(f"a header of {header_rows} rows; give 1 or more", hint="header_rows")
    if dates is not None and dates not in DATE_ORDERS:
        raise InputError(f"dates are {' or '.join(DATE_ORDERS)}; another order was given", hint="dates")
    serial = serial_dates.split(",") if isinstance(serial_dates, str) else serial_dates or ()
    changes: dict[str, Any] = {"explode": explode, "serial_dates": [name.strip() for name in serial], "fold": fold}
    stated = read_scales(scales)
    _refuse_options_of_other_formats(source, options)
    chosen = choose_engine(engine, master)
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    address = None if path is None else scheme_of(path)
    remote = address is not None and address in WEB | STORES and not chosen.opens_store
    if path is not None and not remote and (address in DATABASES or (address is not None and not chosen.opens_store)):
        chosen.check_database()
        opened = _open_database(path, table, query, timeout, options.memory)
        return _with_scales(reshape(opened, **changes), stated)
    if table is not None or query is not None or timeout is not None:
        raise InputError(
            "a table, query or time limit is for databases: postgresql://…, sqlite:///…, a .db or .sqlite file"
        )
    if path is None:
        return _hand_over(chosen, reshape(_from_frame(source, options.memory), **changes), stated)
    if chosen.opens_store and path != STANDARD_INPUT:
        in_place = _open_in_place(chosen, path, options.memory)
        if in_place is not None:
            return _with_scales(reshape(in_place, **changes), stated)
    return _hand_over(chosen, _open_file(path, options, changes, allow_network=allow_network), stated)


def read_scales(given: Mapping[str, str | Scale] | str | None) -> dict[str, Scale]:
    """Parse scales from a mapping by column, or from text: `race=nominal,pain=low<middle<high`.

    >>> read_scales("race=nominal")["race"].kind
    'nominal'
    """
    if isinstance(given, str):
        pairs = [entry.rpartition("=") for entry in given.split(",") if entry.strip()]
        if not all(equals and column.strip() for column, equals, _ in pairs):
            raise InputError("a scale is a column, = and a word: race=nominal,pain=low<middle<high", hint="scales")
        given = {column.strip(): text for column, _, text in pairs}
    return {
        column: scale if isinstance(scale, Scale) else parse_scale(column, scale)
        for column, scale in (given or {}).items()
    }


def _with_scales(table: Table, stated: Mapping[str, Scale]) -> Table:
    """The table with the scales of its file or frame, overridden by the scales that the user stated."""
    if stated:
        check_scales(stated, table.backend.types())
        words = ",".join(f"{column}={'<'.join(scale.levels) or scale.kind}" for column, scale in stated.items())
        table.reading["scales"] = words
    table.backend.scales.update({**table.codebook.scales, **stated})
    return table


def _open_database(path: str, table: str | None, query: str | None, timeout: float | None, memory: int) -> Table:
    rows = open_database(path, table=table, query=query, timeout=timeout, memory=memory, infer_types=TypeInference)
    reading = {"table": rows.table} if query is None else {"query": query}
    not_counted = describe_others([*rows.others], "", "table")
    if rows.file is not None and query is not None:
        not_counted.append("what the query leaves out")
    place = rows.file or masked(path)
    return Table(
        rows,
        source=rows.file,
        not_counted=tuple(not_counted),
        describe_unread=list if rows.file is None else partial(sqlite.describe_unread, rows.file),
        place=place,
        reading=reading,
    )


def _open_in_place(engine: Engine, path: str, memory: int) -> Table | None:
    """Files that the engine reads where they are; None if it cannot."""
    paths = [path] if "://" in path else find_files(path)
    rows = engine.open_in_place(paths, name=Path(masked(path)).name, memory=memory)
    if rows is None:
        return None
    return Table(
        rows,
        native=rows.native,
        source=path,
        notes=tuple(parquet.describe_partitions(rows.files)),
        not_counted=tuple(describe_folder(path, paths)),
    )


def _hand_over(engine: Engine, table: Table, stated: Mapping[str, Scale]) -> Table:
    """The table with its rows in the requested engine, and its scales."""
    rows = engine.take_over(table.backend)
    if rows is not None:
        table = Table(
            rows,
            native=rows.native,
            source=table.source,
            notes=table.notes,
            not_counted=table.not_counted,
            describe_unread=table.describe_unread,
        )
    return _with_scales(table, stated)


def _open_file(source: str, options: ReadOptions, changes: dict[str, Any], *, allow_network: bool) -> Table:
    """Open a file, or the parts of one table, in the format of its extension, and reshape it."""
    files, chose_member = fetch(source, options.memory, options.sheet, allow_network=allow_network)
    try:
        how = replace(options, workspace=files.workspace, sheet=None if chose_member else options.sheet)
        reading = options.given() | ({"allow_network": True} if allow_network else {})
        return _open_fetched(source, files, how, changes, reading)
    except BaseException:  # the private copy must not live as long as somebody holds the error
        if files.workspace is not None:
            files.workspace.close()
        raise


def _open_fetched(
    source: str, files: Files, options: ReadOptions, changes: dict[str, Any], reading: dict[str, Any]
) -> Table:
    """Open files of this machine; `reading` are the options by which the table can be read again."""
    name = "standard input" if source == STANDARD_INPUT else Path(masked(source)).name
    known = fixed_width.FORMAT if options.layout is not None else format_of(files.paths[0])
    if known is None:
        raise InputError(f"{name}: the ending is not that of a known file format; use {', '.join(ENDINGS)}")
    for path in files.paths:
        if os.path.getsize(path) == 0:
            raise InputError(f"{os.path.basename(path)} is empty: it has no header and no rows")
    _refuse_options_of_other_formats(files.paths[0], options)  # of the member of a .zip
    before = [file_state(path) for path in files.paths]
    contents = known.open(files.paths, name, options)
    if before != [file_state(path) for path in files.paths]:
        raise InputError(f"{name} changed while it was read, so the result would be wrong; read it again")
    rows = contents.rows
    if isinstance(rows, pa.Table):
        if known.infers_types:
            rows = pa.table([infer_type(texts.combine_chunks()) for texts in rows.columns], rows.column_names)
        rows = _from_frame(rows, options.memory, name=name).backend
    header_rows = options.header_rows or 1
    if header_rows > 1 and not rows.rows:
        raise InputError(f"{name} has no rows below a header of {header_rows} rows; give fewer", hint="header_rows")
    opened = Table(
        rows,
        notes=(*contents.notes, *note_unused(contents.code_counts)),
        not_counted=(*files.not_counted, *contents.not_counted),
        describe_unread=partial(known.describe_unread, files.paths, name, options) if known.describe_unread else list,
        source=source,
        reading=reading,
        codebook=add_counts(contents.codebook, contents.code_counts),
        members=tuple(contents.members),
    )
    if contents.code_counts:
        opened.require(list(contents.code_counts))
    if options.missing.everywhere:  # these are not counted one by one
        opened = replace(opened, not_counted=(*opened.not_counted, f"{_MERGED} (a code of one column is counted)"))
    elif contents.code_counts:
        nulls = {name: column.null_count for name, column in opened.read(list(contents.code_counts))}
        if merged := find_merged(contents.code_counts, nulls):
            opened = replace(opened, not_counted=(*opened.not_counted, f"{_MERGED} in {listed(merged)}"))
    return reshape(opened, **changes, infer_types=known.infers_types)


def _refuse_options_of_other_formats(source: Any, options: ReadOptions) -> None:
    """Refuse an option that only applies to files of another format."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        unknown = format_of(path) is None and not os.path.isdir(path) and not scheme_of(path)
        if unknown or path.lower().endswith(ZIP) or options.layout is not None:
            return  # opening it says what is wrong with it
    for option in options.given():
        if not takes_option(source, option):
            files = " or ".join(known.description for known in FORMATS if option in known.options)
            words = option.replace("_", " ")
            raise InputError(f"the option {words!r} is for {files}, and this is none; leave it out", hint=option)


def _from_frame(source: Any, memory: int, *, name: str = "the table") -> Table:
    """A table from a frame or a mapping of columns."""
    frame = source
    if isinstance(source, Mapping):
        try:
            frame = pa.table({name: _as_column(values) for name, values in source.items()})
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError):
            raise InputError("a mapping must give every column, by its name, the same number of values") from None
    if isinstance(frame, pa.Table):
        return Table(ArrowRows(frame, name=name, memory=memory), native=frame)
    try:
        wrapped = nw.from_native(frame)
        schema = wrapped.collect_schema()
        names = list(schema.names())
    except nw.exceptions.DuplicateError:
        raise InputError(f"{name}: some column names appear more than once; rename them") from None
    except (TypeError, ValueError):
        kinds = "a file's path, a pandas, Polars, Arrow, DuckDB or Spark frame, or a mapping of columns"
        raise InputError(f"a {type(source).__name__} is not a table; give {kinds}") from None
    if not all(isinstance(column, str) for column in names):
        raise InputError("column names must be text; rename those that are not")
    rows = open_frame(wrapped, name=name, memory=memory)
    ordered = {
        column: Scale("ordered", tuple(kind.categories))
        for column, kind in schema.items()
        if isinstance(kind, nw.Enum) and all(isinstance(level, str) for level in kind.categories)
    }
    return Table(rows, native=frame, codebook=FileCodebook(scales=ordered))


def _as_column(values: Any) -> Any:
    """Values of one type in that type; values of several types, or too large for Arrow, as text."""
    try:
        return pa.chunked_array([values]) if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return as_text(list(values))
