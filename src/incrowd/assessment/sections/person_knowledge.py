"""Risk by what the attacker knows, where a person has several records: sets of attributes over whole histories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.classes import assign_classes
from incrowd.measures import KnowledgeRisk
from incrowd.tables import Table


def risk_of_histories(
    table: Table, names: Sequence[str], person: str, *, up_to: int, progress: Progress = silent
) -> tuple[tuple[KnowledgeRisk, ...], dict[tuple[str, ...], int], dict[int, int]]:
    """The risk of every set of at most `up_to` attributes over the whole histories of people.

    Each set takes one count of all histories, so that everything about it is read from the same count.

    Returns:
        The risk of each set; how many people each set singles out that no part of it does; how many people some set of
        at most each size singles out.
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
    """How many people each set singles out though no part of it does, and how many the sets up to each size.

    Whoever is alone by a set is alone by every larger one, so that only the parts with one attribute less matter.
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
