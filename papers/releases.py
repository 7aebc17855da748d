"""Releases in a fixed order: `protect` shuffles people and their records by chance that nobody can repeat."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def in_fixed_order(release: pa.Table, person: str) -> pa.Table:
    """The same people ordered by their records, and each person's records by their values; p00000, p00001 … by name.

    >>> first = pa.table({"who": ["x", "y", "x"], "age": ["40", "30", "20"]})
    >>> second = pa.table({"who": ["b", "a", "a"], "age": ["30", "20", "40"]})
    >>> in_fixed_order(first, "who").equals(in_fixed_order(second, "who"))
    True
    """
    records: dict[Any, list[tuple[str, ...]]] = {}
    rows = release.to_pylist()
    names = [name for name in release.column_names if name != person]
    for row in rows:
        records.setdefault(row[person], []).append(tuple(str(row[name]) for name in names))
    histories = sorted(sorted(history) for history in records.values())
    owner = [f"p{number:05}" for number, history in enumerate(histories) for _ in history]
    values = [record for history in histories for record in history]
    columns = {name: [record[place] for record in values] for place, name in enumerate(names)}
    return pa.table({person: owner, **columns})
