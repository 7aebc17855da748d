"""What the workers of a cluster do with the rows of one cell, by the code that protects tables on one machine.

Everything here is sent to the workers by name, so that they need this package installed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.scales import Scale
from incrowd.protection.partition import partition_classes
from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping, as_written, generalise_classes
from incrowd.protection.sorted_runs import distance_to_zero

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class CellRecoding:
    """Local recoding of the rows of a cell, with the scales of the whole table.

    Attributes:
        names: the quasi-identifiers.
        values: their values in the whole table, in order.
        counts: how often each value occurs in the whole table.
        demand: what the protected table must satisfy.
        aim: the loss that classes are kept small by.
        scales: the scales that somebody has given the quasi-identifiers.
        sensitive: the sensitive column, if there is one.
        sensitive_values: its values in the whole table, in order.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    counts: tuple[NDArray[np.int64], ...]
    demand: Demand
    aim: str
    scales: tuple[Scale | None, ...]
    sensitive: str | None = None
    sensitive_values: pa.Array | None = None

    def points(self, columns: list[Coded]) -> NDArray[np.float32]:
        """Every row's scaled coordinates."""
        return self._problem(columns).points()

    def distances(self, columns: list[Coded]) -> NDArray[np.float64]:
        """Every row's distance to zero, which the paper's algorithms sort by."""
        return distance_to_zero(self._problem(columns))

    def protect(
        self, columns: list[Coded], sensitive: Coded | None, classes: NDArray[np.int64] | None
    ) -> dict[str, pa.Array]:
        """The protected quasi-identifiers of a cell as text: of given classes, or of those of the partition."""
        import pyarrow as pa

        problem = self._problem(columns, sensitive)
        if classes is None:
            grouping = partition_classes(problem)
        else:
            _, sizes = np.unique(classes, return_counts=True)
            grouping = Grouping(np.argsort(classes, kind="stable"), np.cumsum(sizes))
        made = generalise_classes(problem, grouping).columns
        for column in columns:
            if column.name not in made:  # nothing changed in this cell, but it may have in others
                made[column.name] = as_written(column.values).take(pa.array(column.codes))
        return {name: column.cast(pa.string()) for name, column in made.items()}

    def written_values(self) -> list[pa.Array]:
        """The values of every quasi-identifier as they are written where they are not changed."""
        return [as_written(values) for values in self.values]

    def _problem(self, columns: list[Coded], sensitive: Coded | None = None) -> Problem:
        secrets = () if sensitive is None else (sensitive,)
        columns = [replace(column, stated=scale) for column, scale in zip(columns, self.scales, strict=True)]
        return Problem(columns, columns[0].codes.size, self.demand, secrets, self.aim, tallies=self.counts)
