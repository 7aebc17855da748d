"""Comparison of two tables, or of two saved assessments: what got better and what got worse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pyarrow as pa

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.result import SCHEMA, Assessment
from incrowd.backends.arrow_columns import is_text
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import measure
from incrowd.populations import population_risk
from incrowd.results import DataTable, Result
from incrowd.tables import Table, TableLike, parse_generalised, read_table
from incrowd.wording import percent, single_value

Direction = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class Change(Result):
    """One number before and after; if `share` is true, it is a share and shown as a percentage."""

    _derived: ClassVar[tuple[str, ...]] = ("direction",)

    name: str
    before: float
    after: float
    less_is_better: bool
    meaning: str
    share: bool = True

    @property
    def direction(self) -> Direction:
        """Direction in which the risk changed."""
        if self.before == self.after:
            return "same"
        return "better" if (self.after < self.before) == self.less_is_better else "worse"

    @property
    def sides_in_words(self) -> tuple[str, str]:
        """The number before and after, as text."""
        before, after = (percent(side) if self.share else single_value(side) for side in (self.before, self.after))
        return before, after


@dataclass(frozen=True, slots=True)
class Kept(Result):
    """Number of rows, of columns, or of plain values of a column, before and after."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Differences between two tables.

    `changes` are risks, each better, worse or the same; `kept` are the numbers of rows, columns and plain values, which
    show the loss of data; `notes` say what cannot be compared.
    """

    _derived: ClassVar[tuple[str, ...]] = ("sentence",)

    before: str
    after: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """Every risk before and after, and the numbers of rows, columns and plain values."""
        changes = tuple(
            (change.name, *change.sides_in_words, change.direction, change.meaning) for change in self.changes
        )
        kept = tuple((one.name, one.before, one.after) for one in self.kept)
        risks = DataTable(self.sentence, ("", "before", "after", "", "what it means"), changes)
        return (risks, DataTable("What is left to work with", ("", "before", "after"), kept)) if kept else (risks,)

    def of(self, direction: Direction) -> tuple[Change, ...]:
        """The changes in one direction."""
        return tuple(change for change in self.changes if change.direction == direction)

    @property
    def sentence(self) -> str:
        """The comparison in a sentence."""
        better, worse, same = (len(self.of(direction)) for direction in ("better", "worse", "same"))
        return f"{self.after} against {self.before}: {better} better, {worse} worse, {same} the same"


def compare(
    before: TableLike | Assessment,
    after: TableLike | Assessment,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    population: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Compare two tables by the same quasi-identifiers, or two assessments.

    If one side is an assessment, the other is measured by its columns. `evaluate` measures the loss of detail.

    Args:
        before: whatever `read_table` reads, an `Assessment`, or one as read from JSON.
        after: what to compare with it.
        quasi_identifiers: columns that others may know about a person; needed unless an assessment names them.
        sensitive: columns that people keep to themselves.
        person: the column that identifies the person of each record.
        population: the number of people that the tables were drawn from; the risk there is then compared too.
        progress: callback that receives the current step and the share done.

    Returns:
        The changes, each better, worse or the same, and the numbers of rows, columns and plain values.

    Raises:
        InputError: a column does not exist, or nobody says which columns to compare by.

    >>> found = compare({"age": [30, 31, 41]}, {"age": [30, 30, 40]}, quasi_identifiers=["age"])
    >>> [(change.name, change.before, change.after, change.direction) for change in found.of("better")][:1]
    [('unique', 1.0, 0.333..., 'better')]
    """
    assessments = [_as_saved(side) for side in (before, after)]
    roles = next((one["roles"] for one in assessments if one is not None), None)
    if quasi_identifiers is None and roles is not None:
        quasi_identifiers, sensitive, person = roles["quasi_identifiers"], roles["sensitive"], roles["person"]
    sides = []
    for number, (side, saved) in enumerate(zip((before, after), assessments, strict=True)):
        if saved is not None:
            size = {name: saved["provenance"][name] for name in ("rows", "columns")}
            sides.append((saved["provenance"]["table"], {**saved, "size": size}))
            continue
        if quasi_identifiers is None:
            raise InputError("say what others may know about a person: quasi_identifiers=", hint="quasi_identifiers")
        assert not isinstance(side, Assessment)
        step = part(progress, number / 2, (number + 1) / 2)
        sides.append(_measured(read_table(side), quasi_identifiers, sensitive, person, population, step))
    (name, old), (other, new) = sides
    kept = tuple(Kept(what, old["size"][what], new["size"][what]) for what in old["size"] if what in new["size"])
    after_name = other if other != name else f"{other} (after)"
    return Comparison(name, after_name, tuple(_changes(old, new)), tuple(_notes(old, new)), kept)


