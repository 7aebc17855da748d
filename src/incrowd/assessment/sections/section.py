"""The one shape of every section of an assessment, its statements, and what sections share while it is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from incrowd._support.progress import Progress, part
from incrowd.errors import UnsupportedError
from incrowd.results import Result
from incrowd.wording import Advice

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.verdict import Verdict
    from incrowd.tables import Table

PENDING = "still being worked on"
_BEGIN, _END = 0.02, 0.98  # of the progress: before it the columns are looked at, after it all is written down
WRITING = 0.99
SEARCH = 0.5  # of the progress: where the way to a yes is searched, the sections end there
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
class AssessmentState:
    """An assessment while it is being made: the settled question, the answers so far, and why some are missing.

    `original` is the table that this one was made from, or what it tells, where somebody gave it. Where a release is to
    be attacked, `table` is the release and `release_of` the table that the question names. `shared` is what one section
    keeps for another; `pending` are sections that were asked for and have no answer yet; `spans` are the sections'
    shares of the progress; what is left after the last one is for the way to a yes. `judge` is `judge_release`, by
    which a protection that is tried is judged as any table is. After `until`, by the clock of `time.monotonic`, no
    further protection is tried.
    """

    table: Table
    question: Question
    roles: Roles
    progress: Progress
    spans: Mapping[str, tuple[float, float]]
    judge: Callable[..., Verdict]
    answers: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, Advice] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    original: Any = None
    release_of: Table | None = None
    holdout: Table | None = None
    kept_rows: Any = None
    until: float | None = None

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

    def answer(self, section: Section, how: Callable[[AssessmentState], Any]) -> None:
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
        return part(self.progress, *self.spans[section.name])

    @property
    def search_progress(self) -> Progress:
        """The part of the progress that is left when every section is answered."""
        return part(self.progress, max(end for _, end in self.spans.values()), 1.0)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of an assessment. Its name is the field of `Assessment` that holds the answer.

    Args:
        name: the field of the answer.
        answer: makes the answer; raises `UnsupportedError` where the data cannot support one.
        statements: the numbers of the answer in words.
        weight: how long it takes beside the others; 0 for what takes no time.
        is_asked: whether a section that not every question asks for is asked for here.
        first_look: a quick answer that is shown while the slow ones are being made.
        is_slow: whether what is known is shown again once the section is answered.
        is_first: whether it is quick and read by others, and is therefore answered before them.
    """

    name: str
    answer: Callable[[AssessmentState], Any]
    statements: Callable[[Assessment], Iterator[Statement]]
    weight: int = 0
    is_asked: Callable[[AssessmentState], bool] | None = None
    first_look: Callable[[AssessmentState], Any] | None = None
    is_slow: bool = False
    is_first: bool = False


def share_progress(sections: Sequence[Section], end: float = _END) -> dict[str, tuple[float, float]]:
    """Start and end of each section in the progress of the whole, by its weight; sections marked first come first.

    >>> first, second = (Section(name, print, print, weight=weight) for name, weight in (("a", 1), ("b", 3)))
    >>> share_progress([first, second])
    {'a': (0.02, 0.26), 'b': (0.26, 0.98)}
    """
    in_order = sorted(sections, key=lambda section: not section.is_first)
    total = sum(section.weight for section in sections)
    done = accumulate((section.weight for section in in_order), initial=0)
    ends = [_BEGIN + (end - _BEGIN) * (weight / total) for weight in done]
    return {section.name: span for section, span in zip(in_order, pairwise(ends), strict=True)}
