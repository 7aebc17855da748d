"""Parameters as flags: how the command line shows the hints of errors and of advice."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from incrowd.assessment.question import OPTIONS
from incrowd.protection.method_options import OPTIONS as METHOD_OPTIONS

_FLAGS = {option.name: option.flag for option in (*METHOD_OPTIONS.values(), *OPTIONS) if option.flag} | {
    "from_table": "--table",
    "methods": "--method",
    "hierarchies": "--hierarchy",
    "maximum_likelihood": "--ml",
}
"""Flags of declared options, and others that are not the parameter's name in kebab case."""


def flag(hint: str) -> str:
    """A parameter as the flag that sets it.

    >>> flag("quasi_identifiers"), flag("skip_bad_lines"), flag("method=tcloseness")
    ('--qi', '--skip-bad-lines', '--method tcloseness')
    """
    name, equals, value = hint.partition("=")
    words = _FLAGS.get(name) or f"--{name.replace('_', '-')}"
    return f"{words} {value}" if equals else words


def null_flags(codes: Mapping[str, Sequence[int]]) -> str:
    """What says that codes stand for missing values.

    >>> null_flags({"age": [-9], "my children": [98, 99]})
    "--null age=-9 --null 'my children=98,99'"
    """
    return shlex.join(
        [word for name, found in codes.items() for word in ("--null", f"{name}={','.join(map(str, found))}")]
    )


def with_flags(text: str, hint: Iterable[str]) -> str:
    """A message with the flags that help at its end, before its full stop.

    >>> with_flags("give the population", ["population"]), with_flags("the file is empty", ())
    ('give the population (--population)', 'the file is empty')
    >>> with_flags("Name them.", ["quasi_identifiers", "l=2"])
    'Name them (--qi, --l 2).'
    """
    stop = "." if text.endswith(".") else ""
    flags = ", ".join(flag(one) for one in hint)
    return text.removesuffix(stop) + (f" ({flags})" if flags else "") + stop
