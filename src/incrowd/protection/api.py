"""`protect`: the entry point to every method, with the same checks before and after each of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, Literal, Unpack, cast

from incrowd._support.memory import require_memory
from incrowd._support.progress import Progress, silent
from incrowd.errors import InputError
from incrowd.protection.build import BuiltRelease, ReleaseBuilder
from incrowd.protection.cluster_protection import protect_in_cluster
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.keys import Key
from incrowd.protection.method_options import MethodKeywords, MethodName, MethodOptions
from incrowd.protection.outputs import read_outputs
from incrowd.protection.protect_options import OPTIONS, Aim, DiversityKind, OutputKind, ProtectKeywords
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.protection.release import RowOrder, choose_order
from incrowd.protection.release_warnings import KeptColumns, review_kept_columns, warn_of_row_order
from incrowd.protection.request import Request, read_request
from incrowd.protection.result import Protected
from incrowd.tables import Table, TableLike, to_native

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
        sensitive: the sensitive columns. l, t, beta and delta need at least one. Those that `leave_out` names too are
            not released, and kept columns that give them back are told of.
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
        importance: for "partition", "generalise" and "blank": by column, the weight of a loss in it. Default 1; with 0
            the column may lose all its detail.
        keep: for "partition", "generalise" and "blank": quasi-identifiers that are released unchanged, so that all
            records of a class have the same value.
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
            of "coarsen", `suppress` of "generalise", "partition" and "blank", `k_map`, `population_table` and
            `population` of "generalise" and "partition", `measure` of "generalise",
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
    asked: ProtectKeywords = cast(Any, {name: value for name, value in locals().items() if name in OPTIONS})
    request = read_request(data, asked, of_method)
    table = request.table
    if not table.backend.rows_are_local:
        return protect_in_cluster(request, warn=warn, out=out, force=force, progress=progress)
    if out is not None:
        raise InputError("out= is for tables in a cluster; write the result with write_protected")
    request = request.without_nested()
    progress("reading", 0.0)
    task = f"protecting {table.rows:,} records of {len(table.columns):,} columns"
    require_memory(task, memory_to_protect(table), table.memory)
    problem = request.pose_problem(progress)
    outputs = read_outputs(output, problem.columns, problem.hierarchies)
    builder = ReleaseBuilder(table, problem, request.method, person, request.columns.removed, outputs, key=request.key)
    built = builder.run()
    kept = review_kept_columns(table, request.columns, built, warn=warn)
    order = choose_order(table, built.ranges, person, shuffle)
    return _describe(request, builder, built, kept, order)


def memory_to_protect(table: Table) -> int:
    """Estimated memory of `protect`, in bytes."""
    return table.rows * (_BYTES_A_RECORD + _BYTES_A_CELL * len(table.columns))


def _describe(
    request: Request, builder: ReleaseBuilder, built: BuiltRelease, kept: KeptColumns, order: RowOrder
) -> Protected:
    """The release in the caller's kind of frame, with what changed and what its unchanged columns tell."""
    table, settled, recoding = request.table, request.columns, built.recoding
    person, has_outputs = settled.person, bool(builder.outputs)
    released = order.put(built.table)
    native = to_native(released, table.native, index=False)
    return Protected(
        table=native,
        method=request.method,
        quasi_identifiers=tuple(settled.quasi_identifiers),
        demand=builder.problem.demand,
        guarantee=built.guarantee,
        classes=built.classes.sizes,
        changed_cells=recoding.changed,
        rows=released.num_rows,
        suppressed_rows=table.rows - released.num_rows,
        removed=tuple(settled.removed),
        pseudonymised=(person,) if person else (),
        keyed=request.key is not None,
        notes=(
            *(*settled.notes, *recoding.notes, *builder.notes, *kept.warnings, *kept.notes),
            *warn_of_row_order(order.followed, shuffled=order.is_shuffled),
        ),
        settings=recoding.settings,
        original=table,
        kept_rows=order.rows_of_original(recoding.kept_rows),
        shuffled=order.is_shuffled,
        row_order=() if order.is_shuffled else tuple(dict.fromkeys([*order.followed, *([person] if person else [])])),
        sensitive=tuple(settled.sensitive),
        left_out_secrets=tuple(settled.left_out_secrets),
        person=person,
        hierarchies=builder.problem.hierarchies,
        kept_column_warnings=kept.warnings,
        outputs=builder.outputs,
        released_quasi_identifiers=built.quasi_identifiers,
        generalised=order.put(built.generalised) if has_outputs else None,
        counted=built.ranges if native is built.ranges.native else None,
        method_help=PROTECTION_METHODS[request.method].help,
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
