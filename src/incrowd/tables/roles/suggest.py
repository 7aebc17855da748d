"""A suggested role for every column of a table, with a reason and a confidence."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from incrowd.tables.read import TableLike, read_table
from incrowd.tables.roles.column_facts import ColumnFacts, look_at_columns
from incrowd.tables.roles.column_role import SuggestedRole, describe_role, suggest_role, without_weak_evidence
from incrowd.tables.roles.mixed_groups import doubt_mixed_groups
from incrowd.tables.roles.names import NameEvidence, find_topics, recognise_codebooks
from incrowd.tables.roles.revise_roles import (
    choose_main_weight,
    doubt_long_records,
    find_household_numbers,
    find_numbers_within_households,
    prefer_numbers_by_name,
)
from incrowd.tables.roles.weights import WeightEvidence, find_replicates, find_weight, measures_bodies
from incrowd.tables.table import Table

_BYTES_A_CELL = 100  # memory for a sampled cell as a Python object


def suggest_roles(data: TableLike, columns: Sequence[str] | None = None) -> tuple[SuggestedRole, ...]:
    """Suggest a role for every column of a table, with a reason. Suggestions decide nothing.

    Two questions are asked of every column: `known` (can somebody outside know it about a person?) and `sensitive`
    (would it harm somebody if it were learned?). Where name and values say nothing, or little, the answer is None.

    Names are recognised in eight languages and by the codebooks of public surveys. Values are recognised by their form:
    numbers that all differ, dates, ages, words for sex or marital status, weights. Distinct values are counted exactly;
    all other tests use a sample of cells. No reason contains a cell.

    Args:
        data: Whatever `read_table` reads: a file, a frame, or a table.
        columns: The columns to examine; None means all. The names of the others still help to recognise the table.

    Returns:
        One suggestion for each column, in order.

    Raises:
        InputError: A column does not exist, or texts are not UTF-8.

    >>> [(one.column, one.guess) for one in suggest_roles({"age": [30, 41, 30], "email": ["a", "b", "c"]})]
    [('age', 'known'), ('email', 'identifier')]
    """
    table = read_table(data)
    wanted = tuple(table.columns if columns is None else table.require(columns))
    known = _suggested.setdefault(table, {})
    if wanted not in known:
        known[wanted] = tuple(map(without_weak_evidence, find_evidence(table, wanted)))
    return known[wanted]


_suggested: WeakKeyDictionary[Table, dict[tuple[str, ...], tuple[SuggestedRole, ...]]] = WeakKeyDictionary()
"""Cache of suggestions: a table is examined once for each set of columns."""


_looked_at: WeakKeyDictionary[Table, dict[str, ColumnFacts]] = WeakKeyDictionary()
"""Cache of facts about the columns of small tables, for requests with different sets of columns."""


def _look_at_columns(table: Table, wanted: Sequence[str]) -> list[ColumnFacts]:
    """The facts about some columns, cached if the samples of the table take at most an eighth of the memory limit."""
    if table.rows * len(table.columns) * _BYTES_A_CELL > table.memory / 8:
        return look_at_columns(table, wanted)
    known = _looked_at.setdefault(table, {})
    new = [name for name in wanted if name not in known]
    known |= {facts.name: facts for facts in look_at_columns(table, new)} if new else {}
    return [known[name] for name in wanted]


def find_evidence(table: Table, wanted: Sequence[str]) -> list[SuggestedRole]:
    """What the evidence points to for every column, however weak it is: by itself, then in view of other columns."""
    columns = _look_at_columns(table, wanted)
    codebooks = recognise_codebooks(table.columns)
    bodies = measures_bodies(table.columns)
    replicates = find_replicates(columns)
    by_column = []
    weights: list[WeightEvidence | None] = []
    for facts in columns:
        evidence = find_topics(facts.name, codebooks)
        weight = None if facts.name in replicates else _weight(facts, evidence, bodies)
        suggested = _replicate(facts, replicates) or suggest_role(facts, evidence, weight)
        weights.append(weight if suggested.role == "weight" else None)
        by_column.append(suggested)
    roles = prefer_numbers_by_name(choose_main_weight(by_column, weights))
    roles = find_numbers_within_households(find_household_numbers(table, roles))
    return doubt_mixed_groups(table, doubt_long_records(roles))


def _weight(facts: ColumnFacts, evidence: Sequence[NameEvidence], bodies: bool) -> WeightEvidence | None:
    in_codebook = bool(evidence) and evidence[0].topic in {"weight", "replicate weight"}
    return find_weight(facts, bodies=bodies, in_codebook=in_codebook, alone=not evidence)


def _replicate(facts: ColumnFacts, replicates: dict[str, int]) -> SuggestedRole | None:
    if facts.name not in replicates:
        return None
    reason = f"one of {replicates[facts.name]} replicate weights: columns of one stem and a number"
    return describe_role(facts, "weight", reason, "high", "replicate weight", secondary=True)
