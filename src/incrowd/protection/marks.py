"""The mark beside a released file (`NAME.incrowd`): what only its original tells, and the log of the release.

A mark holds names of columns and counts, no cell, and counts for the bytes of its file alone.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from incrowd._support.files import file_hash, written_whole
from incrowd.errors import InputError
from incrowd.measures import RecoveringColumn
from incrowd.protection.release_log import ReleaseLog
from incrowd.results import Result
from incrowd.tables import RowKind, Table, escape_formula, read_table
from incrowd.tables.roles.column_role import Confidence
from incrowd.tables.roles.rows import KindOfRows

SCHEMA = "incrowd/release/2"
_MOST = 10**15  # people, or records


@dataclass(frozen=True, slots=True)
class Linkage(Result):
    """Success of an attack that links a perturbed release with its original, which stands for the risk of classes.

    Attributes:
        known: the columns that the attacker knows.
        risk: the share of people whose record is named, and `low` to `high` its interval.
        highest: the chance of the person who is named most often.
        sentence: the same in words.
    """

    known: tuple[str, ...]
    risk: float
    low: float
    high: float
    highest: float
    sentence: str


@dataclass(frozen=True, slots=True)
class OriginalFacts(Result):
    """Facts about a release that only its original shows.

    Attributes:
        kept: the columns that are released as they were, and were compared with the original.
        given_back: the kept columns that give a coarsened quasi-identifier back.
        rows: what a row of the original is.
        pseudonymised: columns that hold random numbers in place of people's.
        keyed: those of them whose numbers every table under the same key has, so that tables can be joined by them.
        perturbed: columns of any role that were changed by chance, so that classes do not show what they tell.
        is_damaged: whether the table that it was made from had a mark that cannot be read, so that more may be true.
        shuffled: whether rows were put in random order, so that they cannot be compared one by one.
        row_order: columns of the original that the order of the released rows follows.
        linkage: the attack on a release whose quasi-identifiers were changed by chance, where one was made.
    """

    kept: tuple[str, ...]
    given_back: tuple[RecoveringColumn, ...]
    rows: RowKind
    pseudonymised: tuple[str, ...] = ()
    perturbed: tuple[str, ...] = ()
    is_damaged: bool = False
    shuffled: bool = False
    row_order: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()
    linkage: Linkage | None = None


def mark_of(file: Path) -> Path:
    """The path of the mark of a released file.

    >>> mark_of(Path("safe.csv")).name
    'safe.csv.incrowd'
    """
    return file.with_name(f"{file.name}.incrowd")


def waiting_of(file: Path) -> Path:
    """The path of the records that wait for a class of a released file."""
    return file.with_name(f"{file.name}.waiting")


def require_own_mark(target: Path) -> Path:
    """The place of a file's mark, where nothing else has taken it."""
    mark = mark_of(target)
    if not mark.exists():
        return mark
    if mark.is_file():  # a pipe is not opened: that would wait for whoever writes to it
        with open(mark, encoding="utf-8", errors="replace") as opened:
            if SCHEMA.rpartition("/")[0] in opened.read(200):
                return mark
    raise InputError(f"{mark.name} would be written beside the file, and is there with other content; move it")


def write_facts(facts: OriginalFacts, log: ReleaseLog, written: Path, target: Path) -> None:
    """Write facts and a log beside a released file; `written` holds it now, `target` is the name it will have."""
    mark = require_own_mark(target)
    saved = {"schema": SCHEMA, "sha256": file_hash(written), **facts.to_dict(), "log": log.to_dict()}
    with written_whole(mark, force=True) as temporary:
        temporary.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")


def escape_names(facts: OriginalFacts) -> OriginalFacts:
    """The facts with names of columns as text files have them."""
    given_back = tuple(
        replace(
            one,
            column=escape_formula(one.column),
            gives_back=escape_formula(one.gives_back),
            others=tuple(map(escape_formula, one.others)),
        )
        for one in facts.given_back
    )
    named = ("kept", "pseudonymised", "perturbed", "row_order", "keyed")
    escaped: dict[str, Any] = {name: tuple(map(escape_formula, getattr(facts, name))) for name in named}
    linkage = facts.linkage and replace(facts.linkage, known=tuple(map(escape_formula, facts.linkage.known)))
    return replace(facts, given_back=given_back, linkage=linkage, **escaped)


