"""Tables: reading, writing, column roles, generalised values. The only room that knows file formats.

Every verb takes a `TableLike`: the path of a file or the address of a database, a frame of pandas, Polars, Arrow,
DuckDB or Spark, a mapping of column names to values, or a `Table` that `read_table` has opened (with options, or once
for several verbs).
"""

from incrowd.tables.formats.write_delimited import escape_formula
from incrowd.tables.generalised import Anything, Choice, Generalised, Interval, Prefix, parse_generalised
from incrowd.tables.read import TableLike, read_table
from incrowd.tables.roles import ROLES, RowKind, SuggestedRole, describe_rows, find_times, suggest_roles
from incrowd.tables.table import Table
from incrowd.tables.write import to_native, write_into, write_table

__all__ = [
    "ROLES",
    "Anything",
    "Choice",
    "Generalised",
    "Interval",
    "Prefix",
    "RowKind",
    "SuggestedRole",
    "Table",
    "TableLike",
    "describe_rows",
    "escape_formula",
    "find_times",
    "parse_generalised",
    "read_table",
    "suggest_roles",
    "to_native",
    "write_into",
    "write_table",
]
