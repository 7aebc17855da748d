"""The mark beside a released file (`NAME.incrowd`): facts that only the original shows, and the log of the release.

A mark holds column names and counts but no cell. It is valid only for the exact bytes of its file, by their hash.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from incrowd._support.files import file_hash, read_small, written_whole
from incrowd.attacks.learned_result import LearnedAttack, LearntSecret, Look
from incrowd.errors import InputError
from incrowd.protection.release_log import MOST_COUNTED, ReleaseLog, read_texts, typed
from incrowd.results import Result
from incrowd.tables import RowKind, Table, escape_formula, read_table
from incrowd.tables.release_marks import FAMILY, SCHEMA, mark_of, read_mark_content
from incrowd.tables.roles.column_role import Confidence
from incrowd.tables.roles.rows import KindOfRows

Coding = Literal["same", "by class", "rows left out", "unknown"]


@dataclass(frozen=True, slots=True)
class Linkage(Result):
    """Success of an attack that links a perturbed release with its original: its risk, as classes do not show it."""

    known: tuple[str, ...]  # the columns that the attacker knows
    risk: float  # the share of people whose record is found, with the interval `low` to `high`
    low: float
    high: float
    highest: float  # the largest probability, over people, that the record is found
    sentence: str  # the result in words


@dataclass(frozen=True, slots=True)
class OriginalFacts(Result):
    """Facts about a release that only its original shows.

    Attributes:
        attack: what an attacker who knows the exact quasi-identifiers learns from kept columns; it holds for every
            subset of them. None: it was not made.
        rows: what a row of the original is.
        pseudonymised: columns with pseudonyms in place of the original person numbers.
        keyed: pseudonymised columns whose pseudonyms come from a key, so that tables under this key can be joined.
        perturbed: columns of any role that were changed at random, so that classes do not show their risk.
        is_damaged: whether the original was itself a release with an unreadable mark, so that facts may be missing.
        shuffled: whether rows are in random order, so that they cannot be compared with the original one by one.
        row_order: columns of the original that the order of the released rows follows.
        linkage: the attack on a release with perturbed quasi-identifiers, if one was made.
        coding: how the quasi-identifiers were coded. "same": every record in the same way, and none is left out;
            "by class": ranges and sets were made around the records of each class; "rows left out": records of small
            classes are missing; "unknown": nobody has said. Only the first is a sample of a population.
    """

    attack: LearnedAttack | None
    rows: RowKind
    pseudonymised: tuple[str, ...] = ()
    perturbed: tuple[str, ...] = ()
    is_damaged: bool = False
    shuffled: bool = False
    row_order: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()
    linkage: Linkage | None = None
    coding: Coding = "unknown"


def waiting_of(file: Path) -> Path:
    """The path of the file of records that wait to join a released file."""
    return file.with_name(f"{file.name}.waiting")


def require_own_mark(target: Path) -> Path:
    """The path of a file's mark; refuses a path at which another file is."""
    mark = mark_of(target)
    if not mark.exists():
        return mark
    if mark.is_file():  # a pipe is not opened: reading would block
        with open(mark, encoding="utf-8", errors="replace") as opened:
            if FAMILY in opened.read(200):
                return mark
    raise InputError(f"{mark.name} would be written beside the file, and is there with other content; move it")


def write_facts(facts: OriginalFacts, log: ReleaseLog, written: Path, target: Path) -> None:
    """Write the mark of a released file; `written` is its temporary path, `target` its final one."""
    mark = require_own_mark(target)
    saved = {"schema": SCHEMA, "sha256": file_hash(written), **facts.to_dict(), "log": log.to_dict()}
    with written_whole(mark, force=True) as temporary:
        temporary.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")


def escape_names(facts: OriginalFacts) -> OriginalFacts:
    """The facts with column names escaped as in text files."""
    name_fields = ("pseudonymised", "perturbed", "row_order", "keyed")
    escaped: dict[str, Any] = {name: tuple(map(escape_formula, getattr(facts, name))) for name in name_fields}
    linkage = facts.linkage and replace(facts.linkage, known=tuple(map(escape_formula, facts.linkage.known)))
    attack = facts.attack and facts.attack.renamed(escape_formula)
    return replace(facts, attack=attack, linkage=linkage, **escaped)


