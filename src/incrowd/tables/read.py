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
from incrowd.errors import InputError
from incrowd.tables.formats import EXTENSIONS, FORMATS, ReadOptions, format_of, parquet, takes_option
from incrowd.tables.table import Table, memory_in_bytes

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

TableLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | IntoFrame | Table"
ENGINES = (None, "duckdb", "spark")
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
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}; use duckdb or spark", hint="engine")
    if master is not None and engine != "spark":
        raise InputError(
            f"a master ({masked(master)}) is for the engine spark; leave it out, or choose that engine",
            hint=("master", "engine=spark"),
        )
    address = scheme_of(os.fspath(source)) if isinstance(source, str | os.PathLike) else None
    if isinstance(source, str | os.PathLike) and (address in DATABASES or (address and engine != "spark")):
        from incrowd.backends.sql.database import open_database

        if engine == "spark":
            raise InputError("a database counts its tables itself; leave out the engine", hint="engine")
        return open_database(os.fspath(source), table, query, timeout, options.memory)
    if table is not None or query is not None or timeout is not None:
        raise InputError(
            "a table, query or time limit is for databases: postgresql://…, sqlite:///…, a .db or .sqlite file"
        )
    if engine == "spark":
        return _on_spark(source, master, options)
    if isinstance(source, str | os.PathLike):
        return _open_file(os.fspath(source), options)
    opened = _from_frame(source, options.memory)
    if engine == "duckdb" and opened.engine == "cluster":
        raise InputError("a Spark frame stays in its cluster; leave out the engine, or give the file", hint="engine")
    return opened


def _open_file(source: str, options: ReadOptions) -> Table:
    """Open a file, or the parts of one table, in the format of its extension."""
    paths = _find_files(source)
    name = Path(source).name
    known = format_of(paths[0])
    if known is None:
        raise InputError(
            f"{name}: what kind of file this is cannot be told from its ending; use {', '.join(EXTENSIONS)}"
        )
    if os.path.getsize(paths[0]) == 0:
        raise InputError(f"{name} is empty: it has no header and no rows")
    contents = known.open(paths, options)
    if isinstance(contents.rows, pa.Table):
        return _from_frame(contents.rows, options.memory, name=name, path=source, notes=contents.notes)
    return Table(
        contents.rows,
        name=name,
        memory=options.memory,
        notes=contents.notes,
        source=source,
        named=(source, *_command_words(options)),
        written=contents.conventions,
    )


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


def _on_spark(source: TableLike, master: str | None, options: ReadOptions) -> Table:
    """A table in a Spark cluster: Parquet is read there, everything else is read here by the usual rules and sent."""
    from incrowd.backends.spark.session import open_on_spark, send_to_spark, start_session

    name, path = "the table", None
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        name = Path(masked(path)).name
    paths = [path] if path and "://" in path else _find_files(path) if path else []
    if paths and ("://" in paths[0] or format_of(paths[0]) is parquet.FORMAT):
        session = start_session(master, options.memory)
        local = [part if "://" in part else os.path.abspath(part) for part in paths]
        frame = open_on_spark(local, session)
        files = list(frame.inputFiles())
        notes = parquet.describe_partitions(files)
    else:
        here = read_table(source, memory=options.memory, **options.given())
        if here.engine == "cluster":
            return here
        frame = send_to_spark(here.to_arrow(), start_session(master, options.memory))
        notes = here.notes
    return _from_frame(frame, options.memory, name=name, path=path, notes=notes, files=files)


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
    source: Any,
    memory: int,
    *,
    name: str = "the table",
    path: str | None = None,
    notes: Sequence[str] = (),
    files: Sequence[str] = (),
) -> Table:
    """A table from a frame or a mapping of columns; `files` are those that a Spark frame reads."""
    import narwhals.stable.v2 as nw

    from incrowd.tables.frames import FrameReader

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
    engine = "memory" if isinstance(wrapped, nw.DataFrame) else "frame"
    reader = FrameReader(wrapped)
    if wrapped.implementation.is_spark_like():
        from incrowd.backends.spark.frame import ClusterReader

        engine, reader = "cluster", ClusterReader(wrapped, files)
    native = frame if path is None or engine == "cluster" else None
    return Table(reader, name=name, memory=memory, native=native, engine=engine, source=path, notes=notes)


def _as_column(values: Any) -> Any:
    """Values of one type in that type; of several types, or too large for Arrow, as text."""
    from incrowd.tables.frames import as_text

    try:
        return pa.chunked_array([values]) if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return as_text(list(values))
