"""Output of `incrowd measure`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.cli import terminal
from incrowd.results import as_json
from incrowd.wording import counted, percent

if TYPE_CHECKING:
    from incrowd.evaluation import Uniques
    from incrowd.measures import HouseholdRisk, KnowledgeRisk, Measurement, MinimalSets

_SETS_SHOWN = 15


@dataclass(frozen=True, slots=True)
class MeasureAnswer:
    """All results about one table; those that were not asked for are None or empty."""

    measurement: Measurement
    by_group: Sequence[KnowledgeRisk]
    by_set: Sequence[KnowledgeRisk]
    single: MinimalSets | None
    homes: HouseholdRisk | None
    fitting: Uniques | None


def plain(answer: MeasureAnswer) -> dict[str, Any]:
    """The results in plain JSON types."""
    fitting = answer.fitting
    parts = {
        "by_group": answer.by_group or None,
        "by_set": answer.by_set or None,
        "minimal_sets": answer.single,
        "unique_by_fit": None if fitting is None else fitting.unique,
        "undecided": None if fitting is None else fitting.undecided,
        "households": answer.homes,
    }
    return answer.measurement.to_dict() | {name: as_json(part) for name, part in parts.items() if part is not None}


def show(answer: MeasureAnswer) -> None:
    """Print the results in tables and sentences."""
    from incrowd.measures.attribute_sets import KnowledgeRisks, table_of_risks

    known, by_set = len(answer.measurement.quasi_identifiers), KnowledgeRisks(answer.by_set)
    terminal.heading(f"Who can be picked out by {counted(known, 'attribute', 'attributes')}")
    terminal.result(answer.measurement)
    if answer.by_group:
        terminal.rows(table_of_risks("By what the attacker knows", answer.by_group))
    if by_set:
        most = by_set.most_telling[:_SETS_SHOWN]
        terminal.rows(table_of_risks(f"The {len(most)} most telling of {len(by_set):,} sets of attributes", most))
    for result in (answer.single, answer.homes):
        if result is not None:
            terminal.result(result)
    if answer.fitting is not None:
        _show_fitting(answer.fitting, answer.measurement.records)


def _show_fitting(fitting: Uniques, records: int) -> None:
    undecided = f"; {fitting.undecided:,} of them undecided, counted as unique" if fitting.undecided else ""
    terminal.line(
        f"By what masked values stand for, {fitting.unique:,} of {records:,} records "
        f"({percent(fitting.unique / records)}) are unique: some value of theirs fits no other record{undecided}."
    )
