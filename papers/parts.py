"""What a reproduction is made of: a paper has parts, a part gives tables, figures and notes."""

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
"""A paper's name, and the module that holds its `PAPER`; loaded only when it is asked for."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a part is told: where public tables are (None: nowhere), whether to be quick, the seed, whom to tell."""

    data: Path | None = None
    quick: bool = False
    seed: int = 0
    progress: Progress = silent

    def has(self, file: str) -> bool:
        """Whether the data folder holds that file."""
        return self.data is not None and (self.data / file).is_file()


@dataclass(frozen=True, slots=True)
class Row(Result):
    """One number beside the paper's: `paper` is None where the paper gives none, `says` is about the difference."""

    what: str
    ours: Value
    paper: Value = None
    says: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"what": self.what, "ours": self.ours, "paper": self.paper, "says": self.says}


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """A table of numbers beside the paper's."""

    title: str
    rows: tuple[Row, ...]
    says: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The heads; a column in which nothing stands is left out."""
        paper = any(row.paper is not None for row in self.rows)
        says = any(row.says for row in self.rows)
        return ("", "ours", *(["the paper"] if paper else []), *(["on the difference"] if says else []))

    @property
    def cells(self) -> list[list[Value]]:
        """The rows under those heads."""
        paper, says = "the paper" in self.columns, "on the difference" in self.columns
        return [
            [row.what, row.ours, *([row.paper] if paper else []), *([row.says] if says else [])] for row in self.rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"title": self.title, "says": self.says, "rows": [row.to_dict() for row in self.rows]}


@dataclass(frozen=True, slots=True)
class Grid(Result):
    """A table with columns of its own, for what a comparison would make too long."""

    title: str
    columns: tuple[str, ...]
    cells: list[list[Value]]
    says: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {"title": self.title, "says": self.says, "columns": list(self.columns), "cells": self.cells}


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure: its name is part of a file's name, `says` is what it shows and where it differs from the paper's."""

    name: str
    title: str
    chart: Any
    says: str = ""


@dataclass(frozen=True, slots=True)
class PartResult:
    """What a part found."""

    tables: tuple[Comparison | Grid, ...] = ()
    figures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of work that is done, and kept, on its own; `files` are those of the data folder that it reads."""

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
    """A table as it was kept in a file."""
    if "columns" in kept:
        return Grid(kept["title"], tuple(kept["columns"]), kept["cells"], kept["says"])
    return Comparison(kept["title"], tuple(Row(**row) for row in kept["rows"]), kept["says"])
