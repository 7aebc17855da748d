"""Test whether the classes of a table come from one fixed coding of every column.

Estimates assume that a class holds everybody of the population with its values, whoever is in the sample. Ranges and
sets that were drawn around the records of each class (local recoding) are different: they are as tight as the sample
allows, so fewer people of the population fit them. Their labels overlap; those of a fixed coding do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends import encode
from incrowd.backends.arrow_columns import is_text
from incrowd.errors import UnsupportedError
from incrowd.measures.released_labels import label_position, plain_position
from incrowd.tables import Table
from incrowd.tables.generalised import Anything, Choice, Interval, Prefix, parse_ranges
from incrowd.wording import listed

_MAY_BE_GENERALISED = r"[*\])}][\s\pZ\pC]*$"
_NEARLY = 1e-9  # share of a limit by which an excluded end lies inside


def overlapping_columns(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """The columns whose ranges, sets or blanks overlap, so that no fixed coding made them.

    Raises:
        TooManyDistinctError: the table is in a cluster, and a column has too many values to be brought here.

    >>> from incrowd.tables import read_table
    >>> overlapping_columns(read_table({"age": ["[20;29]", "[25;34]"], "zip": ["{1,2}", "{3}"]}), ["age", "zip"])
    ('age',)
    """
    return tuple(name for name in names if _overlap(_labels(table, name)))


def require_fixed_coding(table: Table, names: Sequence[str]) -> None:
    """Refuse a table whose columns no fixed coding made.

    Raises:
        UnsupportedError: ranges, sets or blanks of a column overlap.
    """
    if columns := overlapping_columns(table, names):
        raise UnsupportedError(f"{describe_overlap(columns)}; so the risk in a population is not estimated from them")


def describe_overlap(columns: Sequence[str]) -> str:
    """Why the labels of these columns tell too little about the population, in words."""
    holds = "holds" if len(columns) == 1 else "hold"
    return (
        f"{listed(columns)} {holds} ranges, sets or blanks that overlap: they were made around the people of each "
        "class, and fewer people of the population fit them than the size of a class tells"
    )


def _labels(table: Table, name: str) -> pa.Array:
    (column,) = encode(table.backend.counted_rows([name]).backend, [name])
    return column.values


def _overlap(labels: pa.Array) -> bool:
    """True if some value is covered by two of the labels; False for a column of plain values."""
    if not is_text(labels.type):
        return False
    if not pc.any(pc.match_substring_regex(labels, _MAY_BE_GENERALISED)).as_py():
        return False
    texts = labels.to_pylist()
    meanings = parse_ranges(labels, texts)
    if not any(meanings):
        return False
    if any(isinstance(one, Anything) for one in meanings):
        return len(texts) > 1
    ranges: list[tuple[float, float]] = []
    members: list[str | None] = []
    prefixes: list[tuple[int, str]] = []  # length of the text, its known start
    for text, meaning in zip(texts, meanings, strict=True):
        if isinstance(meaning, Interval):
            assert text is not None
            low, high = _ends(text, meaning)
            ranges.append((low, high))
        elif isinstance(meaning, Prefix):
            prefixes.append((len(meaning.start) + meaning.hidden, meaning.start))
        else:
            members += meaning.values if isinstance(meaning, Choice) else [text]
    if ranges:
        points = [plain_position(one) for one in members if one is not None]
        ranges += [(point, point) for point in points if point is not None]
    if prefixes:
        prefixes += [(len(one), one) for one in members if one is not None]
    return len({*members}) < len(members) or _ranges_overlap(ranges) or _prefixes_overlap(prefixes)


def _ranges_overlap(ranges: Iterable[tuple[float, float]]) -> bool:
    return any(low <= high for (_, high), (low, _) in pairwise(sorted(ranges)))


def _prefixes_overlap(prefixes: Iterable[tuple[int, str]]) -> bool:
    """True if a text starts with another one of the same length; sorted, one of them then follows the other."""
    return any(
        length == of_next and follows.startswith(start)
        for (length, start), (of_next, follows) in pairwise(sorted(prefixes))
    )


def _ends(text: str, meaning: Interval) -> tuple[float, float]:
    """The ends of a range; an end that is written as excluded lies just inside."""
    low, high = plain = label_position(meaning.low), label_position(meaning.high)
    inside = [_NEARLY * max(1.0, abs(end)) if math.isfinite(end) else 0.0 for end in plain]
    text = text.strip()
    return low + inside[0] * text.startswith("("), high - inside[1] * text.endswith(")")
