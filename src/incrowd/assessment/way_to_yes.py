"""The way to a yes: the least protection that was tried and passes, with the commands."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._support.compressed_files import full_suffix
from incrowd._support.progress import Progress, part, side_by_side
from incrowd.assessment.command_line import to_command, to_words
from incrowd.assessment.question import Question, command_words
from incrowd.assessment.sections.section import WRITING, Work
from incrowd.assessment.verdict import Action, Verdict
from incrowd.errors import IncrowdError
from incrowd.populations.crowd_records import quantile_of_others
from incrowd.protection import protect
from incrowd.protection.api import memory_to_protect
from incrowd.protection.original_facts import facts_of_tables
from incrowd.recipients import RECIPIENTS
from incrowd.tables import Table, read_table
from incrowd.wording import counted, listed, number, percent

_MOST_VALUES = 4  # different values of a secret in a class that are asked for at most
_SIZES = (2, 3, 5, 8, 11, 15, 20)  # classes that are tried where the limit does not say how large they must be


@dataclass(frozen=True, slots=True)
class Plan:
    """A protection to try: the columns to remove, the class size, and how different the values of secrets must be.

    Every class has at least `l` values of the `diverse` columns, and no value reaches the share `certain_from` of it.
    """

    removed: tuple[str, ...]
    k: int
    certain_from: float
    l: int = 2  # noqa: E741
    diverse: tuple[str, ...] = ()

    @property
    def demand(self) -> dict[str, Any]:
        """The options of `protect` that ask for different values: (c, l)-diversity bounds the share of a value."""
        if not self.diverse:
            return {}
        if self.certain_from == 1:
            return {"l": self.l}
        c = self.certain_from / (1 - self.certain_from)  # a share below s is a ratio below s / (1 - s)
        return {"l": self.l, "diversity": "recursive", "c": math.floor(round(c, 9) * 1e6) / 1e6}

    def after(self, verdict: Verdict) -> Plan | None:
        """The plan that mends what a verdict found, or None where none is known."""
        back = [name for name in verdict.giving_back if name not in self.removed]
        more = [name for name in verdict.disclosed if name not in (*self.diverse, *back)]
        if back or more:
            left = tuple(name for name in self.diverse if name not in back)
            return replace(self, removed=(*self.removed, *back), diverse=(*left, *more))
        if verdict.disclosed and self.l < _MOST_VALUES:
            return replace(self, l=self.l + 1)
        return self.without(verdict.disclosed)

    def without(self, secrets: Sequence[str]) -> Plan | None:
        """The plan that leaves out secrets which classes cannot hide."""
        if not secrets:
            return None
        left = tuple(name for name in self.diverse if name not in secrets)
        return replace(self, removed=(*self.removed, *secrets), l=2, diverse=left)


def way_to_yes(work: Work) -> Action:
    """Search for the least protection that passes: try it, judge the result as any table is judged, and say how.

    Columns that nobody judged and columns that name people are left out of the release. Classes are as large as the
    limit asks; different values in every class are asked for where secrets would be known, and a secret that no class
    hides is left out; so are kept columns that give back what was made coarser. The class size that is likely to pass
    is tried first; from there smaller ones as long as they pass, or larger ones until one does. Where secrets must
    differ, small classes can cost more than large ones, so the largest size is tried too. Of those that pass, the one
    with the fewest columns left out and then the most detail is taken.
    """
    sizes = _sizes_to_try(work)
    place = _likely_to_pass(work, sizes)
    outcomes: dict[int, _Way | str] = {}
    at_once = trials_at_once(work.table)
    with side_by_side(at_once, part(work.progress, WRITING, 1.0)) as (pool, tell, repeat):

        def begin(k: int) -> Future[_Way | Action | str]:
            return pool.submit(_try_size, work, k, repeat)

        tell("trying protections", 0.0)
        # the one below is needed as soon as the likely one passes
        trials = {near: begin(sizes[near]) for near in (place, place - 1)[:at_once] if 0 <= near < len(sizes)}
        while 0 <= place < len(sizes) and place not in outcomes:
            tell(f"trying classes of {sizes[place]}", len(outcomes) / len(sizes))
            found = (trials.get(place) or begin(sizes[place])).result()
            if isinstance(found, Action):
                return found
            outcomes[place] = found
            place += -1 if isinstance(found, _Way) else 1
        passed = [found for _, found in sorted(outcomes.items()) if isinstance(found, _Way)]
        if passed and passed[0].plan.diverse and len(sizes) - 1 not in outcomes:
            largest = begin(sizes[-1]).result()
            passed += [largest] if isinstance(largest, _Way) else []
        if passed:
            return _protect_action(work, _least_costly(work, passed))
    too_small = "the table is too small for classes that large"
    return _no_way(work.question, str(outcomes[max(outcomes)]) if outcomes else too_small)


@dataclass(frozen=True, slots=True)
class _Way:
    """A protection that passes: its plan, the verdict on the result, and what measures its cost."""

    plan: Plan
    verdict: Verdict
    measure_cost: Callable[[], _Cost]


def _least_costly(work: Work, ways: Sequence[_Way]) -> _Way:
    """The way that leaves out the fewest columns and keeps the most detail, a row that is left out having none."""
    if len(ways) == 1:
        return ways[0]

    def gain(way: _Way) -> tuple[int, float]:
        cost = way.measure_cost()
        return -len(way.plan.removed), cost.detail * (1 - cost.rows_left_out / work.table.rows)

    return max(ways, key=gain)


def _try_size(work: Work, k: int, progress: Progress) -> _Way | Action | str:
    """The way to a yes with classes of one size; else what must be said first, or why there is none."""
    plan: Plan | None = Plan(columns_to_remove(work), k, work.question.certain_from)
    why = ""
    while plan is not None:
        try:
            verdict, measure_cost = _try(work, plan, progress)
        except IncrowdError as error:
            why, plan = str(error), plan.without(plan.diverse)
            continue
        if verdict.decision == "within":
            return _Way(plan, verdict, measure_cost)
        if asks := [one for one in verdict.internal_reasons if "rows_are_people" in one.hint]:
            return Action(f"Say what a row is before it is protected. {asks[0].sentence}.", asks[0].hint)
        why = verdict.exposures[0] if verdict.exposures else verdict.recommendation
        plan = plan.after(verdict)
    return why


def columns_to_remove(work: Work) -> tuple[str, ...]:
    """Columns that a release leaves out: those that name people, are to go, or that nobody judged."""
    evidence, roles = work.answers["evidence"], work.roles
    undecided = (one.column for one in evidence.undecided)
    gone = [*roles.identifiers, *roles.identifiers_kept, *roles.dropped, *undecided, *evidence.harmless]
    return tuple(name for name in dict.fromkeys(gone) if name != roles.person)  # it gets random numbers


def _sizes_to_try(work: Work) -> list[int]:
    """Class sizes, the least first: what the limit on the highest risk asks, or growing ones where estimates decide."""
    limits, people = work.question.limits, work.answers["facts"].people
    needed = limits.class_size
    if work.answers.get("population") is None:
        wanted = [needed] if limits.average is None else [needed, *(size for size in _SIZES if size > needed)]
    else:
        wanted = [*(size for size in _SIZES if size < needed), needed]
    return [size for size in wanted if 2 <= size <= people // 2]


def sizes_to_begin_with(work: Work) -> list[int]:
    """The class sizes that the way to a yes tries in any case or most likely: the likely one and the one below it."""
    sizes = _sizes_to_try(work)
    place = _likely_to_pass(work, sizes)
    return sizes[max(place - 1, 0) : place + 1]


def trials_at_once(table: Table) -> int:
    """How many protections of the table are made side by side: two, where the memory limit allows for both."""
    return 2 if 2 * memory_to_protect(table) <= table.memory else 1


def _likely_to_pass(work: Work, sizes: Sequence[int]) -> int:
    """The place of the first class size that is likely to pass.

    A class of k among n people has k and NB(k, (N − n)/n) more among N, whose lower 2.5 % are held against the limit.
    """
    risk = work.answers.get("population")
    if risk is None or not sizes:
        return 0
    seen = np.asarray(sizes, dtype=np.float64)
    least = seen + quantile_of_others(0.025, seen, np.full(seen.size, risk.population / risk.people - 1.0))
    passing = np.flatnonzero(least >= work.question.limits.class_size)
    return int(passing[0]) if passing.size else len(sizes) - 1


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a protection leaves of a table: the share of the detail that is kept, and the rows that are not."""

    detail: float
    rows_left_out: int


