"""New records join a released file: the log in its mark says under which promise, and those without a class wait.

The records that wait are cells of people: they are in `NAME.waiting` beside the newest release, which only its owner
can read, with the keyed hashes by which batches and people are recognised. Nothing else that is written here holds a
cell that is not published.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

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
    mark_of,
    read_log,
    read_mark,
    require_own_mark,
    waiting_of,
    write_facts,
)
from incrowd.protection.original_facts import facts_of_protected, unite_facts
from incrowd.protection.protect_options import StreamKeywords
from incrowd.protection.release_log import DELAY, ReleaseLog
from incrowd.protection.stream import NOT_COMPARED, Appended, Stream, decoded
from incrowd.tables import Table, TableLike, escape_formula, read_table, write_into
from incrowd.tables.write import is_text
from incrowd.tables.written_file import check_metadata

_KEY = b"incrowd"  # of what the file of waiting records says about itself


def append_release(
    data: TableLike,
    release: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    delay: int | None = None,
    person: str | None = None,
    force: bool = False,
    progress: Progress = silent,
    **wishes: Unpack[StreamKeywords],
) -> Appended:
    """Write a released file anew with the records of a batch that have a class; the others wait.

    Rows that are out stay as they are, and all rows are put in random order. What is promised (k, l, the columns) is in
    the release's log; nothing else can join `release` afterwards, only `out`.

    Args:
        data: the batch: whatever `read_table` reads. Everybody is in one batch only; the same batch is refused.
        release: a file that `write_protected` or this function wrote, with its mark beside it.
        out: the file to write.
        delay: how many later batches a record may wait for; it stays the same over all batches. None: as before, or 3.
        person: the column that says whose record it is, which is not released: who came to this function before is
            refused. None: as before; where none was named, nobody is compared.
        force: replace an existing file.
        progress: called with what is done and how far it is.
        wishes: as for `Stream`.

    Returns:
        What joined, what waits and what was left out.

    Raises:
        InputError: the log is missing or of another file, the batch lacks a column, or it or its people came before.
        UnsupportedError: the file would not keep the promise; nothing is left of it.
    """
    before, target = Path(release), Path(out)
    log = read_log(before)
    log.require_open(before.name)
    with open(before, "rb") as held:
        if locked(held.fileno()) is False:
            raise InputError(f"another program continues {before.name} now; wait for it")
        _refuse_places(read_table(data), before, target, force)
        promised = _promise(log, delay, person)
        published = read_table(before)
        facts = read_mark(published)
        assert facts is not None
        rows = published.to_arrow()
        if is_text(before):
            rows = _with_original_names(rows, log)
        waiting = _read_waiting(before, before, log, rows.column_names)
        stream = Stream.resume(promised, rows, *waiting, **wishes)
        found = _say_who_is_compared(stream.append(data, progress=progress), log)
        progress("writing", 0.95)
        _write(stream, found, published, facts, log, before, target, force=force)
        if log.delay is not None:  # else nothing waited, and a file of that name is somebody else's
            waiting_of(before).unlink(missing_ok=True)
    return found


def _refuse_places(batch: Table, before: Path, target: Path, force: bool) -> None:
    """Refuse a batch or a file to write that is the release itself, or would replace what must stay."""
    if batch.is_at(before):
        raise InputError(f"the batch is {before.name} itself, whose people are out already; name the new records")
    if target.exists() and target.samefile(before):
        raise InputError(f"{before.name} cannot be continued in itself; name another file")
    if waiting_of(target).exists():
        raise InputError(f"records wait in {waiting_of(target).name} to join {target.name}; name another file")
    if is_text(before) != is_text(target):
        raise InputError(f"{before.name} and {target.name} are of different kinds; keep the format of the release")
    check_free(target, force=force)
    if mark_of(target).exists():
        require_own_mark(target)


def _promise(log: ReleaseLog, delay: int | None, person: str | None) -> ReleaseLog:
    """The log with the delay and the column of people that hold from now on; those of before cannot be changed."""
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
    found: Appended,
    published: Table,
    facts: OriginalFacts,
    log: ReleaseLog,
    before: Path,
    target: Path,
    *,
    force: bool,
) -> None:
    """Write the release with what joined it, what waits and its mark, and close the one before; all of it or nothing.

    Args:
        stream: the release and what waits.
        found: what joined.
        published: the release before.
        facts: what its original tells.
        log: its log as it was read.
        before: its file.
        target: the file to write.
        force: replace an existing file.
    """
    earlier = mark_of(target).read_bytes() if mark_of(target).exists() else None
    is_closed = False
    try:
        with written_whole(target, force=force) as temporary:
            write_into(stream.released, temporary, published.codebook)
            _check(temporary, published, found)
            added = None if found.protected is None else facts_of_protected(found.protected)
            united = unite_facts(facts, escape_names(added) if added is not None and is_text(target) else added)
            assert united is not None
            united = replace(united, shuffled=united.shuffled or found.order is not None)
            with written_whole(waiting_of(target), force=True, private=True) as private:
                _write_waiting(stream, private, file_hash(temporary))
            assert stream.released is not None
            _, _, kept = _read_waiting(target, temporary, found.log, stream.released.column_names)
            if kept != stream.seen:  # while the release before can still be continued
                raise UnsupportedError(f"{waiting_of(target).name} was not written as it should be; nothing is left")
            write_facts(united, found.log, temporary, target)
            if read_log(before) != log:  # by somebody who does not look at locks
                raise InputError(f"{before.name} was continued or changed meanwhile; append to what it is now")
            # closed before the new file has its name: never are two files open that the same people could join
            write_facts(facts, replace(log, continued_in=target.name), before, before)
            is_closed = True
    except BaseException:  # the file did not get its name, so that nothing may wait to join it
        waiting_of(target).unlink(missing_ok=True)
        _put_back(mark_of(target), earlier)
        if is_closed:
            write_facts(facts, log, before, before)
        raise


def _with_original_names(rows: pa.Table, log: ReleaseLog) -> pa.Table:
    """Published rows with their columns as the original calls them; text files escape some."""
    names = {escape_formula(name): name for name in (*log.kinds, *log.released)}
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _say_who_is_compared(found: Appended, before: ReleaseLog) -> Appended:
    """Add a note on the people and batches that could not be compared with earlier ones."""
    if NOT_COMPARED in found.notes:
        return found
    if found.log.person is None and len(before.batches) > 1:
        note = (
            "only whole batches were compared with those before, except that of the first release: it is assumed that "
            "nobody came twice"
        )
    elif found.log.person is None:
        note = "only whole batches were compared with those before: it is assumed that nobody came twice"
    elif before.person is None:
        out = sum(batch.arrived for batch in before.batches)
        note = f"the {out:,} records before this batch were not compared: it is assumed that nobody of them came again"
    else:
        return found
    return replace(found, notes=(*found.notes, note))


def _put_back(mark: Path, content: bytes | None) -> None:
    """Let a mark be what it was before; None where there was none."""
    if content is None:
        mark.unlink(missing_ok=True)
    elif mark.read_bytes() != content:
        with written_whole(mark, force=True) as temporary:
            temporary.write_bytes(content)


def _read_waiting(
    release: Path, content: Path, log: ReleaseLog, columns: Sequence[str]
) -> tuple[pa.Table | None, list[int], BatchFingerprints]:
    """The records that wait, for how many batches they have, and what came before; nothing after the first release.

    `content` is the file that has the rows of `release`, which may not have its name yet.
    """
    if len(log.batches) == 1:
        return None, [], BatchFingerprints()
    file, number = waiting_of(release), log.batches[-1].waiting
    if not file.is_file():
        kept = f"{number:,} records wait in" if number else "batches that came before are recognised by"
        raise InputError(f"{kept} {file.name}, which is not beside {release.name}; put it back")
    try:
        table = load_rows(file)
        about = json.loads((table.schema.metadata or {})[_KEY])
        waited = [int(batches) for batches in about["waited"]]
        hashes = table[about["hashes"]].slice(len(waited))
        table = table.drop_columns([about["hashes"]]).slice(0, len(waited)).replace_schema_metadata(None)
        seen = BatchFingerprints.read(about["seen"], hashes)
        fits = all(0 < batches <= (log.delay or 0) for batches in waited)
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError, OverflowError, RecursionError):
        raise InputError(f"{file.name} cannot be read") from None
    held = {*log.quasi_identifiers, *(name for name in columns if name not in log.released)} if number else {*()}
    fits = fits and {*table.column_names} == held
    if about.get("release") != file_hash(content) or not len(waited) == table.num_rows == number or not fits:
        raise InputError(f"{file.name} is of another release; put back the one that was written with {release.name}")
    return table if number else None, waited, seen


def _write_waiting(stream: Stream, file: Path, release: str) -> None:
    """Write the records that wait, and below them the hashes in a column of their own: metadata holds no millions."""
    table, hashes = pa.table({}) if stream.waiting is None else stream.waiting, stream.seen.hashes
    own = "hashes" + "_" * max(map(len, table.column_names), default=0)  # longer than any other name
    rows = {name: [*table[name].chunks, pa.nulls(len(hashes), table[name].type)] for name in table.column_names}
    rows[own] = [pa.nulls(table.num_rows, hashes.type), hashes]
    about = {"release": release, "waited": stream.waited, "hashes": own, "seen": stream.seen.to_saved()}
    columns = {name: pa.chunked_array(chunks) for name, chunks in rows.items()}
    store_rows(pa.table(columns, metadata={_KEY: json.dumps(about).encode()}), file)


def _check(file: Path, published: Table, found: Appended) -> None:
    """Refuse a written file whose old rows changed, or in which the new rows or all of them miss the promise."""
    check_metadata(file)
    written, log = read_table(file).to_arrow(), found.log
    expected = published.rows + found.batch.released
    if written.num_rows != expected:
        raise UnsupportedError(f"the file has {written.num_rows:,} rows and should have {expected:,}; nothing is left")
    if found.order is not None:
        written = written.take(pa.array(np.argsort(found.order)))  # old rows first again
    old = published.to_arrow()
    changed = [name for name in old.column_names if not _is_same(old[name], written[name].slice(0, old.num_rows))]
    if changed:
        raise UnsupportedError(f"published cells of {', '.join(map(repr, changed))} would change; nothing is left")
    known, secrets = (
        [escape_formula(name) if is_text(file) else name for name in names] for names in (log.released, log.demanding)
    )
    for rows in (written, written.slice(old.num_rows)):
        if not rows.num_rows:
            continue
        guarantee, _ = count_guarantee(read_table(rows), known, log.demand, sensitive=secrets)
        if not guarantee.holds:
            raise UnsupportedError(f"the file breaks the promise ({'; '.join(guarantee.broken)}); nothing is left")


def _is_same(before: pa.ChunkedArray, after: pa.ChunkedArray) -> bool:
    """True if cells are equal, in whatever type they are held."""
    cells = [decoded(one) for one in (before, after)]
    try:
        cells[1] = pc.cast(cells[1], cells[0].type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cells = [pc.cast(one, pa.string()) for one in cells]
    return bool(cells[0].combine_chunks().equals(cells[1].combine_chunks()))
