"""The interface of the sections of an assessment, their statements, and the state that sections share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd._support.progress import Progress, part
from incrowd.errors import UnsupportedError
from incrowd.results import COUNTED as COUNTED
from incrowd.results import Statement as Statement
from incrowd.wording import Advice

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.verdict import Verdict
    from incrowd.populations import PopulationRisk
    from incrowd.populations.sample import Sample
    from incrowd.tables import Table

PENDING = "still being worked on"
_BEGIN, _END = 0.02, 0.98  # the sections' span of the progress: columns are examined before, the result is made after
WRITING = 0.99  # progress when the result is made
SEARCH = 0.5  # progress at which the sections end if a way to a yes is searched afterwards


class RiskCurve(NamedTuple):
    """The table as a sample, and the risk in populations of several sizes."""

    sample: Sample
    risks: Sequence[PopulationRisk]


@dataclass(slots=True)
class AssessmentState:
    """The state of an assessment in progress: the settled question, the answers so far, and reasons for missing ones.

    - `table`: the table to judge. If a release is to be attacked, it is the release, and `release_of` is the table that
      the question names.
    - `original`: the table that `table` was made from, or its facts, if given.
    - `curve`: the risk by size of the population, or why it cannot be estimated; None: not tried yet.
    - `shared`: the tables that the section on protection made, for the search for a yes.
    - `pending`: requested sections without an answer so far.
    - `spans`: start and end of each section in the progress; the rest is for the search for a yes.
    - `judge`: `judge_release`, which also judges protections that are tried.
    - `question_file`: the file that the question was read from and is written to; None if nobody named one.
    - `until`: the time (`time.monotonic`) after which no further protection is tried.
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
    curve: RiskCurve | UnsupportedError | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    original: Any = None
    release_of: Table | None = None
    holdout: Table | None = None
    kept_rows: Any = None
    until: float | None = None
    question_file: str | None = None

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.question.seed or 0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure the time of a part."""
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    def answer(self, section: Section, how: Callable[[AssessmentState], Any]) -> None:
        """Answer a section; if the data cannot support an answer, store None and why, unless decisions need it."""
        with self.timed(section.name):
            try:
                self.answers[section.name] = how(self)
                self.skipped.pop(section.name, None)
            except UnsupportedError as reason:
                if section.is_needed:
                    raise
                self.answers[section.name] = None
                self.skipped[section.name] = Advice(str(reason), reason.hint)

    def part(self, section: Section) -> Progress:
        """The section's part of the progress."""
        return part(self.progress, *self.spans[section.name])

    @property
    def search_progress(self) -> Progress:
        """The part of the progress after the last section."""
        return part(self.progress, max(end for _, end in self.spans.values()), 1.0)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of an assessment. Its name is the field of `Assessment` that holds the answer.

    Args:
        name: the field of the answer.
        answer: callback that makes the answer; raises `UnsupportedError` if the data cannot support one.
        state: callback that lists the numbers of the answer in words, if not all of its own `statements`.
        weight: relative duration; 0 if negligible.
        is_asked: callback that says whether an optional section is requested; None for the other sections.
        first_look: callback for a quick answer that is shown until the slow answers are ready.
        is_slow: whether the partial result is shown again after this section.
        is_needed: whether no decision is made without its answer, such as one that takes more memory than there is.
        is_first: whether the section is answered before the others, because it is quick and they read it.
    """

    name: str
    answer: Callable[[AssessmentState], Any]
    state: Callable[[Assessment], Iterator[Statement]] | None = None
    weight: int = 0
    is_asked: Callable[[AssessmentState], bool] | None = None
    first_look: Callable[[AssessmentState], Any] | None = None
    is_slow: bool = False
    is_first: bool = False
    is_needed: bool = False

    def statements(self, assessment: Assessment) -> Iterator[Statement]:
        """The numbers of the answer in words; none if there is no answer."""
        if self.state is not None:
            yield from self.state(assessment)
        elif (answer := getattr(assessment, self.name)) is not None:
            yield from answer.statements


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
