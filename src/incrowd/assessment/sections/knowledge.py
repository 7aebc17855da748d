"""Section "knowledge": risk by the attacker's knowledge, and the contribution of each attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part
from incrowd.assessment.sections.section import AssessmentState, Section
from incrowd.backends import TooManyDistinctError, encode
from incrowd.classes import assign_classes
from incrowd.errors import UnsupportedError
from incrowd.measures import (
    KnowledgeRisk,
    minimal_sets,
    risk_by_group,
    risk_by_subset,
)
from incrowd.measures.contribution import EXACT_UP_TO, Contributions, contributions, contributions_from_counts
from incrowd.measures.subset_counts import class_table
from incrowd.results import Result, Statement
from incrowd.tables import Table
from incrowd.wording import counted, people, percent

_SMALL = 3  # attributes in a small set: as many as an attacker may plausibly know
_MOST_SMALL = 5_000  # sets that are counted if the table is counted once
_HISTORIES = 127  # sets that are counted if each needs a count of whole histories: all sets of 7 attributes
_LISTED = 25  # sets that a result lists
_FIRST_SHARE = 0.2  # share of this section's progress for the first look
_FIRST_LOOK, _FIRST_LOOK_ORDERS = 2, 12  # attributes in a set, and sampled orders, in the first look


@dataclass(frozen=True, slots=True)
class SinglingOut(Result):
    """Number of records that small sets of attributes single out, or of people if a person has several records.

    `by_size[s]`: by some set of at most s attributes.
    """

    records: int
    by_size: Mapping[int, int]
    sets: tuple[tuple[tuple[str, ...], int], ...]
    _keys: ClassVar[Mapping[str, Any]] = {"sets": list[dict[str, Any]]}

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types."""
        sets = [{"columns": list(columns), "records": records} for columns, records in self.sets]
        return {**Result.to_dict(self), "sets": sets}


@dataclass(frozen=True, slots=True)
class Knowledge(Result):
    """Risk from attackers who know fewer than all attributes.

    `by_set` are the small sets, `worst_by_size` is the set of each size with the highest risk, `sets` is the number of
    counted sets.
    """

    by_group: tuple[KnowledgeRisk, ...]
    by_set: tuple[KnowledgeRisk, ...]
    worst_by_size: tuple[KnowledgeRisk, ...]
    sets: int
    singling_out: SinglingOut | None
    contributions: Contributions
    notes: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The risk by groups of attributes and by the worst set of each size, and what each attribute adds."""
        groups = [
            Statement(
                "knowledge",
                f"knows {risk.label}",
                risk.correctness,
                percent(risk.correctness),
                f"Named correctly by somebody who knows {', '.join(risk.columns)}; "
                f"{people(risk.uniques)} unique by it.",
                assumed="the attacker knows these columns and nothing else",
            )
            for risk in self.by_group
        ]
        sizes = [
            Statement(
                "knowledge",
                f"knows {counted(len(risk.columns), 'attribute', 'attributes')}",
                risk.correctness,
                percent(risk.correctness),
                f"Named correctly by the most telling set of that size: {', '.join(risk.columns)}.",
                assumed="the attacker knows this set and nothing else",
            )
            for risk in self.worst_by_size
        ]
        return (*groups, *sizes, *self.contributions.statements)

    @property
    def most_telling(self) -> tuple[KnowledgeRisk, ...]:
        """The small sets with the highest risk, the worst first."""
        return tuple(sorted(self.by_set, key=lambda risk: (-risk.classes, len(risk.columns)))[:_LISTED])


def assess_knowledge(work: AssessmentState) -> Knowledge:
    """Count as many sets of attributes as the table's size allows; all results use the same counts."""
    table, names, person, groups = work.table, work.roles.quasi_identifiers, work.roles.person, work.question.groups
    seed, progress = work.seed, part(work.part(SECTION), _FIRST_SHARE, 1.0)
    notes = []
    in_one_count = person is None and _counted_at_once(table, names)
    counts_all = len(names) <= EXACT_UP_TO if in_one_count else 2 ** len(names) - 1 <= _HISTORIES
    largest = len(names) if counts_all else _largest_size(len(names), _MOST_SMALL if in_one_count else _HISTORIES)
    step = part(progress, 0.0, 0.8)
    singling: SinglingOut | str
    if in_one_count:
        counted, singling = _count_records(table, names, largest, step)
    elif person is not None and table.backend.rows_are_local:
        counted, minimal, by_size = _count_histories(table, names, person, up_to=largest, progress=step)
        singling = SinglingOut(counted[0].people, by_size, _most(minimal))
    else:
        counted = risk_by_subset(table, names, up_to=largest, person=person, progress=step)
        singling = "the table stays in its cluster"
    if counts_all:
        position = {name: number for number, name in enumerate(names)}
        counts = {tuple(position[name] for name in risk.columns): (risk.classes, risk.uniques) for risk in counted}
        parts = contributions_from_counts(names, counted[0].people, counts, seed=seed)
    else:
        parts = contributions(table, names, person=person, seed=seed, progress=part(progress, 0.8, 1.0))
    if largest < len(names):
        notes.append(
            f"sets of at most {largest} of the {len(names)} attributes were counted, and the set of all, because all "
            "sets are too many"
        )
    if isinstance(singling, str):
        notes.append(f"the smallest sets that single people out are left out: {singling}")
    worst = {size: [risk for risk in counted if len(risk.columns) == size] for size in range(1, largest + 1)}
    if largest < len(names):
        worst[len(names)] = list(risk_by_group(table, {", ".join(names): names}, person=person))
    return Knowledge(
        risk_by_group(table, groups, person=person) if groups else (),
        tuple(risk for risk in counted if len(risk.columns) <= _SMALL),
        tuple(max(risks, key=lambda risk: risk.classes) for risks in worst.values()),
        len(counted) + (largest < len(names)),
        None if isinstance(singling, str) else singling,
        parts,
        tuple(notes),
    )


