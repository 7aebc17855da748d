"""Who is found, or whose secret is known, for certain, however low the average is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from incrowd.recipients import judge
from incrowd.wording import people, share, two_digits

if TYPE_CHECKING:
    from incrowd.measures import Measurement
    from incrowd.populations import PopulationRisk

_WIDE = 10  # times the lower end of an interval, beyond which its middle says nothing
_FEW = 0.05  # of the people: whoever has another value than all these is told apart by it
_WORST = 3  # secrets that are named; of more it is said how many


def unique_people(facts: Measurement, population: PopulationRisk | None) -> Iterator[str]:
    """Who can be found for certain, however low the average is.

    Somebody alone in the table is not alone in the population; there the estimate of those who are counts.
    """
    if population is None:
        if facts.uniques:
            yield f"{_unlike_anybody(facts)}: whoever knows the attributes finds them for certain."
        return
    alone = facts.uniques * (population.still_unique or 0.0)
    if alone >= 1:
        who = f"of the {facts.uniques:,} people who are unique in the table are expected to be unique"
        yield f"{_about(alone, facts.uniques, population)} {who} among all {population.population:,} people too."


def _about(alone: float, uniques: int, population: PopulationRisk) -> str:
    """An estimate with its interval; the interval alone where it says little more than that somebody is."""
    if population.still_unique_interval is None:
        return f"About {two_digits(alone)}"
    low, high = (uniques * end for end in population.still_unique_interval)
    if high > _WIDE * max(low, 1.0):
        return f"Between {two_digits(low)} and {two_digits(high)} (95% interval)"
    return f"About {two_digits(alone)} (95% interval: {two_digits(low)} to {two_digits(high)})"


def certain_secrets(facts: Measurement, population: PopulationRisk | None, threshold: float) -> Iterator[str]:
    """Whether somebody's secret is known to whoever finds their class.

    How many people there are outside the table changes nothing for those who are known to be in it: where the average
    is that of the population, secrets still count if they are certain for more people than may be named. There a value
    that nearly everybody in the table has is no secret: who does not have it are few, and fewer than may be named.
    """
    if population is None:
        certain = share_certain(facts)
    else:
        known = (column.given_away for column in facts.sensitive if 1 - column.commonest > min(threshold, _FEW))
        certain = max((one for one in known if judge(one, threshold) == "over"), default=0.0)
    if not certain:
        return
    sentence = (
        f"A sensitive value is certain for {share(certain)} of the records, because everybody who looks alike has the"
    )
    if population is None:
        yield f"{sentence} same."
        return
    yield (
        f"{sentence} same; that is more than {100 * threshold:.3g}%, and a large population does not hide it from "
        "those who know that a person is in the table."
    )


def share_certain(facts: Measurement) -> float:
    """The share of records whose value is certain, for the sensitive column where it is largest."""
    return max((column.given_away for column in facts.sensitive), default=0.0)


def unique_in_table(facts: Measurement, population: PopulationRisk | None) -> Iterator[str]:
    """Who is found in the table by those who know that they are in it, where the risk is that of the population."""
    if facts.uniques and population is not None:
        yield (
            f"{_unlike_anybody(facts)} in the table; whoever knows that one of them is in it finds them, so keep "
            "secret whose records these are."
        )


def certain_columns(facts: Measurement) -> Iterator[str]:
    """Which secrets whoever finds a class knows for certain, those first that tell most beyond the table."""
    certain = [one for one in facts.sensitive if one.homogeneous]
    certain.sort(key=lambda one: one.commonest - one.given_away)  # what everybody has is hardly told
    because = ", because everybody who looks alike has the same value"
    for number, column in enumerate(certain[:_WORST]):
        yield (
            f"{column.column}: known for certain for {share(column.given_away)} of the records"
            f"{because if not number else ''}."
        )
    more = len(certain) - _WORST
    if more > 0:
        yield f"So {'is 1 more secret' if more == 1 else f'are {more} more secrets'}, which tell less."


def _unlike_anybody(facts: Measurement) -> str:
    one = facts.uniques == 1
    who = f"{people(facts.uniques)} ({share(facts.uniqueness)})"
    return f"{who} {'looks' if one else 'look'} like nobody else"
