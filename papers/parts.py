"""Data model of a reproduction: a paper has parts, a part has tables, figures and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.results import Result

Value = float | int | str | None

PAPERS = {
    "scaling-law": "papers.scaling_law",
    "synthetic-estimator": "papers.synthetic_estimator",
    "proper-anonymization": "papers.proper_anonymization",
    "leak-attack": "papers.leak_attack",
}
"""A paper's name, and the module that defines its `PAPER`; imported only when needed."""


@dataclass(frozen=True, slots=True)
class Context:
    """Options of a run: the folder of public tables (None: no folder), whether it is quick, the seed, the progress."""

    data: Path | None = None
    quick: bool = False
    seed: int = 0
    progress: Progress = silent

    def has(self, file: str) -> bool:
        """Whether the data folder holds that file."""
        return self.data is not None and (self.data / file).is_file()


@dataclass(frozen=True, slots=True)
class Row(Result):
    """One number and the paper's: `paper` is None where the paper gives none, `remark` is about the difference."""

    quantity: str
    ours: Value
    paper: Value = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """A table of our numbers and the paper's."""

    title: str
    rows: tuple[Row, ...]
    remark: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names; empty columns are left out."""
        paper = any(row.paper is not None for row in self.rows)
        remark = any(row.remark for row in self.rows)
        return ("", "ours", *(["the paper"] if paper else []), *(["on the difference"] if remark else []))

    @property
    def cells(self) -> list[list[Value]]:
        """The cells of those columns, row by row."""
        paper, remark = "the paper" in self.columns, "on the difference" in self.columns
        return [
            [row.quantity, row.ours, *([row.paper] if paper else []), *([row.remark] if remark else [])]
            for row in self.rows
        ]


@dataclass(frozen=True, slots=True)
class Grid(Result):
    """A table with its own columns, for what does not fit a comparison."""

    title: str
    columns: tuple[str, ...]
    cells: list[list[Value]]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: its name is part of a file's name, `remark` is what it shows and where it differs from the paper's."""

    name: str
    title: str
    chart: Any
    remark: str = ""


@dataclass(frozen=True, slots=True)
class PartResult:
    """What a part found."""

    tables: tuple[Comparison | Grid, ...] = ()
    figures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of work that is run and saved on its own; `files` are those of the data folder that it reads."""

    name: str
    title: str
    work: Callable[[Context], PartResult]
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper to reproduce."""

    name: str
    title: str
    citation: str
    about: str
    parts: tuple[Part, ...]

    @property
    def uses_data(self) -> bool:
        """Whether public tables make a difference to it."""
        return any(part.files for part in self.parts)


def table_from_dict(kept: dict[str, Any]) -> Comparison | Grid:
    """A table from the JSON of a finished part."""
    if "columns" in kept:
        return Grid(kept["title"], tuple(kept["columns"]), kept["cells"], kept["remark"])
    return Comparison(kept["title"], tuple(Row(**row) for row in kept["rows"]), kept["remark"])
