"""Options as words of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def is_typable(names: Iterable[str], ending: str = "") -> bool:
    """Whether names can be written where a blank name is left out and any of the letters in `ending` ends one.

    >>> is_typable(["age", "income, net"], ","), is_typable(["a=b"], ","), is_typable([" "])
    (False, True, False)
    """
    return all(
        name.strip() and not (ending and (name != name.strip() or any(letter in name for letter in ending)))
        for name in names
    )


def each(flag: str, names: Sequence[str], *, apart: bool = False) -> list[str]:
    """An option for names: once with commas, or once for each where a name has a comma itself or all stand `apart`.

    >>> each("--qi", ["age", "sex"]), each("--qi", ["income, net", "age"])
    (['--qi', 'age,sex'], ['--qi', 'income, net', '--qi', 'age'])
    """
    if not names:
        return []
    if apart or any("," in name or name != name.strip() for name in names):
        return [word for name in names for word in given(flag, name)]
    return given(flag, ",".join(names))


def given(flag: str, value: Any) -> list[str]:
    """An option with its value, in one word where the value would be taken for an option itself.

    >>> given("--k", 5), given("--qi", "-dash"), given("--k", None)
    (['--k', '5'], ['--qi=-dash'], [])
    """
    if value is None:
        return []
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