def _try(work: Work, plan: Plan, progress: Progress) -> tuple[Verdict, Callable[[], _Cost]]:
    """Protect the table so, and judge what comes out as it will be judged once it is written.

    Returns:
        The verdict, complete where it is a yes; and what measures the cost, which only a yes needs.
    """
    from incrowd.assessment.api import judge_release

    released, measure_detail, shuffled = _protected(work, plan, progress)
    gone = [name for name in work.table.columns if name not in released.columns]  # lists are set aside unasked
    asked = work.question.with_roles(work.roles).about_release(gone)
    names, person = work.roles.quasi_identifiers, work.roles.person
    kept = [name for name in released.columns if name not in {*names, person, *released.nested}]
    rows = work.answers["evidence"].rows
    facts = facts_of_tables(
        work.table, released, names, kept, person, rows, shuffled=shuffled, secrets=work.roles.sensitive
    )
    drawn = () if person is None else (person,)
    facts = replace(facts, pseudonymised=drawn)
    verdict = judge_release(released, asked, original=facts, only_if_yes=True, progress=progress)
    return verdict, lambda: _Cost(measure_detail(), work.table.rows - released.rows)


def _protected(work: Work, plan: Plan, progress: Progress) -> tuple[Table, Callable[[], float], bool]:
    """The table protected so, what measures the detail that is kept, and whether rows are in random order.

    What the section on protection made is not made again.
    """
    made: dict[int, tuple[Table, float, bool]] = work.shared.setdefault("protected", {})
    if plan.k in made and not plan.diverse:
        whole, detail, shuffled = made[plan.k]
        left = [name for name in whole.columns if name not in plan.removed]
        released = read_table(whole.to_arrow(left))
        released.encoded.update({name: whole.encoded[name] for name in left if name in whole.encoded})
        return released, lambda: detail, shuffled
    safe = protect(
        work.table,
        quasi_identifiers=list(work.roles.quasi_identifiers),
        k=plan.k,
        sensitive=list(plan.diverse) or None,
        person=work.roles.person,
        identifiers=list(plan.removed),
        warn=False,
        progress=progress,
        **plan.demand,
    )
    return read_table(safe.table), lambda: float(safe.evaluate(progress=progress).granularity), safe.shuffled


