"""The released table and file: built only from released cells, put in an uninformative order, and checked.

Arrow dictionaries, null slots and sliced buffers can hold values that no cell shows. So a protected table is rebuilt
here, column by column, before it is counted, returned or written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.files import written_whole
from incrowd._support.progress import Progress, part, silent
from incrowd.backends import Coded
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import followed_columns
from incrowd.protection.guarantee import count_guarantee
from incrowd.protection.keys import as_pseudonyms, derive_pseudonyms
from incrowd.protection.original_facts import write_mark
from incrowd.protection.published_pair import published_pair
from incrowd.tables import Table, escape_formula, read_table, write_into
from incrowd.tables.write import is_text_file
from incrowd.tables.written_file import check_metadata

if TYPE_CHECKING:
    from incrowd.protection.result import Protected

_DRAWS = 3  # most orders that are drawn; about one in ten thousand has to be drawn again


def build_release(columns: Mapping[str, Any], kept_rows: NDArray[np.int64] | None = None) -> pa.Table:
    """Build the protected table from the cells of the kept rows (None: all), without metadata."""
    rows = None if kept_rows is None else pa.array(kept_rows)
    return pa.table({name: _rebuild(column, rows) for name, column in columns.items()})


def _rebuild(column: Any, rows: pa.Array | None) -> pa.ChunkedArray:
    """Copy a column if its buffers may hold more than its cells; -0.0 becomes 0.0."""
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if rows is not None:
        column = column.take(rows)
    if pa.types.is_dictionary(column.type):
        return _compact_dictionary(column)
    if pa.types.is_nested(column.type):
        return pa.chunked_array([pa.array(column.to_pylist(), _without_dictionaries(column.type))])
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 + 0.0 is 0.0
    if any(chunk.null_count or chunk.get_total_buffer_size() != chunk.nbytes for chunk in column.chunks):
        chunks = [chunk.take(pa.array(np.arange(len(chunk)))) for chunk in column.chunks]  # null slots become zeros
        column = pa.chunked_array(chunks, column.type)
    return column


def _compact_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The dictionary column with only the entries that its cells use, each once."""
    chunks = column.unify_dictionaries().chunks
    entries = chunks[0].dictionary if chunks else pa.array([], column.type.value_type)
    size = len(entries)
    parts = [chunk.indices.cast(pa.int64()).fill_null(size).to_numpy(zero_copy_only=False) for chunk in chunks]
    codes = np.concatenate([*parts, np.zeros(0, dtype=np.int64)])
    is_used = np.bincount(codes, minlength=size + 1)[:size] > 0
    encoded = entries.filter(pa.array(is_used)).dictionary_encode(null_encoding="encode")
    new_code = np.full(size + 1, -1, dtype=np.int64)
    new_code[:size][is_used] = encoded.indices.to_numpy(zero_copy_only=False)
    new_codes = new_code[codes]
    missing = new_codes < 0
    filled_codes = np.where(missing, 0, new_codes).astype(str(column.type.index_type))
    indices = pa.array(filled_codes, mask=missing if missing.any() else None)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=column.type.ordered)])


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    """The nested type without dictionaries, extension types and metadata of fields."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if isinstance(kind, pa.BaseExtensionType):
        return _without_dictionaries(kind.storage_type)
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _without_dictionaries(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return (pa.list_ if pa.types.is_list(kind) else pa.large_list)(_without_dictionaries(kind.value_type))
    return kind


def draw_pseudonyms(person: Coded, key: bytes | None = None) -> pa.Array:
    """Replace every person by a random number that cannot be reproduced; all records of a person share it.

    The numbers come from the system's secure source, never from a seed, and their order tells nothing. With a `key`
    they are derived from it, so that a person has the same number in all tables under this key.
    """
    drawn = secrets.token_bytes(8 * person.size)
    pseudonyms = as_pseudonyms(drawn) if key is None else derive_pseudonyms(person, key)
    if np.unique(pseudonyms).size == person.size:
        return pa.array(pseudonyms[person.codes])
    if key is not None:
        raise InputError("two people would get the same pseudonym under this key; take another one", hint="key")
    return draw_pseudonyms(person)  # draw again in the rare case of a collision


def draw_order(rows: int) -> NDArray[np.int64]:
    """A random order of rows that cannot be reproduced: it comes from the system's secure source, never from a seed."""
    keys = np.frombuffer(secrets.token_bytes(8 * rows), dtype=np.uint64)
    return np.argsort(keys).astype(np.int64)


