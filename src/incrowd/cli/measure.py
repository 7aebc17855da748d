"""`incrowd measure`: the facts about a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.addresses import masked
from incrowd.cli import command_files, options, terminal
from incrowd.cli.measure_households import show_households
from incrowd.cli.measure_items import measure_items
from incrowd.errors import InputError
from incrowd.wording import number, percent, single_value

if TYPE_CHECKING:
    from incrowd.evaluation import Uniques
    from incrowd.measures import Diversity, KnowledgeRisk, Measurement, MinimalSets

_SETS_SHOWN = 15
_LOOKED_THROUGH = 200_000  # rows of the largest table that is looked through for masked values


@options.opens_table
def measure_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    person: options.Person = None,
    household: options.Household = None,
    relationship: Annotated[
        str | None,
        typer.Option("--relationship", help="With --household: who somebody is in it; its composition is then known."),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--groups", help="What attackers know together: census=age,sex spatial=zip …", show_default=False),
    ] = None,
    sets: Annotated[
        int | None, typer.Option("--sets", help="Also: the risk of every set of at most so many columns.")
    ] = None,
    minimal: Annotated[
        int | None, typer.Option("--minimal", help="Also: the smallest sets, up to so many columns, that single out.")
    ] = None,
    min_k: Annotated[
        int | None, typer.Option("--min-k", min=1, help="Exit 1 if the smallest class is smaller.")
    ] = None,
    max_risk: options.MaxRisk = None,
    fit: Annotated[
        bool,
        typer.Option("--fit", help="Masked values: also count who is unique by what ranges and * stand for."),
    ] = False,
    item: Annotated[
        str | None, typer.Option("--item", help="Instead: sets of items of a person (--person), k^m-anonymity.")
    ] = None,
    known: Annotated[int, typer.Option("--known", min=1, help="With --item: how many items an attacker knows.")] = 2,
    records: Annotated[
        str | None,
        typer.Option("--records", help="Write the table with every record's class size: .parquet."),
        command_files.STORED_TABLE,
    ] = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Count the people who look alike, and what each group gives away."""
    from incrowd.classes import write_class_sizes
    from incrowd.evaluation import count_fitting_uniques, generalised_columns
    from incrowd.measures import household_risk, measure, minimal_sets, risk_by_group, risk_by_subset

    if item is not None:
        if measure_items(table, person, item, known, min_k, json=json):
            raise typer.Exit(1)
        return
    by_name = options.groups(groups)
    wanted = options.quasi_identifiers(qi, table, dict.fromkeys(name for group in by_name.values() for name in group))
    for flag, is_given in (("--fit", fit), ("--minimal", minimal is not None), ("--records", records is not None)):
        if person is not None and is_given:
            raise InputError(f"{flag} looks at records, not at people with several; leave out --person or {flag}")
    if relationship is not None and household is None:
        raise InputError("--relationship says who somebody is in a household; add --household")
    options.check_share(max_risk, "--max-risk")
    place = None if records is None else _records_place(records)
    with terminal.working("counting people who look alike") as progress:
        measurement = measure(
            table,
            quasi_identifiers=wanted,
            sensitive=options.names(sensitive, table.columns),
            person=person,
            progress=progress,
        )
        homes = (
            household_risk(table, household=household, quasi_identifiers=wanted, relationship=relationship)
            if household is not None
            else None
        )
        by_group = risk_by_group(table, by_name, person=person, progress=progress) if by_name else ()
        by_set = risk_by_subset(table, wanted, up_to=sets, person=person, progress=progress) if sets is not None else ()
        single = minimal_sets(table, wanted, up_to=minimal, progress=progress) if minimal is not None else None
        if place is not None:
            progress("writing the class size of every record", 0.95)
            write_class_sizes(table, place, quasi_identifiers=wanted, force=force)
        fitting = count_fitting_uniques(table, quasi_identifiers=wanted, progress=progress) if fit else None
    if not fit and person is None and table.backend.rows_are_local and table.rows <= _LOOKED_THROUGH:
        _note_masked(generalised_columns(table, wanted))
    for text in measurement.notes[len(table.notes) :]:
        terminal.note(text)
    if json:
        plain = _plain(measurement, by_group, by_set, single)
        if fitting is not None:
            plain |= {"unique_by_fit": fitting.unique, "undecided": fitting.undecided}
        if homes is not None:
            plain["households"] = homes.to_dict()
        terminal.as_json(plain)
    else:
        _show(measurement, by_group, by_set, single)
        if homes is not None:
            show_households(homes)
        if fitting is not None:
            _show_fitting(fitting, measurement.records)
        if place is not None:
            terminal.line(f"The size of every record's class is in {masked(str(place))}, in the column class_size.")
    if _over(measurement, min_k, max_risk):
        raise typer.Exit(1)


def _note_masked(columns: list[str]) -> None:
    if columns:
        terminal.note(
            f"masked values in {', '.join(columns)} are counted as they are written; --fit counts what they stand for"
        )


def _show_fitting(fitting: Uniques, records: int) -> None:
    undecided = f"; {fitting.undecided:,} of them undecided, counted as unique" if fitting.undecided else ""
    terminal.line(
        f"By what masked values stand for, {fitting.unique:,} of {records:,} records "
        f"({percent(fitting.unique / records)}) are unique: some value of theirs fits no other record{undecided}."
    )


