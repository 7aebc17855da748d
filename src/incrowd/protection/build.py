"""Runs a method, builds the released table and checks its guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pyarrow as pa

from incrowd.backends import Coded, encode
from incrowd.backends.counts import record_without_person
from incrowd.classes import Classes
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.guarantee import Guarantee, count_guarantee
from incrowd.protection.outputs import Outputs
from incrowd.protection.paper_methods import bound_on_t, strata_for
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, escape_unchanged, find_kept, values_in_label
from incrowd.protection.registry import PROTECTION_METHODS, ProtectionMethod
from incrowd.protection.release import build_release, draw_pseudonyms
from incrowd.protection.request import Request
from incrowd.tables import Table, read_table
from incrowd.tables.released_values import as_text, bounds_of


class BuiltRelease(NamedTuple):
    """A recoding, the table it makes, and what was counted on that table.

    `table` is the released table and `quasi_identifiers` its columns that hold them. `generalised` is the table with
    ranges and sets, before other output forms are applied, and `ranges` is `generalised` as a `Table`.
    """

    recoding: Recoding
    table: pa.Table
    generalised: pa.Table
    ranges: Table
    quasi_identifiers: tuple[str, ...]
    guarantee: Guarantee
    classes: Classes


@dataclass(slots=True, eq=False)
class ReleaseBuilder:
    """Runs a method, builds the released table and counts its guarantee."""

    request: Request
    problem: Problem
    outputs: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def method(self) -> ProtectionMethod:
        """The method that is asked for."""
        return PROTECTION_METHODS[self.name]

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.request.options.method

    @property
    def person(self) -> str | None:
        """The column that says whose record it is."""
        return self.request.options.person

    def run(self) -> BuiltRelease:
        """Protect the table; raises where the guarantee does not hold."""
        method, problem = self.method, self.problem
        if self.person is not None and method.perturbs:
            assert method.run is not None
            self.notes.append(
                f"people have pseudonyms in {self.person!r}, so that their records can be put together: an attacker "
                "who knows several of them names a person more often than an attack by single records shows"
            )
        elif self.person is not None:
            if method.run_by_person is None:
                raise UnsupportedError(
                    f"histories of people are protected by the partition; {self.name!r} works on records"
                )
            return self._require_guarantee(self._build(method.run_by_person(problem, self._encode_person())))
        if method.run is None or (method.run_by_strata is not None and problem.demand.asks_bound_on_t):
            return self._require_guarantee(self._run_by_strata())
        return self._require_guarantee(self._build(method.run(problem)))

    def _encode_person(self) -> Coded:
        (person,) = encode(self.request.table, [str(self.person)])
        if person.has_null:
            raise record_without_person(person.name)
        if self.method.guarantees_k and person.size < self.problem.demand.k:
            raise InputError(
                f"classes of {self.problem.demand.k:,} people from {person.size:,} people; ask for a smaller k",
                hint="k",
            )
        return person

    def _run_by_strata(self) -> BuiltRelease:
        """Build classes of one record of every stratum (algorithm S4) and compare their t with its bound."""
        problem, method, n = self.problem, self.method, self.problem.rows
        assert method.run_by_strata is not None
        strata = strata_for(n, problem.demand.k, problem.demand.t)
        bound = bound_on_t(n, strata)
        built = self._build(replace(method.run_by_strata(problem, strata), bound=bound, settings={"strata": strata}))
        asked_t, reached_t = built.guarantee.asked_t, built.guarantee.t
        if reached_t is not None and asked_t is not None and reached_t > asked_t and not built.guarantee.holds:
            raise UnsupportedError(
                f"S4 with classes of {strata:,} reaches t = {reached_t:.4g}, not {asked_t:.4g}: "
                f"records left over, or equal sensitive values, break its bound of {bound:.4g}; "
                f"use the partition, which merges classes until t is reached",
                hint="method=partition",
            )
        if asked_t is None and reached_t is not None and reached_t > bound + 1e-12:
            self.notes.append(
                f"{self._why_past_the_bound(strata)}: t is {reached_t:.4g}, past the bound of {bound:.4g}"
            )
        return built

    def _why_past_the_bound(self, strata: int) -> str:
        """Why S4's bound on t does not hold: records left over by the class size, equal sensitive values, or both."""
        left_over, rows, values = self.problem.rows % strata, self.problem.rows, self.problem.sensitive[0].size
        reasons = [f"{left_over:,} of {rows:,} records are left over by classes of {strata:,}"] if left_over else []
        reasons += [f"{rows:,} records have {values:,} different sensitive values"] if values < rows else []
        return " and ".join(reasons) + ", and the bound is for neither" if len(reasons) > 1 else reasons[0]

    def _require_guarantee(self, built: BuiltRelease) -> BuiltRelease:
        if built.guarantee.holds:
            self._require_no_lost_values(built)
            return built
        raise UnsupportedError(
            f"{self.name} cannot give what was asked on this table: {'; '.join(built.guarantee.broken)}{self._advice()}"
        )

    def _require_no_lost_values(self, built: BuiltRelease) -> None:
        """Refuse ranges and sets that name a value which only suppressed rows have; fixed labels name none."""
        recoding = built.recoding
        for column in self.problem.columns if recoding.kept_rows is not None else ():
            is_kept = find_kept(column, recoding.kept_rows)
            if is_kept.all() or column.name not in recoding.columns:
                continue
            text = as_text(column.values)
            kept_values, lost_values = ({*text.filter(pa.array(flags)).to_pylist()} for flags in (is_kept, ~is_kept))
            tables = [table for table in (built.generalised, built.table) if column.name in table.column_names]
            labels = {label for table in tables for label in table[column.name].unique().cast(pa.string()).to_pylist()}
            labels -= kept_values | recoding.fixed_labels.get(column.name, set())
            if any(not lost_values.isdisjoint(values_in_label(label)) for label in labels):
                raise UnsupportedError(
                    f"{self.name} would tell values of {column.name!r} that only suppressed rows have; "
                    "ask for a smaller k, or give its hierarchy as a file"
                )

    def _advice(self) -> str:
        """Advice for a result that misses l, t, beta or delta."""
        demand, method = self.problem.demand, self.method
        if self.person is not None and demand.about_secrets:
            return "; no class of whole histories is better: ask for less, or protect records without a person column"
        if demand.l is not None and (not method.reaches_l or demand.asks_bound_on_t):
            return (
                "; only generalise, blank and the partition (with a number for t, if with any) join classes until l is "
                "reached"
            )
        if (demand.t is not None or demand.limits_shares) and not method.reaches_t:
            return "; only the partition and generalise join classes until t, beta and delta are reached"
        return ""

    def _build(self, recoding: Recoding) -> BuiltRelease:
        """Build the released table and count what it guarantees."""
        released = build_release(self._columns(recoding), recoding.kept_rows)
        if not released.num_rows:
            raise UnsupportedError(
                "every row would have to go; ask for a smaller k or give coarser steps or hierarchies"
            )
        generalised, names = released, [column.name for column in self.problem.columns]
        if self.outputs:
            write = Outputs(
                self.outputs, self.problem.columns, self.problem.hierarchies, recoding.kept_rows, recoding.promises_k
            ).write
            released = build_release(write(generalised))
            bound_columns = {name: bounds_of(name) for name, kind in self.outputs.items() if kind == "bounds"}
            names = [released_name for name in names for released_name in bound_columns.get(name, (name,))]
        self.problem.progress("checking", 0.9)
        sensitive = self.problem.sensitive
        stated = {column.name: column.stated for column in sensitive if column.stated}
        ranges = read_table(generalised)  # read once: the table caches its encoded columns
        guarantee, classes = count_guarantee(
            ranges if released is generalised and not stated else read_table(released, scales=stated),
            names,
            self.problem.demand,
            promises_k=recoding.promises_k,
            sensitive=[column.name for column in sensitive],
            person=self.person,
            bound=recoding.bound,
            perturbed=[column.name for column in self.problem.columns if column.name in recoding.perturbed],
        )
        return BuiltRelease(recoding, released, generalised, ranges, tuple(names), guarantee, classes)

    def _columns(self, recoding: Recoding) -> dict[str, Any]:
        """The columns of the input in their order, with recoded columns and pseudonyms in place of the originals."""
        replaced: dict[str, Any] = dict(recoding.columns)
        if self.person is not None:
            replaced[self.person] = draw_pseudonyms(self._encode_person(), self.request.key)
        table, removed = self.request.table, self.request.columns.removed
        unchanged = [name for name in table.columns if name not in replaced and name not in removed]
        cells = dict(table.read(unchanged)) if unchanged else {}
        for column in self.problem.columns:
            escaped = escape_unchanged(column) if column.name in cells else None
            if escaped is not None:
                cells[column.name] = escaped
        cells |= replaced
        return {name: cells[name] for name in table.columns if name in cells and name not in removed}
