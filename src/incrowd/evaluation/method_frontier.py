"""Risk against loss for every method and k: the paper's Figures S4 to S7 on the user's own data."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.evaluation.result import Evaluation
from incrowd.measures.disclosed_secrets import count_disclosed_secrets
from incrowd.measures.secret_values import Secret
from incrowd.protection import PROTECTION_METHODS, MethodName, Protected, protect
from incrowd.protection.coarsen import parts_of
from incrowd.protection.registry import ProtectionMethod
from incrowd.recipients import CERTAIN_FROM, RECIPIENTS, Limits, judge, limits_of
from incrowd.results import DataTable, Result
from incrowd.tables import TableLike, read_table
from incrowd.wording import number, percent

FrontierLoss = Literal["granularity", "pmse"]
LOSSES: tuple[FrontierLoss, ...] = get_args(FrontierLoss)
FrontierMethod = MethodName | Literal["t-close partition"]
_SIZES = frozenset({2, 5, *(one.limits.class_size for one in RECIPIENTS)})
_RESOLUTIONS = (32, 16, 8)  # the paper's 1/32, 1/16 and 1/8 of the domain


@dataclass(frozen=True, slots=True)
class ComparedMethod:
    """A method of the frontier: alone, or with t-closeness by its bound in addition."""

    method: str
    is_t_close: bool = False

    @property
    def entry(self) -> ProtectionMethod:
        """The method in the registry."""
        return PROTECTION_METHODS[self.method]

    @property
    def label(self) -> str:
        """The method in words."""
        return f"{self.entry.label} that hides the secret" if self.is_t_close else self.entry.label

    @property
    def needs_secret(self) -> bool:
        """True if the method needs a sensitive column."""
        return self.is_t_close or self.entry.run is None

    def taken_demands(self, demands: Mapping[str, Any]) -> dict[str, Any]:
        """The general demands (options of `protect`) that the method can meet.

        >>> FRONTIER_METHODS["sorted"].taken_demands({"l": 2, "leave_out": ["note"]})
        {'leave_out': ['note']}
        """
        entry = self.entry
        met = {
            "leave_out": True,
            "hierarchies": True,
            "l": entry.reaches_l,
            "importance": entry.takes("importance"),
        }
        return {name: value for name, value in demands.items() if met[name]}


def _compared_methods() -> dict[str, ComparedMethod]:
    """Every method of the registry that can be compared: first by k, then those that need a sensitive column."""
    methods: dict[str, ComparedMethod] = {}
    for name, entry in PROTECTION_METHODS.items():
        if entry.compared_by is not None:
            methods[name] = ComparedMethod(name)
            if entry.run is not None and entry.run_by_strata is not None:
                methods[f"t-close {name}"] = ComparedMethod(name, is_t_close=True)

    def order(name: str) -> tuple[bool, bool, bool]:
        compared = methods[name]
        return compared.entry.needs_hierarchies, compared.entry.compared_by != "k", compared.needs_secret

    return {name: methods[name] for name in sorted(methods, key=order)}


FRONTIER_METHODS: Mapping[str, ComparedMethod] = _compared_methods()
"""The methods that a frontier compares, by their names there."""


@dataclass(frozen=True, slots=True)
class FrontierPoint(Result):
    """One protected table: its method and setting, its remaining risk, its cost.

    `disclosure` is the risk of the named secret. If none was named, it is the share of records with a sensitive value
    that is certain and news, in the column where it is largest. `pmse` is the propensity score mean square error, if
    that is the loss. `decision` is that of the verdict, if points are judged.
    """

    method: str
    setting: str
    k: int
    uniqueness: float
    correctness: float
    disclosure: float | None
    t: float | None
    information_loss: float | None
    granularity: float
    suppressed: int
    seconds: float
    pmse: float | None = None
    decision: str | None = None

    @property
    def name(self) -> str:
        """The method with its setting."""
        return f"{self.method} {self.setting}"


@dataclass(frozen=True, slots=True)
class Frontier(Result):
    """The protected tables of every method.

    `records` is the size of the original. `limits` are those of the recipient, which define `chosen`. `loss` is what is
    minimised: the lost detail ("granularity") or "pmse".
    """

    _derived: ClassVar[tuple[str, ...]] = ("chosen",)
    records: int
    points: tuple[FrontierPoint, ...]
    limits: Limits | None = None
    loss: str = "granularity"

    def lost(self, point: FrontierPoint) -> float:
        """The cost of a point by the requested loss; infinite if it was not measured."""
        if self.loss == "granularity":
            return 1.0 - point.granularity
        return math.inf if point.pmse is None else point.pmse

    @property
    def chosen(self) -> FrontierPoint | None:
        """The point of least loss that was judged a yes; if none was judged, the one that keeps the limits.

        A yes needs more than class sizes within the limits and no secret that is certain.
        """
        passing = [point for point in self.points if self._passes(point)]
        if self.loss == "pmse":  # includes suppressed rows: all rows against those that stay
            return min(passing, key=lambda point: (self.lost(point), point.correctness), default=None)
        return max(
            passing,
            key=lambda point: (point.granularity * (self.records - point.suppressed), -point.correctness),
            default=None,
        )

    def _passes(self, point: FrontierPoint) -> bool:
        limits = self.limits
        if point.decision is not None or limits is None:
            return point.decision == "within"
        return (
            judge(1 / max(point.k, 1), limits.highest) == "within"
            and judge(point.correctness, limits.of_average) == "within"
            and not point.disclosure
        )

    @property
    def best(self) -> tuple[FrontierPoint, ...]:
        """The points that no other point beats in both risk and loss, the riskiest first."""
        return tuple(
            point
            for point in sorted(self.points, key=lambda point: -point.correctness)
            if not any(
                other.correctness <= point.correctness
                and self.lost(other) < self.lost(point)
                and other.uniqueness <= point.uniqueness
                for other in self.points
            )
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [point.to_dict() for point in self.points]

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """Risk and cost of every point; the chosen one has an arrow."""
        has_pmse, is_judged = self.loss == "pmse", any(point.decision is not None for point in self.points)
        heads = ("method", "unique", "named", "secret", "detail", "loss", *(["pMSE"] if has_pmse else []))
        rows = tuple(
            (
                point.name + (" ←" if point is self.chosen else ""),
                percent(point.uniqueness),
                percent(point.correctness),
                None if point.disclosure is None else percent(point.disclosure),
                percent(point.granularity),
                point.information_loss,
                *([point.pmse] if has_pmse else []),
                point.decision if is_judged else number(point.seconds, digits=2),
            )
            for point in self.points
        )
        caption = f"What protection leaves and costs, {self.records:,} records"
        return (DataTable(caption, (*heads, "decision" if is_judged else "s"), rows),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the columns are, and the points that nothing beats."""
        cost = "pMSE" if self.loss == "pmse" else "detail"
        return (
            "unique: still unique; named: guessed right; secret: certain, and news; detail: granularity kept.",
            f"Not beaten in both risk and {cost}: {', '.join(point.name for point in self.best)}.",
        )

    def choice_for(self, whom: str) -> str:
        """The chosen point for a recipient, in words."""
        if self.chosen is None:
            return f"Nothing that was tried may go to {whom}."
        least = "least pMSE" if self.loss == "pmse" else "most detail"
        return f"← the {least} that may go to {whom}: {self.chosen.name}."


