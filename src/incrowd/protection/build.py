"""One protection from method to checked table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.backends import Coded, encode
from incrowd.classes import Classes
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.coarsen import coarsen
from incrowd.protection.generalise import generalise
from incrowd.protection.histories import partition_histories
from incrowd.protection.mask import mask
from incrowd.protection.partition import partition
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, spelled_out
from incrowd.protection.result import Guarantee, count_guarantee
from incrowd.protection.sorted_runs import sort
from incrowd.protection.tcloseness import bound_on_t, strata_for, t_close_partition, t_closeness
from incrowd.tables import Table, read_table

if TYPE_CHECKING:
    import pyarrow as pa


class Build:
    """One protection from method to checked table; more strata are tried where ties break S4's bound."""

    def __init__(self, table: Table, problem: Problem, method: str, person: str | None, removed: list[str]) -> None:
        self.table, self.problem, self.method, self.person, self.removed = table, problem, method, person, removed
        self.notes: list[str] = []

    def run(self) -> tuple[Recoding, pa.Table, Guarantee, Classes]:
        """The recoding, the table it makes, and what was counted on it."""
        if self.person is not None:
            return self._checked(partition_histories(self.problem, self._whose()))
        if self.method == "tcloseness" or (self.method == "partition" and self.problem.demand.by_strata):
            return self._by_strata()
        methods = {"partition": partition, "sorted": sort, "coarsen": coarsen, "generalise": generalise, "mask": mask}
        return self._checked(methods[self.method](self.problem))

    def _whose(self) -> Coded:
        if self.method != "partition":
            raise UnsupportedError(
                f"histories of people are protected by the partition; {self.method!r} works on records"
            )
        (whose,) = encode(self.table, [str(self.person)])
        if whose.has_null:
            raise InputError(
                f"some records have no value in the person column {self.person!r}; fill it or leave them out"
            )
        if whose.size < self.problem.demand.k:
            raise InputError(
                f"classes of {self.problem.demand.k:,} people from {whose.size:,} people; ask for a smaller k"
            )
        return whose

    def _by_strata(self) -> tuple[Recoding, pa.Table, Guarantee, Classes]:
        problem, n = self.problem, self.problem.rows
        strata = strata_for(n, problem.demand.k, problem.demand.t)
        method = t_closeness if self.method == "tcloseness" else t_close_partition
        first = strata
        while True:
            recoding = method(problem, strata)
            bound = bound_on_t(n, strata)
            settled = replace(recoding, bound=bound, settings={"strata": strata})
            made, out, guarantee, classes = self._made(settled)
            too_far = guarantee.asked_t is not None and guarantee.t is not None and guarantee.t > guarantee.asked_t
            if guarantee.holds or not too_far or strata == n:
                break
            if self.method == "tcloseness":
                raise UnsupportedError(
                    f"S4 with classes of {strata:,} reaches t = {guarantee.t:.4g}, not {guarantee.asked_t:.4g}: "
                    f"records left over, or equal sensitive values, break its bound of {bound:.4g}; "
                    f"use the partition, which makes classes larger until t is reached"
                )
            assert guarantee.t is not None
            assert guarantee.asked_t is not None
            wider = max(1.25, guarantee.t / guarantee.asked_t)  # t falls about as 1 / strata
            strata = strata_for(n, min(n, math.ceil(strata * wider) + 1), None)
        if guarantee.asked_t is None and guarantee.t is not None and guarantee.t > bound:
            self.notes.append(
                f"the bound of {bound:.4g} is for values that all differ; equal ones make it {guarantee.t:.4g}"
            )
        if strata > first:
            self.notes.append(f"to come within t of the whole table, classes had to be of {strata:,} and not {first:,}")
        return self._holding(made, out, guarantee, classes)

    def _checked(self, recoding: Recoding) -> tuple[Recoding, pa.Table, Guarantee, Classes]:
        return self._holding(*self._made(recoding))

    def _holding(
        self, recoding: Recoding, out: pa.Table, guarantee: Guarantee, classes: Classes
    ) -> tuple[Recoding, pa.Table, Guarantee, Classes]:
        if not guarantee.holds:
            raise UnsupportedError(
                f"{self.method} cannot give what was asked on this table: {'; '.join(guarantee.broken)}{self._advice()}"
            )
        return recoding, out, guarantee, classes

    def _advice(self) -> str:
        """What to do where l is only counted at the end, not worked for."""
        demand = self.problem.demand
        works_for_l = self.method == "generalise" or (self.method == "partition" and not demand.by_strata)
        if demand.l is None or (works_for_l and self.person is None):
            return ""
        return "; only the partition of records without t, and generalise, join classes until l is reached"

    def _made(self, recoding: Recoding) -> tuple[Recoding, pa.Table, Guarantee, Classes]:
        """The protected table, and what is counted on it."""
        out = self._assemble(recoding)
        if not out.num_rows:
            raise UnsupportedError(
                "every row would have to go; ask for a smaller k or give coarser steps or hierarchies"
            )
        self.problem.progress("checking", 0.9)
        guarantee, classes = count_guarantee(
            read_table(out),
            [column.name for column in self.problem.columns],
            self.problem.demand,
            promises_k=recoding.promises_k,
            sensitive=self.problem.sensitive.name if self.problem.sensitive else None,
            person=self.person,
            bound=recoding.bound,
        )
        return recoding, out, guarantee, classes

    def _assemble(self, recoding: Recoding) -> pa.Table:
        """The input's columns in their order, those that changed replaced, identifiers gone."""
        import pyarrow as pa

        columns: dict[str, Any] = {}
        plain = [name for name in self.table.columns if name not in recoding.columns and name not in self.removed]
        read = dict(self.table.read(plain)) if plain else {}
        spelled = {c.name: spelled_out(c) for c in self.problem.columns if c.name in read}
        awkward = {name: cells for name, cells in spelled.items() if cells is not None}
        for name in self.table.columns:
            if name in recoding.columns:
                columns[name] = recoding.columns[name]
            elif name == self.person:
                columns[name] = self._pseudonyms()
            elif name in read:
                columns[name] = awkward.get(name, read[name])
        out = pa.table(columns)
        return out if recoding.kept is None else out.take(pa.array(recoding.kept))

    def _pseudonyms(self) -> pa.Array:
        """Numbers for people in random order, the same number for all records of a person."""
        import pyarrow as pa

        (whose,) = encode(self.table, [str(self.person)])
        numbers = np.random.default_rng(self.problem.seed).permutation(whose.size) + 1
        return pa.array(numbers[whose.codes])
