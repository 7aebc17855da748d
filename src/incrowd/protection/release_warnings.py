"""Warnings of unchanged columns that undo the protection, and of an informative row order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd.backends import encode
from incrowd.measures import RecoveringColumn, count_with_auxiliary, kept_column_facts, released_column_facts
from incrowd.measures.recovering_columns import ExpectedValue, FollowingMissingCells
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles
from incrowd.wording import listed, people, percent

if TYPE_CHECKING:
    from incrowd.protection.build import BuiltRelease
    from incrowd.protection.validate import SettledColumns

_NEARLY_UNIQUE = 0.5  # distinct values per row, above which a value nearly identifies its record
_FEW_NAMES = 3  # most columns that a warning lists
_MANY_NAMES = 10  # with more columns, they share one warning
_FEW = 20  # most values of a column of categories


def is_nearly_unique(distinct: int, rows: int) -> bool:
    """True if most values of a column differ, so that a value nearly identifies its record.

    >>> is_nearly_unique(60, 100), is_nearly_unique(40, 100), is_nearly_unique(15, 20)
    (True, False, False)
    """
    return distinct > max(_FEW, _NEARLY_UNIQUE * rows) or distinct == rows > 1


def warn_of_nearly_unique(distinct: Iterable[tuple[str, int]], rows: int) -> Iterator[str]:
    """Warn of kept columns in which most values differ; `distinct` holds columns and their numbers of values.

    Many such columns share one warning.
    """
    warned = [(name, size) for name, size in distinct if is_nearly_unique(size, rows)]
    if len(warned) > _MANY_NAMES:
        yield (
            f"{len(warned):,} columns are passed on unchanged with a different value in most of the {rows:,} rows "
            f"({listed([name for name, _ in warned], _MANY_NAMES)}): an attacker who knows a person's value in one of "
            "them finds the record; leave them out, or name them as quasi-identifiers, which makes them coarser"
        )
        return
    for name, size in warned:
        yield (
            f"{name} is passed on unchanged with {size:,} different values in {rows:,} rows: an attacker who knows a "
            "person's value finds the record; leave it out, or name it as a quasi-identifier, which makes it coarser"
        )


class KeptColumns(NamedTuple):
    """What columns that are released unchanged tell about coarsened quasi-identifiers (None: not reviewed)."""

    given_back: tuple[RecoveringColumn, ...] | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def review_kept_columns(
    table: Table, settled: SettledColumns, built: BuiltRelease, k: int, *, warn: bool
) -> KeptColumns:
    """Find the unchanged columns that undo the protection to classes of k; without `warn` no column is reviewed."""
    if not warn:
        return KeptColumns(None, (), ())
    names, person, unknown = settled.quasi_identifiers, settled.person, settled.other
    not_reviewed = {*names, person, *table.nested, *built.recoding.columns}
    kept = [name for name in built.generalised.column_names if name not in not_reviewed]
    not_sensitive = [name for name in kept if name not in settled.sensitive]
    changed = [name for name, cells in built.recoding.changed.items() if cells]
    given_back = kept_column_facts(
        *(table, built.ranges, names, kept, person),
        coarse=changed,
        secrets=settled.sensitive,
        left_out=settled.left_out_secrets,
    )
    expected = [one for one in given_back if one.undoes and one.is_reported_only(settled.sensitive, k)]
    undoing = [one for one in given_back if one not in expected]
    undone = {one.column for one in given_back if one.undoes}
    not_undone = [name for name in kept if name not in undone]
    release = built.ranges if built.table is built.generalised else read_table(built.table)
    undoing += _facts_of_release(release, built.quasi_identifiers, not_undone, person)
    warnings = warn_of_undoing(table, built.ranges, names, not_sensitive, undoing, person=person, unknown=unknown)
    knowable = [name for name in not_sensitive if name not in unknown]
    distinct = [(column.name, column.size) for column in encode(table, knowable)] if knowable else []
    notes = (*describe_reported(expected), *warn_of_nearly_unique(distinct, table.rows))
    return KeptColumns(given_back, tuple(warnings), notes)


def _facts_of_release(
    release: Table, quasi_identifiers: Sequence[str], kept: Sequence[str], person: str | None
) -> tuple[RecoveringColumn, ...]:
    """Kept columns that give back a quasi-identifier by the release alone, as `check` will find them in the file.

    Near the limits a release shows what its original does not: sets with a common member are found more often than
    equal values are.
    """
    if not kept:
        return ()
    coarse = [one.column for one in suggest_roles(release, quasi_identifiers) if one.generalised]
    return released_column_facts(release, quasi_identifiers, kept, person, coarse=coarse)


def warn_of_undoing(
    original: Table,
    protected: Any,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    given_back: Sequence[RecoveringColumn],
    *,
    person: str | None,
    unknown: Sequence[str] = (),
) -> Iterator[str]:
    """Warn of kept columns that reveal a quasi-identifier or look like one, with the class sizes that follow.

    `given_back` has the facts about all kept columns. For `unknown` columns, which an attacker cannot know, there is a
    warning only if they reveal a quasi-identifier.
    """
    undoing = [fact for fact in given_back if fact.undoes]
    by_cells = [fact for fact in undoing if isinstance(fact, FollowingMissingCells)]
    by_value = {fact.column for fact in undoing if fact not in by_cells}
    yield from (describe_given_back(one) for one in undoing if one not in by_cells or one.column not in by_value)
    if not kept:
        return
    release = read_table(protected)
    not_reviewed = {*(name for fact in given_back for name in fact.columns), *unknown}
    suggested = [one for one in suggest_roles(original, kept) if one.column not in not_reviewed]
    before_k = count_with_auxiliary(release, quasi_identifiers, [], person=person).k
    yield from warn_of_known_columns(release, quasi_identifiers, suggested, before_k, person=person)


def warn_of_row_order(followed: Sequence[str], *, shuffled: bool) -> Iterator[str]:
    """Warn that the row order is informative, and say whether it was replaced by a random order."""
    if followed:
        action = "they are released in random order" if shuffled else "they are released so; write them in random order"
        yield f"{describe_row_order(followed)}: {action}"


def describe_row_order(followed: Sequence[str]) -> str:
    """Words for the columns that the row order follows, and the consequence."""
    names = listed(followed, _FEW_NAMES)
    return f"the order of the rows follows {names}, so neighbouring rows tell more than their cells do"


def describe_given_back(fact: RecoveringColumn) -> str:
    """Words for kept columns that reveal a quasi-identifier."""
    share = "" if fact.told == 1.0 else f" for {percent(fact.told)} of the records"
    return f"{fact.sentence}{share}: {fact.consequence}; {fact.remedy}"


def describe_reported(facts: Sequence[RecoveringColumn]) -> Iterator[str]:
    """Words for facts that do not decide."""
    expected = [one for one in facts if not one.narrows]
    if expected:
        yield _describe_expected(expected)
    for one in facts:
        if one.narrows:
            yield (
                f"{one.sentence}: an attacker who knows {one.gives_back} leaves out some of those who look alike, and "
                f"at least {people(one.k)} of {one.k_without:,} are left"
            )


def _describe_expected(facts: Sequence[RecoveringColumn]) -> str:
    """Words for kept columns whose values follow from quasi-identifiers, the column with the smallest class first."""
    ordered = sorted(facts, key=lambda fact: fact.k)
    names = listed(
        [f"{one.column} from {listed([one.gives_back, *one.others])} (smallest class: {one.k:,})" for one in ordered]
    )
    they, them, known = ("they count", "them", "quasi-identifiers")
    if len(facts) == 1:
        they, them, known = ("it counts", "it", "a quasi-identifier")
    keep_apart = "keep those people apart, " if any(isinstance(one, ExpectedValue) for one in facts) else ""
    return (
        f"Others may guess values of kept columns from what they know, which makes the smallest class of "
        f"{ordered[0].k_without:,} smaller: {names}. Here {they} as unknown; if others can guess {them}, {keep_apart}"
        f"leave {them} out or make {them} {known}"
    )


def warn_of_known_columns(
    after: Table, names: Sequence[str], looks: Sequence[SuggestedRole], before_k: int, *, person: str | None = None
) -> Iterator[str]:
    """Warn of kept columns that look like quasi-identifiers, if they would make classes smaller."""
    others = [one.column for one in looks if one.role == "quasi-identifier"]
    if others:
        known = count_with_auxiliary(after, names, others, person=person)
        if known.k < before_k:
            yield (
                f"others may know these columns, and they were left as they are: {', '.join(others)}; for an attacker "
                f"who does, the smallest class has {known.k:,} and not {before_k:,}, and {known.uniques:,} are unique; "
                "remove them, or name them as quasi-identifiers too"
            )
