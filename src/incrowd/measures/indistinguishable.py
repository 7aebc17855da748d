"""Which records an attacker cannot tell apart: what a secret is hidden among."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode_each, frequencies, pack
from incrowd.classes import Classes, ClassSizes, assign_classes, told_apart
from incrowd.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A number for every record, the same for those that nobody can tell apart.

    Where a record stands for others, `times` says for how many; `classes` are those of people, if they are not simply
    the records with the same number.
    """

    numbers: NDArray[Any]
    times: NDArray[np.int64] | None = None
    classes: Classes | None = None

    def sizes(self) -> ClassSizes:
        """The frequency of frequencies, in people."""
        if self.classes is not None:
            return self.classes.sizes
        return ClassSizes.from_counts(*frequencies(self.numbers.copy()))


def group_records(table: Table, names: Sequence[str], person: str | None = None) -> Groups:
    """Group the records of a table in memory; packed keys serve as they are, and classes need not be numbered."""
    if person is None:
        return Groups(pack(encode_each(table, names)))
    classes = assign_classes(table, names, person)
    return Groups(told_apart(table, names, classes, person).numbers, classes=classes)


def needs_parts(table: Table, names: Sequence[str], person: str | None = None) -> bool:
    """Whether comparing secrets within groups takes more than the memory limit: it is then done part by part."""
    return not table.backend.fits_values(names, person)
