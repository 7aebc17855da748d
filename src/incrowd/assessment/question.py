"""The question that an assessment answers: everything its numbers depend on, each option declared once.

A field of `Question` carries how it is spelled on the command line and in `incrowd.toml`, and its help text. The
command line, the settings file, the command and the Python script that repeat an assessment, and the provenance in
its JSON are all made from these declarations.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from incrowd._support.files import written_whole
from incrowd.assessment.command_line import each, given, is_typable
from incrowd.errors import InputError
from incrowd.recipients import Limits, listed, settle_limits

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.measures.secret_values import Secret
    from incrowd.tables import Table

FILE_NAME = "incrowd.toml"
_HEADING = "# What the columns of the table are, for `incrowd assess` and as a policy for `incrowd check`.\n"

Kind = Literal["columns", "text", "texts", "people", "share", "whole", "number", "switch", "groups", "rules", "source"]
"""What a value is: names of columns, a text, a number of people, a share, a whole or any number, yes or no, columns
that are known together by a label, the limits of `check`, the table itself."""


@dataclass(frozen=True, slots=True)
class Option:
    """How one field of a question is spelled.

    `flag` is None where the command line of `assess` has no such option, `section` where a settings file has none.
    `key` is the name in settings files and in JSON. `reading` tells that it says how the table is read.
    """

    name: str
    kind: Kind
    flag: str | None
    help: str
    section: str | None
    key: str
    default: Any
    reading: bool


def _option(
    kind: Kind,
    flag: str | None,
    help_text: str = "",
    *,
    section: str | None = None,
    key: str | None = None,
    default: Any = None,
    reading: bool = False,
) -> Any:
    """A field of `Question` with its spelling."""
    spelling = {"kind": kind, "flag": flag, "help": help_text, "section": section, "key": key, "reading": reading}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=spelling)
    return field(default=default, metadata=spelling)


def _reading(kind: Kind, flag: str, help_text: str, default: Any = None) -> Any:
    return _option(kind, flag, help_text, reading=True, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Everything an assessment depends on. What was not said is None or empty.

    - Roles: `quasi_identifiers` and `sensitive` are None where the roles that the columns suggest are to be used.
      `identifiers` name people, `other` columns have no role whatever they look like.
    - `population`: how many people the table was drawn from; `weights` is a column whose sum tells it.
    - `recipient` (None is "public") sets the limit on the risk, unless a `threshold` does. `groups` are columns that
      attackers know together. `protection`: whether its cost is tried. `rules` are the limits of `check`.
    - `source` names the file or the address, and the last fields how it is read.
    """

    quasi_identifiers: Sequence[str] | None = _option(
        "columns", "--qi", "Columns an attacker may know. Commas or repeats.", section="columns"
    )
    sensitive: Sequence[str] | None = _option(
        "columns", "--sensitive", "Columns to keep secret. Commas or repeats.", section="columns"
    )
    person: str | None = _option(
        "text", "--person", "Column that says whose record it is: the unit becomes the person.", section="columns"
    )
    weights: str | None = _option(
        "text",
        "--weight",
        "Column of survey weights: they say how many people there are.",
        section="columns",
        key="weight",
    )
    identifiers: Sequence[str] = _option(
        "columns",
        "--identifier",
        "Columns that name people, besides those that look so.",
        section="columns",
        default=(),
    )
    other: Sequence[str] = _option(
        "columns",
        "--other",
        "Columns that are nothing of the kind, whatever they look like.",
        section="columns",
        default=(),
    )
    population: int | None = _option(
        "people", "--population", "How many people the table was drawn from: 60000000, 6e7.", section="question"
    )
    recipient: str | None = _option("text", "--recipient", f"Who is to get it: {listed()}.", section="question")
    threshold: float | None = _option(
        "share",
        "--threshold",
        "Another limit on the average risk than the recipient's: 0.2 or 20%.",
        section="question",
    )
    highest: float | None = _option(
        "share",
        "--highest",
        "Another limit on the person at highest risk than the recipient's: 0.2 or 20%.",
        section="question",
    )
    secrets: Sequence[str] = _option(
        "texts",
        "--secret",
        "Values of a sensitive column that are secret: illness=HIV,AIDS, income>100000 or income<0. Repeats.",
        section="question",
        default=(),
    )
    tolerate: float | None = _option(
        "share", "--tolerate", "Share of records whose secret may be certain: 1%. Default: none.", section="question"
    )
    rows_are_people: bool = _option(
        "switch",
        "--rows-are-people",
        "Every row is another person, whatever the table looks like.",
        section="question",
        default=False,
    )
    groups: Mapping[str, Sequence[str]] = _option(
        "groups", "--groups", "What attackers know together: census=age,sex spatial=zip …", section="groups", default={}
    )
    protection: bool = _option(
        "switch", "--protection", "Also try what protection costs (the slowest part).", default=True
    )
    seed: int | None = _option("whole", "--seed", "Seed of every random choice. Default: 0.", section="question")
    rules: Mapping[str, float] = _option("rules", None, section="rules", default={})
    source: str | None = _option("source", None, section="table", key="file")
    separator: str | None = _reading("text", "--separator", "Separator of a CSV file, if not found.")
    encoding: str | None = _reading("text", "--encoding", "Encoding of a CSV file, such as cp1252.")
    null: str | None = _reading("text", "--null", "Texts or codes that stand for a missing value: NA,N,.,-9.")
    skip_bad_lines: bool = _reading("switch", "--skip-bad-lines", "Leave out lines that do not fit.", default=False)
    sheet: str | None = _reading(
        "text", "--sheet", "One of several tables: a sheet, a member of a .zip, an object of R."
    )
    layout: str | None = _reading("text", "--layout", "Layout of a fixed-width file: CSV of name,start,end.")
    scales: str | None = _reading(
        "text", "--scale", "Scales of columns: race=nominal,pain=low<middle<high; or numeric, date, place."
    )
    allow_network: bool = _reading(
        "switch", "--allow-network", "Fetch a table from https://, s3://, gs:// or abfs://.", default=False
    )
    memory: str | None = _reading("text", "--memory", "Memory limit, such as 2GB.")
    table: str | None = _reading("text", "--table", "Table or view of a database.")
    query: str | None = _reading("text", "--query", "SELECT whose rows to read from a database.")
    timeout: float | None = _reading("number", "--timeout", "Seconds a database's statement may take.")
    engine: str | None = _reading("text", "--engine", "duckdb (here, the default) or spark.")
    master: str | None = _reading("text", "--master", "Spark's master: local[*], spark://host:7077, …")

    def __post_init__(self) -> None:
        for option in OPTIONS:
            value = getattr(self, option.name)
            if option.kind in ("columns", "texts") and value is not None:
                object.__setattr__(self, option.name, _column_names(option.name, value))
        object.__setattr__(self, "groups", {label: tuple(names) for label, names in self.groups.items()})

    @property
    def limits(self) -> Limits:
        """The risks that are accepted: those of the recipient, unless others were given.

        Raises:
            InputError: the recipient is not known, or a limit makes no sense.
        """
        return settle_limits(self.recipient or "public", threshold=self.threshold, highest=self.highest)

    @property
    def tolerated(self) -> float:
        """The share of records whose secret may be certain.

        Raises:
            InputError: it is not from 0 to 1.
        """
        share = 0.0 if self.tolerate is None else self.tolerate
        if not 0 <= share <= 1:
            raise InputError(f"a tolerated share of {share:g}; give a number from 0 to 1, or a percentage")
        return share

    def about_release(self, removed: Sequence[str], source: str | None = None) -> Question:
        """The question about a protected table: the roles and secrets of the columns that are left.

        Args:
            removed: columns that are not in the protected table.
            source: its file, if it has one.
        """

        def left(names: Sequence[str] | None) -> tuple[str, ...]:
            return tuple(name for name in names or () if name not in removed)

        from incrowd.measures.secret_values import parse_secret  # loads numpy, which `--help` does not need

        kept = [text for text in self.secrets if parse_secret(text)[0] not in removed]
        return replace(
            self.with_default_reading(),
            quasi_identifiers=left(self.quasi_identifiers) or None,
            sensitive=left(self.sensitive),
            identifiers=(),
            other=left(self.other),
            person=None if self.person in removed else self.person,
            weights=None if self.weights in removed else self.weights,
            secrets=kept,
            protection=False,
            source=source,
        )

    @property
    def named_secrets(self) -> dict[str, Secret]:
        """The values that are secret, by column, where they were named.

        Raises:
            InputError: a secret is not understood, or its column is not among the sensitive ones.
        """
        from incrowd.measures.secret_values import parse_secret  # loads numpy, which `--help` does not need

        found: dict[str, Secret] = {}
        for text in self.secrets:
            column, secret = parse_secret(text)
            if self.sensitive is not None and column not in self.sensitive:
                raise InputError(
                    f"a secret is named for {column!r}, which is not a sensitive column; name it as one",
                    hint="sensitive",
                )
            if column in found:
                raise InputError(f"the secret of {column!r} is given twice; name it once")
            found[column] = secret
        return found

    def about(self, table: Table) -> Question:
        """The question with the table's name and how it was read; of a path the name has the last part."""
        place, *words = table.named
        source = place if "://" in place else Path(place).name
        unread = {option.name: option.default for option in READING}
        return replace(self, **{**unread, **(_parse_reading(words) or {}), "source": source})

    def with_default_reading(self) -> Question:
        """The question about a file that is read without any options."""
        unread: dict[str, Any] = {option.name: option.default for option in READING}
        return replace(self, **unread)

    def with_roles(self, roles: Roles) -> Question:
        """The question about these roles."""
        return replace(
            self,
            quasi_identifiers=roles.quasi_identifiers,
            sensitive=roles.sensitive,
            person=roles.person,
            weights=roles.weight,
            identifiers=roles.identifiers,
        )

    def settled(self, roles: Roles) -> Question:
        """The question as it is answered: with the roles that are used, and every default filled in."""
        settled = self.with_roles(roles) if roles.confirmed else self  # a guess that is repeated is still a guess
        return replace(settled, recipient=self.recipient or "public", seed=self.seed or 0)

    def with_given(self, **given: Any) -> Question:
        """The question with other values, as far as some are given: None and empty ones change nothing."""
        return replace(self, **{name: value for name, value in given.items() if value not in (None, (), [], {})})

    def keywords(self) -> dict[str, Any]:
        """The keywords of `assess`, as far as something was said that is not its default."""
        return {
            option.name: _as_plain(value)
            for option, value in self._said()
            if not (option.reading or option.kind in ("source", "rules"))
        }

    def to_options(self) -> dict[str, Any]:
        """What is asked, in plain JSON types, without the seed, the rules and how the table is read."""
        return {
            option.key: _as_plain(getattr(self, option.name))
            for option in OPTIONS
            if option.flag is not None and not option.reading and option.name != "seed"
        }

    def _said(self) -> list[tuple[Option, Any]]:
        """The options that say something: not empty, and not the default."""
        values = [(option, getattr(self, option.name)) for option in OPTIONS]
        usual = {"seed": 0}
        return [
            (option, value)
            for option, value in values
            if value not in (None, (), {}, option.default) and value != usual.get(option.name)
        ]

    # as a command

    @property
    def named(self) -> tuple[str, ...]:
        """How a command names the table, with how it is read."""
        words = (word for option, value in self._said() if option.reading for word in _words(option, value, False))
        return (self.source or "TABLE", *words)

    def to_arguments(self) -> list[str] | None:
        """The options of `incrowd assess`, without the table; None where a command line cannot hold a name.

        >>> Question(quasi_identifiers=["age", "sex"], population=900).to_arguments()
        ['--qi', 'age,sex', '--population', '900']
        """
        said = [(option, value) for option, value in self._said() if option.flag is not None and not option.reading]
        columns = [name for option, value in said if option.kind == "columns" for name in value]
        labels = [*self.groups, *(name for names in self.groups.values() for name in names)]
        if not (is_typable(columns) and is_typable(self.groups, "=") and is_typable(labels, ",")):
            return None
        apart = any("," in name for name in columns)
        return [word for option, value in said for word in _words(option, value, apart)]

    def to_command(self, *more: str) -> str | None:
        """The command that asks this question, with further words; None where a command line cannot hold a name."""
        arguments = self.to_arguments()
        table, *reading = self.named
        place = f"./{table}" if table.startswith("-") else table  # or it would be taken for an option
        return None if arguments is None else shlex.join(["incrowd", "assess", place, *reading, *arguments, *more])

    # as Python

    def to_call(self) -> str:
        """The call of `assess` for a `table`, with an option a line."""
        lines = [f"    {name}={value!r}," for name, value in self.keywords().items()]
        return "\n".join(["found = assess(", "    table,", *lines, ")"])

    def to_python(self) -> str:
        """The script that asks this question and prints the decision."""
        reading = {option.name: value for option, value in self._said() if option.reading}
        opened = ", ".join([repr(self.source or "TABLE"), *(f"{name}={value!r}" for name, value in reading.items())])
        lines = ["from incrowd import assess, read_table", "", f"table = read_table({opened})", self.to_call()]
        return "\n".join([*lines, "print(found.verdict.sentence)"])

    # as a settings file

    @property
    def file(self) -> str | None:
        """The table as a settings file names it: its name, with how it is read as a command has it."""
        if self.source is None:
            return None
        plain = len(self.named) == 1 and _parse_file(self.source) == {"source": self.source}
        return self.source if plain else shlex.join(self.named)

    def to_toml(self) -> str:
        """The text of a settings file; `protection` is a choice for one run and is not kept."""
        import tomli_w

        sections: dict[str, dict[str, Any]] = {}
        for option in OPTIONS:
            value = self.file if option.kind == "source" else getattr(self, option.name)
            if option.section is None or value in (None, (), {}) or value == option.default:
                continue
            if option.section == option.name:  # a section of its own, with any keys
                sections[option.section] = _as_plain(value)
            else:
                sections.setdefault(option.section, {})[option.key] = _as_plain(value)
        return f"{_HEADING}\n{tomli_w.dumps(sections)}"

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a settings file."""
        with written_whole(path, force=force) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8")
        return Path(path)

    @classmethod
    def from_toml(cls, text: str, name: str = FILE_NAME) -> Question:
        """The question that a settings file holds.

        Args:
            text: the file's text.
            name: the file's name, for messages.

        Raises:
            InputError: the text is no TOML, or an entry is not known or of the wrong type.
        """
        try:
            sections = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{name} is not valid TOML: {error}") from None
        known = list(dict.fromkeys(option.section for option in OPTIONS if option.section is not None))
        found: dict[str, Any] = {}
        for section, entries in sections.items():
            if section not in known:
                raise InputError(f"{name}: no section {section!r} is known; there are: {', '.join(known)}")
            if not isinstance(entries, dict):
                raise InputError(f"{name}: {section} must be a section; write [{section}] on a line of its own")
            found |= _read_section(name, section, entries)
        return cls(**found)


OPTIONS: tuple[Option, ...] = tuple(
    Option(
        one.name,
        default={} if one.name in ("groups", "rules") else one.default,
        **{**one.metadata, "key": one.metadata["key"] or one.name},
    )
    for one in fields(Question)
)
"""Every option of a question, in the order of its fields."""

READING: tuple[Option, ...] = tuple(option for option in OPTIONS if option.reading)
"""The options that say how a table is read."""


def read_question(path: str | os.PathLike[str]) -> Question:
    """Read a settings file.

    Raises:
        InputError: there is no such file, or something in it is not understood.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the name and the folder you are in") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{Path(path).name} cannot be read: {reason}") from None
    return Question.from_toml(text, Path(path).name)


