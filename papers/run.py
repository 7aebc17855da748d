"""Do a paper's parts, each kept whole as soon as it is done, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import incrowd
from incrowd._support.files import written_whole
from incrowd._support.progress import part as share_of
from incrowd.errors import InputError
from incrowd.results import Result
from papers.parts import PAPERS, Comparison, Context, Grid, Paper, Part, PartResult, table_from_dict


@dataclass(frozen=True, slots=True)
class KeptFigure:
    """A figure that was drawn, and the file it is in."""

    name: str
    title: str
    says: str
    file: str


@dataclass(frozen=True, slots=True)
class KeptPart(Result):
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


def _nobody(line: str) -> None:
    """Told of every part, and says nothing."""


def reproduce(
    paper: Paper, out: Path, context: Context, *, force: bool = False, tell_part: Callable[[str], None] = _nobody
) -> list[KeptPart]:
    """Every part of a paper; a part that `out` has already, made with the same options, is not done again.

    Quick runs and full ones are kept apart. `force` does all parts again. `tell_part` gets a line for each part as it
    begins, where nobody can watch the progress.
    """
    if context.data is not None and not context.data.is_dir():
        raise InputError(f"no folder {context.data}; name one that holds the public tables, or leave --data out")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder to write to")
    if context.seed < 0:
        raise InputError(f"a seed of {context.seed}; give 0 or more")
    found = []
    for index, part in enumerate(paper.parts):
        made_with = _made_with(paper, part, context)
        kept = None if force else load(out, paper, part, quick=context.quick, made_with=made_with)
        state = "begins" if kept is None else "is kept from an earlier run"
        tell_part(f"{paper.name}, part {index + 1} of {len(paper.parts)} {state}: {part.title}")
        if kept is None:
            tell = share_of(context.progress, index / len(paper.parts), (index + 1) / len(paper.parts))
            tell(part.title, 0.0)
            data = context.data if part.files else None
            kept = _do(out, paper, part, replace(context, data=data, progress=tell), made_with)
        found.append(kept)
    return found


def called(paper: Paper, *, quick: bool) -> str:
    """The name of a paper's folder and pages: a quick run has its own, so that it takes nothing from a full one."""
    return f"{paper.name}-quick" if quick else paper.name


def load(
    out: Path, paper: Paper, part: Part, *, quick: bool = False, made_with: dict[str, Any] | None = None
) -> KeptPart | None:
    """A finished part, or None if there is none that was made with these options (by default, with any).

    A file that cannot be read, or is not of this form, is no finished part.
    """
    folder = out / called(paper, quick=quick)
    try:
        kept = json.loads((folder / f"{part.name}.json").read_text(encoding="utf-8"))
        if made_with is not None and kept["made_with"] != made_with:
            return None
        figures = tuple(KeptFigure(**one) for one in kept["figures"])
        tables = tuple(table_from_dict(one) for one in kept["tables"])
        found = KeptPart(
            part.name, part.title, tables, figures, tuple(kept["notes"]), kept["seconds"], kept["cpu_seconds"],
            kept["made_with"], again=True,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if all((folder / figure.file).is_file() for figure in figures) else None


def _do(out: Path, paper: Paper, part: Part, context: Context, made_with: dict[str, Any]) -> KeptPart:
    """Do one part; its JSON is written last, so that it speaks for the figures too.

    What an earlier run kept goes before the first figure is drawn over: a run that is stopped in between leaves no
    old table beside a new figure.
    """
    wall, cpu = time.perf_counter(), _processor_time()
    result = part.work(context)
    seconds, cpu_seconds = time.perf_counter() - wall, _processor_time() - cpu
    name = called(paper, quick=context.quick)
    target = out / name / f"{part.name}.json"
    for old in (target, out / f"{name}.md", out / f"{name}.html"):
        old.unlink(missing_ok=True)
    kept = KeptPart(
        part.name, part.title, result.tables, _draw(out / name, part, result), result.notes, seconds, cpu_seconds,
        made_with,
    )  # fmt: skip
    with written_whole(target, force=True) as temporary:
        text = json.dumps(kept.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return kept


def _processor_time() -> float:
    """Seconds of processor time, those of finished helper processes included."""
    return sum(os.times()[:4])


def _draw(folder: Path, part: Part, result: PartResult) -> tuple[KeptFigure, ...]:
    from incrowd.figures.theme import save

    kept = []
    for figure in result.figures:
        file = f"{part.name}-{figure.name}.svg"
        save(figure.chart, folder / file, force=True)
        kept.append(KeptFigure(figure.name, figure.title, figure.says, file))
    return tuple(kept)


def _made_with(paper: Paper, part: Part, context: Context) -> dict[str, Any]:
    """What an answer depends on: if none of it changed, neither did the answer."""
    return {
        "version": incrowd.__version__,
        "code": _code(paper.name.replace("-", "_")),
        "quick": context.quick,
        "seed": context.seed,
        "data": {file: _content(context.data / file) for file in part.files if context.data and context.has(file)},
    }


def _content(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


_PACKAGE, _PAPERS = Path(incrowd.__file__).parent, Path(__file__).parent
_ONLY_SHOW = ("cli", "web", "reports")  # rooms that no part of a paper calls


@cache
def _code(own: str) -> str:
    """A digest of the sources of incrowd and of one paper, without those that only show results."""
    others = {module.split(".")[-1] for module in PAPERS.values()} - {own}
    digest = blake2b(digest_size=16)
    for root, skipped in ((_PACKAGE, _ONLY_SHOW), (_PAPERS, {"page.py", *others})):
        for file in sorted(root.rglob("*.py")):
            where = file.relative_to(root).parts
            if where[0] not in skipped:
                digest.update("/".join(where).encode() + b"\0" + blake2b(file.read_bytes()).digest())
    return digest.hexdigest()
