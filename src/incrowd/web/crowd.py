"""The crowd of a table: class sizes with marks to draw, the records at highest risk, and one record in detail."""

from __future__ import annotations

import time
from collections.abc import Sequence

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.figures.crowd_marks import MOST_MARKS, crowd_marks
from incrowd.measures.single_records import rarest_records, see_record
from incrowd.web import crowd_models as models
from incrowd.web.cells import MASK, cell_text, masked_cell
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable, crowd_sentence
from incrowd.web.tasks.table_question import decided_question
from incrowd.wording import counted, listed


def describe_crowd(table: OpenTable, question: models.CrowdQuestion) -> models.Crowd:
    """Class sizes by some columns, with marks to draw."""
    started = time.perf_counter()
    names, person = settle_columns(table, question)
    sizes = table.count(names, person)
    limits = decided_question(table).limits
    return models.Crowd(
        people=sizes.people,
        records=sizes.records,
        classes=sizes.classes,
        sizes=sizes.sizes.tolist(),
        counts=sizes.counts.tolist(),
        marks=models.Marks(**crowd_marks(table.table, names, person, sizes)._asdict()),
        limits=models.CrowdLimits(highest=limits.highest, average=limits.average, class_size=limits.class_size),
        seconds=time.perf_counter() - started,
        sentence=crowd_sentence(sizes, len(names)),
    )


def crowd_of_release(table: OpenTable, release: Release) -> models.Crowd:
    """The classes of a protected table, with the marks of the same people as in the crowd of its original."""
    started = time.perf_counter()
    classes = release.classes
    sizes = ClassSizes.from_sizes(classes.people)
    limits = decided_question(table).limits
    before = table.count(table.counted_as_known, release.person).people
    marks = crowd_marks(release.table, release.quasi_identifiers, release.person, sizes)
    is_alike = release.person is None and before <= MOST_MARKS
    return models.Crowd(
        people=sizes.people,
        records=release.table.rows,
        classes=sizes.classes,
        sizes=sizes.sizes.tolist(),
        counts=sizes.counts.tolist(),
        marks=_marks_of_originals(table, release) if is_alike else models.Marks(**marks._asdict()),
        limits=models.CrowdLimits(highest=limits.highest, average=limits.average, class_size=limits.class_size),
        seconds=time.perf_counter() - started,
        sentence=crowd_sentence(sizes, len(release.quasi_identifiers)),
        left_out=max(0, before - sizes.people),
    )


def _marks_of_originals(table: OpenTable, release: Release) -> models.Marks:
    """A mark for each record of the original, by its class in the release; 0 people for one that was left out."""
    classes, rows = release.classes, table.table.rows
    size, people, class_of = [0] * rows, [0] * rows, [-1] * rows
    for row in range(release.table.rows):
        record, number = release.record_of(row), int(classes.numbers[row])
        size[record], people[record], class_of[record] = int(classes.people[number]), 1, number
    return models.Marks(each="person", size=size, people=people, class_of=class_of)


def settle_columns(table: OpenTable, question: models.CrowdQuestion) -> tuple[list[str], str | None]:
    """The columns of a question, each once, and the person column; without any, those known to others or not judged."""
    if question.quasi_identifiers is None:
        return table.counted_as_known, question.person or table.one_with_role("person")
    names = list(dict.fromkeys(question.quasi_identifiers))
    table.check_names([*names, *([question.person] if question.person else [])])
    return names, question.person


def riskiest_records(table: OpenTable, question: models.RiskiestQuestion) -> models.Riskiest:
    """The records in the smallest classes; one record per person, the one with the rarest values."""
    names, person = _known_columns(table, question)
    columns = encode(table.table, names)
    rarest = rarest_records(table.table, columns, person, table.count(names, person), question.rows)
    return models.Riskiest(
        columns=names,
        masked=not question.show,
        rows=[
            models.RiskyRecord(
                record=one.record,
                alike=one.alike,
                expected=one.expected,
                cells=[_cell_of(table, column, one.record, question.show) for column in columns],
            )
            for one in rarest
        ],
    )


def view_person(
    table: OpenTable, question: models.PersonQuestion, releases: Sequence[tuple[str, Release]]
) -> models.PersonView:
    """One record: the columns that identify it, how many are alike without each, and what protections change in it."""
    names, person = _known_columns(table, question)
    if question.record >= table.table.rows:
        raise InputError(f"there are {table.table.rows:,} records, numbered from 0; there is none of that number")
    columns = encode(table.table, names)
    people = table.count(names, person).people
    seen = see_record(table.table, columns, person, question.record, people=people)
    return models.PersonView(
        record=question.record,
        alike=seen.alike,
        people=seen.people,
        masked=not question.show,
        attributes=[
            models.Attribute(
                column=column.name,
                cell=_cell_of(table, column, question.record, question.show),
                alike_by_it_alone=by_it,
                alike_without_it=left,
            )
            for column, by_it, left in zip(columns, seen.alone, seen.without, strict=True)
        ],
        learned=_learned(table, names, question),
        found_by=[models.FindingStep(column=name, left=left) for name, left in seen.steps],
        after=[_after(key, release, columns, question) for key, release in releases],
        sentence=_found_in_words([name for name, _ in seen.steps], seen.alike),
    )


def _learned(table: OpenTable, known: Sequence[str], question: models.PersonQuestion) -> list[models.LearnedCell]:
    """The cells that an attacker learns once the record is found, the secrets first; read only with `show`."""
    secrets = table.with_role("sensitive")
    names = [name for name in (*secrets, *table.with_role("other")) if name not in known]
    cells = table.rows_between(question.record, question.record + 1) if question.show and names else None
    return [
        models.LearnedCell(
            column=name,
            cell=masked_cell(table.kind_of(name)) if cells is None else cell_text(cells[name][0].as_py()),
            secret=name in secrets,
        )
        for name in names
    ]


def _found_in_words(names: Sequence[str], alike: int) -> str:
    if not names:
        return "Nothing tells this record from the others."
    if alike == 1:
        return f"An attacker who knows {listed(names)} finds it: nobody else is like it."
    others = counted(alike - 1, "other looks", "others look")
    return f"An attacker who knows {listed(names)} does not know which one it is: {others} like it."


def _after(key: str, release: Release, columns: Sequence[Coded], question: models.PersonQuestion) -> models.RecordAfter:
    """The record in a protected table."""
    row = release.row_of(question.record)
    if row is None:
        return models.RecordAfter(candidate=key, released=False, alike=None, cells=[])
    cells = []
    for column in columns:
        before = cell_text(column.values[int(column.codes[question.record])].as_py())
        change, text = release.cell_after(column.name, row, before)
        shown = text if question.show or change == "removed" else MASK
        cells.append(models.CellAfter(column=column.name, change=change, cell=shown))
    return models.RecordAfter(candidate=key, released=True, alike=release.alike(row), cells=cells)


def _cell_of(table: OpenTable, column: Coded, record: int, show: bool) -> str:
    if not show:
        return masked_cell(table.kind_of(column.name))
    return cell_text(column.values[int(column.codes[record])].as_py())


def _known_columns(table: OpenTable, question: models.CrowdQuestion) -> tuple[list[str], str | None]:
    """The columns of a question and the person column; refused if there are no columns."""
    names, person = settle_columns(table, question)
    return table.check_known(names), person
