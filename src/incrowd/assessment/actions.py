"""What to do next: the columns to judge, and the least protection that was tried and passes, with the commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.progress import part
from incrowd.assessment.command_line import each, given
from incrowd.assessment.verdict import Verdict
from incrowd.errors import IncrowdError
from incrowd.protection import protect
from incrowd.recipients import KINDS
from incrowd.results import Result
from incrowd.tables import read_table
from incrowd.wording import counted, listed, percent

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.section import Work

_MOST_VALUES = 4  # different values of a secret in a class that are asked for at most
_SIZES = (2, 3, 5, 8, 11, 15, 20)  # classes that are tried where the limit does not say how large they must be


@dataclass(frozen=True, slots=True)
class Action(Result):
    """One thing to do.

    Attributes:
        sentence: what and why.
        hint: parameters that the sentence speaks of.
        commands: what to type, one after the other; a file name that is not known is TABLE.
        expected: what the last command then says: the decision, the smallest class, the detail kept.
    """

    sentence: str
    hint: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    expected: dict[str, Any] | None = None

    def __str__(self) -> str:
        return self.sentence


def next_actions(work: Work, verdict: Verdict) -> Iterator[Action]:
    """What to do, the most useful first."""
    roles, question = work.roles, work.question
    if verdict.decision == "within":
        yield Action("Write down who gets it and on what terms; assess again when rows or columns are added.")
        return
    if roles.unused_person is not None and not question.rows_are_people:
        yield Action(
            f"Count people and not records: name {roles.unused_person} as the person and assess again, or say that "
            "every row is another person.",
            ("person", "rows_are_people"),
        )
    elif work.answers["evidence"].rows.kind != "people" and roles.person is None and not question.rows_are_people:
        yield Action(
            "Say what a row is: name the column that tells whose record it is, or say that every row is another "
            "person.",
            ("person", "rows_are_people"),
        )
    open_columns = [one.column for one in work.answers["evidence"].undecided]
    if open_columns or not roles.confirmed:
        yield _settle_columns(replace(question, source=work.table.named[0]), roles, open_columns)
    if not roles.confirmed:
        return  # a protection for guessed roles would turn a guess into a yes
    if question.protection and work.table.backend.rows_are_local:
        yield way_to_yes(work)
    elif verdict.decision in ("exposed", "over", "borderline"):
        removed = tuple(dict.fromkeys([*_to_remove(work), *verdict.giving_back]))
        plan = _Plan(removed, question.limits.class_size, 2 if verdict.disclosed else None, verdict.disclosed)
        yield Action("Protect the table and assess the result.", commands=_commands(work, plan))


def _settle_columns(question: Question, roles: Roles, open_columns: Sequence[str]) -> Action:
    """The command that gives every column a role, by what their names and values suggest; a person must read it."""
    looks = {one.column: one.role for one in roles.suggested}
    by_role = {role: [name for name in open_columns if looks.get(name) == role] for role in set(looks.values())}
    settled = replace(
        question,
        quasi_identifiers=(*roles.quasi_identifiers, *by_role.get("quasi-identifier", ())),
        sensitive=tuple(dict.fromkeys([*roles.sensitive, *by_role.get("sensitive", ())])),
        identifiers=tuple(dict.fromkeys([*roles.identifiers, *by_role.get("identifier", ())])),
        other=tuple(
            dict.fromkeys(
                [
                    *(name for name in roles.stated if roles.role(name) == "other"),
                    *(name for name in open_columns if looks.get(name) in ("other", "weight", "person")),
                ]
            )
        ),
    )
    command = settled.to_command()
    what = (
        f"Judge {counted(len(open_columns), 'column', 'columns')}: {listed(open_columns)}."
        if open_columns
        else ("Confirm the roles of the columns: they were guessed.")
    )
    return Action(
        f"{what} Read this command and move each name to where it belongs: what others may know, what is secret, what "
        "names people, and what nobody outside can know.",
        ("quasi_identifiers", "sensitive", "identifiers", "other"),
        (command,) if command is not None else (),
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """A protection to try: the columns to remove, the class size, and how many values which secrets need in a class."""

    removed: tuple[str, ...]
    k: int
    l: int | None = None  # noqa: E741
    diverse: tuple[str, ...] = ()

    def after(self, verdict: Verdict) -> _Plan | None:
        """The plan that mends what a verdict found, or None where none is known."""
        back = [name for name in verdict.giving_back if name not in self.removed]
        if back:
            return replace(self, removed=(*self.removed, *back))
        more = [name for name in verdict.disclosed if name not in self.diverse]
        if more:
            return replace(self, l=self.l or 2, diverse=(*self.diverse, *more))
        if verdict.disclosed and self.l is not None and self.l < _MOST_VALUES:
            return replace(self, l=self.l + 1)
        return None


def way_to_yes(work: Work) -> Action:
    """Search for the least protection that passes: try it, judge the result as any table is judged, and say how.

    Columns that nobody judged and columns that name people are left out of the release. Classes are as large as the
    limit asks; different values in every class are asked for where secrets would be certain; kept columns that give
    back what was made coarser are left out.
    """
    removed = _to_remove(work)
    progress = part(work.progress, 0.98, 0.99)
    why = "the table is too small for classes that large"
    for k in _sizes_to_try(work):
        plan: _Plan | None = _Plan(removed, k)
        while plan is not None:
            progress(f"trying classes of {k}", 0.5)
            try:
                verdict, detail = _try(work, plan)
            except IncrowdError as error:
                why = str(error)
                break
            if verdict.decision == "within":
                return _protect_action(work, plan, detail, verdict)
            why = verdict.exposures[0] if verdict.exposures else verdict.recommendation
            removed, plan = plan.removed, plan.after(verdict)
    return _no_way(work.question, why)


def _to_remove(work: Work) -> tuple[str, ...]:
    """Columns that a release leaves out: those that name people, and those that nobody judged."""
    evidence, roles = work.answers["evidence"], work.roles
    undecided = (one.column for one in evidence.undecided)
    return tuple(dict.fromkeys([*roles.identifiers, *roles.identifiers_kept, *undecided, *evidence.harmless]))


def _sizes_to_try(work: Work) -> list[int]:
    """Class sizes, the least first: what the limit on the highest risk asks, or growing ones where estimates decide."""
    limits, people = work.question.limits, work.answers["facts"].people
    needed = limits.class_size
    if work.answers.get("population") is None:
        wanted = [needed] if limits.average is None else [needed, *(size for size in _SIZES if size > needed)]
    else:
        wanted = [*(size for size in _SIZES if size < needed), needed]
    return [size for size in wanted if 2 * size <= people]


def _try(work: Work, plan: _Plan) -> tuple[Verdict, float]:
    """Protect the table so, and judge what comes out as it will be judged once it is written."""
    from incrowd.assessment.api import judge_release

    safe = protect(
        work.table,
        quasi_identifiers=list(work.roles.quasi_identifiers),
        k=plan.k,
        l=plan.l,
        sensitive=list(plan.diverse) or None,
        person=work.roles.person,
        identifiers=list(plan.removed),
        warn=False,
    )
    asked = work.question.with_roles(work.roles).about_release(plan.removed)
    costs = work.answers["protection"].costs if work.answers.get("protection") else ()
    measured = [cost.granularity for cost in costs if cost.k == plan.k and plan.l is None]
    return judge_release(read_table(safe.table), asked), measured[0] if measured else float(safe.evaluate().granularity)


def _commands(work: Work, plan: _Plan) -> tuple[str, ...]:
    """The command that protects the table so, and the one that assesses the result."""
    table, *reading = work.table.named
    place = Path("table" if "://" in table else table)
    out = str(place.with_name(f"{place.stem}-safe.parquet"))
    roles = work.roles
    kept = [name for name in roles.stated if roles.role(name) == "other" and name not in plan.removed]
    words = [
        *each("--qi", roles.quasi_identifiers),
        *("--k", str(plan.k)),
        *each("--sensitive", plan.diverse),
        *given("--l", plan.l),
        *given("--person", roles.person),
        *(each("--identifier", plan.removed) or ["--identifier", "none"]),
        *each("--other", kept),
        *("--out", out),
    ]
    again = work.question.with_roles(roles).about_release(plan.removed, out).to_command()
    return shlex.join(["incrowd", "protect", table, *reading, *words]), *((again,) if again is not None else ())


def _protect_action(work: Work, plan: _Plan, detail: float, verdict: Verdict) -> Action:
    gone = f", {listed(plan.removed)} left out" if plan.removed else ""
    values = f", at least {plan.l} different values of {listed(plan.diverse)} in each" if plan.l is not None else ""
    return Action(
        f"Protect it with classes of at least {plan.k}{values}{gone}: tried here, the result may go to {verdict.whom}, "
        f"and {percent(detail)} of the detail of the quasi-identifiers is kept.",
        (),
        _commands(work, plan),
        {"decision": verdict.decision, "k": plan.k, "l": plan.l, "highest": verdict.highest, "detail_kept": detail},
    )


def _no_way(question: Question, why: str) -> Action:
    wider = [kind.words for kind in KINDS if kind.limits.highest > question.limits.highest]
    smaller = f", or a smaller audience ({wider[0]})" if wider else ""
    return Action(
        f"No protection that was tried is enough: {why.rstrip('.')}. Fewer columns would help{smaller}.",
        ("quasi_identifiers", "recipient"),
    )
