"""How one field of a class of options is spelled: on the command line, in settings files and in JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Kind = Literal[
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
    "source",
    "file",
    "numbers",
    "resolution",
    "steps",
]
"""What a value is: names of columns, a text, a number of people, a share, a whole or any number, yes or no, columns
that are known together by a label, the limits of `check`, the table itself, another table; a number for each column,
numbers of intervals, what is done to columns in order; missing codes, in one text with ; between those of columns."""


@dataclass(frozen=True, slots=True)
class Option:
    """How one field of a class of options, such as a question, is spelled.

    `flag` is None where the command line has no such option, `section` where a settings file has none.
    `key` is the name in settings files and in JSON. `reading` tells that it says how the table is read. `lowest` is the
    smallest whole number that makes sense.
    """

    kind: Kind
    flag: str | None
    help: str
    section: str | None
    key: str
    default: Any
    reading: bool
    lowest: int = 0
    name: str = ""

    def is_said(self, value: Any) -> bool:
        """Whether a value says something: it is not empty, and not the default."""
        return value not in (None, (), {}, self.default)


def option(
    kind: Kind,
    flag: str | None,
    help_text: str = "",
    *,
    section: str | None = None,
    key: str = "",
    default: Any = None,
    reading: bool = False,
    lowest: int = 0,
) -> Any:
    """A field with its spelling."""
    spelling = {"option": Option(kind, flag, help_text, section, key, default, reading, lowest)}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=spelling)
    return field(default=default, metadata=spelling)


def column(flag: str, help_text: str, key: str = "") -> Any:
    """A field that names one column."""
    return option("text", flag, help_text, section="columns", key=key)


def columns(flag: str, help_text: str, default: Any = ()) -> Any:
    """A field that names columns."""
    return option("columns", flag, help_text, section="columns", default=default)


def asked(kind: Kind, flag: str, help_text: str, default: Any = None) -> Any:
    """A field that says what is asked."""
    return option(kind, flag, help_text, section="question", default=default)


def reading(kind: Kind, flag: str, help_text: str, default: Any = None) -> Any:
    """A field that says how the table is read."""
    return option(kind, flag, help_text, reading=True, default=default)


def options_of(declared: type) -> tuple[Option, ...]:
    """The options of a class, in the order of its fields."""
    spelled = ((one.name, one.metadata["option"]) for one in fields(declared))
    return tuple(replace(option, name=name, key=option.key or name) for name, option in spelled)
