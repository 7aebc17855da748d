"""Streams: new records join a published release in classes of their own; records without a class wait.

Published rows never change. An attacker who holds all releases can tell which rows came with which batch. So the
records that join with one batch form whole classes of k records and l sensitive values, and the difference of two
releases consists of whole classes. Records without a class wait for a limited number of batches (as in CASTLE, Cao et
al. 2011). A published class keeps its sensitive values, so the intersection of releases reveals nothing new
(m-invariance, Xiao & Tao 2007, for people who are in one batch each).

A repeated batch is refused, and so is a repeated person if there is a person column; both are recognised by keyed
hashes. All rows are shuffled whenever some join, so that their order does not reveal the batch.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.backends.arrow_columns import value_type
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.api import protect
from incrowd.protection.batch_fingerprints import BatchFingerprints, is_first_batch
from incrowd.protection.merge_classes import is_diverse
from incrowd.protection.method_options import require_whole
from incrowd.protection.protect_options import APPENDED_WISHES, DiversityKind
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.protection.release import draw_uninformative_order, in_order
from incrowd.protection.release_log import DELAY, LoggedBatch, ReleaseLog, kinds_of
from incrowd.protection.result import Protected
from incrowd.protection.validate import check_demand
from incrowd.results import Result
from incrowd.tables import read_table, to_native
from incrowd.wording import counted

_PLURALS = {"number": "numbers", "date": "dates"}
NOT_COMPARED = (
    "this may be the batch of the first release, which could not be compared: the release shows too few different "
    "cells; it is assumed that nobody came twice"
)
_EQUAL = (
    "a batch came before that is equal, cell for cell, which is no wonder where rows differ so little; it is assumed "
    "that nobody came twice"
)
_NEARLY_ALL = float(np.nextafter(1.0, 0.0))  # share of rows that may be left out, because these rows wait


@dataclass(frozen=True, slots=True, eq=False)
class Appended(Result):
    """Effect of one batch on a release.

    Attributes:
        rows: the released rows that the batch added, in random order; None if there are none.
        order: for every row of the release, its index in the old rows followed by the added ones; None if there are
            none.
        batch: counts of this batch.
        log: the guarantee, and all batches.
        notes: what unchanged columns reveal, and what is assumed about people who cannot be compared.
        protected: the protected table of the added rows.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"rows", "order", "protected"})
    _derived: ClassVar[tuple[str, ...]] = ("sentence",)
    rows: pa.Table | None
    batch: LoggedBatch
    log: ReleaseLog
    notes: tuple[str, ...] = ()
    protected: Protected | None = None
    order: NDArray[np.int64] | None = None

    @property
    def sentence(self) -> str:
        """Summary of the batch in one sentence."""
        batch = self.batch
        added = f"{counted(batch.released, 'record', 'records')} joined in {counted(batch.classes, 'class', 'classes')}"
        return (
            f"{added} of at least {self.log.k:,}; {batch.waiting:,} wait for later batches; {batch.suppressed:,} had "
            f"waited for {self.log.delay:,} and were left out"
        )


