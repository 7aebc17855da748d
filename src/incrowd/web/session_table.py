"""An open table of a session: columns, settings with undo, preview, and live counts."""

from __future__ import annotations

import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from incrowd.backends import encode
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.tables import SuggestedRole, Table
from incrowd.tables.suggest_reading import suggest_scales, suspect_missing_codes
from incrowd.web import models
from incrowd.web.cells import cell_text, masked_cell
from incrowd.web.refusals import Refusal
from incrowd.web.table_history import TableHistory
from incrowd.wording import counted, percent

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.assessment import Question
    from incrowd.backends.scales import ScaleKind
    from incrowd.populations import PopulationRisk


_CACHED = 500  # results: class sizes of sets of columns, lines of leaks
_ENCODED_AHEAD = 24  # columns


class ResultCache:
    """A least recently used cache of at most `most` results. Two threads that miss the same key both compute it.

    >>> cache = ResultCache(most=1)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2), cache.get("b", lambda: 3), cache.get("a", lambda: 4)
    (1, 1, 3, 4)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The cached result of this key, computed if there is none."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        result = compute()
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                self._results.popitem(last=False)
        return result


@dataclass(frozen=True, slots=True)
class TableSource:
    """Origin of a table, from which equivalent commands and scripts open it again."""

    kind: Literal["upload", "path", "demo", "protection"]
    file: str
    rows: int = 0
    seed: int = 0
    before: tuple[str, ...] = ()  # commands that make the file
    script: str = ""  # Python that makes the file
    how: dict[str, Any] = field(default_factory=dict)  # options of `read_table`
    conditions: tuple[str, ...] = ()  # of the yes about the protection that made the table

    @property
    def opened(self) -> str:
        """Python expression that opens the table in a script."""
        how = "".join(f", {name}={value!r}" for name, value in self.how.items())
        return f"read_table({self.file!r}{how})"

    @property
    def protected_file(self) -> str:
        """The name of the file that a protection of this table writes; a protected table gets the next number."""
        if self.kind != "protection":
            return "protected.parquet"
        stem, _, number = Path(self.file).stem.partition("-")
        return f"{stem}-{int(number or 1) + 1}.parquet"


@dataclass(frozen=True, slots=True)
class ReadingHints:
    """Scales that fit columns better than the default of their types, and numbers that may mean a missing value."""

    scales: dict[str, ScaleKind]
    missing_codes: dict[str, tuple[int, ...]]


@dataclass(slots=True, eq=False)
class OpenTable:
    """An open table. Its own `folder`, if it has one, is deleted when it is closed."""

    id: str
    name: str
    source: TableSource
    table: Table
    columns: tuple[SuggestedRole, ...]
    folder: Path | None
    bytes: int = 0
    state_when_opened: tuple[int, ...] | None = None  # of a file that was opened by its path
    replaced_by: OpenTable | None = None  # the table of the same file, read again with other options
    # the question of the last assessment, its risk in the population, and that of the person at highest risk there
    assessed: tuple[Question, PopulationRisk | None, float | None] | None = None
    cache: ResultCache = field(default_factory=lambda: ResultCache(_CACHED))
    history: TableHistory = field(init=False)
    sheets: list[str] = field(default_factory=list)  # names of the tables in its file, if there are several

    def __post_init__(self) -> None:
        self.history = TableHistory(self.table, self.columns)
        self.history.note("opened", name=self.name, rows=self.table.rows, columns=len(self.columns))
        self.table.place = self.source.file  # commands name the file as the user does, not the copy on the server

    @property
    def current(self) -> OpenTable:
        """This table, or the newest table of its file if the file was read again."""
        while self.replaced_by is not None and self.replaced_by.replaced_by is not None:
            self.replaced_by = self.replaced_by.replaced_by  # frees the memory of readings in between
        return self.replaced_by or self

    @property
    def settings(self) -> models.TableSettings:
        """The current settings."""
        return self.history.settings

    def reading_hints(self) -> ReadingHints:
        """Possible mistakes in how the file is read; cached."""
        hints = self.cache.get(
            "hints", lambda: ReadingHints(suggest_scales(self.table, self.columns), suspect_missing_codes(self.table))
        )
        return cast(ReadingHints, hints)

    def with_role(self, role: str) -> list[str]:
        """The columns of a role, in the order of the table; quasi-identifiers may be sensitive as well."""
        roles = {role, "both"} if role in ("quasi-identifier", "sensitive") else {role}
        return [name for name in self.table.columns if self.settings.roles[name] in roles]

    def decided_as(self, role: str) -> list[str]:
        """The columns of a role that a user gave or confirmed."""
        decided = {*self.settings.decided}
        return [name for name in self.with_role(role) if name in decided]

    def one_with_role(self, role: str) -> str | None:
        """The first column of a role, if there is one; for roles that only one column can have."""
        return next(iter(self.with_role(role)), None)

    @property
    def known_and_person(self) -> tuple[list[str], str | None]:
        """The columns by which people are counted, and the person column, by the current roles."""
        return self.with_role("quasi-identifier"), self.one_with_role("person")

    def kind_of(self, column: str) -> str:
        """Kind of values of a column."""
        return next(one.kind for one in self.columns if one.column == column)

    def info(self) -> models.TableInfo:
        """The table as the API shows it."""
        roles = self.settings.roles
        return models.TableInfo(
            id=self.id,
            name=self.name,
            source=self.source.kind,
            rows=self.table.rows,
            columns=[
                models.ColumnInfo(
                    name=one.column,
                    type=one.kind,
                    distinct=one.distinct if one.distinct >= 0 else None,
                    nulls=one.nulls,
                    role=roles[one.column],
                    decided=one.column in self.settings.decided,
                    suggested=self.history.suggested[one.column],
                    reason=one.reason,
                )
                for one in self.columns
            ],
            notes=list(self.table.notes),
            sheets=self.sheets,
            sheet=self.source.how.get("sheet"),
            conditions=list(self.source.conditions),
            reading=models.Reading(**self.source.how),
        )

    def preview(self, rows: int, show: bool) -> models.Preview:
        """The first rows; without `show` a cell tells only the kind of its value."""
        wanted = min(rows, self.table.rows)
        names = list(self.table.columns)
        if not show:
            masked = [masked_cell(one.kind) for one in self.columns]
            return models.Preview(columns=names, rows=[masked] * wanted, masked=True)
        cells = self.table.head(names, wanted)
        columns = [[cell_text(value) for value in cells.column(place).to_pylist()] for place in range(len(names))]
        return models.Preview(columns=names, rows=[list(row) for row in zip(*columns, strict=True)], masked=False)

    def rows_between(self, start: int, end: int) -> pa.Table:
        """The cells of some rows, in the order of the table."""
        self.table.require_order()
        names = list(self.table.columns)
        return self.table.head(names, end).slice(start, end - start)

    def count(self, names: Sequence[str], person: str | None = None) -> ClassSizes:
        """Class sizes by these columns; cached."""
        if not names:
            people = encode(self.table, [person])[0].size if person else self.table.rows
            return ClassSizes.from_sizes([people])
        sizes = self.cache.get(
            ("class sizes", frozenset(names), person),
            lambda: ClassSizes.from_table(self.table, quasi_identifiers=sorted(names), person=person),
        )
        return cast(ClassSizes, sizes)

    def live(self, question: models.LiveQuestion) -> models.Live:
        """Live counts for a choice of columns."""
        started = time.perf_counter()
        self.check_names([*question.quasi_identifiers, *([question.person] if question.person else [])])
        sizes = self.count(list(dict.fromkeys(question.quasi_identifiers)), question.person)
        groups = []
        for label, members in question.groups.items():
            self.check_names(members)
            counts = _counts(self.count(list(dict.fromkeys(members)), question.person))
            groups.append(models.GroupCount(label=label, columns=list(members), **counts))
        return models.Live(
            **_counts(sizes),
            people=sizes.people,
            classes=sizes.classes,
            below_5=sizes.below(5) / sizes.people,
            groups=groups,
            seconds=time.perf_counter() - started,
            sentence=crowd_sentence(sizes, len(question.quasi_identifiers)),
        )

    def encode_known(self) -> None:
        """Encode the first quasi-identifiers, so that the first count is quick."""
        names = self.with_role("quasi-identifier")[:_ENCODED_AHEAD]
        if names and self.table.rows:
            encode(self.table, names)

    def check_file(self) -> None:
        """Refuse if the file on disk has changed since it was opened."""
        if self.state_when_opened is not None and file_state(Path(self.source.file)) != self.state_when_opened:
            raise Refusal(409, "the file has changed since it was opened; remove the table and open it again")

    def close(self) -> None:
        """Delete the files of the table."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse columns that do not exist."""
        if names:
            self.table.require(list(dict.fromkeys(names)))

    def check_known(self, names: Sequence[str]) -> list[str]:
        """The names, each once; refused if there are none or one is no column."""
        if not names:
            raise InputError("no column is a quasi-identifier; say first which columns others may know")
        return self.table.require(list(dict.fromkeys(names)))


def file_state(path: Path) -> tuple[int, ...]:
    """Metadata of a file that differ once the file is changed or replaced; empty if there is no file."""
    try:
        metadata = path.lstat()
    except OSError:
        return ()
    return (metadata.st_dev, metadata.st_ino, metadata.st_mode, metadata.st_size, metadata.st_mtime_ns)


def _counts(sizes: ClassSizes) -> dict[str, Any]:
    names = ("uniques", "uniqueness", "correctness")
    return {"k": sizes.smallest, **{name: getattr(sizes, name) for name in names}}


def crowd_sentence(sizes: ClassSizes, known: int) -> str:
    """How many people are unique, and the average risk, as a sentence; `known` is the number of known columns."""
    if not known:
        return "Nothing is known to others yet: everybody looks alike. Say which columns others may know."
    alone = f"{sizes.uniques:,} of {sizes.people:,} people ({percent(sizes.uniqueness)}) look like nobody else."
    if not sizes.uniques:
        alone = (
            f"By {counted(known, 'column', 'columns')}, everybody looks like at least {sizes.smallest - 1:,} others."
        )
    return f"{alone} An attacker who knows who is in the table guesses right {percent(sizes.correctness)} of the time."
