"""A parallel `map` over two worker processes."""

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


def map_in_processes(
    work: Callable[[Task, Context], Result], tasks: Sequence[Task], context: Context
) -> Iterator[Result]:
    """Run tasks in two processes (a quick run: in this one) and yield their results in order; reports progress.

    `work` must be a function of a module; it gets a context without progress.
    """
    plain = replace(context, progress=silent)
    contexts = [plain] * len(tasks)
    if context.quick:
        yield from _with_progress(map(work, tasks, contexts), tasks, context)
        return
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=_use_default_interrupt) as pool:
        yield from _with_progress(pool.map(work, tasks, contexts), tasks, context)


def _use_default_interrupt() -> None:
    """Let Ctrl-C end a worker process without a traceback; the main process reports it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _with_progress(results: Iterator[Result], tasks: Sequence[Task], context: Context) -> Iterator[Result]:
    for number, (task, result) in enumerate(zip(tasks, results, strict=True)):
        context.progress(f"{task} is done", (number + 1) / len(tasks))
        yield result
