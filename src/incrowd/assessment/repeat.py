"""A question as the command and as the Python script that ask it again."""

from __future__ import annotations

import shlex

from incrowd.assessment.command_line import is_typable, option_words
from incrowd.assessment.question import Question


def to_arguments(question: Question) -> list[str] | None:
    """The options of `incrowd assess`, without the table; None where a command line cannot hold a name.

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


def to_command(question: Question, *more: str) -> str | None:
    """The command that asks this question, with further words; None where a command line cannot hold a name."""
    arguments = to_arguments(question)
    table, *reading = question.named
    place = f"./{table}" if table.startswith("-") else table  # or it would be taken for an option
    return None if arguments is None else shlex.join(["incrowd", "assess", place, *reading, *arguments, *more])


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