def _count_records(
    table: Table, names: Sequence[str], largest: int, progress: Progress
) -> tuple[tuple[KnowledgeRisk, ...], SinglingOut | str]:
    """The risk of every set, and the records that sets single out, or the reason why these are not counted."""
    with ThreadPoolExecutor(1) as pool:  # compiled sorting releases the GIL, so a second core is used
        singled_out = pool.submit(_singling_out, table, names)
        counted = risk_by_subset(table, names, up_to=largest, progress=progress)
    try:
        return counted, singled_out.result()
    except UnsupportedError as reason:
        return counted, str(reason)


def _count_histories(
    table: Table, names: Sequence[str], person: str, *, up_to: int, progress: Progress
) -> tuple[tuple[KnowledgeRisk, ...], dict[tuple[str, ...], int], dict[int, int]]:
    """The risk of every set of at most `up_to` attributes over the whole histories of people.

    Each set needs one count of all histories; everything about the set is read from this count.

    Returns:
        The risk of each set; for each set, the number of people whom it singles out although no proper subset does; for
        each size, the number of people whom some set of at most that size singles out.
    """
    (persons,) = encode(table, [person])
    first = np.unique(persons.codes, return_index=True)[1]
    sets = [columns for size in range(1, up_to + 1) for columns in combinations(names, size)]
    risks, unique_by = [], {}
    for done, columns in enumerate(sets):
        classes = assign_classes(table, columns, person)
        sizes = classes.people[classes.numbers[first]]
        unique_by[columns] = sizes == 1
        counts = (int(np.count_nonzero(classes.people)), int(unique_by[columns].sum()), int(sizes.min()))
        risks.append(KnowledgeRisk(", ".join(columns), columns, first.size, *counts))
        progress("counting sets of attributes", done / len(sets))
    minimal, by_size = _minimal(unique_by, up_to)
    return tuple(risks), minimal, by_size


def _minimal(
    unique_by: dict[tuple[str, ...], NDArray[np.bool_]], up_to: int
) -> tuple[dict[tuple[str, ...], int], dict[int, int]]:
    """Number of people whom each set singles out although no proper subset does, and totals of the sets of each size.

    A person who is unique by a set is unique by every superset, so only the subsets with one attribute less matter.
    """
    minimal: dict[tuple[str, ...], int] = {}
    by_size = {}
    for size in range(1, up_to + 1):
        of_size = {columns: unique for columns, unique in unique_by.items() if len(columns) == size}
        for columns, unique in of_size.items():
            by_part = [unique_by[part] for part in combinations(columns, size - 1)] if size > 1 else []
            minimal[columns] = int((unique & ~np.any(by_part, axis=0)).sum()) if by_part else int(unique.sum())
        by_size[size] = int(np.any(list(of_size.values()), axis=0).sum())
    return {columns: people for columns, people in minimal.items() if people}, by_size


def _counted_at_once(table: Table, names: Sequence[str]) -> bool:
    """True if all sets can be counted on the classes; the classes are cached here, before two threads use them."""
    try:
        encode(table.backend.counted_rows(names).backend, names)
    except TooManyDistinctError:
        return False
    class_table(table, names)
    return True


def look_at_knowledge(work: AssessmentState) -> Knowledge:
    """A quick first answer: sets of at most two attributes, and contributions from few orders."""
    table, names, progress = work.table, work.roles.quasi_identifiers, part(work.part(SECTION), 0.0, _FIRST_SHARE)
    if work.roles.person is not None:
        raise UnsupportedError("every set takes a count of its own, so that there is no quick look")
    table.backend.require_local("a quick look at what attackers know", "wait for the whole count")
    counted = risk_by_subset(table, names, up_to=min(_FIRST_LOOK, len(names)), progress=part(progress, 0.0, 0.5))
    parts = contributions(
        table, names, orders=_FIRST_LOOK_ORDERS, exact_up_to=4, seed=0, progress=part(progress, 0.5, 1.0)
    )
    sizes = sorted({len(risk.columns) for risk in counted})
    return Knowledge(
        (),
        counted,
        tuple(max((r for r in counted if len(r.columns) == size), key=lambda risk: risk.classes) for size in sizes),
        len(counted),
        None,
        parts,
        (f"a first look: sets of at most {sizes[-1]} attributes; larger ones are still being counted",),
    )


def _largest_size(columns: int, most: int) -> int:
    """The largest size such that there are at most `most` sets up to that size."""
    sets, size = columns, 1
    while size < min(_SMALL, columns) and sets + comb(columns, size + 1) <= most:
        size += 1
        sets += comb(columns, size)
    return size


def _singling_out(table: Table, names: Sequence[str]) -> SinglingOut:
    largest = min(_largest_size(len(names), _MOST_SMALL), len(names))
    found = minimal_sets(table, names, up_to=largest)
    by_size = {size: found.singled_out_by(size) for size in range(1, largest + 1)}
    return SinglingOut(found.records, by_size, _most(found.singled_out))


def _most(minimal: Mapping[tuple[str, ...], int]) -> tuple[tuple[tuple[str, ...], int], ...]:
    """The sets that are minimal for most people."""
    return tuple(sorted(minimal.items(), key=lambda item: -item[1])[:_LISTED])


SECTION = Section("knowledge", assess_knowledge, weight=25, first_look=look_at_knowledge, is_slow=True)
