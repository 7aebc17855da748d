"""Long work in the background: a few threads, taken in turn by sessions, that can be watched and stopped."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.progress import Progress
from incrowd.errors import IncrowdError
from incrowd.web import models
from incrowd.web.problems import Refusal, not_found, without_hints

if TYPE_CHECKING:
    from incrowd.web.tables import OpenTable

_PATIENCE = 3.0  # seconds that jobs have to stop when the server ends
_log = logging.getLogger("incrowd.web")


class Cancelled(Exception):  # noqa: N818
    """Raised in the work itself, where it next says how far it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a job found: `found` is the library's own result, `result` its JSON, `figures` makes its figures.

    `file` is a protected table that can be downloaded.
    """

    found: Any
    result: Callable[[], dict[str, Any]]
    figures: Callable[[], dict[str, Any]]
    file: Path | None = None
    bytes: int = 0  # of the file


Publish = Callable[[Outcome], None]
Work = Callable[[Progress, Publish], Outcome]


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work and how far it is."""

    session: str
    kind: models.Kind
    table: str | None
    work: Work | None
    equivalent: models.Equivalent
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    state: models.State = "waiting"
    progress: float | None = None
    stage: str = "waiting for its turn"
    message: str = ""
    outcome: Outcome | None = None
    stages: int = 0
    started: float | None = None
    ended: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    source: OpenTable | None = None
    asked: models.TableSettings | None = None  # the settings of the table when it was started

    @property
    def over(self) -> bool:
        """Whether it will not change any more."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def stale(self) -> bool:
        """Whether the settings of the table have changed since; how it is protected does not matter."""
        if self.source is None or self.asked is None:
            return False
        return self.asked != self.source.settings.model_copy(update={"protection": self.asked.protection})

    def info(self) -> models.JobInfo:
        """The job as the API shows it."""
        seconds = 0.0 if self.started is None else (self.ended or time.monotonic()) - self.started
        return models.JobInfo(
            id=self.id,
            kind=self.kind,
            table=self.table,
            state=self.state,
            progress=self.progress,
            stage=self.stage,
            message=self.message,
            has_result=self.outcome is not None,
            stages=self.stages,
            stale=self.stale,
            created=self.created.isoformat(timespec="milliseconds"),
            seconds=round(seconds, 3),
        )

    def answer(self) -> Outcome:
        """What was found so far, or why there is nothing."""
        if self.outcome is not None:
            return self.outcome
        if self.state == "failed":
            raise Refusal(409, f"the work failed: {self.message}")
        if self.state == "cancelled":
            raise Refusal(409, "the work was cancelled; start it again")
        raise Refusal(409, "the work is not done yet; ask again in a moment")

    def forget(self) -> None:
        """Let go of the result and its file."""
        if self.outcome is not None and self.outcome.file is not None:
            self.outcome.file.unlink(missing_ok=True)
        self.outcome = self.work = self.source = None


class Jobs:
    """All jobs. Sessions take turns, so that somebody with many jobs does not hold up the others."""

    def __init__(self, workers: int, most: int, kept: int) -> None:
        self._most, self._kept = most, kept
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[str, deque[Job]] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._threads = [
            threading.Thread(target=self._take_turns, daemon=True, name=f"incrowd-job-{number}")
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, job: Job) -> Job:
        """Queue a job, if the session has not too many."""
        with self._changed:
            active = sum(not one.over for one in self._of(job.session))
            if active >= self._most:
                raise Refusal(429, f"{active} jobs are waiting or running already; cancel one, or wait for it")
            self._jobs[job.id] = job
            self._waiting.setdefault(job.session, deque()).append(job)
            self._changed.notify()
        self._drop_oldest(job.session)
        return job

    def get(self, session: str, name: str) -> Job:
        """A job of the session."""
        job = self._jobs.get(name)
        if job is None or job.session != session:
            raise not_found("job")
        return job

    def of_session(self, session: str) -> list[Job]:
        """The session's jobs, the newest first."""
        with self._changed:
            return sorted(self._of(session), key=lambda job: job.created, reverse=True)

    def active(self, session: str) -> int:
        """How many jobs of the session wait or run."""
        with self._changed:
            return sum(not job.over for job in self._of(session))

    def bytes(self, session: str) -> int:
        """How much the files take that the session's jobs have made."""
        with self._changed:
            return sum(job.outcome.bytes for job in self._of(session) if job.outcome is not None)

    def cancel(self, job: Job) -> None:
        """Stop a job; one that is over stays as it is."""
        with self._changed:
            if job.over:
                return
            job.stop.set()
            queue = self._waiting.get(job.session)
            if queue is not None and job in queue:
                queue.remove(job)
            job.state, job.stage, job.ended = "cancelled", "cancelled", time.monotonic()

    def remove(self, job: Job) -> None:
        """Stop a job, if it is not over, and forget what it found."""
        self.cancel(job)
        with self._changed:
            self._jobs.pop(job.id, None)
        job.forget()

    def end_of_table(self, session: str, table: str) -> None:
        """The table goes: stop the work on it, and forget what was found."""
        for job in self.of_session(session):
            if job.table == table:
                self.remove(job)

    def end_of_session(self, session: str) -> None:
        """The session goes, and all its jobs."""
        for job in self.of_session(session):
            self.remove(job)

    def close(self) -> None:
        """Stop all work."""
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

    def _next(self) -> Job | None:
        """The next job of the session whose turn it is; its session goes to the end of the line."""
        with self._changed:
            while not self._closing:
                for session in list(self._waiting):
                    queue = self._waiting.pop(session)
                    if queue:
                        job = queue.popleft()
                        if queue:
                            self._waiting[session] = queue
                        job.state, job.stage, job.started = "running", "starting", time.monotonic()
                        return job
                self._changed.wait()
        return None

    def _take_turns(self) -> None:
        while (job := self._next()) is not None:
            self._run(job)
            self._drop_oldest(job.session)

    def _run(self, job: Job) -> None:
        def tell(stage: str, share: float) -> None:
            if job.stop.is_set():
                raise Cancelled
            job.stage, job.progress = stage, max(job.progress or 0.0, min(1.0, share))

        def publish(outcome: Outcome) -> None:
            if job.stop.is_set():
                raise Cancelled
            job.outcome, job.stages = outcome, job.stages + 1

        work, job.work = job.work, None
        try:
            if work is None:
                raise Cancelled
            outcome = work(tell, publish)
            self._end(job, "done", "done", outcome)
        except Cancelled:
            self._end(job, "cancelled", "cancelled")
        except IncrowdError as error:
            self._end(job, "failed", without_hints(str(error)))
        except MemoryError:
            self._end(job, "failed", "there is not enough memory for this; choose fewer columns or a smaller table")
        except Exception as error:
            # its words may quote cells, so only its kind is told
            _log.error("a job of kind %s failed with %s", job.kind, type(error).__name__)
            self._end(job, "failed", f"this should not have happened ({type(error).__name__}); please tell us")

    def _end(self, job: Job, state: models.State, words: str, outcome: Outcome | None = None) -> None:
        with self._changed:
            job.ended = job.ended or time.monotonic()
            if job.state == "cancelled" or state == "cancelled":
                job.state, job.stage = "cancelled", "cancelled"
                if outcome is not None and outcome.file is not None:
                    outcome.file.unlink(missing_ok=True)
                return
            job.state, job.stage = state, state
            job.message = words if state == "failed" else ""
            if outcome is not None:
                job.outcome, job.stages, job.progress = outcome, job.stages + 1, 1.0

    def _drop_oldest(self, session: str) -> None:
        with self._changed:
            over = sorted((job for job in self._of(session) if job.over), key=lambda job: job.created)
            gone = over[: max(0, len(over) - self._kept)]
            for job in gone:
                self._jobs.pop(job.id, None)
        for job in gone:
            job.forget()
