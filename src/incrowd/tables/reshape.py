"""Changes to a table on opening: lists to rows, numbers to dates, spellings to one value."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.memory import require_memory
from incrowd.backends.arrow_columns import is_text
from incrowd.backends.base import ArrowRows
from incrowd.errors import InputError
from incrowd.tables.infer_types import infer_type
from incrowd.tables.table import Table
from incrowd.wording import listed

RECORD = "record"
"""The column that numbers the rows of a table before one of its columns was exploded."""
_SERIAL_DATES = (10_000, 80_000)  # range of Excel day numbers: days in 1927 and 2119
_DAY_ZERO = date(1899, 12, 30)  # day 0 of Excel's day numbers, valid from March 1900
_BYTES_A_CELL = 64  # memory for a cell: a text, twice
_TOGETHER = 10_000  # texts that are Python objects at once


def reshape(
    table: Table, *, explode: str | None, serial_dates: Sequence[str], fold: bool, infer_types: bool = False
) -> Table:
    """Return the table with lists as rows, day numbers as dates, and spelling variants as one value.

    The whole table is read for this.

    Args:
        explode: a column of lists, records or maps: a row for each item, the record's number in the column `record`.
        serial_dates: columns of whole numbers that are Excel's dates.
        fold: whether texts that differ only in case, blanks or Unicode form are one value.
        infer_types: whether the file's types were inferred from texts; they are inferred again for folded texts.

    Raises:
        InputError: a column does not exist, or does not hold the stated values.
        UnsupportedError: the table is in a cluster, or may not fit into memory.

    >>> from incrowd import read_table
    >>> read_table({"who": [1, 2], "items": [["a", "b"], []]}, explode="items").to_arrow().to_pydict()
    {'record': [1, 1, 2], 'who': [1, 1, 2], 'items': ['a', 'b', None]}
    """
    if not (explode or serial_dates or fold):
        return table
    table.backend.require_local("changing columns", "change them there")
    needed = table.rows * len(table.columns) * _BYTES_A_CELL
    require_memory(f"changing {table.rows:,} rows of {len(table.columns):,} columns", needed, table.memory)
    rows, notes, not_counted = table.to_arrow(), list(table.notes), list(table.not_counted)
    reading = dict(table.reading)
    if explode:
        rows = explode_column(rows, *table.require([explode]))
        reading["explode"] = explode
    if serial_dates:
        for name in table.require(serial_dates):
            rows = rows.set_column(rows.column_names.index(name), name, _from_serial_dates(rows[name], name))
        reading["serial_dates"] = ",".join(serial_dates)
    if fold:
        rows, joined, typed = _fold_columns(rows, {*table.codebook.value_labels}, infer_types=infer_types)
        reading["fold"] = True
        if joined:
            notes.append(f"values that differed in case, blanks or Unicode form only are one: {listed(joined)}")
            not_counted.append(f"spellings that were read as one value in {listed(joined)}")
        if typed:
            notes.append(f"read as numbers or dates once their blanks were left out: {listed(typed)}")
    changed = ArrowRows(rows, name=table.name, memory=table.memory)
    return replace(table, backend=changed, notes=tuple(notes), not_counted=tuple(not_counted), reading=reading)


def explode_column(rows: pa.Table, name: str) -> pa.Table:
    """Make a row for each item of a column of lists or maps, and a column for each field of records."""
    place = rows.column_names.index(name)
    cells = rows[name].combine_chunks()
    if pa.types.is_map(cells.type):
        cells = cells.cast(pa.list_(pa.struct([("key", cells.type.key_type), ("value", cells.type.item_type)])))
    if pa.types.is_struct(cells.type):
        return _with_fields(rows, place, name, cells)
    if not (pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type)):
        raise InputError(f"{name!r} holds single values, not lists; leave it as it is", hint="explode")
    if RECORD in rows.column_names:
        raise InputError(f"a column named {RECORD!r} is in the way of the records' numbers; rename it")
    lengths = pc.fill_null(pc.list_value_length(cells), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    spans = np.maximum(lengths, 1)  # a list without items is a row without item
    parents = np.repeat(np.arange(lengths.size), spans)
    within = np.arange(parents.size) - np.repeat(np.cumsum(spans) - spans, spans)
    places = (np.cumsum(lengths) - lengths)[parents] + within
    items = pc.list_flatten(cells).take(pa.array(places, mask=lengths[parents] == 0))
    exploded = rows.take(pa.array(parents)).set_column(place, name, items)
    exploded = exploded.add_column(0, RECORD, pa.array(parents + 1))
    return _with_fields(exploded, place + 1, name, items) if pa.types.is_struct(items.type) else exploded


def _with_fields(rows: pa.Table, place: int, name: str, records: pa.StructArray) -> pa.Table:
    """The fields of records as columns `name.field`."""
    rows = rows.remove_column(place)
    names = [*rows.column_names, *(f"{name}.{field.name}" for field in records.type)]
    if twice := [one for one, times in Counter(names).items() if times > 1]:
        raise InputError(f"the fields of {name!r} would make a second column {twice[0]!r}; rename one", hint="explode")
    for number, field in enumerate(records.type):
        rows = rows.add_column(place + number, f"{name}.{field.name}", pc.struct_field(records, [number]))
    return rows


def holds_serial_dates(days: pa.ChunkedArray) -> bool:
    """True if a column holds whole numbers, at least one, and all are in the range of Excel day numbers."""
    return days.null_count < len(days) and _may_be_serial_dates(days)


def _may_be_serial_dates(days: pa.ChunkedArray) -> bool:
    """True if all cells of an integer column are in the range of Excel day numbers, or missing."""
    if not pa.types.is_integer(days.type):
        return False
    if days.null_count == len(days):
        return True
    ends, (first, last) = pc.min_max(days).as_py(), _SERIAL_DATES
    return bool(first <= ends["min"] and ends["max"] <= last)


def _from_serial_dates(days: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Convert Excel day numbers to dates."""
    if not _may_be_serial_dates(days):
        first, last = _SERIAL_DATES
        raise InputError(
            f"{name!r} does not hold Excel's dates: whole numbers between {first:,} and {last:,}", hint="serial_dates"
        )
    offset = (_DAY_ZERO - date(1970, 1, 1)).days
    return pc.add(days.cast(pa.int32()), pa.scalar(offset, pa.int32())).cast(pa.date32())


