"""Pairs of a class and a value are counted right however many there are and however wide their numbers."""

from itertools import pairwise

import numpy as np
import pytest

from incrowd.backends import partition_keys
from incrowd.measures.class_values import count_class_values


def met(classes, codes, size):
    """How many are in the class, the code, and how many have it there, for every pair, in order."""
    found = []
    for pairs, counts in count_class_values(classes, codes, size):
        number, code = np.divmod(pairs, np.uint64(size))
        found.append(told(np.unique(number, return_inverse=True)[1], code, counts))
    return in_order(np.concatenate(found, axis=1))


def plain(classes, codes):
    numbers = np.unique(classes, return_inverse=True)[1]
    distinct, counts = np.unique(numbers * 1_000 + codes, return_counts=True)
    return in_order(told(distinct // 1_000, distinct % 1_000, counts))


def told(number, code, counts):
    whole = np.bincount(number, weights=counts).astype(np.int64)[number]
    return np.stack([whole, code.astype(np.int64), counts])


def in_order(rows):
    return rows[:, np.lexsort(rows)]


@pytest.mark.parametrize("rows", [1, 1_000, 270_000])
@pytest.mark.parametrize("highest", [1, 40_000, 2**64])
def test_pairs_are_those_of_a_plain_count(rows, highest):
    """The widest do not fit into 64 bits with a code; the many are dealt out."""
    generator = np.random.default_rng(1)
    drawn = generator.integers(0, highest, max(1, rows // 3), dtype=np.uint64)
    classes = drawn[generator.integers(0, drawn.size, rows)]
    codes = generator.integers(0, 1_000, rows).astype(np.uint16)
    given = classes.copy(), codes.copy()
    assert np.array_equal(met(classes, codes, 1_000), plain(classes, codes))
    assert np.array_equal(classes, given[0])
    assert np.array_equal(codes, given[1]), "what is asked with is not changed"


def test_records_whose_keys_nearly_all_begin_alike_are_dealt_out_too():
    generator = np.random.default_rng(1)
    classes = np.append(generator.integers(0, 2**40, 600_000, dtype=np.uint64), np.uint64(2**48))
    codes = generator.integers(0, 1_000, classes.size).astype(np.uint16)
    parts = partition_keys(classes, codes)
    assert max(keys.size for keys, _ in parts) < classes.size / 2
    assert all(before[0].max() < after[0].min() for before, after in pairwise(parts))
    assert np.array_equal(met(classes, codes, 1_000), plain(classes, codes))
