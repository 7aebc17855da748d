"""The settings of a table with undo, the decisions about it, and the audit trail."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from incrowd.errors import InputError
from incrowd.tables import SuggestedRole, Table
from incrowd.web import models
from incrowd.web.fields import ChosenRole, Model
from incrowd.web.project_models import MOST_DECISIONS, RecordedDecision, ReopenedProject, SavedHistory, TrailEntry
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.refusals import Refusal
from incrowd.web.settings_changes import changed_protection
from incrowd.wording import listed

_Record = TypeVar("_Record", bound=Model)
_MAX_STEPS = 100  # settings that undo can restore
_MAX_TRAIL = 5_000  # entries of the audit trail, besides results of attacks
ATTACKED = "attack done"
"""Entries of the audit trail that hold the result of an attack, which may take back a yes: they are never dropped."""


class TableHistory:
    """History of a table's settings and decisions. `version` counts changes of the settings."""

    def __init__(self, table: Table, columns: Sequence[SuggestedRole]) -> None:
        self._table = table
        self.suggested: dict[str, ChosenRole] = {
            one.column: "other" if one.secondary else cast(ChosenRole, one.role) for one in columns
        }
        self._without_reason = {one.column for one in columns if one.confidence == "low"}
        self._steps = [models.TableSettings(roles=self.suggested)]
        self._now, self.version = 0, 0
        self._lock = threading.Lock()
        self.trail: list[TrailEntry] = []
        self.decisions: list[RecordedDecision] = []
        self.reopened: ReopenedProject | None = None

    def to_dict(self) -> dict[str, Any]:
        """The whole history in plain JSON types."""
        return SavedHistory(
            steps=self._steps,
            now=self._now,
            version=self.version,
            trail=self.trail,
            decisions=self.decisions,
            reopened=self.reopened,
        ).model_dump(mode="json")

    def restore(self, saved: SavedHistory) -> None:
        """Restore the result of an earlier `to_dict`; inconsistent content is refused."""
        for step in saved.steps:
            self._check(step, step.roles)
            if {*step.roles} != {*self.suggested}:
                raise InputError("its settings do not give every column a role; open the table again")
        if saved.now >= len(saved.steps):
            raise InputError("its settings are not among those that were kept; open the table again")
        self._steps, self._now, self.version = saved.steps, saved.now, saved.version
        self.trail, self.decisions, self.reopened = saved.trail, saved.decisions, saved.reopened

    def note(self, what: str, **details: Any) -> None:
        """Add an entry to the audit trail; the oldest ones are dropped."""
        self.trail.append(TrailEntry(at=utc_now(), what=what, details=details))
        self.trail[:] = _shortened(self.trail)

    @property
    def settings(self) -> models.TableSettings:
        """The current settings."""
        return self._steps[self._now]

    @property
    def state(self) -> models.SettingsState:
        """The current settings, and whether undo and redo are possible."""
        return models.SettingsState(
            settings=self.settings, can_undo=self._now > 0, can_redo=self._now < len(self._steps) - 1
        )

    def has_reason(self, column: str) -> bool:
        """True if something speaks for the current role of a column; "other" without a reason is no suggestion."""
        if self.settings.roles[column] != "other":
            return True
        return self.suggested[column] == "other" and column not in self._without_reason

    def replace(self, wanted: models.TableSettings) -> None:
        """Replace the settings; undone steps are dropped."""
        with self._lock:
            self._change(wanted.model_copy(update={"decided": _decided_by(wanted)}))

    def update(self, changes: models.TableSettings) -> None:
        """Change only the given settings, roles and options of protection; others stay, so that two pages can edit."""
        with self._lock:
            given = {name: getattr(changes, name) for name in changes.model_fields_set}
            given["protection"] = changed_protection(self.settings.protection, changes.protection)
            given["roles"] = self.settings.roles | changes.roles
            if "sensitive" not in changes.protection.model_fields_set:
                given["protection"] = _follow_secrets(given["protection"], self.settings.roles, given["roles"])
            self._refuse_empty_confirmation(changes)
            before = [name for name in self.settings.decided if name not in changes.roles]
            given["decided"] = [*before, *_decided_by(changes)]
            self._change(self.settings.model_copy(update=given))

    def _refuse_empty_confirmation(self, changes: models.TableSettings) -> None:
        """Refuse to decide columns by a suggestion that is none, without a role."""
        self._require(changes.decided)
        confirmed = {*changes.decided} - {*changes.roles} - {*self.settings.decided}
        if empty := [name for name in self.suggested if name in confirmed and not self.has_reason(name)]:
            raise InputError(f"nothing is suggested for {listed(empty)}, so there is nothing to confirm; give a role")

    def _change(self, wanted: models.TableSettings) -> None:
        """Make these the current settings, with the suggested role of every column that they do not name."""
        roles = self.suggested | wanted.roles
        self._check(wanted, roles)
        decided = sorted({*wanted.decided})
        full = wanted.model_copy(update={"roles": roles, "decided": decided})
        if full != self.settings:
            self.note("settings changed", **_difference(self.settings, full))
            self._steps[self._now + 1 :] = [full]
            self._steps[: max(0, len(self._steps) - _MAX_STEPS)] = []
            self._now = len(self._steps) - 1
            self.version += 1

    def start_with(self, settings: models.TableSettings) -> None:
        """Begin with the settings of the table that this one was made from; undo does not go further back.

        Settings of protection are left out: they name values that no longer exist.
        """
        fitting = self._fit_to_columns(settings, self._table.columns)
        first = fitting.model_copy(update={"protection": ProtectionRequest()})
        with self._lock:
            self._check(first, self.suggested | first.roles)
            self._steps[:] = [first.model_copy(update={"roles": self.suggested | first.roles})]

    def change_to_saved(self, saved: models.TableSettings, settled: Collection[str]) -> None:
        """Change to saved settings, without columns that no longer exist; only the roles of `settled` ones are used."""
        wanted = self._fit_to_columns(saved, settled)
        with self._lock:
            self._change(wanted)

    def continue_from(self, earlier: TableHistory) -> None:
        """Continue the history of the same file as it was read before, with its steps for undo."""
        if {*earlier.suggested} == {*self.suggested}:
            self._steps, self._now = list(earlier._steps), earlier._now
        else:
            self.change_to_saved(earlier.settings, self.suggested)
        self.version = earlier.version + 1
        self.trail[:0], self.decisions, self.reopened = earlier.trail, earlier.decisions, earlier.reopened

    def add_earlier_records(self, decisions: Sequence[RecordedDecision], trail: Sequence[TrailEntry]) -> None:
        """Insert earlier decisions and trail entries before those of this table, each once; the oldest are dropped."""
        self.decisions[:] = _joined(decisions, self.decisions)[-MOST_DECISIONS:]
        self.trail[:] = _shortened(_joined(trail, self.trail))

    def _fit_to_columns(self, settings: models.TableSettings, settled: Collection[str]) -> models.TableSettings:
        """Settings of another table without columns that this one lacks; roles and decisions of `settled` ones only."""
        columns, settled = {*self._table.columns}, {*settled}
        groups = {label: [name for name in names if name in columns] for label, names in settings.groups.items()}
        protection = settings.protection
        gone = {*protection.named(columns)} - columns
        fitting = {
            "roles": {name: role for name, role in settings.roles.items() if name in settled},
            "decided": [name for name in settings.decided if name in settled],
            "groups": {label: names for label, names in groups.items() if names},
            "strata": settings.strata if settings.strata in columns else None,
            "cluster": settings.cluster if settings.cluster in columns else None,
            "protection": protection.without_columns(gone) if gone else protection,
        }
        return settings.model_copy(update=fitting)

    def step(self, by: int) -> None:
        """Undo or redo one step."""
        with self._lock:
            if not 0 <= self._now + by < len(self._steps):
                raise Refusal(409, f"there is nothing to {'undo' if by < 0 else 'redo'}")
            before = self.settings
            self._now += by
            self.version += 1
            self.note("undone" if by < 0 else "done again", **_difference(before, self.settings))

    def _require(self, names: Sequence[str]) -> None:
        if names:
            self._table.require(list(dict.fromkeys(names)))

    def _check(self, wanted: models.TableSettings, roles: dict[str, Any]) -> None:
        """Refuse columns that do not exist, and two columns with a role that only one can have."""
        drawn_by = [name for name in (wanted.strata, wanted.cluster) if name is not None]
        self._require([*wanted.roles, *wanted.decided, *drawn_by])
        for label, members in wanted.groups.items():
            if not members:
                raise InputError(f"group {label!r} has no columns; name some, or leave the group out")
            self._require(members)
        for role in ("person", "weight"):
            several = [name for name in roles if roles[name] == role]
            if len(several) > 1:
                raise InputError(f"only one column can be the {role} column; {len(several)} are")
        self._require(wanted.protection.named(self._table.columns))


