"""Random tables through every protection method, format and kind of frame, with the bytes of the release searched.

    python -m tests.fuzz.releases --tables 2000 --seed 7
    python -m tests.fuzz.releases --tables 1000 --seed 7 --start 1000    # the second half of them

A release is a broken promise where its bytes hold an original that none of its cells holds, or where its rows, read by
another reader and counted in plain Python, have a class that is too small.
"""

import argparse
import math
import os
import pickle
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from tests.protection import planted
from tests.tables.forked_reads import call_forked

from incrowd.errors import UnsupportedError
from incrowd.protection import release, write_protected
from incrowd.tables import read_table, write_table
from incrowd.tables.formats import limited_reading
from incrowd.tables.release_marks import mark_of

FRAMES = {
    "arrow": lambda table, folder: table,
    "pandas": lambda table, folder: table.replace_schema_metadata(None).to_pandas(),
    "polars": lambda table, folder: pl.DataFrame(table),
    "lazy": lambda table, folder: pl.DataFrame(table).lazy(),
    "parquet": lambda table, folder: read_table(write_table(table, folder / "original.parquet", force=True)),
    "spss": lambda table, folder: read_table(write_table(table, folder / "original.sav", force=True)),
}


def broken_promises(table, original, name, file, *, mark=True):
    """What one release of a table holds that it must not; None where the method refuses the table.

    With `mark`, the file beside the release is made and searched too, which takes longer than all else.
    """
    try:
        safe = planted.protected(original, planted.METHODS[name])
    except UnsupportedError:
        return None
    cells = safe.table.collect() if isinstance(safe.table, pl.LazyFrame) else safe.table
    released = cells.to_arrow() if isinstance(cells, pl.DataFrame) else cells
    released = released if isinstance(released, pa.Table) else pa.Table.from_pandas(released)
    with pytest.MonkeyPatch.context() as patches:
        if not mark:
            patches.setattr(release, "write_mark", lambda *_: None)
        write_protected(safe, file, force=True)
    rows = planted.rows_of_file(file)
    raw = planted.raw_bytes(file) + (b"" if cells is released else pickle.dumps(cells))
    raw += mark_of(file).read_bytes() if mark else b""
    found = [f"{text!r} is in the bytes" for text in planted.gone(table, released) if text in raw]
    names = safe.released_quasi_identifiers or safe.quasi_identifiers
    if len(rows) != safe.rows:
        found.append(f"{len(rows)} rows of {safe.rows}")
    by_record = safe.guarantee.asked_k and safe.person is None
    if by_record and planted.smallest_class(rows, names) < safe.guarantee.asked_k:
        found.append("a class is too small")
    return found


def releases(tables, seed, *, start=0, seconds=math.inf, told=lambda text: None):
    """Every method on every table from number `start` on, formats and frames in turn, as far as the time goes.

    How many releases of each kind there were, what is broken, and the number of tables.
    """
    counts, failures = Counter(), []
    limited_reading.call_limited = call_forked
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patches:
        planted.unpacked_files(patches)
        patches.setattr(os, "fsync", lambda file: None)
        for number in range(start, start + tables):
            if time.process_time() > seconds:
                return counts, failures, number - start
            frame = list(FRAMES)[number % len(FRAMES)]
            table = planted.planted(seed + number, rows=(12, 30, 60, 90)[number // len(FRAMES) % 4])
            original = FRAMES[frame](table, Path(place))
            for turn, name in enumerate(planted.METHODS, start=number):
                ending, mark = planted.FORMATS[turn % len(planted.FORMATS)], turn % len(planted.METHODS) == 0
                found = broken_promises(table, original, name, Path(place) / f"safe{ending}", mark=mark)
                counts[name, "refused" if found is None else "released"] += 1
                counts["all", ending if found is not None else "refused"] += 1
                if found:
                    failures.append((seed + number, name, ending, frame, found[:3]))
                    told(f"BROKEN {failures[-1]}\n")
            if number % 50 == 49:
                told(f"tables {start} to {number}: {len(failures):,} broken, {time.process_time():,.0f} s\n")
    return counts, failures, tables


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first table")
    parser.add_argument("--seconds", type=float, default=math.inf, help="of processor time")
    given = parser.parse_args()
    counted, broken, tried = releases(
        given.tables, given.seed, start=given.start, seconds=given.seconds, told=sys.stderr.write
    )
    for (kind, what), times in sorted(counted.items()):
        sys.stdout.write(f"{kind:27} {what}: {times:,}\n")
    written = sum(times for (kind, what), times in counted.items() if what == "released")
    sys.stdout.write(f"{tried:,} tables, {written:,} releases, {len(broken):,} broken promises\n")
    sys.exit(bool(broken))
