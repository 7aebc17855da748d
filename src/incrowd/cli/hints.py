"""Flags of parameters, for the hints of errors and advice."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from incrowd.assessment.question import OPTIONS
from incrowd.protection.protect_options import OPTIONS as PROTECT_OPTIONS

_FLAGS = {option.name: option.flag for option in (*PROTECT_OPTIONS.values(), *OPTIONS) if option.flag} | {
    "from_table": "--table",
    "methods": "--method",
    "maximum_likelihood": "--ml",
}
"""Flags of declared options, and of others whose flag is not the name of the parameter in kebab case."""


def flag(hint: str) -> str:
    """The flag of a parameter, with a value after an equals sign and the name of another command before a point.

    >>> flag("quasi_identifiers"), flag("method=tcloseness"), flag("null=not known"), flag("protect.apart")
    ('--qi', '--method tcloseness', "--null 'not known'", 'protect --apart')
    """
    parameter, equals, value = hint.partition("=")
    command, _, name = parameter.rpartition(".")
    words = f"{command} {_FLAGS.get(name) or '--' + name.replace('_', '-')}".lstrip()
    return f"{words} {shlex.quote(value)}" if equals else words


def options_typed(typed: Mapping[str, Any], declared: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """The options of a verb that were typed: those with another value than their default."""
    return {name: value for name, value in typed.items() if value not in (None, [], declared[name].default)}


def null_flags(codes: Mapping[str, Sequence[int]], place: str) -> str:
    """Flags that declare codes as missing values, or advice if the file's format has no such option.

    >>> null_flags({"age": [-9], "my children": [98, 99]}, "people.csv")
    "--null age=-9 --null 'my children=98,99'"
    >>> null_flags({"age": [-9]}, "people.parquet")
    'leave these cells empty in the file'
    """
    from incrowd.tables.formats import takes_option  # imports the libraries of all formats

    if not takes_option(place, "null"):
        return "leave these cells empty in the file"
    return shlex.join(
        [word for name, found in codes.items() for word in ("--null", f"{name}={','.join(map(str, found))}")]
    )


def with_flags(text: str, hint: Iterable[str]) -> str:
    """A message with the flags of its hint at the end, before the full stop.

    >>> with_flags("give the population", ["population"]), with_flags("the file is empty", ())
    ('give the population (--population)', 'the file is empty')
    >>> with_flags("Name them.", ["quasi_identifiers", "l=2"])
    'Name them (--qi, --l 2).'
    """
    stop = "." if text.endswith(".") else ""
    flags = ", ".join(flag(one) for one in hint)
    return text.removesuffix(stop) + (f" ({flags})" if flags else "") + stop