class Stream:
    """A release that grows batch by batch, under one guarantee.

    A person may be in one batch only; this is checked if there is a person column. Wishes and outputs are those of
    `protect`. A record that they leave without a class of k waits.

    Attributes:
        released: all published rows, None if there are none.
        waiting: the records that wait, unprotected: they are confidential.
        waited: for how many batches each of these records has waited.

    >>> stream = Stream(quasi_identifiers=["age"], k=2, widest={"age": 5}, delay=1)
    >>> stream.append({"age": [30, 31, 67]}).sentence
    '2 records joined in 1 class of at least 2; 1 wait for later batches; 0 had waited for 1 and were left out'
    >>> stream.append({"age": [50, 69]}).batch.released, sorted(stream.table["age"].to_pylist())
    (2, ['[30;31]', '[30;31]', '[67;69]', '[67;69]'])
    """

    def __init__(
        self,
        *,
        quasi_identifiers: Sequence[str],
        k: int = 5,
        l: float | None = None,  # noqa: E741
        sensitive: Sequence[str] | None = None,
        diversity: DiversityKind = "distinct",
        c: float = 3.0,
        delay: int = DELAY,
        person: str | None = None,
        **wishes: Any,
    ) -> None:
        """Start a stream without rows, with its guarantee.

        Args:
            quasi_identifiers: the columns that an attacker may know.
            k: the fewest records of a class, among the records that join with one batch.
            l: the fewest different values of every sensitive column in such a class.
            sensitive: the sensitive columns.
            diversity: the kind of l, as for `protect`.
            c: the c of recursive (c, l)-diversity.
            delay: how many later batches a record may wait for; then it is left out.
            person: the column that says whose record it is. It is not released, and a repeated person is refused. None:
                it is assumed that nobody is in two batches, and only repeated batches are recognised.
            wishes: options of `protect`: hierarchies, importance, keep, widest, nominal, output, aim, other,
                identifiers and leave_out.
        """
        names, secrets = tuple(quasi_identifiers), tuple(sensitive or ())
        self._begin(
            ReleaseLog(names, names, secrets, k, l, diversity, c, delay, person=person), BatchFingerprints(), wishes
        )

    @classmethod
    def resume(
        cls,
        log: ReleaseLog,
        released: pa.Table,
        waiting: pa.Table | None,
        waited: Sequence[int],
        seen: BatchFingerprints,
        **wishes: Any,
    ) -> Stream:
        """Continue a published release from its log, its rows, its waiting records and the fingerprints of batches."""
        stream = cls.__new__(cls)
        stream._begin(log, seen, wishes)
        stream.released, stream.waiting, stream.waited = released, waiting, list(waited)
        return stream

    def _begin(self, log: ReleaseLog, seen: BatchFingerprints, wishes: Mapping[str, Any]) -> None:
        check_demand(log.demand, sys.maxsize, log.demanding, PROTECTION_METHODS["partition"])
        if log.person in (*log.quasi_identifiers, *log.sensitive):
            raise InputError(f"{log.person!r} is the person column and has another role too; give it one role")
        require_whole("the number of batches that a record may wait for", log.delay, 0)
        refused = sorted(wishes.keys() - {*APPENDED_WISHES, "identifiers", "leave_out"})
        if refused:
            raise InputError(
                f"a stream does not take {', '.join(refused)}: it promises k and l of classes only; leave it out"
            )
        self.log, self.seen, self._wishes = log, seen, wishes
        self.released: pa.Table | None = None
        self.waiting: pa.Table | None = None
        self.waited: list[int] = []
        self._native: Any = None

    @property
    def table(self) -> Any:
        """All published rows, in the kind of frame of the last batch; None if there are none."""
        return None if self.released is None else to_native(self.released, self._native, index=False)

    def append(self, data: Any, *, progress: Progress = silent) -> Appended:
        """Release the new and waiting records for which there is a class.

        Args:
            data: a batch: whatever `read_table` reads, with the columns of earlier batches.
            progress: called with what is done and how far it is.

        Returns:
            The rows that were added, and counts.

        Raises:
            InputError: a column is missing or of another type, the batch or a person in it came before, or an option
                makes no sense.
            UnsupportedError: the added rows miss the guarantee; the stream has not changed.
        """
        batch = read_table(data)
        batch.require([*self.log.quasi_identifiers, *self.log.sensitive])
        batch_rows = batch.to_arrow()
        seen, assumptions = self._recognise(batch_rows)
        arrived = self._select(batch_rows)
        kinds = {**kinds_of({one.name: one.type for one in arrived.schema}), **self.log.kinds}
        arrived = _in_kinds(arrived, kinds)
        pool = arrived if self.waiting is None else _stack(self.waiting, arrived)
        waited = np.array([*self.waited, *[0] * arrived.num_rows], dtype=np.int64)
        protected = self._protect(pool, progress)
        rows = None if protected is None else self._in_columns(read_table(protected.table).to_arrow())
        not_released = np.ones(pool.num_rows, dtype=np.bool_)
        if protected is not None:
            not_released[np.arange(pool.num_rows) if protected.kept_rows is None else protected.kept_rows] = False
        assert self.log.delay is not None
        waits = not_released & (waited < self.log.delay)
        counts = LoggedBatch(
            arrived.num_rows,
            int((~not_released).sum()),
            0 if protected is None else protected.classes.classes,
            int(waits.sum()),
            int((not_released & ~waits).sum()),
        )
        released, order = self.released, None
        if rows is not None:
            released = rows if released is None else _stack(released, rows, as_text=True)
            order = draw_uninformative_order(read_table(released), None)
            released = in_order(released, order)
        self._native, self.waited = batch.native, (waited[waits] + 1).tolist()  # from here on, no error is raised
        self.seen = seen
        self.waiting = pool.filter(pa.array(waits)) if waits.any() else None
        if protected is not None:
            self.released = released
            self.log = replace(self.log, released=protected.released_quasi_identifiers)
        self.log = replace(self.log, batches=(*self.log.batches, counts), kinds=kinds)
        return Appended(
            rows, counts, self.log, (*assumptions, *(() if protected is None else protected.notes)), protected, order
        )

    def _recognise(self, batch_rows: pa.Table) -> tuple[BatchFingerprints, list[str]]:
        """The fingerprints with those of a batch, and notes on assumptions; refuses a repeated batch or person."""
        log, published = self.log, self.released
        assumptions = []
        if log.person is not None:
            _require_columns(batch_rows, [log.person])
            if published is not None and log.person in published.column_names:
                raise InputError(f"{log.person!r} is released and tells who is in it; protect with it as the person")
        elif published is not None and len(log.batches) == 1 and not self.seen.batches:
            is_first = is_first_batch(batch_rows, published, log.released, log.batches[0].arrived)
            if is_first:
                raise InputError("the release was made from these records: its people are out; name the new records")
            if is_first is None:
                assumptions.append(NOT_COMPARED)
        seen = self.seen.with_batch(batch_rows, log.person)
        if log.person is None and batch_rows.num_rows and seen.batches == self.seen.batches:
            assumptions.append(_EQUAL)
        return seen, assumptions

    def _select(self, batch: pa.Table) -> pa.Table:
        """The columns of a batch that are released or recoded; all but the person if there are no published rows."""
        if self.released is None:
            batch = batch.select([name for name in batch.column_names if name != self.log.person])
            return batch if self.waiting is None else _require_columns(batch, self.waiting.column_names)
        unchanged = [name for name in self.released.column_names if name not in self.log.released]
        return _require_columns(batch, [*self.log.quasi_identifiers, *unchanged])

    def _protect(self, pool: pa.Table, progress: Progress) -> Protected | None:
        """Protect new and waiting records; None if they cannot form a single class."""
        log = self.log
        if pool.num_rows < log.demand.smallest:
            return None
        sensitive = encode(read_table(pool), list(log.demanding)) if log.demanding and log.l is not None else []
        if sensitive and not is_diverse(log.demand, [column.codes.astype(np.int64) for column in sensitive]):
            return None
        wishes = self._wishes
        if self.released is not None:
            wishes = {**wishes, "identifiers": []}
        try:
            return protect(
                pool,
                quasi_identifiers=log.quasi_identifiers,
                k=log.k,
                l=log.l,
                diversity=cast(DiversityKind, log.diversity),
                c=log.c,
                sensitive=log.sensitive or None,
                diverse=log.diverse or None,
                suppress=_NEARLY_ALL,
                shuffle=True,
                progress=progress,
                **wishes,
            )
        except UnsupportedError as error:
            if error.hint != ("suppress",):  # this hint: all rows would have to be left out
                raise
            return None

    def _in_columns(self, rows: pa.Table) -> pa.Table:
        """New rows with the columns of the published rows, in their order."""
        if self.released is None:
            return rows
        if set(rows.column_names) != set(self.released.column_names):
            raise InputError(
                "the new rows would have other columns than those that are out; ask for the same output", hint="output"
            )
        return rows.select(self.released.column_names)


