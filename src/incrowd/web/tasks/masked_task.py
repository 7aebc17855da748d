"""Tasks on masked tables: counting unique records, and filling masked cells from published counts."""

from __future__ import annotations

import secrets
from pathlib import Path

from incrowd._support.progress import Progress, part
from incrowd.evaluation import count_fitting_uniques, generalised_columns
from incrowd.protection import regenerate
from incrowd.protection.regeneration import read_counts
from incrowd.tables import write_table
from incrowd.web import curve_models as models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.curve_tasks import columns_asked_about
from incrowd.wording import counted, listed, percent


def regenerate_task(table: OpenTable, question: models.RegenerationQuestion, counts: OpenTable, folder: Path) -> Task:
    """Fill masked cells with values drawn from published counts (algorithm S1), into a file in `folder`."""

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("filling masked cells", 0.0)
        originals = read_counts(counts.table)
        filled = regenerate(table.table, originals, seed=question.seed)
        cells = sum(sum(values.values()) for values in originals.values())
        sentence = f"{counted(cells, 'masked cell', 'masked cells')} of {listed(list(originals))} were filled."
        progress("writing the filled table", 0.9)
        file = folder / f"{secrets.token_hex(8)}.parquet"
        write_table(filled, file)
        result = {"cells": cells, "columns": list(originals), "sentence": sentence}
        return Outcome(None, lambda: result, dict, file, file.stat().st_size, summary={"cells": cells})

    return run


def masked_task(table: OpenTable, question: models.MaskedQuestion) -> Task:
    """Count records that are unique by the values their masked cells cover, and by the labels as written."""
    known = columns_asked_about(table, question)

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("looking for masked values", 0.0)
        masked = generalised_columns(table.table, known)
        written = table.count(known).uniques
        fitting = count_fitting_uniques(table.table, quasi_identifiers=known, progress=part(progress, 0.2, 1.0))
        rows = table.table.rows
        sentence = (
            f"By what masked values stand for, {counted(fitting.unique, 'record is', 'records are')} unique "
            f"({percent(fitting.unique / rows)} of {rows:,}); as the values are written, {written:,} would be."
        )
        if not masked:
            sentence += " No column known to others holds a range, a set, a prefix or a wildcard."
        result = {
            "records": rows,
            "unique": fitting.unique,
            "undecided": fitting.undecided,
            "unique_as_written": written,
            "masked_columns": masked,
            "columns": known,
            "sentence": sentence,
        }
        return Outcome(fitting, lambda: result, dict, summary={"unique": fitting.unique})

    return run
