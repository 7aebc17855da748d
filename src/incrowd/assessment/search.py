"""The one search for the least protection that passes the verdict.

A candidate is a `Plan`. An attempt protects the table so and judges the result as any table is judged; `repair_plan`
revises the plan by what the verdict found until one passes. `find_least` does so for the class sizes of
`sizes_to_try` and takes the way of least `Cost`. Two callers try plans:

- `find_release`, which protects for a recipient: the methods and options that the user chose, within a time limit.
- `way_to_yes`, the advice of an assessment: what the section on protection made, and words; the columns that nobody
  judged are left out from the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from incrowd.assessment.plan import Plan
from incrowd.assessment.verdict import Verdict
from incrowd.errors import IncrowdError
from incrowd.populations.crowd_records import quantile_of_others
from incrowd.protection import Protected
from incrowd.recipients import Limits
from incrowd.special import Floats

_SIZES = (2, 3, 5, 8, 11, 15, 20)  # classes that are tried where the limit does not say how large they must be
_GROWTH = 4  # of class sizes beyond those, for a low average
_MOST_RETURNED = 3  # columns that an attack was blamed for, and that are tried again


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a protection, in quasi-identifiers that lost all their detail.

    Attributes:
        detail: the share of the detail of the quasi-identifiers that is kept in the rows that are left, by importance.
        rows_left_out: the rows that are suppressed.
        rows: all rows.
        quasi_identifiers: how many there are.
        columns_left_out: the columns that the search left out of those that were to be kept.
    """

    detail: float
    rows_left_out: int
    rows: int
    quasi_identifiers: int
    columns_left_out: int

    @property
    def loss(self) -> float:
        """The share of the detail that is gone, a row that is left out having none."""
        return 1.0 - self.detail * (1 - self.rows_left_out / self.rows)

    @property
    def total(self) -> float:
        """The one number by which ways are compared: a column that is left out costs as much as a quasi-identifier.

        >>> Cost(0.99, 0, 100, 4, 1).total < Cost(0.47, 0, 100, 4, 0).total
        True
        """
        return self.columns_left_out + self.quasi_identifiers * self.loss


@dataclass(frozen=True, slots=True)
class Attempt:
    """A plan that was tried: the verdict on the result, what measures its cost, and the protected table if it is kept.

    `why` has the columns that this one and those before it, which it repairs, found to tell too much, and how they do.
    """

    plan: Plan
    verdict: Verdict
    measure_cost: Callable[[], Cost]
    protected: Protected | None = None
    why: Mapping[str, str] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """True if the verdict is a yes."""
        return self.verdict.decision == "within"

    @property
    def rules_out_all_sizes(self) -> bool:
        """True if no class size judges a column, says what a row is, or makes up for values changed by chance."""
        by_chance = self.protected is not None and bool(self.protected.guarantee.perturbed)
        return self.verdict.decision == "undecided" or by_chance or self.verdict.row_question is not None


@dataclass(frozen=True, slots=True)
class Failed:
    """Why no plan of a class size passes: the last verdict, or the error; and whether that holds for all sizes."""

    why: str
    verdict: Verdict | None = None
    error: IncrowdError | None = None
    rules_out_all_sizes: bool = False


class TimeIsUpError(Exception):
    """Raised where no further trial is to be begun."""


def find_way(plan: Plan, attempt: Callable[[Plan], Attempt], smallest: int) -> Attempt | Failed:
    """Repair a plan until it passes, and then try to keep again the columns that an attack was blamed for.

    Several columns can be blamed together, and what one of them told may not matter once the others are gone.
    """
    best = repair_plan(plan, attempt, smallest)
    if isinstance(best, Failed) or len(best.plan.blamed) < 2:
        return best
    for column in best.plan.blamed[-1 : -1 - _MOST_RETURNED : -1]:
        with suppress(IncrowdError, TimeIsUpError):  # the way that was found stands
            tried = attempt(best.plan.with_column(column))
            best = tried if tried.passes else best
    return best


