"""Tables: reading, writing, column roles, generalised values. The only room that knows file formats."""

from incrowd.tables.generalised import Anything, Choice, Generalised, Interval, Prefix, parse_generalised
from incrowd.tables.read import read_table
from incrowd.tables.roles import ROLES, RowKind, SuggestedRole, describe_rows, suggest_roles
from incrowd.tables.table import Table
from incrowd.tables.write import to_native, without_formula, write_into, write_table

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
    "describe_rows",
    "parse_generalised",
    "read_table",
    "suggest_roles",
    "to_native",
    "without_formula",
    "write_into",
    "write_table",
]
