"""`protect`: one way in to every method, and the same checks before and after each."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.build import Build
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.in_cluster import protect_in_cluster
from incrowd.protection.kept_columns import what_nearly_names, what_undoes_it
from incrowd.protection.problem import Demand, Problem, settle_aim
from incrowd.protection.result import Protected
from incrowd.protection.validate import check_columns, check_demand, check_values
from incrowd.tables import Table, read_table, suggest_roles, to_native

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
    other: Sequence[str] | None = None,
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
    would undo it. `other` are columns that nobody outside can know, whatever they look like.

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
    unknown = _unknown(table, other, [*names, sensitive, person, *(identifiers or ())])
    removed = _to_remove(table, identifiers, [*names, *unknown], sensitive, person)
    if not table.backend.rows_are_local:
        if person is not None or hierarchies:
            what = "people with several records are" if person is not None else "hierarchies are"
            raise UnsupportedError(f"{what} not looked at in a cluster; protect records, without hierarchies")
        how: dict[str, Any] = {"sensitive": sensitive, "aim": aim, "out": out, "force": force, "progress": progress}
        spoken_for = {*names, sensitive, *removed, *unknown}
        left = [name for name in table.columns if name not in spoken_for] if warn else []
        return protect_in_cluster(table, names, demand, method=method, removed=removed, left=left, **how)
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
    build = Build(table, problem, method, person, removed)
    recoding, made, guarantee, classes = build.run()
    spoken_for = {*names, sensitive, person, *build.removed}
    left = [name for name in made.column_names if name not in spoken_for] if warn else []
    undone = tuple(what_undoes_it(table, made, columns, left, person=person, unknown=unknown))
    open_ = [name for name in left if name not in unknown]
    values = [(column.name, column.size) for column in encode(table, open_)] if open_ else []
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
        notes=(*recoding.notes, *build.notes, *undone, *what_nearly_names(values, table.rows)),
        settings=recoding.settings,
        original=table,
        kept=recoding.kept,
        sensitive=sensitive,
        person=person,
        hierarchies=problem.hierarchies,
        undone=undone,
    )


def _hierarchies(given: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Hierarchy]:
    found = {}
    for name, hierarchy in (given or {}).items():
        if name not in names:
            raise InputError(f"a hierarchy for {name!r}, which is not a quasi-identifier")
        found[name] = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.from_csv(hierarchy)
    return found


def _unknown(table: Table, other: Sequence[str] | None, spoken_for: Sequence[str | None]) -> list[str]:
    """The columns that are said to be known to nobody outside."""
    unknown = table.require(other, "other columns") if other else []
    clash = [name for name in unknown if name in spoken_for]
    if clash:
        raise InputError(f"{', '.join(map(repr, clash))} cannot be an other column and something else; name it once")
    return unknown


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
    return [role.column for role in suggest_roles(table, others) if role.role == "identifier"]
