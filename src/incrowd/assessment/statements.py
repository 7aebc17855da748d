"""Every number in a sentence: what it means, how sure it is, what it assumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.results import Result
from incrowd.wording import about_people, interval_at, people, percentage_points, share

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment
    from incrowd.measures import Diversity, Measurement

COUNTED = "counted, exact for this table"
_ALL_KNOWN = (
    "the attacker knows every quasi-identifier, and that the person is in the table; a missing value is a value, so "
    "that two people without an age look alike"
)


@dataclass(frozen=True, slots=True)
class Statement(Result):
    """One number: its name, how it is written, what it means, how sure it is and what was assumed."""

    section: str
    name: str
    value: float | None
    shown: str
    meaning: str
    sure: str
    assumed: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}


def statements(found: Assessment) -> tuple[Statement, ...]:
    """All statements, in the order of the sections."""
    return (
        *_facts(found.facts),
        *(statement for column in found.facts.sensitive for statement in _secrets(column)),
        *_knowledge(found),
        *_population(found),
        *_forecast(found),
        *_leaks(found),
        *_protection(found),
        *_secrets_left(found),
    )


def _known(facts: Measurement) -> str:
    """What the attacker is taken to know."""
    histories = "; of somebody with several records all of them, and how many" if facts.person else ""
    return f"{_ALL_KNOWN}{histories}"


def _facts(facts: Measurement) -> Iterator[Statement]:
    def fact(name: str, value: float, shown: str, meaning: str) -> Statement:
        return Statement("facts", name, value, shown, meaning, COUNTED, _known(facts))

    records = f"in {facts.records:,} records" if facts.person else "one record each"
    yield fact("people", facts.people, f"{facts.people:,}", f"People in the table, {records}.")
    yield fact("classes", facts.classes, f"{facts.classes:,}", "Groups of people who share all quasi-identifiers.")
    crowd = "Somebody stands alone." if facts.k == 1 else f"Everybody looks like at least {facts.k - 1:,} others."
    yield fact("smallest class (k)", facts.k, f"{facts.k:,}", crowd)
    yield fact(
        "unique",
        facts.uniqueness,
        f"{facts.uniques:,} ({share(facts.uniqueness)})",
        "People nobody else in the table looks like.",
    )
    yield fact(
        "average risk within the table (κ)",
        facts.correctness,
        share(facts.correctness),
        f"Guessing for everybody, an attacker names {people(facts.expected_reidentifications)} correctly.",
    )
    yield fact(
        "highest risk",
        facts.maximum_risk,
        share(facts.maximum_risk),
        "The chance of naming the person easiest to name.",
    )
    for k in (3, 5, 10):
        yield fact(
            f"in classes below {k}",
            facts.share_below(k),
            share(facts.share_below(k)),
            f"People with fewer than {k - 1} look-alikes.",
        )


def _secrets(column: Diversity) -> Iterator[Statement]:
    distance = "values by rank" if column.ordered_t is not None else "all values equally far"

    def secret(name: str, value: float, shown: str, meaning: str) -> Statement:
        return Statement("secrets", f"{column.column}: {name}", value, shown, meaning, COUNTED, _ALL_KNOWN)

    yield secret(
        "given away",
        column.given_away,
        share(column.given_away),
        "Records whose value is certain, because everybody who looks alike has the same.",
    )
    yield secret("l", column.distinct, f"{column.distinct:,}", "Fewest different values among people who look alike.")
    yield secret(
        "t",
        column.t,
        f"{column.t:.3f}",
        f"How far the most unusual class is from the whole table ({distance}): 0 tells no more than the whole table "
        "does, 1 everything.",
    )


def _knowledge(found: Assessment) -> Iterator[Statement]:
    for risk in found.knowledge.by_group:
        yield Statement(
            "knowledge",
            f"knows {risk.label}",
            risk.correctness,
            share(risk.correctness),
            f"Named correctly by somebody who knows {', '.join(risk.columns)}; {people(risk.uniques)} unique by it.",
            COUNTED,
            "the attacker knows these columns and nothing else",
        )
    for risk in found.knowledge.worst_by_size:
        size = len(risk.columns)
        yield Statement(
            "knowledge",
            f"knows {size} attribute{'s' if size > 1 else ''}",
            risk.correctness,
            share(risk.correctness),
            f"Named correctly by the most telling set of that size: {', '.join(risk.columns)}.",
            COUNTED,
            "the attacker knows this set and nothing else",
        )
    parts = found.knowledge.contributions
    for one in parts.ranked:
        low, high = one.interval
        sure = (
            "exact, all orders averaged"
            if parts.orders is None
            else f"95% interval: {percentage_points(low)} to {percentage_points(high)}"
        )
        yield Statement(
            "drivers",
            one.column,
            one.correctness,
            percentage_points(one.correctness),
            f"Percentage points that this attribute adds to the average risk: {parts.share(one):.0%} of what all add.",
            sure,
            "attributes become known in any order, all equally likely",
        )


def _population(found: Assessment) -> Iterator[Statement]:
    risk = found.population
    if risk is None:
        return
    sure = "no interval" if risk.interval is None else interval_at(0.95, *risk.interval)
    assumed = "; ".join(risk.assumptions) or "the table is the whole population"
    yield Statement(
        "population",
        "average risk in the population",
        risk.overall,
        share(risk.overall),
        f"A record of the table, matched against {risk.population:,} people, finds the right person so often.",
        sure,
        assumed,
    )
    yield Statement(
        "population",
        "from the population to the table (A)",
        risk.population_to_sample,
        share(risk.population_to_sample),
        "Somebody picked from the population is found in the table so often.",
        "counted, exact for this population",
        "the population has the size that was given",
    )
    if risk.still_unique is not None:
        yield Statement(
            "population",
            "unique there too",
            risk.still_unique,
            share(risk.still_unique),
            "Of the people who are unique in the table, so many are unique in the population.",
            "no interval" if risk.still_unique_interval is None else interval_at(0.95, *risk.still_unique_interval),
            assumed,
        )


def _forecast(found: Assessment) -> Iterator[Statement]:
    law = found.forecast
    if law is None:
        return
    for index, name in enumerate(law.names):
        value, low, high = (float(getattr(law.correctness, side)[index]) for side in ("value", "low", "high"))
        if not name.replace(",", "").isdigit() or law.at[index] == _asked(found):
            yield Statement(
                "forecast",
                f"{name} people" if name[0].isdigit() else f"{_place(name)} ({law.at[index]:,.0f} people)",
                value,
                share(value),
                f"Named correctly in a population of that size: about {about_people(law.people_named[index])}.",
                interval_at(law.level, low, high),
                "the table is a random sample of a population of that size; estimated as the risk in a given "
                "population is",
            )


def _place(name: str) -> str:
    return name.upper() if len(name) == 2 else name


def _asked(found: Assessment) -> float | None:
    return None if found.population is None else float(found.population.population)


def _leaks(found: Assessment) -> Iterator[Statement]:
    random = "every part of that size is equally likely to leak; the attacker knows all quasi-identifiers"
    for risk in found.leaks.risks:
        if risk.targets == 1:
            yield Statement(
                "leaks",
                f"{risk.share_leaked:.0%} leaks",
                risk.probability,
                share(risk.probability),
                f"The chance ({risk.odds}) that a given person is named from a leak of {people(risk.leaked)}.",
                "exact",
                random,
            )
    largest = found.leaks.largest
    yield Statement(
        "leaks",
        "largest leak within the threshold",
        largest.share,
        f"{people(largest.leaked)} ({share(largest.share)})",
        f"A larger leak names a given person with a chance above {100 * largest.at_most:.3g}%."
        if largest.share < 1
        else f"Even if all of it leaks, a given person is named with a chance of at most {100 * largest.at_most:.3g}%.",
        "exact",
        random,
    )


def _secrets_left(found: Assessment) -> Iterator[Statement]:
    """The least hidden secret after each protection."""
    for cost in found.protection.costs if found.protection else ():
        if cost.secrets:
            worst = max(cost.secrets, key=lambda secret: (secret.given_away, secret.t))
            yield Statement(
                "secrets left",
                f"k = {cost.k}: {worst.column}",
                worst.given_away,
                f"certain for {share(worst.given_away)}",
                f"The least hidden secret after that: the records for which it is certain (l = {worst.l}, "
                f"t = {worst.t:.2f}).",
                "counted on the protected table",
                "the attacker knows every quasi-identifier, and that the person is in the table",
            )


def _protection(found: Assessment) -> Iterator[Statement]:
    if found.protection is None:
        return
    for cost in found.protection.costs:
        yield Statement(
            "protection",
            f"k = {cost.k}",
            cost.risk,
            f"risk {share(cost.risk)}, detail kept {share(cost.granularity)}",
            f"After protection everybody looks like at least {cost.k - 1} others."
            + ("" if cost.population_risk is None else f" In the table alone: {share(cost.correctness)}."),
            "counted on the protected table"
            if cost.population_limits is None
            else f"estimated from its class sizes; certain is {share(cost.population_limits[0])} to "
            f"{share(cost.population_limits[1])}",
            f"protected by {found.protection.method}"
            + ("" if cost.population_risk is None else "; a class is as common in the population as in the table"),
        )
