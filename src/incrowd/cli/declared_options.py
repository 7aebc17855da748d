"""Options of verbs that are built from declarations: those of a question, and those of `protect`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from incrowd._support.option import Option
from incrowd.assessment.question import OPTIONS, Question
from incrowd.assessment.settings_file import ANSWER_FIELDS, answers_of, with_answers
from incrowd.cli import options
from incrowd.cli.command_files import Input, StepInput
from incrowd.cli.hints import flag
from incrowd.errors import InputError
from incrowd.protection.protect_options import OPTIONS as PROTECT_OPTIONS

Verb = Callable[..., None]
Decorator = Callable[[Verb], Verb]

ASSESS = tuple(option.name for option in OPTIONS if option.on_command_line and not option.reading)
"""The options of `assess`, without the reading options."""

PROTECT = tuple(option for option in PROTECT_OPTIONS.values() if option.on_command_line)
"""The options of `protect` that can be typed."""

_LISTS = ("columns", "texts", "codes", "groups", "numbers", "steps", "words", "hierarchies")
_FILES = {
    "file": Input(),
    "key": Input(address=False),
    "hierarchies": Input(after="=", address=False),
    "steps": StepInput(),
}
_TYPES: Mapping[str, Any] = {**dict.fromkeys(_LISTS, list[str]), "whole": int, "number": float}


def typer_annotation(option: Option) -> Any:
    """The annotation by which Typer declares an option."""
    if option.kind == "switch":
        flags = option.flag if option.default is False else f"{option.flag}/--no-{option.typed}"
        return Annotated[
            bool if option.default is not None else bool | None, typer.Option(flags, help=option.help_on_command_line)
        ]
    if option.kind == "share":
        return Annotated[float | None, options.share_option(str(option.flag), option.help_on_command_line)]
    kind = str if option.choices and option.kind == "number" else _TYPES.get(option.kind, str)
    marks = [_FILES[option.kind]] if option.kind in _FILES else []
    return Annotated[kind | None, typer.Option(option.flag, help=option.help_on_command_line), *marks]


def add_options(command: Verb, added: Mapping[str, tuple[Any, Any]], *, after: Container[str] | None = None) -> Verb:
    """Add options to a verb in place of its `**` parameter.

    `added` has the annotation and the default of each. They follow all of the verb's own parameters, or those in
    `after`.
    """
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    further = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in added.items()
    ]
    place = 1 + max(index for index, parameter in enumerate(own) if after is None or parameter.name in after)
    command.__signature__ = inspect.Signature([*own[:place], *further, *own[place:]])  # type: ignore[attr-defined]
    return command


def with_options(declared: Iterable[Option], *, after: Container[str] = ("table", "before", "after")) -> Decorator:
    """Add these options to a verb with `**`. An option that is not typed is None, a switch has its default."""
    added = {
        option.name: (typer_annotation(option), option.default if option.kind == "switch" else None)
        for option in declared
    }
    return lambda command: add_options(command, added, after=after)


def with_question_options(*names: str) -> Decorator:
    """Add these options of a question to a verb; `question_from` reads their values."""
    return with_options(option for option in OPTIONS if option.name in names)


def read_value(option: Option, typed: Any, columns: Sequence[str] = ()) -> Any:
    """The value of an option from the typed text; `columns` are those of the table, whose names may have commas."""
    if option.kind == "columns":
        names = tuple(options.parse_names(typed, columns))
        return [] if names == (option.empty,) else names
    if option.kind == "texts":
        return tuple(typed or ())
    if option.kind == "codes":
        return ";".join(typed) if typed else None
    if option.kind == "groups":
        return options.parse_groups(typed)
    if option.kind == "hierarchies":
        return options.parse_hierarchies(typed)
    if option.kind == "people":
        return options.parse_count(typed, option.name) if typed else None
    if option.kind == "numbers":
        return _read_numbers(option, typed)
    if option.kind == "number" and option.choices:
        return typed if typed in option.choices else _read_number(option, typed)
    if option.kind == "resolution":
        return _read_by_column(option, [typed], "takes one for all columns, or one for each: age=20,zip=1/8")
    if option.kind == "words":
        return _read_by_column(option, typed, "takes one word for all columns, or a word for each: age=mean,zip=label")
    if option.kind == "steps":
        steps = [step.partition(":") for step in typed]
        if not all(colon and action for _, colon, action in steps):
            raise InputError("a step is a column, a colon and what to do: age:ranges=20, zip:keep=3, sex:*")
        return [(name.strip(), action.strip()) for name, _, action in steps]
    return typed


def _read_number(option: Option, typed: str) -> float:
    """The number of an option that takes a number or one of some words."""
    try:
        return float(typed)
    except ValueError:
        bounds = f"above {option.above:g} and at most {option.highest:g}"
        words = " or ".join(map(repr, option.choices))
        raise InputError(f"{option.flag} {typed!r} is not a number; give one {bounds}, or {words}") from None


def _read_by_column(option: Option, typed: Sequence[str], form: str) -> str | dict[str, str]:
    """One text for all columns, or a text by column, as age=mean,zip=label."""
    parts = options.parse_names(typed)
    if len(parts) == 1 and "=" not in parts[0]:
        return parts[0]
    by_column: dict[str, str] = {}
    for name, equals, text in ((part.strip() for part in entry.partition("=")) for entry in parts):
        if not equals:
            raise InputError(f"{option.flag} {form}")
        if name in by_column:
            raise InputError(f"{option.flag} is given twice for {name!r}; give it once")
        by_column[name] = text
    return by_column


def _read_numbers(option: Option, typed: Sequence[str]) -> dict[str, float]:
    """Numbers by column, as age=85."""
    form = "needs a column and a number: age=85"
    texts = _read_by_column(option, typed, form)
    if isinstance(texts, str):
        raise InputError(f"{option.flag} {form}")
    try:
        numbers = {name: float(text) for name, text in texts.items()}
    except ValueError:
        raise InputError(f"{option.flag} {form}") from None
    return {name: int(number) if number.is_integer() else number for name, number in numbers.items()}


def read_protect_options(typed: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The options that were typed, as `protect` takes them; empty ones are left out."""
    not_typed = {option.name: option.default if option.kind == "switch" else None for option in PROTECT}
    changed = [option for option in PROTECT if typed[option.name] not in (not_typed[option.name], [], ())]
    values = {option.name: read_value(option, typed[option.name], columns) for option in changed}
    return {name: value for name, value in values.items() if value not in ((), {})}  # [] states that there are none


