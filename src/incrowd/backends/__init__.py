"""Backends that hold and count rows: memory, DuckDB, SQL databases, Spark. The only room that knows engines."""

from incrowd.backends.base import Backend
from incrowd.backends.counts import CountedRows, MemoryNeeds, TooManyDistinctError, merge_counts
from incrowd.backends.encode import Coded, codes_among, encode, encode_each
from incrowd.backends.engines import choose_engine
from incrowd.backends.packed_keys import class_numbers, frequencies, map_parts, pack, partition_keys
from incrowd.backends.row_hash import in_order_of_records

__all__ = [
    "Backend",
    "Coded",
    "CountedRows",
    "MemoryNeeds",
    "TooManyDistinctError",
    "choose_engine",
    "class_numbers",
    "codes_among",
    "encode",
    "encode_each",
    "frequencies",
    "in_order_of_records",
    "map_parts",
    "merge_counts",
    "pack",
    "partition_keys",
]
