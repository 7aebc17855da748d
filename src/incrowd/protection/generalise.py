"""Full-domain generalisation: one coding for the whole file, the best the hierarchies allow."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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

_MOST_NODES = 1_000_000  # combinations of levels that are looked at
_MOST_HELD = 2**24  # representatives that are held over all tables of classes
_OF_CLASSES = ("discernibility", "class size")  # measures that only counted classes tell
_SMALLER = 0.5  # a table of classes is held if it is this much smaller than the one it was made of


class _Classes(NamedTuple):
    """One record for every class (and combination of secrets in it) at some levels, and for how many it stands."""

    codes: list[NDArray[np.unsignedinteger]]
    secrets: list[NDArray[np.unsignedinteger]]
    weight: NDArray[np.int64]


def generalise(problem: Problem) -> Recoding:
    """Search the lattice of levels for the smallest loss, with at most a share of rows suppressed.

    Columns without a hierarchy get an automatic one. Levels are visited in ascending order of what they cost without
    suppression, which never exceeds what they cost with it; the search ends when no level left can be better.
    """
    measure = problem.options.measure or ("granularity" if problem.hierarchies else "association")
    if measure in _OF_CLASSES and problem.wishes.importance:
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
    """Counts classes at levels, each time from the smallest table of classes at finer levels that is held."""

    def __init__(self, problem: Problem, ladders: list[list[Level]], measure: str) -> None:
        self.problem, self.ladders, self.measure = problem, ladders, measure
        self.limit = limit = float(problem.options.suppress)
        demand = problem.demand
        self.by_share = demand.t is not None or demand.limits_shares
        self.secrets = problem.sensitive if demand.l is not None or self.by_share else ()
        # a class that misses any but distinct diversity may spoil one that has it, so more may fail higher up
        distinct = demand.diversity == "distinct" and not self.by_share
        self.fails_downwards = limit == 0.0 or not self.secrets or distinct
        self.tables = [secret_codes(column) for column in self.secrets] if self.by_share else []
        codes, secrets = ([column.codes for column in columns] for columns in (problem.columns, self.secrets))
        self.held = [_Classes(codes, secrets, np.ones(problem.rows, dtype=np.int64))]
        self.held_at = np.zeros((1, len(ladders)), dtype=np.int64)
        self.held_sizes = np.array([problem.rows])
        # labels lose the values of suppressed rows, which only a table of all rows shows
        self.room = 0 if demand.population is not None and limit > 0.0 else _MOST_HELD
        self.failed = self.passed = np.zeros((0, len(ladders)), dtype=np.int64)
        shape = tuple(map(len, ladders))
        self.is_failing = np.zeros(shape, dtype=np.bool_) if math.prod(shape) <= MOST_LISTED else None
        # what a node costs at least: coarser classes are larger, and fewer
        self.least = np.zeros(shape) if self.is_failing is not None and self.measure in _OF_CLASSES else None
        self.notes: tuple[str, ...] = ()

    def run(self) -> Node:
        """The levels with the smallest loss."""
        best, least = None, math.inf
        combinations = math.prod(len(ladder) for ladder in self.ladders)
        costs = loss_by_level(self.problem, self.ladders, self.measure)
        for visited, (loss, node) in enumerate(ascending_nodes(costs, self.is_failing)):
            if loss >= least and self.measure not in _OF_CLASSES:
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
            if self._must_fail(node) or (self.least is not None and self.least[node] >= least):
                continue
            bad, people = self._count_at(node)
            if self.by_share and bad.any() and people[bad].sum() <= self.limit * self.problem.rows:
                _, bad, people = self._settle(node)
            failing = int(people[bad].sum())
            total = self._weigh(node, loss, bad, people)
            if failing <= self.limit * self.problem.rows:
                if total < least and failing < self.problem.rows:
                    best, least = node, total
            elif self.fails_downwards:
                self._remember_failing(self._find_boundary(node)[0])
        if best is None:
            raise UnsupportedError(
                "no level of the hierarchies satisfies what is asked; allow some rows to be suppressed", hint="suppress"
            )
        return best

    def _must_fail(self, node: Node) -> bool:
        """True if a coarser node has failed, so that this one fails too."""
        if self.is_failing is not None:
            return bool(self.is_failing[node])
        return bool((self.failed >= node).all(axis=1).any())

    def _remember_failing(self, node: Node) -> None:
        if self.is_failing is not None:
            self.is_failing[tuple(slice(level + 1) for level in node)] = True
        else:
            self.failed = np.vstack([self.failed[~(self.failed <= node).all(axis=1)], node])

    def levels(self, node: Node) -> list[Level]:
        """The level of every column."""
        return [ladder[level] for ladder, level in zip(self.ladders, node, strict=True)]

    def _weigh(self, node: Node, loss: float, bad: NDArray[np.bool_], people: NDArray[np.int64]) -> float:
        """Cost of a node by the measure, with its bad classes suppressed; a coarser node costs no less."""
        rows, failing = self.problem.rows, int(people[bad].sum())
        if self.measure == "discernibility":
            lowest, total = float(np.sum(people**2)), float(np.sum(people[~bad] ** 2) + failing * rows)
        elif self.measure == "class size":
            lowest, total = rows / people.size, rows / (np.count_nonzero(~bad) + (failing > 0))
        else:
            return loss + failing / rows * (1.0 - loss)
        if self.least is not None:
            coarser = self.least[tuple(slice(level, None) for level in node)]
            np.maximum(coarser, lowest, out=coarser)
        return total

    def _count_at(self, node: Node) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Flags of the classes that miss the demand at a node, and the size of every class."""
        finer = (self.held_at <= node).all(axis=1)
        source = self.held[int(np.argmin(np.where(finer, self.held_sizes, np.iinfo(np.int64).max)))]
        numbers, bad, people = self.count(source, node)
        self._hold(source, node, numbers, people)
        return bad, people

    def count(
        self, source: _Classes, node: Node, failed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int64]]:
        """Class of each representative, flags of classes that fail or failed the demand, and sizes of the classes."""
        demand = self.problem.demand
        numbers, people = number_classes(self.levels(node), source.codes, source.weight)
        bad = people < demand.k if failed is None else failed | (people < demand.k)
        if self.secrets and not bad.all():
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
                    for secret, codes in zip(self.tables, source.secrets, strict=True)
                ]
                bad |= ~find_within(demand, secrets, members, ends)
        while demand.population is not None and int(people[bad].sum()) <= self.limit * self.problem.rows:
            few = self._covers_few(source, node, numbers, bad)
            if not few.size:
                break
            bad[few] = True  # without their rows labels of other classes may cover fewer
        return numbers, bad, people

    def _covers_few(
        self, source: _Classes, node: Node, numbers: NDArray[np.uint32], bad: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The classes at some levels that cover too few people of the population once the bad ones are left out."""
        demand, columns = self.problem.demand, self.problem.columns
        assert demand.population is not None
        assert demand.k_map is not None
        good = np.flatnonzero(~bad)
        if not good.size:
            return good
        first = np.empty(bad.size, dtype=np.int64)
        first[numbers] = np.arange(numbers.size)
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
        """The class of each row at some levels, which classes are left out, and how many records each has.

        t, beta and delta compare a class with the released table, which rows that are left out change: more may have to
        go, until those that stay satisfy it among themselves.
        """
        numbers, bad, people = self.count(self.held[0], node)
        whole = self.tables
        while self.by_share and bad.any() and not bad.all():
            kept = np.flatnonzero(~bad[numbers])
            self.tables = [secret_codes(column, kept) for column in self.secrets]
            worse = self.count(self.held[0], node, bad)[1]
            if np.array_equal(worse, bad):
                break
            bad = worse
        self.tables = whole
        return numbers, bad, people

    def rows_to_keep(self, node: Node) -> NDArray[np.int64] | None:
        """The rows in classes that satisfy the demand at some levels, None for all."""
        numbers, bad, _ = self._settle(node)
        kept = np.flatnonzero(~bad[numbers])
        if self.problem.rows - kept.size > self.limit * self.problem.rows:
            raise UnsupportedError(
                "the rows that would be left do not satisfy what is asked of sensitive columns among themselves; allow "
                "more rows to be suppressed, or none",
                hint="suppress",
            )
        return kept if bad.any() else None

    def _hold(self, source: _Classes, node: Node, numbers: NDArray[np.uint32], people: NDArray[np.int64]) -> None:
        """Keep the classes at a node where that is a much smaller table than the one they were counted from."""
        if self.secrets:
            others = [replace(column, codes=codes) for column, codes in zip(self.secrets, source.secrets, strict=True)]
            numbers, people = number_classes(self.levels(node), source.codes, source.weight, others)
        if people.size > _SMALLER * source.weight.size or people.size > self.room:
            return
        first = np.empty(people.size, dtype=np.int64)
        first[numbers] = np.arange(numbers.size)
        codes, secrets = ([column[first] for column in columns] for columns in (source.codes, source.secrets))
        self.held.append(_Classes(codes, secrets, people))
        self.held_at = np.vstack([self.held_at, node])
        self.held_sizes = np.append(self.held_sizes, people.size)
        self.room -= people.size

    def _passes(self, node: Node) -> bool:
        """True if a node passes; a node that is coarser than a passing one passes too."""
        if (self.passed <= node).all(axis=1).any():
            return True
        bad, people = self._count_at(node)
        passes = int(people[bad].sum()) <= self.limit * self.problem.rows
        if passes:
            self.passed = np.vstack([self.passed[~(self.passed >= node).all(axis=1)], node])
        return passes

    def _find_boundary(self, node: Node) -> tuple[Node, Node]:
        """Two neighbours on the way up from a node that fails, column after column: the last that fails, and the next.

        Where even the highest fails, it is both.
        """
        steps = sorted(
            (height / (len(ladder) - 1), column)
            for column, (level, ladder) in enumerate(zip(node, self.ladders, strict=True))
            for height in range(level, len(ladder) - 1)
        )

        def after(taken: int) -> Node:
            raised = Counter(column for _, column in steps[:taken])
            return tuple(level + raised[column] for column, level in enumerate(node))

        low, high = 0, len(steps)
        while low < high:
            middle = (low + high + 1) // 2
            if self._passes(after(middle)):
                high = middle - 1
            else:
                low = middle
        return after(low), after(min(low + 1, len(steps)))
