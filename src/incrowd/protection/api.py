"""`protect`: the entry point to every method, with the same checks before and after each of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, Signature, signature
from typing import Any, Literal, NamedTuple, Unpack

from incrowd._support.memory import require_memory
from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import RecoveringColumn, kept_column_facts
from incrowd.measures.missing_cells import find_skip_groups
from incrowd.protection.build import BuiltRelease, ReleaseBuilder
from incrowd.protection.cluster_protection import protect_in_cluster
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.k_map import RandomSample, read_population
from incrowd.protection.keys import Key, read_key
from incrowd.protection.method_options import (
    BlankOptions,
    GeneraliseOptions,
    MaskOptions,
    MethodKeywords,
    MethodName,
    MethodOptions,
    PartitionOptions,
    PerturbOptions,
)
from incrowd.protection.outputs import read_outputs
from incrowd.protection.perturbation.date_shift import ShiftDates
from incrowd.protection.perturbation.perturb import read_steps
from incrowd.protection.problem import Demand, Problem, require_known, settle_aim
from incrowd.protection.protect_options import Aim, DiversityKind, OutputKind
from incrowd.protection.recoding import as_nominal
from incrowd.protection.registry import METHODS, choose_method
from incrowd.protection.release import columns_of_order, draw_uninformative_order, in_order
from incrowd.protection.release_warnings import (
    describe_expected,
    facts_of_release,
    warn_of_nearly_unique,
    warn_of_row_order,
    warn_of_undoing,
)
from incrowd.protection.result import Protected
from incrowd.protection.validate import (
    SettledColumns,
    check_columns,
    check_demand,
    check_values,
    check_wishes,
    read_wishes,
    require_sensitive,
    settle_columns,
)
from incrowd.tables import Table, TableLike, read_table, to_native

_BYTES_A_RECORD, _BYTES_A_CELL = 60, 24  # memory that `protect` needs, as measured


def protect(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    k: int = 5,
    t: float | Literal["bound"] | None = None,
    l: float | None = None,  # noqa: E741
    beta: float | None = None,
    delta: float | None = None,
    sensitive: Sequence[str] | None = None,
    diverse: Sequence[str] | None = None,
    method: MethodName | MethodOptions = "partition",
    diversity: DiversityKind = "distinct",
    c: float = 3.0,
    person: str | None = None,
    key: Key | None = None,
    identifiers: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    other: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] | None = None,
    aim: Aim | None = None,
    importance: Mapping[str, float] | None = None,
    keep: Sequence[str] | None = None,
    widest: Mapping[str, float] | None = None,
    nominal: Sequence[str] | None = None,
    apart: Sequence[str] | None = None,
    output: OutputKind | Mapping[str, OutputKind] | None = None,
    shuffle: bool | None = None,
    warn: bool = True,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = silent,
    **of_method: Unpack[MethodKeywords],
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
        t: t-closeness: the largest distance between the values of a sensitive column in a class and in the whole table.
            The partition merges classes until they satisfy it. "bound": the t that classes of k reach by strata of one
            sensitive column (algorithm S4).
        l: l-diversity: the fewest different values of every sensitive column in a class.
        beta: β-likeness: no sensitive value is more than 1 + beta times as common in a class as in the table.
        delta: δ-disclosure: no sensitive value is more than e^delta times as common, or as rare, in a class as in the
            table.
        sensitive: the sensitive columns. l, t, beta and delta need at least one.
        diverse: the sensitive columns that l, t, beta and delta hold for. None or empty: all.
        method: "partition" (local recoding, smallest loss), "sorted" (runs of the sorted table), "tcloseness" (one
            record of every stratum of the sensitive column), "coarsen" (fixed intervals), "generalise" (one coding for
            the whole file), "blank" (cell suppression), "mask" (steps on records that stand out) or "perturb" (noise,
            swapping, PRAM and the like, which promise no k); or an options object such as `MaskOptions`, which names
            its method.
        diversity: the kind of l: "distinct", "entropy", or "recursive" with `c`.
        c: the c of recursive (c, l)-diversity.
        person: the column that says whose record it is, where people have several. A class is then made of people
            with all their records, and the column is replaced by random numbers that cannot be reproduced.
        key: bytes, or a file that holds them. A person gets the same pseudonym in every table under this key, so that
            the tables can be joined. Only with the key can a pseudonym be traced back to a person.
        identifiers: columns that name people, which are removed. None: those that look like identifiers.
        leave_out: further columns to remove.
        other: columns that an attacker cannot know, whatever they look like.
        hierarchies: by column, a `Hierarchy`, or a text for `Hierarchy.parse`: "5,10,20", "prefix:3,1", "quantiles:10",
            or the path of a CSV file.
        aim: the loss to keep small, "information" or "granularity". None: granularity where a quasi-identifier is text.
        importance: for "partition" and "generalise": by column, the weight of a loss in it. Default 1; with 0 the
            column may lose all its detail.
        keep: for "partition" and "generalise": quasi-identifiers that are released unchanged, so that all records of a
            class have the same value.
        widest: for "partition" and "generalise": by column, the longest range allowed, in its own unit (days for
            dates); for text, the largest set.
        nominal: quasi-identifiers whose numbers are codes of categories: written as sets, never as ranges.
        apart: for "partition": kept columns that only some people were asked about. No class mixes people who were
            asked with people who were not, as far as quasi-identifiers show who was asked. A missing cell then tells no
            more than the quasi-identifiers do. A group of fewer than k people joins the group most like it.
        output: the form of released quasi-identifiers, by column, or one for every column that can have it: "range"
            (text of ranges and sets), "bounds" (two columns, `age_low` and `age_high`), "midpoint", "mean" or "mode" of
            the class (one value of the column's own type), or "label" (of its hierarchy). None: labels where there is a
            hierarchy, else ranges.
        shuffle: whether rows are released in a random order that cannot be reproduced; `kept_rows` of the result holds
            the original row of every released row. None: shuffle where people get random numbers, and where
            neighbouring rows are more alike than by chance, because their order could show exact values or who lives
            together. False keeps the order; a release with an informative order then never gets a yes.
        warn: whether the result's notes name the kept columns that undo the protection.
        out: for tables in a cluster: the Parquet folder to write.
        force: for tables in a cluster: replace an existing folder.
        progress: called with what is done and how far it is.
        of_method: options of single methods, listed in `MethodKeywords`: `resolution` and `levels`
            of "coarsen", `suppress`, `k_map`, `population_table` and `population` of "generalise" and "partition",
            `steps`, `top`, `bottom` and `drop` of "mask", `wildcards` and `subsets` of "blank", `steps` and `seed` of
            "perturb".

    Returns:
        The protected table in the caller's kind of frame, its guarantee, and what changed.

    Raises:
        InputError: a column, a value or an option cannot be used.
        UnsupportedError: the method cannot give the guarantee on this table.

    >>> safe = protect({"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}, quasi_identifiers=["age", "sex"], k=2)
    >>> safe.table["age"].to_pylist(), safe.guarantee.k
    (['[30;31]', '[30;31]', '[62;64]', '[62;64]'], 2)
    """
    if unknown := [name for name in of_method if name not in MethodKeywords.__annotations__]:
        raise TypeError(f"protect() got an unexpected keyword argument {unknown[0]!r}")
    given = {option: value for option, value in of_method.items() if value is not None}
    method_name, entry, options = choose_method(method, given)
    if person is not None and "k_map" in given:
        raise UnsupportedError(
            "k-map counts records as people and is not for histories of people; leave the person column or k-map out",
            hint=("person", "k_map"),
        )
    if key is not None and person is None:
        raise InputError("a key is for pseudonyms of people; name the person column", hint="person")
    key_bytes = None if key is None else read_key(key)
    table = read_table(data)
    if isinstance(options, PerturbOptions):
        options = replace(options, steps=read_steps(options.steps, table))
    sensitive_columns = require_sensitive(table, sensitive)
    names = check_columns(table, quasi_identifiers, sensitive_columns, person)
    demand = _read_demand(k, l, diversity, c, t, beta, delta, options)
    diverse_columns = _read_diverse(table, diverse, sensitive_columns)
    check_demand(demand, table.rows, diverse_columns, entry)
    apart_columns = table.require(apart, "columns that only some were asked") if apart else []
    wishes = read_wishes(names, importance, keep, widest, nominal, apart_columns)
    if wishes:
        check_wishes(wishes, method_name, entry, person, demand)
    method_values = [value for option, value in given.items() if option != "population_table"]
    by_column = [one for one in (hierarchies, widest, output, *method_values) if isinstance(one, Mapping)]
    step_columns = _columns_of_steps(options)
    settled = settle_columns(
        table,
        names,
        sensitive_columns,
        person,
        identifiers=identifiers,
        leave_out=leave_out,
        other=other,
        described={*names, *sensitive_columns}
        if entry.perturbs
        else {name for one in [*by_column, step_columns] for name in one},
        in_steps=step_columns if entry.perturbs else (),
    )
    if isinstance(options, PerturbOptions):
        options = replace(options, steps=_settle_people_of_steps(options.steps, table, settled))
    if not table.backend.rows_are_local:
        if shuffle is not None:
            raise InputError("shuffle= is for tables on this machine; rows in a cluster have no order")
        if key is not None:
            raise UnsupportedError("pseudonyms under a key are made on this machine, not in a cluster")
        if diverse_columns != sensitive_columns:
            raise UnsupportedError("in a cluster a demand holds for all sensitive columns", hint="diverse")
        return protect_in_cluster(
            table,
            settled,
            demand,
            method=method_name,
            recoded=bool(hierarchies or wishes or nominal or output),
            aim=aim,
            warn=warn,
            out=out,
            force=force,
            progress=progress,
        )
    if out is not None:
        raise InputError("out= is for tables in a cluster; write the result with write_protected")
    if entry.perturbs and output is not None:
        raise InputError("perturbed columns are values of their own type already; leave the output out", hint="output")
    nested = settled.without_role(table.nested)
    settled.removed.extend(nested)
    progress("reading", 0.0)
    task = f"protecting {table.rows:,} records of {len(table.columns):,} columns"
    require_memory(task, memory_to_protect(table), table.memory)
    columns = [as_nominal(column) if column.name in (nominal or ()) else column for column in encode(table, names)]
    check_values(columns)
    if removed_apart := [name for name in wishes.apart if name in settled.removed]:
        raise InputError(
            f"{', '.join(map(repr, removed_apart))} is left out, and people are to be kept apart by it; choose one"
        )
    read_hierarchies = _read_hierarchies(hierarchies, columns)
    if isinstance(options, PartitionOptions) and options.population_table is not None and output is not None:
        raise UnsupportedError("k-map is counted by ranges and sets; leave the output out", hint="output")
    demand = _with_population(demand, options, columns, table.rows, read_hierarchies)
    problem = Problem(
        columns,
        table.rows,
        demand,
        encode(table, diverse_columns) if diverse_columns else (),
        settle_aim(aim, columns),
        read_hierarchies,
        options,
        progress,
        wishes=wishes,
        table=table,
        asked=find_skip_groups(encode(table, apart_columns), columns) if apart_columns else (),
    )
    outputs = read_outputs(output, columns, problem.hierarchies)
    builder = ReleaseBuilder(table, problem, method_name, person, settled.removed, outputs, key=key_bytes)
    return _describe(builder, settled, nested, shuffle=shuffle, warn=warn)


