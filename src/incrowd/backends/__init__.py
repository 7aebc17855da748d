"""How to count: dictionary-encoded columns, packed keys, and groupings left to a database."""

from incrowd.backends.class_size_writer import write_with_class_sizes
from incrowd.backends.disk_parts import Split, split_by_class
from incrowd.backends.distinct import Counted, CountedParts, TooManyDistinctError, counted_rows, most_distinct
from incrowd.backends.encode import Coded, codes_among, encode, encode_each
from incrowd.backends.packed_keys import class_numbers, deal_out, each_part, frequencies, pack
from incrowd.backends.person_classes import history_classes
from incrowd.backends.relational import count_in_engine, distinct_in_engine, plain_keys, with_histories

__all__ = [
    "Coded",
    "Counted",
    "CountedParts",
    "Split",
    "TooManyDistinctError",
    "class_numbers",
    "codes_among",
    "count_in_engine",
    "counted_rows",
    "deal_out",
    "distinct_in_engine",
    "each_part",
    "encode",
    "encode_each",
    "frequencies",
    "history_classes",
    "most_distinct",
    "pack",
    "plain_keys",
    "split_by_class",
    "with_histories",
    "write_with_class_sizes",
]
