"""Conversion of options to words of a command line and back, and of a question to a command or a Python script."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incrowd._support.option import Option

if TYPE_CHECKING:
    from incrowd.assessment.question import Question

_NUMBERS: Mapping[str, Callable[[str], Any]] = {"number": float, "whole": int}


def is_typable(names: Iterable[str], ending: str = "") -> bool:
    """True if a parser reads these names back, given that it drops blank names and ends a name at letters of `ending`.

    >>> is_typable(["age", "income, net"], ","), is_typable(["a=b"], ","), is_typable([" "])
    (False, True, False)
    """
    return all(
        name.strip() and not (ending and (name != name.strip() or any(letter in name for letter in ending)))
        for name in names
    )


def each(flag: str, names: Sequence[str], *, apart: bool = False) -> list[str]:
    """An option for names: once with commas, or once for each name if a name has a comma or `apart` is true."""
    if not names:
        return []
    if apart or any("," in name or name != name.strip() for name in names):
        return [word for name in names for word in given(flag, name)]
    return given(flag, ",".join(names))


def given(flag: str, value: Any) -> list[str]:
    """An option with its value; as one word if the value itself looks like an option."""
    if value is None:
        return []
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]


def to_words(options: Mapping[str, Any]) -> list[str]:
    """The words of options with their values; None, False and empty values are left out.

    >>> to_words({"qi": ["age", "sex"], "k": 5.0, "person": None, "compare": True, "out": "-safe.csv"})
    ['--qi', 'age,sex', '--k', '5', '--compare', '--out=-safe.csv']
    >>> to_words({"qi": ["income, net", "age"]})
    ['--qi', 'income, net', '--qi', 'age']
    >>> to_words({"error_rate": 0.1, "groups": {"census": ["age", "sex"]}, "noise": {"age": 2.0}})
    ['--error-rate', '0.1', '--groups', 'census=age,sex', '--noise', 'age=2']
    """
    return [word for name, value in options.items() for word in _value_words(f"--{name.replace('_', '-')}", value)]


def _value_words(flag: str, value: Any, *, apart: bool = False) -> list[str]:
    """An option with a value, by the type of the value; `apart` repeats the option for every column."""
    if value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [word for text in _pairs(value) for word in given(flag, text)]
    if isinstance(value, list | tuple):
        return each(flag, [_plain(one) for one in value], apart=apart)
    return given(flag, None if value is None else _plain(value))


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={','.join(one) if isinstance(one, list | tuple) else _plain(one)}" for name, one in values.items()]


def _plain(value: Any) -> str:
    """A value as text; a number with all its digits, and no point where it is whole."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def option_words(option: Option, value: Any, *, apart: bool = False) -> list[str]:
    """An option as it is typed; `apart` repeats the option for every column.

    >>> from incrowd.protection.protect_options import OPTIONS
    >>> option_words(OPTIONS["widest"], {"age": 10.0, "town": 2.5}), option_words(OPTIONS["identifiers"], [])
    (['--widest', 'age=10', '--widest', 'town=2.5'], ['--identifier', 'none'])
    """
    flag = str(option.flag)
    if option.kind == "switch":
        return [f"--{'' if value else 'no-'}{option.typed}"]
    if option.kind == "key" and isinstance(value, bytes):
        return [flag, "KEY"]  # the file is not known, and the key itself is never shown
    if option.kind in ("texts", "codes", "steps"):
        texts = value.split(";") if option.kind == "codes" else value
        return [word for text in texts for word in given(flag, text if isinstance(text, str) else ":".join(text))]
    if option.kind in ("resolution", "words") and isinstance(value, Mapping):
        return given(flag, ",".join(_pairs(value)))
    return _value_words(flag, value, apart=apart) or given(flag, option.empty)


def words_of(declared: Mapping[str, Option], values: Mapping[str, Any]) -> list[str] | None:
    """The words of options, in the order of their declaration; options without a flag are left out.

    None if a command line cannot hold a name.
    """
    given = [
        (option, values[name]) for name, option in declared.items() if values.get(name) is not None and option.flag
    ]
    typable = all(_is_typable(option, value) for option, value in given)
    return [word for option, value in given for word in option_words(option, value)] if typable else None


def _is_typable(option: Option, value: Any) -> bool:
    """True if the column names in a value are read back unchanged after they are typed."""
    if option.kind == "columns":
        return is_typable(value) and list(value) != [option.empty]
    if option.kind == "steps":
        return is_typable((column for column, _ in value), ":")
    return not isinstance(value, Mapping) or is_typable(value, ",=")


def parse_options(words: Sequence[str], options: Iterable[Option]) -> dict[str, Any] | None:
    """Parse the words of a command into fields by name; None if a word is none of these options."""
    by_flag = {option.flag: option for option in options}
    values: dict[str, Any] = {}
    remaining = list(words)
    while remaining:
        flag, equals, value = remaining.pop(0).partition("=")
        option = by_flag.get(flag)
        if option is None or (option.kind != "switch" and not equals and not remaining):
            return None
        if option.kind == "switch":
            values[option.name] = True
        else:
            text = value if equals else remaining.pop(0)
            if option.kind == "codes" and option.name in values:
                text = f"{values[option.name]};{text}"
            values[option.name] = _NUMBERS.get(option.kind, str)(text)
    return values


def to_arguments(question: Question) -> list[str] | None:
    """The options of `incrowd assess`, without the table; None if a command line cannot hold a name.

    >>> from incrowd.assessment import Question
    >>> to_arguments(Question(quasi_identifiers=["age", "sex"], population=900))
    ['--qi', 'age,sex', '--population', '900']
    """
    given = [
        (option, value) for option, value in question.given_options() if option.flag is not None and not option.reading
    ]
    columns = [name for option, value in given if option.kind == "columns" for name in value]
    labels = [*question.groups, *(name for names in question.groups.values() for name in names)]
    if not (is_typable(columns) and is_typable(question.groups, "=") and is_typable(labels, ",")):
        return None
    apart = any("," in name for name in columns)
    return [word for option, value in given for word in option_words(option, value, apart=apart)]


def to_command(question: Question, *more: str, verb: str = "assess") -> str | None:
    """The command that asks this question, with further words; None if a command line cannot hold a name."""
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
    reading = [f"{option.name}={value!r}" for option, value in question.given_options() if option.reading]
    opened = ", ".join([repr(question.source or "TABLE"), *reading])
    lines = ["from incrowd import assess, read_table", "", f"table = read_table({opened})", to_call(question)]
    return "\n".join([*lines, "print(found.verdict.sentence)"])
