"""Sparse matching: a person is a set of points, and the attacker knows a few of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends.encode import encode_each
from incrowd.backends.packed_keys import class_numbers, pack
from incrowd.curves.result import Curve
from incrowd.curves.sub_galleries import mean_and_covariance, named_among_equals, sub_gallery_sizes
from incrowd.errors import InputError
from incrowd.special import log_chance_missed
from incrowd.tables import TableLike, read_table

_CHUNK = 4096  # people in one go
_BITMAP_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """The points of each person and the holders of each point, ascending."""

    start: NDArray[np.int64]
    items: NDArray[np.int64]
    heads: NDArray[np.int64]
    holders: NDArray[np.int64]

    @property
    def people(self) -> int:
        return self.start.size - 1


def sparse_curve(
    points: TableLike,
    *,
    person: str,
    item: str | Sequence[str],
    known: int,
    draws: int = 5,
    seed: int = 0,
    at: ArrayLike | None = None,
    progress: Progress = silent,
) -> Curve:
    """Expected correctness if an attacker knows a few points of a person, drawn at random from that person's points.

    The expectation over sub-galleries is in closed form. People with fewer points than `known` are known by all of
    them.

    Args:
        points: a long table (a path, a frame or a `Table`), one row for each point.
        person: the column that identifies the person of each point.
        item: the column or columns that make a point.
        known: how many points of a person the attacker knows.
        draws: how often the known points of each person are drawn.
        seed: seed of the draws.
        at: gallery sizes; 50 log-spaced ones unless given.
        progress: callback that receives the current step and the share done.

    Returns:
        The curve, with the covariance of its points.

    Raises:
        InputError: nobody has as many points, or rows have no person.

    >>> rows = {"who": [1, 1, 2, 2, 3], "shop": ["a", "b", "a", "c", "d"]}
    >>> sparse_curve(rows, person="who", item="shop", known=2, at=[1, 3]).correctness.tolist()
    [1.0, 1.0]
    """
    if known < 1 or draws < 1:
        raise InputError(f"known and draws must be 1 or more; {known} and {draws} were given")
    index, notes = _index(points, person, [item] if isinstance(item, str) else list(item))
    have = np.diff(index.start)
    if have.max() < known:
        raise InputError(f"nobody has {known} points; the most is {have.max()}; give a smaller number of known points")
    short = int((have < known).sum())
    if short:
        have_fewer = "has" if short == 1 else "have"
        notes.append(
            f"{short:,} of {index.people:,} people {have_fewer} fewer than {known} points: all of theirs are known"
        )
    gallery = sub_gallery_sizes(at, index.people)
    others, counts = np.unique(_others(index, known, draws, seed, progress), return_counts=True)
    drawn, class_size = gallery.astype(np.float64), others[:, None].astype(np.float64) + 1.0
    chances = named_among_equals(index.people, class_size, drawn)
    chances[:, gallery == 1] = 1.0
    correctness, covariance = mean_and_covariance(chances, counts.astype(np.float64), index.people)
    alone = np.exp(log_chance_missed(index.people - 1.0, class_size - 1.0, drawn - 1.0))
    uniqueness = (counts / counts.sum()) @ alone
    if not others.any():  # everybody is unique: 1 by count, without rounding
        correctness, uniqueness = np.ones(gallery.size), np.ones(gallery.size)
    how = f"{known} known points of {index.people:,} people, {draws} draws each, seed {seed}"
    return Curve(gallery, correctness, uniqueness, "sparse", how, index.people, tuple(notes), covariance)


def _index(points: Any, person: str, items: list[str]) -> tuple[_Index, list[str]]:
    table = read_table(points)
    (who,) = encode_each(table, table.require([person], "person"))
    if who.has_null:
        raise InputError(f"column {person!r} has rows without a person; leave those rows out")
    coded = list(encode_each(table, table.require(items, "item columns")))
    empty = np.logical_and.reduce([~column.is_filled for column in coded])
    point_of_row, _ = class_numbers(pack(coded))
    people = who.codes.astype(np.int64)
    notes = []
    if empty.any():
        lost = who.size - np.unique(people[~empty]).size
        if lost:
            who_has = "1 person has" if lost == 1 else f"{lost:,} people have"
            raise InputError(f"{who_has} no points, only empty rows; leave them out of the table")
        left_out = int(empty.sum())
        rows = "1 row without a point was" if left_out == 1 else f"{left_out:,} rows without a point were"
        notes.append(f"{rows} left out")
    points_known = int(point_of_row.max()) + 1
    pairs = np.sort(people[~empty] * points_known + point_of_row[~empty])
    holder, point = np.divmod(pairs[np.concatenate([[True], np.diff(pairs) > 0])], points_known)
    return _index_of_pairs(holder, point, who.size, points_known), notes


def _index_of_pairs(holder: NDArray[np.int64], point: NDArray[np.int64], people: int, points: int) -> _Index:
    """Build the index from (person, point) pairs in ascending order."""
    start = np.concatenate([[0], np.cumsum(np.bincount(holder, minlength=people))])
    by_point = np.argsort(point, kind="stable")
    heads = np.concatenate([[0], np.cumsum(np.bincount(point, minlength=points))])
    return _Index(start, point, heads, holder[by_point])


def _others(index: _Index, known: int, draws: int, seed: int, progress: Progress) -> NDArray[np.int64]:
    """For each person and draw, count the others who hold the same points."""
    from incrowd.curves.kernels import others_with_points

    bitmap_of, bitmaps = _bitmaps(index)
    others = np.empty((index.people, draws), dtype=np.int64)

    def count_chunk(first: int) -> None:
        last = min(first + _CHUNK, index.people)
        # a generator for each chunk: the answer does not depend on which thread comes first
        rolls = np.random.default_rng([seed, first]).random((last - first, draws, known))
        others_with_points(
            index.start, index.items, index.heads, index.holders, first, rolls, bitmap_of, bitmaps, others[first:last]
        )

    with ThreadPoolExecutor(2) as pool:
        starts = range(0, index.people, _CHUNK)
        for done, _ in enumerate(pool.map(count_chunk, starts)):
            progress("comparing people", (done + 1) / len(starts))
    return others


def _bitmaps(index: _Index) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Bitmaps of the points that more than 1 in 64 people hold, for which a list is longer than a bitmap."""
    count = np.diff(index.heads)
    words = index.people // 64 + 1
    most = max(_BITMAP_BYTES // (8 * words), 1)
    # one threshold for all: if a point has a bitmap, all points with more holders have one
    threshold = np.sort(count)[-most - 1] if count.size > most else 0
    common = np.flatnonzero(count > max(words, threshold))
    bitmap_of = np.full(count.size, -1, dtype=np.int64)
    bitmap_of[common] = np.arange(common.size)
    bitmaps = np.zeros((common.size, words), dtype=np.uint64)
    for row, point in enumerate(common):
        holders = index.holders[index.heads[point] : index.heads[point + 1]]
        np.bitwise_or.at(bitmaps[row], holders // 64, np.uint64(1) << (holders % 64).astype(np.uint64))
    return bitmap_of, bitmaps