def _fold_columns(rows: pa.Table, labelled: set[str], *, infer_types: bool) -> tuple[pa.Table, list[str], list[str]]:
    """Fold every text column; also return the columns with joined values, and those whose type changed."""
    joined, typed = [], []
    for place, field in enumerate(rows.schema):
        if field.name in labelled or not is_text(field.type):
            continue
        texts = rows.column(place).cast(pa.string())
        counted = texts.value_counts()
        times = {one["values"].as_py(): one["counts"].as_py() for one in counted if one["values"].is_valid}
        spelling = fold_spellings(times)
        if len(set(spelling.values())) < len(times):
            joined.append(field.name)
        places = pc.index_in(texts, value_set=pa.array(list(spelling), pa.string()))
        folded = pa.array(list(spelling.values()), pa.string()).take(places.combine_chunks())
        if infer_types and any(text != chosen for text, chosen in spelling.items()):
            folded = infer_type(folded)
            if not pa.types.is_string(folded.type):
                typed.append(field.name)
        cells = folded.dictionary_encode() if pa.types.is_string(folded.type) else folded
        rows = rows.set_column(place, field.name, cells)
    return rows, joined, typed


def fold_spellings(times: dict[str, int]) -> dict[str, str]:
    """Replace every text by its commonest spelling among those that differ only in case, blanks or Unicode form.

    `times` is the number of occurrences of each text.

    >>> fold_spellings({"Ulm": 2, "ulm ": 1})
    {'Ulm': 'Ulm', 'ulm ': 'Ulm'}
    """
    by_key: dict[str, Counter[str]] = {}
    for text, count in times.items():
        by_key.setdefault(_fold_key(text), Counter())[" ".join(unicodedata.normalize("NFC", text).split())] += count
    chosen = {key: min(spellings, key=lambda text: (-spellings[text], text)) for key, spellings in by_key.items()}
    return {text: chosen[_fold_key(text)] for text in times}


def count_spellings(values: pa.Array | pa.ChunkedArray) -> int:
    """Count distinct texts, with texts that differ only in case, blanks or Unicode form counted once.

    Only a hash of each text is kept, because millions of Python texts take many times their length in memory.

    >>> count_spellings(pa.array(["Ulm", "ulm ", "Bonn"]))
    2
    """
    texts = itertools.chain.from_iterable(
        values.slice(start, _TOGETHER).cast(pa.string()).to_pylist() for start in range(0, len(values), _TOGETHER)
    )
    return int(np.unique(np.fromiter((hash(_fold_key(text)) for text in texts), np.int64, len(values))).size)


def _fold_key(text: str) -> str:
    """The key that spellings of a value share; NFKC or case folding would join 10² and 102, Maße and Masse."""
    return " ".join(unicodedata.normalize("NFC", text.lower()).split())
