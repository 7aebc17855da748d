"""Whether the pages still say what the code computes: the numbers of small runs, kept beside the pages.

`python -m papers.stale` writes them again. Do so together with the pages, `python -m docs.write_papers`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from incrowd.results import as_json
from papers import PAPERS, Context, Part, paper

KEPT = Path(__file__).parent / "small_runs.json"
SLOW = frozenset({"published", "protection", "scale", "simulation", "sensitivity"})
"""Parts that are not compared: they take long even when small, or say how long something took."""


def compared_parts() -> dict[str, Part]:
    """The parts that are compared, by paper and name."""
    parts = {f"{name}/{part.name}": part for name in PAPERS for part in paper(name).parts}
    return {name: part for name, part in parts.items() if part.name not in SLOW}


def run_small(part: Part) -> list[Any]:
    """The tables of a small run on generated data: their titles and cells."""
    result = part.work(Context(data=None, quick=True, seed=0))
    return [{"title": table.title, "cells": as_json([list(row) for row in table.cells])} for table in result.tables]


def main() -> None:
    """Write the numbers again."""
    kept = {name: run_small(part) for name, part in compared_parts().items()}
    KEPT.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    sys.stdout.write(f"{KEPT}\n")


if __name__ == "__main__":
    main()
