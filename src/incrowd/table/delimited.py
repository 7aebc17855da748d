"""CSV and its cousins: how they are written is found by looking, and nothing is lost in reading."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.errors import InputError
from incrowd.table.readers import RelationReader, Workspace, quoted

_SEPARATORS = ",;\t|:"
_SNIFFED = 256 * 1024  # bytes looked at to find the separator
_SAMPLED = 20_000  # rows looked at to guess a column's type, which all rows then confirm
_BAD_LINES_SHOWN = 5
_GUESSED_ENCODINGS = ("cp1252", "latin-1")  # the second reads anything

# A column is a number or a date only if every cell says it in the one plain way, so that nothing is lost:
# 00501, +5 and 1e999 stay text. A double keeps 15 digits; longer decimals stay text.
_TYPES = {
    "BIGINT": "TRY_CAST({c} AS BIGINT)::VARCHAR = {c}",
    "DOUBLE": (
        "TRY_CAST({c} AS DOUBLE) IS NOT NULL AND length({c}) <= 16 AND NOT isinf(TRY_CAST({c} AS DOUBLE)) "
        "AND NOT (ltrim({c}, '-') LIKE '0_%' AND ltrim({c}, '-') NOT LIKE '0.%') AND {c} NOT LIKE '+%' "
        "AND trim({c}) = {c} AND {c} NOT LIKE '%\\_%' ESCAPE '\\'"
    ),
    "DATE": "length({c}) = 10 AND TRY_CAST({c} AS DATE)::VARCHAR = {c}",
    "TIMESTAMP": "length({c}) >= 19 AND TRY_CAST({c} AS TIMESTAMP)::VARCHAR = replace({c}, 'T', ' ')",
}


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a file is written."""

    separator: str
    columns: list[str]


def open_delimited(
    path: str, separator: str | None, encoding: str | None, null: str | None, skip_bad_lines: bool, memory: int
) -> tuple[RelationReader, list[str]]:
    """Load a delimited file into a workspace on disk; also what a user should know about how it was read."""
    notes: list[str] = []
    workspace = Workspace(memory)
    used = _encoding_of(path, encoding)
    if used not in {"utf-8", "utf-8-sig", "ascii"}:
        if encoding is None:
            notes.append(f"the file is not UTF-8; it was read as {used} (say which with encoding=)")
        path = _in_utf8(path, used, workspace)
    dialect = _look(path, separator)
    scan = _scan(path, dialect, null, skip_bad_lines)
    _load(workspace, scan, dialect, path, notes)
    return RelationReader(workspace, "SELECT * FROM loaded"), notes


def _encoding_of(path: str, asked: str | None) -> str:
    """The encoding asked for if it reads the file; else UTF-8, UTF-16 by its mark, or a Western one."""
    if asked is not None:
        try:
            codecs.lookup(asked)
        except LookupError:
            raise InputError(f"encoding {asked!r} is not known; try utf-8, cp1252, latin-1 or utf-16") from None
        if not _reads(path, asked):
            raise InputError(f"{os.path.basename(path)} cannot be read as {asked}; try another encoding")
        return codecs.lookup(asked).name
    with open(path, "rb") as file:
        head = file.read(_SNIFFED)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x00" in head:
        raise InputError(
            f"{os.path.basename(path)} holds zero bytes, so it is not text in an encoding that can be guessed; "
            "say encoding=, or check that it is a CSV file"
        )
    if _reads(path, "utf-8"):
        return "utf-8"
    return next(guess for guess in _GUESSED_ENCODINGS if _reads(path, guess))


def _reads(path: str, encoding: str) -> bool:
    """Whether the whole file is text in that encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 22):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _in_utf8(path: str, encoding: str, workspace: Workspace) -> str:
    """A copy in UTF-8 in the workspace's private folder."""
    database = workspace.connection.execute("SELECT path FROM duckdb_databases() WHERE path IS NOT NULL").fetchone()
    assert database is not None
    copy = os.path.join(os.path.dirname(database[0]), "utf8.csv")
    with open(path, encoding=encoding, newline="") as source, open(copy, "w", encoding="utf-8", newline="") as target:
        while block := source.read(1 << 22):
            target.write(block)
    return copy


