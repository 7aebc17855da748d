"""Facts about a release that only its original shows, counted while the original is available.

A kept column can tell single values behind ranges that the release alone does not show, and the column that numbers
people may be gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.backends import encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import kept_column_facts
from incrowd.protection.marks import Linkage, OriginalFacts, escape_names, read_mark, write_facts
from incrowd.protection.release_log import ReleaseLog
from incrowd.tables import RowKind, Table, describe_rows, read_table
from incrowd.tables.write import is_text

if TYPE_CHECKING:
    from incrowd.protection.result import Protected


def facts_of_protected(
    safe: Protected, rows: RowKind | None = None, progress: Progress = silent
) -> OriginalFacts | None:
    """Facts that the original shows about a protected table; None if it was protected in a cluster.

    Args:
        safe: what `protect` returned.
        rows: what a row of the original is, where that is known already.
        progress: told how far the work is.

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
            *(safe.original, ranges, safe.quasi_identifiers, kept, safe.person),
            coarse=coarse,
            secrets=safe.sensitive,
            progress=part(progress, 0.0, 0.5),
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
        keyed=safe.pseudonymised if safe.keyed else (),
        linkage=_link(safe, part(progress, 0.5, 1.0)),
    )
    return _carry_over(facts, safe.original, ranges.columns)


def attack_perturbed(safe: Protected, progress: Progress = silent) -> Any:
    """Attack a perturbed table by whoever knows the quasi-identifiers.

    Args:
        safe: what `protect` returned.
        progress: told how far the work is.

    Returns:
        An `AttackRisk`; None if the table is not perturbed, or cannot be attacked: then its risk is not known.
    """
    if not safe.guarantee.perturbed:
        return None
    try:
        return safe.attack(progress=progress)
    except UnsupportedError:  # such as one row; without an attack the verdict on a perturbed table is never a yes
        return None


def _link(safe: Protected, progress: Progress) -> Linkage | None:
    """The attack on a perturbed table as its mark keeps it; None where there is none."""
    found = attack_perturbed(safe, progress)
    if found is None:
        return None
    return Linkage(
        safe.released_quasi_identifiers or safe.quasi_identifiers,
        *(found.risk.value, found.risk.low, found.risk.high, float(found.successes.max())),
        found.sentence,
    )


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
    progress: Progress = silent,
) -> OriginalFacts:
    """Facts that an original shows about a released table; their rows need not be the same.

    Args:
        original: whatever `read_table` reads; a table that was collected in ranges is its own original.
        released: the released table.
        quasi_identifiers: its columns that others may know.
        kept: its other columns.
        person: the column that says whose record it is, where people have several.
        rows: what a row of the original is, where that is known already.
        shuffled: whether the rows of the release are in random order.
        secrets: columns that are to go last, of those that only tell something together.
        progress: told how far the work is.

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
        kept_column_facts(
            *(before, released, quasi_identifiers, kept, person), coarse=coarse, secrets=secrets, progress=progress
        )
        if coarse
        else ()
    )
    seen = rows or describe_rows(before)
    return _carry_over(OriginalFacts(tuple(kept), facts, seen, shuffled=shuffled), before, released.columns)


def unite_facts(one: OriginalFacts | None, other: OriginalFacts | None) -> OriginalFacts | None:
    """Union of the facts that two sources show about a release.

    >>> people = RowKind("people", "", "high")
    >>> unite_facts(OriginalFacts((), (), people, perturbed=("age",)), OriginalFacts((), (), people)).perturbed
    ('age',)
    """
    if one is None or other is None:
        return other if one is None else one
    told = {(frozenset(fact.columns), fact.missing): fact for fact in (*other.given_back, *one.given_back)}
    return OriginalFacts(
        kept=_union(one.kept, other.kept),
        given_back=tuple(told.values()),
        rows=other.rows if one.rows.kind == "people" else one.rows,
        pseudonymised=_union(one.pseudonymised, other.pseudonymised),
        perturbed=_union(one.perturbed, other.perturbed),
        is_damaged=one.is_damaged or other.is_damaged,
        shuffled=one.shuffled or other.shuffled,
        row_order=_union(one.row_order, other.row_order),
        keyed=_union(one.keyed, other.keyed),
        linkage=one.linkage or other.linkage,
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
    drawn_anew = {*facts.pseudonymised} - {*facts.keyed}
    united = unite_facts(facts, before)
    assert united is not None
    return replace(
        united,
        kept=tuple(name for name in facts.kept if name in before.kept),
        given_back=tuple(one for one in united.given_back if {*one.columns, one.gives_back} <= {*columns}),
        pseudonymised=tuple(name for name in united.pseudonymised if name in columns),
        perturbed=tuple(name for name in united.perturbed if name in columns),
        row_order=() if facts.shuffled else united.row_order,
        keyed=tuple(name for name in united.keyed if name in columns and name not in drawn_anew),
        linkage=facts.linkage,
    )


def _is_same(one: Table, other: Table, name: str, shuffled: bool) -> bool:
    """True if a column has the same cells in both tables, row by row; it counts as changed where rows are missing.

    Of rows in random order, whether each value is as frequent.
    """
    if one.rows != other.rows:
        return False
    (before,), (after,) = encode(one, [name]), encode(other, [name])
    if before.values.to_pylist() != after.values.to_pylist():
        return False
    cells = [np.sort(column.codes) if shuffled else column.codes for column in (before, after)]
    return bool((cells[0] == cells[1]).all())


def write_mark(safe: Protected, written: Path, target: Path, progress: Progress = silent) -> None:
    """Write what the original tells beside a released file, and the release's log, in place of an older mark.

    Args:
        safe: the protected table that was written.
        written: the file that holds it now.
        target: the name that the file will have.
        progress: told how far the work is.
    """
    facts = facts_of_protected(safe, progress=progress)
    if facts is not None:
        write_facts(escape_names(facts) if is_text(target) else facts, ReleaseLog.of(safe), written, target)
