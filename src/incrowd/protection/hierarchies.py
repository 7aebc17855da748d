"""Generalisation hierarchies: from files, from rules, or built from the data."""

from __future__ import annotations

import csv
import heapq
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.files import read_small_text
from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.interval_labels import (
    MOST_PARTS,
    Labels,
    OpenEndedLabels,
    ValueLabels,
    calendar,
    cut_parts,
    grid,
    label_groups,
    quantile_parts,
    round_widths,
    widen,
)
from incrowd.protection.recoding import labels_of_codes
from incrowd.tables.code_systems import recognise_codes
from incrowd.tables.released_values import ANYTHING, as_text, as_written
from incrowd.wording import counted


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One level of a hierarchy over a column: the group of every value, and the label of every group.

    With `from_values`, labels are sets or ranges of the column's own values. With `open_ended`, they are ranges, of
    which the first hides the smallest value of the column and the last hides the largest.
    """

    groups: NDArray[np.uint32]
    labels: Labels
    from_values: bool = False
    open_ended: bool = False

    @classmethod
    def of(cls, labels: Labels) -> Level:
        """Make a level from the label of every value."""
        distinct: dict[str | None, int] = {}
        groups = np.array([distinct.setdefault(label, len(distinct)) for label in labels], dtype=np.uint32)
        return cls(groups, list(distinct), *(isinstance(labels, kind) for kind in (ValueLabels, OpenEndedLabels)))

    def by_value(self) -> Labels:
        """The label of every value, in the class of labels that the level was made from."""
        kind = OpenEndedLabels if self.open_ended else ValueLabels if self.from_values else list
        return kind(self.labels[group] for group in self.groups)

    def tally(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of rows in each group, from the number of rows with each value."""
        return np.bincount(self.groups, weights=rows).astype(np.int64)

    def without_lost_values(self, column: Coded, is_kept: NDArray[np.bool_]) -> Level:
        """The level with labels rebuilt from the values of kept rows only; groups and fixed labels do not change."""
        if not self.from_values or is_kept.all() or not is_kept.any():
            return self
        kept = np.flatnonzero(is_kept)
        kept = kept[np.argsort(self.groups[kept], kind="stable")]
        present, starts = np.unique(self.groups[kept], return_index=True)
        # a group without kept values has no cell, so its label is never shown
        labels: Labels = [ANYTHING] * len(self.labels)
        for group, label in zip(present.tolist(), labels_of_codes(column, kept, starts), strict=True):
            too_large = self.labels[group] == ANYTHING and not column.has_distances
            labels[group] = ANYTHING if too_large else label
        filled = kept[kept < column.filled_size]
        for group in {self.groups[filled.min()], self.groups[filled.max()]} if self.open_ended and filled.size else ():
            ends = (group == self.groups[filled.min()], group == self.groups[filled.max()])
            labels[group] = widen(column, labels[group], *ends)
        return replace(self, labels=labels)

    @property
    def covered(self) -> NDArray[np.int64]:
        """Number of values that the label of every value covers."""
        return np.bincount(self.groups)[self.groups]


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Levels by which the values of a column become coarser; the last level is always `*`.

    Make one with `Hierarchy.from_csv`, `.intervals`, `.cuts`, `.prefixes`, `.dates` or `.automatic`.
    """

    name: str
    rule: Callable[[Coded], list[Labels]]

    def levels(self, column: Coded) -> list[Level]:
        """The levels of a column, the finest first: its values themselves, every coarser level, then `*`."""
        plain: Labels = as_written(column.values).to_pylist()
        coarser = [labels for labels in self.rule(column) if set(labels) - {None} != {ANYTHING}]
        everything: Labels = [ANYTHING] * column.size
        levels = [Level.of(labels) for labels in [plain, *coarser, everything]]
        for height, (finer, wider) in enumerate(pairwise(levels)):
            if np.unique(np.stack([finer.groups, wider.groups]), axis=1).shape[1] > len(finer.labels):
                raise InputError(
                    f"the hierarchy for {column.name!r} splits a group on its way up: values that share a label at "
                    f"level {height} have different labels at level {height + 1}; give every label one parent, by "
                    "widths that divide each other (5,10,20), or by cut points that the level before has too"
                )
        return levels

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], *, separator: str = ";") -> Hierarchy:
        """Read a file in ARX's layout: a value, then its label at each coarser level, `value;level 1;level 2;…`.

        Args:
            path: the file, in UTF-8.
            separator: the character between the cells of a line.

        Raises:
            InputError: the file cannot be read, or its lines differ in length.
        """
        try:
            lines = [line for line in csv.reader(read_small_text(path), delimiter=separator) if line]
        except OSError as error:
            rules = "5,10,20 for widths, cuts:18,65, prefix:5,3,1, quantiles:10, dates, places and auto"
            why = f"{error.strerror or error}; what is no file is a rule: {rules}"
            raise InputError(f"the hierarchy {os.fspath(path)} cannot be read: {why}") from None
        except (ValueError, csv.Error) as error:  # no UTF-8, or a zero byte in the path
            raise InputError(f"the hierarchy {os.fspath(path)} cannot be read: {error}") from None
        return cls.from_rows(lines, name=os.path.basename(os.fspath(path)))

    @classmethod
    def from_rows(cls, lines: Sequence[Sequence[str]], *, name: str = "hierarchy") -> Hierarchy:
        """Make a hierarchy from rows: each is a value and its label at each coarser level."""
        if not lines or len({len(line) for line in lines}) != 1 or len(lines[0]) < 2:
            raise InputError(f"{name}: every line needs a value and the same number of labels, at least one")
        distinct = {tuple(cell.strip() for cell in line) for line in lines}
        parents = {value: labels for value, *labels in distinct}
        if twice := len(distinct) - len(parents):
            raise InputError(
                f"{name} lists {counted(twice, 'value', 'values')} twice, with different labels; keep one line of each"
            )

        def rule(column: Coded) -> list[Labels]:
            values = as_text(column.values).to_pylist()
            missing = sum(value is not None and value not in parents for value in values)
            if missing:
                raise InputError(
                    f"{name} misses {missing:,} of the {len(values):,} values of {column.name!r}; add them"
                )
            depth = len(lines[0]) - 1
            return [[None if value is None else parents[value][level] for value in values] for level in range(depth)]

        return cls(name, rule)

    @classmethod
    def parse(cls, text: str | os.PathLike[str]) -> Hierarchy:
        """Make a hierarchy from a short text: a rule with its numbers, or the path of a file in ARX's layout.

        Args:
            text: "5,10,20" for intervals of these widths, "cuts:18,30,65/30" for ranges that begin at cut points, with
                fewer of them at every level, "prefix:5,3,1" for first characters, "quantiles:10" for groups of equally
                many records, halved at every level, "dates", "places" for codes such as ICD or NUTS, "auto", or a path.

        Raises:
            InputError: the numbers of a rule make no sense, or the file cannot be read.

        >>> Hierarchy.parse("5,10,20").name, Hierarchy.parse("prefix:3,1").name, Hierarchy.parse("quantiles:10").name
        ('intervals', 'prefixes', 'quantiles')
        """
        rule, colon, numbers = os.fspath(text).strip().partition(":")
        if rule in ("dates", "places", "auto") and not colon:
            return {"dates": cls.dates, "places": cls.places, "auto": cls.automatic}[rule]()
        if colon and rule == "cuts":
            return cls.cuts([_read_points(level) for level in numbers.split("/")])
        if colon and rule in ("prefix", "quantiles"):
            counts = _read_numbers(numbers)
            if counts is None or not all(1 <= count < math.inf and count == int(count) for count in counts):
                raise InputError(f"{text!r} needs whole numbers of 1 or more: prefix:5,3,1 or quantiles:10")
            whole = [int(count) for count in counts]
            return cls.prefixes(sorted(whole, reverse=True)) if rule == "prefix" else cls.quantiles(max(whole))
        widths = _read_numbers(os.fspath(text))
        if widths is None:
            return cls.from_csv(text)
        if not all(0 < width < math.inf for width in widths):
            raise InputError(
                f"intervals of width {text}; every width must be above 0 and finite: 5,10,20", hint="hierarchies"
            )
        return cls.intervals(sorted(widths))

    @classmethod
    def intervals(cls, widths: Sequence[float], *, origin: float = 0.0) -> Hierarchy:
        """Group numbers by intervals of each width from the origin: widths 5, 10 make 23 become [20;24], [20;29]."""
        return cls("intervals", lambda column: [grid(column, width, origin) for width in widths])

    @classmethod
    def cuts(cls, levels: Sequence[Sequence[float | date]]) -> Hierarchy:
        """Group numbers or dates between cut points, level by level: cuts at 18 and 65 make 23 become [18;64].

        Every point begins a range. The points of a level must be among those of the level before.
        """
        return cls("cuts", lambda column: [cut_parts(column, points) for points in levels])

    @classmethod
    def prefixes(cls, keep: Sequence[int]) -> Hierarchy:
        """Group codes by their first characters: with `keep` 3, 2 the code 93722 becomes 937**, 93***."""
        return cls("prefixes", lambda column: [prefix_labels(column, length) for length in keep])

    @classmethod
    def places(cls) -> Hierarchy:
        """Group hierarchical codes: ICD, NACE, NUTS, ISCO, FIPS and postcodes as they are defined, others by prefixes.

        Codes of a known system become its coarser codes. For other codes, each level hides one more character.
        """
        return cls("places", _coarser_codes)

    @classmethod
    def dates(cls) -> Hierarchy:
        """Group dates by month, quarter, year and decade, as intervals."""
        return cls("dates", lambda column: [calendar(column, months) for months in (1, 3, 12, 120)])

    @classmethod
    def quantiles(cls, groups: int) -> Hierarchy:
        """Group numbers into `groups` ranges of about equally many records, then into half as many, down to two."""
        if not 1 <= groups <= MOST_PARTS:
            raise InputError(f"quantiles of {groups:,} groups; give 1 to {MOST_PARTS:,}")
        group_sizes = [2**level for level in range(groups.bit_length()) if 2**level < groups]
        return cls("quantiles", lambda column: [quantile_parts(column, groups, size) for size in group_sizes])

    @classmethod
    def automatic(cls) -> Hierarchy:
        """Build a hierarchy from the data: round intervals for numbers, months to decades for dates, prefixes for
        codes, and sets of rare values for other text."""
        return cls("automatic", _automatic)


def covered_by_labels(
    levels: Sequence[Level], is_kept: NDArray[np.bool_] | None = None
) -> dict[str, NDArray[np.int64]]:
    """For every label, the dictionary codes of the values that have it at any level.

    With `is_kept`, only values of kept rows.
    """
    codes_of: dict[str, set[int]] = {}
    for level in levels:
        codes = np.arange(level.groups.size) if is_kept is None else np.flatnonzero(is_kept)
        for code, group in zip(codes.tolist(), level.groups[codes].tolist(), strict=True):
            label = level.labels[group]
            if label is not None:
                codes_of.setdefault(label, set()).add(code)
    return {label: np.array(sorted(codes), dtype=np.int64) for label, codes in codes_of.items()}


def prefix_labels(column: Coded, keep: int) -> Labels:
    """Hide all but the first `keep` characters of codes; shorter codes do not change."""
    if column.has_distances and not pa.types.is_integer(column.values.type):
        raise InputError(
            f"the first characters of {column.name!r}, which holds {column.values.type}; use intervals or dates for it"
        )
    text, plain = as_text(column.values).to_pylist(), as_written(column.values).to_pylist()
    return [
        value[:keep] + ANYTHING * (len(value) - keep) if value is not None and len(value) > keep else written
        for value, written in zip(text, plain, strict=True)
    ]


def _coarser_codes(column: Coded) -> list[Labels]:
    values = as_text(column.values).to_pylist()
    system = recognise_codes(column.name, (value for value in values if value is not None))
    if system is not None:
        coarser = [None if value is None else system.coarser(value) for value in values]
        depth = next(len(codes) for codes in coarser if codes is not None)
        return [[None if codes is None else codes[level] for codes in coarser] for level in range(depth)]
    longest = pc.max(pc.utf8_length(as_text(column.values))).as_py() or 1
    return [prefix_labels(column, length) for length in range(longest - 1, 0, -1)]


def _read_numbers(text: str) -> list[float] | None:
    """Numbers separated by commas; None for any other text."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def _read_points(text: str) -> list[float | date]:
    """Cut points separated by commas: finite numbers, or dates."""
    points: list[float | date] = []
    for part in text.split(","):
        try:
            points.append(date.fromisoformat(part.strip()) if part.strip()[1:].count("-") else float(part))
        except ValueError:
            raise InputError(f"{text!r} are no cut points: cuts:18,30,65 or cuts:1980-01-01,2000-01-01") from None
    if not all(isinstance(point, date) or math.isfinite(point) for point in points):
        raise InputError(f"{text!r} are no cut points; give finite numbers")
    return points