def _require_columns(batch: pa.Table, names: Sequence[str]) -> pa.Table:
    missing = [name for name in names if name not in batch.column_names]
    if missing:
        raise InputError(f"the batch lacks {', '.join(map(repr, missing))}, which the release has; add it")
    return batch.select(names)


def _in_kinds(batch: pa.Table, kinds: Mapping[str, str]) -> pa.Table:
    """The batch in the kinds of the stream's columns: any value can become text; other kinds must be equal."""
    columns = dict(zip(batch.column_names, batch.columns, strict=True))
    for name, kind in kinds_of({one.name: one.type for one in batch.schema}).items():
        if kinds[name] == kind:
            continue
        if kinds[name] != "text" or kind == "other":
            raise InputError(
                f"{name!r} holds {_PLURALS.get(kind, kind)} in this batch and {_PLURALS.get(kinds[name], kinds[name])} "
                "before; make it the same type"
            )
        columns[name] = pc.cast(decoded(columns[name]), pa.string())
    return pa.table(columns)


def _stack(upper: pa.Table, lower: pa.Table, *, as_text: bool = False) -> pa.Table:
    """Concatenate two tables; with `as_text`, a column that is text in one of them becomes text in both."""
    columns: dict[str, Any] = {}
    for name in upper.column_names:
        parts = [decoded(table[name]) for table in (upper, lower)]
        if as_text and parts[0].type != parts[1].type and any(pa.types.is_string(one.type) for one in parts):
            parts = [one.cast(pa.string()) for one in parts]
        try:
            tables = [pa.table({name: one}) for one in parts]
            columns[name] = pa.concat_tables(tables, promote_options="permissive")[name]
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise InputError(
                f"{name!r} holds {parts[1].type} in this batch and {parts[0].type} before; make it the same type"
            ) from None
    return pa.table(columns)


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without dictionary encoding; all types of text become string."""
    kind = value_type(column.type)
    kind = pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
    return pc.cast(column, kind)