def _records_place(records: str) -> str | Path:
    if not records.lower().endswith((".parquet", ".pq")):
        raise InputError(f"records are written by the engine, as Parquet; name it {Path(masked(records)).stem}.parquet")
    return command_files.place_of(records)


def _plain(
    measurement: Measurement,
    by_group: Sequence[KnowledgeRisk],
    by_set: Sequence[KnowledgeRisk],
    single: MinimalSets | None,
) -> dict[str, Any]:
    plain = measurement.to_dict()
    if by_group:
        plain["by_group"] = [risk.to_dict() for risk in by_group]
    if by_set:
        plain["by_set"] = [risk.to_dict() for risk in by_set]
    if single:
        plain["minimal_sets"] = single.to_dict()
    return plain


def _show(
    measurement: Measurement,
    by_group: Sequence[KnowledgeRisk],
    by_set: Sequence[KnowledgeRisk],
    single: MinimalSets | None,
) -> None:
    known = len(measurement.quasi_identifiers)
    terminal.heading(f"Who can be picked out by {known} attribute{'s' if known > 1 else ''}")
    terminal.table(("", "", "what it means"), _facts(measurement))
    for column in measurement.sensitive:
        terminal.heading(f"What classes give away about {column.column}")
        terminal.table(("", "", "what it means"), _secrets(column))
    if by_group:
        terminal.heading("By what the attacker knows")
        terminal.table(("knows", "unique", "named correctly", "smallest class"), [_risk_row(risk) for risk in by_group])
    if by_set:
        terminal.heading(f"The {min(_SETS_SHOWN, len(by_set))} most telling of {len(by_set):,} sets of attributes")
        worst = sorted(by_set, key=lambda risk: (-risk.classes, len(risk.columns)))[:_SETS_SHOWN]
        terminal.table(("knows", "unique", "named correctly", "smallest class"), [_risk_row(risk) for risk in worst])
    if single:
        _show_minimal(single)


def _facts(measurement: Measurement) -> list[tuple[str, str, str]]:
    """The facts as rows: name, number, sentence."""
    lone, people = measurement.uniques, measurement.people
    rows = [
        ("people", f"{people:,}", f"in {measurement.records:,} records" if measurement.person else "one record each"),
        ("classes", f"{measurement.classes:,}", "groups of people who share all of these attributes"),
        ("smallest class (k)", f"{measurement.k:,}", _k_in_words(measurement.k)),
        ("unique", f"{lone:,} ({percent(measurement.uniqueness)})", "people nobody else in the table looks like"),
        ("largest class", f"{measurement.largest_class:,}", "people who all look alike"),
        (
            "average risk (κ)",
            number(measurement.correctness),
            f"an attacker who guesses for everybody names {measurement.expected_reidentifications:,} of them",
        ),
        ("highest risk", number(measurement.maximum_risk), "the chance of naming the person easiest to name"),
    ]
    rows += [
        (f"in classes below {k}", percent(measurement.share_below(k)), f"people with fewer than {k - 1} look-alikes")
        for k in (3, 5, 10)
    ]
    return rows


def _k_in_words(k: int) -> str:
    if k == 1:
        return "somebody stands alone"
    return f"everybody looks like at least {k - 1} other{'s' if k > 2 else ''}"


def _secrets(column: Diversity) -> list[tuple[str, str, str]]:
    """One sensitive column as rows: name, number, sentence."""
    distance = "by rank" if column.ordered_t is not None else "all values equally far"
    rows = [
        ("given away", percent(column.given_away), "records in classes where everybody has the same value"),
        ("distinct l", f"{column.distinct}", "fewest different values in a class"),
        ("entropy l", number(column.entropy_l), "fewest values in a class, counting rare ones less"),
        ("t", number(column.t), f"farthest a class is from the table ({distance}); 0 tells nothing"),
        ("α", number(column.alpha), "largest share one value has of a class"),
        ("β", single_value(column.beta), "largest relative gain in knowing a value, from its share in the table"),
        ("δ", number(column.delta), "largest |ln| of a value's share in a class over its share in the table"),
    ]
    if column.recursive_c is not None:
        rows.insert(
            3, ("c", single_value(column.recursive_c), f"(c, {column.distinct})-diverse for every c above this")
        )
    return rows


def _risk_row(risk: KnowledgeRisk) -> tuple[str, str, str, int]:
    return risk.label, percent(risk.uniqueness), percent(risk.correctness), risk.smallest


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


def _over(measurement: Measurement, min_k: int | None, max_risk: float | None) -> bool:
    """Whether a stated threshold is crossed; says which."""
    over = False
    if min_k is not None and measurement.k < min_k:
        terminal.note(
            f"over the threshold: the smallest class has {measurement.k:,} people, at least {min_k:,} were asked for"
        )
        over = True
    if max_risk is not None and measurement.correctness > max_risk:
        terminal.note(
            f"over the threshold: the average risk is {number(measurement.correctness)}, at most {number(max_risk)} "
            "was asked for"
        )
        over = True
    return over
