"""What only the original tells about a release, and the mark beside a released file that keeps it.

A kept column can tell single values behind ranges that the release alone does not show, and the column that numbers
people may be gone. `write_protected` counts both and writes them to `NAME.incrowd` beside the file: names of
columns and counts, no cell. A mark holds for the bytes of its file alone.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from incrowd._support.files import written_whole
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.measures import GivenBack, kept_column_facts
from incrowd.protection.release_log import ReleaseLog
from incrowd.results import Result
from incrowd.tables import RowKind, Table, describe_rows, escape_formula, read_table
from incrowd.tables.roles.rows import Kind
from incrowd.tables.roles.suggest import Confidence
from incrowd.tables.write import is_text

if TYPE_CHECKING:
    from incrowd.protection.result import Protected

SCHEMA = "incrowd/release/1"


@dataclass(frozen=True, slots=True)
class OriginalFacts(Result):
    """What only the original tells about a release.

    Attributes:
        kept: the columns that are released as they were, and were compared with the original.
        given_back: those of them that give a coarsened quasi-identifier back.
        rows: what a row of the original is.
        pseudonymised: columns that hold random numbers in place of people's.
        perturbed: columns of any role that were changed by chance, so that classes do not show what they tell.
        is_damaged: whether the table that it was made from had a mark that cannot be read, so that more may be true.
        shuffled: whether rows were put in random order, so that they cannot be compared one by one.
        row_order: columns of the original that the order of the released rows follows.
    """

    kept: tuple[str, ...]
    given_back: tuple[GivenBack, ...]
    rows: RowKind
    pseudonymised: tuple[str, ...] = ()
    perturbed: tuple[str, ...] = ()
    is_damaged: bool = False
    shuffled: bool = False
    row_order: tuple[str, ...] = ()


def facts_of_protected(safe: Protected, rows: RowKind | None = None) -> OriginalFacts | None:
    """What the original tells about a protected table; None where it was protected in a cluster.

    Args:
        safe: what `protect` returned.
        rows: what a row of the original is, where that is known already.

    >>> from incrowd import protect
    >>> ages = [age for age in range(30, 40) for _ in range(3)]
    >>> table = {"age": ages, "born": [2000 - age for age in ages]}
    >>> safe = protect(table, quasi_identifiers=["age"], k=11, output="midpoint", other=["born"], identifiers=[])
    >>> [fact.column for fact in facts_of_protected(safe).given_back]
    ['born']
    """
    if safe.original is None:
        return None
    ranges = read_table(safe.table if safe.generalised is None else safe.generalised)
    spoken_for = {*safe.quasi_identifiers, safe.person, *safe.original.nested}
    kept = [name for name in ranges.columns if name not in spoken_for]
    given_back = safe.given_back
    if given_back is None:
        coarse = [name for name, cells in safe.changed_cells.items() if cells]
        given_back = kept_column_facts(
            *(safe.original, ranges, safe.quasi_identifiers, kept, safe.person), coarse=coarse, secrets=safe.sensitive
        )
    seen = rows or describe_rows(safe.original)
    facts = OriginalFacts(
        tuple(kept),
        given_back,
        seen,
        safe.pseudonymised,
        safe.perturbed,
        shuffled=safe.shuffled,
        row_order=safe.row_order,
    )
    return _carry_over(facts, safe.original, ranges.columns)


def facts_of_tables(
    original: Any,
    released: Table,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    person: str | None,
    rows: RowKind | None = None,
    *,
    shuffled: bool = False,
    secrets: Sequence[str] = (),
) -> OriginalFacts:
    """What an original tells about a released table; their rows need not be the same.

    Args:
        original: whatever `read_table` reads; a table that was collected in ranges is its own original.
        released: the released table.
        quasi_identifiers: its columns that others may know.
        kept: its other columns.
        person: the column that says whose record it is, where people have several.
        rows: what a row of the original is, where that is known already.
        shuffled: whether the rows of the release are in random order.
        secrets: columns that are to go last, of those that only tell something together.

    Raises:
        ColumnNotFoundError: the original lacks a column.

    >>> table = {"age": ["[30;39]"] * 4, "score": [1, 2, 3, 4]}
    >>> facts_of_tables(table, read_table(table), ["age"], ["score"], None).given_back
    ()
    """
    before = read_table(original)
    before.require([*quasi_identifiers, *kept], "columns of the original")
    coarse = [name for name in quasi_identifiers if not _is_same(before, released, name, shuffled)]
    facts = (
        kept_column_facts(before, released, quasi_identifiers, kept, person, coarse=coarse, secrets=secrets)
        if coarse
        else ()
    )
    seen = rows or describe_rows(before)
    return _carry_over(OriginalFacts(tuple(kept), facts, seen, shuffled=shuffled), before, released.columns)


def unite_facts(one: OriginalFacts | None, other: OriginalFacts | None) -> OriginalFacts | None:
    """What two sources tell about a release: all that either of them does.

    >>> people = RowKind("people", "", "high")
    >>> unite_facts(OriginalFacts((), (), people, perturbed=("age",)), OriginalFacts((), (), people)).perturbed
    ('age',)
    """
    if one is None or other is None:
        return other if one is None else one
    told = {fact.columns: fact for fact in (*other.given_back, *one.given_back)}
    return OriginalFacts(
        kept=_union(one.kept, other.kept),
        given_back=tuple(told.values()),
        rows=other.rows if one.rows.kind == "people" else one.rows,
        pseudonymised=_union(one.pseudonymised, other.pseudonymised),
        perturbed=_union(one.perturbed, other.perturbed),
        is_damaged=one.is_damaged or other.is_damaged,
        shuffled=one.shuffled or other.shuffled,
        row_order=_union(one.row_order, other.row_order),
    )


def _union(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _carry_over(facts: OriginalFacts, original: Table, columns: Sequence[str]) -> OriginalFacts:
    """The facts with those of the original's own mark, where it is a release itself, about the columns still there."""
    try:
        before = read_mark(original)
    except InputError:
        return replace(facts, kept=(), is_damaged=True)
    if before is None:
        return facts
    united = unite_facts(facts, before)
    assert united is not None
    return replace(
        united,
        kept=tuple(name for name in facts.kept if name in before.kept),
        given_back=tuple(one for one in united.given_back if {*one.columns, one.gives_back} <= {*columns}),
        pseudonymised=tuple(name for name in united.pseudonymised if name in columns),
        perturbed=tuple(name for name in united.perturbed if name in columns),
        row_order=() if facts.shuffled else united.row_order,
    )


