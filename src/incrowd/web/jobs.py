"""Background jobs: worker threads serve the sessions in turn, report progress and can be cancelled."""

from __future__ import annotations

import ctypes
import logging
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.progress import Progress
from incrowd.errors import IncrowdError
from incrowd.web import models
from incrowd.web.fields import JobKind, State
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.refusals import Refusal, not_found, public_words

if TYPE_CHECKING:
    from incrowd.web.releases import Release
    from incrowd.web.session_table import OpenTable

_PATIENCE = 3.0  # seconds that jobs have to stop when the server ends
_log = logging.getLogger("incrowd.web")


class Cancelled(Exception):  # noqa: N818
    """Raised inside a cancelled task when it next reports progress."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Result of a task.

    Attributes:
        value: the library's own result.
        to_json: returns the result as JSON types.
        to_figures: returns the figures as JSON types.
        file: a table that can be downloaded.
        bytes: the size of that file.
        release: the protected table in that file.
        summary: a few numbers of the result, for the audit trail, projects and decisions.
    """

    value: Any
    to_json: Callable[[], dict[str, Any]]
    to_figures: Callable[[], dict[str, Any]]
    file: Path | None = None
    bytes: int = 0
    release: Release | None = None
    summary: dict[str, Any] = field(default_factory=dict)


def _delete_files(outcome: Outcome) -> None:
    if outcome.release is not None:
        outcome.release.delete()
    elif outcome.file is not None:
        outcome.file.unlink(missing_ok=True)


def _trim_memory() -> None:
    """Return freed memory to the system; glibc would keep most of it, and the server would grow to twice its size."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


Publish = Callable[[Outcome], None]
Task = Callable[[Progress, Publish], Outcome]


@dataclass(slots=True, eq=False)
class Job:
    """One task of a session with its state and its outcome. `stages` counts the outcomes that were published."""

    session: str
    kind: JobKind
    table: str | None
    task: Task | None
    equivalent: models.Equivalent
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    state: State = "waiting"
    progress: float | None = None
    stage: str = "waiting for its turn"
    message: str = ""
    outcome: Outcome | None = None
    stages: int = 0
    started: float | None = None
    ended: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    source: OpenTable | None = None
    settings: models.TableSettings | None = None  # of the table when the job was started
    reading: dict[str, Any] | None = None  # reading options of the table's file at that time
    question: dict[str, Any] = field(default_factory=dict)  # the request, as JSON
    name: str = ""  # of a candidate

    def __post_init__(self) -> None:
        if self.reading is None and self.source is not None:
            self.reading = self.source.source.how

    @property
    def finished(self) -> bool:
        """True if the state will not change any more."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def quick(self) -> bool:
        """True if the job takes milliseconds and answers a slider."""
        return self.kind == "leak"

    @property
    def question_changed(self) -> bool:
        """True if the settings other than protection, or the reading options, have changed since the start."""
        if self.source is None or self.settings is None:
            return False
        now = self.source.current
        same = now.settings.model_copy(update={"protection": self.settings.protection})
        return now.source.how != self.reading or same != self.settings

    @property
    def stale(self) -> bool:
        """True if the question has changed since the start; for a protection also if the protection has changed."""
        if self.question_changed or self.source is None or self.settings is None:
            return self.question_changed
        if self.kind not in ("protection", "solution"):
            return False
        return self.source.current.settings.protection not in (self.settings.protection, self._solved)

    @property
    def _solved(self) -> ProtectionRequest | None:
        """The protection that a search found, which makes its table again."""
        if self.kind != "solution" or self.state != "done" or self.outcome is None:
            return None
        return ProtectionRequest(**self.outcome.to_json()["protection"])

    def info(self) -> models.JobInfo:
        """The job as the API shows it."""
        seconds = 0.0 if self.started is None else (self.ended or time.monotonic()) - self.started
        shared = models.JobInfo.model_fields.keys() & {part.name for part in fields(self)} - {"created"}
        return models.JobInfo(
            **{name: getattr(self, name) for name in shared},
            has_result=self.outcome is not None,
            stale=self.stale,
            question_changed=self.question_changed,
            created=self.created.isoformat(timespec="milliseconds"),
            seconds=round(seconds, 3),
        )

    def answer(self) -> Outcome:
        """The outcome so far; a refusal if there is none yet."""
        if self.outcome is not None:
            return self.outcome
        if self.state == "failed":
            raise Refusal(409, f"the work failed: {self.message}")
        if self.state == "cancelled":
            raise Refusal(409, "the work was cancelled; start it again")
        raise Refusal(409, "the work is not done yet; ask again in a moment")

    def discard(self) -> None:
        """Drop the outcome and delete its files."""
        if self.outcome is not None:
            _delete_files(self.outcome)
        self.outcome = self.task = self.source = None