def question_from(typed: Mapping[str, Any], columns: Sequence[str], before: Question | None = None) -> Question:
    """The question of the typed options, and of a settings file for options and columns that were not typed.

    `typed` has values by option, also of options that are not part of a question. The names of the table's `columns`
    may have commas. A switch that was not typed has the value of the settings file.
    """
    values = {
        option.name: read_value(option, typed[option.name], columns)
        for option in OPTIONS
        if option.name in typed and not (option.kind == "switch" and typed[option.name] == option.default)
    }
    saved = before or Question()
    typed_answers = (values.get(field) or () for field in ("quasi_identifiers", "sensitive", "other"))
    judged_now = {name for names in typed_answers for name in names}
    contents = {name: content for name, content in saved.contents.items() if name not in judged_now}
    saved = replace(saved, contents=contents)
    if not answers_of(saved):
        return saved.with_given(**values)
    answers = {name: value for name, value in values.items() if name in ANSWER_FIELDS}
    others = {name: value for name, value in values.items() if name not in ANSWER_FIELDS}
    return with_answers(saved.with_given(**others), answers_of(Question().with_given(**answers)))


def refuse_without_recipient(typed: Mapping[str, Any], of_the_verdict: Iterable[str]) -> None:
    """Refuse options of the verdict, which say nothing where nobody is named who is to get the table."""
    if unused := [name for name in of_the_verdict if typed[name]]:
        raise InputError(f"{flag(unused[0])} is for the verdict; name who is to get the table", hint="recipient")
