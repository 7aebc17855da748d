"""`evaluate`: compare a protected table with its original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.backends.arrow_columns import without_dictionary
from incrowd.classes import Classes, assign_classes, indistinguishable_groups
from incrowd.errors import ColumnNotFoundError, InputError
from incrowd.evaluation.boxes import Uniques, unique_records
from incrowd.evaluation.disclosure import Disclosure, attribute_disclosure
from incrowd.evaluation.labels import LabelMeanings, read_meanings
from incrowd.evaluation.loss import Loss, changed_cells, correlations, granularity, information_loss
from incrowd.evaluation.result import ColumnCost, Evaluation
from incrowd.evaluation.utility import measure_utility
from incrowd.measures import measure_diversity
from incrowd.measures.class_values import group_by_knowledge
from incrowd.protection import Hierarchy
from incrowd.protection.validate import require_sensitive
from incrowd.tables import Table, TableLike, read_table
from incrowd.tables.guess_scales import apply_scales
from incrowd.tables.release_marks import is_shuffled
from incrowd.tables.released_values import as_text, join_bounds


def evaluate(
    original: TableLike,
    protected: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | None = None,
    secret: Any = None,
    person: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    kept_rows: NDArray[np.int64] | None = None,
    utility: bool = False,
    outcome: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Measure the remaining risk of a protected table, and the cost of its protection.

    Rows are compared in order, unless the mark next to a released file says that they are in random order.

    Args:
        original: the table before protection.
        protected: the table after protection, by any tool.
        quasi_identifiers: the columns that an attacker may know.
        sensitive: the sensitive columns; one that is a quasi-identifier as well is compared within the classes by the
            others.
        secret: a value of the sensitive column (give one column then), a list of values that count as one secret, or
            a range: (10, 20) with both ends, (100_000, None) everything above, (None, 5) everything below.
        person: the column that identifies the person of each record, if people have several.
        hierarchies: by column, the meaning of labels that are neither ranges nor sets.
        kept_rows: if rows were dropped or put in random order, the original's row that each protected row was made
            from. Without it the loss of information cannot be measured.
        utility: also measure the utility for analysts: marginals and propensity.
        outcome: a column of numbers or of two values, not a quasi-identifier, for regressions on the
            quasi-identifiers; implies `utility`.
        progress: callback that receives the current step and the share done.

    Returns:
        Risk, loss, disclosure and utility.

    Raises:
        InputError: a column is missing, a label cannot be read, or no record has the secret.
        UnsupportedError: rows have no order.

    >>> before = {"age": [30, 31, 62, 64]}
    >>> found = evaluate(before, {"age": ["[30;31]", "[30;31]", "[62;64]", "[62;64]"]}, quasi_identifiers=["age"])
    >>> found.uniques, found.k, round(found.granularity, 3)
    (0, 2, 0.667)
    """
    if secret is not None and not sensitive:
        raise InputError("a secret without the sensitive column it is in; name that too", hint="sensitive")
    before, after = _read_in_order(original, protected)
    secrets = require_sensitive(before, sensitive)
    if secret is not None and len(secrets) > 1:
        raise InputError(f"a secret, and {len(secrets)} sensitive columns; name the one that the secret is in")
    names = _require_columns(before, after, quasi_identifiers, secrets, person)
    notes = _check_rows(before, after, kept_rows)
    comparable = kept_rows is not None or not notes
    progress("reading", 0.0)
    meanings, scale_notes = _meanings_by_column(before, after, names, secrets, hierarchies or {})
    progress("counting classes", 0.4)
    classes = assign_classes(after, names, person)
    alone = int(np.count_nonzero(classes.people == 1))
    # records with equal labels have equal boxes, so without classes of one there are no uniques
    uniques = unique_records(meanings, progress) if person is None and alone else Uniques(alone, 0)
    progress("measuring loss", 0.6)
    cost = _measure_cost(meanings, information_loss(meanings, kept_rows) if comparable else None)
    measured_utility = None
    if utility or outcome is not None:
        progress("measuring utility", 0.8)
        explained = None if outcome is None else _require_outcome(before, after, outcome, names)
        measured_utility = measure_utility(meanings, explained, kept_rows, by_row=comparable)
    secret_columns = encode(after, secrets) if secrets else []
    groups = dict(_group_for_secrets(after, names, secrets, classes, person))
    suppressed = before.rows - after.rows
    records = np.bincount(classes.numbers).astype(object)
    return Evaluation(
        records=after.rows,
        suppressed=suppressed,
        people=int(classes.people.sum()),
        uniques=uniques.unique,
        undecided=uniques.undecided,
        k=int(classes.people.min()),
        classes=int(np.count_nonzero(classes.people)),
        **cost._asdict(),
        discernibility=int((records**2).sum()) + suppressed * before.rows,
        sensitive=tuple(measure_diversity(groups[column.name].numbers, column) for column in secret_columns),
        disclosure=(None if secret is None else _disclosure(groups[secrets[0]], secret_columns[0], secret, before)),
        notes=(*notes, *scale_notes),
        utility=measured_utility,
    )


def _group_for_secrets(
    after: Table, names: Sequence[str], secrets: Sequence[str], classes: Classes, person: str | None
) -> Iterator[tuple[str, Classes]]:
    """Each sensitive column, with the records that an attacker cannot distinguish who does not know it."""
    for known, unknown in group_by_knowledge(names, secrets):
        groups = classes
        if not known:
            groups = Classes(np.zeros(after.rows, dtype=np.uint32), np.array([after.rows]))
        elif len(known) < len(names):
            groups = assign_classes(after, known, person)
        if known:
            groups = indistinguishable_groups(after, known, groups, person)
        yield from ((name, groups) for name in unknown)


