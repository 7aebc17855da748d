"""The risk of the person at highest risk, in the table or in the population."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.populations import PopulationRisk


def highest_risk(sizes: ClassSizes, population: PopulationRisk | None) -> tuple[float, tuple[float, float] | None]:
    """The risk of the person at highest risk, and its interval where it is an estimate.

    Where the attacker may know who is in the table it is 1 ÷ the smallest class. Else it is the highest estimated
    1 ÷ F of a record, F being the size of its class in the population; where somebody is expected to be unique there,
    it is 1; where no record's own risk was estimated, that in the table is used, which is never lower.
    """
    if population is None:
        return 1 / sizes.smallest, None
    if unique_in_population(sizes, population) >= 1:
        return 1.0, None
    if population.highest is None:
        return 1 / sizes.smallest, None
    return population.highest, population.highest_interval


def unique_in_population(sizes: ClassSizes, population: PopulationRisk) -> float:
    """How many people who are alone in the table may be alone in the population: the upper end of the estimate."""
    _, most = population.still_unique_interval or (0.0, population.still_unique or 0.0)
    return sizes.uniques * most
