"""The options of a question on the command line, made from their one declaration in `assessment.question`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incrowd._support.option import Option
from incrowd.assessment.question import OPTIONS, Question
from incrowd.cli import options

ASSESS = tuple(option.name for option in OPTIONS if option.flag is not None and not option.reading)
"""The options of `assess`, besides those on reading."""


def takes_question_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb with `**` these options of a question, after its table; `question_from` reads what was typed."""

    added = {
        option.name: (options.annotation(option), option.default if option.kind == "switch" else None)
        for option in OPTIONS
        if option.name in names
    }
    return lambda command: options.add_options(command, added, after=("table", "before", "after"))


def _values(typed: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """What was typed as the values of a question's fields; other entries are left out."""
    given = [option for option in OPTIONS if option.name in typed and not _is_unset(option, typed[option.name])]
    return {option.name: _value(option, typed[option.name], columns) for option in given}


def _is_unset(option: Option, typed: Any) -> bool:
    """Whether a switch was left alone, so that a settings file may have set it."""
    return option.kind == "switch" and typed == option.default


def _value(option: Option, typed: Any, columns: Sequence[str]) -> Any:
    if option.kind == "columns":
        return tuple(options.names(typed, columns))
    if option.kind == "texts":
        return tuple(typed or ())
    if option.kind == "codes":
        return ";".join(typed) if typed else None
    if option.kind == "groups":
        return options.groups(typed)
    if option.kind == "people":
        return options.count(typed, option.name) if typed else None
    return typed


def question_from(typed: Mapping[str, Any], columns: Sequence[str], before: Question | None = None) -> Question:
    """The question that was typed, on top of the one of a settings file.

    Args:
        typed: options by the names of their fields, as the command line reads them.
        columns: the columns of the table, which may have commas in their names.
        before: the question of the settings file.
    """
    return (before or Question()).with_given(**_values(typed, columns))