def _words(option: Option, value: Any, apart: bool) -> list[str]:
    """An option as it is typed."""
    flag = option.flag or ""
    if option.kind == "columns":
        return each(flag, value, apart=apart)
    if option.kind == "texts":
        return [word for text in value for word in given(flag, text)]
    if option.kind == "groups":
        return [word for label, names in value.items() for word in given(flag, f"{label}={','.join(names)}")]
    if option.kind == "switch":
        return [flag if value else f"--no-{flag.removeprefix('--')}"]
    return given(flag, value)


def _parse_file(text: str) -> dict[str, Any]:
    """The table of a settings file: a name, and options on reading where the rest of the text is nothing else."""
    try:
        source, *words = shlex.split(text)
        reading = _parse_reading(words)
    except ValueError:
        return {"source": text}
    if reading is None or (not words and shlex.join([source]) != text):
        return {"source": text}
    return {"source": source, **reading}


def _parse_reading(words: Sequence[str]) -> dict[str, Any] | None:
    """Options on reading from the words of a command; None where a word is none of them."""
    by_flag = {option.flag: option for option in READING}
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
            found[option.name] = float(text) if option.kind == "number" else text
    return found


def _read_section(file: str, section: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of one section of a settings file, by the names of their fields."""
    if section == "groups":
        return {"groups": {label: _listed_names(file, label, names) for label, names in entries.items()}}
    if section == "rules":  # checked where rules are used
        return {"rules": dict(entries)}
    known = {option.key: option for option in OPTIONS if option.section == section}
    found: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in known:
            raise InputError(f"{file}: [{section}] has no {key!r}; there are: {', '.join(known)}")
        read = _read_entry(file, known[key], value)
        found |= _parse_file(read) if known[key].kind == "source" else {known[key].name: read}
    return found


def _read_entry(file: str, option: Option, value: Any) -> Any:
    """One entry of a settings file, of the right type."""
    if option.kind in ("columns", "texts"):
        return _listed_names(file, option.key, value)
    wanted: tuple[type, ...] = (str,)
    words = "text in quotes"
    if option.kind in ("people", "whole"):
        wanted, words = (int,), "a whole number"
    elif option.kind == "share":
        wanted, words = (int, float), "a number"
    elif option.kind == "switch":
        if not isinstance(value, bool):
            raise InputError(f"{file}: {option.key} must be true or false")
        return value
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InputError(f"{file}: {option.key} must be {words}")
    return value


def _listed_names(file: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'{file}: {key} must be a list of column names, such as ["age", "sex"]')
    return tuple(value)


def _column_names(name: str, value: Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise InputError(f"{name} must be a list of column names, not one text; write [{value!r}]")
    return tuple(value)


def _as_plain(value: Any) -> Any:
    """A value in the types of JSON and TOML."""
    if isinstance(value, Mapping):
        return {label: _as_plain(entry) for label, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value
