"""The least protection that passes the verdict: the method, the smallest classes, and diversity where it is needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, Unpack

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.api import judge_release
from incrowd.assessment.plan import Plan, SecretDemand
from incrowd.assessment.question import Question
from incrowd.assessment.roles import settle_roles
from incrowd.assessment.search import (
    Attempt,
    Cost,
    Failed,
    TimeIsUpError,
    find_least,
    find_way,
    least_costly,
    likely_to_pass,
    size_held,
    sizes_to_try,
)
from incrowd.assessment.sections.evidence import linking_columns
from incrowd.assessment.solution import Solution, Trial
from incrowd.assessment.verdict import Verdict
from incrowd.classes import ClassSizes
from incrowd.errors import IncrowdError
from incrowd.evaluation.result import ColumnCost
from incrowd.populations.sample import read_sample
from incrowd.protection import PROTECTION_METHODS, Protected, protect
from incrowd.protection.keys import read_key
from incrowd.protection.method_options import MethodName
from incrowd.protection.original_facts import facts_of_protected
from incrowd.protection.protect_options import SearchKeywords
from incrowd.tables import RowKind, Table, TableLike, describe_rows, read_table

METHODS_TO_TRY: tuple[MethodName, ...] = ("partition", "generalise", "blank")
"""The methods that promise classes of k and need nothing else to be said."""


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
    """Protect a table with the least loss that the verdict accepts.

    What is tried is what the advice of `assess` tries (`incrowd.assessment.search`): class sizes from what the limit on
    the highest risk asks (from 2 where a population is known), more values of a secret that would be certain, and
    columns left out from which an attacker learns or that no class hides. Of all sizes and methods the way of least
    cost is taken: a column left out costs as much as a quasi-identifier that lost all its detail. The detail is
    weighted by importance, and rows that went have none.

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
    trials = [trial for search in searches for trial in search.told(chosen)]
    return Solution(chosen.protected, chosen.verdict, tuple(trials))


_VALUES = ("l", "diversity", "c")  # how different secrets must be
_DEMANDS = (*_VALUES, "t", "beta", "delta", "diverse")  # what a user may ask of secrets


