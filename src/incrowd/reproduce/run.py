"""Do a paper's parts, each kept whole as soon as it is done, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.files import written_whole
from incrowd.notebook import Shown
from incrowd.progress import part as share_of
from incrowd.reproduce.parts import Comparison, Context, Grid, Paper, Part, PartResult, table_from_dict


@dataclass(frozen=True, slots=True)
class KeptFigure:
    """A figure that was drawn, and the file it is in."""

    name: str
    title: str
    says: str
    file: str


@dataclass(frozen=True, slots=True)
class KeptPart(Shown):
    """A finished part, as it is kept in a file."""

    name: str
    title: str
    tables: tuple[Comparison | Grid, ...]
    figures: tuple[KeptFigure, ...]
    notes: tuple[str, ...]
    seconds: float
    cpu_seconds: float
    made_with: dict[str, Any]
    again: bool = False  # whether it was there already

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        return {
            "name": self.name,
            "title": self.title,
            "made_with": self.made_with,
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "tables": [table.to_dict() for table in self.tables],
            "figures": [
                {"name": one.name, "title": one.title, "says": one.says, "file": one.file} for one in self.figures
            ],
            "notes": list(self.notes),
        }


def reproduce(paper: Paper, out: Path, context: Context, *, force: bool = False) -> list[KeptPart]:
    """Every part of a paper; a part that `out` has already, made with the same options, is not done again.

    `force` does them all again.
    """
    if context.data is not None and not context.data.is_dir():
        raise InputError(f"no folder {context.data}; name one that holds the public tables, or leave --data out")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder to write to")
    if context.seed < 0:
        raise InputError(f"a seed of {context.seed}; give 0 or more")
    if not paper.uses_data:
        context = replace(context, data=None)
    made_with = _made_with(context)
    found = []
    for index, part in enumerate(paper.parts):
        kept = None if force else load(out, paper, part, made_with)
        if kept is None:
            tell = share_of(context.progress, index / len(paper.parts), (index + 1) / len(paper.parts))
            tell(part.title, 0.0)
            kept = _do(out, paper, part, replace(context, progress=tell), made_with)
        found.append(kept)
    return found


def load(out: Path, paper: Paper, part: Part, made_with: dict[str, Any] | None = None) -> KeptPart | None:
    """A finished part, or None if there is none that was made with these options (by default, with any)."""
    folder = out / paper.name
    try:
        kept = json.loads((folder / f"{part.name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if made_with is not None and kept.get("made_with") != made_with:
        return None
    figures = tuple(KeptFigure(**one) for one in kept["figures"])
    if not all((folder / figure.file).is_file() for figure in figures):
        return None
    tables = tuple(table_from_dict(one) for one in kept["tables"])
    return KeptPart(
        part.name, part.title, tables, figures, tuple(kept["notes"]), kept["seconds"], kept["cpu_seconds"],
        kept["made_with"], again=True,
    )  # fmt: skip


def _do(out: Path, paper: Paper, part: Part, context: Context, made_with: dict[str, Any]) -> KeptPart:
    """Do one part; its JSON is written last, so that it speaks for the figures too."""
    wall, cpu = time.perf_counter(), _processor_time()
    result = part.work(context)
    seconds, cpu_seconds = time.perf_counter() - wall, _processor_time() - cpu
    kept = KeptPart(
        part.name, part.title, result.tables, _draw(out / paper.name, part, result), result.notes, seconds, cpu_seconds,
        made_with,
    )  # fmt: skip
    with written_whole(out / paper.name / f"{part.name}.json", force=True) as temporary:
        text = json.dumps(kept.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return kept


def _processor_time() -> float:
    """Seconds of processor time, those of finished helper processes included."""
    return sum(os.times()[:4])


def _draw(folder: Path, part: Part, result: PartResult) -> tuple[KeptFigure, ...]:
    from incrowd.plots.look import save

    kept = []
    for figure in result.figures:
        file = f"{part.name}-{figure.name}.svg"
        save(figure.chart, folder / file, force=True)
        kept.append(KeptFigure(figure.name, figure.title, figure.says, file))
    return tuple(kept)


def _made_with(context: Context) -> dict[str, Any]:
    """What an answer depends on: if none of it changed, neither did the answer."""
    from incrowd import __version__

    files: Sequence[Path] = sorted(context.data.glob("*.parquet")) if context.data else ()
    return {
        "version": __version__,
        "quick": context.quick,
        "seed": context.seed,
        "data": {file.name: file.stat().st_size for file in files},
    }
