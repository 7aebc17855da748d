"""Options of verbs made from declarations: those of a question, and those of `protect`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from incrowd._support.option import Option
from incrowd.assessment.question import OPTIONS, Question
from incrowd.cli import options
from incrowd.cli.command_files import Input, StepInput
from incrowd.errors import InputError
from incrowd.protection.protect_options import OPTIONS as PROTECT_OPTIONS

Verb = Callable[..., None]
Decorator = Callable[[Verb], Verb]

ASSESS = tuple(option.name for option in OPTIONS if option.on_command_line and not option.reading)
"""The options of `assess`, besides those on reading."""

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
    """Declaration of an option for Typer."""
    if option.kind == "switch":
        flags = option.flag if option.default is False else f"{option.flag}/--no-{option.typed}"
        return Annotated[bool if option.default is not None else bool | None, typer.Option(flags, help=option.help)]
    if option.kind == "share":
        return Annotated[float | None, options.share_option(str(option.flag), option.help)]
    kind = str if option.choices and option.kind == "number" else _TYPES.get(option.kind, str)
    marks = [_FILES[option.kind]] if option.kind in _FILES else []
    return Annotated[kind | None, typer.Option(option.flag, help=option.help), *marks]


def add_options(command: Verb, added: Mapping[str, tuple[Any, Any]], *, after: Container[str] | None = None) -> Verb:
    """Give a verb further options, in place of its `**` parameter.

    `added` has the annotation and the default of each; they follow all its own parameters, or those named in `after`.
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
    """Give a verb with `**` these options, after some of its own; what was not typed is None, or a switch's default."""
    added = {
        option.name: (typer_annotation(option), option.default if option.kind == "switch" else None)
        for option in declared
    }
    return lambda command: add_options(command, added, after=after)


def with_question_options(*names: str) -> Decorator:
    """Give a verb these options of a question; `question_from` reads what was typed."""
    return with_options(option for option in OPTIONS if option.name in names)


def read_value(option: Option, typed: Any, columns: Sequence[str] = ()) -> Any:
    """The value of an option from what was typed; `columns` are the table's, whose names may have commas."""
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
    """A number, where a word would be possible too."""
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
    found: dict[str, str] = {}
    for name, equals, text in ((part.strip() for part in entry.partition("=")) for entry in parts):
        if not equals:
            raise InputError(f"{option.flag} {form}")
        if name in found:
            raise InputError(f"{option.flag} is given twice for {name!r}; give it once")
        found[name] = text
    return found


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
    """The options that were typed, as `protect` takes them; those that say nothing are left out."""
    left_alone = {option.name: option.default if option.kind == "switch" else None for option in PROTECT}
    changed = [option for option in PROTECT if typed[option.name] not in (left_alone[option.name], [], ())]
    values = {option.name: read_value(option, typed[option.name], columns) for option in changed}
    return {name: value for name, value in values.items() if value not in ((), {})}  # [] says that there are none


def question_from(typed: Mapping[str, Any], columns: Sequence[str], before: Question | None = None) -> Question:
    """The question that was typed, on top of the one of a settings file.

    `typed` has options by the names of their fields, and others, which are left out. The columns of the table may have
    commas in their names. A switch that was left alone keeps what the settings file says.
    """
    values = {
        option.name: read_value(option, typed[option.name], columns)
        for option in OPTIONS
        if option.name in typed and not (option.kind == "switch" and typed[option.name] == option.default)
    }
    saved = before or Question()
    now = {*(values.get("other") or ()), *(values.get("sensitive") or ())}  # judged as they are
    contents = {name: held for name, held in saved.contents.items() if name not in now}
    return replace(saved.with_given(**values), contents=contents)