def read_mark(table: Table) -> OriginalFacts | None:
    """Read the facts in the mark next to a table's file; None if there is no mark.

    Args:
        table: a table that was read from a file.

    Raises:
        InputError: the mark is damaged, or the file has changed since the mark was written.
    """
    content = read_mark_content(table)
    if content is None:
        return None
    try:
        return OriginalFacts(
            None if content["attack"] is None else _read_attack(content["attack"]),
            _read_row_kind(content["rows"]),
            read_texts(content["pseudonymised"]),
            read_texts(content["perturbed"]),
            is_damaged=content.get("is_damaged", False) is not False,
            shuffled=content.get("shuffled", False) is not False,
            row_order=read_texts(content.get("row_order", [])),
            keyed=read_texts(content.get("keyed", [])),
            linkage=None if content.get("linkage") is None else _read_linkage(content["linkage"]),
            coding=_read_coding(content.get("coding", "unknown")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{mark_of(Path(table.source or '')).name} cannot be read") from None


def read_log(file: Path) -> ReleaseLog:
    """The log of a released file.

    Raises:
        InputError: there is no log, it cannot be read, or the file has changed since it was written.
    """
    mark = mark_of(file)
    if not file.exists():
        raise InputError(f"there is no release {file.name} to append to; give the file that protect wrote")
    if not mark.is_file():
        raise InputError(
            f"{file.name} has no log: {mark.name} is not beside it, so that nobody knows what was promised; put it "
            "back, or protect all records together"
        )
    read_mark(read_table(file))  # refuses a mark of another file
    try:
        return ReleaseLog.read(json.loads(read_small(mark))["log"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{mark.name} has no log that can be read; protect all records together") from None


def copy_release(file: Path, target: Path) -> Path:
    """Copy a released file together with its mark; returns the path of the copy."""
    shutil.copyfile(file, target)
    if mark_of(file).is_file():
        shutil.copyfile(mark_of(file), mark_of(target))
    return target


def remove_release(file: Path) -> None:
    """Delete a released file, its mark and its waiting records, if they exist."""
    for path in (file, mark_of(file), waiting_of(file)):
        path.unlink(missing_ok=True)


def pseudonyms_in(table: Table, original: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a table that hold pseudonyms, and those of them whose pseudonyms come from a key.

    Args:
        table: a table that may be a release.
        original: its `OriginalFacts`, if available; otherwise its mark is read.
    """
    try:
        facts = original if isinstance(original, OriginalFacts) else read_mark(table)
    except InputError:  # reported by the functions that need the mark
        facts = None
    return ((), ()) if facts is None else (facts.pseudonymised, facts.keyed)


def _read_attack(saved: dict[str, Any]) -> LearnedAttack:
    """Read an attack from a mark; invalid content raises TypeError, ValueError or KeyError."""
    looks = tuple(
        Look(_share(look["share"]), _count(look["people"]), _count(look["found"]), _share(look["low"]))
        for look in saved["looks"]
    )
    secrets = tuple(
        LearntSecret(
            _name(secret["column"]),
            _count(secret["people"]),
            _count(secret["certain"]),
            _count(secret["right"]),
            _count(secret["news"]),
            _share(secret["low"]),
        )
        for secret in saved["secrets"]
    )
    is_sound = all(look.people > 0 and look.found <= look.people for look in looks)
    if not is_sound or (looks and not any(look.share == 1 for look in looks)):
        raise ValueError
    blamed = tuple((_name(name), _share(share)) for name, share in saved["blamed"])
    known, coarse, kept = (read_texts(saved[name]) for name in ("known", "coarse", "kept"))
    person = None if saved["person"] is None else _name(saved["person"])
    return LearnedAttack(known, coarse, kept, _count(saved["people"]), looks, secrets, blamed, person)


def _name(saved: Any) -> str:
    (name,) = read_texts([saved])
    return name


def _count(saved: Any) -> int:
    if not 0 <= typed(saved, int) <= MOST_COUNTED:
        raise ValueError
    return int(saved)


def _share(saved: Any) -> float:
    if not 0 <= typed(saved, int, float) <= 1:  # NaN fails too
        raise ValueError
    return float(saved)


def _read_coding(saved: Any) -> Coding:
    """Read a `Coding` from a mark; invalid content raises ValueError."""
    if saved not in get_args(Coding):
        raise ValueError
    coding: Coding = saved
    return coding


def _read_linkage(saved: dict[str, Any]) -> Linkage:
    """Read a `Linkage` from a mark; invalid content raises TypeError, KeyError or ValueError."""
    linkage = replace(Linkage(**saved), known=read_texts(saved["known"]))
    read_texts([linkage.sentence])
    numbers = (linkage.low, linkage.risk, linkage.high, linkage.highest)
    low, risk, high, highest = (typed(one, int, float) for one in numbers)
    if not 0 <= low <= risk <= high <= 1 or not 0 <= highest <= 1:
        raise ValueError
    return linkage


def _read_row_kind(saved: dict[str, Any]) -> RowKind:
    """Read a `RowKind` from a mark; invalid content raises TypeError, ValueError or KeyError."""
    rows = RowKind(**saved)
    read_texts([rows.kind, rows.reason, rows.confidence])
    read_texts([name for name in (rows.person, rows.household, rows.time) if name is not None])
    if rows.kind not in get_args(KindOfRows) or rows.confidence not in get_args(Confidence):
        raise ValueError
    return rows
