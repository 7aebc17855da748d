"""Labels of released columns (ranges, sets and plain texts) and how far another column determines their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.determination import Determination, determination, range_determination, set_determination
from incrowd.tables import parse_generalised
from incrowd.tables.generalised import (
    Anything,
    Choice,
    Generalised,
    Interval,
    Prefix,
    Sets,
    parse_ranges,
    split_sets,
)

Reader = Callable[[NDArray[Any], NDArray[np.bool_], NDArray[Any] | None], Determination]


def label_reader(column: Coded) -> Reader:
    """Function that computes how far another column determines this one: its ranges, its sets, or its labels.

    The function takes the codes of the other column, the mask of its filled cells, and the codes of a known column
    within which ranges and sets are compared with chance (None: within the whole table). Only records that are filled
    in both columns count: in a skip pattern a missing cell tells no value.
    """
    if not column.is_text:
        return lambda codes, *_: determination(codes, column.codes)
    plain = split_sets(column.values)
    labels, is_plain_set = column.values.to_pylist(), {*plain.places.tolist()}
    parsed = [
        None if label is None or place in is_plain_set else parse_generalised(label)
        for place, label in enumerate(labels)
    ]
    tells = [label is not None and not isinstance(one, Anything) for label, one in zip(labels, parsed, strict=True)]
    is_told = np.array(tells, dtype=np.bool_)[column.codes]
    limits = None if is_plain_set else _limits(labels, parsed)
    if limits is not None:
        ranks = np.unique(np.concatenate(limits), return_inverse=True)[1]
        low, high = np.split(ranks, 2)
    has_sets = is_plain_set or any(isinstance(one, Choice) for one in parsed)
    members = _members(labels, parsed, plain) if has_sets else None

    def read(codes: NDArray[Any], filled: NDArray[np.bool_], within: NDArray[Any] | None) -> Determination:
        both = filled & is_told
        places = column.codes[both]
        within = None if within is None else within[both]
        if limits is not None:
            return range_determination(codes[both], low[places], high[places], within)
        if members is not None:
            return set_determination(codes[both], places, members, within)
        # single values do not count: they tell no more than the label, which is released
        return replace(determination(codes[both], places), told_by_value=0)

    return read


def _limits(
    labels: Sequence[str | None], parsed: Sequence[Generalised | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The limits of every label, NaN for a null and *; None if some are not ranges of numbers or dates."""
    if not any(isinstance(meaning, Interval) for meaning in parsed):
        return None
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for place, (label, meaning) in enumerate(zip(labels, parsed, strict=True)):
        if isinstance(meaning, Interval):
            low[place], high[place] = label_position(meaning.low), label_position(meaning.high)
        elif label is not None and not isinstance(meaning, Anything):
            value = None if meaning is not None else plain_position(label)
            if value is None:
                return None
            low[place] = high[place] = value
    return low, high


def range_middles(column: Coded) -> NDArray[np.float64] | None:
    """The middle of every range of a column, NaN for a null and *; None if the column does not hold ranges."""
    if not column.is_text:
        return None
    ranges, others = (pc.match_substring_regex(column.values, signs) for signs in (r"[\[(]", r"[{*]"))
    if not pc.any(ranges).as_py():
        return None
    if any(isinstance(parse_generalised(label), Choice | Prefix) for label in column.values.filter(others).to_pylist()):
        return None
    labels = column.values.to_pylist()
    limits = _limits(labels, parse_ranges(column.values, labels))
    return None if limits is None else (limits[0] + limits[1]) / 2


def label_position(value: float | date) -> float:
    """A limit of a range as a number: a date is its ordinal."""
    return float(value.toordinal()) if isinstance(value, date) else value


def plain_position(label: str) -> float | None:
    """A plain number or date as a position, None for any other text."""
    try:
        return float(label)
    except ValueError:
        try:
            return float(date.fromisoformat(label).toordinal())
        except ValueError:
            return None


def _members(
    labels: Sequence[str | None], parsed: Sequence[Generalised | None], plain: Sets
) -> list[NDArray[np.int64]]:
    """The members of every set as codes; a plain label is a set of one member, and * is a set without members."""
    numbers = {text: code for code, text in enumerate(plain.texts)}
    ends = np.cumsum(plain.sizes)
    limits = zip((ends - plain.sizes).tolist(), ends.tolist(), strict=True)
    sets = dict(zip(plain.places.tolist(), limits, strict=True))
    members = []
    for place, (label, meaning) in enumerate(zip(labels, parsed, strict=True)):
        if place in sets:
            members.append(plain.members[slice(*sets[place])])
            continue
        values = meaning.values if isinstance(meaning, Choice) else [label]
        codes = [] if isinstance(meaning, Anything) else [numbers.setdefault(value, len(numbers)) for value in values]
        members.append(np.array(codes, dtype=np.int64))
    return members
