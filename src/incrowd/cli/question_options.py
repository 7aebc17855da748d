"""The options of a question on the command line, made from their one declaration in `assessment.question`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incrowd.assessment.option import Option
from incrowd.assessment.question import OPTIONS, Question
from incrowd.cli import options

ASSESS = tuple(option.name for option in OPTIONS if option.flag is not None and not option.reading)
"""The options of `assess`, besides those on reading."""


def asks(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb with `**` these options of a question, after its table; `question_from` reads what was typed."""

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())
        tables = [parameter for parameter in own if parameter.name in ("table", "before", "after")]
        added = [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default if option.kind == "switch" else None,
                annotation=options.annotation(option),
            )
            for option in OPTIONS
            if option.name in names
        ]
        rest = [one for one in own if one not in tables and one.kind is not inspect.Parameter.VAR_KEYWORD]
        several = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*tables, *added, *rest)]
        command.__signature__ = inspect.Signature(several)  # type: ignore[attr-defined]
        return command

    return with_options


def _values(typed: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """What was typed as the values of a question's fields; other entries are left out."""
    return {option.name: _value(option, typed[option.name], columns) for option in OPTIONS if option.name in typed}


def _value(option: Option, typed: Any, columns: Sequence[str]) -> Any:
    if option.kind == "columns":
        return tuple(options.names(typed, columns))
    if option.kind == "texts":
        return tuple(typed or ())
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