def frontier(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    methods: Sequence[FrontierMethod] | None = None,
    k: Sequence[int] | None = None,
    resolutions: Sequence[int | str] = _RESOLUTIONS,
    sensitive: Sequence[str] | None = None,
    secret: Any = None,
    secrets: Mapping[str, Secret] | None = None,
    certain_from: float = CERTAIN_FROM,
    person: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    suppress: float = 0.02,
    demands: Mapping[str, Any] | None = None,
    recipient: str | Limits | None = None,
    judge_release: Callable[[Protected], str] | None = None,
    loss: FrontierLoss = "granularity",
    progress: Progress = silent,
) -> Frontier:
    """Protect a table by every method and measure each: remaining risk against loss.

    Args:
        data: the table.
        quasi_identifiers: the columns that an attacker may know.
        methods: the methods to try. By default all that need no hierarchies; those with t-closeness only with one
            sensitive column; with a person column only the partition, because the others work on records.
        k: the class sizes to try. By default 2, 5 and those of the recipients, up to the number of people.
        resolutions: the settings of "coarsen", which has no k.
        sensitive: the sensitive columns; `t` of a point is the largest of all columns.
        secret: a value or a range of the sensitive column (give one column then); see `evaluate`.
        secrets: if no `secret` is given, the values of sensitive columns that are secret, as the verdict counts them.
        certain_from: if no `secret` is given, the share of a class from which a value counts as certain.
        person: the column that identifies the person of each record; the unit of risk is then the person.
        hierarchies: hierarchies for "generalise".
        suppress: for "generalise", the share of rows that may be left out.
        demands: further options of `protect` for every table: l, leave_out, importance and hierarchies. A
            method that cannot meet a demand runs without it. The setting of a point names its l.
        recipient: the recipient whose limits define `chosen`, or the limits; the class size that they require is tried
            too.
        judge_release: callback that returns the decision on a protected table; only "within" can then be `chosen`.
        loss: the loss to minimise: "granularity" (lost detail), or "pmse" (how well a logistic regression
            distinguishes protected from original records).
        progress: callback that receives the current step and the share done.

    Returns:
        A point for each method and setting; if several settings give equal tables, the last of them.

    Raises:
        InputError: a column is missing, or there is no such method.
        UnsupportedError: a method cannot protect this table.

    >>> from incrowd import demo_table
    >>> from incrowd.demo import QUASI_IDENTIFIERS
    >>> found = frontier(demo_table(2_000), quasi_identifiers=QUASI_IDENTIFIERS, methods=["partition", "sorted"], k=[5])
    >>> better, worse = found.points
    >>> better.information_loss < 0.6 * worse.information_loss
    True
    """
    if (secret is not None or secrets) and not sensitive:
        raise InputError("a secret without the sensitive column it is in; name that too", hint="sensitive")
    if loss not in LOSSES:
        raise InputError(f"there is no loss {loss!r} to compare by; use {' or '.join(LOSSES)}", hint="loss")
    table = read_table(data)
    table.require_order()
    people = table.rows if person is None else encode(table, table.require([person], "person"))[0].size
    limits = limits_of(recipient) if isinstance(recipient, str) else recipient
    usual = {*_SIZES, *(() if limits is None else (limits.class_size,))}
    sizes = sorted(size for size in usual if size <= people) if k is None else list(dict.fromkeys(k))
    secret_only = [name for name in sensitive or () if name not in quasi_identifiers] or None
    chosen: list[str] = (
        list(dict.fromkeys(methods))
        if methods is not None
        else _applicable_methods(secret_only is not None and len(secret_only) == 1, person)
    )
    unknown = [method for method in chosen if method not in FRONTIER_METHODS]
    if unknown:
        raise InputError(f"there is no method {', '.join(map(repr, unknown))}; use {', '.join(FRONTIER_METHODS)}")
    parts = list({parts_of(resolution): resolution for resolution in resolutions}.values())
    settings: dict[str | None, Sequence[int | str]] = {"k": sizes, "resolution": parts}
    runs = [(method, setting) for method in chosen for setting in settings[FRONTIER_METHODS[method].entry.compared_by]]
    points: dict[tuple[Any, ...], FrontierPoint] = {}  # by measurements, so that equal tables are one point: the last
    for done, (method, setting) in enumerate(runs):
        progress(f"{method}, {setting}", done / len(runs))
        options = {"sensitive": secret_only, "person": person, **_options(method, setting, suppress, hierarchies)}
        met = FRONTIER_METHODS[method].taken_demands(demands or {})
        started = time.perf_counter()
        options |= met | {"identifiers": [], "warn": False}
        safe = protect(table, quasi_identifiers=quasi_identifiers, **options)
        point = _point(
            method, setting, met, time.perf_counter() - started, safe.evaluate(secret=secret, utility=loss == "pmse")
        )
        if sensitive and secret is None:
            columns: dict[str, Any] = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "person": person}
            found = count_disclosed_secrets(safe.table, **columns, secrets=secrets, certain_from=certain_from)
            point = replace(point, disclosure=max(one.news_share for one in found.columns))
        measured = _measurements(point)
        if judge_release is not None:
            equal = points.get(measured)
            point = replace(point, decision=judge_release(safe) if equal is None else equal.decision)
        points[measured] = point
    return Frontier(table.rows, tuple(points.values()), limits, loss)


