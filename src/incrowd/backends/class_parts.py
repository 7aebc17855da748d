"""Tables larger than memory: split on disk into parts that fit into memory, with every class in one part only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incrowd._support.private_folders import PrivateFolder
from incrowd.backends.base import Backend
from incrowd.backends.counts import ClassCounts, merge_counts, record_without_person
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.backends.engine_errors import engine_errors
from incrowd.backends.relational import comparable
from incrowd.errors import UnsupportedError
from incrowd.wording import data_size

_SHARE = 3  # an average part takes a third of the memory: some parts are larger, and the engine needs memory too
_MOST_PARTS = 1_000


class ClassParts:
    """The parts of a table as files in a folder, which is removed together with this object."""

    def __init__(self, whole: Backend, columns: Sequence[str], folder: PrivateFolder) -> None:
        self._whole, self._folder = whole, folder
        self.files = sorted(folder.path.rglob("*.parquet"))
        self._stored_as = {name: f"c{place}" for place, name in enumerate(columns)}

    def __iter__(self) -> Iterator[FileBackend]:
        """The parts, one after the other; each is opened when it is reached."""
        settings: dict[str, Any] = {name: getattr(self._whole, name) for name in ("name", "memory", "needs")}
        for file in self.files:
            part = FileBackend([str(file)], "parquet", stored_as=self._stored_as, **settings)
            part.scales = self._whole.scales
            yield part


def split_by_class(
    backend: Backend, names: Sequence[str], others: Sequence[str], person: str | None = None
) -> ClassParts:
    """Split rows by their classes; the parts have the columns `names`, `others` and `person`.

    The part of a record is a hash of its values in `names`; the part of a person is the sum of the hashes of their
    records. So equal records or people are in one part. A hash collision only puts further records into a part; it
    never merges classes. DuckDB does the work within the memory limit.
    """
    import duckdb

    wanted = [*names, *others, *([] if person is None else [person])]
    needed = max(backend.rows * backend.needs.split_record, backend.bytes_to_count(wanted) or 0)
    parts = -(-needed * _SHARE // backend.memory)
    if parts > _MOST_PARTS:
        raise UnsupportedError(
            f"{backend.rows:,} records are too many for a memory limit of {data_size(backend.memory)}; "
            "give more memory",
            hint="memory",
        )
    keys = [f"c{place}" for place in range(len(names))]
    with engine_errors(backend.name):
        relation: Any = comparable(backend.lazy(wanted)).to_native()
        if not isinstance(relation, duckdb.DuckDBPyRelation):
            raise UnsupportedError(
                f"{backend.name}: telling {backend.rows:,} records their class takes more than the limit of "
                f"{data_size(backend.memory)}; give more memory, or write the frame to Parquet and give that",
                hint="memory",
            )
        person_key = f"c{len(wanted) - 1}"
        if person is not None and relation.filter(f"{person_key} IS NULL").limit(1).fetchall():
            raise record_without_person(person)
        sql = _by_records(keys, parts) if person is None else _by_people(keys, person_key, parts)
        with_parts: Any = relation.query("whole_table", sql)
        folder = backend.folder_to_write()
        with_parts.write_parquet(str(folder.path / "parts"), partition_by=["part"], compression="lz4")
    backend.check_unchanged()
    return ClassParts(backend, wanted, folder)


def count_people(backend: Backend, names: Sequence[str], person: str) -> ClassCounts:
    """Class sizes in people, as `Backend.count_classes` gives them; past the memory limit, counted part by part.

    Raises:
        UnsupportedError: people with one and the same history have more records than fit.
    """
    if backend.fits_records(backend.needs.record_class):
        return backend.count_classes(names, person)

    def count_parts() -> ClassCounts:
        parts = split_by_class(backend, backend.require(names), [], person)
        return merge_counts(
            part.count_classes(names, person) if part.rows == backend.rows else count_people(part, names, person)
            for part in parts
        )

    return backend.count_once(names, person, count_parts)


def _by_records(keys: Sequence[str], parts: int) -> str:
    return f"SELECT *, (hash({', '.join(keys)}) % {parts})::INTEGER AS part FROM whole_table"


def _by_people(keys: Sequence[str], person: str, parts: int) -> str:
    """SQL that adds a person's part: a sum over their records, which does not depend on the order of records."""
    parts_of = f"SELECT {person}, (sum(hash({', '.join(keys)})) % {parts})::INTEGER AS part FROM whole_table GROUP BY 1"
    return f"SELECT w.*, p.part FROM whole_table AS w JOIN ({parts_of}) AS p USING ({person})"