class Jobs:
    """All jobs of a server. Sessions take turns, so that one with many jobs does not hold up the others.

    Quick jobs, which answer a slider, have a thread of their own, so that they never wait for long ones.

    Args:
        workers: how many threads run jobs of other kinds.
        max_active: how many jobs of a session may wait or run.
        max_finished: how many finished jobs of a kind a session keeps; the oldest are dropped.
    """

    def __init__(self, workers: int, max_active: int, max_finished: int) -> None:
        self._max_active, self._max_finished = max_active, max_finished
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[bool, dict[str, deque[Job]]] = {True: {}, False: {}}  # by lane: quick or not, then session
        self._changed = threading.Condition()
        self._closing = False
        self._threads = [
            threading.Thread(target=self._run_jobs, args=(number == 0,), daemon=True, name=f"incrowd-job-{number}")
            for number in range(workers + 1)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, job: Job) -> Job:
        """Queue a job, or refuse it if the session has too many."""
        with self._changed:
            active = sum(not one.finished for one in self._of(job.session))
            if active >= self._max_active:
                raise Refusal(429, f"{active} jobs are waiting or running already; cancel one, or wait for it")
            self._jobs[job.id] = job
            self._waiting[job.quick].setdefault(job.session, deque()).append(job)
            self._changed.notify_all()
        self._drop_oldest(job)
        return job

    def restore(self, job: Job) -> None:
        """Add a job that an earlier server finished."""
        with self._changed:
            self._jobs[job.id] = job

    def get(self, session: str, name: str) -> Job:
        """A job of the session."""
        job = self._jobs.get(name)
        if job is None or job.session != session:
            raise not_found("job")
        return job

    def of_session(self, session: str, table: str | None = None) -> list[Job]:
        """The session's jobs, or those of one of its tables, the newest first."""
        with self._changed:
            jobs = [job for job in self._of(session) if table in (None, job.table)]
        return sorted(jobs, key=lambda job: job.created, reverse=True)

    def active(self, session: str) -> int:
        """Number of jobs of the session that wait or run."""
        with self._changed:
            return sum(not job.finished for job in self._of(session))

    def bytes(self, session: str) -> int:
        """The size of all files that the session's jobs have made."""
        with self._changed:
            return sum(job.outcome.bytes for job in self._of(session) if job.outcome is not None)

    def cancel(self, job: Job) -> None:
        """Cancel a job; a finished one stays as it is."""
        with self._changed:
            if job.finished:
                return
            job.stop.set()
            queue = self._waiting[job.quick].get(job.session)
            if queue is not None and job in queue:
                queue.remove(job)
            job.state, job.stage, job.ended = "cancelled", "cancelled", time.monotonic()

    def remove(self, job: Job) -> None:
        """Cancel a job and drop its outcome."""
        self.cancel(job)
        with self._changed:
            self._jobs.pop(job.id, None)
        job.discard()

    def remove_all(self, session: str, table: str | None = None) -> None:
        """Remove the jobs of a session that ends, or of one of its tables that is closed."""
        for job in self.of_session(session, table):
            self.remove(job)

    def close(self) -> None:
        """Cancel all jobs and wait a few seconds for their threads."""
        with self._changed:
            self._closing = True
            jobs = list(self._jobs.values())
            self._changed.notify_all()
        for job in jobs:
            self.cancel(job)
        end = time.monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(timeout=max(0.0, end - time.monotonic()))

    def _of(self, session: str) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.session == session)

    def _next(self, quick: bool) -> Job | None:
        """The next job, of the session whose turn it is; the session goes to the end of the queue."""
        waiting = self._waiting[quick]
        with self._changed:
            while not self._closing:
                for session in list(waiting):
                    queue = waiting.pop(session)
                    if queue:
                        job = queue.popleft()
                        if queue:
                            waiting[session] = queue
                        job.state, job.stage, job.started = "running", "starting", time.monotonic()
                        return job
                self._changed.wait()
        return None

    def _run_jobs(self, quick: bool) -> None:
        while (job := self._next(quick)) is not None:
            self._run(job)
            self._drop_oldest(job)
            if not quick:
                _trim_memory()

    def _run(self, job: Job) -> None:
        def report(stage: str, share: float) -> None:
            if job.stop.is_set():
                raise Cancelled
            job.stage, job.progress = stage, max(job.progress or 0.0, min(1.0, share))

        def publish(outcome: Outcome) -> None:
            with self._changed:  # so that a cancelled job publishes nothing
                if job.stop.is_set():
                    raise Cancelled
                job.outcome, job.stages = outcome, job.stages + 1

        task, job.task = job.task, None
        try:
            if task is None:
                raise Cancelled
            outcome = task(report, publish)
            self._end(job, "done", outcome=outcome)
        except Cancelled:
            self._end(job, "cancelled")
        except IncrowdError as error:
            self._end(job, "failed", public_words(error))
        except MemoryError:
            self._end(job, "failed", "there is not enough memory for this; choose fewer columns or a smaller table")
        except Exception as error:
            # the message may quote cells, so only the type is logged and shown
            _log.error("a job of kind %s failed with %s", job.kind, type(error).__name__)
            self._end(job, "failed", f"this should not have happened ({type(error).__name__}); please tell us")

    def _end(self, job: Job, state: State, message: str = "", outcome: Outcome | None = None) -> None:
        """Set the final state of a job; the files of a cancelled one are deleted."""
        with self._changed:
            job.ended = job.ended or time.monotonic()
            if job.state == "cancelled" or state == "cancelled":
                job.state, job.stage = "cancelled", "cancelled"
                if outcome is not None:
                    _delete_files(outcome)
                return
            job.state, job.stage, job.message = state, state, message
            if outcome is not None:
                job.outcome, job.stages, job.progress = outcome, job.stages + 1, 1.0
                if job.source is not None and not job.quick:
                    job.source.current.history.note(f"{job.kind} done", job=job.id, **outcome.summary)

    def _drop_oldest(self, newest: Job) -> None:
        """Drop the session's oldest finished jobs of this kind; the many jobs of a slider displace no other kind."""
        with self._changed:
            same_kind = (job for job in self._of(newest.session) if job.finished and job.kind == newest.kind)
            finished = sorted(same_kind, key=lambda job: job.created)
            dropped = finished[: max(0, len(finished) - self._max_finished)]
            for job in dropped:
                self._jobs.pop(job.id, None)
        for job in dropped:
            job.discard()
