"""Both cores at work: a `map` over two processes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import TypeVar

from incrowd._support.progress import silent
from papers.parts import Context

Task = TypeVar("Task")
Result = TypeVar("Result")


def spread(work: Callable[[Task, Context], Result], tasks: Sequence[Task], context: Context) -> Iterator[Result]:
    """Do tasks in two processes (when quick, in this one) and give their results in order; progress is told of each.

    `work` is a function of a module, which tells nobody of its own progress.
    """
    plain = replace(context, progress=silent)
    contexts = [plain] * len(tasks)
    if context.quick:
        yield from _told(map(work, tasks, contexts), tasks, context)
        return
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=_end_quietly) as pool:
        yield from _told(pool.map(work, tasks, contexts), tasks, context)


def _end_quietly() -> None:
    """A helper process that is stopped by the keyboard just ends: the one who waits for it says so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _told(results: Iterator[Result], tasks: Sequence[Task], context: Context) -> Iterator[Result]:
    for number, (task, result) in enumerate(zip(tasks, results, strict=True)):
        context.progress(f"{task} is done", (number + 1) / len(tasks))
        yield result
