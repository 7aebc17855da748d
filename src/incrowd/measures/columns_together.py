"""Kept columns that give back a coarsened column only in combination: weight and body mass index give back height."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.measures.arithmetic_relations import Designs, Relation, find_relation
from incrowd.measures.auxiliary import AuxiliaryKnowledge, count_with_auxiliary
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.quantities import Quantity, read_quantity
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.tables import Table

_COMPUTING = "computing columns from others"


def facts_of_columns_together(
    kept: Sequence[Coded], release: ComparedRelease, *, progress: Progress = silent
) -> Iterator[RecoveringColumn]:
    """Find the kept numbers and dates from which a coarsened quasi-identifier can be computed.

    Of every such set one column is named for removal, and the search continues without it. A secret is named only if a
    set has no other kept column. Quasi-identifiers that were not changed may be part of a formula.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.
        progress: callback that receives the current step and the share done.

    Yields:
        A fact for every column to remove, with the other columns of the formula.
    """
    targets = read_quantities(release.coarsened)
    removable = [one.name for one in read_quantities(kept)]
    if not targets or not removable:
        return
    before = read_quantities([*kept, *(column for column in release.known if column.name not in release.coarse)])
    after = {one.name: one for one in read_released(release.table, [*kept, *release.known], before)}
    labels = {column.name: column.codes for column in encode(release.table, [one.name for one in targets])}
    candidates = [one for one in before if one.name in after]
    for place, target in enumerate(targets):
        progress(_COMPUTING, place / len(targets))
        remaining = candidates
        while remaining:
            relation = find_relation(target, labels[target.name], remaining, [after[one.name] for one in remaining])
            choices = [] if relation is None else [name for name in relation.columns if name in removable]
            if relation is None or not choices:  # a formula of quasi-identifiers alone: those are counted as known
                break
            fact = _fact(release, target.name, relation, release.to_remove(choices))
            remaining = [one for one in remaining if one.name != fact.column]
            if fact.undoes:
                candidates = [one for one in candidates if one.name != fact.column]  # removed for all targets
                yield fact


def facts_of_computed_columns(
    kept: Sequence[Coded], release: ComparedRelease, *, progress: Progress = silent
) -> Iterator[RecoveringColumn]:
    """Find the kept numbers and dates that an attacker can compute from the quasi-identifiers.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.
        progress: callback that receives the current step and the share done.

    Yields:
        A fact for every such column that makes classes smaller.
    """
    quantities = read_quantities(release.known)
    designs: Designs = {}
    targets = read_quantities(kept) if quantities else []
    for place, target in enumerate(targets):
        progress(_COMPUTING, place / len(targets))
        relation = find_relation(target, np.zeros(target.codes.size, dtype=np.int64), quantities, quantities, designs)
        if relation is None:
            continue
        (after,) = read_released(release.table, kept, [target])
        places = np.floor(after.places / relation.step) if relation.step else after.places
        relation = replace(relation, guesses=np.unique(places, return_inverse=True)[1][after.codes])
        first, *others = relation.columns
        relation = replace(relation, columns=(target.name, *others))
        fact = _fact(release, first, relation, target.name)
        if fact.undoes:
            yield fact


def read_quantities(columns: Sequence[Coded]) -> list[Quantity]:
    """The columns that are numbers, dates or times."""
    return [quantity for column in columns if (quantity := read_quantity(column)) is not None]


def read_released(table: Table, columns: Sequence[Coded], before: Sequence[Quantity]) -> list[Quantity]:
    """Columns of the release as numbers.

    Texts take the numbers that the same texts have in the original, because all cells of a column are needed to
    recognise its notation. Texts that the original does not have become missing.
    """
    texts = {one.name: one.values for one in columns if one.is_text}
    quantities = []
    for one, released in zip(before, encode(table, [one.name for one in before]), strict=True):
        if one.name not in texts:
            quantities.append(read_quantity(released))
            continue
        index = pc.index_in(released.values.cast(pa.string()), value_set=texts[one.name].cast(pa.string()))
        index = pc.fill_null(index, one.places.size).to_numpy()
        quantities.append(replace(one, codes=released.codes, places=np.append(one.places, np.nan)[index]))
    return [one for one in quantities if one is not None]


def _fact(release: ComparedRelease, gives_back: str, relation: Relation, to_remove: str) -> RecoveringColumn:
    """The fact of a relation: the classes for an attacker who uses its guesses, and for one who does not."""
    with_guesses = _count(release, relation)
    return RecoveringColumn(
        to_remove,
        gives_back,
        relation.told,
        relation.by_chance,
        with_guesses.k,
        with_guesses.uniques,
        release.k,
        tuple(name for name in relation.columns if name != to_remove),
    )


def _count(release: ComparedRelease, relation: Relation) -> AuxiliaryKnowledge:
    guess = "guess of " + " ".join(relation.columns)  # no column has this name, because it is longer than each of them
    names, person = release.names, release.person
    columns = release.table.to_arrow([*names, *([person] if person is not None else [])])
    return count_with_auxiliary(columns.append_column(guess, pa.array(relation.guesses)), names, [guess], person=person)
