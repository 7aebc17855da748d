"""Opening a table from a file, a frame, a mapping of columns or a database."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from incrowd._support.addresses import DATABASES, masked, scheme_of
from incrowd._support.memory import memory_in_bytes
from incrowd.backends.arrow_columns import as_text
from incrowd.backends.engines import Engine, choose_engine, open_frame
from incrowd.errors import InputError
from incrowd.tables.formats import EXTENSIONS, FORMATS, ReadOptions, format_of, parquet, takes_option
from incrowd.tables.infer_types import TypeInference
from incrowd.tables.table import Table

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

TableLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | IntoFrame | Table"
_LIBPQ = re.compile(r"(^|\s)(host|dbname)\s*=")  # the other way to write an address of PostgreSQL


def read_table(
    source: TableLike,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    null: str | None = None,
    skip_bad_lines: bool = False,
    sheet: str | int | None = None,
    memory: str | int | None = None,
    table: str | None = None,
    query: str | None = None,
    timeout: float | None = None,
    engine: str | None = None,
    master: str | None = None,
    most_columns: int | None = None,
) -> Table:
    """Open a table: a file, a frame that the caller holds, a mapping of columns or a table of a database.

    Files are CSV and TSV, Parquet (also a folder or a pattern of parts), Feather, Excel and JSON lines. Types are
    kept: `00501` stays text. An empty cell is a null, and a null is a value. A frame is not copied.

    Databases are `postgresql://host/name` and SQLite (`sqlite:///path`, or the path of a .db or .sqlite file). Give a
    password in the environment (PGPASSWORD, PGSERVICE) or in ~/.pgpass. What needs only counts is counted there.

    Args:
        source: a path or address, a pandas, Polars, Arrow, DuckDB or Spark frame, a mapping of columns, or a `Table`.
        separator: the character between the cells of a CSV file; found by reading the file's beginning.
        encoding: the encoding of a CSV file; UTF-8, UTF-16 with its mark, or else a Western one.
        null: a text that stands for a missing value in a CSV file, besides the empty cell.
        skip_bad_lines: whether lines of a CSV file that do not fit its header are left out instead of refused.
        sheet: the sheet of a workbook, by name or number; the first.
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
    options = ReadOptions(memory_in_bytes(memory), most_columns, separator, encoding, null, skip_bad_lines, sheet)
    _refuse_options_of_other_formats(source, options)
    chosen = choose_engine(engine, master)
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    address = None if path is None else scheme_of(path)
    if path is not None and (address in DATABASES or (address is not None and not chosen.opens_store())):
        chosen.check_database()
        return _open_database(path, table, query, timeout, options.memory)
    if table is not None or query is not None or timeout is not None:
        raise InputError(
            "a table, query or time limit is for databases: postgresql://…, sqlite:///…, a .db or .sqlite file"
        )
    if path is None:
        return _hand_over(chosen, _from_frame(source, options.memory))
    paths = [path] if "://" in path else _find_files(path)
    rows = chosen.open_in_place(paths, name=Path(masked(path)).name, memory=options.memory)
    if rows is not None:
        return Table(rows, native=rows.native, source=path, notes=parquet.describe_partitions(rows.files))
    return _hand_over(chosen, _open_file(path, paths, options))


def _open_database(path: str, table: str | None, query: str | None, timeout: float | None, memory: int) -> Table:
    from incrowd.backends.sql.database import open_database

    rows = open_database(path, table=table, query=query, timeout=timeout, memory=memory, infer_types=TypeInference)
    what = ("--table", str(rows.table)) if query is None else ("--query", query)
    return Table(rows, source=rows.file, named=(rows.file or masked(path), *what))


def _hand_over(engine: Engine, table: Table) -> Table:
    """The table with its rows where the engine holds them."""
    rows = engine.take_over(table.backend)
    return table if rows is None else Table(rows, native=rows.native, source=table.source, notes=table.notes)


