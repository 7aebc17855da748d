"""Tables larger than memory: split on the disk into parts that fit, so that no class is in two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.backends.relational import plain_keys
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables import Table, read_table
from incrowd.tables.readers import Workspace, engine_errors

_BYTES_A_RECORD = 64  # to number a part's classes and pair them with a sensitive column
_SHARE = 3  # parts take a third of the memory on average: some are larger, and the engine has its own
_MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The parts of a table as files; their columns are named `c0`, `c1`, … in the order they were asked for."""

    workspace: Workspace  # gone with it
    files: tuple[Path, ...]
    memory: int

    def __iter__(self) -> Iterator[Table]:
        """The parts, one after the other; each is read from its file when it is asked for."""
        for file in self.files:
            yield read_table(file, memory=self.memory)


def split_by_class(table: Table, names: Sequence[str], others: Sequence[str], person: str | None = None) -> Split:
    """Split a table by its classes; columns are `names`, then `others`, then the `person`.

    Records go by a hash of the values they are compared by, people by the sum of the hashes of their records: equals
    meet in the same part, whatever else meets them there, so that a hash decides where records are counted and never
    whether they are alike. DuckDB does the work within the memory limit.
    """
    wanted = [*names, *others, *([] if person is None else [person])]
    needed = max(table.rows * _BYTES_A_RECORD, table.bytes_to_count(wanted) or 0)
    parts = -(-needed * _SHARE // table.memory)
    if parts > _MOST_PARTS:
        raise UnsupportedError(
            f"{table.rows:,} records are too many for a memory limit of {table.memory / 1e6:,.0f} MB; give more memory"
        )
    workspace = Workspace(table.memory)
    folder = workspace.folder / "parts"
    keys = [f"c{place}" for place in range(len(names))]
    with engine_errors(table.name):
        relation: Any = plain_keys(table.lazy(wanted)).to_native()
        if not _in_duckdb(relation):
            raise UnsupportedError(
                f"{table.name}: telling {table.rows:,} records their class takes more than the limit of "
                f"{table.memory / 1e6:,.0f} MB; give more memory, or write the frame to Parquet and give that"
            )
        if person is not None and relation.filter(f"c{len(wanted) - 1} IS NULL").limit(1).fetchall():
            raise InputError(f"some records have no value in the person column {person!r}; fill it or leave them out")
        sql = _by_records(keys, parts) if person is None else _by_people(keys, f"c{len(wanted) - 1}", parts)
        relation.query("whole_table", sql).write_parquet(str(folder), partition_by=["part"], compression="lz4")
    table.confirm()
    files = tuple(sorted(folder.rglob("*.parquet")))
    return Split(workspace, files, table.memory)


def _in_duckdb(relation: Any) -> bool:
    import duckdb

    return isinstance(relation, duckdb.DuckDBPyRelation)


def _by_records(keys: Sequence[str], parts: int) -> str:
    return f"SELECT *, (hash({', '.join(keys)}) % {parts})::INTEGER AS part FROM whole_table"


def _by_people(keys: Sequence[str], whose: str, parts: int) -> str:
    """A sum does not depend on the order of a person's records."""
    of_person = f"SELECT {whose}, (sum(hash({', '.join(keys)})) % {parts})::INTEGER AS part FROM whole_table GROUP BY 1"
    return f"SELECT w.*, p.part FROM whole_table AS w JOIN ({of_person}) AS p USING ({whose})"
