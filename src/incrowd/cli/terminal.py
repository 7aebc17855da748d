"""Terminal output: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import json
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from incrowd._support import progress
from incrowd.results import DataTable, Result, Statement
from incrowd.wording import single_value, with_display_names

_SHORT = 18  # characters of a cell that is not wrapped
_PADDING = 3
_BAR_DELAY = 1.0  # seconds


def _printable(text: str) -> str:
    """Replace control characters; a line feed in a column's name would begin a line that looks like ours."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\t" else "\ufffd" for letter in text)


def _safe(text: str) -> str:
    """Escape markup of Rich and replace control characters."""
    return escape(_printable(text))


def _out() -> Console:
    """A new console for each call, because stdout may have been redirected since."""
    return Console(highlight=False)


def _err() -> Console:
    return Console(stderr=True, highlight=False)


def line(text: str = "") -> None:
    """Write one line of the result; markup in names and values is escaped."""
    _out().print(_safe(text), soft_wrap=True)


def paragraph(text: str, first: str = "") -> None:
    """Write a text, on a terminal wrapped between words and indented by the width of `first`, such as a bullet."""
    console, text = _out(), _printable(text)
    if console.is_terminal:
        text = textwrap.fill(
            text,
            max(console.width, len(first) + 20),
            initial_indent=first,
            subsequent_indent=" " * len(first),
            break_long_words=False,
            break_on_hyphens=False,
        )
    else:
        text = first + text
    console.print(escape(text), soft_wrap=True)


def command(text: str, *, as_note: bool = False) -> None:
    """Write a command to copy, on a line of its own that is never wrapped; as a note to stderr."""
    console = _err() if as_note else _out()
    console.print(f"     [bold]{_safe(text)}[/bold]", soft_wrap=True, highlight=False)


def heading(text: str) -> None:
    """Write a heading of the result."""
    _out().print(f"\n[bold]{_safe(text)}[/bold]")


def note(text: str) -> None:
    """Write a note to stderr."""
    _err().print(f"[dim]note:[/dim] {_safe(text)}", soft_wrap=True)


def problem(text: str) -> None:
    """Write an error to stderr."""
    _err().print(f"[bold red]error:[/bold red] {_safe(text)}", soft_wrap=True)


def print_json(result: Any) -> None:
    """Write the result as JSON."""
    plain = (getattr(sys.stdout, "encoding", None) or "").lower() not in ("utf-8", "utf8")
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=plain, allow_nan=False) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table; numbers are aligned right, text left."""
    shown = Table(header_style="bold", box=SIMPLE_HEAD)
    console = _out()
    widths = [max([len(name), *(len(single_value(row[index])) for row in rows)]) for index, name in enumerate(columns)]
    short_cells_fit = sum(min(width, _SHORT) + _PADDING for width in widths) <= console.width
    words = [_longest_word([name, *(single_value(row[index]) for row in rows)]) for index, name in enumerate(columns)]
    words_fit = sum(width + _PADDING for width in words) <= console.width  # otherwise long words are folded
    for index, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        shown.add_column(
            _safe(name),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=short_cells_fit and widths[index] <= _SHORT,
            min_width=words[index] if words_fit else None,
        )
    for row in rows:
        shown.add_row(*(_safe(single_value(value)) for value in row))
    console.print(shown)


def result(shown: Result) -> None:
    """Write what a person reads of a result: its numbers, its rows and its sentences."""
    if shown.statements:
        statements(shown.statements)
    for one in shown.data_tables:
        rows(one)
    for sentence in shown.sentences:
        line(sentence)


def statements(numbers: Sequence[Statement], names: dict[str, str] | None = None) -> None:
    """Write numbers with what they mean; if all are equally sure, that is one line below them, not a column.

    Args:
        numbers: the numbers.
        names: display names of unprintable column names.
    """
    certainties = {one.sure for one in numbers}
    columns = ("what", "number", "in plain words", "how sure")[: 4 if len(certainties) > 1 else 3]
    cells = [(one.name, one.shown, one.meaning, one.sure)[: len(columns)] for one in numbers]
    table(columns, with_display_names(cells, names or {}))
    if len(certainties) == 1:
        line(f"  How sure: {certainties.pop()}.")


def rows(shown: DataTable, names: dict[str, str] | None = None) -> None:
    """Write rows with their caption."""
    heading(shown.caption)
    table(shown.columns, with_display_names(shown.rows, names or {}))


def _longest_word(texts: Sequence[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)


@contextmanager
def show_progress(doing: str, *, lines: bool = False) -> Iterator[progress.Progress]:
    """A progress bar on stderr for work that takes longer than a second, on a terminal only.

    With `lines`, for work of minutes, each step is a note if stderr is not a terminal.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = _err()
    if lines and not console.is_terminal:
        yield _progress_as_notes(doing)
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(_safe(doing), total=None)
    started = time.monotonic()

    def report(now_doing: str, share: float) -> None:
        bar.update(task, description=_safe(now_doing), total=1.0, completed=share)
        if not bar.live.is_started and time.monotonic() - started > _BAR_DELAY:
            bar.start()

    timer = threading.Timer(_BAR_DELAY, bar.start)  # even if the work reports no progress
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _progress_as_notes(doing: str) -> progress.Progress:
    """Write a note for each step, with the seconds since the start."""
    started, last = time.monotonic(), ""

    def report(now_doing: str, share: float) -> None:
        nonlocal last
        if now_doing != last:
            last = now_doing
            note(f"{now_doing} (after {time.monotonic() - started:.0f} s)")

    report(doing, 0.0)
    return report
