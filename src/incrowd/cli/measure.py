"""`incrowd measure`: class sizes and other facts about a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from incrowd._support.addresses import masked
from incrowd.cli import command_files, options, terminal
from incrowd.cli.measure_text import MeasureAnswer, plain, show
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError
from incrowd.recipients import is_within
from incrowd.wording import number

if TYPE_CHECKING:
    from incrowd.measures import Measurement
    from incrowd.tables import Table

_MAX_ROWS_TO_SEARCH = 200_000  # larger tables are not searched for masked values


@opens_table
def measure_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    person: options.Person = None,
    household: options.Household = None,
    relationship: Annotated[
        str | None, Option(help="With --household: column of who somebody is in it; the attacker knows it too.")
    ] = None,
    groups: Annotated[
        list[str] | None, Option(help="What attackers know together: census=age,sex spatial=zip …")
    ] = None,
    sets: Annotated[int | None, Option(help="Also: the risk of every set of at most this many columns.")] = None,
    minimal: Annotated[
        int | None, Option(help="Also: the smallest sets, up to this many columns, that single people out.")
    ] = None,
    min_k: Annotated[int | None, Option(min=1, help="Exit 1 if the smallest class is smaller.")] = None,
    max_risk: options.MaxRisk = None,
    fit: Annotated[
        bool, Option("--fit", help="Masked values: also count who is unique by the values that ranges and * cover.")
    ] = False,
    domain: Annotated[
        list[str] | None, Option(help="With --fit: values that a column can have, age=0:85; * covers them too.")
    ] = None,
    item: Annotated[str | None, Option(help="Instead: sets of items of a person (--person), k^m-anonymity.")] = None,
    known: Annotated[int, Option(min=1, help="With --item: how many items an attacker knows.")] = 2,
    records: Annotated[
        str | None, Option(help="Write the table with every record's class size: .parquet."), command_files.STORED_TABLE
    ] = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Count the people who look alike, and what each group gives away."""
    from incrowd import evaluation, measures  # each function is imported where it is called
    from incrowd.backends.class_size_writer import check_name
    from incrowd.classes import write_class_sizes

    if domain and not fit:
        raise InputError("--domain says what * covers when --fit counts; add --fit")
    domains = dict(_read_domain(text) for text in domain or [])
    if item is not None:
        _measure_items(table, person, item, known, min_k, json=json)
        return
    by_name = options.parse_groups(groups)
    columns = options.quasi_identifiers(qi, table, dict.fromkeys(name for group in by_name.values() for name in group))
    for flag, is_given in (("--fit", fit), ("--minimal", minimal is not None), ("--records", records is not None)):
        if person is not None and is_given:
            raise InputError(f"{flag} looks at records, not at people with several; leave out --person or {flag}")
    if relationship is not None and household is None:
        raise InputError("--relationship says who somebody is in a household; add --household")
    options.check_max_risk(max_risk)
    if records is not None:
        check_name(records)
    place = None if records is None else command_files.place_of(records)
    with terminal.show_progress("counting people who look alike") as progress:
        how: dict[str, Any] = {"person": person, "progress": progress}
        secrets = options.parse_names(sensitive, table.columns)
        answer = MeasureAnswer(
            measures.measure(table, quasi_identifiers=columns, sensitive=secrets, **how),
            measures.risk_by_group(table, by_name, **how) if by_name else (),
            measures.risk_by_subset(table, columns, up_to=sets, **how) if sets is not None else (),
            measures.minimal_sets(table, columns, up_to=minimal, progress=progress) if minimal is not None else None,
            None
            if household is None
            else measures.household_risk(
                table, household=household, quasi_identifiers=columns, relationship=relationship
            ),
            evaluation.count_fitting_uniques(table, quasi_identifiers=columns, domains=domains, progress=progress)
            if fit
            else None,
        )
        if place is not None:
            progress("writing the class size of every record", 0.95)
            write_class_sizes(table, place, quasi_identifiers=columns, force=force)
    if not fit and person is None:
        _note_masked_values(table, columns)
    if person is not None:
        _note_mixed_groups(table, person)
    for text in answer.measurement.notes[len(table.notes) :]:
        terminal.note(text)
    if json:
        terminal.print_json(plain(answer))
    else:
        show(answer)
        if place is not None:
            terminal.line(f"The size of every record's class is in {masked(str(place))}, in the column class_size.")
    options.exit_over_threshold(*_crossed(answer.measurement, min_k, max_risk))


def _read_domain(text: str) -> tuple[str, tuple[float, float]]:
    """A column, and the smallest and the largest value that it can have.

    >>> _read_domain("age=0:85")
    ('age', (0.0, 85.0))
    """
    name, _, limits = text.rpartition("=")
    low, _, high = limits.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise InputError(f"cannot read the domain {text!r}; write --domain age=0:85") from None


def _note_mixed_groups(table: Table, person: str) -> None:
    """Print that rows of one value of the person column look like several people, unless the table is too large."""
    from incrowd.tables import suggest_roles
    from incrowd.tables.roles.mixed_groups import find_mixed_groups

    if table.rows <= _MAX_ROWS_TO_SEARCH and (mixed := find_mixed_groups(table, person, suggest_roles(table))):
        terminal.note(
            f"{person} may not say whose record it is: {mixed.reason}; without --person every row is a person"
        )


def _note_masked_values(table: Table, columns: Sequence[str]) -> None:
    """Print which columns hold masked values, unless the table is too large to search or in a cluster."""
    from incrowd.evaluation import generalised_columns

    may_search = table.rows <= _MAX_ROWS_TO_SEARCH and table.backend.rows_are_local
    if may_search and (coarse := generalised_columns(table, columns)):
        where = ", ".join(coarse)
        terminal.note(f"masked values in {where} are counted as they are written; --fit counts what they stand for")


def _crossed(measurement: Measurement, min_k: int | None, max_risk: float | None) -> Iterator[str]:
    """The stated thresholds that are crossed, in words."""
    if min_k is not None and measurement.k < min_k:
        yield f"the smallest class has {measurement.k:,} people, at least {min_k:,} were asked for"
    if max_risk is not None and not is_within(measurement.correctness, max_risk):
        yield f"the average risk is {number(measurement.correctness)}, at most {number(max_risk)} was asked for"


def _measure_items(table: Table, person: str | None, item: str, known: int, min_k: int | None, *, json: bool) -> None:
    """Measure and print the k^m-anonymity of sets of items."""
    from incrowd.measures import itemset_anonymity

    if person is None:
        raise InputError("--item needs the column that says whose item it is: add --person")
    with terminal.show_progress("counting sets of items") as progress:
        shared = itemset_anonymity(table, person=person, item=item, known=known, progress=progress)
    if json:
        terminal.print_json(shared.to_dict())
    else:
        terminal.result(shared)
    if min_k is not None and shared.k < min_k:
        options.exit_over_threshold(f"some items are shared by {shared.k:,}, at least {min_k:,} were asked for")
