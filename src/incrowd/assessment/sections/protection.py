"""Section "protection": the loss of detail by protection, and the risk that remains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from incrowd._support.progress import part, stoppable_threads
from incrowd.assessment.sections.leaks import leak_risks
from incrowd.assessment.sections.section import AssessmentState, Section, Statement
from incrowd.assessment.way_to_yes import made_of, sizes_to_begin_with, trials_at_once
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.evaluation import evaluate
from incrowd.measures import measure
from incrowd.populations.classical import benedetti_franconi_risk
from incrowd.populations.intervals import certain_limits
from incrowd.protection import protect
from incrowd.recipients import judge, limits_of
from incrowd.results import Result
from incrowd.tables import read_table
from incrowd.wording import percent

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment

_SIZES = (limits_of("trusted").class_size, 5, limits_of("public").class_size)  # k to try besides the recipient's limit


@dataclass(frozen=True, slots=True)
class SecretLeft(Result):
    """Disclosure of one sensitive column by the protected classes: l, t, and the share of certain values."""

    column: str
    l: int  # noqa: E741
    t: float
    given_away: float


@dataclass(frozen=True, slots=True)
class ProtectionCost(Result):
    """The table protected with one k: the remaining risk, detail and disclosure of secrets.

    - `correctness`: the average risk in the table.
    - `population_risk`: the average risk in the population; None if the population is not known.
    - `population_limits`: bounds of `population_risk` that hold for any population.
    - `granularity`: 1 if all detail is kept, 0 if none is.
    - `information_loss`: in standard deviations, on average over columns.
    - `leaks`: shares of the protected table that may leak, each with the chance that a given person is named.
    """

    _derived: ClassVar[tuple[str, ...]] = ("t",)
    _keys: ClassVar[Mapping[str, Any]] = {"leaks": list[dict[str, float]]}

    k: int
    correctness: float
    uniqueness: float
    granularity: float
    information_loss: float | None
    cells_changed: float
    rows_dropped: int
    secrets: tuple[SecretLeft, ...] = ()
    population_risk: float | None = None
    population_limits: tuple[float, float] | None = None
    leaks: tuple[tuple[float, float], ...] = ()

    @property
    def risk(self) -> float:
        """The average risk that the decision uses: in the population if it is known, else in the table."""
        return self.correctness if self.population_risk is None else self.population_risk

    @property
    def t(self) -> float | None:
        """The distance of the worst class from the table, for the sensitive column where it is largest."""
        return max((secret.t for secret in self.secrets), default=None)

    @property
    def given_away(self) -> float:
        """The share of records whose value is certain, for the sensitive column where it is largest."""
        return max((secret.given_away for secret in self.secrets), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types."""
        leaks = [{"share_leaked": leaked, "probability": chance} for leaked, chance in self.leaks]
        return {**Result.to_dict(self), "leaks": leaks}


@dataclass(frozen=True, slots=True)
class Protection(Result):
    """The costs of each k, the smallest k first, measured on `rows` rows."""

    method: str
    rows: int
    costs: tuple[ProtectionCost, ...]
    notes: tuple[str, ...] = ()

    def enough(self, threshold: float) -> ProtectionCost | None:
        """The protection that keeps most detail with an average risk within the threshold; None if there is none."""
        within = [cost for cost in self.costs if judge(cost.risk, threshold) == "within"]
        return max(within, key=lambda cost: cost.granularity) if within else None