def asked_of_protect(work: Work, plan: Plan) -> dict[str, Any]:
    """What a plan asks of `protect` besides the roles: class size, what is left out, which secrets must differ how."""
    secret = plan.diverse or [name for name in work.roles.sensitive if name not in plan.removed]
    asked = {"k": plan.k, "sensitive": list(secret), **plan.demand, "leave_out": list(plan.removed)}
    return {name: value for name, value in asked.items() if value != []}


def protection_commands(work: Work, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The command that protects the table so, and the one that assesses the result.

    `protect` asks for different values of every sensitive column, so it is given those secrets that need it.
    """
    table, *reading = command_words(work.table)
    out = str(_free_name(Path("table" if "://" in table else table)))
    roles = work.roles
    secret, removed = asked.get("sensitive", []), asked.get("leave_out", [])
    spoken_for = {*removed, *secret}
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive", "weight")]
    words = to_words(
        {
            "qi": roles.quasi_identifiers,
            "k": asked["k"],
            "sensitive": secret,
            **{name: _typed(asked.get(name)) for name in ("l", "diversity", "c")},
            "household" if roles.counts_households else "person": roles.person,
            "drop": removed,
            "other": [name for name in kept if name not in spoken_for],
            "out": out,
        }
    )
    again = to_command(work.question.with_roles(roles).about_release(removed, out))
    return shlex.join(["incrowd", "protect", table, *reading, *words]), *((again,) if again is not None else ())


def _free_name(table: Path) -> Path:
    """A name for the protected table that no file has: an older release would be judged in its place."""
    stem = table.name.removesuffix(full_suffix(table))
    names = (table.with_name(f"{stem}-safe{number}.parquet") for number in ("", *(f"-{n}" for n in range(2, 1_000))))
    return next((name for name in names if not name.exists()), table.with_name(f"{stem}-safe.parquet"))


def _typed(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _protect_action(work: Work, way: _Way) -> Action:
    plan, verdict, cost = way.plan, way.verdict, way.measure_cost()
    asked = columns_to_remove(work)
    found = [name for name in plan.removed if name not in asked]
    gone = f"; {listed(asked)} left out" if asked else ""
    if found:
        gone += f"; {listed(found)} left out too, which would tell too much in classes of {plan.k} (larger classes may "
        gone += "keep more columns, in less detail)"
    values = ""
    if plan.diverse:
        values = f", each with at least {number(plan.l)} different values of {listed(plan.diverse)}"
        if plan.certain_from < 1:
            values += f" and none that {percent(plan.certain_from)} or more of its people share"
        alone = [name for name in work.roles.sensitive if name not in (*plan.diverse, *plan.removed)]
        values += f" ({listed(alone)} {'is' if len(alone) == 1 else 'are'} hidden without that)" if alone else ""
    evidence = work.answers["evidence"]
    ordered = ", which writes the rows in random order" if evidence.row_order and evidence.is_release else ""
    demand = asked_of_protect(work, plan)
    return Action(
        f"Protect it with classes of at least {plan.k}{values}{gone}{ordered}. Tried here: {_rows_lost(work, cost)}"
        f"the result may go to {verdict.whom}, and {percent(cost.detail)} of the detail of the quasi-identifiers is "
        "kept.",
        (),
        protection_commands(work, demand),
        {
            "decision": verdict.decision,
            "k": plan.k,
            "l": plan.l if plan.diverse else None,
            "highest": verdict.highest,
            "detail_kept": cost.detail,
            "rows_left_out": cost.rows_left_out,
        },
        demand,
    )


def _rows_lost(work: Work, cost: _Cost) -> str:
    """How many rows a protection leaves out, where it does; and that it is most of them."""
    lost, rows = cost.rows_left_out, work.table.rows
    if not lost:
        return ""
    told = f"{lost:,} of {counted(rows, 'row', 'rows')} {'is' if lost == 1 else 'are'} left out"
    return f"{told}, which is most of the table; " if lost > rows / 2 else f"{told}, "


def _no_way(question: Question, why: str) -> Action:
    wider = [kind.words for kind in RECIPIENTS if kind.limits.highest > question.limits.highest]
    smaller = f", or a smaller audience ({wider[0]})" if wider else ""
    return Action(
        f"No protection that was tried is enough: {why.rstrip('.')}. Fewer columns would help{smaller}.",
        ("quasi_identifiers", "recipient"),
    )