def _measured(
    table: Table,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    person: str | None,
    population: int | None,
    progress: Progress,
) -> tuple[str, dict[str, Any]]:
    """The name of a table, and its numbers in the structure of an assessment's JSON."""
    known: dict[str, Any] = {"quasi_identifiers": quasi_identifiers, "person": person}
    facts = measure(table, **known, sensitive=sensitive, progress=progress)
    numbers = {"facts": facts.to_dict(), "size": _size(table, quasi_identifiers)}
    if population is not None:
        try:
            numbers["population"] = population_risk(table, population=population, **known).to_dict()
        except UnsupportedError as reason:
            numbers["skipped"] = {"population": str(reason)}
    return table.name, numbers


def _size(table: Table, names: Sequence[str]) -> dict[str, int]:
    """Number of rows, of columns, and of plain values of every quasi-identifier."""
    found = {"rows": table.rows, "columns": len(table.columns)}
    columns: Iterable[tuple[str, Any]] = table.read(names) if table.backend.rows_are_local else ()
    return found | {f"plain values of {name}": _count_plain(column) for name, column in columns}


def _count_plain(column: pa.ChunkedArray) -> int:
    """Number of filled cells that hold no range, set, prefix or wildcard."""
    filled = int(len(column) - column.null_count)
    if not is_text(column.type):
        return filled
    coarse = [
        entry["counts"]
        for entry in column.value_counts().to_pylist()
        if entry["values"] is not None and parse_generalised(entry["values"]) is not None
    ]
    return filled - int(sum(coarse))


def _as_saved(side: Any) -> Mapping[str, Any] | None:
    """An assessment as plain JSON types, or None for a table."""
    if isinstance(side, Assessment):
        return side.to_dict()
    if isinstance(side, dict) and side.get("schema") == SCHEMA:
        return side
    return None


_FACTS = (
    ("k", "smallest class (k)", False, "people in the smallest class"),
    ("uniqueness", "unique", True, "share of people nobody else looks like"),
    ("average_risk", "average risk (κ)", True, "share of people named correctly"),
    ("maximum_risk", "highest risk", True, "chance of naming the person easiest to name"),
)
_SECRETS = (
    ("given_away", "one value in the whole class", True, "share of records in homogeneous classes"),
    ("distinct", "l", False, "fewest different values among people who look alike"),
    ("t", "t", True, "how far the most unusual class is from the table"),
)


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    was, now = old["facts"], new["facts"]
    for key, name, less, meaning in _FACTS:
        yield Change(name, was[key], now[key], less, meaning, share=key != "k")
    for k in ("3", "5", "10"):
        meaning = f"share of people with fewer than {int(k) - 1} look-alikes"
        yield Change(f"in classes below {k}", was["share_below"][k], now["share_below"][k], True, meaning)
    columns = {column["column"]: column for column in now["sensitive"]}
    for column in was["sensitive"]:
        other = columns.get(column["column"])
        if other is not None:
            for key, name, less, meaning in _SECRETS:
                named = f"{column['column']}: {name}"
                yield Change(named, column[key], other[key], less, meaning, share=key == "given_away")
    if old.get("population") and new.get("population"):
        meaning = "share of records matched with the right person in the population"
        yield Change(
            "risk in the population", old["population"]["overall"], new["population"]["overall"], True, meaning
        )


def _notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Notes on what the two sides do not have in common."""
    was, now = old["facts"], new["facts"]
    if set(was["quasi_identifiers"]) != set(now["quasi_identifiers"]):
        yield "the quasi-identifiers differ, so the numbers answer different questions"
    if was["people"] != now["people"]:
        yield f"there were {was['people']:,} people and are {now['people']:,}; risks in a smaller table are higher"
    if old.get("verdict") and new.get("verdict"):
        yield f"the decision was “{old['verdict']['headline']}” and is “{new['verdict']['headline']}”"
    reasons = [side.get("skipped", {}).get("population") for side in (old, new) if not side.get("population")]
    if len(reasons) == 1 and reasons[0]:  # estimated for the other side
        yield f"the risk in the population is not compared: {reasons[0]}"
    populations = [side["population"]["population"] for side in (old, new) if side.get("population")]
    if len(set(populations)) == 2:
        yield "the populations differ, so the risks in the population answer different questions"