def repair_plan(plan: Plan, attempt: Callable[[Plan], Attempt], smallest: int) -> Attempt | Failed:
    """Try a plan, and those that repair what the verdict finds, until one passes or nothing more is known.

    What cannot be made with classes of the smallest size cannot be made at all.
    """
    last: Attempt | None = None
    failed = Failed("")
    step: Plan | None = plan
    while step is not None:
        try:
            last = attempt(step)
        except IncrowdError as error:
            step = _fallback(step, attempt)
            failed = Failed(
                str(error), error=error, rules_out_all_sizes=last is None and step is None and plan.k == smallest
            )
            continue
        if last.passes:
            return last
        verdict = last.verdict
        why = verdict.exposures[0] if verdict.exposures else verdict.recommendation
        failed = Failed(why, verdict, rules_out_all_sizes=last.rules_out_all_sizes)
        step = step.revise(verdict) if verdict.row_question is None else None
    return failed


def _fallback(plan: Plan, attempt: Callable[[Plan], Attempt]) -> Plan | None:
    """The plan to try where one cannot be had; of several secrets those are left out that cannot differ alone."""
    if len(plan.may_go) < 2:
        return plan.without(plan.may_go)
    refused = []
    for name in plan.may_go:
        try:
            attempt(replace(plan, diverse=(name,)))
        except IncrowdError:
            refused.append(name)
    return plan.without(refused or plan.may_go[-1:])


