"""Suggested roles of columns and rows, with reasons, for a person to confirm."""

from incrowd.tables.roles.column_role import ROLES, SuggestedRole
from incrowd.tables.roles.rows import RowKind, describe_rows, find_times
from incrowd.tables.roles.suggest import suggest_roles

__all__ = ["ROLES", "RowKind", "SuggestedRole", "describe_rows", "find_times", "suggest_roles"]
