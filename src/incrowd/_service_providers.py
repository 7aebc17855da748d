"""Connects results to the rooms below them that draw, report and evaluate them. Loaded by `incrowd/__init__.py`.

This is the last line of the map: it may import every room, and no room imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd._support.services import provide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from incrowd._support.progress import Progress
    from incrowd.assessment import Assessment
    from incrowd.attacks import AttackRisk
    from incrowd.evaluation import Evaluation
    from incrowd.protection import Protected
    from incrowd.results import Result


@provide("figure")
def _draw(result: Result) -> Any | None:
    from incrowd.figures import figure_of

    return figure_of(result)


@provide("report")
def _report(assessment: Assessment, path: str | Path | None, *, external: bool, force: bool) -> str:
    from incrowd.reports import to_html, write_html

    if path is None:
        return to_html(assessment, external=external)
    return write_html(assessment, path, external=external, force=force).read_bytes().decode("utf-8")


@provide("evaluation")
def _evaluate(protected: Protected, *, sensitive: Sequence[str], progress: Progress, **asked: Any) -> Evaluation:
    from incrowd.evaluation import evaluate

    assert protected.original is not None
    return evaluate(
        protected.original,
        protected.table if protected.generalised is None else protected.generalised,
        quasi_identifiers=protected.quasi_identifiers,
        sensitive=sensitive,
        person=protected.person,
        hierarchies=protected.hierarchies,
        kept_rows=protected.kept_rows,
        **asked,
        progress=progress,
    )


@provide("linkage")
def _attack(protected: Protected, *, targets: int, seed: int, progress: Progress) -> AttackRisk:
    from incrowd.attacks import attack

    assert protected.original is not None
    rows = range(protected.original.rows) if protected.kept_rows is None else protected.kept_rows.tolist()
    spread = protected.settings.get("spread", {})
    return attack(
        protected.original,
        protected.table if protected.generalised is None else protected.generalised,
        kind="linkage",
        known=protected.quasi_identifiers,
        targets=targets,
        seed=seed,
        spread={name: size for name, size in spread.items() if name in protected.quasi_identifiers},
        kept_rows=rows,
        progress=progress,
    )
