"""Secrets that a release leaves out and kept columns give back: a wage that is the difference of two kept incomes.

An attacker computes the secret of every released record. The computed values are judged as any secret is: they count
where the records of a class share them and that is news.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode, in_order_of_records
from incrowd.measures.arithmetic_relations import find_relation
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.columns_together import read_quantities, read_released
from incrowd.measures.common_coding import in_one_code
from incrowd.measures.compared_release import name_to_remove
from incrowd.measures.determination import Determination
from incrowd.measures.disclosed_secrets import DisclosedColumn, count_disclosed_secrets
from incrowd.measures.following_columns import ROWS_FOR_EACH, entropy, find_telling, join_codes
from incrowd.measures.near_values import find_near_values
from incrowd.measures.quantities import read_quantity
from incrowd.measures.recovering_columns import RegainedSecret
from incrowd.recipients import CERTAIN_FROM
from incrowd.tables import Table, TableLike, read_table

_COMMON = 0.5  # share of the records with one value, above which it is no news
_ROWS_OF_A_STEP, _MOST_STEPS = 30, 1_000  # of the ordered values of a column with too many of them
_MOST_PAIRED = 40  # columns up to which pairs of them are looked at


class _Way(NamedTuple):
    """Columns from which a secret can be computed, and the computed value of every released record."""

    columns: tuple[str, ...]
    told: float
    by_chance: float
    values: pa.Array


def left_out_secret_facts(
    original: TableLike,
    released: TableLike,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    left_out: Sequence[str],
    person: str | None = None,
    *,
    coarse: Collection[str] = (),
    secrets: Collection[str] = (),
) -> tuple[RegainedSecret, ...]:
    """Find the kept columns that give back a secret which the release leaves out.

    Looked for are sums, differences, products and ratios of numbers, and any function of one or two columns. One column
    of each set is named for removal, and the search continues without it.

    Args:
        original: the table before protection.
        released: the protected table.
        quasi_identifiers: the columns that were protected; those that are not `coarse` may be part of a formula.
        kept: the columns that are released unchanged, whatever their role.
        left_out: the secrets that are not released.
        person: the column that identifies the person of each record, if people have several records.
        coarse: the quasi-identifiers that were made coarser.
        secrets: the secrets among `kept`; one of them is named only if a set has no other kept column.

    Returns:
        A fact for every column to remove, where classes disclose computed values and that is news.

    Raises:
        ColumnNotFoundError: a column is missing.

    >>> wage, rent = np.repeat([20, 40, 10, 30], 100), np.tile(np.arange(50), 8)
    >>> kept = {"town": np.repeat([1, 2, 3, 4], 100), "rent": rent, "income": wage + rent}
    >>> (fact,) = left_out_secret_facts(kept | {"wage": wage}, kept, ["town"], ["rent", "income"], ["wage"])
    >>> fact.columns, fact.gives_back, fact.news
    (('income', 'rent'), 'wage', 400)
    """
    if not kept or not left_out:
        return ()
    names = list(dict.fromkeys(quasi_identifiers))
    unchanged = [name for name in names if name not in coarse]
    persons = [] if person is None or person in (*names, *kept) else [person]
    # samples must not depend on row order
    before = in_order_of_records(encode(read_table(original), [*kept, *unchanged, *left_out, *persons]))
    of_kept = before[: len(kept)]
    of_release = read_table(released)
    search = _Search(
        of_release,
        names,
        [one for one in before[: len(kept) + len(unchanged)] if one.name in of_release.columns],
        {one.name for one in of_kept},
        person,
        secrets,
        before[-1] if persons else None,
    )
    hidden = before[len(kept) + len(unchanged) : len(before) - len(persons)]
    return tuple(fact for secret in hidden for fact in search.find_facts(secret))


@dataclass(slots=True)
class _Search:
    """The search for columns that give back left out secrets; a column that is to be removed is not looked at again.

    Attributes:
        table: the protected table.
        names: the quasi-identifiers.
        visible: the unchanged columns of the original: those that are kept, and quasi-identifiers.
        kept: the names of those that can be removed.
        person: the column that identifies the person of each record, if people have several records.
        secrets: the secrets among `kept`.
        whose: the person of each original record, if people have several records.
        removed: the columns that are to be removed.
    """

    table: Table
    names: Sequence[str]
    visible: Sequence[Coded]
    kept: Collection[str]
    person: str | None
    secrets: Collection[str]
    whose: Coded | None
    removed: set[str] = field(default_factory=set)

    def find_facts(self, secret: Coded) -> Iterator[RegainedSecret]:
        """The facts about one secret, each with the column to remove."""
        remaining = [one for one in self.visible if one.name not in self.removed]
        known = _grouped([one for one in remaining if one.name not in self.kept])
        telling = {one.name for columns, _ in _find_telling(secret, known, self.whose) for one in columns}
        remaining = [one for one in remaining if one.name not in telling]  # any column would tell beside these
        while (way := self._find_way(secret, remaining)) is not None:
            named = name_to_remove([name for name in way.columns if name in self.kept], self.secrets)
            remaining = [one for one in remaining if one.name != named]
            found = self._judge(secret.name, way.values)
            if found.news:
                self.removed.add(named)
                counted = count_with_auxiliary(self.table, self.names, [], person=self.person)
                yield RegainedSecret(
                    named,
                    secret.name,
                    way.told,
                    way.by_chance,
                    counted.k,
                    counted.uniques,
                    counted.k,
                    tuple(name for name in way.columns if name != named),
                    found.news,
                    found.records,
                )

    def _find_way(self, secret: Coded, columns: Sequence[Coded]) -> _Way | None:
        """A formula with a kept column, or else a function of one."""
        way = self._find_formula(secret, columns)
        if way is not None and not any(
            name in self.kept for name in way.columns
        ):  # which others compute without the release
            way = self._find_formula(secret, [one for one in columns if one.name in self.kept])
        return way or self._find_function(secret, columns)

    def _find_formula(self, secret: Coded, columns: Sequence[Coded]) -> _Way | None:
        target, before = read_quantity(secret), read_quantities(columns)
        if target is None or not before:
            return None
        after = {one.name: one for one in read_released(self.table, columns, before)}
        before = [one for one in before if one.name in after]
        one_label = np.zeros(self.table.rows, dtype=np.int64)
        relation = find_relation(target, one_label, before, [after[one.name] for one in before])
        if relation is None or not (relation.step == 0 or relation.step <= 2 * _close(secret)):
            return None
        if relation.step == 0:
            place = np.argsort(target.places)  # missing ones last
            at = np.searchsorted(target.places, relation.guessed, sorter=place).clip(0, place.size - 1)
            values = secret.values.take(pa.array(place[at], mask=np.isnan(relation.guessed)))
        else:
            values = pa.array(relation.guessed, from_pandas=True)
        return _Way(relation.columns, relation.told, relation.by_chance, values)

    def _find_function(self, secret: Coded, columns: Sequence[Coded]) -> _Way | None:
        coded = {one.name: one for one in columns}
        found = next(_find_telling(secret, _grouped(columns), self.whose, self.kept), None)
        if found is None:
            return None
        groups, determined = found
        released = [self._released(coded[one.name], one) for one in groups]
        codes = _usual(join_codes(groups), secret, join_codes(released))
        is_known = np.all([one.codes < one.size for one in released], axis=0) & (codes >= 0)
        values = secret.values.take(pa.array(np.where(is_known, codes, 0), mask=~is_known))
        return _Way(tuple(one.name for one in groups), determined.told, determined.by_chance, values)

    def _released(self, column: Coded, grouped: Coded) -> Coded:
        """The groups of the released cells of a column; one that the original does not have is beyond the last."""
        (after,) = encode(self.table, [column.name])
        codes = in_one_code(column, after).codes[column.codes.size :]
        group = np.full(column.size + 1, grouped.size)
        group[column.codes] = grouped.codes
        return Coded(column.name, group[codes], grouped.values)

    def _judge(self, secret: str, values: pa.Array) -> DisclosedColumn:
        """Count the records whose computed value their class discloses."""
        persons = [self.person] if self.person is not None and self.person not in self.names else []
        columns = self.table.to_arrow([*self.names, *persons]).append_column(secret, values)
        (found,) = count_disclosed_secrets(
            columns,
            quasi_identifiers=self.names,
            sensitive=[secret],
            person=self.person,
            certain_from=CERTAIN_FROM,
        ).columns
        return found


def _close(secret: Coded) -> float:
    """The largest difference of numbers of a secret that count as one; 0 if only equal ones do."""
    near = find_near_values(secret, secret.tally, secret.values.is_valid().to_numpy(False), _COMMON * secret.codes.size)
    return 0.0 if near is None else near.width


def _find_telling(
    secret: Coded, groups: Sequence[Coded], whose: Coded | None, names: Collection[str] | None = None
) -> Iterator[tuple[tuple[Coded, ...], Determination]]:
    """Each set of one or two columns that determines a secret and has one of these `names`; None: any."""
    some = [one.name for one in groups if names is None or one.name in names]
    # of many columns, each is looked at alone: without entropy there is no pair
    bits = [entropy(one) if len(groups) <= _MOST_PAIRED else 0.0 for one in groups]
    return find_telling(secret, groups, some, bits, whose)


def _grouped(columns: Sequence[Coded]) -> list[Coded]:
    """The columns that have groups of values, with a group in place of each value."""
    grouped = []
    for one in columns:
        groups = _in_groups(one)
        if groups is not None and groups.max() > 0:
            grouped.append(Coded(one.name, groups[one.codes], pa.nulls(int(groups.max()) + 1)))
    return grouped


def _in_groups(column: Coded) -> NDArray[np.int64] | None:
    """The group of each value: its own, or, of numbers and dates that few records share, a step of many records."""
    if column.codes.size >= ROWS_FOR_EACH * column.size:
        return np.arange(column.size)
    quantity, steps = read_quantity(column), min(column.codes.size // _ROWS_OF_A_STEP, _MOST_STEPS)
    if quantity is None or steps < 1:
        return None
    order = np.argsort(quantity.places, kind="stable")  # missing ones last
    is_told = ~np.isnan(quantity.places[order])
    below = np.cumsum(column.tally[order]) - column.tally[order]
    groups = np.zeros(column.size, dtype=np.int64)
    groups[order] = np.where(is_told, below * steps // column.codes.size, steps)
    return np.unique(groups, return_inverse=True)[1]


def _usual(joint: NDArray[np.int64], secret: Coded, released: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent code of a secret among the original records with the same joint code; -1 if there are none."""
    cells, counts = np.unique(joint * secret.size + secret.codes, return_counts=True)
    order = np.lexsort((counts, cells // secret.size))
    groups, codes = np.divmod(cells[order], secret.size)
    last = np.append(groups[1:] != groups[:-1], True)
    groups, codes = groups[last], codes[last]
    place = np.searchsorted(groups, released).clip(0, groups.size - 1)
    return np.where(groups[place] == released, codes[place], -1)
