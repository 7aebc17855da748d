"""Single values of kept columns that give a quasi-identifier back: a score that only people of one origin have.

An attacker who knows a person's origin leaves out the records of the class whose score tells another one. A record
whose score tells that origin may only be of the people of the class who have it. The attacker need not know the score.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.measures.common_coding import of_one_type
from incrowd.measures.compared_release import ComparedRelease

_Codes = NDArray[np.int64]


def count_by_telling_values(
    column: Coded, known: Coded, telling: Mapping[int, int], release: ComparedRelease
) -> tuple[int, int] | None:
    """The fewest people who may be the person of a record, and the number of records with one such person.

    Args:
        column: the kept column of the original.
        known: the quasi-identifier of the original that its values tell.
        telling: the codes of these values, with the codes of the quasi-identifier that they tell.
        release: the protected table beside its original.

    Returns:
        Both numbers; None if they cannot be counted: people have several records, the column is of another kind in the
        release, or counting takes too long.
    """
    if release.person is not None:
        return None
    told = _told_values(column, telling, release)
    if told is None:
        return None
    told[release.coverage.widths(known.name) <= 1] = -1  # released as it was
    is_told = told >= 0
    if not is_told.any():
        return release.k, 0
    classes, sizes = class_numbers(pack(release.labels))
    not_told = sizes - np.bincount(classes[is_told], minlength=sizes.size)
    people = np.zeros(told.size, dtype=np.int64)  # of the record's class, who have the value that its own value tells
    left = sizes.copy()  # the fewest records of each class that may be those of one person
    values = np.unique(told[is_told])
    for value in [*values.tolist(), None]:
        selected = ~np.isin(known.codes, values) if value is None else known.codes == value
        counted = release.coverage.count(release.known, [selected])
        if counted is None:
            return None
        rows = is_told & (told == (-1 if value is None else value))
        people[rows] = counted[0][rows]
        possible = not_told + np.bincount(classes[rows], minlength=sizes.size)
        some = classes[counted[0] > 0]
        left[some] = np.where(possible[some] > 0, np.minimum(left, possible)[some], left[some])
    of_records = np.where(is_told & (people > 0), people, sizes[classes])
    fewest = np.minimum(of_records, left[classes])
    return min(int(fewest.min()), release.k), int(np.count_nonzero(fewest == 1))


def _told_values(column: Coded, telling: Mapping[int, int], release: ComparedRelease) -> _Codes | None:
    """For every released record the code of the quasi-identifier that its value of the column tells, else -1.

    None if the column is of another kind in the release.
    """
    (released,) = encode(release.table, [column.name])
    codes = np.full(column.size + 1, -1, dtype=np.int64)
    codes[list(telling)] = list(telling.values())
    values = of_one_type(column.values, released.values)
    if values is None:
        return None
    place = pc.fill_null(pc.index_in(values[1], value_set=values[0]), column.size)
    told: _Codes = codes[place.to_numpy(zero_copy_only=False)][released.codes]
    return told