def _is_same(one: Table, other: Table, name: str, shuffled: bool) -> bool:
    """Whether a column has the same cells in both tables, row by row; it counts as changed where rows are missing.

    Of rows in random order, whether each value is as frequent.
    """
    if one.rows != other.rows:
        return False
    (before,), (after,) = encode(one, [name]), encode(other, [name])
    if before.values.to_pylist() != after.values.to_pylist():
        return False
    cells = [np.sort(column.codes) if shuffled else column.codes for column in (before, after)]
    return bool((cells[0] == cells[1]).all())


def mark_of(file: Path) -> Path:
    """Where the mark of a released file is.

    >>> mark_of(Path("safe.csv")).name
    'safe.csv.incrowd'
    """
    return file.with_name(f"{file.name}.incrowd")


def write_mark(safe: Protected, written: Path, target: Path) -> None:
    """Write what the original tells beside a released file, and the release's log, in place of an older mark.

    Args:
        safe: the protected table that was written.
        written: the file that holds it now.
        target: the name that the file will have.
    """
    facts = facts_of_protected(safe)
    if facts is not None:
        write_facts(_escaped(facts) if is_text(target) else facts, ReleaseLog.of(safe), written, target)


def write_facts(facts: OriginalFacts, log: ReleaseLog, written: Path, target: Path) -> None:
    """Write facts and a log beside a released file; `written` holds it now, `target` is the name it will have."""
    mark = mark_of(target)
    if mark.exists() and SCHEMA.rpartition("/")[0] not in mark.read_text(encoding="utf-8", errors="replace")[:200]:
        raise InputError(f"{mark.name} would be written beside the file, and is there with other content; move it")
    saved = {"schema": SCHEMA, "sha256": hash_of(written), **facts.to_dict(), "log": log.to_dict()}
    with written_whole(mark, force=True) as temporary:
        temporary.write_text(json.dumps(saved, indent=2) + "\n", encoding="utf-8")


