"""Cell suppression with blanks as wildcards, counted pair by pair in plain Python."""

import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.brute_force import fewest_matching
from tests.protection.plain import TABLES

from incrowd import InputError, UnsupportedError, protect, read_table
from incrowd.backends import encode
from incrowd.protection import kernels_wildcards, write_protected
from incrowd.protection.wildcards import count_matches

NAMES = ["a", "b", "c"]
CELL = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=6, max_size=24).filter(
    lambda rows: all(any(row[at] is not None for row in rows) for at in range(3))
)


def matches(rows, columns):
    """For every row the rows that may be the same person's, a None being anything."""

    def match(one, other):
        return all(one[c] is None or other[c] is None or one[c] == other[c] for c in columns)

    return [sum(match(one, other) for other in rows) for one in rows]


def table_of(rows):
    return pa.table({name: pa.array([row[at] for row in rows], pa.int8()) for at, name in enumerate(NAMES)})


def blanked(rows, k, **options):
    options = {"method": "blank", "wildcards": True, "identifiers": [], "warn": False} | options
    return protect(table_of(rows), quasi_identifiers=NAMES, k=k, **options)


@settings(max_examples=TABLES)
@given(ROWS, st.sampled_from([None, 1, 2, 3]))
def test_matches_are_counted_as_pair_by_pair(rows, subsets):
    found = count_matches(encode(read_table(table_of(rows)), NAMES), subsets).tolist()
    each = [matches(rows, columns) for columns in itertools.combinations(range(3), subsets or 3)]
    assert found == [min(counts) for counts in zip(*each, strict=True)]


def test_keys_of_several_words_are_compared_whole():
    draw = random.Random(8)
    rows = [tuple(draw.choice([None, number, number % 7]) for _ in range(9)) for number in range(160)]
    table = {f"c{at}": [row[at] for row in rows] for at in range(9)}
    assert count_matches(encode(read_table(table), list(table))).tolist() == matches(rows, range(9))


def match_pairs(cells):
    """How many rows every row matches, a negative cell being anything."""
    one, other = cells[:, None], cells[None]
    return ((one == other) | (one < 0) | (other < 0)).all(axis=2).sum(axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_shown_again_as_by_trying_one_after_the_other(seed):
    draw, k = np.random.default_rng(seed), 4
    values = np.stack([draw.integers(0, 3, 130), draw.zipf(1.5, 130) % 60, draw.integers(0, 90, 130)], axis=1)
    cells = np.where(draw.random(values.shape) < [0.3, 0.5, 0.9], -1, values)
    listed = draw.permutation(np.argwhere(cells < 0))
    plain = cells.copy()
    for row, place in listed.tolist():
        before = match_pairs(plain)
        plain[row, place] = values[row, place]
        if before[row] < k or (match_pairs(plain) < np.minimum(k, before)).any():
            plain[row, place] = -1
    kernels_wildcards.give_back(cells, values, values.max(axis=0) + 1, *listed.T.copy(), k)
    assert cells.tolist() == plain.tolist()


@settings(max_examples=TABLES)
@given(ROWS, st.integers(2, 4), st.sampled_from([None, 1, 2]), st.sampled_from([(), ("a",)]))
def test_everybody_matches_k_where_a_blank_may_be_anything(rows, k, subsets, keep):
    try:
        safe = blanked(rows, k, subsets=subsets, keep=list(keep), suppress=0.9)
    except UnsupportedError:
        assert keep
        return
    kept = range(len(rows)) if safe.kept_rows is None else safe.kept_rows.tolist()
    after = [tuple(row[name] for name in NAMES) for row in safe.table.to_pylist()]
    for columns in itertools.combinations(range(3), subsets or 3):
        assert min(matches(after, columns)) >= k
    assert safe.guarantee.k == min(min(matches(after, c)) for c in itertools.combinations(range(3), subsets or 3))
    for at, name in enumerate(NAMES):
        pairs = [(rows[place][at], row[at]) for place, row in zip(kept, after, strict=True)]
        assert all(now is None or now == was for was, now in pairs)
        assert sum(now is None and was is not None for was, now in pairs) == safe.changed_cells[name]
    assert not keep or safe.changed_cells["a"] == 0


def test_hardly_more_cells_are_blanked_than_the_fewest_there_are():
    draw = random.Random(5)
    mine = least = 0
    for _ in range(20):
        rows = [(draw.randrange(3), draw.randrange(3), draw.randrange(2)) for _ in range(5)]
        found, needed = sum(blanked(rows, 2).changed_cells.values()), fewest_matching(rows, 2)
        assert found >= needed
        mine, least = mine + found, least + needed
    assert mine <= 1.25 * least


def test_fewer_cells_are_blanked_than_where_a_blank_is_a_value():
    draw = random.Random(6)
    rows = [(draw.randrange(9), draw.randrange(4), draw.randrange(4)) for _ in range(80)]
    wild, plain = (sum(blanked(rows, 3, wildcards=how).changed_cells.values()) for how in (True, None))
    assert wild < 0.7 * plain


def test_importance_and_the_written_file(tmp_path):
    rows = [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1)]
    for important, other in (("a", "b"), ("b", "a")):
        safe = blanked(rows, 2, importance={important: 5})
        assert safe.changed_cells[important] == 0
        assert safe.changed_cells[other] > 0
    assert (
        safe.guarantee.sentence == "everybody shares their values with at least 1 other, where a blank may be any value"
    )
    write_protected(safe, tmp_path / "safe.csv")
    assert read_table(tmp_path / "safe.csv").rows == 4


def test_large_tables_are_worked_on_in_blocks(monkeypatch):
    from incrowd.protection import wildcards

    monkeypatch.setattr(wildcards, "_MOST_WORK", 100)
    monkeypatch.setattr(wildcards, "_SMALLEST_BLOCK", 10)
    draw = random.Random(7)
    for _ in range(20):
        rows = [(draw.randrange(9), draw.randrange(4), draw.randrange(4)) for _ in range(60)]
        after = [tuple(row.values()) for row in blanked(rows, 3).table.to_pylist()]
        assert min(matches(after, range(3))) >= 3


def test_what_cannot_be_asked_of_wildcards_is_refused():
    rows = [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1)]
    with pytest.raises(UnsupportedError, match="no classes for l, t, beta and delta"):
        protect(table_of(rows), quasi_identifiers=["a", "b"], k=2, l=2, sensitive=["c"], method="blank", wildcards=True)
    with pytest.raises(InputError, match="ask for both"):
        blanked(rows, 2, wildcards=False, subsets=2)
    with pytest.raises(InputError, match="1 or more"):
        blanked(rows, 2, subsets=0)
    with pytest.raises(InputError, match="does not take subsets, wildcards"):
        blanked(rows, 2, method="partition", subsets=2)
    wide = {f"c{number}": [1, 2, 1, 2] for number in range(20)}
    with pytest.raises(UnsupportedError, match="too many sets"):
        protect(wide, quasi_identifiers=list(wide), k=2, method="blank", wildcards=True, identifiers=[])
