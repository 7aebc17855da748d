"""An open table of a session: columns, settings with undo, preview, and live counts."""

from __future__ import annotations

import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from incrowd.backends import encode
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.tables import SuggestedRole, Table
from incrowd.tables.suggest_reading import suggest_scales, suspect_missing_codes
from incrowd.web import models
from incrowd.web.cells import cell_text, masked_cell
from incrowd.web.project_models import Decision, TrailEntry
from incrowd.web.refusals import Refusal
from incrowd.wording import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.assessment import Question
    from incrowd.backends.scales import ScaleKind
    from incrowd.populations import PopulationRisk

_COUNTS = 500  # sets of columns whose counts are kept
_TRAIL = 5_000  # entries of the audit trail
_STEPS = 100  # settings to go back
_WARM = 24  # columns encoded before anybody asks


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from, so that an equivalent command can open it again."""

    kind: Literal["upload", "path", "demo", "protection"]
    file: str
    rows: int = 0
    seed: int = 0
    before: tuple[str, ...] = ()  # commands that make the file
    script: str = ""  # Python that makes the file
    how: dict[str, Any] = field(default_factory=dict)  # options of `read_table`

    @property
    def protected_file(self) -> str:
        """The name of the file that a protection of it makes: a new one each time."""
        if self.kind != "protection":
            return "protected.parquet"
        stem, _, number = self.file.removesuffix(".parquet").partition("-")
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
    source: Source
    table: Table
    columns: tuple[SuggestedRole, ...]
    folder: Path | None
    bytes: int = 0
    seen: tuple[int, ...] | None = None  # the file that was opened, where it is read where it lies
    is_replaced: bool = False  # the file was read again in another way
    assessed: tuple[Question, PopulationRisk | None] | None = None  # a question about the population, answered
    _history: list[models.TableSettings] = field(default_factory=list)
    _now: int = 0
    _counts: OrderedDict[tuple[frozenset[str], str | None], ClassSizes] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _remembered: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    version: int = 0  # counts changes of the settings
    trail: list[TrailEntry] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._history.append(models.TableSettings(roles=self._suggested))
        self.note("opened", name=self.name, rows=self.table.rows, columns=len(self.columns))
        self.table.named = (self.source.file, *self.table.named[1:])  # in commands, as whoever opened it knows it

    def note(self, what: str, **details: Any) -> None:
        """Write something down in the audit trail; the last few thousand entries are kept."""
        self.trail.append(TrailEntry(at=now_in_words(), what=what, details=details))
        del self.trail[:-_TRAIL]

    @property
    def _suggested(self) -> dict[str, models.Role]:
        return {one.column: "other" if one.secondary else cast(models.Role, one.role) for one in self.columns}

    @property
    def settings(self) -> models.TableSettings:
        """The current settings."""
        return self._history[self._now]

    @property
    def state(self) -> models.SettingsState:
        """The current settings, and whether there are earlier or later ones."""
        return models.SettingsState(
            settings=self.settings, can_undo=self._now > 0, can_redo=self._now < len(self._history) - 1
        )

    def replace_settings(self, wanted: models.TableSettings) -> None:
        """Replace the settings; steps that were undone are dropped."""
        with self._lock:
            self._change(wanted.model_copy(update={"decided": _decided_by(wanted)}))

    def update_settings(self, changes: models.TableSettings) -> None:
        """Change only the given settings and roles, so that two pages can change different ones."""
        with self._lock:
            named = {name: getattr(changes, name) for name in changes.model_fields_set}
            named["roles"] = self.settings.roles | changes.roles
            before = [name for name in self.settings.decided if name not in changes.roles]
            named["decided"] = [*before, *_decided_by(changes)]
            self._change(self.settings.model_copy(update=named))

    def _change(self, wanted: models.TableSettings) -> None:
        roles = self._suggested | wanted.roles
        self._check(wanted, roles)
        decided = sorted({*wanted.decided})
        full = wanted.model_copy(update={"roles": roles, "decided": decided})
        if full != self.settings:
            self.note("settings changed", **_difference(self.settings, full))
            self._history[self._now + 1 :] = [full]
            self._history[: max(0, len(self._history) - _STEPS)] = []
            self._now = len(self._history) - 1
            self.version += 1

    def inherit_settings(self, decided: models.TableSettings) -> None:
        """Take over the settings of the original of this table, as far as its columns still exist.

        Settings of protection are not taken over: they name values that no longer exist.
        """
        there = set(self.table.columns)
        roles = {name: role for name, role in decided.roles.items() if name in there}
        groups = {
            label: left
            for label, members in decided.groups.items()
            if (left := [one for one in members if one in there])
        }
        kept = {"decided": [name for name in decided.decided if name in there]}
        first = decided.model_copy(update={"roles": roles, "groups": groups, "protection": models.Protection(), **kept})
        self._check(first, self._suggested | roles)
        self._history[:] = [first.model_copy(update={"roles": self._suggested | roles})]

    def continue_from(self, earlier: OpenTable) -> None:
        """Take over the settings of the same file as it was read before, and the steps back."""
        now = set(self.table.columns)
        for place, settings in enumerate(earlier._history):
            if {*settings.roles} - now:
                raise InputError("read in this way the table has other columns; open the file anew for it")
            self._history[place:] = [settings.model_copy(update={"roles": self._suggested | settings.roles})]
        self._now, self.version = earlier._now, earlier.version + 1
        self.trail[:0], self.decisions = earlier.trail, earlier.decisions

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for this key before, or is made now; the last few hundred are kept."""
        found = self._remembered.get(key)
        if found is None:
            found = self._remembered[key] = make()
            while len(self._remembered) > _COUNTS:
                self._remembered.popitem(last=False)
        return found

    def reading_hints(self) -> ReadingHints:
        """What may be wrong with how the file is read; looked for once."""
        made = self.remember(
            "hints", lambda: ReadingHints(suggest_scales(self.table, self.columns), suspect_missing_codes(self.table))
        )
        return cast(ReadingHints, made)

    def adopt_settings(self, saved: models.TableSettings, settled: Sequence[str]) -> None:
        """Take over saved settings, as far as the columns exist; only `settled` ones stay decided."""
        columns = {*self.table.columns}
        groups = {
            label: left for label, names in saved.groups.items() if (left := [one for one in names if one in columns])
        }
        protection = (
            saved.protection if {*saved.protection.named} <= columns else models.Protection(k=saved.protection.k)
        )
        kept = {
            "roles": {name: role for name, role in saved.roles.items() if name in settled},
            "decided": [name for name in saved.decided if name in settled],
            "groups": groups,
            "protection": protection,
        }
        with self._lock:
            self._change(saved.model_copy(update=kept))

    def step(self, by: int) -> None:
        """Undo or redo one step."""
        with self._lock:
            if not 0 <= self._now + by < len(self._history):
                raise Refusal(409, f"there is nothing to {'undo' if by < 0 else 'redo'}")
            before = self.settings
            self._now += by
            self.version += 1
            self.note("undone" if by < 0 else "done again", **_difference(before, self.settings))

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
        """What kind of values a column holds."""
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
                models.Column(
                    name=one.column,
                    type=one.kind,
                    distinct=one.distinct if one.distinct >= 0 else None,
                    nulls=one.nulls,
                    role=roles[one.column],
                    decided=one.column in self.settings.decided,
                    suggested=self._suggested[one.column],
                    reason=one.reason,
                )
                for one in self.columns
            ],
            notes=list(self.table.notes),
        )

    def preview(self, rows: int, show: bool) -> models.Preview:
        """The first rows; unless they are to be shown, cells tell their kind only."""
        wanted = min(rows, self.table.rows)
        names = list(self.table.columns)
        if not show:
            masked = [masked_cell(one.kind) for one in self.columns]
            return models.Preview(columns=names, rows=[masked] * wanted, masked=True)
        cells = self.table.lazy(names).head(wanted).collect("pyarrow").to_arrow()
        columns = [[cell_text(value) for value in cells.column(place).to_pylist()] for place in range(len(names))]
        return models.Preview(columns=names, rows=[list(row) for row in zip(*columns, strict=True)], masked=False)

    def rows_between(self, start: int, end: int) -> pa.Table:
        """The cells of some rows, in the order of the table."""
        self.table.require_order()
        names = list(self.table.columns)
        head = self.table.lazy(names).head(end).collect("pyarrow").to_arrow()
        return head.rename_columns(names).slice(start, end - start)

    def count(self, names: Sequence[str], person: str | None = None) -> ClassSizes:
        """Class sizes by these columns; the last few hundred counts are cached."""
        if not names:
            people = encode(self.table, [person])[0].size if person else self.table.rows
            return ClassSizes.from_sizes([people])
        key = (frozenset(names), person)
        with self._lock:
            known = self._counts.get(key)
        if known is None:
            known = ClassSizes.from_table(self.table, quasi_identifiers=sorted(names), person=person)
        with self._lock:
            self._counts[key] = known
            self._counts.move_to_end(key)
            while len(self._counts) > _COUNTS:
                self._counts.popitem(last=False)
        return known

    def live(self, question: models.LiveQuestion) -> models.Live:
        """Live counts for a choice of columns."""
        started = time.perf_counter()
        self.check_names([*question.quasi_identifiers, *([question.person] if question.person else [])])
        sizes = self.count(list(dict.fromkeys(question.quasi_identifiers)), question.person)
        groups = []
        for label, members in question.groups.items():
            self.check_names(members)
            found = self.count(list(dict.fromkeys(members)), question.person)
            groups.append(_group(label, members, found))
        return models.Live(
            k=sizes.smallest,
            people=sizes.people,
            classes=sizes.classes,
            uniques=sizes.uniques,
            uniqueness=sizes.uniqueness,
            correctness=sizes.correctness,
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

    def _check(self, wanted: models.TableSettings, roles: dict[str, Any]) -> None:
        """Refuse columns that do not exist, and two columns with a role that only one can have."""
        self.check_names([*wanted.roles, *wanted.decided])
        for label, members in wanted.groups.items():
            if not members:
                raise InputError(f"group {label!r} has no columns; name some, or leave the group out")
            self.check_names(members)
        for role in ("person", "weight"):
            several = [name for name in roles if roles[name] == role]
            if len(several) > 1:
                raise InputError(f"only one column can be the {role} column; {len(several)} are")
        self.check_names(wanted.protection.named)


def now_in_words() -> str:
    """The time now, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _difference(before: models.TableSettings, after: models.TableSettings) -> dict[str, Any]:
    """What changed between two settings: old and new, but no values that somebody named."""
    plain = ("population", "recipient", "threshold", "highest", "tolerate", "certain", "rows_are_people")
    found: dict[str, Any] = {
        name: [getattr(before, name), getattr(after, name)]
        for name in plain
        if getattr(before, name) != getattr(after, name)
    }
    roles = {
        name: [before.roles.get(name), role] for name, role in after.roles.items() if before.roles.get(name) != role
    }
    decided = [name for name in after.decided if name not in before.decided]
    open_again = [name for name in before.decided if name not in after.decided]
    found |= {"roles": roles} if roles else {}
    found |= {"decided": decided} if decided else {}
    found |= {"open again": open_again} if open_again else {}
    others = [name for name in ("secrets", "groups", "protection") if getattr(before, name) != getattr(after, name)]
    return found | ({"also": others} if others else {})


def _decided_by(sent: models.TableSettings) -> list[str]:
    """The columns that whoever sent the settings decided about: as they say, else all to which they gave a role."""
    return list(sent.decided if "decided" in sent.model_fields_set else sent.roles)


def identity(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced by another; empty where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns)


def _group(label: str, members: Sequence[str], sizes: ClassSizes) -> models.GroupCount:
    return models.GroupCount(
        label=label,
        columns=list(members),
        k=sizes.smallest,
        uniques=sizes.uniques,
        uniqueness=sizes.uniqueness,
        correctness=sizes.correctness,
    )


def crowd_sentence(sizes: ClassSizes, known: int) -> str:
    """How many people stand out, for so many columns that others know."""
    if not known:
        return "Nothing is known to others yet: everybody looks alike. Say which columns others may know."
    if not sizes.uniques:
        return (
            f"Nobody is alone: everybody looks like at least {sizes.smallest - 1:,} others, and a guess is right "
            f"{percent(sizes.correctness)} of the time."
        )
    return (
        f"{sizes.uniques:,} of {sizes.people:,} people ({percent(sizes.uniqueness)}) look like nobody else; a guess is "
        f"right {percent(sizes.correctness)} of the time."
    )
