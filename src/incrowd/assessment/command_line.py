"""Options as words of a command line, and back; a question as the command and as the script that ask it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incrowd._support.option import Option

if TYPE_CHECKING:
    from incrowd.assessment.question import Question

_NUMBERS: Mapping[str, Callable[[str], Any]] = {"number": float, "whole": int}


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
    """An option for names: once with commas, or once for each where a name has a comma itself or all stand `apart`."""
    if not names:
        return []
    if apart or any("," in name or name != name.strip() for name in names):
        return [word for name in names for word in given(flag, name)]
    return given(flag, ",".join(names))


def given(flag: str, value: Any) -> list[str]:
    """An option with its value, in one word where the value would be taken for an option itself."""
    if value is None:
        return []
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]


def to_words(options: Mapping[str, Any]) -> list[str]:
    """Options by their names on the command line, with their values; None and an empty list are left out.

    >>> to_words({"qi": ["age", "sex"], "k": 5, "person": None, "out": "-safe.csv"})
    ['--qi', 'age,sex', '--k', '5', '--out=-safe.csv']
    >>> to_words({"qi": ["income, net", "age"]})
    ['--qi', 'income, net', '--qi', 'age']
    """
    return [
        word
        for name, value in options.items()
        for word in (each if isinstance(value, list | tuple) else given)(f"--{name}", value)
    ]


def option_words(option: Option, value: Any, *, apart: bool = False) -> list[str]:
    """A declared option as it is typed; `apart` names every column by itself. Steps are pairs."""
    flag = str(option.flag)
    if option.kind == "columns":
        return each(flag, value, apart=apart)
    if option.kind == "texts":
        return [word for text in value for word in given(flag, text)]
    if option.kind == "codes":
        return [word for text in value.split(";") for word in given(flag, text)]
    if option.kind == "groups":
        return [word for label, names in value.items() for word in given(flag, f"{label}={','.join(names)}")]
    if option.kind == "steps":
        return [word for column, action in value for word in given(flag, f"{column}:{action}")]
    if option.kind == "numbers":
        return [word for name, number in value.items() for word in given(flag, f"{name}={plain_number(number)}")]
    if isinstance(value, Mapping):
        return given(flag, ",".join(f"{name}={parts}" for name, parts in value.items()))
    if option.kind == "switch":
        return [f"--{'' if value else 'no-'}{option.typed}"]
    return given(flag, value)


def plain_number(value: float | None) -> str | None:
    """A number with all its digits, a whole one without a point.

    >>> plain_number(2.0), plain_number(0.1)
    ('2', '0.1')
    """
    return None if value is None else str(int(value)) if float(value).is_integer() else repr(value)


def parse_options(words: Sequence[str], options: Iterable[Option]) -> dict[str, Any] | None:
    """What the words of a command say, by the names of fields; None where a word is none of these options."""
    by_flag = {option.flag: option for option in options}
    values: dict[str, Any] = {}
    left = list(words)
    while left:
        flag, equals, value = left.pop(0).partition("=")
        option = by_flag.get(flag)
        if option is None or (option.kind != "switch" and not equals and not left):
            return None
        if option.kind == "switch":
            values[option.name] = True
        else:
            text = value if equals else left.pop(0)
            if option.kind == "codes" and option.name in values:
                text = f"{values[option.name]};{text}"
            values[option.name] = _NUMBERS.get(option.kind, str)(text)
    return values


def to_arguments(question: Question) -> list[str] | None:
    """The options of `incrowd assess`, without the table; None where a command line cannot hold a name.

    >>> from incrowd.assessment import Question
    >>> to_arguments(Question(quasi_identifiers=["age", "sex"], population=900))
    ['--qi', 'age,sex', '--population', '900']
    """
    said = [(option, value) for option, value in question.said() if option.flag is not None and not option.reading]
    columns = [name for option, value in said if option.kind == "columns" for name in value]
    labels = [*question.groups, *(name for names in question.groups.values() for name in names)]
    if not (is_typable(columns) and is_typable(question.groups, "=") and is_typable(labels, ",")):
        return None
    apart = any("," in name for name in columns)
    return [word for option, value in said for word in option_words(option, value, apart=apart)]


def to_command(question: Question, *more: str, verb: str = "assess") -> str | None:
    """The command that asks this question, with further words; None where a command line cannot hold a name."""
    arguments = to_arguments(question)
    table, *reading = question.named
    place = f"./{table}" if table.startswith("-") else table  # or it would be taken for an option
    return None if arguments is None else shlex.join(["incrowd", verb, place, *reading, *arguments, *more])


def to_call(question: Question) -> str:
    """The call of `assess` for a `table`, with an option a line."""
    lines = [f"    {name}={value!r}," for name, value in question.keywords().items()]
    return "\n".join(["found = assess(", "    table,", *lines, ")"])


def to_python(question: Question) -> str:
    """The script that asks this question and prints the decision."""
    reading = [f"{option.name}={value!r}" for option, value in question.said() if option.reading]
    opened = ", ".join([repr(question.source or "TABLE"), *reading])
    lines = ["from incrowd import assess, read_table", "", f"table = read_table({opened})", to_call(question)]
    return "\n".join([*lines, "print(found.verdict.sentence)"])
