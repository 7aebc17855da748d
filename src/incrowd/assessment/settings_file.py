"""Writing and reading of a question as a file in TOML, which is also the form in which columns are judged.

Its section `[answers]` has a line for every column. A word with a question mark is a guess, which is no answer: it is
read as nothing until a person takes the question mark away.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from incrowd._support.files import read_small, written_whole
from incrowd._support.option import Option, OptionKind
from incrowd.assessment.column_fingerprints import ONE_ROLE
from incrowd.assessment.command_line import parse_options
from incrowd.assessment.question import OPTIONS, READING, Question, as_plain
from incrowd.errors import InputError
from incrowd.wording import counted, listed

_HEADING = "# Who is to get the table, and what its columns are: a question for incrowd.\n"
_ANSWERS = "answers"
_FIELDS: Mapping[str, tuple[str, ...]] = {  # the fields of a question that name a column with this answer
    "known": ("quasi_identifiers",),
    "sensitive": ("sensitive",),
    "both": ("quasi_identifiers", "sensitive"),
    "neither": ("other",),
    "identifier": ("identifiers",),
    "drop": ("drop",),
    "person": ("person",),
    "weight": ("weights",),
}
ANSWER_FIELDS = tuple(dict.fromkeys(field for fields in _FIELDS.values() for field in fields))
"""The fields of a question that answer for columns."""
_TWO_QUESTIONS = ("known", "sensitive", "both", "neither")  # answers whether others know a column, and whether it harms
_SINGLE = {"person": "person column", "weights": "weight"}  # fields that name one column
_HELP = """\
# A column that nobody judged counts as known and as sensitive. The answers are:
#   known       somebody outside can know it about a person
#   sensitive   it would harm somebody if it were learned
#   both, neither
#   identifier  it names people      drop    it is left out of the release
#   person      whose record it is   weight  how many people a record stands for
# A word with a question mark is a guess, and no answer: correct it, and take the question mark away.
"""
_ALIGNED = 28  # characters of a line before its remark, where that is possible
_TYPES: Mapping[OptionKind, tuple[tuple[type, ...], str]] = {
    "people": ((int,), "a whole number"),
    "whole": ((int,), "a whole number"),
    "share": ((int, float), "a number"),
    "switch": ((bool,), "true or false"),
}


@dataclass(frozen=True, slots=True)
class OpenLine:
    """A line of the form for a column that nobody judged.

    Attributes:
        column: the name of the column.
        guess: what is guessed, in a word of `ANSWERS`; empty if nothing is.
        remark: why, and what the column would do.
    """

    column: str
    guess: str = ""
    remark: str = ""


def to_toml(question: Question, open_lines: Sequence[OpenLine] = ()) -> str:
    """The text of a settings file; `protection` is a choice for one run and is not saved.

    Args:
        question: the question.
        open_lines: the columns that nobody judged, for a person to answer.
    """
    import tomli_w

    sections: dict[str, dict[str, Any]] = {}
    for option in OPTIONS:
        value = file_of(question) if option.kind == "source" else getattr(question, option.name)
        if option.section is None or not option.is_given(value) or option.name in ANSWER_FIELDS:
            continue
        if option.section == option.name:  # a section of its own, with any keys
            sections[option.section] = as_plain(value)
        else:
            sections.setdefault(option.section, {})[option.key] = as_plain(value)
    contents = sections.pop("contents", None)
    answers = _write_answers(question, open_lines)
    after = tomli_w.dumps({"contents": contents}) if contents else ""
    return "\n".join(filter(None, (_HEADING, tomli_w.dumps(sections), answers, after)))


def _write_answers(question: Question, open_lines: Sequence[OpenLine]) -> str:
    """The section of the columns: those that nobody judged, then the answers."""
    lines = [_line(one.column, f"{one.guess}?", one.remark) for one in open_lines]
    answers = [_line(name, answer) for name, answer in answers_of(question).items()]
    if not lines and not answers:
        return ""
    if lines:
        lines = [_HELP.rstrip(), "", f"# Open: {counted(len(lines), 'column', 'columns')}", *lines]
    if answers:
        lines += [*([""] if lines else []), "# Answered", *answers]
    return "\n".join([f"[{_ANSWERS}]", *lines, ""])


def _line(column: str, answer: str, remark: str = "") -> str:
    """A line of the section of the columns; a remark has no character that would end the line."""
    import tomli_w

    line = tomli_w.dumps({column: answer}).strip()
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in remark)
    return f"{line:<{_ALIGNED}}  # {plain}" if plain else line


def answers_of(question: Question) -> dict[str, str]:
    """The answer of every column that a question gives one, in a word of `ANSWERS`."""
    given: dict[str, set[str]] = {}
    for field in ANSWER_FIELDS:
        value = getattr(question, field)
        for name in [value] if isinstance(value, str) else value or ():
            given.setdefault(name, set()).add(field)
    by_fields = {frozenset(fields): answer for answer, fields in _FIELDS.items()}
    answers: dict[str, str] = {}
    for name, named_by in given.items():
        answer = by_fields.get(frozenset(named_by))
        if answer is None:
            raise InputError(f"the column {name!r} is given two roles; name it once")
        answers[name] = answer
    return answers


def with_answers(question: Question, answers: Mapping[str, str]) -> Question:
    """The question with answers for some columns, in place of those that it has for them.

    >>> with_answers(Question(quasi_identifiers=["age"]), {"age": "both", "id": "drop"}).sensitive
    ('age',)
    """
    merged = {name: answer for name, answer in answers_of(question).items() if name not in answers} | dict(answers)
    fields: dict[str, Any] = {}
    for field in ANSWER_FIELDS:
        names = tuple(name for name, answer in merged.items() if field in _FIELDS[answer])
        if field in _SINGLE and len(names) > 1:
            raise InputError(f"{listed(names)} cannot all be the {_SINGLE[field]}; name one")
        fields[field] = next(iter(names), None) if field in _SINGLE else names or _default_of(field)
    return replace(question, **fields)


def _default_of(field: str) -> Any:
    return next(option.default for option in OPTIONS if option.name == field)


def free_name(place: str) -> str:
    """A name for the question about a table that no file has; a file that lies beside the table is not obeyed.

    >>> free_name("data/stays.csv.gz"), free_name("-"), free_name("postgresql://db/clinic")
    ('stays.toml', 'question.toml', 'question.toml')
    """
    stem = "" if "://" in place else Path(place).name.partition(".")[0]
    stem = stem if stem.strip("-") else "question"
    names = (f"{stem}{number}.toml" for number in ("", *(f"-{count}" for count in range(2, 1_000))))
    return next((name for name in names if not Path(name).exists()), f"{stem}.toml")


def save_question(
    question: Question,
    path: str | os.PathLike[str],
    *,
    open_lines: Sequence[OpenLine] = (),
    force: bool = False,
) -> Path:
    """Write a settings file."""
    with written_whole(path, force=force) as temporary:
        temporary.write_text(to_toml(question, open_lines), encoding="utf-8")
    return Path(path)


def read_question(path: str | os.PathLike[str]) -> Question:
    """Read a settings file.

    Args:
        path: the file, in TOML, as `incrowd assess` writes it.

    Raises:
        InputError: there is no such file, or something in it is not understood.
    """
    try:
        text = read_small(path).decode()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the name and the folder you are in") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{Path(path).name or path} cannot be read: {reason}") from None
    return from_toml(text, Path(path).name)


def from_toml(text: str, name: str = "the question file") -> Question:
    """The question that a settings file holds.

    Args:
        text: the file's text.
        name: the file's name, for messages.

    Raises:
        InputError: the text is no TOML, or an entry is not known or of the wrong type.
    """
    try:
        sections = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for numbers that are too long and lists that nest too deep
        raise InputError(f"{name} is not valid TOML: {error}") from None
    known = [*dict.fromkeys(option.section for option in OPTIONS if option.section is not None), _ANSWERS]
    settings: dict[str, Any] = {}
    answers: dict[str, str] = {}
    for section, entries in sections.items():
        if section not in known:
            homes = (option.section for option in OPTIONS if option.key == section and option.section is not None)
            home = next((f" put it under [{place}];" for place in homes), "")
            raise InputError(f"{name}: no section {section!r} is known;{home} there are: {', '.join(known)}")
        if not isinstance(entries, dict):
            raise InputError(f"{name}: {section} must be a section; write [{section}] on a line of its own")
        if section == _ANSWERS:
            answers = _read_answers(name, entries)
        else:
            settings |= _read_section(name, section, entries)
    question = Question(**settings)
    of_one_role = dict.fromkeys(_names_of_one_role(question), ONE_ROLE)
    question = replace(question, contents={**question.contents, **of_one_role})
    if twice := [column for column in answers_of(question) if column in answers]:
        raise InputError(f"{name}: {twice[0]!r} is in [columns] and in [{_ANSWERS}]; name it once")
    return with_answers(question, answers) if answers else question


def _names_of_one_role(question: Question) -> list[str]:
    """The columns of `[columns]` whose one role answers one question of two.

    Earlier versions wrote them so, and people write it so for the rules of `check`, which count by these columns. For a
    verdict they are not judged.
    """
    return [name for name, answer in answers_of(question).items() if answer in _TWO_QUESTIONS]


def file_of(question: Question) -> str | None:
    """The table in a settings file: its name, followed by its reading options as on a command line."""
    if question.source is None:
        return None
    plain = len(question.named) == 1 and _parse_file(question.source) == {"source": question.source}
    return question.source if plain else shlex.join(question.named)


def _parse_file(text: str) -> dict[str, Any]:
    """Parse the table of a settings file: a name with reading options, or only a name if the rest is something else."""
    try:
        source, *words = shlex.split(text)
        reading = parse_options(words, READING)
    except ValueError:
        return {"source": text}
    if reading is None or (not words and shlex.join([source]) != text):
        return {"source": text}
    return {"source": source, **reading}


def _read_answers(file: str, entries: Mapping[str, Any]) -> dict[str, str]:
    """The answers of the section of the columns; a guess and an empty line are none."""
    answers: dict[str, str] = {}
    for column, text in entries.items():
        word = text.strip().lower() if isinstance(text, str) else None
        if word is None or (word.removesuffix("?") not in ("", *_FIELDS)):
            raise InputError(
                f"{file}: the answer for {column!r} is not understood; write {', '.join(_FIELDS)}, or leave it empty"
            )
        if word and not word.endswith("?"):
            answers[column] = word
    return answers


def _read_section(file: str, section: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of one section of a settings file, by field name of `Question`."""
    if section == "groups":
        return {"groups": {label: _listed_names(file, label, names) for label, names in entries.items()}}
    if section == "contents":
        if not all(isinstance(text, str) for text in entries.values()):
            raise InputError(f"{file}: contents must be texts, as saving the question writes them")
        return {"contents": dict(entries)}
    if section == "rules":  # checked where rules are used
        return {"rules": dict(entries)}
    known = {option.key: option for option in OPTIONS if option.section == section}
    fields: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in known:
            raise InputError(f"{file}: [{section}] has no {key!r}; there are: {', '.join(known)}")
        entry = _read_entry(file, known[key], value)
        fields |= _parse_file(entry) if known[key].kind == "source" else {known[key].name: entry}
    return fields


def _read_entry(file: str, option: Option, value: Any) -> Any:
    """One entry of a settings file, after a check of its type."""
    if option.kind in ("columns", "texts"):
        return _listed_names(file, option.key, value)
    wanted, words = _TYPES.get(option.kind, ((str,), "text in quotes"))
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise InputError(f"{file}: {option.key} must be {words}")
    return value


def _listed_names(file: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'{file}: {key} must be a list of column names, such as ["age", "sex"]')
    return tuple(value)