class _Search:
    """The trials of one method; of their tables only the last, and the best that passed."""

    last: Attempt

    def __init__(
        self, table: Table, question: Question, known: Sequence[str], options: SearchKeywords, progress: Progress
    ) -> None:
        self.table, self.question, self.known, self.options, self.progress = table, question, known, options, progress
        self.trials: list[Trial] = []
        self._plans: list[Plan] = []
        self._measured: list[dict[str, Any]] = []
        self.best: Attempt | None = None
        self.refused: IncrowdError | None = None
        self._secrets = tuple(options.get("sensitive") or question.sensitive or ())
        self._begun, self._done = 0, 0.0
        self._rows = describe_rows(table) if table.backend.rows_are_local else None
        self._telling = self._columns_that_tell()
        self.known = [name for name in known if name not in self._telling]

    def _columns_that_tell(self) -> tuple[str, ...]:
        """Columns that name people or link households and are to be kept: as the advice, no plan keeps them."""
        if self._rows is None:
            return ()
        roles = settle_roles(self.table, self.question)
        linking = linking_columns(self.table, self.question, roles, self._rows)
        removed = (*(self.options.get("identifiers") or ()), *(self.options.get("leave_out") or ()))
        gone = {self.options.get("person"), *removed}
        naming = (*(name for name in roles.identifiers if name in self.known), *roles.identifiers_kept)
        return tuple(name for name in (*naming, *linking) if name not in gone)

    def run(self, until: float, *, must: bool) -> None:
        """Find the least loss that passes; no trial is begun after `until`, but for the first if one `must` be."""
        asked = [name for name in _DEMANDS if self.options.get(name) is not None]
        secrets = tuple(self.options.get("diverse") or self._secrets) if asked else ()
        limits, person = self.question.limits, self.options.get("person")
        table = ClassSizes.from_table(self.table, quasi_identifiers=self.known, person=person)
        sampled_from = _settle_population(self.table, self.question, self.known, person)
        population = sampled_from if self._is_judged_in_population() else None
        held = size_held(table.smallest, limits.class_size, table.people, sampled_from)
        sizes = sizes_to_try(limits, table.people, in_population=population is not None, held=held)
        sizes = sizes or [limits.class_size]
        start = 0 if population is None else likely_to_pass(sizes, limits.class_size, table.people, population)

        def attempt(plan: Plan) -> Attempt:
            if time.monotonic() >= until and (self.trials or not must):
                raise TimeIsUpError
            return self._try(plan, len(sizes))

        def try_size(k: int) -> Attempt | Failed:
            try:
                l = self.options.get("l")  # noqa: E741
                needed = tuple(self.question.need)
                plan = Plan(k, self._telling, l, secrets, needed, asked_l=l, demanded=secrets)
                outcome = find_way(plan, attempt, sizes[0])
            except TimeIsUpError:
                return Failed("the time is up", rules_out_all_sizes=True)
            if isinstance(outcome, Failed):
                self.refused = self.refused or outcome.error
            return outcome

        self.best = find_least(sizes, start, try_size).way

    def _is_judged_in_population(self) -> bool:
        """True if a release of any class size may be; not if the method codes class by class or leaves out rows."""
        method = PROTECTION_METHODS[str(self.options.get("method") or "partition")]
        return method.codes_alike and not self.options.get("suppress")

    def told(self, chosen: Attempt) -> list[Trial]:
        """The trials, with the loss of those where it was measured; that whose release is taken is marked."""
        return [
            replace(trial, **measured, chosen=plan is chosen.plan)
            for trial, plan, measured in zip(self.trials, self._plans, self._measured, strict=True)
        ]

    def _try(self, plan: Plan, sizes: int) -> Attempt:
        """Protect so, judge the result, and remember it."""
        self._begun += 1
        doing = f"trying classes of {plan.k} by {self.options.get('method', 'partition')}"

        def tell(_: str, share: float) -> None:
            done = (self._begun - 1 + share) / sizes
            self._done = max(self._done, min(done, 1.0))  # a step of `protect` may begin again
            self.progress(doing, self._done)

        tell("", 0.0)
        asked = self._options(plan)
        known = [name for name in self.known if name not in plan.removed]
        safe = protect(self.table, quasi_identifiers=known, k=plan.k, progress=part(tell, 0.0, 0.5), **asked)
        verdict = judge_protected(safe, self.question, rows=self._rows, progress=part(tell, 0.5, 1.0))
        measured: dict[str, Any] = {}

        def measure_cost() -> Cost:
            evaluated = safe.evaluate()
            cost = self._weigh(evaluated.columns, safe, plan)
            kept = {"detail_kept": float(evaluated.granularity), "rows_left_out": safe.suppressed_rows}
            measured.update(kept, loss=cost.loss, cost=cost.total)
            return cost

        self.last = Attempt(plan, verdict, cache(measure_cost), safe)
        self.trials.append(
            Trial(
                *(plan.k, plan.l, plan.removed, verdict.decision, safe.method),
                diverse=plan.diverse,
                why=None if self.last.passes else (*verdict.exposures, verdict.sentence)[0],
            )
        )
        self._plans.append(plan)
        self._measured.append(measured)
        return self.last

    def _options(self, plan: Plan) -> SearchKeywords:
        """Options of `protect` for a plan besides the class size, merged with those that were given."""

        def left(names: Sequence[str] | None) -> list[str] | None:
            return [name for name in names or () if name not in plan.removed] or None

        given = self.options
        secrets, diverse = left(self._secrets), left(plan.diverse)
        is_asked = any(given.get(name) is not None for name in _VALUES)
        demand: SecretDemand = (
            {"l": plan.l} if is_asked else plan.demand(self.question.certain_from, self.question.named_secrets)
        )
        options: SearchKeywords = {
            **given,
            "leave_out": [*(given.get("leave_out") or ()), *plan.removed],
            "other": left(given.get("other")),
            "sensitive": list(self._secrets) or None,
            "diverse": diverse if secrets is not None else None,
            **demand,
        }
        if plan.removed and diverse is None:  # nothing is left to be diverse or close
            options |= {"l": None, "t": None, "beta": None, "delta": None}
        return options

    def _weigh(self, columns: Sequence[ColumnCost], safe: Protected, plan: Plan) -> Cost:
        """Cost of a release, with its columns weighted by importance; those that no plan keeps cost nothing."""
        importance: Mapping[str, float] = self.options.get("importance") or {}
        weights = [float(importance.get(one.column, 1.0)) for one in columns]
        detail = sum(weight * one.granularity for weight, one in zip(weights, columns, strict=True)) / sum(weights)
        left_out = len({*plan.removed} - {*self._telling})
        return Cost(detail, safe.suppressed_rows, safe.rows + safe.suppressed_rows, len(columns), left_out)


def _settle_population(table: Table, question: Question, known: Sequence[str], person: str | None) -> int | None:
    """Number of people the table was drawn from, as given or by its weights; None if unknown."""
    if question.population is None and question.weights is not None and person is None:
        with suppress(IncrowdError):  # the verdict then goes by the table
            return read_sample(table, quasi_identifiers=known, weights=question.weights).population
    return question.population


def judge_protected(
    safe: Protected,
    question: Question,
    released: TableLike | None = None,
    *,
    rows: RowKind | None = None,
    progress: Progress = silent,
) -> Verdict:
    """The verdict on a protected table, which also asks the original what a row is and what kept columns tell.

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

    >>> ages = [age for age in range(20, 80) for _ in range(10)]
    >>> table = {"age": ages, "born": [2000 - age for age in ages]}
    >>> safe = protect(table, quasi_identifiers=["age"], k=60, output="midpoint", other=["born"], identifiers=[])
    >>> judge_protected(safe, Question(quasi_identifiers=("age",), other=("born",), highest=1 / 20)).blamed
    ('born',)
    """
    names = safe.released_quasi_identifiers or safe.quasi_identifiers  # in a cluster they keep their names
    asked = question.about_release(safe.removed)
    if question.quasi_identifiers is not None:  # guessed ones stay guessed, and never make a yes
        asked = replace(asked, quasi_identifiers=names)
    judged = safe.table if released is None else released
    attacked = {*safe.sensitive, *safe.known_secrets, *safe.left_out_secrets}
    if further := [name for name in question.sensitive or () if name not in attacked]:
        left_out = tuple(name for name in further if name in safe.removed)
        others = tuple(name for name in further if name not in safe.removed)
        safe = replace(
            safe,
            left_out_secrets=(*safe.left_out_secrets, *left_out),
            known_secrets=(*safe.known_secrets, *others),
            learned=None,
        )
    facts = facts_of_protected(safe, rows, part(progress, 0.0, 0.5))
    return judge_release(judged, asked, original=facts, progress=part(progress, 0.5, 1.0))