def _disclosure(groups: Classes, column: Coded, secret: Any, before: Table) -> Disclosure:
    (original,) = encode(before, [column.name])
    return attribute_disclosure(groups, column, secret, original=original)


def _meanings_by_column(
    before: Table, after: Table, names: Sequence[str], secrets: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> tuple[list[LabelMeanings], list[str]]:
    """The labels of every protected column in terms of its original, and notes on numbers that are taken for codes."""
    released = encode(after, names)
    notes = apply_scales(before, [*secrets, *(one.name for one in released if not _has_ranges(one))])
    apply_scales(after, secrets)
    pairs = zip(encode(before, names), released, strict=True)
    return [read_meanings(was, now, hierarchies.get(was.name)) for was, now in pairs], notes


class _Cost(NamedTuple):
    """The fields of an evaluation on the cost of protection."""

    columns: tuple[ColumnCost, ...]
    information_loss: float | None
    granularity: float
    correlation_change: tuple[float, float] | None
    correlation_agreement: float | None
    contradicting: int | None


def _measure_cost(meanings: Sequence[LabelMeanings], loss: Loss | None) -> _Cost:
    """The detail that the columns keep, and the change of correlations; `loss` is None without rows to compare."""
    per_column = tuple(
        ColumnCost(one.original.name, changed_cells(one), granularity(one), loss.by_column[place] if loss else None)
        for place, one in enumerate(meanings)
    )
    pairs = correlations(meanings)
    change = np.abs(pairs.change)
    return _Cost(
        columns=per_column,
        information_loss=loss.information if loss else None,
        granularity=sum(cost.granularity for cost in per_column) / len(per_column),
        correlation_change=(float(change.mean()), float(change.max())) if change.size else None,
        correlation_agreement=pairs.agreement,
        contradicting=loss.contradicting if loss else None,
    )


def _has_ranges(released: Coded) -> bool:
    """True if a column was released as intervals, so that its values were treated as quantities."""
    return bool(pc.any(pc.match_substring_regex(as_text(released.values), r"^\[.+;.+\]$")).as_py())


def _require_outcome(before: Table, after: Table, outcome: str, names: Sequence[str]) -> tuple[Coded, Coded]:
    """The outcome in both tables."""
    if outcome in names:
        raise InputError(f"the outcome {outcome!r} is among the quasi-identifiers; take it out of one of them")
    was, now = (encode(table, table.require([outcome], "outcome"))[0] for table in (before, after))
    return was, now


def _require_columns(
    before: Table, after: Table, quasi_identifiers: Sequence[str], sensitive: Sequence[str], person: str | None
) -> list[str]:
    names = before.require(quasi_identifiers, "quasi-identifiers")
    others = [*sensitive, *([] if person is None else [person])]
    missing = [name for name in [*names, *others] if name not in after.columns]
    if missing:
        raise ColumnNotFoundError.of(missing, after.columns)
    if person in names:
        raise InputError("the person column is among the quasi-identifiers; take it out of one of them")
    return names


def _check_rows(before: Table, after: Table, kept: NDArray[np.int64] | None) -> tuple[str, ...]:
    """Refuse rows that cannot come from the original; return a note if they cannot be compared one by one."""
    if after.rows > before.rows:
        raise InputError(
            f"the protected table has {after.rows:,} rows, the original {before.rows:,}; is the order right?"
        )
    if kept is not None and (
        len(kept) != after.rows or (len(kept) and not 0 <= kept.min() <= kept.max() < before.rows)
    ):
        raise InputError(f"{len(kept):,} kept rows for a protected table of {after.rows:,}; list each row that is left")
    if kept is None and after.rows < before.rows:
        return (
            f"{before.rows - after.rows:,} rows were dropped and it is not known which, so records cannot be compared "
            "one by one and the loss of information is left out",
        )
    if kept is None and is_shuffled(after):
        return (
            "rows were put in random order, so records cannot be compared one by one and the loss of information is "
            "left out",
        )
    return ()


def _read_in_order(original: TableLike, protected: TableLike) -> tuple[Table, Table]:
    before = read_table(original)
    after = join_bounds(read_table(protected), before.columns)
    before.require_order()
    after.require_order()
    return before, after


def changed_columns(original: TableLike, protected: TableLike) -> list[str]:
    """Find the columns of both tables whose values differ: those that were protected.

    In a release in random order, these are columns with other values, or with the same values at other frequencies.

    Args:
        original: the table before protection.
        protected: the table after protection, rows in the same order.

    Returns:
        The names of the columns, in the original's order.

    Raises:
        UnsupportedError: the rows of a table have no order.

    >>> changed_columns({"age": [30, 31], "sex": ["f", "f"]}, {"age": ["[30;31]"] * 2, "sex": ["f", "f"]})
    ['age']
    """
    before, after = _read_in_order(original, protected)
    both = [name for name in before.columns if name in after.columns]
    pairs = zip(before.read(both), after.read(both), strict=True)
    ordered = is_shuffled(after)
    return [name for (name, was), (_, now) in pairs if not _as_written(was, ordered).equals(_as_written(now, ordered))]


def _as_written(column: pa.ChunkedArray, ordered: bool) -> pa.ChunkedArray:
    """A column as one text array, so that file types do not matter; sorted if rows are in random order."""
    text = pa.chunked_array([without_dictionary(column).cast(pa.string()).combine_chunks()])
    return text.take(pc.sort_indices(text)) if ordered else text
