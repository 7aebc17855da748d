"""Actions that an assessment advises, as buttons: the settings each changes, or the protection it starts."""

from __future__ import annotations

from typing import Any, Literal

from incrowd.assessment import Assessment
from incrowd.assessment.internal_reasons import why_known_anyway
from incrowd.assessment.verdict import Action
from incrowd.tables import SuggestedRole
from incrowd.tables.formats import takes_option
from incrowd.web.column_models import ReadingChanges
from incrowd.web.fields import ChosenRole, Id, Model
from incrowd.web.models import SettingsState, TableSettings
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable
from incrowd.wording import counted, display_names, listed, with_display_names


class ActionChoice(Model):
    """A button: the settings or the reading of the file that it changes, or the protection that it starts."""

    label: str
    settings: TableSettings | None = None
    reading: ReadingChanges | None = None
    protection: ProtectionRequest | None = None


class ActionView(Model):
    """An advised action; without choices it is advice only."""

    number: int
    does: Literal["rows", "columns", "reading", "protect", "advice"]
    sentence: str
    expected: dict[str, Any] | None
    choices: list[ActionChoice]


class ActionQuestion(Model):
    """The number of the chosen button of an action."""

    choice: int = 0


class ActionDone(Model):
    """The effect of a button: the job that was started, or the new settings."""

    job: Id | None = None
    settings: SettingsState | None = None


def list_actions(found: Assessment, table: OpenTable) -> list[ActionView]:
    """The actions of an assessment, each with its buttons."""
    shown = display_names(one.column for one in table.columns)
    return [_view_action(number, action, found, table, shown) for number, action in enumerate(found.verdict.actions)]


def _view_action(number: int, action: Action, found: Assessment, table: OpenTable, shown: dict[str, str]) -> ActionView:
    does: Literal["rows", "columns", "reading", "protect", "advice"] = "advice"
    choices: list[ActionChoice] = []
    sentence = action.sentence
    if "rows_are_people" in action.hint:
        does, choices = "rows", _row_choices(found, table)
    elif "quasi_identifiers" in action.hint and "other" in action.hint:
        doubted = [_doubt_choices(one) for one in found.roles.suggested if one.column in found.roles.known_anyway]
        parts = [*([_column_choices(table)] if {*table.table.columns} - {*table.settings.decided} else []), *doubted]
        if parts:
            does, sentence = "columns", " ".join(words for _, words in parts)
            choices = [choice for some, _ in parts for choice in some]
    elif reading := _reading_choices(action, table):
        does, choices = "reading", reading
    elif any(hint.startswith("null=") for hint in action.hint):
        sentence += " Missing codes are stated beside the column, under “How it is read”."
    elif not (action.hint or action.commands or action.protection):
        sentence += " There is no button for this: do it in the file, and open it again."
    elif action.protection is not None:
        asked = ProtectionRequest(**action.protection)
        removed = {*asked.leave_out, *table.with_role("drop"), *table.with_role("identifier")}
        without = f" without {counted(len(removed), 'column', 'columns')}" if removed else ""
        does = "protect"
        choices = [ActionChoice(label=f"Protect with classes of {asked.k:,}{without}", protection=asked)]
    for choice in choices:
        choice.label = with_display_names(choice.label, shown)
    sentence = with_display_names(sentence, shown)
    return ActionView(number=number, does=does, sentence=sentence, expected=action.expected, choices=choices)


def _reading_choices(action: Action, table: OpenTable) -> list[ActionChoice]:
    """Buttons that read the file in another way: spellings as one, or dates by what comes first in them."""
    if "fold" in action.hint:
        return [ActionChoice(label="Join spellings", reading=ReadingChanges(fold=True))]
    if any(hint.startswith("dates=") for hint in action.hint) and takes_option(table.source.file, "dates"):
        return [
            ActionChoice(label="The day is first", reading=ReadingChanges(dates="day-first")),
            ActionChoice(label="The month is first", reading=ReadingChanges(dates="month-first")),
        ]
    return []


def _row_choices(found: Assessment, table: OpenTable) -> list[ActionChoice]:
    """Buttons on what a row is: a record of the person in a likely column, if there is one, or another person each."""
    person = found.roles.unused_person or found.evidence.rows.person
    choices = [ActionChoice(label="Every row is another person", settings=TableSettings(rows_are_people=True))]
    if person in table.table.columns:
        named = TableSettings(roles={person: "person"})
        choices.insert(0, ActionChoice(label=f"{person} tells whose record it is", settings=named))
    return choices


def _doubt_choices(one: SuggestedRole) -> tuple[list[ActionChoice], str]:
    """Buttons on a column that others know, though it was decided that they do not, and the sentence on it."""
    name = one.column
    known, drop = (TableSettings(roles={name: role}) for role in ("quasi-identifier", "drop"))
    return (
        [
            ActionChoice(label=f"Count {name} as known", settings=known),
            ActionChoice(label=f"Leave {name} out", settings=drop),
        ],
        f"{name} counts as known to others, whatever you said: {why_known_anyway(one)}. Count it as known, or leave it "
        "out.",
    )


def _column_choices(table: OpenTable) -> tuple[list[ActionChoice], str]:
    """A button that confirms the suggested roles of undecided columns, and the sentence of the action.

    Columns without a suggestion are named in the sentence and not confirmed: a person must decide about them.
    """
    decided, current = {*table.settings.decided}, table.settings.roles
    undecided = [one for one in table.columns if one.column not in decided]
    roles: dict[str, ChosenRole] = {
        one.column: current[one.column] for one in undecided if table.history.has_reason(one.column)
    }
    left = [one.column for one in undecided if one.column not in roles]
    sentence = f"Judge {counted(len(undecided), 'column', 'columns')}"
    choices = []
    if roles:
        columns = counted(len(roles), "column", "columns")
        sentence += f". For {len(roles):,} of them a role is suggested" if left else ""
        sentence += f": {listed(roles)}. Confirm what is suggested, or give another role in the list"
        label = f"Confirm all suggestions ({columns})" if not left else f"Confirm {columns} with a reason"
        choices = [ActionChoice(label=label, settings=TableSettings(roles=roles))]
    if left:
        sentence += f". Nothing is suggested for {', '.join(left)}: a person must decide, in the list"
    return choices, f"{sentence}."