def _escaped(facts: OriginalFacts) -> OriginalFacts:
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
    named = ("kept", "pseudonymised", "perturbed", "row_order")
    escaped: dict[str, Any] = {name: tuple(map(escape_formula, getattr(facts, name))) for name in named}
    return replace(facts, given_back=given_back, **escaped)


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
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{mark.name} has no log that can be read; protect all records together") from None


def copy_release(file: Path, target: Path) -> Path:
    """Copy a released file together with its mark; the path of the copy."""
    shutil.copyfile(file, target)
    if mark_of(file).is_file():
        shutil.copyfile(mark_of(file), mark_of(target))
    return target


def remove_release(file: Path) -> None:
    """Delete a released file and its mark, as far as they are there."""
    for path in (file, mark_of(file)):
        path.unlink(missing_ok=True)


def read_mark(table: Table) -> OriginalFacts | None:
    """What the mark beside a table's file tells; None where there is no mark.

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
        found = json.loads(mark.read_text(encoding="utf-8"))
        facts = OriginalFacts(
            _names(found["kept"]),
            tuple(_given_back(one) for one in found["given_back"]),
            _row_kind(found["rows"]),
            _names(found["pseudonymised"]),
            _names(found["perturbed"]),
            is_damaged=found.get("is_damaged", False) is not False,
            shuffled=found.get("shuffled", False) is not False,
            row_order=_names(found.get("row_order", [])),
        )
        schema, made_for = found["schema"], found["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        raise InputError(f"{mark.name} cannot be read") from None
    if schema != SCHEMA:
        raise InputError(f"{mark.name} is of another version")
    if made_for != hash_of(file):
        raise InputError(f"{mark.name} is of another file, or the file was changed after it was written")
    return facts


def pseudonyms_in(table: Table, original: Any = None) -> tuple[str, ...]:
    """The columns of a table that hold random numbers in place of people's, as far as that is known.

    Args:
        table: a table that may be a release.
        original: what its original tells (`OriginalFacts`), where that is at hand; else its mark is read.
    """
    if isinstance(original, OriginalFacts):
        return original.pseudonymised
    try:
        facts = read_mark(table)
    except InputError:  # told where the mark would answer a question
        return ()
    return () if facts is None else facts.pseudonymised


def _names(saved: Any) -> tuple[str, ...]:
    """Names of columns as a mark holds them; anything else is refused."""
    if not isinstance(saved, list) or not all(isinstance(name, str) for name in saved):
        raise TypeError
    return tuple(saved)


def is_shuffled(table: Table) -> bool:
    """Whether the rows of a table are in random order by its mark, or may be because its mark cannot be read."""
    try:
        facts = read_mark(table)
    except InputError:
        return True
    return facts is not None and facts.shuffled


def _given_back(saved: dict[str, Any]) -> GivenBack:
    found = GivenBack(**{name: value for name, value in saved.items() if name not in ("undoes", "others")})
    found = replace(found, others=_names(saved.get("others", [])))
    numbers = (found.told, found.by_chance, found.k, found.uniques, found.k_without)
    _names([found.column, found.gives_back])
    if not all(isinstance(number, int | float) for number in numbers):
        raise TypeError
    return found


def _row_kind(saved: dict[str, Any]) -> RowKind:
    found = RowKind(**saved)
    _names([found.kind, found.reason, found.confidence])
    _names([name for name in (found.person, found.household, found.time) if name is not None])
    if found.kind not in get_args(Kind) or found.confidence not in get_args(Confidence):
        raise ValueError
    return found


def hash_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
