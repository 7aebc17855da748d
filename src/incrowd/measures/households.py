"""Household risk: the chance that any member of a household is found, and so the household with all of them."""

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
from incrowd.results import Result
from incrowd.tables import TableLike, read_table


@dataclass(frozen=True, slots=True)
class HouseholdKnowledge(Result):
    """The risk of households, for an attacker who knows something.

    - `average`: over households; `average_of_people`: over people, each with the risk of their household, as sdcMicro
      reports it; `highest`: of the household easiest to find.
    - `certain`: households with a member whom nobody else looks like, or that no other household looks like.
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

    A member's risk r is 1 ÷ the number of people who look alike (the prosecutor's), or what `risks` says. Others know
    how large a household is, and who lives in it, so both count as known in further rows. The last row is for an
    attacker who knows the quasi-identifiers of all members: 1 ÷ the number of households that are alike as a whole.

    Args:
        data: a file's path, a frame or a `Table`, one row for each person.
        household: the column that says which household a person lives in.
        quasi_identifiers: the columns that the attacker knows.
        relationship: the column that says who somebody is in the household (head, spouse, child); with it the
            composition of the household counts as known.
        risks: the risk of every record, such as `record_risk` estimates for the population; there is one row then.

    Returns:
        The risk of households by what is known.

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
    sizes = np.bincount(home.codes, minlength=home.size)
    if risks is not None:
        levels = [_of_members("the given risks", _check_risks(risks, table.rows), home.codes, sizes)]
    else:
        alike = assign_classes(table, names).numbers
        known = [("the quasi-identifiers of a member", alike)]
        known.append(("also the size of the household", _both(alike, sizes[home.codes])))
        if related:
            composition, _ = history_classes(related[0].codes.astype(np.uint32), home.codes)
            known.append(("also who lives in it", _both(alike, composition[home.codes])))
        levels = [_of_members(knows, _one_in_class(classes), home.codes, sizes) for knows, classes in known]
        whole, crowd = history_classes(alike.astype(np.uint32), home.codes)
        alone = int(np.count_nonzero(crowd == 1))
        levels.append(_summary("the quasi-identifiers of all members", 1.0 / crowd[whole], sizes, alone))
    return HouseholdRisk(household, home.size, table.rows, int(sizes.max()), tuple(levels))


def _check_risks(risks: ArrayLike, rows: int) -> NDArray[np.float64]:
    given = np.asarray(risks, dtype=np.float64)
    if given.shape != (rows,) or not np.all((given >= 0) & (given <= 1)):
        raise InputError(f"risks must be {rows:,} chances between 0 and 1, one for each record")
    return given


def _both(classes: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """Classes of people who are alike in both."""
    return class_numbers((classes.astype(np.uint64) << np.uint64(32)) | more.astype(np.uint64))[0]


def _one_in_class(classes: NDArray[Any]) -> NDArray[np.float64]:
    risk: NDArray[np.float64] = 1.0 / np.bincount(classes)[classes]
    return risk


def _of_members(
    knows: str, risk: NDArray[np.float64], homes: NDArray[Any], sizes: NDArray[np.int64]
) -> HouseholdKnowledge:
    """1 − Π (1 − rᵢ) over the members of each household, in logarithms."""
    with np.errstate(divide="ignore"):  # a risk of 1 is a logarithm of minus infinity
        safe = np.bincount(homes, weights=np.log1p(-risk), minlength=sizes.size)
    certain = np.unique(homes[risk == 1]).size  # a product of many small chances may round to 0 too
    return _summary(knows, -np.expm1(safe), sizes, certain)


def _summary(knows: str, risk: NDArray[np.float64], sizes: NDArray[np.int64], certain: int) -> HouseholdKnowledge:
    of_people = float(risk @ sizes / sizes.sum())
    return HouseholdKnowledge(knows, float(risk.mean()), of_people, float(risk.max()), certain)
