"""The question that an assessment answers: everything its numbers depend on, each option declared once.

A field of `Question` declares its spelling on the command line and in a question file, and its help text. These
declarations define the command line, the settings file, the command and the Python script that repeat an assessment,
and the provenance in its JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.option import Option, ask, column, columns, decide, option, options_of, reading
from incrowd._support.seed import require_seed
from incrowd.assessment.command_line import option_words
from incrowd.errors import InputError
from incrowd.recipients import CERTAIN_FROM, Limits, choices, settle_limits
from incrowd.wording import chosen_percent

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.measures.secret_values import Secret
    from incrowd.tables import Table

MOST_TOLERATED = 0.5
"""Largest share of the records whose secret may be known; a larger one is a slip (1 for 1%)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Everything an assessment depends on. An option that was not given is None or empty.

    - Two questions for each column: `quasi_identifiers` can be known to others, `sensitive` ones would harm somebody if
      they were learned; a column may be both, and `other` columns are neither. `identifiers` name people, `drop`
      columns are to be left out, and `need` columns must stay in an advised release. None to take what names and values
      suggest, which is no answer.
    - Sample: `population` is the number of people that the table was drawn from; otherwise it is the sum of the column
      `weights`. `strata` and `cluster` are columns of the sampling design; they may have a role as well.
    - Limits: `recipient` (None is "public") sets the limits on the risk, unless `threshold` and `highest` do. `rules`
      are the limits of `check`.
    - `groups` are columns that attackers know together. `protection`: whether its cost is measured.
    - `contents`: fingerprints of the columns as they were judged, from a settings file. The answer for a column with
      another fingerprint is dropped.
    - `released` is a table made from this one; it is judged instead, and attacked with the original and a `holdout`. If
      it is `synthetic`, no row was made from one person.
    - `source` is the file or the address; the last fields are the options for reading it.
    """

    quasi_identifiers: Sequence[str] | None = columns(
        "Columns an attacker may know. Commas or repeats.", default=None, typed="qi"
    )
    sensitive: Sequence[str] | None = columns(
        "Columns that would harm somebody if learned. May be known too.", default=None
    )
    person: str | None = column("Column that says whose record it is: the unit becomes the person.")
    weights: str | None = column("Column of survey weights: they say how many people there are.", key="weight")
    strata: str | None = column(
        "Column of the strata that were drawn from; with weights. It may have a role too.", key="stratum"
    )
    cluster: str | None = column(
        "Column of the clusters (households, villages) that were drawn whole. It may have a role too."
    )
    identifiers: Sequence[str] = columns("Columns that name people, besides those that look so.", typed="identifier")
    drop: Sequence[str] = columns("Columns to leave out of the release, whatever they hold.")
    other: Sequence[str] = columns("Columns that are neither: nobody outside can know them, and they harm nobody.")
    need: Sequence[str] = decide(
        "columns", "Columns that the advised release must keep; larger classes are tried instead.", default=()
    )
    population: int | None = decide("people", "How many people the table was drawn from: 60000000, 6e7.")
    recipient: str | None = decide("text", f"Who is to get it: {choices()}.")
    threshold: float | None = decide("share", "Another limit on the average risk than the recipient's: 0.2 or 20%.")
    highest: float | None = decide(
        "share", "Another limit on the person at highest risk than the recipient's: 0.2 or 20%."
    )
    secrets: Sequence[str] = decide(
        "texts",
        "Values of a sensitive column that are secret: illness=HIV,AIDS, income>100000 or income<0. Repeats.",
        default=(),
        typed="secret",
    )
    certain: float | None = decide(
        "share",
        "Share of a class with one value from which that secret counts as known. "
        f"Default: {chosen_percent(CERTAIN_FROM)}.",
    )
    tolerate: float | None = decide("share", "Share of records whose secret may be known: 1% or 0.01. Default: 0.")
    rows_are_people: bool = decide(
        "switch", "Every row is another person, whatever the table looks like.", default=False
    )
    original: str | None = ask("file", "The table this one was made from: it tells what kept columns give back.")
    groups: Mapping[str, Sequence[str]] = option(
        "groups", "What attackers know together: census=age,sex spatial=zip …", section="groups", default={}
    )
    released: str | None = ask("file", "Table made from this one that is to go out: it is judged and attacked.")
    holdout: str | None = ask("file", "People who are neither in the table nor behind the release (incrowd split).")
    kept_rows: str | None = ask(
        "file", "File of the row (from 1) that each row of the release was made from, one a line."
    )
    synthetic: bool = ask(
        "switch",
        "No row of the release was made from one person, so attacks decide and not classes.",
        default=False,
    )
    protection: bool = option("switch", "Also try what protection costs (the slowest part).", default=True)
    seed: int | None = ask("whole", "Seed of every random choice. Default: 0.")
    rules: Mapping[str, float] = option("rules", on_command_line=False, section="rules", default={})
    contents: Mapping[str, str] = option("contents", on_command_line=False, section="contents", default={})
    source: str | None = option("source", on_command_line=False, section="table", key="file")
    separator: str | None = reading("text", "Separator of a CSV file, if not found.")
    encoding: str | None = reading("text", "Encoding of a CSV file, such as cp1252.")
    null: str | None = reading(
        "codes", "Texts or codes that stand for a missing value: NA,N,.,-9; of one column: age=-9,97-99."
    )
    skip_bad_lines: bool = reading("switch", "Leave out lines that do not fit.", default=False)
    sheet: str | None = reading("text", "One of several tables: a sheet, a member of a .zip, an R object.")
    layout: str | None = reading("text", "Layout of a fixed-width file: CSV of name,start,end.")
    header_rows: int | None = reading("whole", "Rows that name the columns, if several.")
    dates: str | None = reading("text", "Order of dates such as 05/06/2020: day-first or month-first.")
    scales: str | None = reading(
        "text", "Scales of columns: race=nominal,pain=low<middle<high; or numeric, date, place.", typed="scale"
    )
    explode: str | None = reading("text", "Column of lists, records or maps: a row for each item.")
    serial_dates: str | None = reading("text", "Columns of whole numbers that are Excel's dates.")
    fold: bool = reading(
        "switch", "Texts that differ only in case, blanks or Unicode form are one value.", default=False
    )
    allow_network: bool = reading("switch", "Fetch a table from https://, s3://, gs:// or abfs://.", default=False)
    memory: str | None = reading("text", "Memory limit, such as 2GB.")
    table: str | None = reading("text", "Table or view of a database.")
    query: str | None = reading("text", "SELECT whose rows to read from a database.")
    timeout: float | None = reading("number", "Seconds a database's statement may take.")
    engine: str | None = reading("text", "duckdb (here, the default) or spark.")
    master: str | None = reading("text", "Spark's master: local[*], spark://host:7077, …")

    def __post_init__(self) -> None:
        for one in OPTIONS:
            value = getattr(self, one.name)
            if one.kind in ("columns", "texts") and value is not None:
                if isinstance(value, str):
                    raise InputError(f"{one.name} must be a list of column names, not one text; write [{value!r}]")
                object.__setattr__(self, one.name, tuple(value))
        object.__setattr__(self, "groups", {label: tuple(names) for label, names in self.groups.items()})

    @property
    def limits(self) -> Limits:
        """The accepted risks: those of the recipient, unless others were given.

        Raises:
            InputError: the recipient is not known, or a limit makes no sense.
        """
        return settle_limits(self.recipient or "public", threshold=self.threshold, highest=self.highest)

    @property
    def tolerated(self) -> float:
        """The share of records whose secret may be known.

        Raises:
            InputError: it is below 0 or above one half; 1 would tolerate every record.
        """
        share = 0.0 if self.tolerate is None else self.tolerate
        if not 0 <= share <= MOST_TOLERATED:
            raise InputError(
                f"a tolerated share of {chosen_percent(share)}; write 1% or 0.01 for one record in a hundred, at most "
                f"{chosen_percent(MOST_TOLERATED)}",
                hint="tolerate",
            )
        return share

    @property
    def certain_from(self) -> float:
        """The share of a class with one value, from which the value counts as known.

        Raises:
            InputError: it is not above one half and at most 1.
        """
        share = CERTAIN_FROM if self.certain is None else self.certain
        if not 0.5 < share <= 1:
            raise InputError(f"a value is certain from a share of {share:g}; give a number above 0.5, up to 1")
        return share

    @property
    def named_secrets(self) -> dict[str, Secret]:
        """The secret values that were named, by column.

        Raises:
            InputError: a secret is not understood, or its column is not among the sensitive ones.
        """
        from incrowd.measures.secret_values import parse_secret  # loads numpy, which `--help` does not need

        secrets: dict[str, Secret] = {}
        for text in self.secrets:
            column, secret = parse_secret(text)
            if self.sensitive is not None and column not in self.sensitive:
                raise InputError(
                    f"a secret is named for {column!r}, which is not a sensitive column; name it as one",
                    hint="sensitive",
                )
            if column in secrets:
                raise InputError(f"the secret of {column!r} is given twice; name it once")
            secrets[column] = secret
        return secrets

    @property
    def named(self) -> tuple[str, ...]:
        """Words that name the table in a command, with its reading options."""
        words = (word for one, value in self.given_options() if one.reading for word in option_words(one, value))
        return (self.source or "TABLE", *words)

    def about_release(self, removed: Sequence[str], source: str | None = None) -> Question:
        """The question about a protected table: the roles and secrets of the remaining columns.

        Args:
            removed: columns that are not in the protected table.
            source: its file, if it has one.
        """
        from incrowd.measures.secret_values import parse_secret  # loads numpy, which `--help` does not need

        def remaining(names: Sequence[str | None] | None) -> tuple[Any, ...]:
            return tuple(name for name in names or () if name not in removed)

        return replace(
            self.with_default_reading(),
            quasi_identifiers=remaining(self.quasi_identifiers) or None,
            sensitive=remaining(self.sensitive),
            identifiers=(),
            drop=(),
            other=remaining(self.other),
            need=(),
            person=next(iter(remaining([self.person])), None),
            weights=next(iter(remaining([self.weights])), None),
            secrets=[text for text in self.secrets if parse_secret(text)[0] not in removed],
            **_NO_RELEASE,
            protection=False,
            original=None,
            source=source,
        )

    def without_release(self) -> Question:
        """The question about the table itself, not about a release that was made from it."""
        return replace(self, **_NO_RELEASE)

    def about(self, table: Table) -> Question:
        """The question with the table's name (only the last part of a path) and its reading options."""
        files: dict[str, Any] = {one.name: _last_part(getattr(self, one.name)) for one in OPTIONS if one.kind == "file"}
        return replace(self.with_default_reading(), **table.reading, source=_last_part(table.place), **files)

    def with_default_reading(self) -> Question:
        """The question about a file that is read without any options."""
        unread: dict[str, Any] = {one.name: one.default for one in READING}
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
        settled = self.with_roles(roles) if roles.confirmed else self  # guessed roles must not look stated if repeated
        other = tuple(name for name in settled.other if name not in roles.known_anyway)
        identifiers = tuple(name for name in settled.identifiers if name in roles.stated)  # others are recognised again
        return replace(
            settled,
            other=other,
            identifiers=identifiers,
            recipient=self.recipient or "public",
            seed=require_seed(self.seed or 0),
        )

    def with_given(self, **given: Any) -> Question:
        """The question with the given values; None and empty values change nothing."""
        return replace(self, **{name: value for name, value in given.items() if value not in (None, (), [], {})})

    def given_options(self) -> list[tuple[Option, Any]]:
        """The options that differ from their defaults, with their values; a seed of 0 is a default."""
        values = [(one, getattr(self, one.name)) for one in OPTIONS]
        return [(one, value) for one, value in values if one.is_given(value) and (one.name, value) != ("seed", 0)]

    def keywords(self) -> dict[str, Any]:
        """The keywords of `assess` for the options that differ from their defaults."""
        return {
            one.name: as_plain(value)
            for one, value in self.given_options()
            if not (one.reading or one.kind in ("source", "rules", "contents"))
        }

    def to_options(self) -> dict[str, Any]:
        """The question in plain JSON types, without the seed, the rules and the reading options."""
        return {
            one.key: as_plain(getattr(self, one.name))
            for one in OPTIONS
            if one.flag is not None and not one.reading and one.name != "seed"
        }


OPTIONS: tuple[Option, ...] = options_of(Question)
"""Every option of a question, in the order of its fields."""

_NO_RELEASE: Mapping[str, Any] = {"released": None, "holdout": None, "kept_rows": None, "synthetic": False}

DECIDING: tuple[Option, ...] = tuple(one for one in OPTIONS if one.decides)
"""The options that the verdict on a table depends on; `assess`, `check`, `protect` and `frontier` take all."""

READING: tuple[Option, ...] = tuple(one for one in OPTIONS if one.reading)
"""The options that say how a table is read."""


def command_words(table: Table) -> tuple[str, ...]:
    """Words that name a table in a command, with its reading options."""
    return Question(source=table.place, **table.reading).named


def _last_part(place: str | None) -> str | None:
    return place if place is None or "://" in place else Path(place).name


def as_plain(value: Any) -> Any:
    """A value in the types of JSON and TOML."""
    if isinstance(value, Mapping):
        return {label: as_plain(entry) for label, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value
