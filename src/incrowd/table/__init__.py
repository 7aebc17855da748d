"""Tables: reading, writing, column roles, generalised values. The only room that knows file formats."""

from incrowd.table.generalised import Anything, Choice, Generalised, Interval, Prefix, parse_generalised
from incrowd.table.read import read_table
from incrowd.table.roles import ROLES, SuggestedRole, suggest_roles
from incrowd.table.table import Table
from incrowd.table.write import to_native, without_formula, write_into, write_table

__all__ = [
    "ROLES",
    "Anything",
    "Choice",
    "Generalised",
    "Interval",
    "Prefix",
    "SuggestedRole",
    "Table",
    "parse_generalised",
    "read_table",
    "suggest_roles",
    "to_native",
    "without_formula",
    "write_into",
    "write_table",
]
