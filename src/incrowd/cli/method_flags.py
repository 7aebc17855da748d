"""The options of single protection methods on the command line, made from `protection.method_options`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incrowd._support.option import Option
from incrowd.cli import options
from incrowd.errors import InputError
from incrowd.protection.method_options import OPTIONS

TYPED = {name: option for name, option in OPTIONS.items() if option.flag is not None}
"""The options that can be typed."""


def takes_method_options(*, after: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb with `**` the options of single methods, after one of its own; `read` reads what was typed."""
    added = {
        name: (options.annotation(option), option.default if option.kind == "switch" else None)
        for name, option in TYPED.items()
    }
    return lambda command: options.add_options(command, added, after=(after,))


def read(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were typed, as `protect` takes them; the others are left out."""
    given = {name: option for name, option in TYPED.items() if typed[name] not in (None, [], option.default)}
    return {name: _value(option, typed[name]) for name, option in given.items()}


def _value(option: Option, typed: Any) -> Any:
    if option.kind == "numbers":
        return read_numbers(str(option.flag), typed)
    if option.kind == "people":
        return options.count(typed, option.name)
    if option.kind == "resolution":
        parts = [part.partition("=") for part in options.names([typed])]
        return {name.strip(): text.strip() for name, _, text in parts} if "=" in typed else typed
    if option.kind == "steps":
        steps = [one.partition(":") for one in typed]
        if not all(colon and action for _, colon, action in steps):
            raise InputError("a step is a column, a colon and what to do: age:ranges=20, zip:keep=3, sex:*")
        return [(name.strip(), action.strip()) for name, _, action in steps]
    return typed


def read_numbers(flag: str, typed: Sequence[str]) -> dict[str, float]:
    """Numbers by column, as age=85."""
    numbers: dict[str, float] = {}
    for name, _, text in (one.partition("=") for one in options.names(typed)):
        try:
            number = float(text)
        except ValueError:
            raise InputError(f"{flag} needs a column and a number: age=85") from None
        numbers[name.strip()] = int(number) if number.is_integer() else number
    return numbers
