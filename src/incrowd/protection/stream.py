"""Streams: new records join a release that is out, in classes of their own, and wait until there is one for them.

Rows that are out are never touched. Whoever holds every release can tell which rows came with which batch, so a class
has k records, and l values of every secret, among those that joined at once: subtracting one release from the next
leaves whole classes. Records without a class wait, for so many batches and no longer (as in CASTLE, Cao et al. 2011);
a class that is out keeps its sensitive values, so that intersecting releases tells nothing new (m-invariance, Xiao &
Tao 2007, for people who are in one batch each).

A batch that comes twice is refused, and so is a person where a column says whose record it is; both are recognised by
keyed hashes. All rows are put in random order whenever some join, so that their order does not tell the batch.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.api import protect
from incrowd.protection.batch_fingerprints import BatchFingerprints, is_first_batch
from incrowd.protection.merge_classes import is_diverse
from incrowd.protection.protect_options import DiversityKind, StreamKeywords
from incrowd.protection.registry import METHODS
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
_NEARLY_ALL = float(np.nextafter(1.0, 0.0))  # of the rows may be left out, for they wait


@dataclass(frozen=True, slots=True, eq=False)
class Appended(Result):
    """Effect of one batch on a release.

    Attributes:
        rows: the released rows that it added, in random order; None where there are none.
        order: which row of the old ones with the new ones below each row of the release is; None where none were added.
        batch: counts of this batch.
        log: what is promised, and all batches.
        notes: what columns that are passed on give away, and what is assumed of people who cannot be compared.
        protected: how the added rows were made.
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
    """A release that grows batch by batch, under one promise.

    Every person is in one batch only, which is checked where a column says whose record it is. Wishes and outputs are
    those of `protect`; where they leave a record without a class of k, it waits.

    Attributes:
        released: all rows that are out, None where there are none.
        waiting: the records that wait, as they came: cells that nobody else may see.
        waited: for how many batches each of them has waited.

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
        **wishes: Unpack[StreamKeywords],
    ) -> None:
        """Promise something of a release that has no rows yet.

        Args:
            quasi_identifiers: the columns that an attacker may know.
            k: the fewest records of a class, among those that join at once.
            l: the fewest different values of every sensitive column in it.
            sensitive: the sensitive columns.
            diversity: the kind of l, as for `protect`.
            c: of recursive (c, l)-diversity.
            delay: how many later batches a record may wait for; then it is left out.
            person: the column that says whose record it is. It is not released, and who comes twice is refused. None:
                nobody is in two batches, and only a batch that comes twice is recognised.
            wishes: of `protect`: hierarchies, importance, keep, widest, nominal, output, aim, other, identifiers and
                leave_out.
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
        **wishes: Unpack[StreamKeywords],
    ) -> Stream:
        """Go on with a release that is out: its log, its rows, the records that wait, with for how long, and hashes."""
        stream = cls.__new__(cls)
        stream._begin(log, seen, wishes)
        stream.released, stream.waiting, stream.waited = released, waiting, list(waited)
        return stream

    def _begin(self, log: ReleaseLog, seen: BatchFingerprints, wishes: StreamKeywords) -> None:
        check_demand(log.demand, sys.maxsize, log.demanding, METHODS["partition"])
        if log.person in (*log.quasi_identifiers, *log.sensitive):
            raise InputError(f"{log.person!r} is the person column and has another role too; give it one role")
        if isinstance(log.delay, bool) or not isinstance(log.delay, int) or log.delay < 0:
            raise InputError(
                f"a delay of {log.delay!r}; give the number of batches that a record may wait for, 0 or more"
            )
        refused = sorted(wishes.keys() - StreamKeywords.__annotations__.keys())
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
        """All rows that are out, in the kind of frame of the last batch; None where there are none."""
        return None if self.released is None else to_native(self.released, self._native, index=False)

    def append(self, data: Any, *, progress: Progress = silent) -> Appended:
        """Release what has a class among the new records and those that wait.

        Args:
            data: a batch: whatever `read_table` reads, with the columns of the batches before.
            progress: called with what is done and how far it is.

        Returns:
            The rows that were added, and counts.

        Raises:
            InputError: a column is missing or of another type, the batch or somebody of it came before, or an option
                makes no sense.
            UnsupportedError: the added rows do not keep what was promised; nothing has changed then.
        """
        batch = read_table(data)
        batch.require([*self.log.quasi_identifiers, *self.log.sensitive])
        came = batch.to_arrow()
        seen, assumed = self._recognise(came)
        arrived = self._select(came)
        kinds = {**kinds_of({one.name: one.type for one in arrived.schema}), **self.log.kinds}
        arrived = _in_kinds(arrived, kinds)
        pool = arrived if self.waiting is None else _stack(self.waiting, arrived)
        waited = np.array([*self.waited, *[0] * arrived.num_rows], dtype=np.int64)
        safe = self._protect(pool, progress)
        rows = None if safe is None else self._in_columns(read_table(safe.table).to_arrow())
        left = np.ones(pool.num_rows, dtype=np.bool_)
        if safe is not None:
            left[np.arange(pool.num_rows) if safe.kept_rows is None else safe.kept_rows] = False
        assert self.log.delay is not None
        waits = left & (waited < self.log.delay)
        counts = LoggedBatch(
            arrived.num_rows,
            int((~left).sum()),
            0 if safe is None else safe.classes.classes,
            int(waits.sum()),
            int((left & ~waits).sum()),
        )
        released, order = self.released, None
        if rows is not None:
            released = rows if released is None else _stack(released, rows, as_text=True)
            order = draw_uninformative_order(read_table(released), None)
            released = in_order(released, order)
        self._native, self.waited = batch.native, (waited[waits] + 1).tolist()  # nothing is refused from here on
        self.seen = seen
        self.waiting = pool.filter(pa.array(waits)) if waits.any() else None
        if safe is not None:
            self.released = released
            self.log = replace(self.log, released=safe.released_quasi_identifiers)
        self.log = replace(self.log, batches=(*self.log.batches, counts), kinds=kinds)
        return Appended(rows, counts, self.log, (*assumed, *(() if safe is None else safe.notes)), safe, order)

    def _recognise(self, came: pa.Table) -> tuple[BatchFingerprints, list[str]]:
        """The hashes with those of a batch, and notes on what nobody can tell; refuses one that came before."""
        log, out = self.log, self.released
        assumed = []
        if log.person is not None:
            _require_columns(came, [log.person])
            if out is not None and log.person in out.column_names:
                raise InputError(f"{log.person!r} is released and tells who is in it; protect with it as the person")
        elif out is not None and len(log.batches) == 1 and not self.seen.batches:
            is_first = is_first_batch(came, out, log.released, log.batches[0].arrived)
            if is_first:
                raise InputError("the release was made from these records: its people are out; name the new records")
            if is_first is None:
                assumed.append(NOT_COMPARED)
        seen = self.seen.with_batch(came, log.person)
        if log.person is None and came.num_rows and seen.batches == self.seen.batches:
            assumed.append(_EQUAL)
        return seen, assumed

    def _select(self, batch: pa.Table) -> pa.Table:
        """The columns of a batch that are released or recoded; all but the person where nothing is out yet."""
        if self.released is None:
            batch = batch.select([name for name in batch.column_names if name != self.log.person])
            return batch if self.waiting is None else _require_columns(batch, self.waiting.column_names)
        held = [name for name in self.released.column_names if name not in self.log.released]
        return _require_columns(batch, [*self.log.quasi_identifiers, *held])

    def _protect(self, pool: pa.Table, progress: Progress) -> Protected | None:
        """Classes among new and waiting records; None where not even one can be made."""
        log = self.log
        if pool.num_rows < log.demand.smallest:
            return None
        secrets = encode(read_table(pool), list(log.demanding)) if log.demanding and log.l is not None else []
        if secrets and not is_diverse(log.demand, [column.codes.astype(np.int64) for column in secrets]):
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
            if error.hint != ("suppress",):  # all rows would have to be left out
                raise
            return None

    def _in_columns(self, rows: pa.Table) -> pa.Table:
        """New rows in the columns of those that are out."""
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
    """A batch whose columns hold what the stream's do: whatever it is where they are text, the same elsewhere."""
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
    """Rows below each other; with `as_text`, a column that is text in either table is text in both."""
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
    """A column as plain values, without a dictionary."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    kind = pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
    return pc.cast(column, kind)
