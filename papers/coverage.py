"""Every numbered item of the four papers: where it is, and the tests that prove it.

`numbered_items.csv` lists the items with the library's function (or the reproduction's, `papers.…`, which runs from a
clone), the command and the part of the app's interface (assessments, forecasts, curves, leaks, …). The checks are not
listed there: they are the tests marked with `@pytest.mark.paper("leak-attack", "eq. 5")`.
"""

from __future__ import annotations

import ast
import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from incrowd.errors import InputError
from papers.parts import PAPERS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "coverage.md"
_TITLES = dict(zip(PAPERS, ("Scaling law", "Synthetic estimator", "Proper anonymisation", "Leak attack"), strict=True))
Checks = dict[tuple[str, str], list[str]]


@dataclass(frozen=True, slots=True)
class Item:
    """One numbered item of a paper, or several that are one thing; a place is empty where the item is not there.

    `state` is "done", "stand-in" (on other data than the paper's) or "missing"; `reason` says why it is not done.
    """

    paper: str
    label: str
    about: str
    library: tuple[str, ...]
    commands: tuple[str, ...]
    app: tuple[str, ...]
    state: str = "done"
    reason: str = ""


STATES = ("done", "stand-in", "missing")


def numbered_items() -> list[Item]:
    """All items, in the order of the papers.

    >>> numbered_items()[0].label
    'eq. 1'
    """
    with (Path(__file__).parent / "numbered_items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="|"))[1:]
    return [
        Item(paper, label, about, _names(library), _names(commands), _names(app), *state.split(": ", 1))
        for paper, label, about, library, commands, app, state in rows
    ]


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name for name in cell.split(", ") if name)


def collect_checks(tests: Path = ROOT / "tests") -> Checks:
    """The tests of every item, as `file::name` below the tests' folder.

    Raises:
        InputError: a test names an item that is not listed.
    """
    listed = {(item.paper, item.label) for item in numbered_items()}
    found: Checks = {}
    for file in sorted(tests.rglob("test_*.py")):
        for test, paper, labels in _marked_tests(ast.parse(file.read_text(encoding="utf-8"))):
            where = f"{file.relative_to(tests).as_posix()}::{test}"
            for label in labels:
                if (paper, label) not in listed:
                    raise InputError(f"{where} is marked with {paper} {label}, which papers/numbered_items.csv lacks")
                found.setdefault((paper, label), []).append(where)
    return found


def _marked_tests(tree: ast.Module) -> Iterator[tuple[str, str, list[str]]]:
    """The functions with the marker: name, paper, items."""
    for node in (one for one in tree.body if isinstance(one, ast.FunctionDef)):
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.paper":
                paper, *labels = (ast.literal_eval(argument) for argument in decorator.args)
                yield node.name, paper, labels


def coverage_page() -> str:
    """The page of all items, as Markdown."""
    items, checks = numbered_items(), collect_checks()
    lines = [*_HEAD, *_summary(items), ""]
    for paper in PAPERS:
        chosen = [item for item in items if item.paper == paper]
        lines += [f"## {_TITLES[paper]}", "", f"[The paper, reproduced]({paper}.md)", ""]
        lines += ["| item | what | library | command | app | checked by |", "|---|---|---|---|---|---|"]
        lines += [_row(item, checks.get((paper, item.label), [])) for item in chosen]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


_HEAD = (
    "# Every item of the papers",
    "",
    "Each numbered equation, algorithm, table and figure of the four papers: what computes it, the command and the",
    "part of the app that show it, and the tests that prove it by an independent computation. A function of `papers`",
    "runs from a clone, with `python -m papers`. This page is written by `python -m papers.coverage` from the marks of",
    "the tests; a test fails when it is stale, when an item has no test, or when a name on it does not exist.",
    "",
    "A *stand-in* computes the paper's item on other data, because the paper's are closed, sold or not at hand; its",
    "numbers are compared with the paper's as another sample of the same task. *Missing*: nothing stands in.",
    "",
    "What has no command is a study over many tables or a worked example, and no question about a table of one's own:",
    "those run as a whole, with `python -m papers`. The app asks about a table at hand, or about curves and ranks of a",
    "study. Not in it: a known distribution and the law by itself, which are about no table; the published copulas,",
    "which the estimator of the app has replaced and only a comparison needs; and the published recursion for leaks,",
    "which is wrong.",
    "",
)


def _summary(items: list[Item]) -> list[str]:
    count = Counter(item.paper for item in items)
    lines = [
        "| paper | items | done | stand-in | missing | on the command line | in the app |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for paper in PAPERS:
        chosen = [item for item in items if item.paper == paper]
        reach = (sum(bool(item.commands) for item in chosen), sum(bool(item.app) for item in chosen))
        states = Counter(item.state for item in chosen)
        cells = (_TITLES[paper], count[paper], *(states[state] for state in STATES), *reach)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _row(item: Item, checks: list[str]) -> str:
    code = (", ".join(f"`{name}`" for name in names) or "–" for names in (item.library, item.commands, item.app))
    tests = "<br>".join(f"`{check}`" for check in checks) or "–"
    about = item.about if item.state == "done" else f"{item.about}; **{item.state}**: {item.reason}"
    return f"| {item.label} | {about} | {' | '.join(code)} | {tests} |"


if __name__ == "__main__":
    PAGE.write_text(coverage_page(), encoding="utf-8", newline="\n")
