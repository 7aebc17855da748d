"""Single columns of a table: role and scale, the risk each adds if others know it, the distribution of its values."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.backends import encode
from incrowd.figures.column_spread import count_values
from incrowd.tables.formats import takes_option
from incrowd.web import column_models as models
from incrowd.web.cells import cell_text
from incrowd.web.crowd import settle_columns
from incrowd.web.session_table import OpenTable

_OTHERS = 2  # further columns that an attacker knows besides the one that is shown


def list_columns(table: OpenTable) -> models.Triage:
    """The columns with their roles, suggestions, scales and codes that may mean a missing value."""
    info, hints, file = table.info(), table.reading_hints(), table.table.source or ""
    stated = info.reading.scales
    columns = [
        models.TriageColumn(
            **column.model_dump(),
            confidence=one.confidence,
            topic=one.topic,
            scale=table.table.scale_of(one.column),
            scale_stated=stated.get(one.column),
            scale_suggested=hints.scales.get(one.column),
            missing_codes=list(hints.missing_codes.get(one.column, ())),
        )
        for column, one in zip(info.columns, table.columns, strict=True)
    ]
    return models.Triage(
        decided=sum(one.decided for one in columns),
        reading=info.reading,
        takes_null=file.lower().endswith(".zip") or takes_option(file, "null"),
        columns=columns,
    )


def count_added(table: OpenTable, question: models.AddsQuestion) -> models.Adds:
    """The people whom each asked column singles out, alone and with the two most telling of the other known columns.

    In a table in which everybody stands out already, leaving one column out would show nothing.
    """
    known, person = settle_columns(table, question)
    asked = list(dict.fromkeys(question.columns))
    table.check_names(asked)
    telling = _most_telling([name for name in known if name != person], table, person)
    columns = []
    for name in asked:
        others = [one for one in telling if one != name][:_OTHERS]
        columns.append(
            models.Added(
                column=name,
                alone=_count_uniques(table, [name], person),
                together=_count_uniques(table, [name, *others], person),
                others=others,
            )
        )
    return models.Adds(people=table.count(known, person).people, columns=columns)


def _count_uniques(table: OpenTable, names: Sequence[str], person: str | None) -> int:
    """The people who are unique by some columns; the person column itself tells everybody apart."""
    if person in names:
        return table.count([], person).people
    return table.count(names, person).uniques


def _most_telling(known: Sequence[str], table: OpenTable, person: str | None) -> list[str]:
    """The known columns that together make most classes, chosen one after the other; one more than are shown."""
    chosen: list[str] = []
    while len(chosen) <= _OTHERS and len(chosen) < len(known):
        rest = [name for name in known if name not in chosen]
        chosen.append(max(rest, key=lambda name: table.count([*chosen, name], person).classes))
    return chosen


def draw_histogram(table: OpenTable, question: models.HistogramQuestion) -> models.Histogram:
    """Distribution of a column: counts of ranges of numbers and dates, or of the most common values."""
    table.check_names([question.column])
    (column,) = encode(table.table, [question.column])
    bins = count_values(column, question.bins, round_axis=question.round_axis)
    labels = [cell_text(column.values[code].as_py()) for code in bins.codes] if question.show else None
    return models.Histogram(
        column=question.column,
        kind=bins.kind,
        counts=bins.counts,
        edges=bins.edges if question.show or question.round_axis else None,
        labels=labels if bins.kind == "values" else None,
        missing=bins.missing,
        others=bins.others,
        masked=not question.show,
    )
