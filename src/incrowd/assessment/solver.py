"""The least protection that passes the verdict: the method, the smallest classes, and diversity where it is needed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Unpack

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.api import judge_release
from incrowd.assessment.question import Question
from incrowd.assessment.search import Attempt, Cost, Plan, least_costly, likely_to_pass, repair_plan, walk_sizes
from incrowd.assessment.verdict import Verdict
from incrowd.errors import IncrowdError
from incrowd.protection import Protected, protect
from incrowd.protection.keys import read_key
from incrowd.protection.method_options import MethodName
from incrowd.protection.original_facts import facts_of_protected
from incrowd.protection.protect_options import SearchKeywords
from incrowd.results import Result
from incrowd.tables import RowKind, Table, TableLike, describe_rows, read_table

_GROWTH = 1.4  # from one class size to the next
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
        apart: columns that only some people were asked, who were kept apart from the others.
    """

    k: int
    l: float | None  # noqa: E741
    left_out: tuple[str, ...]
    decision: str
    method: str = "partition"
    loss: float | None = None
    chosen: bool = False
    apart: tuple[str, ...] = ()


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
    data: TableLike,
    question: Question,
    *,
    quasi_identifiers: Sequence[str],
    methods: Sequence[MethodName] = (),
    seconds: float = 300.0,
    progress: Progress = silent,
    **options: Unpack[SearchKeywords],
) -> Solution:
    """Protect a table with the smallest classes that the verdict accepts.

    Sizes grow from what the limit on the highest risk asks (from 2 where a population is known), and the smallest that
    passes is found by halving (`incrowd.assessment.search`). Where a secret would be certain, more of its values are
    asked for in every class; who was not asked what others were is kept apart, and kept columns that give back what was
    made coarser are left out. Of several methods the one of least loss is taken: fewest columns left out, then most
    detail in every quasi-identifier, by importance, rows that went having none.

    Args:
        data: the table.
        question: for whom, and what columns are; a yes needs a role for every column.
        quasi_identifiers: the columns that an attacker may know.
        methods: the methods to try, such as `METHODS_TO_TRY`; those that cannot do what is asked are passed over. None
            are given: the one of the options.
        seconds: no further trial is begun after that long.
        progress: called with what is tried and how far it is.
        options: of `protect`, as `SearchKeywords` lists them; `method` only where no methods are given.

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
    if (key := options.get("key")) is not None:
        options["key"] = read_key(key)  # once, not in every trial
    table = read_table(data)
    until = time.monotonic() + seconds
    ways: list[SearchKeywords] = [{**options, "method": method} for method in methods] or [options]
    searches: list[_Search] = []
    refused: IncrowdError | None = None
    for done, way in enumerate(ways):
        search = _Search(
            table, question, quasi_identifiers, way, part(progress, done / len(ways), (done + 1) / len(ways))
        )
        search.run(until, must=not searches)
        refused = refused or search.refused
        if search.trials:
            searches.append(search)
    if not searches:
        assert refused is not None
        raise refused
    passed = [search.best for search in searches if search.best is not None]
    chosen = least_costly(passed) if passed else searches[0].last
    assert chosen.protected is not None
    trials = [trial for search in searches for trial in search.told(chosen, with_loss=len(passed) > 1)]
    return Solution(chosen.protected, chosen.verdict, tuple(trials))


class _TimeIsUpError(Exception):
    """Raised where no further trial is to be begun."""


class _Search:
    """The trials of one method; of their tables only the last, and that which passed with the smallest classes."""

    last: Attempt

    def __init__(
        self, table: Table, question: Question, known: Sequence[str], options: SearchKeywords, progress: Progress
    ) -> None:
        self.table, self.question, self.known, self.options, self.progress = table, question, known, options, progress
        self.trials: list[Trial] = []
        self.best: Attempt | None = None
        self.refused: IncrowdError | None = None
        self._place_of_best = 0
        self._begun, self._done = 0, 0.0
        self._sizes = list(_sizes(question, table.rows))
        self._rows = table.backend.examine_rows(lambda: describe_rows(table), otherwise=None)

    def run(self, until: float, *, must: bool) -> None:
        """Find the smallest classes that pass; no trial is begun after `until`, but for the first if one `must` be."""
        values, secrets = self.options.get("l"), tuple(self.options.get("sensitive") or ())

        def attempt(plan: Plan) -> Attempt:
            if time.monotonic() >= until and (self.trials or not must):
                raise _TimeIsUpError
            return self._try(plan)

        def passes(k: int) -> bool | None:
            outcome = repair_plan(Plan(k, l=values, diverse=secrets, drops_secrets=False), attempt, self._sizes[0])
            if isinstance(outcome, Attempt):
                return True
            self.refused = self.refused or outcome.error
            return None if outcome.rules_out_all_sizes else False

        population = self.question.population
        start = 0
        if population is not None:
            start = likely_to_pass(self._sizes, self.question.limits.class_size, self.table.rows, population)
        with suppress(_TimeIsUpError):
            walk_sizes(self._sizes, start, passes, exact=True)

    def told(self, chosen: Attempt, *, with_loss: bool) -> list[Trial]:
        """The trials, with the loss of the best where it was measured; that whose release is taken is marked."""
        trials = list(self.trials)
        if self.best is not None and with_loss:
            trials[self._place_of_best] = replace(trials[self._place_of_best], loss=self.best.measure_cost().loss)
        for one, place in ((self.best, self._place_of_best), (self.last, len(trials) - 1)):
            if one is chosen:
                trials[place] = replace(trials[place], chosen=True)
                break
        return trials

    def _try(self, plan: Plan) -> Attempt:
        """Protect so, judge the result, and remember it."""
        self._begun += 1
        doing = f"trying classes of {plan.k} by {self.options.get('method', 'partition')}"

        def tell(_: str, share: float) -> None:
            done = (self._begun - 1 + share) / len(self._sizes)
            self._done = max(self._done, min(done, 1.0))  # a step of `protect` may begin again
            self.progress(doing, self._done)

        tell("", 0.0)
        asked = self._options(plan)
        safe = protect(self.table, quasi_identifiers=self.known, k=plan.k, progress=part(tell, 0.0, 0.5), **asked)
        verdict = judge_protected(safe, self.question, rows=self._rows, progress=part(tell, 0.5, 1.0))
        self.last = tried = Attempt(plan, verdict, cache(lambda: self._measure_cost(safe)), safe)
        self.trials.append(Trial(plan.k, plan.l, plan.removed, verdict.decision, safe.method, apart=plan.apart))
        if tried.passes and (self.best is None or plan.k < self.best.plan.k):
            self.best, self._place_of_best = tried, len(self.trials) - 1
        return tried

    def _options(self, plan: Plan) -> SearchKeywords:
        """What a plan asks of `protect` besides the class size, with the options that were given."""

        def left(names: Sequence[str] | None) -> list[str] | None:
            return [name for name in names or () if name not in plan.removed] or None

        given = self.options
        options: SearchKeywords = {
            **given,
            "l": plan.l,
            "apart": left(list(dict.fromkeys([*(given.get("apart") or ()), *plan.apart]))),
            "leave_out": [*(given.get("leave_out") or ()), *plan.removed],
            "other": left(given.get("other")),
            "sensitive": left(given.get("sensitive")),
        }
        if plan.removed and options["sensitive"] is None:  # nothing is left to be diverse or close
            options |= {"l": None, "t": None, "beta": None, "delta": None}
        return options

    def _measure_cost(self, safe: Protected) -> Cost:
        """What a release costs, its columns weighed by importance."""
        importance: Mapping[str, float] = self.options.get("importance") or {}
        columns = safe.evaluate().columns
        weights = [float(importance.get(one.column, 1.0)) for one in columns]
        detail = sum(weight * one.granularity for weight, one in zip(weights, columns, strict=True)) / sum(weights)
        return Cost(detail, safe.suppressed_rows, safe.rows + safe.suppressed_rows)


def _sizes(question: Question, rows: int) -> Iterator[int]:
    """Class sizes to try, the smallest first, as far as the table has two such classes."""
    size = question.limits.class_size if question.population is None else 2
    for _ in range(_MOST_SIZES):
        yield size
        size = max(size + 1, int(size * _GROWTH))
        if 2 * size > rows:
            return


def judge_protected(
    safe: Protected,
    question: Question,
    released: TableLike | None = None,
    *,
    rows: RowKind | None = None,
    progress: Progress = silent,
) -> Verdict:
    """The verdict on a protected table, which also asks the original what a row is and which columns give back.

    Ranges that are written as one number or as a label do not show any more what a kept column tells of them, and the
    column that numbers people may have been removed.

    Args:
        safe: the protected table.
        question: the question about the original.
        released: the protected table as it was written. None: as `safe` holds it.
        rows: what the rows of the original are, where that is known already.
        progress: told how far the work is.

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
    facts = facts_of_protected(safe, rows)
    return judge_release(judged, asked, original=facts, linkage=linkage, progress=progress)
