"""Parameters as flags: how the command line shows the hints of errors and of advice."""

from __future__ import annotations

from collections.abc import Iterable

_FLAGS = {
    "quasi_identifiers": "--qi",
    "identifiers": "--identifier",
    "from_table": "--table",
    "methods": "--method",
    "steps": "--step",
    "weights": "--weight",
    "strata": "--stratum",
    "hierarchies": "--hierarchy",
    "scales": "--scale",
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
    """A message with the flags that help at its end, before its full stop.

    >>> with_flags("give the population", ["population"]), with_flags("the file is empty", ())
    ('give the population (--population)', 'the file is empty')
    >>> with_flags("Name them.", ["quasi_identifiers", "l=2"])
    'Name them (--qi, --l 2).'
    """
    stop = "." if text.endswith(".") else ""
    flags = ", ".join(flag(one) for one in hint)
    return text.removesuffix(stop) + (f" ({flags})" if flags else "") + stop
