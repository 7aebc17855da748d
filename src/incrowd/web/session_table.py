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
from incrowd.tables import SuggestedRole, Table
from incrowd.tables.suggest_reading import suggest_scales, suspect_missing_codes
from incrowd.web import models
from incrowd.web.cells import cell_text, masked_cell
from incrowd.web.refusals import Refusal
from incrowd.web.table_history import TableHistory
from incrowd.wording import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.assessment import Question
    from incrowd.backends.scales import ScaleKind
    from incrowd.populations import PopulationRisk


_KEPT = 500  # results that are kept: class sizes of sets of columns, lines of leaks
_WARM = 24  # columns encoded before anybody asks


class RecentResults:
    """Results by key; of more than `most`, those that nobody asked for the longest are dropped.

    Nobody waits for what another thread makes: two that ask for the same at once both make it.

    >>> kept = RecentResults(most=1)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2), kept.get("b", lambda: 3), kept.get("a", lambda: 4)
    (1, 1, 3, 4)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Value cached for this key, made now if there is none."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class TableSource:
    """Origin of a table, so that an equivalent command can open it again."""

    kind: Literal["upload", "path", "demo", "protection"]
    file: str
    rows: int = 0
    seed: int = 0
    before: tuple[str, ...] = ()  # commands that make the file
    script: str = ""  # Python that makes the file
    how: dict[str, Any] = field(default_factory=dict)  # options of `read_table`

    @property
    def opened(self) -> str:
        """Python expression that opens the table in a script."""
        how = "".join(f", {name}={value!r}" for name, value in self.how.items())
        return f"read_table({self.file!r}{how})"

    @property
    def protected_file(self) -> str:
        """The name of the file that a protection of it makes: a new one each time."""
        if self.kind != "protection":
            return "protected.parquet"
        stem, _, number = Path(self.file).stem.partition("-")
        return f"{stem}-{int(number or 1) + 1}.parquet"


@dataclass(frozen=True, slots=True)
class ReadingHints:
    """Scales that fit columns better than those of their types, and numbers that may stand for missing values."""

    scales: dict[str, ScaleKind]
    missing_codes: dict[str, tuple[int, ...]]


@dataclass(slots=True, eq=False)
class OpenTable:
    """An open table. `folder`, if it has one of its own, is deleted with it."""

    id: str
    name: str
    source: TableSource
    table: Table
    columns: tuple[SuggestedRole, ...]
    folder: Path | None
    bytes: int = 0
    seen: tuple[int, ...] | None = None  # the file that was opened, where it is read where it lies
    replaced_by: OpenTable | None = None  # the same file, read again in another way
    # a question about the population, its answer, and the risk of the person at highest risk there
    assessed: tuple[Question, PopulationRisk | None, float | None] | None = None
    recent: RecentResults = field(default_factory=lambda: RecentResults(_KEPT))
    history: TableHistory = field(init=False)
    sheets: list[str] = field(default_factory=list)  # tables that its file holds, where it holds several

    def __post_init__(self) -> None:
        self.history = TableHistory(self.table, self.columns)
        self.history.note("opened", name=self.name, rows=self.table.rows, columns=len(self.columns))
        self.table.place = self.source.file  # in commands, as whoever opened it knows it

    @property
    def current(self) -> OpenTable:
        """This table, or the one that its file was read as since."""
        while self.replaced_by is not None and self.replaced_by.replaced_by is not None:
            self.replaced_by = self.replaced_by.replaced_by  # readings in between need not stay in memory
        return self.replaced_by or self

    @property
    def settings(self) -> models.TableSettings:
        """The current settings."""
        return self.history.settings

    def reading_hints(self) -> ReadingHints:
        """Possible mistakes in how the file is read; searched for once."""
        made = self.recent.get(
            "hints", lambda: ReadingHints(suggest_scales(self.table, self.columns), suspect_missing_codes(self.table))
        )
        return cast(ReadingHints, made)

    def with_role(self, role: str) -> list[str]:
        """The columns of a role, in the order of the table."""
        return [name for name in self.table.columns if self.settings.roles[name] == role]

    def decided_as(self, role: str) -> list[str]:
        """The columns to which a person gave a role, or for which they confirmed it."""
        decided = {*self.settings.decided}
        return [name for name in self.with_role(role) if name in decided]

    def one_with_role(self, role: str) -> str | None:
        """The one column of a role, if there is one."""
        return next(iter(self.with_role(role)), None)

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
            reading=models.Reading(**self.source.how),
        )

    def preview(self, rows: int, show: bool) -> models.Preview:
        """The first rows; unless they are to be shown, cells tell their kind only."""
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
        """Class sizes by these columns; the last few hundred counts are cached."""
        if not names:
            people = encode(self.table, [person])[0].size if person else self.table.rows
            return ClassSizes.from_sizes([people])
        counted = self.recent.get(
            ("class sizes", frozenset(names), person),
            lambda: ClassSizes.from_table(self.table, quasi_identifiers=sorted(names), person=person),
        )
        return cast(ClassSizes, counted)

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

    def warm(self) -> None:
        """Encode the quasi-identifiers, so that the first count is quick."""
        names = self.with_role("quasi-identifier")[:_WARM]
        if names and self.table.rows:
            encode(self.table, names)

    def check_file(self) -> None:
        """Refuse where the file on disk is no longer the one that was opened."""
        if self.seen is not None and identity(Path(self.source.file)) != self.seen:
            raise Refusal(409, "the file has changed since it was opened; remove the table and open it again")

    def close(self) -> None:
        """Delete the files of the table."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse columns that do not exist."""
        if names:
            self.table.require(list(dict.fromkeys(names)))


def identity(path: Path) -> tuple[int, ...]:
    """State of a file that changes when the file is replaced; empty if there is no file."""
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns)


def _counts(sizes: ClassSizes) -> dict[str, Any]:
    names = ("uniques", "uniqueness", "correctness")
    return {"k": sizes.smallest, **{name: getattr(sizes, name) for name in names}}


def crowd_sentence(sizes: ClassSizes, known: int) -> str:
    """Sentence on how many people stand out, for this many known columns."""
    if not known:
        return "Nothing is known to others yet: everybody looks alike. Say which columns others may know."
    alone = f"{sizes.uniques:,} of {sizes.people:,} people ({percent(sizes.uniqueness)}) look like nobody else."
    if not sizes.uniques:
        alone = f"Nobody is alone: everybody looks like at least {sizes.smallest - 1:,} others."
    return f"{alone} Whoever knows who is in the table guesses right {percent(sizes.correctness)} of the time."
