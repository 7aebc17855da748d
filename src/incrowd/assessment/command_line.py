"""Options as words of a command line, and words of a command line as options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from incrowd._support.option import Option


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


def option_words(option: Option, value: Any, *, apart: bool = False) -> list[str]:
    """An option of a question as it is typed; `apart` names every column by itself."""
    flag = option.flag or ""
    if option.kind == "columns":
        return each(flag, value, apart=apart)
    if option.kind == "texts":
        return [word for text in value for word in given(flag, text)]
    if option.kind == "codes":
        return [word for text in value.split(";") for word in given(flag, text)]
    if option.kind == "groups":
        return [word for label, names in value.items() for word in given(flag, f"{label}={','.join(names)}")]
    if option.kind == "switch":
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    return given(flag, value)


def parse_options(words: Sequence[str], options: Iterable[Option]) -> dict[str, Any] | None:
    """What the words of a command say, by the names of fields; None where a word is none of these options."""
    by_flag = {option.flag: option for option in options}
    found: dict[str, Any] = {}
    left = list(words)
    while left:
        flag, equals, value = left.pop(0).partition("=")
        option = by_flag.get(flag)
        if option is None or (option.kind != "switch" and not equals and not left):
            return None
        if option.kind == "switch":
            found[option.name] = True
        else:
            text = value if equals else left.pop(0)
            if option.kind == "codes" and option.name in found:
                text = f"{found[option.name]};{text}"
            found[option.name] = float(text) if option.kind == "number" else text
    return found
