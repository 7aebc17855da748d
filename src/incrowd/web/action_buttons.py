"""Actions of an assessment as buttons: what each would change or start, by its hints and settings."""

from __future__ import annotations

from typing import Any, Literal

from incrowd.assessment import Assessment
from incrowd.assessment.verdict import Action
from incrowd.web.fields import ChosenRole, Id, Model
from incrowd.web.models import SettingsState, TableSettings
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable
from incrowd.wording import counted, display_names, listed, with_display_names


class ActionChoice(Model):
    """A button: the settings that it changes, or the protection that it starts."""

    label: str
    settings: TableSettings | None = None
    protection: ProtectionRequest | None = None


class ActionView(Model):
    """One thing to do; one without choices is advice only."""

    number: int
    does: Literal["rows", "columns", "protect", "advice"]
    sentence: str
    expected: dict[str, Any] | None
    choices: list[ActionChoice]


class ActionQuestion(Model):
    """Choice of an action that is taken."""

    choice: int = 0


class ActionDone(Model):
    """Effect of a choice: the job that was started, or the settings as they are now."""

    job: Id | None = None
    settings: SettingsState | None = None


def list_actions(found: Assessment, table: OpenTable) -> list[ActionView]:
    """The actions of an assessment, each with what a click on it does."""
    shown = display_names(one.column for one in table.columns)
    return [_view(number, action, found, table, shown) for number, action in enumerate(found.verdict.actions)]


def _view(number: int, action: Action, found: Assessment, table: OpenTable, shown: dict[str, str]) -> ActionView:
    does: Literal["rows", "columns", "protect", "advice"] = "advice"
    choices: list[ActionChoice] = []
    sentence = action.sentence
    if "rows_are_people" in action.hint:
        does, choices = "rows", _row_choices(found, table)
    elif "quasi_identifiers" in action.hint and "other" in action.hint:
        does, choices, sentence = "columns", *_column_choices(table)
    elif action.protection is not None:
        asked = ProtectionRequest(**action.protection)
        without = f" without {counted(gone, 'column', 'columns')}" if (gone := len(asked.leave_out)) else ""
        apart = ", those not asked kept apart" if asked.apart else ""
        does = "protect"
        choices = [ActionChoice(label=f"Protect with classes of {asked.k:,}{without}{apart}", protection=asked)]
    for choice in choices:
        choice.label = with_display_names(choice.label, shown)
    sentence = with_display_names(sentence, shown)
    return ActionView(number=number, does=does, sentence=sentence, expected=action.expected, choices=choices)


def _row_choices(found: Assessment, table: OpenTable) -> list[ActionChoice]:
    """Choices of what a row is: a record of a person in a column, if one looks like it, or another person each."""
    person = found.roles.unused_person or found.evidence.rows.person
    choices = [ActionChoice(label="Every row is another person", settings=TableSettings(rows_are_people=True))]
    if person in table.table.columns:
        named = TableSettings(roles={person: "person"})
        choices.insert(0, ActionChoice(label=f"{person} tells whose record it is", settings=named))
    return choices


def _column_choices(table: OpenTable) -> tuple[list[ActionChoice], str]:
    """Confirm what is suggested with a reason for columns that nobody has judged, and that in words for the page.

    Where nothing was found a person must decide: such columns are named, and not confirmed with the others.
    """
    decided, now = {*table.settings.decided}, table.settings.roles
    is_open = [one for one in table.columns if one.column not in decided]
    if not is_open:
        return [], "Give every column a role in the list."
    roles: dict[str, ChosenRole] = {
        one.column: now[one.column]
        for one in is_open
        if now[one.column] != "other" or (table.history.suggested[one.column] == "other" and one.confidence != "low")
    }
    left = [one.column for one in is_open if one.column not in roles]
    sentence = f"Judge {counted(len(is_open), 'column', 'columns')}"
    choices = []
    if roles:
        columns = counted(len(roles), "column", "columns")
        sentence += f": {listed(roles)}. Confirm what is suggested, or give another role in the list"
        label = f"Confirm all suggestions ({columns})" if not left else f"Confirm {columns} with a reason"
        choices = [ActionChoice(label=label, settings=TableSettings(roles=roles))]
    if left:
        sentence += f". Nothing is suggested for {', '.join(left)}: a person must decide, in the list"
    return choices, f"{sentence}."
