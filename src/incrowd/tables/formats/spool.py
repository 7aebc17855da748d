"""Private copies: tables that come in batches, written to one Parquet file, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.backends.engine_errors import disk_errors
from incrowd.errors import InputError


def spool(batches: Iterable[pa.Table | pa.RecordBatch], folder: Path, name: str) -> Path:
    """Write batches of rows to a file of a private folder.

    There is at least one batch, and all have the same columns and types.
    """
    path = folder / "cells.parquet"
    writer: pq.ParquetWriter | None = None
    with disk_errors(folder.parent):
        try:
            for batch in batches:
                writer = writer or pq.ParquetWriter(path, batch.schema, compression="lz4", write_statistics=False)
                if batch.schema != writer.schema:
                    raise InputError(f"{name}: the files do not have the same columns and types; read them one by one")
                writer.write(batch)
        finally:
            if writer is not None:
                writer.close()
    return path
