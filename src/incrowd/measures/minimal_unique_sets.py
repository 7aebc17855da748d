"""Minimal sets of attributes that single a person out, and a score of each record's uniqueness (after SUDA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.errors import UnsupportedError
from incrowd.measures.attribute_sets import check_subset_size
from incrowd.measures.subset_counts import ClassTable, isolated_by_subsets
from incrowd.results import DataTable, Result
from incrowd.tables import TableLike, read_table
from incrowd.wording import percent

_LISTED = 15  # sets that a person is shown


def table_of_minimal_sets(sets: Mapping[tuple[str, ...], int]) -> tuple[DataTable, ...]:
    """The sets that single most records out; no table if there are none."""
    most = sorted(sets.items(), key=lambda item: -item[1])[:_LISTED]
    rows = tuple((", ".join(columns), records) for columns, records in most)
    caption = "The smallest sets that single people out (no part of the set does)"
    return (DataTable(caption, ("attributes", "people"), rows),) if rows else ()


@dataclass(frozen=True, slots=True, eq=False)
class MinimalSets(Result):
    """Minimal sets of attributes that single people out.

    A set is minimal for a record if the record is unique by the set and not unique by any proper subset.

    - `singled_out`: for each set, the number of records it is minimal for.
    - `contribution`: for each attribute, the share of the total score in sets that contain it.
    - `fewest`: for each record, the size of its smallest minimal set; 0 if it has none.
    - `score`: for each record, the sum over its minimal sets, where a set of s attributes adds the product of (m − i)
      for i from s to `up_to` − 1, with m the number of attributes: smaller sets and more sets give a higher score
      (Elliot, Manning & Ford 2002).
    - `records`: the number of rows.

    For a table in a cluster, `fewest` and `score` have one entry for each distinct row.
    """

    columns: tuple[str, ...]
    up_to: int
    singled_out: dict[tuple[str, ...], int]
    contribution: dict[str, float]
    fewest: NDArray[np.int64]
    score: NDArray[np.float64]
    records: int

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """Records by the attributes it takes, the sets that single most out, and the attributes in them."""
        counts = {size: self.singled_out_by(size) for size in range(1, self.up_to + 1)}
        by_size = tuple((f"{size} or fewer", count, percent(count / self.records)) for size, count in counts.items())
        parts = sorted(self.contribution.items(), key=lambda item: -item[1])
        return (
            DataTable(
                f"The fewest attributes that single people out (sets of at most {self.up_to})",
                ("attributes known", "records", "share"),
                by_size,
            ),
            *table_of_minimal_sets(self.singled_out),
            DataTable(
                "How often each attribute is in a set that singles somebody out, small sets counting for more; a set "
                "counts for all its attributes, so shares add up to more than 100%",
                ("attribute", "share of the score"),
                tuple((name, percent(part)) for name, part in parts),
            ),
        )

    def singled_out_by(self, attributes: int) -> int:
        """Number of records that are unique by some set of at most `attributes` attributes."""
        return int(((self.fewest > 0) & (self.fewest <= attributes)).sum())

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types: sums over records, no single record."""
        return {
            "columns": list(self.columns),
            "up_to": self.up_to,
            "records": self.records,
            "singled_out_by": {str(size): self.singled_out_by(size) for size in range(1, self.up_to + 1)},
            "minimal_sets": self._rows(),
            "contribution": self.contribution,
        }

    def _rows(self) -> list[dict[str, Any]]:
        return [{"columns": list(columns), "records": records} for columns, records in self.singled_out.items()]


def minimal_sets(
    data: TableLike, quasi_identifiers: Sequence[str], *, up_to: int | None = None, progress: Progress = silent
) -> MinimalSets:
    """Find the minimal sets of attributes that single each record out.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker may know.
        up_to: the largest size of a set; all columns by default.
        progress: callback that receives the current step and the share done.

    Returns:
        The sets with the records that each singles out, and a score for every record.

    Raises:
        InputError: a column is missing, or the sets are too many.
        UnsupportedError: the sets of all unique records do not fit into memory.

    >>> found = minimal_sets({"age": [3, 3, 4], "zip": ["a", "b", "b"]}, ["age", "zip"])
    >>> found.singled_out
    {('age',): 1, ('zip',): 1, ('age', 'zip'): 1}
    >>> found.fewest.tolist()
    [1, 2, 1]
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    largest = check_subset_size(len(names), up_to)
    progress("counting people who look alike", 0.0)
    class_table = ClassTable.of(table, names)
    single = np.flatnonzero(class_table.people == 1)
    sets = sum(comb(len(names), size) for size in range(1, largest + 1))
    if sets * single.size / 8 > table.memory / 2:
        raise UnsupportedError(
            f"{sets:,} sets of attributes for {single.size:,} unique records do not fit into memory; "
            "ask for smaller sets",
            hint="up_to",
        )
    unique_by: dict[tuple[int, ...], NDArray[np.uint8]] = {}
    for done, (positions, isolated) in enumerate(isolated_by_subsets(class_table, largest)):
        unique_by[positions] = np.packbits(isolated)
        progress("looking for the sets that single people out", done / sets)
    return _score(class_table, single, unique_by, largest)


def _score(
    table: ClassTable, single: NDArray[np.int64], unique_by: dict[tuple[int, ...], NDArray[np.uint8]], largest: int
) -> MinimalSets:
    """Minimal sets and scores, from the mask (packed bits) of the unique records that each set singles out."""
    m = len(table.columns)
    fewest = np.zeros(table.people.size, dtype=np.int64)
    score = np.zeros(table.people.size)
    singled_out: dict[tuple[str, ...], int] = {}
    contribution = np.zeros(m)
    for positions in sorted(unique_by, key=lambda found: (len(found), found)):
        minimal = unique_by[positions].copy()
        if len(positions) > 1:
            for part in combinations(positions, len(positions) - 1):
                minimal &= ~unique_by[part]
        who = single[np.unpackbits(minimal, count=single.size).astype(np.bool_)]
        if not who.size:
            continue
        points = float(prod(m - i for i in range(len(positions), largest)))
        singled_out[tuple(table.columns[p] for p in positions)] = int(who.size)
        score[who] += points
        fewest[who] = np.where(fewest[who] == 0, len(positions), fewest[who])
        contribution[list(positions)] += points * who.size
    total = score.sum()
    return MinimalSets(
        table.columns,
        largest,
        singled_out,
        {name: float(part / total) if total else 0.0 for name, part in zip(table.columns, contribution, strict=True)},
        fewest[table.numbers],
        score[table.numbers],
        int(table.people.sum()),
    )
