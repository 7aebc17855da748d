"""The unit of a row: a person, a person at one time, one of several records, or no person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incrowd.results import Result
from incrowd.tables.roles.amounts import is_numbering, is_of_home, shares_exact_amounts
from incrowd.tables.roles.column_facts import count_distinct_rows
from incrowd.tables.roles.column_role import Confidence, SuggestedRole
from incrowd.tables.roles.linked_rows import find_linked_rows, find_runs, may_be_households
from incrowd.tables.roles.mixed_groups import find_mixed_groups
from incrowd.tables.roles.names import find_topics, word_pattern, words_of
from incrowd.tables.roles.suggest import suggest_roles
from incrowd.tables.table import Table
from incrowd.wording import listed, one_decimal

KindOfRows = Literal["people", "panel", "households", "transactions", "not people"]
_ONCE = 0.995  # distinct pairs of values for each row, from which two columns together number the rows
_MET = 0.02  # share of the rows, at least, that would repeat a value of the same person by chance
_REPEATED = 1.2  # rows for each number, from which people are numbered and not rows
_HOUSEHOLD = 15  # rows for each number, below which they may be those of a household
_TIMES = 400  # largest number of distinct waves, years or months; timestamps have more
_ABOUT_PEOPLE = {"age", "birth", "sex", "marital status", "ethnicity", "religion", "education", "person name"}


@dataclass(frozen=True, slots=True)
class RowKind(Result):
    """The apparent unit of the rows, the reason, and the columns that show it.

    "people": one row for each; "panel": people at several times; "households": people grouped by household;
    "transactions": several records for each person; "not people": areas, firms, or counts of people.
    """

    kind: KindOfRows
    reason: str
    confidence: Confidence
    person: str | None = None
    household: str | None = None
    time: str | None = None


def describe_rows(table: Table, suggested: Sequence[SuggestedRole] | None = None) -> RowKind:
    """Suggest the unit of the rows of a table, with the reason; a person should confirm it.

    Args:
        table: The table, as `read_table` gives it.
        suggested: Roles that were suggested for all its columns already; without them they are suggested now.

    Returns:
        The kind of rows and the columns of persons, households and time that say so.

    Raises:
        InputError: Texts are not UTF-8.

    >>> from incrowd import read_table
    >>> table = read_table({"person_id": [n // 2 for n in range(100)], "wave": [1, 2] * 50, "age": [30, 31] * 50})
    >>> describe_rows(table).kind
    'panel'
    """
    columns = suggest_roles(table) if suggested is None else suggested
    return (
        _several_rows_each(table, columns)
        or _households(table, columns)
        or _no_people(table, columns)
        or _linked(table, columns)
        or _counted_anew(table, columns)
        or _one_row_each(columns)
    )


def _several_rows_each(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    repeated = [one for one in columns if one.topic in _NUMBERS and 1.02 * one.distinct < one.rows - one.nulls]
    persons = [one for one in repeated if one.role == "person"] or [one for one in repeated if one.role == "identifier"]
    for person in persons:
        each = (person.rows - person.nulls) / max(person.distinct, 1)
        for time in _times(columns):
            if count_distinct_rows(table, [person.column, time.column]) >= _ONCE * person.rows:
                reason = (
                    f"each value of {person.column} occurs {one_decimal(each)} times, and at most once for each value "
                    f"of {time.column}: the same people at several times, or numbers that start again each time"
                )
                sure: Confidence = "high" if person.role == "person" else "medium"
                return RowKind("panel", reason, sure, person.column, time=time.column)
        mixed = find_mixed_groups(table, person.column, columns) if each < _HOUSEHOLD and _is_named(person) else None
        if mixed is not None:
            return RowKind("households", mixed.reason, "medium", household=person.column)
        if person.role == "person":
            doubtful = person.confidence == "low"
            says = "may say" if doubtful else "says"
            reason = f"{person.column} {says} whose record it is, and has {one_decimal(each)} rows for each value"
            return RowKind("transactions", reason, "low" if doubtful else "high", person.column)
        if each >= _REPEATED:
            reason = f"{person.column} numbers people or records, and has {one_decimal(each)} rows for each value"
            return RowKind("transactions", reason, "medium", person.column)
    return _numbered_by_time(table, columns)


def _is_named(one: SuggestedRole) -> bool:
    """True if the name of a column says that it numbers people."""
    return any(found.topic == "person number" for found in find_topics(one.column))


def _numbered_by_time(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    """A panel recognised by its form: a whole number that, combined with a time, differs in every row."""
    for time in _times(columns):
        for one in (column for column in columns if column.column != time.column):
            each = (one.rows - one.nulls) / max(one.distinct, 1)
            fits = one.kind == "integer" and not one.nulls and 1.5 <= each <= time.distinct and one.distinct >= 20
            if fits and count_distinct_rows(table, [one.column, time.column]) == one.rows:
                reason = (
                    f"each value of {one.column} occurs {one_decimal(each)} times, and never twice for one "
                    f"{time.column}: the same people at several times"
                )
                return RowKind("panel", reason, "medium", one.column, time=time.column)
    return None


def _linked(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    """Several records for each person or household, recognised by what rows with a common value share."""
    linked = find_linked_rows(table, columns)
    if linked is None:
        return None
    column, shown_by = linked
    of_home = next((one for one in columns if one.column == column and is_of_home(one)), None)
    if shown_by:
        reason = f"rows that share a value of {column} agree in {listed(shown_by)} nearly always"
    elif of_home is not None and not shares_exact_amounts(table, of_home):
        reason = (
            f"few rows share a value of {column}, and those that do agree in another column more often than by chance"
        )
    else:
        reason = f"rows share values of {column} to the last digit, far more often than chance makes them"
    reason += ": they look like several records of one person, or people of one household"
    link = next(one for one in columns if one.column == column)
    numbers = is_numbering(table, link)  # nobody is numbered by a logarithm
    at_home = of_home is not None or (shown_by and (numbers or may_be_households(link)))
    person, household = column if shown_by and numbers else None, column if at_home else None
    return RowKind("transactions", reason, "medium", person=person, household=household)


def _counted_anew(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    """Several records each, recognised by row order: a number or a time increases from row to row, and restarts."""
    found = find_runs(table, columns)
    if found is None:
        return None
    column, times, shown_by = found
    reason = (
        f"from row to row {column} counts up, and starts again {times:,} times, and rows agree in {shown_by} until it "
        "does: several records each"
    )
    return RowKind("transactions", reason, "medium")


_NUMBERS = {"person number", "record number"}


def _times(columns: Sequence[SuggestedRole]) -> list[SuggestedRole]:
    """Columns that give the time of a row, one of a few."""
    return [
        one
        for one in columns
        if 1 < one.distinct <= _TIMES and (one.topic == "time" or (one.topic == "date" and one.distinct < one.rows / 2))
    ]


def find_times(table: Table, person: str, columns: Sequence[SuggestedRole], among: Sequence[str]) -> tuple[str, ...]:
    """Find columns that number the records of each person: a wave, a year, a visit, whatever their names.

    A person has each of few values at most once, although values assigned at random would repeat far more often.

    Args:
        table: the table.
        person: the column that identifies the person of each record.
        columns: what `suggest_roles` found about all columns.
        among: the names of the columns that may be such.

    >>> from incrowd import read_table
    >>> table = read_table({"p": [n // 3 for n in range(90)], "x": [1, 2, 3] * 30, "sex": ["f", "m", "f"] * 30})
    >>> find_times(table, "p", suggest_roles(table), ["x", "sex"])
    ('x',)
    """
    people = next((one.distinct for one in columns if one.column == person), 0)
    each = table.rows / max(people, 1)
    return tuple(
        one.column
        for one in columns
        if one.column in among
        and 1 < one.distinct <= _TIMES
        and (each - 1) / (2 * one.distinct) >= _MET
        and count_distinct_rows(table, [person, one.column]) >= _ONCE * table.rows
    )


def _households(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    households = [one for one in columns if one.topic == "household number" and one.distinct > 1]
    inside = next((one for one in columns if one.topic == "person within household"), None)
    for household in households:
        each = (household.rows - household.nulls) / household.distinct
        if each <= 1.02:
            continue
        number = inside or _numbered_within(columns)
        if number and count_distinct_rows(table, [household.column, number.column]) >= _ONCE * household.rows:
            reason = (
                f"{household.column} and {number.column} together number the rows: people within households, "
                f"{one_decimal(each)} rows each"
            )
            return RowKind("households", reason, "high", household=household.column)
        if each < _HOUSEHOLD:
            size = f"{one_decimal(each)} rows each"
            reason = f"{household.column} groups rows by household, {size}: people who know each other"
            return RowKind("households", reason, "medium", household=household.column)
    if households and not _is_about_people(columns, at_least=2):
        reason = f"{households[0].column} numbers households, and no value occurs twice: one row for each household"
        return RowKind("households", reason, "medium", household=households[0].column)
    return None


def _numbered_within(columns: Sequence[SuggestedRole]) -> SuggestedRole | None:
    """A small whole number named after a person, as `pid` is within a household."""
    return next((one for one in columns if one.topic == "person number" and one.distinct < 60), None)


def _no_people(table: Table, columns: Sequence[SuggestedRole]) -> RowKind | None:
    counting = [one.column for one in columns if _counts_people(one)]
    if len(counting) == 1 and 2 <= len(columns) <= 8 and _combinations_differ(table, columns, counting[0]):
        reason = f"{counting[0]} counts, and the other columns differ in each row: a table of counts"
        return RowKind("not people", reason, "medium")
    if _is_about_people(columns, at_least=3):
        return None
    alone = [one for one in columns if _names_areas(one) and one.distinct == one.rows > 1]
    if alone and (counting or not _is_about_people(columns, at_least=1)):
        with_counts = f", with counts in {counting[0]}" if counting else ""
        reason = f"{alone[0].column} names an area, a different one in each row{with_counts}"
        return RowKind("not people", reason, "high" if counting else "medium")
    is_of_firms = word_pattern("rows", "firms").search
    firms = [one.column for one in columns if is_of_firms(words_of(one.column))]
    if len(firms) >= 2 and not _is_about_people(columns, at_least=1):
        reason = f"{' and '.join(firms[:2])} are about firms, and no column is about a person"
        return RowKind("not people", reason, "medium")
    return None


def _names_areas(one: SuggestedRole) -> bool:
    topics = [evidence.topic for evidence in find_topics(one.column)]
    return one.kind in {"text", "integer"} and bool({"area", "country"} & {*topics[:1]})


def _counts_people(one: SuggestedRole) -> bool:
    return (
        one.kind in {"integer", "number"}
        and one.distinct > 2
        and bool(word_pattern("rows", "counts").search(words_of(one.column)))
    )


def _is_about_people(columns: Sequence[SuggestedRole], *, at_least: int) -> bool:
    return len({one.topic for one in columns} & _ABOUT_PEOPLE) >= at_least


def _one_row_each(columns: Sequence[SuggestedRole]) -> RowKind:
    about_people = _is_about_people(columns, at_least=2)
    number = next((one for one in columns if one.role == "identifier" and one.distinct == one.rows), None)
    if number is not None:
        reason = f"{number.column} differs in every row, and nothing says that people have several rows"
        return RowKind("people", reason, "high" if about_people else "medium")
    if about_people:
        return RowKind("people", "columns are about people, and none says that people have several rows", "medium")
    return RowKind("people", "nothing says what a row is; taken as one person each, which a person must confirm", "low")


def _combinations_differ(table: Table, columns: Sequence[SuggestedRole], counted: str) -> bool:
    """True if no combination of the other columns occurs twice, as in a table of counts."""
    others = [one.column for one in columns if one.column != counted and one.kind != "nested"]  # lists do not compare
    rows = columns[0].rows
    most = 1.0
    for one in columns:
        most *= max(one.distinct, 1) if one.column != counted else 1
    return rows > 3 and rows >= 0.2 * most and count_distinct_rows(table, others) == rows