def assess_protection(work: AssessmentState) -> Protection:
    """Protect the table with a few k, among them the recipient's class size, and measure each result.

    The search for a yes (`way_to_yes`) starts with some of these k, whose protected tables are kept for it.
    """
    if not is_asked(work):
        raise UnsupportedError("not asked for")
    table, roles, risk = work.table, work.roles, work.answers["population"]
    table.backend.require_local("measuring what protection costs", "protect the table there, or assess a sample of it")
    asked: dict[str, Any] = {"quasi_identifiers": list(roles.quasi_identifiers), "person": roles.person}
    people = ClassSizes.from_table(table, **asked).people
    wanted = [k for k in sorted({*_SIZES, work.question.limits.class_size}) if k <= people // 2]
    sizes_to_store, stored = sizes_to_begin_with(work), work.shared.setdefault("protected", {})

    done: dict[int, float] = {}  # progress of each k

    def protect_with(k: int) -> tuple[ProtectionCost, tuple[str, ...]]:
        def follow(_: str, share: float) -> None:
            done[k] = share
            tell(f"protecting with classes of {k}", sum(done.copy().values()) / len(wanted))

        safe = protect(table, **asked, k=k, identifiers=[], warn=False, progress=part(follow, 0.0, 0.6))
        after = safe.counted or read_table(safe.table)  # one table object, so that its encoded columns are cached
        evaluated = evaluate(table, after, **asked, kept_rows=safe.kept_rows, progress=part(follow, 0.6, 1.0))
        # classes of made-to-measure ranges say nothing about a population
        population = None if risk is None or any(safe.changed_cells.values()) else risk.population
        diversities = measure(after, **asked, sensitive=roles.sensitive).sensitive if roles.sensitive else ()
        if k in sizes_to_store:
            stored[k] = made_of(safe, lambda: float(evaluated.granularity))
        cost = ProtectionCost(
            k=k,
            correctness=evaluated.correctness,
            uniqueness=evaluated.uniqueness,
            granularity=evaluated.granularity,
            information_loss=evaluated.information_loss,
            cells_changed=safe.share_changed,
            rows_dropped=evaluated.suppressed,
            secrets=tuple(SecretLeft(one.column, one.distinct, one.t, one.given_away) for one in diversities),
            population_risk=None if population is None else risk_of_large_classes(safe.classes, population),
            population_limits=None if population is None else certain_limits(safe.classes, population),
            leaks=tuple((risk.share_leaked, risk.probability) for risk in leak_risks(safe.classes)),
        )
        return cost, safe.notes

    costs: list[ProtectionCost] = []
    notes: dict[str, list[int]] = {}  # each note with the k that it is about
    with stoppable_threads(trials_at_once(table), work.part(SECTION)) as (pool, tell, _):
        tell("protecting the table", 0.0)
        first = [protect_with(k) for k in wanted[:1]]  # settles scales and caches of the table before threads use it
        for k, (cost, notes_of_k) in zip(wanted, chain(first, pool.map(protect_with, wanted[1:])), strict=True):
            costs.append(cost)
            for note in notes_of_k:
                notes.setdefault(note, []).append(k)
    worded = [note if ks == wanted else f"k = {', '.join(map(str, ks))}: {note}" for note, ks in notes.items()]
    return Protection("partition", table.rows, tuple(costs), tuple(worded))


def risk_of_large_classes(sizes: ClassSizes, population: int) -> float:
    """The average risk in the population for a table whose classes all have several people.

    A class of f people among n in the table has F people among N in the population, about f N/n: F − f is negative
    binomial, and E(1/F) is the risk of Benedetti and Franconi. For f = 1 this would need a model of the population;
    for larger classes, f is a sufficient estimate.

    >>> risk_of_large_classes(ClassSizes.from_sizes([10] * 5), 50_000)
    0.00011...
    """
    in_table = sizes.sizes.astype(np.float64)
    risks = benedetti_franconi_risk(in_table, in_table * (population / sizes.people))
    average = float((in_table * sizes.counts) @ risks) / sizes.people
    return max(average, sizes.classes / population)


def is_asked(work: AssessmentState) -> bool:
    """True if the question asks what protection costs."""
    return work.question.protection and work.question.released is None


def _statements(assessment: Assessment) -> Iterator[Statement]:
    if assessment.protection is None:
        return
    for cost in assessment.protection.costs:
        yield Statement(
            "protection",
            f"k = {cost.k}",
            cost.risk,
            f"risk {percent(cost.risk)}, detail kept {percent(cost.granularity)}",
            f"After protection everybody looks like at least {cost.k - 1} others."
            + ("" if cost.population_risk is None else f" In the table alone: {percent(cost.correctness)}."),
            "counted on the protected table"
            if cost.population_limits is None
            else f"estimated from its class sizes; certain is {percent(cost.population_limits[0])} to "
            f"{percent(cost.population_limits[1])}",
            f"protected by {assessment.protection.method}"
            + ("" if cost.population_risk is None else "; a class is as common in the population as in the table"),
        )
    for cost in assessment.protection.costs:
        if cost.secrets:
            worst = max(cost.secrets, key=lambda secret: (secret.given_away, secret.t))
            yield Statement(
                "secrets left",
                f"k = {cost.k}: {worst.column}",
                worst.given_away,
                f"one value in the whole class: {percent(worst.given_away)}",
                "The least hidden secret after that: records in homogeneous classes, of missing and common values too "
                f"(l = {worst.l}, t = {worst.t:.2f}).",
                "counted on the protected table",
                "the attacker knows every quasi-identifier, and that the person is in the table",
            )


SECTION = Section("protection", assess_protection, _statements, weight=15, is_asked=is_asked)
