"""The crowd of a table: class sizes with marks to draw, the riskiest records, and one record as others see it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes, assign_classes
from incrowd.errors import InputError
from incrowd.web import crowd_models as models
from incrowd.web.cells import cell_text, masked_cell
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable, crowd_sentence
from incrowd.web.tasks.risk_basis import decided_question
from incrowd.wording import counted, listed

MOST_MARKS = 2_000
_SMALL = 20  # classes up to this size have a mark at least, however few they are


def describe_crowd(table: OpenTable, question: models.CrowdQuestion) -> models.Crowd:
    """Count the classes by some columns; what depends on k follows from the answer."""
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
        marks=_marks(table, names, person, sizes),
        limits=models.CrowdLimits(highest=limits.highest, average=limits.average, class_size=limits.class_size),
        seconds=time.perf_counter() - started,
        sentence=crowd_sentence(sizes, len(names)),
    )


def settle_columns(table: OpenTable, question: models.CrowdQuestion) -> tuple[list[str], str | None]:
    """The columns of a question, each once, and the person column: as they are named, or by their roles."""
    if question.quasi_identifiers is None:
        return table.with_role("quasi-identifier"), question.person or table.one_with_role("person")
    names = list(dict.fromkeys(question.quasi_identifiers))
    table.check_names([*names, *([question.person] if question.person else [])])
    return names, question.person


def _marks(table: OpenTable, names: Sequence[str], person: str | None, sizes: ClassSizes) -> models.Marks:
    """Marks for everybody where they are few, for classes where those are few, else for shares of the people."""
    if sizes.people <= MOST_MARKS:
        numbers, people = _class_of_each_person(table, names, person, sizes.people)
        return models.Marks(
            each="person", size=people[numbers].tolist(), people=[1] * numbers.size, class_of=numbers.tolist()
        )
    if sizes.classes <= MOST_MARKS:
        each = np.repeat(sizes.sizes, sizes.counts).tolist()
        return models.Marks(each="class", size=each, people=each)
    return share_marks(sizes)


def share_marks(sizes: ClassSizes, most: int = MOST_MARKS) -> models.Marks:
    """About `most` marks, each for as many people as any other; the smallest classes have one however few they are."""
    people = sizes.sizes * sizes.counts
    small = sizes.sizes <= _SMALL
    wanted = np.ceil(people[small] * (most / sizes.people)).astype(np.int64)
    groups = list(zip(sizes.sizes[small].tolist(), people[small].tolist(), wanted.tolist(), strict=True))
    size = [each for each, _, marks in groups for _ in range(marks)]
    stands_for = [part for _, all_of_them, marks in groups for part in _in_parts(all_of_them, marks)]
    left = int(people[~small].sum())
    if left:
        marks = int(np.ceil(left * (most / sizes.people)))
        parts = _in_parts(left, marks)
        middle = np.cumsum(parts) - np.array(parts) // 2 - 1
        place = np.searchsorted(np.cumsum(people[~small]), middle, side="right")
        size += sizes.sizes[~small][place].tolist()
        stands_for += parts
    return models.Marks(each="share", size=size, people=stands_for)


def _in_parts(whole: int, parts: int) -> list[int]:
    """A number in parts that differ by 1 at most."""
    return np.diff(np.arange(parts + 1, dtype=np.int64) * whole // parts).tolist()  # type: ignore[no-any-return]


def _class_of_each_person(
    table: OpenTable, names: Sequence[str], person: str | None, people: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The class of every person, and the size of every class; without columns there is one class."""
    if not names:
        return np.zeros(people, dtype=np.int64), np.array([people])
    classes = assign_classes(table.table, names, person)
    if person is None:
        return classes.numbers, classes.people
    (column,) = encode(table.table, [person])
    _, first = np.unique(column.codes, return_index=True)
    return classes.numbers[first], classes.people


def riskiest_records(table: OpenTable, question: models.RiskiestQuestion) -> models.Riskiest:
    """The records in the smallest classes; of a person with several the one with the rarest values."""
    names, person = _some_columns(table, question)
    classes = assign_classes(table.table, names, person)
    size = classes.people[classes.numbers]
    columns = encode(table.table, names)
    records = _smallest(size, question.rows, None if person is None else table.count(names, person))
    rarity = np.full(records.size, np.log(size.size))
    for column in columns:
        share = np.bincount(column.codes, minlength=column.size) / size.size
        rarity += np.log(share[column.codes[records]])
    records, rarity = _one_a_person(table, person, records, rarity, size)
    return models.Riskiest(
        columns=names,
        masked=not question.show,
        rows=[
            models.RiskyRecord(
                record=int(record),
                alike=int(size[record]),
                expected=float(np.exp(rare)),
                cells=[_cell_of(table, column, record, question.show) for column in columns],
            )
            for record, rare in zip(records[: question.rows], rarity[: question.rows], strict=True)
        ],
    )


def _smallest(size: NDArray[np.int64], rows: int, sizes: ClassSizes | None) -> NDArray[np.int64]:
    """The records in classes as small as that of the last one shown; `sizes` counts people where they differ."""
    if sizes is None:
        last = min(rows, size.size) - 1
        return np.flatnonzero(size <= np.partition(size, last)[last])
    last = int(np.searchsorted(np.cumsum(sizes.sizes * sizes.counts), rows))
    return np.flatnonzero(size <= sizes.sizes[min(last, sizes.sizes.size - 1)])


