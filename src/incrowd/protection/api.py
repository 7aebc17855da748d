"""`protect`: one entry to every method, with the same checks before and after each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from incrowd._support.memory import require_memory
from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import kept_column_facts
from incrowd.protection.blank import BlankOptions
from incrowd.protection.build import Build
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.in_cluster import protect_in_cluster
from incrowd.protection.outputs import OutputKind, read_outputs
from incrowd.protection.problem import Aim, Demand, DiversityKind, MethodOptions, Problem, settle_aim
from incrowd.protection.recoding import as_nominal
from incrowd.protection.registry import MethodName, choose_method
from incrowd.protection.release_warnings import warn_of_nearly_unique, warn_of_undoing
from incrowd.protection.result import Protected
from incrowd.protection.validate import check_columns, check_demand, check_values, check_wishes, require_sensitive
from incrowd.protection.wishes import read_wishes
from incrowd.tables import Table, read_table, suggest_roles, to_native
from incrowd.tables.suggest_reading import apply_scales, find_replicate_weights

_BYTES_A_RECORD, _BYTES_A_CELL = 60, 24  # of memory, as measured


def protect(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    k: int = 5,
    t: float | Literal["bound"] | None = None,
    l: float | None = None,  # noqa: E741
    beta: float | None = None,
    delta: float | None = None,
    sensitive: Sequence[str] | None = None,
    method: MethodName | MethodOptions = "partition",
    diversity: DiversityKind = "distinct",
    c: float = 3.0,
    person: str | None = None,
    identifiers: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    other: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] | None = None,
    aim: Aim | None = None,
    resolution: float | str | Mapping[str, float | str] | None = None,
    levels: Mapping[str, int] | None = None,
    suppress: float | None = None,
    steps: Sequence[Any] | None = None,
    top: Mapping[str, float] | None = None,
    bottom: Mapping[str, float] | None = None,
    drop: bool | None = None,
    wildcards: bool | None = None,
    subsets: int | None = None,
    seed: int | None = None,
    importance: Mapping[str, float] | None = None,
    keep: Sequence[str] | None = None,
    widest: Mapping[str, float] | None = None,
    nominal: Sequence[str] | None = None,
    output: OutputKind | Mapping[str, OutputKind] | None = None,
    warn: bool = True,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Protected:
    """Protect a table so that everybody shares their quasi-identifiers with at least k - 1 others.

    The guarantee is counted on the protected table before it is returned. The table is built from released cells
    alone: no dictionary entry, index, attribute or metadata of the original is passed on.

    A table in a Spark cluster is protected there, by "partition", "sorted" or "tcloseness", and written by the workers
    to the Parquet folder `out` (`force` replaces an existing one); the result's table is that folder's Spark frame.

    Args:
        data: a frame, an Arrow table, a mapping of columns, a path or a `Table`.
        quasi_identifiers: the columns that an attacker may know.
        k: the smallest class that is allowed.
        t: t-closeness: no class is farther than this from the whole table, in any sensitive column. The partition
            merges the classes that are farther. "bound" takes the t that classes of k allow (eq. 6), by strata of one
            sensitive column.
        l: l-diversity: every class has so many different values of every sensitive column.
        beta: β-likeness: no sensitive value is more than 1 + beta times as common in a class as in the table.
        delta: δ-disclosure: none is more than e^delta times as common, or as rare, in a class as in the table.
        sensitive: the sensitive columns. l, t, beta and delta need at least one.
        method: "partition" (local recoding, smallest loss), "sorted" (the paper's S2), "tcloseness" (S4), "coarsen"
            (S3), "generalise" (one coding for the whole file), "blank" (cell suppression), "mask" (Table S3) or
            "perturb" (noise, swapping, PRAM and the like, which promise no k); or an options object such as
            `MaskOptions`, which names its method.
        diversity: the kind of l: "distinct", "entropy", or "recursive" with `c`.
        c: of recursive (c, l)-diversity.
        person: the column that says whose record it is, where people have several. A class is then made of people
            with all their records, and the column is replaced by random numbers that nothing can reproduce.
        identifiers: columns that name people, which are removed. None: those that look like identifiers.
        leave_out: further columns to remove.
        other: columns that nobody outside can know, whatever they look like.
        hierarchies: by column, a `Hierarchy`, or what `Hierarchy.parse` reads: "5,10,20", "prefix:3,1", "quantiles:10",
            or the path of a CSV file.
        aim: the loss to keep small, "information" or "granularity". None: granularity where a quasi-identifier is text.
        resolution: for "coarsen": the number of intervals, or the share of the domain that each covers, by column or
            for all.
        levels: for "coarsen": levels of the hierarchies, by column.
        suppress: for "generalise", and for "partition" with `keep` or `widest`: the share of rows that may be left out.
        steps: for "mask": pairs of a column and what to do with it, in order. For "perturb": the same, or objects such
            as `Noise`, of columns of any role.
        top: for "mask": limits by column; values from there on become one range.
        bottom: for "mask": limits by column; values up to there become one range.
        drop: for "mask": whether records that still stand out after the last step are left out. Default: yes.
        wildcards: for "blank": whether a blank may be any value, which needs fewer of them. Default: it is a value.
        subsets: for "blank" with wildcards: k holds by every so many quasi-identifiers alone, not by all together.
        seed: for "perturb": of every draw. Whoever knows it can undo them; without one the system's randomness is used.
        importance: for "partition" and "generalise": by column, what a loss in it weighs. 1 where nothing is said, 0
            where the column may vanish.
        keep: for "partition" and "generalise": quasi-identifiers that stay as they are, so that no class mixes them.
        widest: for "partition" and "generalise": by column, the longest range allowed, in its own unit (days for
            dates); for text, the largest set.
        nominal: quasi-identifiers whose numbers are codes of categories: written as sets, never as ranges.
        output: what quasi-identifiers are written as, by column or for all that can be: "range" (text of ranges and
            sets), "bounds" (two columns, `age_low` and `age_high`), "midpoint", "mean" or "mode" of the class (one
            value of the column's own type), or "label" (of its hierarchy). None: labels where there is a hierarchy,
            else ranges.
        warn: whether the result's notes tell which kept columns undo the protection.
        out: for tables in a cluster: the Parquet folder to write.
        force: for tables in a cluster: replace an existing folder.
        progress: called with what is done and how far it is.

    Returns:
        The protected table in the caller's kind of frame, its guarantee, and what changed.

    Raises:
        InputError: a column, a value or an option cannot be used as it is.
        UnsupportedError: the table cannot satisfy what is asked.

    >>> safe = protect({"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}, quasi_identifiers=["age", "sex"], k=2)
    >>> safe.table["age"].to_pylist(), safe.guarantee.k
    (['[30;31]', '[30;31]', '[62;64]', '[62;64]'], 2)
    """
    single: dict[str, Any] = {
        "resolution": resolution,
        "levels": levels,
        "suppress": suppress,
        "steps": steps,
        "top": top,
    }
    single |= {"bottom": bottom, "drop": drop, "wildcards": wildcards, "subsets": subsets, "seed": seed}
    given = {option: value for option, value in single.items() if value is not None}
    method_name, entry, options = choose_method(method, given)
    table = read_table(data)
    secrets = require_sensitive(table, sensitive)
    names = check_columns(table, quasi_identifiers, secrets, person)
    demand = Demand(
        k, l, diversity, c, None if isinstance(t, str) else t, by_strata=t is not None, beta=beta, delta=delta
    )
    if isinstance(options, BlankOptions):
        demand = replace(demand, wildcards=options.wildcards, subsets=options.subsets)
    if isinstance(t, str) and t != "bound":
        raise InputError(f"t must be a number above 0 and at most 1, or 'bound'; {t!r} was given")
    check_demand(demand, table.rows, secrets, entry)
    wishes = read_wishes(names, importance, keep, widest, nominal)
    if wishes:
        check_wishes(wishes, method_name, entry, person)
    by_column = [one for one in (hierarchies, widest, top, bottom, resolution, output) if isinstance(one, Mapping)]
    told = {name for one in by_column for name in one}  # what it is like
    told |= {*names, *secrets} if entry.perturbs else {name for name, _ in steps or ()}
    notes = apply_scales(table, [name for name in [*names, *secrets] if name not in told])
    unknown = _require_other(table, other, [*names, *secrets, person, *(identifiers or ())])
    removed = _choose_identifiers(table, identifiers, leave_out, {*names, *unknown, *secrets, person})
    spoken_for = {*names, *secrets, person, *removed, *unknown}
    replicates = find_replicate_weights(table, [name for name in table.columns if name not in spoken_for])
    if replicates and not entry.perturbs:  # whose steps name columns of any role
        removed = [*removed, *replicates]
        notes.append(
            f"{len(replicates):,} replicate weights are set aside ({replicates[0]} to {replicates[-1]}): together they "
            "tell which records were drawn together; name them as other columns to pass them on"
        )
    if not table.backend.rows_are_local:
        if demand.limits_shares:
            raise UnsupportedError("beta and delta are not looked at in a cluster; ask for t there")
        if person is not None or hierarchies or wishes or nominal or output:
            what = "people with several records are" if person is not None else "hierarchies and wishes are"
            raise UnsupportedError(
                f"{what} not looked at in a cluster; protect records, without hierarchies and wishes"
            )
        if places := [name for name in names if table.scale_of(name) == "place"]:
            raise UnsupportedError(
                f"{places[0]!r} holds codes of places, and a cluster makes no prefixes; state it as nominal",
                hint="scales",
            )
        if len(secrets) > 1:
            raise UnsupportedError(f"{len(secrets)} sensitive columns at once are not protected in a cluster; give one")
        secret = secrets[0] if secrets else None
        how: dict[str, Any] = {"sensitive": secret, "aim": aim, "out": out, "force": force, "progress": progress}
        left = [name for name in table.columns if name not in {*spoken_for, *replicates}] if warn else []
        return protect_in_cluster(
            table, names, demand, method=method_name, removed=removed, left=left, notes=notes, **how
        )
    if out is not None:
        raise InputError("out= is for tables in a cluster; write the result with write_protected")
    nested = [name for name in table.nested if name not in spoken_for]
    removed = [*removed, *nested]
    progress("reading", 0.0)
    needed = table.rows * (_BYTES_A_RECORD + _BYTES_A_CELL * len(table.columns))
    require_memory(f"protecting {table.rows:,} records of {len(table.columns):,} columns", needed, table.memory)
    columns = [as_nominal(column) if column.name in (nominal or ()) else column for column in encode(table, names)]
    check_values(columns)
    problem = Problem(
        columns,
        table.rows,
        demand,
        encode(table, secrets) if secrets else (),
        settle_aim(aim, columns),
        _read_hierarchies(hierarchies, columns),
        options,
        progress,
        wishes=wishes,
        table=table,
    )
    if entry.perturbs and output is not None:
        raise InputError("perturbed columns are values of their own type already; leave the output out", hint="output")
    outputs = read_outputs(output, columns, problem.hierarchies)
    build = Build(table, problem, method_name, person, removed, outputs)
    recoding, released, generalised, released_names, guarantee, classes = build.run()
    passed_over = {*names, person, *table.nested, *recoding.columns}
    kept = [name for name in generalised.column_names if name not in passed_over] if warn else []
    left = [name for name in kept if name not in secrets]
    changed = [name for name, cells in recoding.changed.items() if cells]
    given_back = kept_column_facts(table, generalised, names, kept, person, coarse=changed)
    set_aside = [f"set aside, for lists and records are not looked into: {', '.join(nested)}"] if nested else []
    warnings = tuple(warn_of_undoing(table, generalised, names, left, given_back, person=person, unknown=unknown))
    knowable = [name for name in left if name not in unknown]
    distinct = [(column.name, column.size) for column in encode(table, knowable)] if knowable else []
    return Protected(
        table=to_native(released, table.native, index=False),
        method=method_name,
        quasi_identifiers=tuple(names),
        demand=demand,
        guarantee=guarantee,
        classes=classes.sizes,
        changed_cells=recoding.changed,
        rows=released.num_rows,
        suppressed_rows=table.rows - released.num_rows,
        removed=tuple(removed),
        pseudonymised=(person,) if person else (),
        notes=(
            *notes,
            *recoding.notes,
            *build.notes,
            *set_aside,
            *warnings,
            *warn_of_nearly_unique(distinct, table.rows),
        ),
        settings=recoding.settings,
        original=table,
        kept_rows=recoding.kept_rows,
        sensitive=tuple(secrets),
        person=person,
        hierarchies=problem.hierarchies,
        kept_column_warnings=warnings,
        given_back=given_back if warn else None,
        outputs=outputs,
        released_quasi_identifiers=released_names,
        generalised=generalised if outputs else None,
        method_help=entry.help,
        perturbed=recoding.perturbed,
    )


def _read_hierarchies(given: Mapping[str, Any] | None, columns: Sequence[Coded]) -> dict[str, Hierarchy]:
    """The hierarchies that were given, and prefixes for codes of places that have none."""
    names = [column.name for column in columns]
    stray = next((name for name in given or () if name not in names), None)
    if stray is not None:
        raise InputError(f"a hierarchy for {stray!r}, which is not a quasi-identifier")
    places = {column.name: Hierarchy.places() for column in columns if column.scale == "place"}
    return places | {
        name: hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.parse(hierarchy)
        for name, hierarchy in (given or {}).items()
    }


def _require_other(table: Table, other: Sequence[str] | None, spoken_for: Sequence[str | None]) -> list[str]:
    """The columns that nobody outside can know, if they have no other role."""
    unknown = table.require(other, "other columns") if other else []
    clash = [name for name in unknown if name in spoken_for]
    if clash:
        raise InputError(f"{', '.join(map(repr, clash))} cannot be an other column and something else; name it once")
    return unknown


def _choose_identifiers(
    table: Table, identifiers: Sequence[str] | None, leave_out: Sequence[str], spoken_for: set[str | None]
) -> list[str]:
    """The columns to remove: the identifiers named, or those that look so and have no other role; and what is to go."""
    wanted = table.require([*(identifiers or ()), *leave_out], "columns to remove") if identifiers or leave_out else []
    clash = [name for name in wanted if name in spoken_for]
    if clash:
        raise InputError(f"{', '.join(map(repr, clash))} cannot be removed and be something else; name it once")
    others = [name for name in table.columns if name not in {*spoken_for, *wanted}] if identifiers is None else []
    looks = suggest_roles(table, others) if others else ()
    return [*(role.column for role in looks if role.role == "identifier"), *wanted]
