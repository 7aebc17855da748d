"""Output of `incrowd measure`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.cli import terminal
from incrowd.results import as_json
from incrowd.wording import number, people, percent, single_value

if TYPE_CHECKING:
    from incrowd.evaluation import Uniques
    from incrowd.measures import Diversity, HouseholdRisk, ItemsetAnonymity, KnowledgeRisk, Measurement, MinimalSets

_SETS_SHOWN = 15


@dataclass(frozen=True, slots=True)
class MeasureAnswer:
    """All results about one table; those that were not asked for are None or empty."""

    measurement: Measurement
    by_group: Sequence[KnowledgeRisk]
    by_set: Sequence[KnowledgeRisk]
    single: MinimalSets | None
    homes: HouseholdRisk | None
    fitting: Uniques | None


def plain(answer: MeasureAnswer) -> dict[str, Any]:
    """The results in plain JSON types."""
    fitting = answer.fitting
    parts = {
        "by_group": answer.by_group or None,
        "by_set": answer.by_set or None,
        "minimal_sets": answer.single,
        "unique_by_fit": None if fitting is None else fitting.unique,
        "undecided": None if fitting is None else fitting.undecided,
        "households": answer.homes,
    }
    return answer.measurement.to_dict() | {name: as_json(part) for name, part in parts.items() if part is not None}


def show(answer: MeasureAnswer) -> None:
    """Print the results in tables and sentences."""
    known, by_set = len(answer.measurement.quasi_identifiers), answer.by_set
    terminal.heading(f"Who can be picked out by {known} attribute{'s' if known > 1 else ''}")
    terminal.facts(_facts(answer.measurement))
    for column in answer.measurement.sensitive:
        terminal.heading(f"What classes give away about {column.column}")
        terminal.facts(_secrets(column))
    if answer.by_group:
        terminal.heading("By what the attacker knows")
        _show_risks(answer.by_group)
    if by_set:
        terminal.heading(f"The {min(_SETS_SHOWN, len(by_set))} most telling of {len(by_set):,} sets of attributes")
        _show_risks(sorted(by_set, key=lambda risk: (-risk.classes, len(risk.columns)))[:_SETS_SHOWN])
    if answer.single:
        _show_minimal(answer.single)
    if answer.homes is not None:
        _show_households(answer.homes)
    if answer.fitting is not None:
        _show_fitting(answer.fitting, answer.measurement.records)


def _show_risks(risks: Sequence[KnowledgeRisk]) -> None:
    terminal.table(
        ("knows", "unique", "named correctly", "smallest class"),
        [(risk.label, percent(risk.uniqueness), percent(risk.correctness), risk.smallest) for risk in risks],
    )


def _show_fitting(fitting: Uniques, records: int) -> None:
    undecided = f"; {fitting.undecided:,} of them undecided, counted as unique" if fitting.undecided else ""
    terminal.line(
        f"By what masked values stand for, {fitting.unique:,} of {records:,} records "
        f"({percent(fitting.unique / records)}) are unique: some value of theirs fits no other record{undecided}."
    )


def _facts(measured: Measurement) -> Iterator[terminal.Fact]:
    yield "people", f"{measured.people:,}", f"in {measured.records:,} records" if measured.person else "one record each"
    yield "classes", f"{measured.classes:,}", "groups of people who share all of these attributes"
    yield "smallest class (k)", f"{measured.k:,}", _k_in_words(measured.k)
    yield (
        "unique",
        f"{measured.uniques:,} ({percent(measured.uniqueness)})",
        "people nobody else in the table looks like",
    )
    yield "largest class", f"{measured.largest_class:,}", "people who all look alike"
    guessed = f"an attacker who guesses for everybody names {measured.expected_reidentifications:,} of them"
    yield "average risk (κ)", number(measured.correctness), guessed
    yield "highest risk", number(measured.maximum_risk), "the chance of naming the person easiest to name"
    for k in (3, 5, 10):
        yield f"in classes below {k}", percent(measured.share_below(k)), f"people with fewer than {k - 1} look-alikes"


def _k_in_words(k: int) -> str:
    return "somebody stands alone" if k == 1 else f"everybody looks like at least {k - 1} other{'s' if k > 2 else ''}"


def _secrets(column: Diversity) -> Iterator[terminal.Fact]:
    """Facts on what classes disclose about one sensitive column."""
    yield "one value", percent(column.given_away), "records in homogeneous classes, of missing and common values too"
    filled = "" if column.filled_distinct == column.distinct else f"; {column.filled_distinct} without missing values"
    yield "distinct l", f"{column.distinct}", f"fewest different values in a class{filled}"
    yield "entropy l", number(column.entropy_l), "fewest values in a class, counting rare ones less"
    if column.recursive_c is not None:
        yield "c", single_value(column.recursive_c), f"(c, {column.distinct})-diverse for every c above this"
    distance = "by rank" if column.ordered_t is not None else "all values equally far"
    yield "t", number(column.t), f"farthest a class is from the table ({distance}); 0 tells nothing"
    yield "α", number(column.alpha), "largest share one value has of a class"
    yield "β", single_value(column.beta), "largest relative gain in knowing a value, from its share in the table"
    yield "δ", number(column.delta), "largest |ln| of a value's share in a class over its share in the table"


def _show_minimal(single: MinimalSets) -> None:
    terminal.heading(f"The fewest attributes that single people out (sets of at most {single.up_to})")
    by_size = [
        (f"{size} or fewer", single.singled_out_by(size), percent(single.singled_out_by(size) / single.records))
        for size in range(1, single.up_to + 1)
    ]
    terminal.table(("attributes known", "records", "share"), by_size)
    worst = sorted(single.singled_out.items(), key=lambda item: -item[1])[:_SETS_SHOWN]
    if worst:
        terminal.table(("set", "singles out"), [(", ".join(columns), people) for columns, people in worst])
    parts = sorted(single.contribution.items(), key=lambda item: -item[1])
    terminal.line("How often each attribute is in a set that singles somebody out, small sets counting for more; a set")
    terminal.line("counts for all its attributes, so shares add up to more than 100%:")
    terminal.table(("attribute", "share of the score"), [(name, percent(part)) for name, part in parts])


def _show_households(homes: HouseholdRisk) -> None:
    terminal.heading(f"Households, by {homes.household}: the risk that any of their members is found")
    terminal.table(
        ("the attacker knows", "average", "of people", "highest", "found for certain"),
        [
            (row.knows, percent(row.average), percent(row.average_of_people), percent(row.highest), f"{row.certain:,}")
            for row in homes.by_knowledge
        ],
    )
    terminal.line(
        f"{homes.households:,} households of {homes.people:,} people, the largest of {homes.largest:,}. An attacker "
        "who finds one member has found the others."
    )


def show_items(shared: ItemsetAnonymity, known: int) -> None:
    """Print the k^m-anonymity of sets of items (`--item`)."""
    terminal.heading(f"Who can be picked out by up to {known} of their items (k^m-anonymity)")
    sizes = enumerate(zip(shared.smallest, shared.sets, shared.alone, strict=True), start=1)
    terminal.table(
        ("items known", "fewest people who share them", "sets", "sets of a single person"),
        [(size, k, sets, f"{alone:,} ({percent(alone / sets)})") for size, (k, sets, alone) in sizes],
    )
    terminal.line(
        f"{shared.people:,} people with {shared.items:,} different items: an attacker who knows up to {known} items of "
        f"a person is left with at least {people(shared.k)}, which is k^{known}-anonymity with k = {shared.k:,}."
    )
