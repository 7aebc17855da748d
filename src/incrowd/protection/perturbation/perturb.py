"""Perturbation in steps: columns are changed at random or rounded, without a guarantee on classes.

Steps are objects, or parsed from text: "noise=0.1", "recordswap=0.05,match=sex".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.seed import require_seed
from incrowd.backends.arrow_columns import without_dictionary
from incrowd.errors import InputError
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
"""Every kind of step by its name in text; a new kind is a module and an entry here."""


def parse_step(columns: Sequence[str], action: str, *, files: bool = True) -> Step:
    """Parse a step from text.

    Args:
        columns: the columns that the step changes.
        action: the kind of step, its first parameter, and others by name: "top=85,to=mean".
        files: whether the step may read a file on this machine.

    Returns:
        The step.

    Raises:
        InputError: the kind of step or a parameter does not exist, or the step would read a file without permission.

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
    """The columns in the text of a step: an existing column, or several names joined by plus signs."""
    return (names,) if names in existing else read_names(names)


def read_steps(given: Sequence[Any], table: Table) -> list[Step]:
    """Read steps: `Step` objects, or pairs of columns and an action: ("age+income", "noise=0.1")."""
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
    """Apply the steps one after the other to their columns, which may have any role."""
    options = problem.options
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
        outcome = step.apply(columns)
        columns.changed |= outcome.columns
        spread |= {name: float(np.hypot(spread.get(name, 0.0), added)) for name, added in outcome.spread.items()}
        notes += outcome.notes
        for name in outcome.columns:
            treatments.setdefault(name, []).append(_describe(outcome, name))
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


def _describe(outcome: StepOutcome, column: str) -> dict[str, Any]:
    """The entry for the codebook of a step on one column."""
    published = dict(outcome.published)
    if "matrix" in published:
        published["matrix"] = published["matrix"][column]
    return {"treatment": outcome.treatment, "correction": outcome.correction, **published}


def _count_changed(columns: ColumnsSoFar, name: str) -> int:
    """Number of cells of a column that differ from the original."""
    ((_, original),) = columns.table.read([name])
    current = columns.changed[name]
    original = pa.concat_arrays(original.chunks) if original.num_chunks else pa.array([], original.type)
    original = without_dictionary(original)
    equal = pc.fill_null(pc.equal(original.cast(current.type, safe=False), current), False)
    is_same = pc.or_(equal, pc.and_(pc.is_null(original), pc.is_null(current)))
    return len(current) - int(pc.sum(is_same).as_py())
