"""Single columns of a table: role and scale, the risk each adds if others know it, the distribution of its values."""

from __future__ import annotations

from incrowd.backends import encode
from incrowd.figures.column_spread import count_values
from incrowd.tables.formats import takes_option
from incrowd.web import column_models as models
from incrowd.web.cells import cell_text
from incrowd.web.crowd import settle_columns
from incrowd.web.session_table import OpenTable


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
    """The risk that each asked column adds to that of the other known columns."""
    known, person = settle_columns(table, question)
    asked = list(dict.fromkeys(question.columns))
    table.check_names(asked)
    now = table.count(known, person)
    columns = []
    for name in asked:
        is_known = name in known
        other = [one for one in known if one != name] if is_known else [*known, name]
        then = now if name == person else table.count(other, person)
        sign = -1 if is_known else 1
        columns.append(
            models.Added(
                column=name,
                known=is_known,
                uniques=then.uniques,
                correctness=then.correctness,
                added_uniques=sign * (then.uniques - now.uniques),
                added_correctness=sign * (then.correctness - now.correctness),
            )
        )
    return models.Adds(people=now.people, uniques=now.uniques, correctness=now.correctness, columns=columns)


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