def memory_to_protect(table: Table) -> int:
    """Estimated memory of `protect`, in bytes."""
    return table.rows * (_BYTES_A_RECORD + _BYTES_A_CELL * len(table.columns))


def _read_demand(
    k: int,
    l: float | None,  # noqa: E741
    diversity: DiversityKind,
    c: float,
    t: float | str | None,
    beta: float | None,
    delta: float | None,
    options: MethodOptions | None,
) -> Demand:
    """The guarantee that is asked for."""
    if isinstance(t, str) and t != "bound":
        raise InputError(f"t must be a number above 0 and at most 1, or 'bound'; {t!r} was given")
    demand = Demand(k, l, diversity, c, None if isinstance(t, str) else t, asks_t=t is not None, beta=beta, delta=delta)
    if isinstance(options, BlankOptions):
        return replace(demand, wildcards=options.wildcards, subsets=options.subsets)
    if isinstance(options, PartitionOptions) and options.k_map is not None:
        return replace(demand, k_map=options.k_map)
    return demand


def _read_diverse(table: Table, diverse: Sequence[str] | None, sensitive: Sequence[str]) -> Sequence[str]:
    """The sensitive columns that the demand holds for."""
    if not diverse:
        return sensitive
    names = require_sensitive(table, diverse)
    if missing := [name for name in names if name not in sensitive]:
        raise InputError(f"{missing[0]!r} is to be diverse and is not among the sensitive columns", hint="sensitive")
    return names


