"""The way to a yes: the least protection that was tried and passes, with the commands."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.compressed_files import full_suffix
from incrowd._support.progress import Progress, part
from incrowd.assessment.command_line import to_command, to_words, words_of
from incrowd.assessment.plan import Plan
from incrowd.assessment.question import Question, command_words
from incrowd.assessment.search import (
    Attempt,
    Cost,
    Failed,
    Found,
    find_least,
    find_way,
    size_held,
    sizes_to_try,
)
from incrowd.assessment.sections.section import AssessmentState
from incrowd.assessment.verdict import Action
from incrowd.protection import Protected, protect
from incrowd.protection.api import memory_to_protect
from incrowd.protection.original_facts import facts_of_tables
from incrowd.protection.protect_options import OPTIONS
from incrowd.recipients import RECIPIENTS
from incrowd.tables import Table, read_table
from incrowd.wording import chosen_percent, counted, listed, number, percent

_LEFT = 0.75  # of the progress: what a trial leaves of it; how many will be needed is not known


def way_to_yes(work: AssessmentState) -> Action:
    """Search for the least protection that passes: try it, judge the result as any table is judged, and say how.

    Columns that nobody judged and columns that name people are left out of the release. `incrowd.assessment.search`
    says what is tried and which way is taken.
    """
    work.search_progress("trying protections", 0.0)
    needed = work.question.need
    found = _search(work, needed)
    if found.way is not None:
        return _protect_action(work, found.way)
    if needed and (nearest := _search(work, ()).way) is not None:
        gone = [name for name in needed if name in nearest.plan.removed]
        action = _protect_action(work, nearest)
        return replace(
            action, sentence=f"No protection that was tried keeps {listed(gone)}. The nearest: {action.sentence}"
        )
    questions = (failed.verdict.row_question for failed in found.failures if failed.verdict is not None)
    if asked := next(filter(None, questions), None):
        return Action(f"Say what a row is before it is protected. {asked.sentence}.", asked.hint)
    too_small = "the table is too small for classes that large"
    return _no_way(
        replace(work.question, source=work.table.place), found.failures[-1].why if found.failures else too_small
    )


def _search(work: AssessmentState, needed: Sequence[str]) -> Found:
    """The least protection that passes and keeps the needed columns."""
    trials: dict[int, float] = {}

    def try_size(k: int) -> Attempt | Failed:
        def follow(doing: str, done: float) -> None:
            trials[k] = done
            work.search_progress(f"trying classes of {k}: {doing}", 1 - _LEFT ** sum(trials.values()))

        if work.until is not None and time.monotonic() >= work.until:
            return Failed("the time is up", rules_out_all_sizes=True)
        return _try_size(work, k, needed, follow)

    # one after the other: a trial keeps both cores busy, and one that turns out not to be needed is wasted
    return find_least(_sizes_to_try(work), 0, try_size)


def _try_size(work: AssessmentState, k: int, needed: Sequence[str], progress: Progress) -> Attempt | Failed:
    """The way to a yes with classes of one size, or why there is none. `progress` counts the trials."""
    smallest = _sizes_to_try(work)[0]
    why: dict[str, str] = {}
    begun = count()

    def attempt(plan: Plan) -> Attempt:
        place = next(begun)
        tell = part(progress, place, place + 1)
        tell("protecting", 0.0)
        tried = _try(work, plan, tell)
        for name, how in _how_they_tell(tried):
            why.setdefault(name, how)  # what was found first is what the later trials try to mend
        return replace(tried, why=why)

    return find_way(Plan(k, columns_to_remove(work), needed=tuple(needed)), attempt, smallest)


def _how_they_tell(tried: Attempt) -> Iterator[tuple[str, str]]:
    """The columns that make a verdict a no, and how they do; `~` stands for the s of a verb of one column."""
    yield from ((name, f"which classes of {tried.plan.k} do not hide") for name in tried.verdict.disclosed)
    yield from ((name, "which link~ people") for name in tried.verdict.linking)
    yield from ((name, "from which an attacker learns who is who") for name in tried.verdict.blamed)


def columns_to_remove(work: AssessmentState) -> tuple[str, ...]:
    """Columns that a release leaves out: those that name people, are to go, or that nobody judged."""
    evidence, roles = work.answers["evidence"], work.roles
    undecided = (column.column for column in evidence.undecided if column.column not in work.question.need)
    gone = [*roles.identifiers, *roles.identifiers_kept, *roles.dropped, *undecided, *evidence.linking]
    return tuple(name for name in dict.fromkeys(gone) if name != roles.person)  # it gets random numbers


def _sizes_to_try(work: AssessmentState) -> list[int]:
    """Class sizes by the table: a population says nothing about ranges that are made class by class.

    It does about a table of which only columns are left out, so the class size that the table has is tried too.
    """
    facts, risk, limits = work.answers["facts"], work.answers["population"], work.question.limits
    held = size_held(facts.k, limits.class_size, facts.people, risk.population if risk is not None else None)
    return sizes_to_try(limits, facts.people, in_population=False, held=held)


def sizes_to_begin_with(work: AssessmentState) -> list[int]:
    """The class sizes that the way to a yes tries first."""
    return _sizes_to_try(work)[:2]


def trials_at_once(table: Table) -> int:
    """Number of protections of the table made in parallel: two if the memory limit allows both, else one."""
    return 2 if 2 * memory_to_protect(table) <= table.memory else 1


def _try(work: AssessmentState, plan: Plan, progress: Progress) -> Attempt:
    """Protect the table so, and judge what comes out as it will be judged once it is written.

    The verdict is complete where it is a yes.
    """
    made = _protected(work, plan, part(progress, 0.0, 0.4))
    released = made.table
    gone = [name for name in work.table.columns if name not in released.columns]  # lists are set aside unasked
    asked = work.question.with_roles(work.roles).about_release(gone)
    names, person = work.roles.quasi_identifiers, work.roles.person
    kept = [name for name in released.columns if name not in {*names, person, *released.nested}]
    facts = facts_of_tables(
        *(work.table, released, names, kept, person, work.answers["evidence"].rows),
        shuffled=made.shuffled,
        source=made.source,
        secrets=work.roles.sensitive,
        left_out=[name for name in work.roles.sensitive if name in gone],
        progress=part(progress, 0.4, 0.6),
    )
    drawn = () if person is None else (person,)
    facts = replace(facts, pseudonymised=drawn)
    verdict = work.judge(released, asked, original=facts, only_if_yes=True, progress=part(progress, 0.6, 1.0))
    rows, left_out = work.table.rows, len({*plan.removed} - {*columns_to_remove(work)})
    measure_cost = cache(lambda: Cost(made.measure_detail(), rows - released.rows, rows, len(names), left_out))
    return Attempt(plan, verdict, measure_cost)


class _Made(NamedTuple):
    """A table that was protected, what measures the detail kept, and how its rows stand to those of the original."""

    table: Table
    measure_detail: Callable[[], float]
    shuffled: bool
    source: NDArray[np.int64]


def _protected(work: AssessmentState, plan: Plan, progress: Progress) -> _Made:
    """The table protected so. What the section on protection made is not made again."""
    stored: dict[int, _Made] = work.shared.setdefault("protected", {})
    if plan.k in stored and not plan.diverse:
        whole = stored[plan.k]
        left = [name for name in whole.table.columns if name not in plan.removed]
        released = read_table(whole.table.to_arrow(left))
        released.encoded.update({name: whole.table.encoded[name] for name in left if name in whole.table.encoded})
        return whole._replace(table=released)
    secrets = [name for name in work.roles.sensitive if name not in plan.removed]
    safe = protect(
        work.table,
        quasi_identifiers=list(work.roles.quasi_identifiers),
        k=plan.k,
        sensitive=secrets or None,
        diverse=list(plan.diverse) or None,
        person=work.roles.person,
        identifiers=list(plan.removed),
        warn=False,
        progress=progress,
        **plan.demand(work.question.certain_from, work.question.named_secrets),
    )
    made = made_of(safe, lambda: float(safe.evaluate(progress=progress).granularity))
    if not plan.diverse and not plan.removed:
        stored[plan.k] = made
    return made


def made_of(safe: Protected, measure_detail: Callable[[], float]) -> _Made:
    """A protected table as trials use it."""
    table = safe.counted or read_table(safe.table)
    source = np.arange(table.rows) if safe.kept_rows is None else safe.kept_rows
    return _Made(table, measure_detail, safe.shuffled, source)


def protect_settings(work: AssessmentState, plan: Plan) -> dict[str, Any]:
    """Keyword arguments of `protect` for a plan: class size, demands on secrets, columns left out and kept."""
    secrets = [name for name in work.roles.sensitive if name not in plan.removed]
    # those that are left out are named too, so that the mark tells what gives them back
    asked = {
        "k": plan.k,
        "sensitive": list(work.roles.sensitive),
        **plan.demand(work.question.certain_from, work.question.named_secrets),
    }
    if {*plan.diverse} != {*secrets}:
        asked["diverse"] = list(plan.diverse)
    asked |= {"leave_out": list(plan.removed)}
    return {name: value for name, value in asked.items() if value != []}


def protection_commands(work: AssessmentState, asked: dict[str, Any]) -> tuple[str, ...]:
    """The command that protects the table so, and the one that assesses the result."""
    table, *reading = command_words(work.table)
    out = str(_free_name(Path("table" if "://" in table else table)))
    roles = work.roles
    secret, removed = asked.get("sensitive", []), asked.get("leave_out", [])
    spoken_for = {*removed, *secret}
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive", "weight")]
    other = [name for name in kept if name not in spoken_for]
    known = [name for name in roles.quasi_identifiers if name not in removed]
    named = {"quasi_identifiers": known, "other": other}
    whose = "household" if roles.counts_households else "person"
    words = words_of(OPTIONS, asked | named)
    if words is None:
        return ()
    again = to_command(work.question.with_roles(roles).about_release(removed, out))
    made = shlex.join(["incrowd", "protect", table, *reading, *words, *to_words({whose: roles.person, "out": out})])
    return made, *((again,) if again is not None else ())


def _free_name(table: Path) -> Path:
    """A name for the protected table that no file has: an older release would be judged in its place."""
    stem = table.name.removesuffix(full_suffix(table))
    names = (table.with_name(f"{stem}-safe{number}.parquet") for number in ("", *(f"-{n}" for n in range(2, 1_000))))
    return next((name for name in names if not name.exists()), table.with_name(f"{stem}-safe.parquet"))


def _protect_action(work: AssessmentState, way: Attempt) -> Action:
    plan, verdict, cost = way.plan, way.verdict, way.measure_cost()
    asked = columns_to_remove(work)
    removed_by_search = [name for name in plan.removed if name not in asked]
    gone = f"; {listed(asked)} left out" if asked else ""
    for reason in dict.fromkeys(way.why[name] for name in removed_by_search):
        names = [name for name in removed_by_search if way.why[name] == reason]
        how = reason.replace("~", "s" if len(names) == 1 else "")
        gone += f"; {listed(names)} left out{' too' if asked else ''}, {how}"
    values = ""
    if plan.diverse:
        values = f"; each class has at least {number(plan.l or 2)} different values of {listed(plan.diverse)}"
        if (certain := work.question.certain_from) < 1:
            values += f", and no value that {chosen_percent(certain)} of the class have"
        alone = [name for name in work.roles.sensitive if name not in (*plan.diverse, *plan.removed)]
        values += f"; {listed(alone)} {'needs' if len(alone) == 1 else 'need'} no such rule" if alone else ""
    evidence = work.answers["evidence"]
    ordered = ", which writes the rows in random order" if evidence.row_order and evidence.is_release else ""
    demand = protect_settings(work, plan)
    return Action(
        f"Protect it with classes of at least {plan.k}{values}{gone}{ordered}. Tried here: {_rows_lost(work, cost)}"
        f"the result may go to {verdict.whom}, and {percent(cost.detail)} of the detail of the quasi-identifiers is "
        "kept.",
        (),
        protection_commands(work, demand),
        {
            "decision": verdict.decision,
            "k": plan.k,
            "l": plan.l,
            "highest": verdict.highest,
            "detail_kept": cost.detail,
            "rows_left_out": cost.rows_left_out,
        },
        demand,
    )


def _rows_lost(work: AssessmentState, cost: Cost) -> str:
    """Clause on the rows that a protection suppresses, and a warning if they are most rows; empty if there are none."""
    lost, rows = cost.rows_left_out, work.table.rows
    if not lost:
        return ""
    told = f"{lost:,} of {counted(rows, 'row', 'rows')} {'is' if lost == 1 else 'are'} left out"
    return f"{told}, which is most of the table; " if lost > rows / 2 else f"{told}, "


def _no_way(question: Question, why: str) -> Action:
    """Action for a search in which nothing passes: the reasons, and the command for a smaller audience, if any."""
    smaller = next((kind for kind in RECIPIENTS if kind.limits.highest > question.limits.highest), None)
    audience = "" if smaller is None else f", or a smaller audience ({smaller.words})"
    command = None if smaller is None else to_command(replace(question, recipient=smaller.name, highest=None))
    return Action(
        f"No protection that was tried is enough: {why.rstrip('.')}. Fewer columns would help{audience}.",
        ("quasi_identifiers", "recipient"),
        (command,) if command is not None else (),
    )
