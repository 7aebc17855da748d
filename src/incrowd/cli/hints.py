"""The hints of errors as flags of the command line."""

from __future__ import annotations

from collections.abc import Iterable

_FLAGS = {
    "quasi_identifiers": "--qi",
    "identifiers": "--identifier",
    "from_table": "--table",
    "methods": "--method",
    "steps": "--step",
    "hierarchies": "--hierarchy",
    "maximum_likelihood": "--ml",
}
"""Flags that are not the parameter's name in kebab case."""


def flag(hint: str) -> str:
    """A parameter as the flag that sets it.

    >>> flag("quasi_identifiers"), flag("skip_bad_lines"), flag("method=tcloseness")
    ('--qi', '--skip-bad-lines', '--method tcloseness')
    """
    name, equals, value = hint.partition("=")
    words = _FLAGS.get(name) or f"--{name.replace('_', '-')}"
    return f"{words} {value}" if equals else words


def with_flags(text: str, hint: Iterable[str]) -> str:
    """A message followed by the flags that help, in brackets.

    >>> with_flags("give the population", ["population"]), with_flags("the file is empty", ())
    ('give the population (--population)', 'the file is empty')
    >>> with_flags("say how the file is written", ["separator", "encoding"])
    'say how the file is written (--separator, --encoding)'
    """
    flags = ", ".join(flag(one) for one in hint)
    return f"{text} ({flags})" if flags else text
