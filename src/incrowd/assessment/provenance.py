"""What it takes to get the same numbers again: the file, the options, the version."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from incrowd import __version__
from incrowd.results import Result
from incrowd.tables import Table

_BLOCK = 1 << 20
_LIBRARIES = ("numpy", "scipy", "numba", "duckdb", "pyarrow")


@dataclass(frozen=True, slots=True)
class Provenance(Result):
    """Versions, options and seed, and the file by its SHA-256 (None where the table came from memory).

    `named` is how a command names the table, with how it was read; of a path it has the last part.
    `libraries` are the versions of Python and of the packages that count and estimate.
    """

    version: str
    made: str
    table: str
    named: tuple[str, ...]
    sha256: str | None
    rows: int
    columns: int
    options: Mapping[str, Any]
    seed: int
    seconds: Mapping[str, float]
    libraries: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain = {name: getattr(self, name) for name in self.__slots__} | {"named": list(self.named)}
        return plain | {name: dict(getattr(self, name)) for name in ("options", "seconds", "libraries")}


def note_provenance(
    table: Table, options: Mapping[str, Any], seed: int, seconds: Mapping[str, float], *, hashed: bool = True
) -> Provenance:
    """Note where the numbers come from; a first look does without the hash of the file, which takes time."""
    return Provenance(
        version=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        table=table.name,
        named=_named(table),
        sha256=_hash(table.source) if hashed else None,
        rows=table.rows,
        columns=len(table.columns),
        options=dict(options),
        seed=seed,
        seconds={name: round(time, 3) for name, time in seconds.items()},
        libraries={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
    )


def _named(table: Table) -> tuple[str, ...]:
    first, *how = table.named
    return (first if "://" in first else Path(first).name, *how)


def _hash(source: str | None) -> str | None:
    """SHA-256 of a single file; a folder or a pattern of parts has none."""
    if source is None or not Path(source).is_file():
        return None
    digest = hashlib.sha256()
    with open(source, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
