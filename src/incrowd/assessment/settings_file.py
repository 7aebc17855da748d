"""Writing and reading of a question as a file in TOML."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd._support.files import read_small, written_whole
from incrowd._support.option import Option, OptionKind
from incrowd.assessment.command_line import parse_options
from incrowd.assessment.question import OPTIONS, READING, Question, as_plain
from incrowd.errors import InputError

_HEADING = "# What the columns of the table are, for `incrowd assess` and as a policy for `incrowd check`.\n"
_TYPES: Mapping[OptionKind, tuple[tuple[type, ...], str]] = {
    "people": ((int,), "a whole number"),
    "whole": ((int,), "a whole number"),
    "share": ((int, float), "a number"),
    "switch": ((bool,), "true or false"),
}


def to_toml(question: Question) -> str:
    """The text of a settings file; `protection` is a choice for one run and is not saved."""
    import tomli_w

    sections: dict[str, dict[str, Any]] = {}
    for option in OPTIONS:
        value = file_of(question) if option.kind == "source" else getattr(question, option.name)
        if option.section is None or not option.is_given(value):
            continue
        if option.section == option.name:  # a section of its own, with any keys
            sections[option.section] = as_plain(value)
        else:
            sections.setdefault(option.section, {})[option.key] = as_plain(value)
    return f"{_HEADING}\n{tomli_w.dumps(sections)}"


def save_question(question: Question, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a settings file."""
    with written_whole(path, force=force) as temporary:
        temporary.write_text(to_toml(question), encoding="utf-8")
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
    known = list(dict.fromkeys(option.section for option in OPTIONS if option.section is not None))
    settings: dict[str, Any] = {}
    for section, entries in sections.items():
        if section not in known:
            homes = (option.section for option in OPTIONS if option.key == section and option.section is not None)
            home = next((f" put it under [{place}];" for place in homes), "")
            raise InputError(f"{name}: no section {section!r} is known;{home} there are: {', '.join(known)}")
        if not isinstance(entries, dict):
            raise InputError(f"{name}: {section} must be a section; write [{section}] on a line of its own")
        settings |= _read_section(name, section, entries)
    return Question(**settings)


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
