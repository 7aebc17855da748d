"""How one field of a question is spelled: on the command line, in settings files and in JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Kind = Literal[
    "columns", "text", "texts", "people", "share", "whole", "number", "switch", "groups", "rules", "source", "file"
]
"""What a value is: names of columns, a text, a number of people, a share, a whole or any number, yes or no, columns
that are known together by a label, the limits of `check`, the table itself, another table."""


@dataclass(frozen=True, slots=True)
class Option:
    """How one field of a question is spelled.

    `flag` is None where the command line of `assess` has no such option, `section` where a settings file has none.
    `key` is the name in settings files and in JSON. `reading` tells that it says how the table is read.
    """

    kind: Kind
    flag: str | None
    help: str
    section: str | None
    key: str
    default: Any
    reading: bool
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
) -> Any:
    """A field of a question with its spelling."""
    spelling = {"option": Option(kind, flag, help_text, section, key, default, reading)}
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


def options_of(question: type) -> tuple[Option, ...]:
    """The options of a question, in the order of its fields."""
    spelled = ((one.name, one.metadata["option"]) for one in fields(question))
    return tuple(replace(option, name=name, key=option.key or name) for name, option in spelled)
