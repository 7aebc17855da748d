"""k-map: every class of a release covers at least a given number of people of a population (Sweeney 2002).

An attacker who compares a released row with a table of the population finds at least so many people who match it. The
union of two classes covers everybody whom either covers, so classes are merged until each covers enough people.

Without a table of the population, the number of people is estimated from the records of a random sample, and classes
are made large enough. Records that define the ends of a range or the members of a set say nothing about how many other
people lie in it, so a class needs them in addition. The result is only an estimate: classes are formed where the sample
is dense, so that no confidence limit holds exactly.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.hierarchies import Hierarchy, covered_by_labels
from incrowd.protection.merge_classes import order_near
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, as_nominal, class_labels
from incrowd.tables import Table, read_table
from incrowd.tables.label_cover import LabelCover
from incrowd.tables.labels import read_labels
from incrowd.tables.released_values import as_text

_BLOCK = 512  # classes whose labels are compared with all values at once
_UNLIKELY = 0.025  # probability below a two-sided 95 % interval
_LARGEST_EXACT = 2**53  # whole numbers up to here are exact as floats

ClassLabels = tuple[NDArray[Any], Sequence[str | None]]
"""The index of every class's label in a column, and the labels."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationTable:
    """The population: its distinct combinations of values, and the number of people with each.

    `columns` holds the distinct values of each column, and `named`, by column and label of a user's hierarchy, the
    codes of the values that the label covers.
    """

    columns: Mapping[str, pa.Array]
    codes: NDArray[np.int64]
    people: NDArray[np.int64]
    named: Mapping[str, Mapping[str, NDArray[np.int64]]]

    def smallest(self, table: Table, names: Sequence[str]) -> int:
        """The fewest people of the population that a row of a released table covers."""
        coded = encode(table, names)
        first = first_places(class_numbers(pack(coded))[0])
        labels = [(column.codes[first], as_text(column.values).to_pylist()) for column in coded]
        return int(self.count(names, labels).min())

    def count(
        self, names: Sequence[str], labels: Sequence[ClassLabels], enough: int | None = None
    ) -> NDArray[np.int64]:
        """Number of people that every class covers; counting a class stops at `enough`."""
        from incrowd.protection import kernels_classes

        classes = labels[0][0].size
        covered = np.empty(classes, dtype=np.int64)
        limit = int(self.people.sum()) if enough is None else enough
        covers, label_of_class = [], []
        for name, (numbers, texts) in zip(names, labels, strict=True):
            used, renumbered = np.unique(numbers, return_inverse=True)
            covers.append(self._read(name, [texts[number] for number in used.tolist()]))
            label_of_class.append(renumbered)
        for start in range(0, classes, _BLOCK):
            masks, rows = [], np.empty((min(_BLOCK, classes - start), len(names)), dtype=np.int64)
            for index, (cover, numbers) in enumerate(zip(covers, label_of_class, strict=True)):
                label_numbers, rows[:, index] = np.unique(numbers[start : start + _BLOCK], return_inverse=True)
                masks.append(cover.pairs(label_numbers[:, None], np.arange(cover.places.size)))
            offsets = np.cumsum([0, *(mask.size for mask in masks[:-1])])
            widths = np.array([mask.shape[1] for mask in masks])
            flat = np.concatenate([mask.ravel() for mask in masks])
            kernels_classes.count_covered(
                self.codes, self.people, flat, offsets + rows * widths, limit, covered[start : start + _BLOCK]
            )
        return covered

    def _read(self, name: str, labels: Sequence[str | None]) -> LabelCover:
        """The values of a column that each label covers; a label of no value of the population covers nobody."""
        texts = pa.array(labels, pa.string())
        return read_labels(texts, self.columns[name], named=self.named.get(name), missing_hides=False)


