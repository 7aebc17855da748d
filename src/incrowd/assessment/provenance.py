"""Provenance of an assessment: the file, the question and the versions that reproduce its numbers."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from incrowd._support.files import file_hash
from incrowd.assessment.question import Question
from incrowd.results import Result
from incrowd.tables import Table
from incrowd.version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "duckdb", "pyarrow")


@dataclass(frozen=True, slots=True)
class Provenance(Result):
    """The versions, the question, and the SHA-256 of the file (None if the table came from memory).

    `question` is the settled question, with the roles that were used. `libraries` are the versions of Python and of the
    packages that count and estimate.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"question"})
    _derived: ClassVar[tuple[str, ...]] = ("named", "options", "seed")

    version: str
    made: str
    table: str
    question: Question
    sha256: str | None
    rows: int
    columns: int
    seconds: Mapping[str, float]
    libraries: Mapping[str, str]

    @property
    def named(self) -> tuple[str, ...]:
        """Words that name the table in a command, with its reading options; of a path only the last part."""
        return self.question.named

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of the question, by name."""
        return self.question.to_options()

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.question.seed or 0


def note_provenance(
    table: Table, question: Question, seconds: Mapping[str, float], *, hashed: bool = True
) -> Provenance:
    """The provenance of an assessment; a partial result has no hash of the file, because hashing takes time."""
    return Provenance(
        version=__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        table=table.name,
        question=question,
        sha256=_hash(table.source) if hashed else None,
        rows=table.rows,
        columns=len(table.columns),
        seconds={name: round(time, 3) for name, time in seconds.items()},
        libraries={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
    )


def _hash(source: str | None) -> str | None:
    """SHA-256 of a single file; a folder or a pattern of parts has none."""
    if source is None or not Path(source).is_file():
        return None
    return file_hash(source)
