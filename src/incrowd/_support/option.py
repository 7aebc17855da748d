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
"""The kind of a value: names of columns, a text, a number of people, a share, a whole or any number, yes or no, columns
that are known together by a label, the limits of `check`, what columns held, the table itself, another table; a number
for each column, numbers of intervals, what is done to columns in order, a word for all columns or for each, how columns
are made coarser; a secret key or its file; missing codes, in one text with ; between those of columns."""


@dataclass(frozen=True, slots=True)
class Option:
    """The spelling of one field of a class of options, such as a question.

    Attributes:
        typed: name on the command line, without dashes; None if the command line has no such option.
        section: section of the settings file; None if the settings file has no such option.
        key: name in settings files and in JSON.
        reading: the option says how the table is read.
        lowest, above, highest: the range of a number.
        choices: accepted words, or words for numbers.
        empty: typed if there are no such columns.
        by_role: the app asks for it as the role of a column.
    """

    kind: OptionKind
    help: str = ""
    typed: str | None = ""
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
    name: str = ""

    @property
    def flag(self) -> str | None:
        """The option as the command line has it, with its dashes."""
        return None if self.typed is None else f"--{self.typed}"

    def is_given(self, value: Any) -> bool:
        """True if a value is neither empty nor the default."""
        return value not in (None, (), {}, self.default)

    def named(self, name: str) -> Option:
        """The option with its name set; `key` and `typed` are the name where they are not given."""
        key = self.key or name
        return replace(self, name=name, key=key, typed=key.replace("_", "-") if self.typed == "" else self.typed)


def option(kind: OptionKind, help_text: str = "", **spelling: Any) -> Any:
    """A dataclass field with its spelling; keyword arguments are further fields of `Option`."""
    declared = Option(kind, help_text, **spelling)
    if isinstance(declared.default, dict):
        return field(default_factory=dict, metadata={"option": declared})
    return field(default=declared.default, metadata={"option": declared})


column = partial(option, "text", section="columns")
"""A field that names one column."""
columns = partial(option, "columns", section="columns", default=())
"""A field that names columns."""
asked = partial(option, section="question")
"""A field that says what is asked."""
reading = partial(option, reading=True)
"""A field that says how the table is read."""


def options_of(declared: type) -> tuple[Option, ...]:
    """The options of a class, in the order of its fields."""
    return tuple(one.metadata["option"].named(one.name) for one in fields(declared))