@dataclass(frozen=True, slots=True)
class RandomSample:
    """Records that were drawn at random from a population, each of its people equally likely."""

    records: int
    people: int

    @classmethod
    def of(cls, records: int, people: float) -> RandomSample:
        """Check the number of records and of people, and make the sample."""
        if not records <= people < math.inf or people != int(people):
            raise InputError(
                f"{records:,} records of a population of {people:,.15g}; give at least as many, a whole number",
                hint="population",
            )
        return cls(records, int(people))

    def smallest_class(self, people: int) -> int:
        """The fewest records of a class from which we infer that at least `people` of the population match it.

        By the exact 95 % interval (hypergeometric): if only `people` - 1 matched the class, the sample would hold that
        many of them with a probability of at most 2.5 %. This holds for a class whose limits do not depend on its
        records. Otherwise `edges_of_classes` are added; a class of `people` records is always enough, because its own
        records match it.

        >>> RandomSample(1_000, 10_000).smallest_class(20), RandomSample(10_000, 10_000).smallest_class(20)
        (6, 20)
        """
        matching = min(people, self.people + 1) - 1
        fewest, most = max(0, self.records + matching - self.people), min(matching, self.records)
        drawn = np.arange(fewest, most, dtype=np.float64)  # P(drawn + 1) / P(drawn)
        steps = np.log((matching - drawn) * (self.records - drawn)) - np.log(
            (drawn + 1) * (self.people - matching - self.records + drawn + 1)
        )
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        probabilities = np.exp(logs - logs.max())
        at_least = np.cumsum(probabilities[::-1])[::-1] / probabilities.sum()
        return fewest + int(np.count_nonzero(at_least > _UNLIKELY))

    def fewest_people(self, size: int, enough: int) -> int:
        """The largest number of people, up to `enough`, that a class of this size is large enough for."""
        return bisect_right(range(enough + 1), size, lo=1, key=self.smallest_class) - 1


def read_population(data: Any, columns: Sequence[Coded], hierarchies: Mapping[str, Hierarchy]) -> PopulationTable:
    """Read the population that k-map counts.

    Args:
        data: a table of everybody, with the quasi-identifiers: whatever `read_table` reads.
        columns: the quasi-identifiers of the table that is protected.
        hierarchies: the user's hierarchies, by column.

    Raises:
        InputError: a column is missing, holds something else or whole numbers beyond 2^53, or there are no rows.
    """
    names = [column.name for column in columns]
    table = read_table(data, scales={column.name: column.stated for column in columns if column.stated})
    table.require(names, "quasi-identifiers in the population")
    coded = []
    for ours, theirs in zip(columns, encode(table, names), strict=True):
        theirs = replace(theirs, stated=ours.stated)  # a `Table` keeps its own scales, so state them again
        theirs = as_nominal(theirs) if theirs.has_distances and pa.types.is_string(ours.values.type) else theirs
        if ours.has_distances != theirs.has_distances:
            raise InputError(
                f"{ours.name!r} holds other values in the population than in the table; give both one type"
            )
        for column in (ours, theirs):
            _require_exact(column)
        coded.append(theirs)
    numbers, people = class_numbers(pack(coded))
    first = first_places(numbers)
    levels = {one.name: hierarchies[one.name].levels(one)[1:] for one in coded if one.name in hierarchies}
    named = {
        name: covered_by_labels([one for one in several if not one.from_values]) for name, several in levels.items()
    }
    codes = np.stack([column.codes[first].astype(np.int64) for column in coded], axis=1)
    values = {column.name: column.values for column in coded}
    return PopulationTable(values, codes, people.astype(np.int64), named)


def _require_exact(column: Coded) -> None:
    """Refuse whole numbers that are not exact as floats, because the ends of ranges are compared as floats."""
    if not column.has_distances or not pa.types.is_integer(column.values.type):
        return
    limits = pc.min_max(column.values).as_py()
    if any(limit is not None and abs(limit) > _LARGEST_EXACT for limit in limits.values()):
        raise InputError(
            f"{column.name!r} holds whole numbers beyond 2^53, which ranges cannot tell apart; make them text in the "
            "table and in the population, or smaller in both"
        )


