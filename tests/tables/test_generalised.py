"""Ranges, sets, prefixes and wildcards."""

import time
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.tables import Anything, Choice, Interval, Prefix, parse_generalised
from incrowd.tables.generalised import parse_ranges, split_sets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[24;28]", Interval(24, 28)),
        ("[24-28]", Interval(24, 28)),
        ("[-5--2]", Interval(-5, -2)),
        ("[1.5;2.25]", Interval(1.5, 2.25)),
        ("[80-85+]", Interval(80, 85)),
        ("[2001-01-01;2001-12-31]", Interval(date(2001, 1, 1), date(2001, 12, 31))),
        ("{White,Black}", Choice(frozenset({"White", "Black"}))),
        ("{White, Black}", Choice(frozenset({"White", "Black"}))),
        ("937**", Prefix("937", 2)),
        ("*", Anything()),
        ("*****", Anything()),
    ],
)
def test_generalised_values_are_understood(text, expected):
    assert parse_generalised(text) == expected


@pytest.mark.parametrize(
    "text", ["White", "24", "", "[28;24]", "[a;b]", "2001-01-01", "[2001-13-01;2001-14-01]", "a*b"]
)
def test_plain_values_are_not(text):
    assert parse_generalised(text) is None


def test_what_a_value_covers():
    assert parse_generalised("937**").covers("93722")
    assert not parse_generalised("937**").covers("9372")
    assert parse_generalised("[24;28]").covers(24)
    assert not parse_generalised("[24;28]").covers(29)
    assert parse_generalised("{a,b}").covers("b")
    assert parse_generalised("*").covers(object())


@given(st.lists(st.text("ab ,{}\"'*;[]1\u00a0\n", max_size=8).map(lambda inside: f"{{{inside}}}"), max_size=12))
def test_sets_that_are_split_all_at_once_are_those_that_are_parsed(labels):
    found = split_sets(pa.array([*labels, None, "[1;2]", "a"], pa.string()))
    ends = np.cumsum(found.sizes)
    for place, start, end in zip(found.places, ends - found.sizes, ends, strict=True):
        members = [found.texts[number] for number in found.members[start:end]]
        assert len({*members}) == len(members)
        assert parse_generalised(labels[place]) == Choice(frozenset(members))
    plain = [n for n, label in enumerate(labels) if not {*' "\u00a0\n'} & {*label}]
    assert {*plain} <= {*found.places.tolist()}


@pytest.mark.parametrize(
    "cell", ["{" + " " * 100_000 + '"}', "{" + '"a" ' * 50_000 + "}", "[1" + " " * 100_000 + "2", "{" + '"",' * 50_000]
)
def test_a_cell_of_many_blanks_is_read_at_once(cell):
    started = time.process_time()
    parse_generalised(cell)
    assert time.process_time() - started < 2


def test_all_labels_are_read_as_each_of_them_is():
    labels = ["[24;28]", "[28;24]", "[-1.5;0.25]", " [1;2] ", "[1e3;2e3]", "(1;2)", "[1;*]", "[2020-01-01;2020-02-01]"]
    labels += ["{a,b}", "937**", "*", "[1;2]x", "White", "", "٣", "[٣;٤]", "[0000000000000001;2]", None]
    assert parse_ranges(pa.array(labels), labels) == [
        None if label is None else parse_generalised(label) for label in labels
    ]
