"""Perturbation in steps: some columns are changed by chance or rounded, and nothing is promised about classes.

Steps are objects, or read from text: "noise=0.1", "recordswap=0.05,match=sex".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.seed import require_seed
from incrowd.errors import InputError
from incrowd.protection.method_options import PerturbOptions
from incrowd.protection.perturbation.coding import BottomCode, Round, TopCode
from incrowd.protection.perturbation.date_shift import ShiftDates
from incrowd.protection.perturbation.microaggregation import Microaggregate
from incrowd.protection.perturbation.noise import CorrelatedNoise, Noise
from incrowd.protection.perturbation.pram import Pram
from incrowd.protection.perturbation.shuffling import Shuffle
from incrowd.protection.perturbation.step import ColumnsSoFar, Step, StepOutcome, read_names
from incrowd.protection.perturbation.swapping import RankSwap, RecordSwap
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, escape_unchanged
from incrowd.tables import Table

STEPS: Mapping[str, type[Step]] = {
    step.kind: step
    for step in (
        *(Noise, CorrelatedNoise, Microaggregate, RankSwap, RecordSwap, Pram, Shuffle, Round, TopCode, BottomCode),
        ShiftDates,
    )
}
"""Every kind of step by the name it has in text; a new one is a file and an entry here."""


def parse_step(columns: Sequence[str], action: str, *, files: bool = True) -> Step:
    """Read what a step does from text.

    Args:
        columns: the columns that the step changes.
        action: the kind of step, its first parameter, and others by name: "top=85,to=mean".
        files: whether the step may read a file of this machine.

    Returns:
        The step.

    Raises:
        InputError: there is no such step, it does not take such a parameter, or it would read a file and must not.

    >>> parse_step(["age"], "top=85,to=mean")
    TopCode(columns=('age',), limit=85.0, to='mean')
    """
    first, *others = action.split(",")
    kind, _, text = first.partition("=")
    if kind not in STEPS:
        raise InputError(f"there is no step {kind!r}; there are: {', '.join(STEPS)}", hint="step")
    readers = STEPS[kind].reads
    parameter = next(iter(readers), kind)
    texts = {parameter: text.strip()} if text else {}
    for name, _, text in (other.partition("=") for other in others):
        if name.strip() in texts:
            raise InputError(f"a step {kind!r} with two values for {name.strip()}; give one", hint="step")
        texts[name.strip()] = text.strip()
    unknown = [name for name in texts if name not in readers]
    if unknown:
        offered = ", ".join(readers) or "nothing"
        raise InputError(f"a step {kind!r} does not take {', '.join(unknown)}; it takes {offered}", hint="step")
    try:
        values = {name: readers[name](text) for name, text in texts.items()}
        if not files and any(isinstance(value, Path) for value in values.values()):
            raise InputError("no file of this machine is read for a step; give its numbers", hint="step")
        return STEPS[kind](tuple(columns), **values)
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"the step {kind!r} needs its numbers: {kind}={parameter}", hint="step") from None


def columns_of_step(names: str, existing: Collection[str]) -> tuple[str, ...]:
    """The columns that a step names: one that exists, or several joined by plus signs."""
    return (names,) if names in existing else read_names(names)


def read_steps(given: Sequence[Any], table: Table) -> list[Step]:
    """Steps as they are, or from pairs of columns and what to do: ("age+income", "noise=0.1")."""
    steps = []
    for one in given:
        if isinstance(one, Step):
            step = one
        elif isinstance(one, tuple) and len(one) == 2:
            step = parse_step(columns_of_step(str(one[0]), table.columns), str(one[1]))
        else:
            raise InputError("a step of perturbation is a pair of columns and what to do: ('age', 'noise=0.1')")
        table.require(step.columns, "columns of a step")
        steps.append(step)
    return steps


def perturb(problem: Problem) -> Recoding:
    """Apply the steps one after the other to the columns they name, which may have any role."""
    options: PerturbOptions = problem.options
    assert problem.table is not None
    if not options.steps:
        raise InputError(
            f"perturbation needs steps, such as noise for incomes; there are: {', '.join(STEPS)}",
            hint="step=income:noise=0.1",
        )
    steps = read_steps(options.steps, problem.table)
    seed = None if options.seed is None else require_seed(options.seed)
    columns = ColumnsSoFar(problem.table, problem, np.random.default_rng(seed))
    treatments: dict[str, list[dict[str, Any]]] = {}
    spread: dict[str, float] = {}
    notes: list[str] = []
    for done, step in enumerate(steps):
        problem.progress(f"perturbing ({step.kind})", done / len(steps))
        change = step.apply(columns)
        columns.changed |= change.columns
        spread |= {name: float(np.hypot(spread.get(name, 0.0), added)) for name, added in change.spread.items()}
        notes += change.notes
        for name in change.columns:
            treatments.setdefault(name, []).append(_describe(change, name))
    changed = {name: _count_changed(columns, name) for name in columns.changed}
    for column in columns.coded([column.name for column in problem.columns if column.name in columns.changed]):
        escaped = escape_unchanged(column)
        if escaped is not None:
            columns.changed[column.name] = escaped
    return Recoding(
        columns.changed,
        changed | {column.name: 0 for column in problem.columns if column.name not in changed},
        promises_k=False,
        notes=tuple(notes),
        settings={"treatments": treatments, "spread": spread},
        perturbed=tuple(dict.fromkeys(name for step in steps if step.is_random for name in step.columns)),
    )


def _describe(change: StepOutcome, column: str) -> dict[str, Any]:
    """Entry of the codebook for a step on one column."""
    published = dict(change.published)
    if "matrix" in published:
        published["matrix"] = published["matrix"][column]
    return {"treatment": change.treatment, "correction": change.correction, **published}


def _count_changed(columns: ColumnsSoFar, name: str) -> int:
    """The cells that differ from the original."""
    ((_, was),) = columns.table.read([name])
    now = columns.changed[name]
    was = pa.concat_arrays(was.chunks) if was.num_chunks else pa.array([], was.type)
    was = was.cast(was.type.value_type) if pa.types.is_dictionary(was.type) else was
    equal = pc.fill_null(pc.equal(was.cast(now.type, safe=False), now), False)
    same = pc.or_(equal, pc.and_(pc.is_null(was), pc.is_null(now)))
    return len(now) - int(pc.sum(same).as_py())
