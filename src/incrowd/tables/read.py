"""`read_table`: any table people hold, from a file or from memory."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from incrowd._support.addresses import DATABASES, masked, scheme_of
from incrowd._support.memory import memory_in_bytes
from incrowd.backends.arrow_columns import as_text
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.backends.engines import Engine, choose_engine, open_frame
from incrowd.errors import InputError
from incrowd.tables.delimited import open_delimited
from incrowd.tables.documents import read_excel, read_json_lines
from incrowd.tables.infer_types import Shapes
from incrowd.tables.table import Table

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoFrame

TableLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | IntoFrame | Table"
_OPTIONS = {  # what is said about reading, and the kind of file it is for
    "separator": "csv",
    "encoding": "csv",
    "null": "csv",
    "skip_bad_lines": "csv",
    "sheet": "excel",
}
_KINDS = {"csv": "CSV and TSV files", "excel": "workbooks (.xlsx, .xls, .xlsb, .ods)"}
_LIBPQ = re.compile(r"(^|\s)(host|dbname)\s*=")  # how PostgreSQL's own tools let an address be written, too
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}


def read_table(
    source: Any,
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
    """A `Table` from a file's path, a frame (pandas, Polars, Arrow, DuckDB, Spark) or a database.

    Files: CSV and TSV (`separator`, `encoding` and a text that stands for `null` where they are not found by looking),
    Parquet (also a folder or a pattern of parts), Feather, Excel (`sheet` by name or number), JSON lines.
    Types are kept: `00501` stays text. An empty cell is a null, and a null is a value. A frame is not copied.
    `memory` bounds the work on the table, such as "2GB"; a text file with more than `most_columns` is refused by its
    header, before it is read.

    Databases: `postgresql://host/name` and SQLite (`sqlite:///path`, or the path of a .db or .sqlite file) with the
    name of a `table` or view, or a `query`; `timeout` is how many seconds a statement may take. Give the password in
    the environment (PGPASSWORD, PGSERVICE) or in ~/.pgpass. What needs counts only is counted there, in SQL.

    `engine` is "duckdb", this machine and its disk (the default), or "spark": Parquet is then read by the cluster at
    `master` ("local[*]", "spark://host:7077", …), where every worker must see it; other files and frames are read here
    and sent there. A Spark DataFrame stays in its cluster without being told.

    >>> read_table({"age": [30, 41], "zip": ["00501", "02139"]}).columns
    ('age', 'zip')
    """
    if isinstance(source, Table):
        return source
    limit = memory_in_bytes(memory)
    how = {
        "separator": separator,
        "encoding": encoding,
        "null": null,
        "skip_bad_lines": skip_bad_lines,
        "sheet": sheet,
    }
    _refuse_unfitting(source, how)
    chosen = choose_engine(engine, master)
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    address = None if path is None else scheme_of(path)
    if path is not None and (address in DATABASES or (address is not None and not chosen.opens_store())):
        chosen.check_database()
        return _from_database(path, table, query, timeout, limit)
    if table is not None or query is not None or timeout is not None:
        raise InputError(
            "a table, query or time limit is for databases: postgresql://…, sqlite:///…, a .db or .sqlite file"
        )
    if path is None:
        return _held_by(chosen, _from_frame(source, limit))
    paths = [path] if "://" in path else _find(path)
    rows = chosen.open_in_place(paths, name=Path(masked(path)).name, memory=limit)
    if rows is not None:
        return Table(rows, native=rows.native, source=path, notes=_partition_notes(rows.files))
    return _held_by(chosen, _from_file(path, paths, limit, how, most_columns))


def _from_database(path: str, table: str | None, query: str | None, timeout: float | None, memory: int) -> Table:
    from incrowd.backends.sql.database import open_database

    rows = open_database(path, table=table, query=query, timeout=timeout, memory=memory, infer_types=Shapes)
    what = ("--table", str(rows.table)) if query is None else ("--query", query)
    return Table(rows, source=rows.file, named=(rows.file or masked(path), *what))


def _from_file(path: str, paths: list[str], memory: int, how: Mapping[str, Any], most_columns: int | None) -> Table:
    """A file by the kind that its ending names, read here."""
    kind = FORMATS.get(Path(paths[0]).suffix.lower())
    name = Path(path).name
    if kind is None:
        raise InputError(f"{name}: what kind of file this is cannot be told from its ending; use {', '.join(FORMATS)}")
    if os.path.getsize(paths[0]) == 0:
        raise InputError(f"{name} is empty: it has no header and no rows")
    if kind in {"parquet", "feather"}:
        files = FileBackend(paths, kind, name=name, memory=memory)
        return Table(files, notes=_partition_notes(paths), source=path)
    if kind == "csv":
        options = {option: how[option] for option, files in _OPTIONS.items() if files == "csv"}
        cells, notes, written = open_delimited(paths[0], **options, memory=memory, most_columns=most_columns)
        return Table(cells, notes=notes, source=path, named=(path, *_typed(**options)), written=written)
    sheet = how["sheet"]
    rows = read_excel(paths[0], 0 if sheet is None else sheet) if kind == "excel" else read_json_lines(paths[0])
    return _from_frame(rows, memory, name=name, path=path)


def _held_by(engine: Engine, table: Table) -> Table:
    """The table with its rows where the engine wants them."""
    rows = engine.take_over(table.backend)
    if rows is None:
        return table
    return Table(rows, native=rows.native, source=table.source, notes=table.notes)


def takes_option(source: Any, option: str) -> bool:
    """Whether an option on reading is for such a source; one that is for none in particular is for all.

    >>> takes_option("people.csv", "null"), takes_option("people.parquet", "null"), takes_option("people.csv", "memory")
    (True, False, True)
    """
    if option not in _OPTIONS:
        return True
    path = isinstance(source, str | os.PathLike)
    return path and FORMATS.get(Path(os.fspath(source)).suffix.lower()) == _OPTIONS[option]


def _refuse_unfitting(source: Any, how: Mapping[str, Any]) -> None:
    """Stop at what is said about files of another kind; it would change nothing."""
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if (
        path is not None
        and Path(path).suffix.lower() not in FORMATS
        and not os.path.isdir(path)
        and not scheme_of(path)
    ):
        return  # whatever is wrong with it is said later
    for option, value in how.items():
        if value not in (None, False) and not takes_option(source, option):
            typed = option.replace("_", "-")
            raise InputError(f"{option}= (--{typed}) is for {_KINDS[_OPTIONS[option]]}, and this is none; leave it out")


def _typed(**options: Any) -> list[str]:
    """Options as a command line has them; those that were not given are left out."""
    words: list[str] = []
    for name, value in options.items():
        if value not in (None, False):
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def _find(path: str) -> list[str]:
    """The file, or the Parquet parts of a folder or pattern."""
    if os.path.isdir(path):
        found = (part.relative_to(path) for part in Path(path).rglob("*.parquet"))
        parts = sorted(os.path.join(path, part) for part in found if not _unfinished(part))
        if not parts:
            raise InputError(f"{path} is a folder without Parquet files; name a file")
        return parts
    if os.path.isfile(path):
        if not os.access(path, os.R_OK):
            raise InputError(f"{path} cannot be read: no permission")
        return [path]
    if glob.has_magic(path):
        parts = sorted(glob.glob(path, recursive=True))
        if parts and all(part.lower().endswith((".parquet", ".pq")) for part in parts):
            return parts
        raise InputError(f"{masked(path)}: {len(parts)} files match; a pattern works for Parquet files only")
    if os.path.exists(path):
        raise InputError(f"{path} is not a regular file; name a file")
    if _LIBPQ.search(path):
        raise InputError("there is no such file; write the address of a database as postgresql://host:port/name")
    raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")


def _unfinished(part: Path) -> bool:
    """Whether a file in a folder is not of its table: what another job still writes, or a log, by Spark's names."""
    return any(step.startswith(("_", ".")) for step in part.parts)


def _from_frame(source: Any, memory: int, *, name: str = "the table", path: str | None = None) -> Table:
    """A frame the caller holds, or rows that were read from a path; a mapping of columns is taken for a frame."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    frame = source
    if isinstance(source, dict):
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
    return Table(open_frame(wrapped, name=name, memory=memory), native=frame if path is None else None, source=path)


def _as_column(values: Any) -> Any:
    """Values of one type as Arrow has them; of several types, or too large for it, as text."""
    import pyarrow as pa

    try:
        return pa.chunked_array([values]) if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return as_text(list(values))


def _partition_notes(paths: Sequence[str]) -> list[str]:
    """A word on columns that are only in the names of folders."""
    keys = dict.fromkeys(part.partition("=")[0] for path in paths for part in Path(path).parts[:-1] if "=" in part)
    if not keys:
        return []
    return [f"folders named {', '.join(key + '=…' for key in keys)} are not read as columns; write them into the files"]