def _automatic(column: Coded) -> list[Labels]:
    if pa.types.is_temporal(column.values.type) and not pa.types.is_time(column.values.type):
        return Hierarchy.dates().rule(column)
    if column.scale == "place":
        return _coarser_codes(column)
    if column.has_distances:
        return [grid(column, width, 0.0) for width in round_widths(column)]
    length = _code_length(column)
    return Hierarchy.prefixes(range(length - 1, 0, -1)).rule(column) if length else _rarest_together(column)


def is_category(column: Coded) -> bool:
    """True if the values of a column have no distances and no prefixes that show which values are similar."""
    return not (column.has_distances or column.scale == "place" or _code_length(column))


def _code_length(column: Coded) -> int:
    """Number of digits in every value; 0 if the values are not codes of equal length."""
    values = [value for value in as_text(column.values).to_pylist() if value is not None]
    length = len(values[0]) if values else 0
    are_codes = length > 2 and len(values) > 10 and all(value.isdigit() and len(value) == length for value in values)
    return length if are_codes else 0


def _rarest_together(column: Coded) -> list[Labels]:
    """Halve the number of groups at each level by joining the rarest ones, so common values stay single longest."""
    tally = column.tally
    groups = [(int(tally[code]), [code]) for code in range(column.size)]
    heapq.heapify(groups)
    levels: list[Labels] = []
    while len(groups) > 3:
        wanted = (len(groups) + 1) // 2
        while len(groups) > wanted:
            first, second = heapq.heappop(groups), groups[0]
            heapq.heapreplace(groups, (first[0] + second[0], sorted(first[1] + second[1])))
        levels.append(label_groups(column, [codes for _, codes in groups]))
    return levels
