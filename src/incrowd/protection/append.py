"""Adding new records to a released file, under the guarantee in the log of its mark.

Records for which there is no class yet wait for later batches. They are personal data: they are stored in
`NAME.waiting` beside the newest release, a file that only its owner can read, with the keyed hashes that recognise
batches and people. No other file written here holds an unpublished cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.files import check_free, file_hash, written_whole
from incrowd._support.private_folders import locked
from incrowd._support.progress import Progress, silent
from incrowd.backends.spool import load_rows, store_rows
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.batch_fingerprints import BatchFingerprints
from incrowd.protection.guarantee import count_guarantee
from incrowd.protection.marks import (
    OriginalFacts,
    escape_names,
    read_log,
    read_mark,
    require_own_mark,
    waiting_of,
    write_facts,
)
from incrowd.protection.original_facts import facts_of_protected, unite_facts
from incrowd.protection.published_pair import published_pair
from incrowd.protection.release_log import DELAY, ReleaseLog
from incrowd.protection.stream import NOT_COMPARED, Appended, Stream, decoded
from incrowd.tables import Table, TableLike, escape_formula, read_table, write_into
from incrowd.tables.write import is_text_file
from incrowd.tables.written_file import check_metadata

_KEY = b"incrowd"  # of the schema metadata of the file of waiting records


def append_release(
    data: TableLike,
    release: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    delay: int | None = None,
    person: str | None = None,
    force: bool = False,
    progress: Progress = silent,
    **wishes: Any,
) -> Appended:
    """Write a released file with the records of a new batch that have a class; the other records wait.

    Published rows keep their cells, and all rows are put in random order. The guarantee (k, l, the columns) is that of
    the release's log. Later batches can join only `out`, not `release`.

    Args:
        data: the batch: whatever `read_table` reads. A person may be in one batch only; a repeated batch is refused.
        release: a file that `write_protected` or this function wrote, with its mark beside it.
        out: the file to write.
        delay: how many later batches a record may wait for, the same for all batches. None: that of the log, or 3.
        person: the column that says whose record it is. It is not released; a person of an earlier batch is refused.
            None: the column in the log; without one, people are not compared.
        force: replace an existing file.
        progress: called with what is done and how far it is.
        wishes: as for `Stream`.

    Returns:
        The rows that joined, and counts of records that joined, wait or were left out.

    Raises:
        InputError: the log is missing or of another file, the batch lacks a column, or the batch or a person in it came
            before.
        UnsupportedError: the file would not keep the guarantee; it is deleted.
    """
    before, target = Path(release), Path(out)
    log = read_log(before)
    log.require_open(before.name)
    with open(before, "rb") as held:
        if locked(held.fileno()) is False:
            raise InputError(f"another program continues {before.name} now; wait for it")
        _check_paths(read_table(data), before, target, force)
        continued_log = _continue_log(log, delay, person)
        published = read_table(before)
        facts = read_mark(published)
        assert facts is not None
        rows = published.to_arrow()
        if is_text_file(before):
            rows = _with_original_names(rows, log)
        waiting = _read_waiting(before, before, log, rows.column_names)
        stream = Stream.resume(continued_log, rows, *waiting, **wishes)
        appended = _note_assumptions(stream.append(data, progress=progress), log)
        progress("writing", 0.95)
        _write(stream, appended, published, facts, log, before, target, force=force)
        if log.delay is not None:  # otherwise no record waited, and a file of that name is not ours
            waiting_of(before).unlink(missing_ok=True)
    return appended


def _check_paths(batch: Table, before: Path, target: Path, force: bool) -> None:
    """Refuse paths of the batch or the new file that are the release itself, or a file that must not be replaced."""
    if batch.is_at(before):
        raise InputError(f"the batch is {before.name} itself, whose people are out already; name the new records")
    if target.exists() and target.samefile(before):
        raise InputError(f"{before.name} cannot be continued in itself; name another file")
    if waiting_of(target).exists():
        raise InputError(f"records wait in {waiting_of(target).name} to join {target.name}; name another file")
    if is_text_file(before) != is_text_file(target):
        raise InputError(f"{before.name} and {target.name} are of different kinds; keep the format of the release")
    check_free(target, force=force)
    require_own_mark(target)


def _continue_log(log: ReleaseLog, delay: int | None, person: str | None) -> ReleaseLog:
    """The log with the delay and the person column; values that the log has already cannot be changed."""
    if delay is not None and log.delay not in (None, delay):
        raise InputError(
            f"a delay of {delay!r} batches, where {log.delay} was promised before; leave it out", hint="delay"
        )
    if person is not None and log.person not in (None, person):
        raise InputError("people were told apart by another column before; leave it out", hint="person")
    settled = log.delay if log.delay is not None else DELAY if delay is None else delay
    return replace(log, delay=settled, person=log.person or person)


def _write(
    stream: Stream,
    appended: Appended,
    published: Table,
    facts: OriginalFacts,
    log: ReleaseLog,
    before: Path,
    target: Path,
    *,
    force: bool,
) -> None:
    """Write the new release, its waiting records and its mark, and close the previous release; all of it or nothing.

    `published`, `facts`, `log` and `before` are the rows, the mark, the log as it was read and the file of the previous
    release.
    """
    is_closed = False
    try:
        with published_pair(target, force=force) as temporary:
            write_into(stream.released, temporary, published.codebook)
            _check_written(temporary, published, appended)
            new_facts = None if appended.protected is None else facts_of_protected(appended.protected)
            united = unite_facts(
                facts, escape_names(new_facts) if new_facts is not None and is_text_file(target) else new_facts
            )
            assert united is not None
            united = replace(united, shuffled=united.shuffled or appended.order is not None)
            with written_whole(waiting_of(target), force=True, private=True) as private:
                _write_waiting(stream, private, file_hash(temporary))
            assert stream.released is not None
            _, _, written_fingerprints = _read_waiting(target, temporary, appended.log, stream.released.column_names)
            if written_fingerprints != stream.seen:  # checked before the previous release is closed
                raise UnsupportedError(f"{waiting_of(target).name} was not written as it should be; nothing is left")
            write_facts(united, appended.log, temporary, target)
            if read_log(before) != log:  # changed by a program that ignores the lock
                raise InputError(f"{before.name} was continued or changed meanwhile; append to what it is now")
            # close the previous release before the new file gets its name, so that people can never join both
            write_facts(facts, replace(log, continued_in=target.name), before, before)
            is_closed = True
    except BaseException:  # the file did not get its name, so no records may wait to join it
        waiting_of(target).unlink(missing_ok=True)
        if is_closed:
            write_facts(facts, log, before, before)
        raise


def _with_original_names(rows: pa.Table, log: ReleaseLog) -> pa.Table:
    """Published rows under the column names of the original; text files escape some names."""
    names = {escape_formula(name): name for name in (*log.kinds, *log.released)}
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _note_assumptions(appended: Appended, previous_log: ReleaseLog) -> Appended:
    """Add a note on the people and batches that could not be compared with earlier ones."""
    if NOT_COMPARED in appended.notes:
        return appended
    if appended.log.person is None and len(previous_log.batches) > 1:
        note = (
            "only whole batches were compared with those before, except that of the first release: it is assumed that "
            "nobody came twice"
        )
    elif appended.log.person is None:
        note = "only whole batches were compared with those before: it is assumed that nobody came twice"
    elif previous_log.person is None:
        earlier = sum(batch.arrived for batch in previous_log.batches)
        note = (
            f"the {earlier:,} records before this batch were not compared: it is assumed that nobody of them came again"
        )
    else:
        return appended
    return replace(appended, notes=(*appended.notes, note))


def _read_waiting(
    release: Path, content: Path, log: ReleaseLog, columns: Sequence[str]
) -> tuple[pa.Table | None, list[int], BatchFingerprints]:
    """The waiting records, for how many batches each has waited, and the fingerprints of earlier batches.

    They are empty for a first release. `content` is the file with the rows of `release`, perhaps still under a
    temporary name.
    """
    if len(log.batches) == 1:
        return None, [], BatchFingerprints()
    file, number = waiting_of(release), log.batches[-1].waiting
    if not file.is_file():
        purpose = f"{number:,} records wait in" if number else "batches that came before are recognised by"
        raise InputError(f"{purpose} {file.name}, which is not beside {release.name}; put it back")
    try:
        table = load_rows(file)
        description = json.loads((table.schema.metadata or {})[_KEY])
        waited = [int(batches) for batches in description["waited"]]
        hashes = table[description["hashes"]].slice(len(waited))
        table = table.drop_columns([description["hashes"]]).slice(0, len(waited)).replace_schema_metadata(None)
        fingerprints = BatchFingerprints.read(description["seen"], hashes)
        fits = all(0 < batches <= (log.delay or 0) for batches in waited)
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError, OverflowError, RecursionError):
        raise InputError(f"{file.name} cannot be read") from None
    expected_columns = (
        {*log.quasi_identifiers, *(name for name in columns if name not in log.released)} if number else {*()}
    )
    fits = fits and {*table.column_names} == expected_columns
    if description.get("release") != file_hash(content) or not len(waited) == table.num_rows == number or not fits:
        raise InputError(f"{file.name} is of another release; put back the one that was written with {release.name}")
    return table if number else None, waited, fingerprints


def _write_waiting(stream: Stream, file: Path, release: str) -> None:
    """Write the waiting records, and below them the hashes, in their own column: they are too many for metadata."""
    table, hashes = pa.table({}) if stream.waiting is None else stream.waiting, stream.seen.hashes
    hash_column = "hashes" + "_" * max(map(len, table.column_names), default=0)  # longer than any other name
    rows = {name: [*table[name].chunks, pa.nulls(len(hashes), table[name].type)] for name in table.column_names}
    rows[hash_column] = [pa.nulls(table.num_rows, hashes.type), hashes]
    description = {"release": release, "waited": stream.waited, "hashes": hash_column, "seen": stream.seen.to_saved()}
    columns = {name: pa.chunked_array(chunks) for name, chunks in rows.items()}
    store_rows(pa.table(columns, metadata={_KEY: json.dumps(description).encode()}), file)


def _check_written(file: Path, published: Table, appended: Appended) -> None:
    """Refuse a written file whose published rows changed, or in which the new rows or all rows miss the guarantee."""
    check_metadata(file)
    written, log = read_table(file).to_arrow(), appended.log
    expected_rows = published.rows + appended.batch.released
    if written.num_rows != expected_rows:
        raise UnsupportedError(
            f"the file has {written.num_rows:,} rows and should have {expected_rows:,}; nothing is left"
        )
    if appended.order is not None:
        written = written.take(pa.array(np.argsort(appended.order)))  # published rows first
    old_rows = published.to_arrow()
    changed = [
        name
        for name in old_rows.column_names
        if not _is_same(old_rows[name], written[name].slice(0, old_rows.num_rows))
    ]
    if changed:
        raise UnsupportedError(f"published cells of {', '.join(map(repr, changed))} would change; nothing is left")
    quasi_identifiers, sensitive = (
        [escape_formula(name) for name in names] if is_text_file(file) else [*names]
        for names in (log.released, log.demanding)
    )
    for rows in (written, written.slice(old_rows.num_rows)):
        if not rows.num_rows:
            continue
        guarantee, _ = count_guarantee(read_table(rows), quasi_identifiers, log.demand, sensitive=sensitive)
        if not guarantee.holds:
            raise UnsupportedError(f"the file breaks the promise ({'; '.join(guarantee.broken)}); nothing is left")


def _is_same(before: pa.ChunkedArray, after: pa.ChunkedArray) -> bool:
    """True if two columns have equal cells, whatever their types."""
    cells = [decoded(one) for one in (before, after)]
    try:
        cells[1] = pc.cast(cells[1], cells[0].type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = [pc.cast(one, pa.string()) for one in cells]
    return bool(cells[0].combine_chunks().equals(cells[1].combine_chunks()))
