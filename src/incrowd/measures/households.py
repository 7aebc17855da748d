"""Household risk: the chance that any member of a household is found, which discloses all members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.backends import class_numbers, encode
from incrowd.backends.packed_keys import history_classes
from incrowd.classes import assign_classes
from incrowd.errors import InputError
from incrowd.results import DataTable, Result
from incrowd.tables import TableLike, read_table
from incrowd.wording import percent


@dataclass(frozen=True, slots=True)
class HouseholdKnowledge(Result):
    """The risk of households for an attacker with some knowledge.

    - `knows`: the knowledge, in words.
    - `average`: the mean over households; `average_of_people`: the mean over people, each with the risk of their
      household, as sdcMicro reports it; `highest`: the risk of the household that is easiest to find.
    - `certain`: households that are found with certainty: they have a unique member, or are unique as a whole.
    """

    knows: str
    average: float
    average_of_people: float
    highest: float
    certain: int


@dataclass(frozen=True, slots=True)
class HouseholdRisk(Result):
    """Risk of finding a household by what the attacker knows about one member, or about all members."""

    household: str
    households: int
    people: int
    largest: int
    by_knowledge: tuple[HouseholdKnowledge, ...]

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The risk by what the attacker knows."""
        rows = tuple(
            (row.knows, percent(row.average), percent(row.average_of_people), percent(row.highest), f"{row.certain:,}")
            for row in self.by_knowledge
        )
        columns = ("the attacker knows", "average", "of people", "highest", "found for certain")
        return (DataTable(f"Households, by {self.household}: the risk that any member is found", columns, rows),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many households there are."""
        return (
            f"{self.households:,} households of {self.people:,} people, the largest of {self.largest:,}. An attacker "
            "who finds one member has found the others.",
        )

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [one.to_dict() for one in self.by_knowledge]


def household_risk(
    data: TableLike,
    *,
    household: str,
    quasi_identifiers: Sequence[str],
    relationship: str | None = None,
    risks: ArrayLike | None = None,
) -> HouseholdRisk:
    """Measure the chance that any member of a household is found, which gives away the others: 1 − Π (1 − rᵢ).

    The risk rᵢ of a member is 1 ÷ the size of their class (prosecutor risk), or is given in `risks`. An attacker may
    also know the size of the household, or who lives in it; further rows count these as known. The last row is for an
    attacker who knows the quasi-identifiers of all members: 1 ÷ the number of households that are equal as a whole.

    Args:
        data: a file's path, a frame or a `Table`, one row for each person.
        household: the column that identifies the household of each person.
        quasi_identifiers: the columns that the attacker knows.
        relationship: the column of each person's position in the household (head, spouse, child); if given, the
            composition of the household counts as known in one row.
        risks: the risk of every record, such as `record_risk` estimates for the population; the result then has one
            row.

    Returns:
        The risk of households, one row for each kind of knowledge.

    Raises:
        InputError: a column is missing or plays two parts, somebody has no household, or risks are no chances.
        UnsupportedError: the table stays in a cluster.

    >>> people = {"home": [1, 1, 2, 2], "age": [40, 9, 40, 40]}
    >>> found = household_risk(people, household="home", quasi_identifiers=["age"])
    >>> found.by_knowledge[0].knows, round(found.by_knowledge[0].average, 3), found.by_knowledge[0].certain
    ('the quasi-identifiers of a member', 0.778, 1)
    """
    table = read_table(data)
    table.backend.require_local("looking at households", "give a file")
    names = table.require(quasi_identifiers, "quasi-identifiers")
    parts = table.require([household, *([] if relationship is None else [relationship])], "household columns")
    if household in names:
        raise InputError(f"the household column {household!r} cannot be a quasi-identifier too; take it out of one")
    home, *related = encode(table, parts)
    if home.has_null:
        raise InputError(f"some people have no household in {household!r}; fill it or leave them out", hint="household")
    sizes = home.tally
    if risks is not None:
        levels = [_of_members("the given risks", _check_risks(risks, table.rows), home.codes, sizes)]
    else:
        classes = assign_classes(table, names).numbers
        known = [("the quasi-identifiers of a member", classes)]
        known.append(("also the size of the household", _both(classes, sizes[home.codes])))
        if related:
            composition, _ = history_classes(related[0].codes.astype(np.uint32), home.codes)
            known.append(("also who lives in it", _both(classes, composition[home.codes])))
        levels = [_of_members(knows, _one_in_class(numbers), home.codes, sizes) for knows, numbers in known]
        household_classes, households = history_classes(classes.astype(np.uint32), home.codes)
        unique = int(np.count_nonzero(households == 1))
        risk = 1.0 / households[household_classes]
        levels.append(_summary("the quasi-identifiers of all members", risk, sizes, unique))
    return HouseholdRisk(household, home.size, table.rows, int(sizes.max()), tuple(levels))


def _check_risks(risks: ArrayLike, rows: int) -> NDArray[np.float64]:
    given = np.asarray(risks, dtype=np.float64)
    if given.shape != (rows,) or not np.all((given >= 0) & (given <= 1)):
        raise InputError(f"risks must be {rows:,} chances between 0 and 1, one for each record")
    return given


def _both(classes: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """Class numbers by the combination of two kinds of numbers."""
    return class_numbers((classes.astype(np.uint64) << np.uint64(32)) | more.astype(np.uint64))[0]


def _one_in_class(classes: NDArray[Any]) -> NDArray[np.float64]:
    risk: NDArray[np.float64] = 1.0 / np.bincount(classes)[classes]
    return risk


def _of_members(
    knows: str, risk: NDArray[np.float64], homes: NDArray[Any], sizes: NDArray[np.int64]
) -> HouseholdKnowledge:
    """1 − Π (1 − rᵢ) over the members of each household, in logarithms."""
    with np.errstate(divide="ignore"):  # for a risk of 1 the logarithm is minus infinity
        log_not_found = np.bincount(homes, weights=np.log1p(-risk), minlength=sizes.size)
    certain = np.unique(homes[risk == 1]).size  # not from the product, which may round to 0 for many members
    return _summary(knows, -np.expm1(log_not_found), sizes, certain)


def _summary(knows: str, risk: NDArray[np.float64], sizes: NDArray[np.int64], certain: int) -> HouseholdKnowledge:
    of_people = float(risk @ sizes / sizes.sum())
    return HouseholdKnowledge(knows, float(risk.mean()), of_people, float(risk.max()), certain)