def _open_file(source: str, paths: list[str], options: ReadOptions) -> Table:
    """Open a file, or the parts of one table, in the format of its extension."""
    name = Path(source).name
    known = format_of(paths[0])
    if known is None:
        raise InputError(
            f"{name}: what kind of file this is cannot be told from its ending; use {', '.join(EXTENSIONS)}"
        )
    if os.path.getsize(paths[0]) == 0:
        raise InputError(f"{name} is empty: it has no header and no rows")
    contents = known.open(paths, name, options)
    if isinstance(contents.rows, pa.Table):
        return _from_frame(contents.rows, options.memory, name=name, path=source, notes=contents.notes)
    named = (source, *_command_words(options))
    return Table(contents.rows, notes=contents.notes, source=source, named=named, written=contents.conventions)


def _refuse_options_of_other_formats(source: Any, options: ReadOptions) -> None:
    """Refuse an option for files of another format: it would change nothing."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if format_of(path) is None and not os.path.isdir(path) and not scheme_of(path):
            return  # opening it says what is wrong with it
    for option in options.given():
        if not takes_option(source, option):
            files = " or ".join(known.description for known in FORMATS if option in known.options)
            words = option.replace("_", " ")
            raise InputError(f"the option {words!r} is for {files}, and this is none; leave it out", hint=option)


def _command_words(options: ReadOptions) -> list[str]:
    """The options as a command line has them; those that were not given are left out."""
    words: list[str] = []
    for name, value in options.given().items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def _find_files(path: str) -> list[str]:
    """The file itself, or the parts of a table in a folder or behind a pattern."""
    if os.path.isdir(path):
        inside = (part.relative_to(path) for part in Path(path).rglob("*.parquet"))
        parts = sorted(os.path.join(path, part) for part in inside if not _is_unfinished(part))
        if not parts:
            raise InputError(f"{path} is a folder without Parquet files; name a file")
        return parts
    if os.path.isfile(path):
        if not os.access(path, os.R_OK):
            raise InputError(f"{path} cannot be read: no permission")
        return [path]
    if glob.has_magic(path):
        parts = sorted(glob.glob(path, recursive=True))
        formats = {format_of(part) for part in parts}
        if len(formats) == 1 and (known := formats.pop()) is not None and known.several_files:
            return parts
        raise InputError(f"{masked(path)}: {len(parts)} files match; a pattern works for Parquet files only")
    if os.path.exists(path):
        raise InputError(f"{path} is not a regular file; name a file")
    if _LIBPQ.search(path):
        raise InputError("there is no such file; write the address of a database as postgresql://host:port/name")
    raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")


def _is_unfinished(part: Path) -> bool:
    """Whether a file in a folder is a log or still being written, by the names Spark gives them."""
    return any(step.startswith(("_", ".")) for step in part.parts)


def _from_frame(
    source: Any, memory: int, *, name: str = "the table", path: str | None = None, notes: Sequence[str] = ()
) -> Table:
    """A table from a frame or a mapping of columns, or from rows that were read from a path."""
    import narwhals.stable.v2 as nw

    frame = source
    if isinstance(source, Mapping):
        try:
            frame = pa.table({name: _as_column(values) for name, values in source.items()})
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError):
            raise InputError("a mapping must give every column, by its name, the same number of values") from None
    try:
        wrapped = nw.from_native(frame)
        names = list(wrapped.collect_schema().names())
    except nw.exceptions.DuplicateError:
        raise InputError(f"{name}: some column names appear more than once; rename them") from None
    except (TypeError, ValueError):
        kinds = "a file's path, a pandas, Polars, Arrow, DuckDB or Spark frame, or a mapping of columns"
        raise InputError(f"a {type(source).__name__} is not a table; give {kinds}") from None
    if not all(isinstance(column, str) for column in names):
        raise InputError("column names must be text; rename those that are not")
    rows = open_frame(wrapped, name=name, memory=memory)
    return Table(rows, native=frame if path is None else None, source=path, notes=notes)


def _as_column(values: Any) -> Any:
    """Values of one type in that type; of several types, or too large for Arrow, as text."""
    try:
        return pa.chunked_array([values]) if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return as_text(list(values))
