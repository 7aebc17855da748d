"""`incrowd.toml`: what a table's columns are, what is asked and what is allowed, so that the next run is the same."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from incrowd._support.files import written_whole
from incrowd.errors import InputError

FILE_NAME = "incrowd.toml"

_SECTIONS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "columns": {
        "quasi_identifiers": list,
        "sensitive": list,
        "person": str,
        "weight": str,
        "identifiers": list,
        "other": list,
    },
    "groups": {},  # any name: the columns an attacker knows together
    "question": {"population": int, "recipient": str, "threshold": (int, float), "seed": int},
    "table": {"file": str},
    "rules": {},  # checked where rules are made
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The contents of a settings file; what it does not say is None or empty. `file` is the table it is about."""

    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None
    identifiers: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    population: int | None = None
    recipient: str | None = None
    threshold: float | None = None
    seed: int | None = None
    rules: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None

    def to_toml(self) -> str:
        """The file's text."""
        parts = ["# What the columns of the table are, for `incrowd assess` and `incrowd check --policy`.\n"]
        for section, known in _SECTIONS.items():
            values = {name: getattr(self, name) for name in known} or dict(getattr(self, section))
            lines = [f"{_key(name)} = {_value(value)}" for name, value in values.items() if value not in (None, ())]
            if lines:
                parts.append("\n".join([f"[{section}]", *lines]) + "\n")
        return "\n".join(parts)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the file."""
        with written_whole(path, force=force) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8")
        return Path(path)


def read_settings(path: str | os.PathLike[str]) -> Settings:
    """A settings file, or a refusal that says which line of it is not understood."""
    name = Path(path).name
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the name and the folder you are in") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{name} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {error}") from None
    unknown = [section for section in given if section not in _SECTIONS]
    if unknown:
        raise InputError(f"{name}: no section {unknown[0]!r} is known; there are: {', '.join(_SECTIONS)}")
    found: dict[str, Any] = {}
    for section, entries in given.items():
        if not isinstance(entries, dict):
            raise InputError(f"{name}: {section} must be a section; write [{section}] on a line of its own")
        if section == "groups":
            found["groups"] = {label: _names(name, label, members) for label, members in entries.items()}
        elif section == "rules":
            found["rules"] = dict(entries)
        else:
            found |= {key: _checked(name, section, key, value) for key, value in entries.items()}
    return Settings(**found)


def _checked(file: str, section: str, key: str, value: Any) -> Any:
    """One entry, of the right type."""
    known = _SECTIONS[section]
    if key not in known:
        raise InputError(f"{file}: [{section}] has no {key!r}; there are: {', '.join(known)}")
    if known[key] is list:
        return _names(file, key, value)
    if not isinstance(value, known[key]) or isinstance(value, bool):
        wanted = {str: "text in quotes", int: "a whole number"}.get(known[key], "a number")  # type: ignore[arg-type]
        raise InputError(f"{file}: {key} must be {wanted}")
    return value


def _names(file: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'{file}: {key} must be a list of column names, such as ["age", "sex"]')
    return tuple(value)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_text(name) for name in value) + "]"
    return repr(value)


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are TOML's too, except that TOML also escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


assert {name for known in _SECTIONS.values() for name in known} | {"groups", "rules"} == {
    one.name for one in fields(Settings)
}
