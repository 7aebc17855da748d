"""What is decided, beside what is true: `python -m benchmarks.decision [PIECE …]`; each piece can be run alone.

families     relations with a known law at several numbers of rows (--rows, --laws FILE)
independent  tables of independent columns, where every no is a false alarm (--tables)
tables       public tables with all columns kept: verdict at k = 11, success by look, what is blamed
ways         the ways to a yes for public tables, typed as they are printed
known        each column of twelve public tables named known once, beside an independent count
advice       what is suggested, decided and advised on public tables and generated traps
paste        a script that pastes whatever is printed
agreement    the same question to every command that decides
cost         CPU seconds and memory, beside an older checkout (--old FOLDER)
page         write the tables of docs/decision.md from the kept rows
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from benchmarks.decision.advice import run_advice, run_paste
from benchmarks.decision.agreement import run_agreement
from benchmarks.decision.cost import run_cost
from benchmarks.decision.families import run_families, run_independent
from benchmarks.decision.page import write_page
from benchmarks.decision.public import run_known, run_tables, run_ways

PIECES: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "families": run_families,
    "independent": run_independent,
    "tables": run_tables,
    "ways": run_ways,
    "known": run_known,
    "advice": run_advice,
    "paste": run_paste,
    "agreement": run_agreement,
    "cost": run_cost,
    "page": write_page,
}


def main() -> None:
    """Run the named pieces, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pieces", nargs="*", metavar="PIECE")
    parser.add_argument("--names", nargs="+", help="only these tables or relations")
    parser.add_argument("--columns", nargs="+", help="known: only these columns")
    parser.add_argument("--rows", nargs="+", type=int, help="numbers of rows")
    parser.add_argument("--tables", type=int, help="how many tables")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--laws", help="families: a module with families() and make()")
    parser.add_argument("--old", help="cost: a checkout to compare with")
    asked = parser.parse_args(sys.argv[1:])
    unknown = [piece for piece in asked.pieces if piece not in PIECES]
    if unknown:
        parser.error(f"there is no piece {unknown[0]!r}; there are: {', '.join(PIECES)}")
    _leave_out_forecasts()
    warnings.simplefilter("ignore")
    for piece in asked.pieces or PIECES:
        PIECES[piece](asked)


def _leave_out_forecasts() -> None:
    """Forecasts, on which no decision rests, take most of the time on small tables."""
    from incrowd.assessment import api
    from incrowd.assessment.result import SECTIONS

    def left_out(_: Any) -> NoReturn:
        from incrowd import UnsupportedError

        raise UnsupportedError("left out")

    sections = [
        dataclasses.replace(section, answer=left_out) if section.name == "forecast" else section for section in SECTIONS
    ]
    vars(api)["SECTIONS"] = tuple(sections)