def _with_population(
    demand: Demand,
    options: MethodOptions | None,
    columns: Sequence[Coded],
    rows: int,
    hierarchies: Mapping[str, Hierarchy],
) -> Demand:
    """The demand with the population that k-map counts: a table of everybody, or only its size."""
    if not isinstance(options, PartitionOptions):
        return demand
    if options.population_table is not None:
        return replace(demand, population=read_population(options.population_table, columns, hierarchies))
    if options.population is None:
        return demand
    ranges = sum(column.has_distances and column.name not in hierarchies for column in columns)
    boundary_records = 0 if isinstance(options, GeneraliseOptions) else 2 * ranges
    return _with_sample(demand, RandomSample.of(rows, options.population), boundary_records)


def _with_sample(demand: Demand, sample: RandomSample, boundary_records: int) -> Demand:
    """The demand with the class size that k-map needs by an estimate.

    `boundary_records` are the records of a class that only define the ends of its ranges (see `edges_of_classes`).
    """
    assert demand.k_map is not None
    k = max(demand.k, min(demand.k_map, sample.smallest_class(demand.k_map) + boundary_records))
    if k > sample.records:
        raise InputError(
            f"a k-map of {demand.k_map:,} takes, by an estimate, classes of more than the {sample.records:,} records "
            "that there are; ask for less",
            hint="k_map",
        )
    return replace(demand, k=k, sample=sample)