def sizes_to_try(limits: Limits, people: int, *, in_population: bool, held: int = 1) -> list[int]:
    """Class sizes, the least first, as far as there are people for two such classes.

    They begin with what the limit on the highest risk asks, or with 2 where the population decides. Larger ones serve
    secrets that small classes do not hide, and the average: classes of 1 ÷ its limit keep it. Classes that the table
    holds already (`held`, as `size_held` finds them) come first: they leave out columns and change no cell.

    >>> from incrowd.recipients import limits_of
    >>> sizes_to_try(limits_of("public"), 1_000, in_population=False)
    [11, 15, 20, 22]
    >>> sizes_to_try(Limits(1 / 3, 0.02), 1_000, in_population=False)
    [3, 5, 6, 8, 11, 15, 20, 50, 200, 500]
    >>> sizes_to_try(limits_of("public"), 1_000, in_population=False, held=4)
    [4, 11, 15, 20, 22]
    """
    needed = limits.class_size
    least = 2 if in_population else needed
    wanted = {*(size for size in _SIZES if size > least), least, needed, 2 * needed, min(held, needed)}
    most = people // 2
    of_average = math.ceil(round(1 / limits.of_average, 9))
    if limits.average is not None and of_average > max(wanted):
        size = of_average
        while size < most:
            wanted.add(size)
            size *= _GROWTH
        wanted.add(most)
    return [size for size in sorted(wanted) if 2 <= size <= most]


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search: the least costly way that passes, if there is one, and why class sizes failed."""

    way: Attempt | None
    failures: tuple[Failed, ...]


def find_least(sizes: Sequence[int], start: int, try_size: Callable[[int], Attempt | Failed]) -> Found:
    """Try class sizes, and take the way that costs the least.

    Where secrets must differ, or one is left out, small classes can cost more than large ones, which need no such rule;
    so larger ones are tried too, each at least twice as large as the one before, until one needs none; then those in
    between, from the largest, while they lose less.

    Args:
        sizes: the class sizes, the smallest first.
        start: the place of the one that is likely to pass.
        try_size: the way that passes with classes of one size, or why there is none.
    """
    best: Attempt | None = None
    least: Attempt | None = None  # of the smallest classes that pass
    failures: dict[int, Failed] = {}
    tried: set[int] = set()
    need_none: set[int] = set()  # sizes that pass without a rule on secrets

    def passes(k: int) -> bool | None:
        nonlocal best, least
        tried.add(k)
        outcome = try_size(k)
        if isinstance(outcome, Failed):
            failures[k] = outcome
            return None if outcome.rules_out_all_sizes else False
        best = outcome if best is None else least_costly([best, outcome])
        least = outcome if least is None or k < least.plan.k else least
        if not outcome.plan.costs_columns:
            need_none.add(k)
        return True

    walk_sizes(sizes, start, passes)
    if least is not None and least.plan.costs_columns:
        for k in _doubled(sizes, least.plan.k):
            if k not in tried:
                passes(k)
            if k in need_none:
                break
        largest = best.plan.k if best is not None else 0
        for k in reversed([size for size in sizes if least.plan.k < size < largest and size not in tried]):
            passes(k)
            if best is None or best.plan.k != k:
                break
    return Found(best, tuple(failed for _, failed in sorted(failures.items())))


def _doubled(sizes: Sequence[int], k: int) -> Iterator[int]:
    """Class sizes above k, each at least twice the one before; the largest is the last."""
    while k < sizes[-1]:
        k = next((size for size in sizes if size >= 2 * k), sizes[-1])
        yield k


def walk_sizes(sizes: Sequence[int], start: int, passes: Callable[[int], bool | None]) -> None:
    """Try class sizes until the least that passes is known.

    From the one that is likely to pass the smaller ones follow as long as they pass, or the larger ones until one does.
    Where none of those passes, the smaller ones follow after all. Then sizes in between are tried, halving the way from
    the largest that fails to the least that passes.

    Args:
        sizes: the class sizes, the smallest first.
        start: the place of the likely one.
        passes: tries one, and says whether it passes; None ends the walk.
    """
    failed: list[int] = []

    def is_enough(k: int) -> bool:
        passed = passes(k)
        if passed is None:
            raise _EndedError
        if not passed:
            failed.append(k)
        return passed

    with suppress(_EndedError):
        least = next((k for k in sizes[start:] if is_enough(k)), None)
        if least is None or least == sizes[start]:
            for k in reversed(sizes[:start]):
                if is_enough(k):
                    least = k
                elif least is not None:
                    break
        if least is None:
            return
        below = max((k for k in failed if k < least), default=least)
        while least - below > 1:
            middle = (below + least) // 2
            least, below = (middle, below) if is_enough(middle) else (least, middle)


class _EndedError(Exception):
    """Raised where no further class size is to be tried."""


def likely_to_pass(sizes: Sequence[int], class_size: int, people: int, population: int) -> int:
    """The place of the first class size that is likely to pass.

    A class of k among n people has k and NB(k, (N − n)/n) more among N, whose lower 2.5 % are held against the limit.

    >>> likely_to_pass([2, 3, 5, 8, 11], 11, people=200_000, population=3_985_166)
    1
    """
    passing = np.flatnonzero(_fewest_in_population(sizes, people, population) >= class_size)
    return int(passing[0]) if passing.size else max(len(sizes) - 1, 0)


def size_held(smallest: int, class_size: int, people: int, population: int | None) -> int:
    """The smallest class of a table as it is, if it is likely to be large enough in the population; else 1.

    >>> size_held(4, 11, people=200_000, population=3_985_166), size_held(4, 11, people=200_000, population=None)
    (4, 1)
    """
    if population is None or _fewest_in_population([smallest], people, population)[0] < class_size:
        return 1
    return smallest


def _fewest_in_population(sizes: Sequence[int], people: int, population: int) -> Floats:
    """People of the population in classes of these sizes, of which there are more but for 2.5 %."""
    seen = np.asarray(sizes, dtype=np.float64)
    return seen + quantile_of_others(0.025, seen, np.full(seen.size, population / people - 1.0))


def least_costly(ways: Sequence[Attempt]) -> Attempt:
    """The way of least cost, then of fewest columns left out; the cost of a single one is not measured."""
    if len(ways) == 1:
        return ways[0]
    costs = [way.measure_cost() for way in ways]
    return ways[min(range(len(ways)), key=lambda place: (round(costs[place].total, 9), costs[place].columns_left_out))]
