"""Run the parts of a paper. Each is saved as soon as it is finished, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import incrowd
from incrowd._support.files import written_whole
from incrowd._support.progress import part as share_of
from incrowd.errors import InputError
from incrowd.results import Result
from papers.parts import PAPERS, Comparison, Context, Grid, Paper, Part, PartResult, table_from_dict


@dataclass(frozen=True, slots=True)
class KeptFigure(Result):
    """A figure of a finished part, and its file."""

    name: str
    title: str
    remark: str
    file: str


@dataclass(frozen=True, slots=True)
class KeptPart(Result):
    """A finished part, as it is saved in a file."""

    name: str
    title: str
    tables: tuple[Comparison | Grid, ...]
    figures: tuple[KeptFigure, ...]
    notes: tuple[str, ...]
    made_with: dict[str, Any]
    commit: str
    seconds: float = 0.0
    from_earlier_run: bool = False
    _hidden: ClassVar[frozenset[str]] = frozenset({"from_earlier_run", "seconds"})


def _ignore(line: str) -> None:
    """Ignore the line."""


def reproduce(
    paper: Paper, out: Path, context: Context, *, force: bool = False, announce: Callable[[str], None] = _ignore
) -> list[KeptPart]:
    """Run every part of a paper; a part that `out` already has, made with the same options, is not run again.

    Args:
        paper: what to reproduce.
        out: the folder to write to. Quick runs and full ones are kept apart.
        context: the options of the run.
        force: whether to run finished parts again.
        announce: called with a line when a part begins.

    Returns:
        The finished parts.

    Raises:
        InputError: a folder does not exist or is a file, or the seed is negative.
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
        kept = None if force else load_part(out, paper, part, quick=context.quick, made_with=made_with)
        state = "begins" if kept is None else "is kept from an earlier run"
        announce(f"{paper.name}, part {index + 1} of {len(paper.parts)} {state}: {part.title}")
        if kept is None:
            tell = share_of(context.progress, index / len(paper.parts), (index + 1) / len(paper.parts))
            tell(part.title, 0.0)
            data = context.data if part.files else None
            kept = _run_part(out, paper, part, replace(context, data=data, progress=tell), made_with)
        found.append(kept)
    return found


def output_name(paper: Paper, *, quick: bool) -> str:
    """The name of a paper's folder and pages; a quick run has its own, so that it does not replace a full one."""
    return f"{paper.name}-quick" if quick else paper.name


def load_part(
    out: Path, paper: Paper, part: Part, *, quick: bool = False, made_with: dict[str, Any] | None = None
) -> KeptPart | None:
    """A finished part, or None if there is none that was made with these options (by default, with any).

    A file that cannot be read, or has another structure, does not count as finished.
    """
    folder = out / output_name(paper, quick=quick)
    try:
        kept = json.loads((folder / f"{part.name}.json").read_text(encoding="utf-8"))
        if made_with is not None and kept["made_with"] != made_with:
            return None
        figures = tuple(KeptFigure(**one) for one in kept["figures"])
        tables = tuple(table_from_dict(one) for one in kept["tables"])
        found = KeptPart(
            part.name, part.title, tables, figures, tuple(kept["notes"]), kept["made_with"], kept["commit"],
            from_earlier_run=True,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if all((folder / figure.file).is_file() for figure in figures) else None


def _run_part(out: Path, paper: Paper, part: Part, context: Context, made_with: dict[str, Any]) -> KeptPart:
    """Run one part and save it; its JSON is written last, so that it exists only if the figures do.

    Files of an earlier run are deleted before the first figure is written: an interrupted run never leaves an old
    table with a new figure.
    """
    began = time.perf_counter()
    result = part.work(context)
    seconds = time.perf_counter() - began
    name = output_name(paper, quick=context.quick)
    target = out / name / f"{part.name}.json"
    for old in (target, out / f"{name}.md", out / f"{name}.html"):
        old.unlink(missing_ok=True)
    kept = KeptPart(
        part.name, part.title, result.tables, _draw(out / name, part, result), result.notes, made_with,
        _commit(), seconds,
    )  # fmt: skip
    with written_whole(target, force=True) as temporary:
        text = json.dumps(kept.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return kept


@cache
def _commit() -> str:
    """The commit of the code, with a plus if files differ from it; empty outside of a clone."""
    shown = ["git", "-C", str(_PAPERS), "describe", "--always", "--abbrev=8", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _draw(folder: Path, part: Part, result: PartResult) -> tuple[KeptFigure, ...]:
    from incrowd.figures.theme import save

    kept = []
    for figure in result.figures:
        file = f"{part.name}-{figure.name}.svg"
        save(figure.chart, folder / file, force=True)
        kept.append(KeptFigure(figure.name, figure.title, figure.remark, file))
    return tuple(kept)


def _made_with(paper: Paper, part: Part, context: Context) -> dict[str, Any]:
    """Everything that the results of a part depend on."""
    return {
        "version": incrowd.__version__,
        "code": _code_digest(paper.name.replace("-", "_")),
        "quick": context.quick,
        "seed": context.seed,
        "data": {file: _digest(context.data / file) for file in part.files if context.data and context.has(file)},
    }


def _digest(file: Path) -> str:
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


_PACKAGE, _PAPERS = Path(incrowd.__file__).parent, Path(__file__).parent
_DISPLAY_ROOMS = ("cli", "web", "reports")  # rooms that no part uses


@cache
def _code_digest(own: str) -> str:
    """A digest of the sources of incrowd and of one paper, without those that only display results."""
    others = {module.split(".")[-1] for module in PAPERS.values()} - {own}
    digest = blake2b(digest_size=16)
    for root, skipped in ((_PACKAGE, _DISPLAY_ROOMS), (_PAPERS, {"page.py", *others})):
        for file in sorted(root.rglob("*.py")):
            where = file.relative_to(root).parts
            if where[0] not in skipped:
                digest.update("/".join(where).encode() + b"\0" + blake2b(file.read_bytes()).digest())
    return digest.hexdigest()
