"""`protect`: the entry point to every method, with the same checks before and after each of them."""

from __future__ import annotations

from incrowd._support.memory import require_memory
from incrowd._support.option import takes_options
from incrowd.errors import InputError
from incrowd.protection.build import BuiltRelease, ReleaseBuilder
from incrowd.protection.cluster_protection import protect_in_cluster
from incrowd.protection.outputs import read_outputs
from incrowd.protection.protect_options import ProtectCall
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.protection.release import RowOrder, choose_order
from incrowd.protection.release_warnings import KeptColumns, review_kept_columns, warn_of_row_order
from incrowd.protection.request import Request, read_request
from incrowd.protection.result import Protected
from incrowd.tables import Table, TableLike, to_native

_BYTES_A_RECORD, _BYTES_A_CELL = 60, 24  # memory that `protect` needs, as measured


@takes_options(ProtectCall)
def protect(data: TableLike, call: ProtectCall) -> Protected:
    """Protect a table so that everybody shares their quasi-identifiers with at least k - 1 others.

    The guarantee is counted on the protected table before it is returned. The table is built from released cells
    alone: no dictionary entry, index, attribute or metadata of the original is passed on.

    A table in a Spark cluster is protected there, by "partition", "sorted" or "tcloseness", and written by the workers
    to the Parquet folder `out` (`force` replaces an existing one); the result's table is that folder's Spark frame.

    Args:
        data: a frame, an Arrow table, a mapping of columns, a path or a `Table`.
        call: the options.

    Returns:
        The protected table in the caller's kind of frame, its guarantee, and what changed.

    Raises:
        InputError: a column, a value or an option cannot be used.
        UnsupportedError: the method cannot give the guarantee on this table.

    >>> safe = protect({"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}, quasi_identifiers=["age", "sex"], k=2)
    >>> safe.table["age"].to_pylist(), safe.guarantee.k
    (['[30;31]', '[30;31]', '[62;64]', '[62;64]'], 2)
    """
    request = read_request(data, call)
    table = request.table
    if not table.backend.rows_are_local:
        return protect_in_cluster(request, warn=call.warn, out=call.out, force=call.force, progress=call.progress)
    if call.out is not None:
        raise InputError("out= is for tables in a cluster; write the result with write_protected")
    request = request.without_nested()
    call.progress("reading", 0.0)
    task = f"protecting {table.rows:,} records of {len(table.columns):,} columns"
    require_memory(task, memory_to_protect(table), table.memory)
    problem = request.pose_problem(call.progress)
    builder = ReleaseBuilder(request, problem, read_outputs(call.output, problem.columns, problem.hierarchies))
    built = builder.run()
    kept = review_kept_columns(table, request.columns, built, warn=call.warn)
    order = choose_order(table, built.ranges, call.person, call.shuffle)
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
        method=request.options.method,
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
        known_secrets=tuple(name for name in request.options.sensitive or () if name in settled.quasi_identifiers),
        person=person,
        hierarchies=builder.problem.hierarchies,
        kept_column_warnings=kept.warnings,
        outputs=builder.outputs,
        released_quasi_identifiers=built.quasi_identifiers,
        generalised=order.put(built.generalised) if has_outputs else None,
        counted=built.ranges if native is built.ranges.native else None,
        method_help=PROTECTION_METHODS[request.options.method].help,
        perturbed=recoding.perturbed,
    )
