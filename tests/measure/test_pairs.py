"""Pairs of a class and a value are counted right however many there are and however wide their numbers."""

import numpy as np
import pytest

from incrowd.measure.pairs import count_pairs


def met(classes, codes, size):
    """The frequency of pairs within every class, whatever the classes are called."""
    found = []
    for pairs, counts in count_pairs(classes, codes, size):
        number, code = np.divmod(pairs, np.uint64(size))
        _, people = np.unique(number, return_inverse=True)
        whole = np.bincount(people, weights=counts)[people]
        found.append(np.stack([whole, code, counts]))
    return np.array(sorted(np.concatenate(found, axis=1).T.tolist()))


def plain(classes, codes):
    distinct, counts = np.unique(np.stack([classes, codes.astype(np.uint64)]), axis=1, return_counts=True)
    _, people = np.unique(distinct[0], return_inverse=True)
    whole = np.bincount(people, weights=counts)[people]
    return np.array(sorted(np.stack([whole, distinct[1], counts]).T.tolist()))


@pytest.mark.parametrize("rows", [1, 1_000, 300_000])
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
