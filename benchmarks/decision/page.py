"""Write the tables of docs/decision.md from the rows that the pieces kept."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import harness
from benchmarks.decision.families import summarise
from benchmarks.decision.running import Row, line_of

_PAGE = Path(__file__).parents[2] / "docs" / "decision.md"
_START, _END = "<!-- made by benchmarks/decision: start -->", "<!-- made by benchmarks/decision: end -->"
_SECTIONS = {
    "families": (
        "Relations with a known law",
        ("family", "noise", "rows", "kind", "top", "decision", "success", "bound"),
    ),
    "tables": ("Public tables, all other columns kept", ("table", "decision", "success", "blamed")),
    "ways": ("Ways to a yes", ("table", "k", "kept", "left_out", "expected", "typed")),
    "known": ("Columns named known", ("table", "column", "certain", "usual", "gained", "decision")),
    "cost": ("Cost", ("command", "cpu", "cpu_old", "ratio", "peak_mb")),
    "advice": ("Advice", ("table", "suggested", "guessed", "confirmed", "advised", "followed")),
}


def write_page(_: argparse.Namespace) -> None:
    """Replace what stands between the markers."""
    parts = [_section(piece, title, columns) for piece, (title, columns) in _SECTIONS.items()]
    page = _PAGE.read_text(encoding="utf-8")
    before, rest = page.split(_START)
    made = "\n\n".join(part for part in parts if part)
    _PAGE.write_text(f"{before}{_START}\n{made}\n{_END}{rest.split(_END)[1]}", encoding="utf-8")


def _section(piece: str, title: str, columns: tuple[str, ...]) -> str:
    path = harness.RESULTS / f"decision_{piece}.json"
    if not path.exists():
        return ""
    rows: list[Row] = json.loads(path.read_text())
    if piece == "known":
        rows = [row for row in rows if row.get("gained")]
    heading = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    lines = [f"### {title}", "", heading, *(line_of(row, columns) for row in rows)]
    if piece == "families":
        lines.append(summarise(rows))
    return "\n".join(lines)