def _one_a_person(
    table: OpenTable, person: str | None, records: NDArray[np.int64], rarity: NDArray[Any], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The records in order, the smallest class and the rarest values first, one of each person."""
    order = np.lexsort([records, rarity, size[records]])
    records, rarity = records[order], rarity[order]
    if person is None:
        return records, rarity
    (column,) = encode(table.table, [person])
    _, first = np.unique(column.codes[records], return_index=True)
    first.sort()
    return records[first], rarity[first]


def view_person(
    table: OpenTable, question: models.PersonQuestion, releases: Sequence[tuple[str, Release]]
) -> models.PersonView:
    """One record: by which columns it is found, how many look like it without each, and what protections do to it."""
    names, person = _some_columns(table, question)
    if question.record >= table.table.rows:
        raise InputError(f"there are {table.table.rows:,} records, numbered from 0; there is none of that number")
    columns = encode(table.table, names)
    if person is None:
        people, alike, alone, without, steps = _seen_among_rows(columns, question.record)
    else:
        people, alike, alone, without, steps = _seen_among_histories(table, names, person, question.record)
    return models.PersonView(
        record=question.record,
        alike=alike,
        people=people,
        masked=not question.show,
        attributes=[
            models.Attribute(
                column=column.name,
                cell=_cell_of(table, column, question.record, question.show),
                alike_by_it_alone=by_it,
                alike_without_it=left,
            )
            for column, by_it, left in zip(columns, alone, without, strict=True)
        ],
        found_by=[models.Step(column=name, left=left) for name, left in steps],
        after=[_after(key, release, columns, question) for key, release in releases],
        sentence=_found_in_words([name for name, _ in steps], alike),
    )


_Seen = tuple[int, int, list[int], list[int], list[tuple[str, int]]]


def _seen_among_rows(columns: Sequence[Coded], record: int) -> _Seen:
    """All rows; those alike, by each column alone and without each; and the columns that find the record.

    A row that differs in one column only is alike once that column is not known. The next column to become known is
    the one that leaves the fewest rows.
    """
    rows = columns[0].codes.size
    differing = np.zeros(rows, dtype=np.uint16)
    last = np.zeros(rows, dtype=np.int32)
    alone = []
    for place, column in enumerate(columns):
        differs = column.codes != column.codes[record]
        alone.append(rows - int(np.count_nonzero(differs)))
        differing += differs
        last[differs] = place
    alike = int(np.count_nonzero(differing == 0))
    without = alike + np.bincount(last[differing == 1], minlength=len(columns))
    steps: list[tuple[str, int]] = []
    left = np.arange(rows) if rows > alike else np.empty(0, dtype=np.int64)
    unused = list(columns)
    while left.size > alike:
        agreeing = [left[one.codes[left] == one.codes[record]] for one in unused]
        best = min(range(len(unused)), key=lambda place: agreeing[place].size)
        left = agreeing[best]
        steps.append((unused.pop(best).name, left.size))
    return rows, alike, alone, without.tolist(), steps


def _seen_among_histories(table: OpenTable, names: Sequence[str], person: str, record: int) -> _Seen:
    """What others see of a person with all their records; columns with rare values become known first."""

    def alike(known: Sequence[str]) -> int:
        if not known:
            return people
        classes = assign_classes(table.table, known, person)
        return int(classes.people[classes.numbers[record]])

    people = table.count(names, person).people
    whole = alike(names)
    alone = [alike([name]) for name in names]
    without = [alike([other for other in names if other != name]) for name in names]
    steps: list[tuple[str, int]] = []
    left = people
    for name in sorted(names, key=lambda name: alone[names.index(name)]):
        if left == whole:
            break
        now = alike([*(step for step, _ in steps), name])
        if now < left:
            steps.append((name, now))
            left = now
    return people, whole, alone, without, steps


def _found_in_words(names: Sequence[str], alike: int) -> str:
    if not names:
        return "Nothing tells this record from the others."
    who = "nobody else is like it" if alike == 1 else f"{counted(alike - 1, 'other', 'others')} look like it"
    return f"Whoever knows {listed(names)} finds it: {who}."


def _after(key: str, release: Release, columns: Sequence[Coded], question: models.PersonQuestion) -> models.RecordAfter:
    """The record in a protected table."""
    row = release.row_of(question.record)
    if row is None:
        return models.RecordAfter(candidate=key, released=False, alike=None, cells=[])
    cells = []
    for column in columns:
        before = cell_text(column.values[int(column.codes[question.record])].as_py())
        change, text = release.cell_after(column.name, row, before)
        shown = text if question.show or change == "removed" else "••••"
        cells.append(models.CellAfter(column=column.name, change=change, cell=shown))
    return models.RecordAfter(candidate=key, released=True, alike=release.alike(row), cells=cells)


def _cell_of(table: OpenTable, column: Coded, record: int, show: bool) -> str:
    if not show:
        return masked_cell(table.kind_of(column.name))
    return cell_text(column.values[int(column.codes[record])].as_py())


def _some_columns(table: OpenTable, question: models.CrowdQuestion) -> tuple[list[str], str | None]:
    """The columns of a question, which must be some."""
    names, person = settle_columns(table, question)
    if not names:
        raise InputError("no column is a quasi-identifier; say first which columns others may know")
    return names, person
