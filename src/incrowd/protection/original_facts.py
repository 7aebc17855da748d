"""Facts about a release that only its original shows, counted while the original is available.

Only the original shows whether a kept column reveals exact values behind ranges, and what a row is if the person column
was removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.attacks.learned_result import LearnedAttack
from incrowd.attacks.learned_tables import attack_release_by_learning
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.marks import Coding, Linkage, OriginalFacts, escape_names, read_mark, write_facts
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.protection.release_log import ReleaseLog
from incrowd.tables import RowKind, Table, describe_rows, read_table
from incrowd.tables.write import is_text_file

if TYPE_CHECKING:
    from incrowd.protection.result import Protected

_CODINGS: tuple[Coding, ...] = ("by class", "rows left out", "same", "unknown")  # the first that is said holds


def facts_of_protected(
    safe: Protected, rows: RowKind | None = None, progress: Progress = silent
) -> OriginalFacts | None:
    """Facts that the original shows about a protected table; None if it was protected in a cluster.

    Args:
        safe: what `protect` returned.
        rows: what a row of the original is, if that is known already.

    >>> from incrowd import protect
    >>> ages = [age for age in range(30, 70) for _ in range(8)]
    >>> table = {"age": ages, "born": [2000 - age for age in ages]}
    >>> safe = protect(table, quasi_identifiers=["age"], k=40, other=["born"], identifiers=[])
    >>> facts_of_protected(safe).attack.low > 1 / 40
    True
    """
    if safe.original is None:
        return None
    row_kind = rows or describe_rows(safe.original)
    facts = OriginalFacts(
        attack_protected(safe, part(progress, 0.0, 0.5)),
        row_kind,
        safe.pseudonymised,
        safe.perturbed,
        shuffled=safe.shuffled,
        row_order=safe.row_order,
        keyed=safe.pseudonymised if safe.keyed else (),
        linkage=_link(safe, part(progress, 0.5, 1.0)),
        coding=_coding_of(safe),
    )
    return _carry_over(facts, safe.original, read_table(safe.table).columns)


def _coding_of(safe: Protected) -> Coding:
    """How a method coded the quasi-identifiers."""
    if (
        any(safe.changed_cells.get(name) for name in safe.quasi_identifiers)
        and not PROTECTION_METHODS[safe.method].codes_alike
    ):
        return "by class"
    return "rows left out" if safe.suppressed_rows else "same"


def attack_protected(safe: Protected, progress: Progress = silent) -> LearnedAttack | None:
    """What kept columns tell an attacker who knows the exact quasi-identifiers; None if linkage measures the risk.

    The result is kept with the protected table.
    """
    if safe.original is None or {*safe.perturbed} & {*safe.quasi_identifiers}:
        return None
    if safe.learned is None:
        released = read_table(safe.table if safe.generalised is None else safe.generalised)
        attack = attack_release_by_learning(
            safe.original,
            released,
            known=safe.quasi_identifiers,
            sensitive=list(dict.fromkeys((*safe.sensitive, *safe.known_secrets, *safe.left_out_secrets))),
            person=safe.person,
            unseen=safe.pseudonymised,
            rows=np.arange(released.rows) if safe.kept_rows is None else safe.kept_rows,
            shuffled=safe.shuffled,
            progress=progress,
        )
        object.__setattr__(safe, "learned", attack)
    return safe.learned


def attack_perturbed(safe: Protected, progress: Progress = silent) -> Any:
    """Attack a perturbed table as an attacker who knows the quasi-identifiers.

    Args:
        safe: what `protect` returned.

    Returns:
        An `AttackRisk`; None if the table is not perturbed, or if it cannot be attacked, so that its risk is unknown.
    """
    if not safe.guarantee.perturbed:
        return None
    try:
        return safe.attack(progress=progress)
    except UnsupportedError:  # for example, a single row; without an attack, a perturbed table never gets a yes
        return None


def _link(safe: Protected, progress: Progress) -> Linkage | None:
    """The attack on a perturbed table in the form of its mark; None if there is none."""
    attack = attack_perturbed(safe, progress)
    if attack is None:
        return None
    return Linkage(
        safe.released_quasi_identifiers or safe.quasi_identifiers,
        *(attack.risk.value, attack.risk.low, attack.risk.high, float(attack.successes.max())),
        attack.sentence,
    )


def facts_of_tables(
    original: Any,
    released: Table,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    person: str | None,
    rows: RowKind | None = None,
    *,
    source: Any = None,
    shuffled: bool = False,
    secrets: Sequence[str] = (),
    left_out: Sequence[str] = (),
    progress: Progress = silent,
) -> OriginalFacts:
    """Facts that an original shows about a released table; their rows need not be the same.

    Args:
        original: whatever `read_table` reads; a table that was collected in ranges is its own original.
        quasi_identifiers: its columns that an attacker may know.
        person: the column that says whose record it is, if people have several records.
        rows: what a row of the original is, if that is known already.
        source: the row of the original of each released row; None: rows are matched by what they say.
        shuffled: whether the rows of the release are in random order.
        secrets: the sensitive columns.
        left_out: the sensitive columns of the original that are not released.

    Raises:
        ColumnNotFoundError: the original lacks a column.

    >>> table = {"age": ["[30;39]"] * 4, "score": [1, 2, 3, 4]}
    >>> facts_of_tables(table, read_table(table), ["age"], ["score"], None).attack.coarse
    ()
    """
    before = read_table(original)
    before.require([*quasi_identifiers, *kept], "columns of the original")
    attack = attack_release_by_learning(
        before,
        released,
        known=quasi_identifiers,
        sensitive=list(dict.fromkeys((*secrets, *left_out))),
        person=person,
        shuffled=shuffled,
        rows=source,
        progress=progress,
    )
    facts = OriginalFacts(
        attack,
        rows or describe_rows(before),
        shuffled=shuffled,
        coding="rows left out" if released.rows < before.rows else "unknown" if attack.coarse else "same",
    )
    return _carry_over(facts, before, released.columns)


def unite_facts(one: OriginalFacts | None, other: OriginalFacts | None) -> OriginalFacts | None:
    """Union of the facts that two sources show about a release.

    >>> people = RowKind("people", "", "high")
    >>> unite_facts(OriginalFacts(None, people, perturbed=("age",)), OriginalFacts(None, people)).perturbed
    ('age',)
    """
    if one is None or other is None:
        return other if one is None else one
    return OriginalFacts(
        attack=_both(one.attack, other.attack),
        rows=other.rows if one.rows.kind == "people" else one.rows,
        pseudonymised=_union(one.pseudonymised, other.pseudonymised),
        perturbed=_union(one.perturbed, other.perturbed),
        is_damaged=one.is_damaged or other.is_damaged,
        shuffled=one.shuffled or other.shuffled,
        row_order=_union(one.row_order, other.row_order),
        keyed=_union(one.keyed, other.keyed),
        linkage=one.linkage or other.linkage,
        coding=next(coding for coding in _CODINGS if coding in (one.coding, other.coding)),
    )


def _both(first: LearnedAttack | None, second: LearnedAttack | None) -> LearnedAttack | None:
    """What two attacks show together; the one that was made if the other was not."""
    if first is None or second is None:
        return first or second
    return first.joined(second)


def _union(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _carry_over(facts: OriginalFacts, original: Table, columns: Sequence[str]) -> OriginalFacts:
    """The facts, with those in the mark of the original if it is a release itself, for columns that still exist."""
    try:
        earlier = read_mark(original)
    except InputError:
        return replace(facts, attack=None, is_damaged=True)
    if earlier is None:
        return facts
    new_pseudonyms = {*facts.pseudonymised} - {*facts.keyed}
    united = unite_facts(facts, earlier)
    assert united is not None
    return replace(
        united,
        attack=_at_both_releases(facts.attack, earlier.attack),
        pseudonymised=tuple(name for name in united.pseudonymised if name in columns),
        perturbed=tuple(name for name in united.perturbed if name in columns),
        row_order=() if facts.shuffled else united.row_order,
        keyed=tuple(name for name in united.keyed if name in columns and name not in new_pseudonyms),
        linkage=facts.linkage,
        coding=facts.coding if earlier.coding == "same" else earlier.coding,
    )


def _at_both_releases(now: LearnedAttack | None, earlier: LearnedAttack | None) -> LearnedAttack | None:
    """What the attacks on a release of a release and on the first release show together; None if one was not made.

    What the first release hid is known to nobody here, so an attack on the second one alone would miss it.
    """
    return None if now is None or earlier is None else now.joined(earlier)


def write_mark(safe: Protected, written: Path, target: Path, progress: Progress = silent) -> None:
    """Write the mark of a released file, as yet at the path `written`: facts of the original, and the log."""
    facts = facts_of_protected(safe, progress=progress)
    if facts is not None:
        write_facts(escape_names(facts) if is_text_file(target) else facts, ReleaseLog.of(safe), written, target)
