"""Where rows are held and counted: memory, DuckDB, SQL databases, Spark. The only room that knows engines."""

from incrowd.backends.encode import Coded, codes_among, encode, encode_each
from incrowd.backends.engines import choose_engine, open_frame
from incrowd.backends.packed_keys import class_numbers, deal_out, each_part, frequencies, pack
from incrowd.backends.protocol import Backend, CountedRows, MemoryNeeds, TooManyDistinctError

__all__ = [
    "Backend",
    "Coded",
    "CountedRows",
    "MemoryNeeds",
    "TooManyDistinctError",
    "choose_engine",
    "class_numbers",
    "codes_among",
    "deal_out",
    "each_part",
    "encode",
    "encode_each",
    "frequencies",
    "open_frame",
    "pack",
]
