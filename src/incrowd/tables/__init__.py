"""Tables: reading, writing, column roles, generalised values. The only room that knows file formats.

Every verb takes a `TableLike`: the path of a file or the address of a database, a frame of pandas, Polars, Arrow,
DuckDB or Spark, a mapping of column names to values, or a `Table` that `read_table` has opened (with options, or once
for several verbs).

The public names are listed in `__init__.pyi`; each is imported on first use, so that reading a table does not import
what suggests roles.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