def read_mark(table: Table) -> OriginalFacts | None:
    """Read the facts in the mark next to a table's file; None if there is no mark.

    Args:
        table: a table that was read from a file.

    Raises:
        InputError: the mark is damaged, or is about another content of the file.
    """
    file = Path(table.source or "")
    if table.source is None or not file.is_file() or not mark_of(file).is_file():
        return None
    mark = mark_of(file)
    try:
        found = json.loads(mark.read_text(encoding="utf-8"), object_pairs_hook=_said_once)
        facts = OriginalFacts(
            _names(found["kept"]),
            tuple(_read_recovering_column(one) for one in found["given_back"]),
            _row_kind(found["rows"]),
            _names(found["pseudonymised"]),
            _names(found["perturbed"]),
            is_damaged=found.get("is_damaged", False) is not False,
            shuffled=found.get("shuffled", False) is not False,
            row_order=_names(found.get("row_order", [])),
            keyed=_names(found.get("keyed", [])),
            linkage=None if found.get("linkage") is None else _read_linkage(found["linkage"]),
        )
        schema, made_for = found["schema"], found["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        raise InputError(f"{mark.name} cannot be read") from None
    if schema != SCHEMA:
        raise InputError(f"{mark.name} is of another version")
    if made_for != file_hash(file):
        raise InputError(f"{mark.name} is of another file, or the file was changed after it was written")
    return facts


def read_log(file: Path) -> ReleaseLog:
    """The log of a released file.

    Raises:
        InputError: there is none, it cannot be read, or it is of another content of the file.
    """
    mark = mark_of(file)
    if not mark.is_file():
        raise InputError(
            f"{file.name} has no log: {mark.name} is not beside it, so that nobody knows what was promised; put it "
            "back, or protect all records together"
        )
    read_mark(read_table(file))  # refuses a mark of another file
    try:
        return ReleaseLog.read(json.loads(mark.read_text(encoding="utf-8"))["log"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{mark.name} has no log that can be read; protect all records together") from None


def copy_release(file: Path, target: Path) -> Path:
    """Copy a released file together with its mark; the path of the copy."""
    shutil.copyfile(file, target)
    if mark_of(file).is_file():
        shutil.copyfile(mark_of(file), mark_of(target))
    return target


def remove_release(file: Path) -> None:
    """Delete a released file, its mark and the records that wait to join it, as far as they are there."""
    for path in (file, mark_of(file), waiting_of(file)):
        path.unlink(missing_ok=True)


def pseudonyms_in(table: Table, original: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a table that hold random numbers in place of people's, and those of them that are of a key.

    Args:
        table: a table that may be a release.
        original: what its original tells (`OriginalFacts`), where that is at hand; else its mark is read.
    """
    try:
        facts = original if isinstance(original, OriginalFacts) else read_mark(table)
    except InputError:  # told where the mark would answer a question
        facts = None
    return ((), ()) if facts is None else (facts.pseudonymised, facts.keyed)


def is_shuffled(table: Table) -> bool:
    """True if the rows of a table are in random order by its mark, or may be because its mark cannot be read."""
    try:
        facts = read_mark(table)
    except InputError:
        return True
    return facts is not None and facts.shuffled


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; one that says something twice is refused, because readers differ in which of both they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _names(saved: Any) -> tuple[str, ...]:
    """Names of columns as a mark holds them; anything else is refused."""
    if not isinstance(saved, list) or not all(isinstance(name, str) for name in saved):
        raise TypeError
    return tuple(saved)


def _read_recovering_column(saved: dict[str, Any]) -> RecoveringColumn:
    """Read a column of a mark that gives back a generalised one; anything else is refused."""
    found = RecoveringColumn(**{name: value for name, value in saved.items() if name not in ("undoes", "others")})
    found = replace(found, others=_names(saved.get("others", [])))
    numbers = (found.told, found.by_chance, found.k, found.uniques, found.k_without)
    _names([found.column, found.gives_back])
    flags = (found.follows, found.missing, found.partly)
    if not all(isinstance(one, int | float) for one in numbers) or not all(isinstance(one, bool) for one in flags):
        raise TypeError
    if not all(0 <= one <= _MOST for one in numbers):  # NaN is in no range
        raise ValueError
    return found


def _read_linkage(saved: dict[str, Any]) -> Linkage:
    """Read the attack of a mark; anything else is refused."""
    found = replace(Linkage(**saved), known=_names(saved["known"]))
    _names([found.sentence])
    numbers = (found.low, found.risk, found.high, found.highest)
    if not all(isinstance(one, int | float) for one in numbers):
        raise TypeError
    if not 0 <= found.low <= found.risk <= found.high <= 1 or not 0 <= found.highest <= 1:
        raise ValueError
    return found


def _row_kind(saved: dict[str, Any]) -> RowKind:
    found = RowKind(**saved)
    _names([found.kind, found.reason, found.confidence])
    _names([name for name in (found.person, found.household, found.time) if name is not None])
    if found.kind not in get_args(KindOfRows) or found.confidence not in get_args(Confidence):
        raise ValueError
    return found
