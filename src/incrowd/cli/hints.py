"""Parameters as flags: how the command line shows the hints of errors and of advice."""

from __future__ import annotations

from collections.abc import Iterable

_FLAGS = {"quasi_identifiers": "--qi", "identifiers": "--identifier"}


def with_flags(text: str, hint: Iterable[str]) -> str:
    """A sentence with the flags of the parameters that it speaks of, before its full stop.

    >>> with_flags("give the population", ("population",)), with_flags("Name them.", ("quasi_identifiers", "l=2"))
    ('give the population (--population)', 'Name them (--qi) (--l 2).')
    """
    stop = "." if text.endswith(".") else ""
    return text.removesuffix(stop) + "".join(f" ({_flag(one)})" for one in hint) + stop


def _flag(hint: str) -> str:
    name, _, value = hint.partition("=")
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    return f"{flag} {value}" if value else flag