def _look(path: str, separator: str | None) -> _Dialect:
    """The separator under which most lines have as many fields as the header, and the header."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise InputError(f"separator {separator!r} must be one character, such as , or ;")
    with open(path, encoding="utf-8-sig", newline="", errors="ignore") as file:
        text = file.read(_SNIFFED)
    if len(text) == _SNIFFED:
        text = text[: text.rfind("\n") + 1] or text
    best: tuple[float, int] = (-1.0, 0)
    found: _Dialect | None = None
    for candidate in separator or _SEPARATORS:
        rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=candidate) if row]
        if not rows:
            raise InputError(f"{os.path.basename(path)} has no header and no rows")
        width = len(rows[0])
        agree = sum(len(row) == width for row in rows) / len(rows)
        score = (agree * min(width - 1, 1), width)
        if score > best:
            best, found = score, _Dialect(candidate, rows[0])
    assert found is not None
    return _named(found, path)


def _named(dialect: _Dialect, path: str) -> _Dialect:
    """The dialect if every column has a name of its own."""
    blank = [str(position) for position, name in enumerate(dialect.columns, 1) if not name.strip()]
    if blank:
        raise InputError(f"{os.path.basename(path)}: column {', '.join(blank[:5])} has no name in the header")
    repeated = sorted({name for name in dialect.columns if dialect.columns.count(name) > 1})
    if repeated:
        raise InputError(
            f"{os.path.basename(path)}: these column names appear more than once: {', '.join(repeated[:5])}; "
            "rename them"
        )
    folded = [name.lower() for name in dialect.columns]
    alike = sorted({name for name in dialect.columns if folded.count(name.lower()) > 1})
    if alike:
        raise InputError(
            f"{os.path.basename(path)}: these column names differ only in capital letters: {', '.join(alike[:5])}; "
            "rename one"
        )
    return dialect


def _scan(path: str, dialect: _Dialect, null: str | None, skip_bad_lines: bool) -> str:
    """The SQL that reads every cell as text, bad lines set aside."""
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in dialect.columns)
    nulls = ", ".join(_text(word) for word in ({"", null} if null else {""}))
    skip = "true" if skip_bad_lines else "false"
    return (
        f"read_csv({_text(path)}, auto_detect=false, header=true, delim={_text(dialect.separator)}, quote='\"', "
        f"escape='\"', columns={{{columns}}}, nullstr=[{nulls}], store_rejects=true, strict_mode=true, "
        f"rejects_table='bad_{skip}', rejects_scan='scan_{skip}', max_line_size=16777216)"
    )


def _load(workspace: Workspace, scan: str, dialect: _Dialect, path: str, notes: list[str]) -> None:
    """Cells as text first; then every column whose cells all allow it gets its type."""
    import duckdb

    connection = workspace.connection
    try:
        connection.sql(f"CREATE TABLE raw AS SELECT * FROM {scan}")
    except duckdb.Error as error:
        kind = type(error).__name__  # its text quotes the file's cells
        raise InputError(
            f"{os.path.basename(path)} cannot be read as a table separated by {dialect.separator!r} ({kind}); "
            "say separator= or encoding=, or look for a quote that is never closed"
        ) from None
    _report_bad_lines(workspace, "bad_true" in scan, os.path.basename(path), notes)
    types = _types_of(workspace, dialect.columns)
    typed = ", ".join(
        quoted(name) if kind == "VARCHAR" else f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
        for name, kind in zip(dialect.columns, types, strict=True)
    )
    connection.sql(f"CREATE VIEW loaded AS SELECT {typed} FROM raw")


def _report_bad_lines(workspace: Workspace, skip: bool, name: str, notes: list[str]) -> None:
    """Stop at lines that do not fit, or say how many were left out."""
    table = f"bad_{'true' if skip else 'false'}"
    bad = workspace.connection.sql(
        f"SELECT line, any_value(error_type)::VARCHAR FROM {table} GROUP BY line ORDER BY line"
    ).fetchall()
    if not bad:
        return
    shown = ", ".join(f"{line} ({kind.lower()})" for line, kind in bad[:_BAD_LINES_SHOWN])
    more = f" and {len(bad) - _BAD_LINES_SHOWN:,} more" if len(bad) > _BAD_LINES_SHOWN else ""
    if not skip:
        raise InputError(
            f"{name}: {len(bad):,} lines do not fit the header: line {shown}{more}; "
            "mend them, or leave them out with skip_bad_lines=True (--skip-bad-lines)"
        )
    notes.append(f"{len(bad):,} lines that do not fit the header were left out: line {shown}{more}")


def _types_of(workspace: Workspace, columns: Sequence[str]) -> list[str]:
    """The narrowest type each column allows: guessed on its first rows, confirmed on all."""
    guessed = _allowed(workspace, dict.fromkeys(columns, tuple(_TYPES)), f"SELECT * FROM raw LIMIT {_SAMPLED}")
    left = {name: kinds for name, kinds in guessed.items() if kinds}
    confirmed = _allowed(workspace, left, "SELECT * FROM raw") if left else {}
    return [next(iter(confirmed.get(name, ())), "VARCHAR") for name in columns]


def _allowed(workspace: Workspace, asked: dict[str, tuple[str, ...]], rows: str) -> dict[str, tuple[str, ...]]:
    """Which of the asked types every filled cell of a column allows; none where no cell is filled."""
    tests = [(name, kind) for name, kinds in asked.items() for kind in kinds]
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(tests), 400):  # a wide table is asked in parts
        part = tests[start : start + 400]
        wanted = ", ".join(
            f"coalesce(bool_and(coalesce({_TYPES[kind].format(c=quoted(name))}, false)) "
            f"FILTER ({quoted(name)} IS NOT NULL), false)"
            for name, kind in part
        )
        answers = workspace.connection.execute(f"SELECT {wanted} FROM ({rows})").fetchone()
        assert answers is not None
        for (name, kind), holds in zip(part, answers, strict=True):
            if holds:
                found[name] = (*found.get(name, ()), kind)
    return found


def _text(value: str) -> str:
    """A text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"