def write_protected(
    protected: Protected, path: str | os.PathLike[str], *, force: bool = False, progress: Progress = silent
) -> Path:
    """Write a protected table under a temporary name, read and check the file, and only then give it its name.

    The guarantee is counted on the file, and its dictionaries are compared with its cells. Facts that only the original
    shows are written to `NAME.incrowd` beside it, without any cell; `assess` and `check` read them.

    Args:
        protected: what `protect` returned.
        path: the file to write, in a format that `write_table` writes.
        force: replace an existing file.
        progress: called with what is done and how far it is.

    Returns:
        The path of the file.

    Raises:
        InputError: the file exists already, another program writes it now, or it cannot be written in this format.
        UnsupportedError: the file misses the guarantee or holds more than its cells; it is deleted.
    """
    target = Path(path)
    table = protected.table if isinstance(protected.table, pa.Table) else read_table(protected.table).to_arrow()
    with published_pair(target, force=force) as temporary:
        progress("writing", 0.95)
        write_into(table, temporary, protected.original.codebook if protected.original is not None else None)
        progress("checking the file", 0.98)
        _check_guarantee(protected, temporary)
        check_metadata(temporary)
        write_mark(protected, temporary, target, part(progress, 0.98, 1.0))
    return target


def write_kept_rows(protected: Protected, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write the number of the original row of each released row, one number per line, counted from 1.

    Attacks need this file if rows were shuffled or left out. It undoes the shuffle, so keep it as secret as the
    original.

    Args:
        protected: what `protect` returned.
        path: the text file to write.
        force: replace an existing file.

    Returns:
        The path of the file.

    Raises:
        InputError: the file exists already.
    """
    rows = np.arange(protected.rows) if protected.kept_rows is None else np.asarray(protected.kept_rows)
    with written_whole(path, force=force, private=True) as temporary:
        temporary.write_text("".join(f"{row + 1}\n" for row in rows.tolist()), encoding="utf-8")
    return Path(path)


def _check_guarantee(protected: Protected, file: Path) -> None:
    """Refuse a written file with another number of rows, or one that misses the guarantee."""

    def in_file(name: str) -> str:
        return escape_formula(name) if is_text_file(file) else name

    scales = {} if protected.original is None else protected.original.scales
    written = read_table(file, scales={in_file(name): scales[name] for name in protected.diverse if name in scales})
    if written.rows != protected.rows:
        raise UnsupportedError(
            f"the file has {written.rows:,} rows where {protected.rows:,} were written; nothing is left"
        )
    guarantee, _ = count_guarantee(
        written,
        [in_file(name) for name in protected.released_quasi_identifiers or protected.quasi_identifiers],
        protected.demand,
        promises_k=protected.guarantee.asked_k is not None,
        sensitive=[in_file(name) for name in protected.diverse],
        person=in_file(protected.person) if protected.person else None,
        perturbed=protected.guarantee.perturbed,
    )
    if not guarantee.holds:
        raise UnsupportedError(f"the file does not keep the guarantee ({'; '.join(guarantee.broken)}); nothing is left")


class RowOrder(NamedTuple):
    """The order of released rows.

    `followed` are the columns that the rows follow before they are put in order. `drawn` is a random order; None keeps
    the order as it is.
    """

    followed: tuple[str, ...]
    drawn: NDArray[np.int64] | None

    @property
    def is_shuffled(self) -> bool:
        """True if rows are released in random order."""
        return self.drawn is not None

    def put(self, released: pa.Table) -> pa.Table:
        """The rows in this order."""
        return released if self.drawn is None else in_order(released, self.drawn)

    def rows_of_original(self, kept_rows: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """The original row of every released row, from those that were kept; None: all rows, in their order."""
        return kept_rows if self.drawn is None else self.drawn if kept_rows is None else kept_rows[self.drawn]


def choose_order(original: Table, released: Table, person: str | None, shuffle: bool | None) -> RowOrder:
    """Find the columns that rows follow, and draw a random order where that is asked for or, by default, needed.

    Columns are those of the original (also removed ones), else those of the release. Pseudonyms need a random order:
    they would first occur in the order of the people they stand for.
    """
    found = followed_columns(original, person=person) or followed_columns(released, person=person)
    followed = tuple(one.column for one in found)
    if shuffle is None:
        shuffle = bool(followed) or person is not None
    return RowOrder(followed, draw_uninformative_order(released, person) if shuffle else None)


def draw_uninformative_order(released: Table, person: str | None) -> NDArray[np.int64]:
    """A random order of the rows; drawn again if the rows follow a column by chance."""
    for _ in range(_DRAWS):
        order = draw_order(released.rows)
        if not followed_columns(released, person=person, order=order):
            break
    return order


def in_order(released: pa.Table, order: NDArray[np.int64]) -> pa.Table:
    """The rows in another order, as a new table without any other content of the old one."""
    return build_release(dict(zip(released.column_names, released.columns, strict=True)), order)
