"""Relations with a known law: the verdict on a release beside its best attacker; and tables without any relation."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from benchmarks.decision import laws
from benchmarks.decision.best_attacker import best_success
from benchmarks.decision.independent import make_independent
from benchmarks.decision.releases import class_numbers, release
from benchmarks.decision.running import Row, Rows, measured

SECRET = "illness"
_COLUMNS = ("family", "noise", "rows", "kind", "top", "average", "decision", "success", "bound", "cpu")


def run_families(asked: argparse.Namespace) -> None:
    """Every relation at every number of rows; `--laws FILE` takes those of another module with `families()`."""
    source: Any = _module(asked.laws) if asked.laws else laws
    piece = f"families_{Path(asked.laws).stem}" if asked.laws else "families"
    rows = Rows(piece, ("family", "noise", "rows", "seed"), _COLUMNS)
    for size in asked.rows or (1_000, 4_000, 30_000):
        for law in source.families():
            if asked.names and law.name not in asked.names:
                continue
            known, kept = source.make(law, size, asked.seed)
            row = _judged(law, known, kept)
            rows.add({"family": law.name, "noise": law.noise, "rows": size, "seed": asked.seed, **row})
    print(summarise(rows))


def run_independent(asked: argparse.Namespace) -> None:
    """Tables whose kept columns have nothing to do with the known ones: every no is a false alarm."""
    rows = Rows("independent", ("seed",), ("seed", "rows", "columns", "decision", "why", "cpu"))
    first = asked.seed
    for seed in range(first, first + (asked.tables or 200)):
        known, kept = make_independent(seed)
        row = _judged(None, known, kept)
        rows.add({"seed": seed, "rows": len(known), "columns": len(kept.columns), **row})
    decisions = Counter(row["decision"] for row in rows)
    print(f"\n{sum(decisions.values())} tables of independent columns: {_listed(decisions)}.")


def summarise(rows: Iterable[Row]) -> str:
    """How many of the broken releases get a yes, and how many harmless ones a no, by number of rows."""
    stored = list(rows)
    lines = []
    for size in sorted({row["rows"] for row in stored}):
        alike = [row for row in stored if row["rows"] == size]
        broken = [row for row in alike if row["kind"] == "broken"]
        harmless = [row for row in alike if row["kind"] == "harmless"]
        false_yes = [f"{row['family']} ({row['noise']})" for row in broken if row["decision"] == "within"]
        false_no = [f"{row['family']} ({row['noise']})" for row in harmless if row["decision"] in ("over", "exposed")]
        lines.append(
            f"\nn = {size:,}: {len(false_yes)} of {len(broken)} broken releases get a yes"
            f"{_named(false_yes)}; {len(false_no)} of {len(harmless)} harmless ones a no{_named(false_no)}."
        )
    return "\n".join(lines)


def _judged(law: Any, known: pd.DataFrame, kept: pd.DataFrame) -> Row:
    """The verdict on the release with k = 11, and the truth where there is a law."""
    with tempfile.TemporaryDirectory() as folder:
        table = pd.concat([known, kept], axis=1)
        other = [name for name in kept.columns.tolist() if name != SECRET]
        released = release(folder, table, known.columns.tolist(), sensitive=[SECRET], other=other, shuffle=law is None)
    found = measured(released.ran.answer)
    row: Row = {"decision": released.ran.decision, "why": list(released.ran.verdict.get("exposures", ()))}
    row |= {"success": found.get("success", ""), "bound": found.get("bound", ""), "found": found}
    row |= {"cpu": released.ran.cpu, "cpu_protect": released.cpu_protect}
    if law is not None:
        truth = best_success(law, known, kept, class_numbers(released.frame, known.columns.tolist()))
        row |= {"kind": truth.kind, "top": truth.top, "expected": truth.expected, "average": truth.average}
    return row


def _module(path: str) -> ModuleType:
    """The module of a file, with the modules beside it."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    sys.path.insert(0, str(Path(path).resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _named(names: list[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())
