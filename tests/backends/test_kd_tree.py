import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.backends.spark.kd_tree import fit_tree, quantiles


def test_blocks_hold_about_as_many_records_each():
    points = np.random.default_rng(0).normal(size=(40_000, 3)).astype(np.float32)
    tree = fit_tree(points, np.ones(len(points), dtype=np.int64), 13)
    sizes = np.bincount(tree.blocks(points))
    assert tree.size == sizes.size == 13
    assert sizes.min() > 40_000 / 13 / 2
    assert sizes.max() < 40_000 / 13 * 2


def test_weights_count_as_records():
    points = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    tree = fit_tree(points, np.array([1, 1, 1, 9]), 2)
    assert tree.blocks(points).tolist() == [0, 0, 0, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 9))
def test_equal_records_share_a_block_and_every_block_is_known(values, blocks):
    points = np.array(values, dtype=np.float32)
    tree = fit_tree(points, np.ones(len(points), dtype=np.int64), blocks)
    found = tree.blocks(points)
    assert set(found.tolist()) == set(range(tree.size))
    for value in set(values):
        assert len({block for block, point in zip(found.tolist(), values, strict=True) if point == value}) == 1


@given(st.lists(st.integers(0, 20), min_size=2, max_size=30), st.integers(1, 15))
def test_joined_blocks_are_large_enough_and_stay_in_order(counts, least):
    points = np.arange(len(counts), dtype=np.float32)[:, None]
    tree = fit_tree(points, np.ones(len(counts), dtype=np.int64), len(counts))
    assert tree.blocks(points).tolist() == list(range(len(counts)))
    joined = tree.joined(lambda start, end: sum(counts[start:end]) >= least).blocks(points)
    assert np.all(np.diff(joined) >= 0)
    sizes = np.bincount(joined, weights=counts)
    assert sizes.min() >= min(least, sum(counts))
    assert sizes.sum() == sum(counts)


def test_a_line_is_never_cut_between_equal_values():
    values = np.repeat([1.0, 2.0, 3.0], [5, 90, 5])
    cuts = quantiles(values, np.ones(100, dtype=np.int64), 4)
    assert set(cuts.tolist()) <= {1.0, 2.0, 3.0}
    assert np.all(np.diff(cuts) > 0)
