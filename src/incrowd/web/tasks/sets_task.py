"""Tasks on sets of items of people: their k^m-anonymity, and the protection of items or points."""

from __future__ import annotations

import secrets
from pathlib import Path

from incrowd._support.progress import Progress, part
from incrowd.errors import InputError
from incrowd.measures import itemset_anonymity
from incrowd.protection import ProtectedItems, ProtectedTrajectories, protect_items, protect_trajectories
from incrowd.tables import read_table, write_table
from incrowd.web.curve_models import ItemsQuestion, SetsQuestion
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable


def items_task(table: OpenTable, question: ItemsQuestion) -> Task:
    """Measure the k^m-anonymity of sets of items."""
    table.check_names([question.person, question.item])
    if question.person == question.item:
        raise InputError("the person and the item are two columns; name another for one of them")

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = itemset_anonymity(table.table, **question.model_dump(), progress=progress)
        result = found.to_dict()
        return Outcome(found, lambda: result, dict, summary={"smallest": list(found.smallest)})

    return run


def sets_task(table: OpenTable, question: SetsQuestion, folder: Path) -> Task:
    """Protect items or points, and write them to a file in `folder`."""
    given = question.given()
    named = [name for name in (question.person, question.item, question.time, *question.place, question.amount) if name]
    table.check_names(named)
    if len({*named}) < len(named):
        raise InputError("the person and what they have are different columns; name another for one of them")

    def run(progress: Progress, publish: Publish) -> Outcome:
        safe: ProtectedItems | ProtectedTrajectories
        protect = protect_items if question.item is not None else protect_trajectories
        safe = protect(table.table, **given, progress=part(progress, 0.0, 0.9))
        progress("writing the protected table", 0.9)
        file = folder / f"{secrets.token_hex(8)}.parquet"
        write_table(read_table(safe.table).to_arrow(), file)
        result = safe.to_dict()
        return Outcome(None, lambda: result, dict, file, file.stat().st_size, summary={"sentence": safe.sentence})

    return run
