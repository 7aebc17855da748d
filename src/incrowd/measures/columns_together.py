"""Kept columns that only together give back what protection has coarsened: weight and body mass index, the height."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.measures.arithmetic_relations import Designs, Quantity, Relation, find_relation, read_quantity
from incrowd.measures.auxiliary import AuxiliaryKnowledge, count_with_auxiliary
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.tables import Table, read_table

_COMPUTING = "computing columns from others"


def facts_of_columns_together(
    kept: Sequence[Coded],
    known: Sequence[Coded],
    released: Any,
    coarse: Sequence[str],
    *,
    secrets: Sequence[str] = (),
    person: str | None = None,
    progress: Progress = silent,
) -> Iterator[RecoveringColumn]:
    """Find the kept numbers and dates from which a quasi-identifier that was made coarser can be computed.

    Of every such set one column is named as the one to go, and the search goes on without it.

    Args:
        kept: the columns of the original that are released as they were.
        known: its quasi-identifiers; those that were not made coarser may tell something beside kept columns.
        released: the protected table.
        coarse: the quasi-identifiers that were made coarser.
        secrets: kept columns that are to go only where no other column of a set can.
        person: the column that says whose record it is, where people have several.
        progress: told how far the work is.

    Yields:
        A fact for every column to go, with those that it tells the quasi-identifier with.
    """
    targets = _quantities([column for column in known if column.name in coarse])
    removable = [one.name for one in _quantities(kept)]
    if not targets or not removable:
        return
    before = _quantities([*kept, *(column for column in known if column.name not in coarse)])
    table, names = read_table(released), [column.name for column in known]
    after = {one.name: one for one in _read_released(table, [*kept, *known], before)}
    labels = {column.name: column.codes for column in encode(table, [one.name for one in targets])}
    telling = [one for one in before if one.name in after]
    for place, target in enumerate(targets):
        progress(_COMPUTING, place / len(targets))
        left = telling
        while left:
            relation = find_relation(target, labels[target.name], left, [after[one.name] for one in left])
            to_go = [] if relation is None else [name for name in relation.columns if name in removable]
            if relation is None or not to_go:  # quasi-identifiers alone are counted as known
                break
            fact = _fact(table, names, target.name, relation, _choose(to_go, secrets), person)
            left = [one for one in left if one.name != fact.column]
            if fact.undoes:
                telling = [one for one in telling if one.name != fact.column]  # it goes, whatever else it tells
                yield fact


def facts_of_computed_columns(
    kept: Sequence[Coded],
    known: Sequence[Coded],
    released: Any,
    *,
    person: str | None = None,
    progress: Progress = silent,
) -> Iterator[RecoveringColumn]:
    """Find the kept numbers and dates that can be computed from quasi-identifiers: whoever knows these knows them too.

    Args:
        kept: the columns of the original that are released as they were.
        known: its quasi-identifiers.
        released: the protected table.
        person: the column that says whose record it is, where people have several.
        progress: told how far the work is.

    Yields:
        A fact for every such column that makes classes smaller.
    """
    telling, table = _quantities(known), read_table(released)
    names = [column.name for column in known]
    designs: Designs = {}
    targets = _quantities(kept) if telling else []
    for place, target in enumerate(targets):
        progress(_COMPUTING, place / len(targets))
        relation = find_relation(target, np.zeros(target.codes.size, dtype=np.int64), telling, telling, designs)
        if relation is None:
            continue
        (after,) = _read_released(table, kept, [target])
        places = np.floor(after.places / relation.step) if relation.step else after.places
        relation = replace(relation, guesses=np.unique(places, return_inverse=True)[1][after.codes])
        first, *others = relation.columns
        relation = replace(relation, columns=(target.name, *others))
        fact = _fact(table, names, first, relation, target.name, person)
        if fact.undoes:
            yield fact


def _quantities(columns: Sequence[Coded]) -> list[Quantity]:
    return [quantity for column in columns if (quantity := read_quantity(column)) is not None]


def _read_released(table: Table, columns: Sequence[Coded], before: Sequence[Quantity]) -> list[Quantity]:
    """Columns of the release as numbers; texts as those of the original, which has more cells to tell the notation by.

    What is text in the original and was changed in the release is missing there.
    """
    texts = {one.name: one.values for one in columns if one.values.type in (pa.string(), pa.large_string())}
    found = []
    for one, released in zip(before, encode(table, [one.name for one in before]), strict=True):
        if one.name not in texts:
            found.append(read_quantity(released))
            continue
        places = pc.index_in(released.values.cast(pa.string()), value_set=texts[one.name].cast(pa.string()))
        known = pc.fill_null(places, one.places.size).to_numpy()
        found.append(replace(one, codes=released.codes, places=np.append(one.places, np.nan)[known]))
    return [one for one in found if one is not None]


def _choose(columns: Sequence[str], secrets: Sequence[str]) -> str:
    """The last column, for what was computed stands behind what it was computed from; a secret only if all are."""
    return ([name for name in columns if name not in secrets] or list(columns))[-1]


def _fact(
    table: Table, names: Sequence[str], gives_back: str, relation: Relation, to_go: str, person: str | None
) -> RecoveringColumn:
    """The classes for whoever guesses a quasi-identifier from a relation, beside those for whoever does not."""
    with_guesses = _count(table, names, relation, person)
    without = count_with_auxiliary(table, names, [], person=person)
    return RecoveringColumn(
        to_go,
        gives_back,
        relation.told,
        relation.by_chance,
        with_guesses.k,
        with_guesses.uniques,
        without.k,
        tuple(name for name in relation.columns if name != to_go),
    )


def _count(table: Table, names: Sequence[str], relation: Relation, person: str | None) -> AuxiliaryKnowledge:
    guess = "guess of " + " ".join(relation.columns)  # longer than the name of any of them
    columns = table.to_arrow([*names, *([person] if person is not None else [])])
    return count_with_auxiliary(columns.append_column(guess, pa.array(relation.guesses)), names, [guess], person=person)
