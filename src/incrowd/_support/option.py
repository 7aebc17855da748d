"""The spelling of one option on the command line, in settings files and in JSON."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from incrowd.wording import listed

_Data = TypeVar("_Data")
_Keywords = ParamSpec("_Keywords")
_Options = TypeVar("_Options")
_Result = TypeVar("_Result")

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
    "call",
]
"""The kind of an option's value.

- columns: names of columns. text, texts: one text, several texts.
- codes: codes of missing values, in one text with ; between those of different columns.
- people: a number of people. share: a number from 0 to 1. whole, number: a whole number, any number. switch: yes or no.
- groups: labelled groups of columns that an attacker knows together. rules: the limits of `check`.
- contents: what columns held when their roles were saved. source: the table itself. file: another table.
- numbers: a number for each column. resolution: numbers of intervals. steps: actions on columns, in order.
- words: one word for all columns, or one for each. hierarchies: generalisation hierarchies of columns.
- key: a secret key, or the file that holds it. call: a function."""


@dataclass(frozen=True, slots=True)
class Option:
    """The spelling of one field of a class of options, such as a question.

    Attributes:
        help: what it is, in a line. form: how it is typed, which the command line adds. more: what callers of the
            library must know besides.
        group: the heading under which the option is listed.
        methods: the methods of protection that take the option; others refuse it. Empty: all.
        inputs: settings of a method, one of which it needs for the option to have an effect.
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
    form: str = ""
    more: str = ""
    group: str = ""
    methods: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    @property
    def help_on_command_line(self) -> str:
        """The help with how the option is typed, and with the method it is for if there is one only."""
        of_method = f"For {self.methods[0]}: {self.help[:1].lower()}{self.help[1:]}" if len(self.methods) == 1 else ""
        return f"{of_method or self.help} {self.form}".strip()

    @property
    def in_docstring(self) -> str:
        """The option as a line of a docstring in Google's style."""
        methods = f"For {listed(self.methods)}." if self.methods else ""
        return f"{self.name}: {' '.join(filter(None, (self.help, self.more, methods)))}"

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
    return field(default=declared.default, metadata={"option": declared}, repr=kind != "key")


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
    return tuple(part.metadata["option"].named(part.name) for part in fields(declared))


def takes_options(
    declared: Callable[_Keywords, _Options],
) -> Callable[[Callable[[_Data, _Options], _Result]], Callable[Concatenate[_Data, _Keywords], _Result]]:
    """A function of data and an object of options becomes one of data and keywords, which its docstring lists."""

    def decorate(function: Callable[[_Data, _Options], _Result]) -> Callable[Concatenate[_Data, _Keywords], _Result]:
        plain = inspect.signature(function)
        data, options = plain.parameters.values()
        spelled_out = plain.replace(parameters=[data, *inspect.signature(declared).parameters.values()])

        @functools.wraps(function)
        def called(*values: Any, **keywords: Any) -> _Result:
            try:
                given = spelled_out.bind(*values, **keywords).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            return function(given.pop(data.name), cast(Any, declared)(**given))

        lines = [
            textwrap.fill(option.in_docstring, 120, initial_indent=" " * 4, subsequent_indent=" " * 8)
            for option in options_of(cast(type, declared))
        ]
        described = inspect.cleandoc(function.__doc__ or "")
        called.__doc__ = re.sub(rf"^    {options.name}: .*$", lambda _: "\n".join(lines), described, flags=re.MULTILINE)
        called.__signature__ = spelled_out  # type: ignore[attr-defined]
        return cast("Callable[Concatenate[_Data, _Keywords], _Result]", called)

    return decorate
