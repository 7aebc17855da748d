"""Full-domain generalisation: one hierarchy level for every column, the combination with the smallest loss."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.hierarchies import Level
from incrowd.protection.lattice import (
    MOST_LISTED,
    Node,
    ascending_nodes,
    ladders_of,
    loss_by_level,
    number_classes,
)
from incrowd.protection.merge_classes import find_diverse, find_within, secret_codes
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, find_kept, recode_columns

_MOST_NODES = 1_000_000  # combinations of levels that are visited
_MOST_CACHED = 2**24  # representatives in all cached tables of classes
_CLASS_MEASURES = ("discernibility", "class size")  # measures that need the sizes of classes
_SMALLER = 0.5  # a table of classes is cached if it is at most this share of its source


class _Classes(NamedTuple):
    """Classes at a node: one representative record for each class and combination of sensitive values in it.

    `weight` is the number of records that each representative stands for.
    """

    codes: list[NDArray[np.unsignedinteger]]
    secrets: list[NDArray[np.unsignedinteger]]
    weight: NDArray[np.int64]


def generalise(problem: Problem) -> Recoding:
    """Search the generalisation lattice for the smallest loss, with at most a share of rows suppressed.

    Columns without a hierarchy get an automatic one. Nodes are visited in ascending order of their loss without
    suppression, a lower bound of their loss with suppression; the search ends when no further node can be better.
    """
    measure = problem.options.measure or ("granularity" if problem.hierarchies else "association")
    if measure in _CLASS_MEASURES and problem.options.importance:
        raise InputError(
            f"{measure} is a measure of classes, in which no column weighs more than another; leave "
            "the importance out, or measure granularity, entropy or association",
            hint=("importance", "measure"),
        )
    ladders = ladders_of(problem, by_similarity=True)
    search = _Search(problem, ladders, measure)
    best = search.run()
    names = [column.name for column in problem.columns]
    kept_rows = search.rows_to_keep(best)
    levels = search.levels(best)
    fixed = {name: frozenset(level.labels) for name, level in zip(names, levels, strict=True) if not level.from_values}
    labels = {}
    for column, level in zip(problem.columns, levels, strict=True):
        shown = level.without_lost_values(column, find_kept(column, kept_rows)).labels
        labels[column.name] = pa.array(shown, pa.string()).dictionary_encode().take(pa.array(level.groups))
    recoding = recode_columns(problem, lambda column: labels[column.name], kept_rows)
    settings = {"levels": dict(zip(names, best, strict=True)), "suppression limit": search.limit}
    settings |= {"measure": search.measure} if search.measure != "granularity" else {}
    return replace(recoding, settings=settings, notes=search.notes, fixed_labels=fixed)


class _Search:
    """Search of the lattice. Classes at a node are counted from the smallest cached table of a finer node."""

    def __init__(self, problem: Problem, ladders: list[list[Level]], measure: str) -> None:
        self.problem, self.ladders, self.measure = problem, ladders, measure
        self.limit = limit = float(problem.options.suppress)
        demand = problem.demand
        self.by_share = demand.t is not None or demand.limits_shares
        self.sensitive = problem.sensitive if demand.l is not None or self.by_share else ()
        # with suppression and any demand but distinct l, merging a failing class with a passing one may make both
        # fail, so a finer node can pass although a coarser one fails
        distinct = demand.diversity == "distinct" and not self.by_share
        self.fails_downwards = limit == 0.0 or not self.sensitive or distinct
        self.distributions = [secret_codes(column) for column in self.sensitive] if self.by_share else []
        codes, secrets = ([column.codes for column in columns] for columns in (problem.columns, self.sensitive))
        self.cached = [_Classes(codes, secrets, np.ones(problem.rows, dtype=np.int64))]
        self.cached_nodes = np.zeros((1, len(ladders)), dtype=np.int64)
        self.cached_sizes = np.array([problem.rows])
        # labels lose the values of suppressed rows, and only a table of all rows shows which values these are
        self.room = 0 if demand.population is not None and limit > 0.0 else _MOST_CACHED
        self.failed = self.passed = np.zeros((0, len(ladders)), dtype=np.int64)
        shape = tuple(map(len, ladders))
        self.is_failing = np.zeros(shape, dtype=np.bool_) if math.prod(shape) <= MOST_LISTED else None
        # a lower bound of every node's cost: coarser nodes have fewer and larger classes
        self.lower_bound = np.zeros(shape) if self.is_failing is not None and self.measure in _CLASS_MEASURES else None
        self.notes: tuple[str, ...] = ()

    def run(self) -> Node:
        """The node with the smallest loss."""
        best, lowest_cost = None, math.inf
        combinations = math.prod(len(ladder) for ladder in self.ladders)
        costs = loss_by_level(self.problem, self.ladders, self.measure)
        for visited, (loss, node) in enumerate(ascending_nodes(costs, self.is_failing)):
            if loss >= lowest_cost and self.measure not in _CLASS_MEASURES:
                break
            if visited >= _MOST_NODES:
                self.notes = (
                    f"{visited:,} of {combinations:,} combinations of levels were looked at; fewer levels would show "
                    "whether there are better ones",
                )
                best = best or self._find_boundary(node)[1]
                break
            if visited % 64 == 0:
                self.problem.progress("searching levels", min(visited / combinations, 1.0))
            if self._must_fail(node) or (self.lower_bound is not None and self.lower_bound[node] >= lowest_cost):
                continue
            bad, people = self._count_at(node)
            if self.by_share and bad.any() and people[bad].sum() <= self.limit * self.problem.rows:
                _, bad, people = self._settle(node)
            failing = int(people[bad].sum())
            cost = self._weigh(node, loss, bad, people)
            if failing <= self.limit * self.problem.rows:
                if cost < lowest_cost and failing < self.problem.rows:
                    best, lowest_cost = node, cost
            elif self.fails_downwards:
                self._remember_failing(self._find_boundary(node)[0])
        if best is None:
            raise UnsupportedError(
                "no level of the hierarchies satisfies what is asked; allow some rows to be suppressed", hint="suppress"
            )
        return best

    def _must_fail(self, node: Node) -> bool:
        """True if a coarser node has failed, which implies that this node fails."""
        if self.is_failing is not None:
            return bool(self.is_failing[node])
        return bool((self.failed >= node).all(axis=1).any())

    def _remember_failing(self, node: Node) -> None:
        if self.is_failing is not None:
            self.is_failing[tuple(slice(level + 1) for level in node)] = True
        else:
            self.failed = np.vstack([self.failed[~(self.failed <= node).all(axis=1)], node])

    def levels(self, node: Node) -> list[Level]:
        """The level of every column at a node."""
        return [ladder[level] for ladder, level in zip(self.ladders, node, strict=True)]

    def _weigh(self, node: Node, loss: float, bad: NDArray[np.bool_], people: NDArray[np.int64]) -> float:
        """Cost of a node by the measure, with failing classes suppressed; also raises the bounds of coarser nodes."""
        rows, failing = self.problem.rows, int(people[bad].sum())
        if self.measure == "discernibility":
            bound, cost = float(np.sum(people**2)), float(np.sum(people[~bad] ** 2) + failing * rows)
        elif self.measure == "class size":
            bound, cost = rows / people.size, rows / (np.count_nonzero(~bad) + (failing > 0))
        else:
            return loss + failing / rows * (1.0 - loss)
        if self.lower_bound is not None:
            coarser = self.lower_bound[tuple(slice(level, None) for level in node)]
            np.maximum(coarser, bound, out=coarser)
        return cost

    def _count_at(self, node: Node) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Boolean mask of the classes that fail the demand at a node, and the size of every class."""
        finer = (self.cached_nodes <= node).all(axis=1)
        source = self.cached[int(np.argmin(np.where(finer, self.cached_sizes, np.iinfo(np.int64).max)))]
        numbers, bad, people = self.count(source, node)
        self._cache(source, node, numbers, people)
        return bad, people

    def count(
        self, source: _Classes, node: Node, failed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int64]]:
        """Class number of each representative, boolean mask of the failing classes, and the size of every class.

        Classes in `failed` are failing already.
        """
        demand = self.problem.demand
        numbers, people = number_classes(self.levels(node), source.codes, source.weight)
        bad = people < demand.k if failed is None else failed | (people < demand.k)
        if self.sensitive and not bad.all():
            distinct = demand.diversity == "distinct" and not self.by_share
            times = np.ones_like(source.weight) if distinct else source.weight
            order = np.argsort(numbers, kind="stable")
            members = np.repeat(order, times[order])
            ends = np.cumsum(np.bincount(numbers, weights=times, minlength=people.size).astype(np.int64))
            if demand.l is not None:
                bad |= ~find_diverse(demand, [codes[members].astype(np.int64) for codes in source.secrets], ends)
            if self.by_share:
                secrets = [
                    secret._replace(codes=codes.astype(np.int64))
                    for secret, codes in zip(self.distributions, source.secrets, strict=True)
                ]
                bad |= ~find_within(demand, secrets, members, ends)
        while demand.population is not None and int(people[bad].sum()) <= self.limit * self.problem.rows:
            few = self._covers_few(source, node, numbers, bad)
            if not few.size:
                break
            bad[few] = True  # without the rows of these classes, labels of others may cover fewer people
        return numbers, bad, people

    def _covers_few(
        self, source: _Classes, node: Node, numbers: NDArray[np.uint32], bad: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The classes at a node that cover too few people of the population after the failing ones are suppressed."""
        demand, columns = self.problem.demand, self.problem.columns
        assert demand.population is not None
        assert demand.k_map is not None
        good = np.flatnonzero(~bad)
        if not good.size:
            return good
        first = first_places(numbers)
        levels = self.levels(node)
        if bad.any():
            kept = np.flatnonzero(~bad[numbers])
            levels = [
                level.without_lost_values(column, find_kept(column, kept))
                for level, column in zip(levels, columns, strict=True)
            ]
        labels = [
            (level.groups[codes[first[good]]], level.labels) for level, codes in zip(levels, source.codes, strict=True)
        ]
        covered = demand.population.count([column.name for column in columns], labels, demand.k_map)
        return good[covered < demand.k_map]

    def _settle(self, node: Node) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int64]]:
        """Class number of each row at a node, boolean mask of the suppressed classes, and the size of every class.

        t, beta and delta compare a class with the released table, which suppression changes. So further classes may
        fail; they are suppressed until the remaining classes satisfy the demand among themselves.
        """
        numbers, bad, people = self.count(self.cached[0], node)
        of_all_rows = self.distributions
        while self.by_share and bad.any() and not bad.all():
            kept = np.flatnonzero(~bad[numbers])
            self.distributions = [secret_codes(column, kept) for column in self.sensitive]
            failing = self.count(self.cached[0], node, bad)[1]
            if np.array_equal(failing, bad):
                break
            bad = failing
        self.distributions = of_all_rows
        return numbers, bad, people

    def rows_to_keep(self, node: Node) -> NDArray[np.int64] | None:
        """The rows in classes that satisfy the demand at a node; None for all rows."""
        numbers, bad, _ = self._settle(node)
        kept = np.flatnonzero(~bad[numbers])
        if self.problem.rows - kept.size > self.limit * self.problem.rows:
            raise UnsupportedError(
                "the rows that would be left do not satisfy what is asked of sensitive columns among themselves; allow "
                "more rows to be suppressed, or none",
                hint="suppress",
            )
        return kept if bad.any() else None

    def _cache(self, source: _Classes, node: Node, numbers: NDArray[np.uint32], people: NDArray[np.int64]) -> None:
        """Cache the classes at a node if their table is much smaller than the one they were counted from."""
        if self.sensitive:
            others = [
                replace(column, codes=codes) for column, codes in zip(self.sensitive, source.secrets, strict=True)
            ]
            numbers, people = number_classes(self.levels(node), source.codes, source.weight, others)
        if people.size > _SMALLER * source.weight.size or people.size > self.room:
            return
        first = first_places(numbers)
        codes, secrets = ([column[first] for column in columns] for columns in (source.codes, source.secrets))
        self.cached.append(_Classes(codes, secrets, people))
        self.cached_nodes = np.vstack([self.cached_nodes, node])
        self.cached_sizes = np.append(self.cached_sizes, people.size)
        self.room -= people.size

    def _passes(self, node: Node) -> bool:
        """True if a node passes; a node coarser than a passing one passes without counting."""
        if (self.passed <= node).all(axis=1).any():
            return True
        bad, people = self._count_at(node)
        passes = int(people[bad].sum()) <= self.limit * self.problem.rows
        if passes:
            self.passed = np.vstack([self.passed[~(self.passed >= node).all(axis=1)], node])
        return passes

    def _find_boundary(self, node: Node) -> tuple[Node, Node]:
        """The last failing node on a path from a failing node to the top of the lattice, and the node after it.

        The path raises one column by one level at a time. If the top of the lattice fails, it is returned twice.
        """
        steps = sorted(
            (height / (len(ladder) - 1), column)
            for column, (level, ladder) in enumerate(zip(node, self.ladders, strict=True))
            for height in range(level, len(ladder) - 1)
        )

        def node_after(count: int) -> Node:
            raised = Counter(column for _, column in steps[:count])
            return tuple(level + raised[column] for column, level in enumerate(node))

        low, high = 0, len(steps)
        while low < high:
            middle = (low + high + 1) // 2
            if self._passes(node_after(middle)):
                high = middle - 1
            else:
                low = middle
        return node_after(low), node_after(min(low + 1, len(steps)))
