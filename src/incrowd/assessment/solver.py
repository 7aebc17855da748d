"""The least protection that passes the verdict: the smallest classes, and diversity where secrets need it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.api import judge_release
from incrowd.assessment.question import Question
from incrowd.assessment.verdict import Verdict
from incrowd.errors import IncrowdError
from incrowd.protection import Protected, protect
from incrowd.protection.original_facts import facts_of_protected
from incrowd.results import Result
from incrowd.tables import RowKind, describe_rows, read_table

_GROWTH = 1.4  # from one class size to the next
_MOST_VALUES = 4  # different values of a secret in a class that are asked for at most
_MOST_SIZES = 24


@dataclass(frozen=True, slots=True)
class Trial(Result):
    """A protection that was tried: class size, values of every secret, columns left out, and the decision."""

    k: int
    l: float | None  # noqa: E741
    left_out: tuple[str, ...]
    decision: str


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Result):
    """The protected table that was chosen, the verdict on it, and all that was tried, in that order."""

    _hidden: ClassVar[frozenset[str]] = frozenset({"protected"})
    _derived: ClassVar[tuple[str, ...]] = ("passes",)
    protected: Protected
    verdict: Verdict
    trials: tuple[Trial, ...]

    @property
    def passes(self) -> bool:
        """Whether the verdict is a yes."""
        return self.verdict.decision == "within"


def find_release(
    data: Any, question: Question, *, seconds: float = 300.0, progress: Progress = silent, **options: Any
) -> Solution:
    """Protect a table with the smallest classes that the verdict accepts.

    Sizes grow from what the limit on the highest risk asks (from 2 where a population is known), and the smallest that
    passes is found by halving. Where a secret would be certain, more of its values are asked for in every class; kept
    columns that give back what was made coarser are left out.

    Args:
        data: the table.
        question: for whom, and what columns are; a yes needs a role for every column.
        seconds: no further trial is begun after that long.
        progress: called with what is tried and how far it is.
        options: of `protect`, but for `k`.

    Returns:
        The release that passes, or the last that was tried where none does.

    Raises:
        InputError: as `protect`.
        UnsupportedError: the table cannot be protected at all in this way.

    >>> ages = {"age": [age for age in range(30, 40) for _ in range(3)]}
    >>> found = find_release(ages, Question(quasi_identifiers=("age",)), quasi_identifiers=["age"], identifiers=[])
    >>> found.passes, found.protected.guarantee.k, [trial.k for trial in found.trials]
    (True, 11, [11])
    """
    table = read_table(data)
    search = _Search(table, question, time.monotonic() + seconds, options)
    failed, best = 0, 0
    sizes = list(_sizes(question, table.rows))
    for done, size in enumerate(sizes):
        last = search.attempt(size, part(progress, done / len(sizes), (done + 1) / len(sizes)), must=done == 0)
        if last is None or last[1].decision == "undecided" or last[0].guarantee.perturbed:
            break  # no class size judges a column, or makes up for values that were changed by chance
        if last[1].decision == "within":
            best = size
            break
        failed = size
    while failed and best - failed > 1:
        middle = (failed + best) // 2
        last = search.attempt(middle, progress)
        if last is None:
            break
        best, failed = (middle, failed) if last[1].decision == "within" else (best, middle)
    protected, verdict = search.passed or search.last
    return Solution(protected, verdict, tuple(search.trials))


def _sizes(question: Question, rows: int) -> Iterator[int]:
    """Class sizes to try, the smallest first, as far as the table has two such classes."""
    size = question.limits.class_size if question.population is None else 2
    for _ in range(_MOST_SIZES):
        yield size
        size = max(size + 1, int(size * _GROWTH))
        if 2 * size > rows:
            return


class _Search:
    """Protects and judges, and remembers what was tried, the last and the best that passed."""

    last: tuple[Protected, Verdict]

    def __init__(self, table: Any, question: Question, until: float, options: dict[str, Any]) -> None:
        self.table, self.question, self.until, self.options = table, question, until, options
        self.trials: list[Trial] = []
        self.passed: tuple[Protected, Verdict] | None = None
        self.smallest = 0
        self.rows = describe_rows(table) if table.backend.rows_are_local else None

    def attempt(self, k: int, progress: Progress, *, must: bool = False) -> tuple[Protected, Verdict] | None:
        """Protect with one class size, asking for more diversity while secrets are certain; None where it cannot be."""
        values, left_out = self.options.get("l"), tuple[str, ...]()
        found = None
        while must or time.monotonic() < self.until:
            progress(f"trying classes of {k}", 0.5)
            try:
                found = self._try(k, values, left_out)
            except IncrowdError:
                if must and found is None:
                    raise
                return found
            self.last, must, verdict = found, False, found[1]
            self.trials.append(Trial(k, values, left_out, verdict.decision))
            more = [name for name in verdict.giving_back if name not in left_out]
            if verdict.decision == "within":
                if self.passed is None or k < self.smallest:
                    self.passed, self.smallest = found, k
                return found
            if more:
                left_out = (*left_out, *more)
            elif verdict.disclosed and (values or 1) < _MOST_VALUES:
                values = max(values or 1, 1) + 1
            else:
                return found
        return found

    def _try(self, k: int, values: float | None, left_out: Sequence[str]) -> tuple[Protected, Verdict]:
        options = {**self.options, "k": k, "l": values}
        if left_out:
            options["leave_out"] = [*(options.get("leave_out") or ()), *left_out]
            for role in ("other", "sensitive"):
                options[role] = [name for name in options.get(role) or () if name not in left_out] or None
            if options["sensitive"] is None:  # nothing is left to be diverse or close
                options |= {"l": None, "t": None, "beta": None, "delta": None}
        safe = protect(self.table, **options)
        return safe, judge_protected(safe, self.question, rows=self.rows)


def judge_protected(
    safe: Protected, question: Question, released: Any = None, *, rows: RowKind | None = None
) -> Verdict:
    """The verdict on a protected table, which also asks the original what a row is and which columns give back.

    Ranges that are written as one number or as a label do not show any more what a kept column tells of them, and the
    column that numbers people may have been removed.

    Args:
        safe: the protected table.
        question: the question about the original.
        released: the protected table as it was written. None: as `safe` holds it.
        rows: what the rows of the original are, where that is known already.

    Raises:
        InputError: as `judge_release`.

    >>> ages = [age for age in range(30, 40) for _ in range(3)]
    >>> table = {"age": ages, "born": [2000 - age for age in ages]}
    >>> safe = protect(table, quasi_identifiers=["age"], k=11, output="midpoint", other=["born"], identifiers=[])
    >>> judge_protected(safe, Question(quasi_identifiers=("age",), other=("born",))).giving_back
    ('born',)
    """
    names = safe.released_quasi_identifiers or safe.quasi_identifiers  # in a cluster they keep their names
    asked = question.about_release(safe.removed)
    if question.quasi_identifiers is not None:  # guessed ones stay guessed, and never make a yes
        asked = replace(asked, quasi_identifiers=names)
    judged = safe.table if released is None else released
    linkage = safe.attack() if safe.guarantee.perturbed else None
    return judge_release(judged, asked, original=facts_of_protected(safe, rows), linkage=linkage)
