"""`protect`: one way in to every method, and the same checks before and after each."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.classes import Classes
from incrowd.engines import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.progress import Progress, silent
from incrowd.protect.beside import what_undoes_it
from incrowd.protect.checks import check_columns, check_demand, check_values
from incrowd.protect.coarsen import coarsen
from incrowd.protect.generalise import generalise
from incrowd.protect.hierarchies import Hierarchy
from incrowd.protect.histories import partition_histories
from incrowd.protect.mask import mask
from incrowd.protect.partition import partition
from incrowd.protect.problem import Demand, Problem, settle_aim
from incrowd.protect.recoding import Recoding, spelled_out
from incrowd.protect.result import Guarantee, Protected, count_guarantee
from incrowd.protect.sorted import sort
from incrowd.protect.tcloseness import bound_on_t, strata_for, t_close_partition, t_closeness
from incrowd.table import Table, read_table, suggest_roles, to_native

if TYPE_CHECKING:
    import pyarrow as pa

METHODS = ("partition", "sorted", "tcloseness", "coarsen", "generalise", "mask")


def protect(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    k: int = 5,
    t: float | str | None = None,
    l: float | None = None,  # noqa: E741
    sensitive: str | None = None,
    method: str = "partition",
    diversity: str = "distinct",
    c: float = 3.0,
    person: str | None = None,
    identifiers: Sequence[str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    aim: str | None = None,
    seed: int | None = None,
    warn: bool = True,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = silent,
    **options: Any,
) -> Protected:
    """Protect a table so that everybody shares their quasi-identifiers with at least k - 1 others.

    Methods: "partition" (default; local recoding, smallest loss), "sorted" (the paper's S2), "tcloseness" (its S4),
    "coarsen" (its S3: `resolution` or `levels`), "generalise" (one coding for the whole file; `suppress`, the share of
    rows that may go), "mask" (its Table S3: `steps`, `top`, `bottom`, `drop`).
    `t` and `l` with a `sensitive` column ask for t-closeness and l-diversity (`diversity`: distinct, entropy, or
    recursive with `c`); t="bound" takes the t that classes of k allow (eq. 6), as the paper does. With a `person`
    column a class is made of people with all their records. `identifiers` are removed; without the option, columns that
    look like identifiers are. `hierarchies` are `Hierarchy` objects or paths of CSV files. `aim` is the loss to keep
    small, "information" or "granularity"; without it, granularity where a quasi-identifier is text. What is promised
    is counted on the protected table before it is returned; with `warn` its `notes` say which columns that are kept
    would undo it.

    A table in a Spark cluster is protected there, by "partition", "sorted" or "tcloseness", and written by the workers
    to the Parquet folder `out` (`force` replaces one that is there); the result's table is that folder's Spark frame.

    >>> safe = protect({"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}, quasi_identifiers=["age", "sex"], k=2)
    >>> safe.table["age"].to_pylist(), safe.guarantee.k
    (['[30;31]', '[30;31]', '[62;64]', '[62;64]'], 2)
    """
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; use {', '.join(METHODS)}")
    table = read_table(data)
    names = check_columns(table, quasi_identifiers, sensitive, person)
    demand = Demand(k, l, diversity, c, None if isinstance(t, str) else t, by_strata=t is not None)
    if isinstance(t, str) and t != "bound":
        raise InputError(f"t must be a number above 0 and at most 1, or 'bound'; {t!r} was given")
    check_demand(demand, table.rows, sensitive, method, options)
    if table.engine == "cluster":
        from incrowd.protect.spread import protect_there

        if person is not None or hierarchies:
            what = "people with several records are" if person is not None else "hierarchies are"
            raise UnsupportedError(f"{what} not looked at in a cluster; protect records, without hierarchies")
        removed = _to_remove(table, identifiers, names, sensitive, person)
        how: dict[str, Any] = {"sensitive": sensitive, "aim": aim, "out": out, "force": force, "progress": progress}
        return protect_there(table, names, demand, method=method, removed=removed, **how)
    if out is not None:
        raise InputError("out= is for tables in a cluster; write the result's table with write_table")
    progress("reading", 0.0)
    columns = encode(table, names)
    check_values(columns)
    problem = Problem(
        columns,
        table.rows,
        demand,
        encode(table, [sensitive])[0] if sensitive else None,
        settle_aim(aim, columns),
        _hierarchies(hierarchies, names),
        options,
        secrets.randbits(63) if seed is None else seed,
        progress,
    )
    build = _Build(table, problem, method, person, _to_remove(table, identifiers, names, sensitive, person))
    recoding, made, guarantee, classes = build.run()
    spoken_for = {*names, sensitive, person, *build.removed}
    left = [name for name in made.column_names if name not in spoken_for] if warn else []
    undone = tuple(what_undoes_it(table, made, columns, left, person=person))
    return Protected(
        table=to_native(made, table.native, recoding.kept),
        method=method,
        quasi_identifiers=tuple(names),
        demand=demand,
        guarantee=guarantee,
        classes=classes.sizes,
        changed=recoding.changed,
        rows=made.num_rows,
        suppressed=table.rows - made.num_rows,
        seed=problem.seed,
        removed=tuple(build.removed),
        pseudonymised=(person,) if person else (),
        notes=(*recoding.notes, *build.notes, *undone),
        settings=recoding.settings,
        original=table,
        kept=recoding.kept,
        sensitive=sensitive,
        person=person,
        hierarchies=problem.hierarchies,
        undone=undone,
    )


class _Build:
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
            self.notes.append(f"equal sensitive values needed classes of {strata:,} rather than {first:,} to reach t")
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


def _hierarchies(given: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Hierarchy]:
    found = {}
    for name, hierarchy in (given or {}).items():
        if name not in names:
            raise InputError(f"a hierarchy for {name!r}, which is not a quasi-identifier")
        found[name] = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.from_csv(hierarchy)
    return found


def _to_remove(
    table: Table, identifiers: Sequence[str] | None, names: Sequence[str], sensitive: str | None, person: str | None
) -> list[str]:
    """The identifiers named, or else the columns that look like identifiers and have no other part to play."""
    spoken_for = {*names, sensitive, person}
    if identifiers is not None:
        wanted = table.require(identifiers, "identifiers") if len(identifiers) else []
        clash = [name for name in wanted if name in spoken_for]
        if clash:
            raise InputError(f"{', '.join(map(repr, clash))} cannot be an identifier and something else; name it once")
        return wanted
    others = [name for name in table.columns if name not in spoken_for]
    if not others:
        return []
    rest = table.native.drop(*spoken_for - {None}) if table.engine == "cluster" else table.to_arrow(others)
    return [role.column for role in suggest_roles(read_table(rest)) if role.role == "identifier"]
