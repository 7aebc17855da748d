"""The least protection that passes the verdict: the method, the smallest classes, and diversity where it is needed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.api import judge_release
from incrowd.assessment.question import Question
from incrowd.assessment.verdict import Verdict
from incrowd.errors import IncrowdError
from incrowd.protection import Protected, protect
from incrowd.protection.method_options import MethodName
from incrowd.protection.original_facts import facts_of_protected
from incrowd.results import Result
from incrowd.tables import RowKind, describe_rows, read_table

_GROWTH = 1.4  # from one class size to the next
_MOST_VALUES = 4  # different values of a secret in a class that are asked for at most
_MOST_SIZES = 24


METHODS_TO_TRY: tuple[MethodName, ...] = ("partition", "generalise", "blank")
"""The methods that promise classes of k and need nothing else to be said."""


@dataclass(frozen=True, slots=True)
class Trial(Result):
    """A protection that was tried.

    Attributes:
        k: the class size.
        l: values of every secret in a class.
        left_out: columns that were left out.
        decision: the verdict's.
        method: how it was protected.
        loss: the share of detail that is gone, by importance; of the best trial of a method that passed, where several
            methods were tried.
        chosen: whether it is the release that was chosen.
    """

    k: int
    l: float | None  # noqa: E741
    left_out: tuple[str, ...]
    decision: str
    method: str = "partition"
    loss: float | None = None
    chosen: bool = False


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
    data: Any,
    question: Question,
    *,
    methods: Sequence[MethodName] = (),
    seconds: float = 300.0,
    progress: Progress = silent,
    **options: Any,
) -> Solution:
    """Protect a table with the smallest classes that the verdict accepts.

    Sizes grow from what the limit on the highest risk asks (from 2 where a population is known), and the smallest that
    passes is found by halving. Where a secret would be certain, more of its values are asked for in every class; kept
    columns that give back what was made coarser are left out. Of several methods the one of least loss is taken: fewest
    columns left out, then most detail in every quasi-identifier, by importance, rows that went having none.

    Args:
        data: the table.
        question: for whom, and what columns are; a yes needs a role for every column.
        methods: the methods to try, such as `METHODS_TO_TRY`; those that cannot do what is asked are passed over. None
            are given: the one of the options.
        seconds: no further trial is begun after that long.
        progress: called with what is tried and how far it is.
        options: of `protect`, but for `k`; `method` only where no methods are given.

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
    until = time.monotonic() + seconds
    ways = [{**options, "method": method} for method in methods] or [options]
    searches: list[_Search] = []
    refused: IncrowdError | None = None
    for done, way in enumerate(ways):
        search = _Search(table, question, until, way)
        try:
            search.run(part(progress, done / len(ways), (done + 1) / len(ways)), must=not searches)
        except IncrowdError as error:
            refused = refused or error
        if search.trials:
            searches.append(search)
    if not searches:
        assert refused is not None
        raise refused
    passed = [search for search in searches if search.passed is not None]
    if len(passed) > 1:
        for search in passed:
            search.measure_loss(options.get("importance") or {})
    chosen = min(passed, key=lambda search: search.cost) if passed else searches[0]
    chosen.mark_chosen()
    protected, verdict = chosen.passed or chosen.last
    return Solution(protected, verdict, tuple(trial for search in searches for trial in search.trials))


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
        self.best = 0  # the trial that passed with the smallest classes
        self.rows = describe_rows(table) if table.backend.rows_are_local else None

    @property
    def cost(self) -> tuple[int, float]:
        """Columns left out, and loss, of the best trial that passed."""
        best = self.trials[self.best]
        return len(best.left_out), best.loss or 0.0

    def run(self, progress: Progress, *, must: bool) -> None:
        """Try class sizes from the smallest, and halve the way to the first that passes; `must`: the first, always."""
        failed, best = 0, 0
        sizes = list(_sizes(self.question, self.table.rows))
        for done, size in enumerate(sizes):
            last = self.attempt(
                size, part(progress, done / len(sizes), (done + 1) / len(sizes)), must=must and not done
            )
            if last is None or last[1].decision == "undecided" or last[0].guarantee.perturbed:
                return  # no class size judges a column, or makes up for values that were changed by chance
            if last[1].decision == "within":
                best = size
                break
            failed = size
        while failed and best - failed > 1:
            middle = (failed + best) // 2
            last = self.attempt(middle, progress)
            if last is None:
                return
            best, failed = (middle, failed) if last[1].decision == "within" else (best, middle)

    def measure_loss(self, importance: Mapping[str, float]) -> None:
        """Note the loss of the best trial that passed."""
        assert self.passed is not None
        safe = self.passed[0]
        columns = safe.evaluate().columns
        weights = [float(importance.get(one.column, 1.0)) for one in columns]
        detail = sum(weight * one.granularity for weight, one in zip(weights, columns, strict=True)) / sum(weights)
        kept = safe.rows / (safe.rows + safe.suppressed_rows)
        self.trials[self.best] = replace(self.trials[self.best], loss=1.0 - kept * detail)

    def mark_chosen(self) -> None:
        """Mark the trial whose release is taken: the best that passed, else the last."""
        place = self.best if self.passed is not None else len(self.trials) - 1
        self.trials[place] = replace(self.trials[place], chosen=True)

    def attempt(self, k: int, progress: Progress, *, must: bool = False) -> tuple[Protected, Verdict] | None:
        """Protect with one class size, asking for more diversity while secrets are certain; None where it cannot be."""
        values, left_out = self.options.get("l"), tuple[str, ...]()
        found = None
        while must or time.monotonic() < self.until:
            progress(f"trying classes of {k} by {self.options.get('method', 'partition')}", 0.5)
            try:
                found = self._try(k, values, left_out)
            except IncrowdError:
                if must and found is None:
                    raise
                return found
            self.last, must, verdict = found, False, found[1]
            self.trials.append(Trial(k, values, left_out, verdict.decision, found[0].method))
            more = [name for name in verdict.giving_back if name not in left_out]
            if verdict.decision == "within":
                if self.passed is None or k < self.trials[self.best].k:
                    self.passed, self.best = found, len(self.trials) - 1
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
