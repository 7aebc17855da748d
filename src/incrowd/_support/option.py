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
    "contents",
    "source",
    "file",
    "numbers",
    "resolution",
    "steps",
]
"""What a value is: names of columns, a text, a number of people, a share, a whole or any number, yes or no, columns
that are known together by a label, the limits of `check`, what columns held, the table itself, another table; a number
for each column, numbers of intervals, what is done to columns in order; missing codes, in one text with ; between those
of columns."""


@dataclass(frozen=True, slots=True)
class Option:
    """How one field of a class of options, such as a question, is spelled.

    `typed` is its name on the command line, without dashes, and None where that has no such option; `section` is None
    where a settings file has none. `key` is the name in settings files and in JSON. `reading` tells that it says how
    the table is read. `lowest` is the smallest whole number that makes sense.
    """

    kind: Kind
    help: str
    typed: str | None
    section: str | None
    key: str
    default: Any
    reading: bool
    lowest: int = 0
    name: str = ""

    @property
    def flag(self) -> str | None:
        """The option as the command line has it, with its dashes."""
        return None if self.typed is None else f"--{self.typed}"

    def is_said(self, value: Any) -> bool:
        """Whether a value says something: it is not empty, and not the default."""
        return value not in (None, (), {}, self.default)


def option(
    kind: Kind,
    help_text: str = "",
    *,
    typed: str | None = "",
    section: str | None = None,
    key: str = "",
    default: Any = None,
    reading: bool = False,
    lowest: int = 0,
) -> Any:
    """A field with its spelling; `key` is the field's name unless given, and `typed` that key."""
    spelling = {"option": Option(kind, help_text, typed, section, key, default, reading, lowest)}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=spelling)
    return field(default=default, metadata=spelling)


def column(help_text: str, typed: str = "", key: str = "") -> Any:
    """A field that names one column."""
    return option("text", help_text, typed=typed, section="columns", key=key)


def columns(help_text: str, typed: str = "", default: Any = ()) -> Any:
    """A field that names columns."""
    return option("columns", help_text, typed=typed, section="columns", default=default)


def asked(kind: Kind, help_text: str, typed: str = "", default: Any = None) -> Any:
    """A field that says what is asked."""
    return option(kind, help_text, typed=typed, section="question", default=default)


def reading(kind: Kind, help_text: str, typed: str = "", default: Any = None) -> Any:
    """A field that says how the table is read."""
    return option(kind, help_text, typed=typed, reading=True, default=default)


def options_of(declared: type) -> tuple[Option, ...]:
    """The options of a class, in the order of its fields."""
    return tuple(_named(one.name, one.metadata["option"]) for one in fields(declared))


def _named(name: str, option: Option) -> Option:
    key = option.key or name
    typed = key.replace("_", "-") if option.typed == "" else option.typed
    return replace(option, name=name, key=key, typed=typed)