def _columns_of_steps(options: MethodOptions | None) -> set[str]:
    """The columns that steps of masking or perturbation change."""
    if isinstance(options, PerturbOptions):
        return {name for step in options.steps for name in step.columns}
    return {name for name, _ in options.steps} if isinstance(options, MaskOptions) else set()


def _settle_people_of_steps(steps: Sequence[Any], table: Table, settled: SettledColumns) -> list[Any]:
    """Give the table's person column to date shifts that name none.

    Raises:
        InputError: the column that a step names would be released as it is.
    """
    settled_steps = []
    for step in steps:
        if isinstance(step, ShiftDates) and step.person is None:
            step = replace(step, person=settled.person)
        person = step.person if isinstance(step, ShiftDates) else None
        hidden_columns = [*settled.removed, settled.person]
        if person is not None and table.require([person], "person column of a step")[0] not in hidden_columns:
            raise InputError(
                f"{person!r} tells a step whose record it is, and would be released as it is; name it as the person "
                "column, so that people get pseudonyms, or as an identifier, so that it is removed",
                hint=("person", "identifiers"),
            )
        settled_steps.append(step)
    return settled_steps


class _KeptColumns(NamedTuple):
    """What columns that are released unchanged tell about coarsened quasi-identifiers."""

    given_back: tuple[RecoveringColumn, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def _review_kept_columns(table: Table, settled: SettledColumns, built: BuiltRelease, *, warn: bool) -> _KeptColumns:
    """Find the unchanged columns that undo the protection; without `warn` no column is reviewed."""
    names, person, unknown = settled.quasi_identifiers, settled.person, settled.other
    not_reviewed = {*names, person, *table.nested, *built.recoding.columns}
    kept = [name for name in built.generalised.column_names if name not in not_reviewed] if warn else []
    not_sensitive = [name for name in kept if name not in settled.sensitive]
    changed = [name for name, cells in built.recoding.changed.items() if cells]
    given_back = kept_column_facts(table, built.ranges, names, kept, person, coarse=changed, secrets=settled.sensitive)
    expected = [one for one in given_back if one.undoes and one.is_only_told(settled.sensitive)]
    undoing = [one for one in given_back if one not in expected]
    undone = {one.column for one in given_back if one.undoes}
    release = built.ranges if built.table is built.generalised else read_table(built.table)
    undoing += facts_of_release(release, built.quasi_identifiers, [name for name in kept if name not in undone], person)
    warnings = warn_of_undoing(table, built.ranges, names, not_sensitive, undoing, person=person, unknown=unknown)
    knowable = [name for name in not_sensitive if name not in unknown]
    distinct = [(column.name, column.size) for column in encode(table, knowable)] if knowable else []
    notes = [describe_expected(expected)] if expected else []
    return _KeptColumns(given_back, tuple(warnings), (*notes, *warn_of_nearly_unique(distinct, table.rows)))


def _describe(
    builder: ReleaseBuilder, settled: SettledColumns, nested: Sequence[str], *, shuffle: bool | None, warn: bool
) -> Protected:
    """Run the method and describe the release: what changed, and what its unchanged columns tell."""
    table, problem, person = builder.table, builder.problem, settled.person
    built = builder.run()
    recoding, released, generalised, ranges = built.recoding, built.table, built.generalised, built.ranges
    kept = _review_kept_columns(table, settled, built, warn=warn)
    set_aside = [f"set aside, for lists and records are not looked into: {', '.join(nested)}"] if nested else []
    notes = (*settled.notes, *recoding.notes, *builder.notes, *set_aside, *kept.warnings, *kept.notes)
    followed = columns_of_order(table, ranges, person)
    # unshuffled, pseudonyms would first occur in the order of the people they stand for
    is_shuffled = bool(followed) or person is not None if shuffle is None else shuffle
    kept_rows = recoding.kept_rows
    if is_shuffled:
        order = draw_uninformative_order(ranges, person)
        released = in_order(released, order)
        generalised = in_order(generalised, order) if builder.outputs else released
        kept_rows = order if kept_rows is None else kept_rows[order]
    native = to_native(released, table.native, index=False)
    return Protected(
        table=native,
        method=builder.method,
        quasi_identifiers=tuple(settled.quasi_identifiers),
        demand=problem.demand,
        guarantee=built.guarantee,
        classes=built.classes.sizes,
        changed_cells=recoding.changed,
        rows=released.num_rows,
        suppressed_rows=table.rows - released.num_rows,
        removed=tuple(settled.removed),
        pseudonymised=(person,) if person else (),
        keyed=builder.key is not None,
        notes=(*notes, *warn_of_row_order(followed, shuffled=is_shuffled)),
        settings=recoding.settings,
        original=table,
        kept_rows=kept_rows,
        shuffled=is_shuffled,
        row_order=() if is_shuffled else tuple(dict.fromkeys([*followed, *([person] if person else [])])),
        sensitive=tuple(settled.sensitive),
        person=person,
        hierarchies=problem.hierarchies,
        kept_column_warnings=kept.warnings,
        given_back=kept.given_back if warn else None,
        outputs=builder.outputs,
        released_quasi_identifiers=built.quasi_identifiers,
        generalised=generalised if builder.outputs else None,
        counted=ranges if native is ranges.native else None,
        method_help=METHODS[builder.method].help,
        perturbed=recoding.perturbed,
    )


def _spelled_out() -> Signature:
    """The signature of `protect` with every method option as a parameter, for help and notebooks."""
    plain = signature(protect)
    method_parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=getattr(hint, "__forward_arg__", hint))
        for name, hint in MethodKeywords.__annotations__.items()
    ]
    return plain.replace(parameters=[*list(plain.parameters.values())[:-1], *method_parameters])


protect.__signature__ = _spelled_out()  # type: ignore[attr-defined]


def _read_hierarchies(given: Mapping[str, Any] | None, columns: Sequence[Coded]) -> dict[str, Hierarchy]:
    """The given hierarchies, and the hierarchy of places for columns of place codes without one."""
    require_known("a hierarchy", given or (), [column.name for column in columns])
    places = {column.name: Hierarchy.places() for column in columns if column.scale == "place"}
    return places | {
        name: hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.parse(hierarchy)
        for name, hierarchy in (given or {}).items()
    }