def utc_now() -> str:
    """The current time in UTC, in ISO format."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _joined(earlier: Sequence[_Record], now: Sequence[_Record]) -> list[_Record]:
    """All earlier records, then those of `now` that are not among them."""
    known = {one.model_dump_json() for one in earlier}
    return [*earlier, *(one for one in now if one.model_dump_json() not in known)]


def _shortened(trail: list[TrailEntry]) -> list[TrailEntry]:
    """The newest entries of an audit trail, and all results of attacks."""
    if len(trail) <= _MAX_TRAIL:
        return trail
    return [*(entry for entry in trail[:-_MAX_TRAIL] if entry.what == ATTACKED), *trail[-_MAX_TRAIL:]]


def _difference(before: models.TableSettings, after: models.TableSettings) -> dict[str, Any]:
    """Differences between two settings for the audit trail: old and new values, none of which can be a cell."""
    drawn = ("population", "strata", "cluster")
    plain = (*drawn, "recipient", "threshold", "highest", "tolerate", "certain", "rows_are_people")
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


def _follow_secrets(
    asked: ProtectionRequest, before: Mapping[str, ChosenRole], now: Mapping[str, ChosenRole]
) -> ProtectionRequest:
    """A protection of all sensitive columns, updated to those of the new roles; of other columns it is unchanged."""
    secrets_before, secrets = (
        [name for name, role in roles.items() if role in ("sensitive", "both") and name not in asked.leave_out]
        for roles in (before, now)
    )
    if not secrets_before or {*asked.secrets} != {*secrets_before}:
        return asked
    if not secrets:
        return asked.model_copy(update={"sensitive": None, "l": None, "t": None, "diverse": []})
    return asked.model_copy(update={"sensitive": secrets, "diverse": [one for one in asked.diverse if one in secrets]})


def _decided_by(sent: models.TableSettings) -> list[str]:
    """The columns that a request decides: those it lists as decided, otherwise all to which it gives a role."""
    return list(sent.decided if "decided" in sent.model_fields_set else sent.roles)
