"""Precision and recall of suggested roles against labels."""

import tomllib
from collections import Counter
from pathlib import Path

from incrowd import suggest_roles


def read_labels():
    """By table: its half, and the roles that are right for each column."""
    listed = tomllib.loads(Path(__file__).with_name("role_labels.toml").read_text(encoding="utf-8"))
    return {
        table: (
            entries.pop("split"),
            {column: set(roles.split(" or ")) for roles, columns in entries.items() for column in columns.split()},
        )
        for table, entries in listed.items()
    }


def read_names():
    """By file: the roles that are right for each column, for files of which only the names are known."""
    listed = tomllib.loads(Path(__file__).with_name("role_names.toml").read_text(encoding="utf-8"))
    return {
        file: {column: set(roles.split(" or ")) for roles, columns in entries.items() for column in columns.split()}
        for file, entries in listed.items()
    }


def count_matches(table, labels):
    """How often each role was suggested, rightly suggested, due, and found where it was due; and what went wrong.

    A column with several right roles is due for none of them.
    """
    counts, wrong = Counter(), []
    for one in suggest_roles(table):
        right = labels[one.column]
        counts["suggested", one.role] += 1
        counts["right", one.role] += one.role in right
        if len(right) == 1:
            (due,) = right
            counts["due", due] += 1
            counts["found", due] += one.role == due
        if one.role not in right:
            wrong.append(f"{one.column}: {one.role}, not {' or '.join(sorted(right))} ({one.reason})")
    return counts, wrong


def precision(counts, role):
    return counts["right", role] / max(counts["suggested", role], 1)


def recall(counts, role):
    return counts["found", role] / counts["due", role] if counts["due", role] else 1.0