def _measurements(point: FrontierPoint) -> tuple[Any, ...]:
    """What is measured of a point; the rows of equal tables differ in their order, and so the last digits of sums."""
    values = (value for name, value in point.to_dict().items() if name not in ("setting", "seconds", "decision"))
    return tuple(round(value, 9) if isinstance(value, float) else value for value in values)


def _options(method: str, setting: int | str, suppress: float, hierarchies: Any) -> dict[str, Any]:
    """The arguments of `protect` for one point."""
    compared = FRONTIER_METHODS[method]
    options: dict[str, Any] = {"method": compared.method, str(compared.entry.compared_by): setting}
    if compared.entry.needs_hierarchies:
        options |= {"suppress": suppress, "hierarchies": hierarchies}
    return options | {"t": "bound"} if compared.is_t_close else options


def _point(method: str, setting: int | str, met: Mapping[str, Any], seconds: float, found: Evaluation) -> FrontierPoint:
    by_k = FRONTIER_METHODS[method].entry.compared_by == "k"
    return FrontierPoint(
        method=method,
        setting=(f"k={setting}" if by_k else f"1/{parts_of(setting)}") + (f", l={met['l']:g}" if "l" in met else ""),
        k=found.k,
        uniqueness=found.uniqueness,
        correctness=found.correctness,
        disclosure=found.disclosure.risk if found.disclosure else None,
        t=max((one.t for one in found.sensitive), default=None),
        information_loss=found.information_loss,
        granularity=found.granularity,
        suppressed=found.suppressed,
        seconds=seconds,
        pmse=None if found.utility is None else found.utility.propensity_mse,
    )


def _applicable_methods(has_strata: bool, person: str | None) -> list[str]:
    """The methods that need no hierarchies; for histories of people only a few methods apply."""
    return [
        name
        for name, compared in FRONTIER_METHODS.items()
        if not compared.entry.needs_hierarchies
        and (has_strata or not compared.needs_secret)
        and (person is None or (compared.entry.run_by_person is not None and not compared.is_t_close))
    ]


def sizes_to_compare(limits: Limits, people: int) -> list[int]:
    """Class sizes to try for a recipient: small ones, what its limit on the highest risk requires, and twice that.

    >>> sizes_to_compare(Limits(1 / 11), 1_000)
    [3, 5, 11, 22]
    """
    wanted = {3, 5, limits.class_size, 2 * limits.class_size}
    return sorted(size for size in wanted if 2 <= size <= max(2, people // 2))


def worth_choosing(found: Frontier, decisions: Sequence[str]) -> list[FrontierPoint]:
    """The points with the decision "within" that no other of these points beats in both risk and loss."""
    within = [point for point, decision in zip(found.points, decisions, strict=True) if decision == "within"]
    return list(replace(found, points=tuple(within)).best)
