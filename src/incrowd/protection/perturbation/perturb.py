"""Perturbation in steps: some columns are changed by chance or rounded, and nothing is promised about classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.seed import require_seed
from incrowd.errors import InputError
from incrowd.protection.method_options import PerturbOptions
from incrowd.protection.perturbation.parse import STEPS, read_steps
from incrowd.protection.perturbation.step import Change, Columns
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, escape_unchanged


def perturb(problem: Problem) -> Recoding:
    """Apply the steps one after the other to the columns they name, which may have any role."""
    options: PerturbOptions = problem.options
    assert problem.table is not None
    if not options.steps:
        raise InputError(
            f"perturbation needs steps such as [('income', 'noise=0.1')]; there are: {', '.join(STEPS)}", hint="step"
        )
    steps = read_steps(options.steps, problem.table)
    seed = None if options.seed is None else require_seed(options.seed)
    columns = Columns(problem.table, problem, np.random.default_rng(seed))
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


def _describe(change: Change, column: str) -> dict[str, Any]:
    """What analysts are told of a step on one column."""
    published = dict(change.published)
    if "matrix" in published:
        published["matrix"] = published["matrix"][column]
    return {"treatment": change.treatment, "correction": change.correction, **published}


def _count_changed(columns: Columns, name: str) -> int:
    """The cells that differ from the original."""
    ((_, was),) = columns.table.read([name])
    now = columns.changed[name]
    was = pa.concat_arrays(was.chunks) if was.num_chunks else pa.array([], was.type)
    was = was.cast(was.type.value_type) if pa.types.is_dictionary(was.type) else was
    equal = pc.fill_null(pc.equal(was.cast(now.type, safe=False), now), False)
    same = pc.or_(equal, pc.and_(pc.is_null(was), pc.is_null(now)))
    return len(now) - int(pc.sum(same).as_py())