def merge_until_mapped(problem: Problem, grouping: Grouping) -> Grouping:
    """Merge classes with their neighbours until each covers enough people of the population.

    If all records together cover too few people, that is an error; only where wishes restrict classes is that one class
    returned, and the caller suppresses it.
    """
    classes = grouping.take(order_near(problem.points(), grouping)).members
    is_new = np.ones(len(classes), dtype=np.bool_)
    while True:
        merged = Grouping(np.concatenate(classes), np.cumsum([part.size for part in classes]))
        few = np.zeros(len(classes), dtype=np.bool_)
        few[is_new] = covers_few(problem, merged, is_new)
        if not few.any() or (len(classes) == 1 and problem.restricts_classes):
            return merged
        if len(classes) == 1:
            by_estimate = "" if problem.demand.sample is None else ", by an estimate,"
            raise UnsupportedError(
                f"all records together cover{by_estimate} fewer than {problem.demand.k_map:,} people of the "
                "population; ask for less",
                hint="k_map",
            )
        classes, is_new = _join_neighbours(classes, few)


def covers_few(problem: Problem, grouping: Grouping, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Boolean mask of the chosen classes (None: all) that cover too few people, by a table or by an estimate."""
    demand = problem.demand
    assert demand.k_map is not None
    chosen = np.ones(grouping.ends.size, dtype=np.bool_) if chosen is None else chosen
    if demand.population is not None:
        labels = [(numbers[chosen], texts) for numbers, texts in _labels_of_classes(problem, grouping)]
        return demand.population.count([one.name for one in problem.columns], labels, demand.k_map) < demand.k_map
    assert demand.sample is not None
    needed = demand.sample.smallest_class(demand.k_map) + edges_of_classes(problem, grouping)
    few: NDArray[np.bool_] = grouping.sizes < np.minimum(needed, demand.k_map)
    return few[chosen]


def edges_of_classes(problem: Problem, grouping: Grouping) -> NDArray[np.int64]:
    """Number of records of every class, beyond the first, that define the extent of its labels.

    A range is defined by two records, one at each end; a set by one record for each value after the first; a label of a
    hierarchy by one further record, because it is the lowest common ancestor of two. Given these records, the others
    are a random sample of all people who match the class (Tukey's tolerance regions).
    """
    classes = np.repeat(np.arange(grouping.ends.size), grouping.sizes)
    edges = np.zeros(grouping.ends.size, dtype=np.int64)
    for column in problem.columns:
        pairs = np.unique(classes * column.size + column.codes[grouping.order])
        further = np.bincount(pairs // column.size, minlength=edges.size) - 1
        if column.name in problem.hierarchies:
            further = np.minimum(further, 1)
        elif column.has_distances:
            further = np.minimum(further, 2)
        edges += further
    return edges


def _join_neighbours(
    classes: list[NDArray[np.int64]], few: NDArray[np.bool_]
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Merge each class that covers too few people with the next class, the last with the previous one.

    Returns the classes, and a boolean mask of the merged ones.
    """
    joined: list[list[NDArray[np.int64]]] = []
    is_open = False
    for part, is_few in zip(classes, few.tolist(), strict=True):
        if is_open:
            joined[-1].append(part)
            is_open = False
        else:
            joined.append([part])
            is_open = is_few
    if is_open and len(joined) > 1:
        joined[-2:] = [[*joined[-2], *joined[-1]]]
    return [np.concatenate(parts) for parts in joined], np.array([len(parts) > 1 for parts in joined])


def _labels_of_classes(problem: Problem, grouping: Grouping) -> list[ClassLabels]:
    labels: list[ClassLabels] = []
    for column in problem.columns:
        hierarchy = problem.hierarchies.get(column.name)
        numbers, texts, _ = class_labels(column, grouping, [] if hierarchy is None else hierarchy.levels(column))
        labels.append((numbers, [*texts.to_pylist(), None]))  # a null has the index after the last label
    return labels
