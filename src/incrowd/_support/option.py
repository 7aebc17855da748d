"""The spelling of one option on the command line, in settings files and in JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Literal

OptionKind = Literal[
    "columns",
    "text",
    "texts",
    "codes",
    "people",
    "share",
    "whole",
    "number",
    "switch",
    "groups",
    "rules",
    "contents",
    "source",
    "file",
    "numbers",
    "resolution",
    "steps",
    "words",
    "hierarchies",
    "key",
]
"""The kind of an option's value.

- columns: names of columns. text, texts: one text, several texts.
- codes: codes of missing values, in one text with ; between those of different columns.
- people: a number of people. share: a number from 0 to 1. whole, number: a whole number, any number. switch: yes or no.
- groups: labelled groups of columns that an attacker knows together. rules: the limits of `check`.
- contents: what columns held when their roles were saved. source: the table itself. file: another table.
- numbers: a number for each column. resolution: numbers of intervals. steps: actions on columns, in order.
- words: one word for all columns, or one for each. hierarchies: generalisation hierarchies of columns.
- key: a secret key, or the file that holds it."""


@dataclass(frozen=True, slots=True)
class Option:
    """The spelling of one field of a class of options, such as a question.

    Attributes:
        typed: name on the command line, without dashes; by default the key.
        on_command_line: True if the command line has the option.
        section: section of the settings file; None if the settings file does not have the option.
        key: name in settings files and in JSON.
        reading: True if the option says how the table is read.
        lowest, above, highest: the range of a number: least value, exclusive lower bound, greatest value.
        choices: accepted words, or words for numbers.
        empty: word that a user types to say that there are no such columns.
        by_role: True if the app asks for the option as the role of a column.
        decides: True if the verdict on a table depends on it: every command that gives a verdict takes it.
    """

    kind: OptionKind
    help: str = ""
    typed: str = ""
    on_command_line: bool = True
    section: str | None = None
    key: str = ""
    default: Any = None
    reading: bool = False
    lowest: float | None = None
    above: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()
    empty: str | None = None
    by_role: bool = False
    decides: bool = False
    name: str = ""

    @property
    def flag(self) -> str | None:
        """The option as the command line has it, with its dashes; None if it does not have it."""
        return f"--{self.typed}" if self.on_command_line else None

    def is_given(self, value: Any) -> bool:
        """True if a value is neither empty nor the default."""
        return value not in (None, (), {}, self.default)

    def named(self, name: str) -> Option:
        """The option with its name set; `key` and `typed` follow from the name if they are not given."""
        key = self.key or name
        return replace(self, name=name, key=key, typed=self.typed or key.replace("_", "-"))


def option(kind: OptionKind, help_text: str = "", **spelling: Any) -> Any:
    """Declare a dataclass field with its spelling; keyword arguments are further fields of `Option`."""
    declared = Option(kind, help_text, **spelling)
    if isinstance(declared.default, dict):
        return field(default_factory=dict, metadata={"option": declared})
    return field(default=declared.default, metadata={"option": declared})


column = partial(option, "text", section="columns", decides=True)
"""Declare a field that names one column."""
columns = partial(option, "columns", section="columns", default=(), decides=True)
"""Declare a field that names columns."""
ask = partial(option, section="question")
"""Declare a field that says what is asked."""
decide = partial(ask, decides=True)
"""Declare a field that says what is asked and that the verdict depends on."""
reading = partial(option, reading=True)
"""Declare a field that says how the table is read."""


def options_of(declared: type) -> tuple[Option, ...]:
    """The options of a class, in the order of its fields."""
    return tuple(one.metadata["option"].named(one.name) for one in fields(declared))
