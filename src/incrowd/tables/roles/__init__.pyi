"""The public names of the room."""

from incrowd.tables.roles.column_role import ANSWERS as ANSWERS
from incrowd.tables.roles.column_role import ROLES as ROLES
from incrowd.tables.roles.column_role import SuggestedRole as SuggestedRole
from incrowd.tables.roles.rows import RowKind as RowKind
from incrowd.tables.roles.rows import describe_rows as describe_rows
from incrowd.tables.roles.rows import find_times as find_times
from incrowd.tables.roles.suggest import suggest_roles as suggest_roles
