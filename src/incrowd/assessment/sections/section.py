"""The one shape of every section of an assessment, its statements, and what sections share while it is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd._support.progress import Progress, part
from incrowd.errors import UnsupportedError
from incrowd.results import Result
from incrowd.wording import Advice

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment
    from incrowd.assessment.roles import Roles
    from incrowd.tables import Table

PENDING = "still being worked on"
COUNTED = "counted, exact for this table"


@dataclass(frozen=True, slots=True)
class Statement(Result):
    """One number: its name, how it is written, what it means, how sure it is and what was assumed."""

    section: str
    name: str
    value: float | None
    shown: str
    meaning: str
    sure: str
    assumed: str


@dataclass(slots=True)
class Work:
    """An assessment while it is being made: the settled question, the answers so far, and why some are missing.

    `original` is the table that this one was made from, or what it tells, where somebody gave it. Where a release is to
    be attacked, `table` is the release and `release_of` the table that the question names. `shared` is what one section
    keeps for another; `pending` are sections that were asked for and have no answer yet.
    """

    table: Table
    question: Question
    roles: Roles
    progress: Progress
    answers: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, Advice] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    original: Any = None
    release_of: Table | None = None
    holdout: Table | None = None
    kept_rows: Any = None

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.question.seed or 0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Note how long a part takes."""
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    def answer(self, section: Section, how: Callable[[Work], Any]) -> None:
        """Answer a section; where the data cannot support an answer it is None, and the reason is noted."""
        with self.timed(section.name):
            try:
                self.answers[section.name] = how(self)
                self.skipped.pop(section.name, None)
            except UnsupportedError as reason:
                self.answers[section.name] = None
                self.skipped[section.name] = Advice(str(reason), reason.hint)

    def part(self, section: Section) -> Progress:
        """The section's part of the progress."""
        return part(self.progress, *section.span)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of an assessment. Its name is the field of `Assessment` that holds the answer.

    Args:
        name: the field of the answer.
        answer: makes the answer; raises `UnsupportedError` where the data cannot support one.
        statements: the numbers of the answer in words.
        span: where the section begins and ends in the progress of the whole.
        is_asked: whether a section that not every question asks for is asked for here.
        first_look: a quick answer that is shown while the slow ones are being made.
        is_slow: whether what is known is shown again once the section is answered.
    """

    name: str
    answer: Callable[[Work], Any]
    statements: Callable[[Assessment], Iterator[Statement]]
    span: tuple[float, float] = (0.0, 1.0)
    is_asked: Callable[[Work], bool] | None = None
    first_look: Callable[[Work], Any] | None = None
    is_slow: bool = False
