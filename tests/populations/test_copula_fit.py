"""Correlation matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from incrowd.populations.copula_fit import _count_pairs, correlation_of_vine, group_values, nearest_correlation
from incrowd.populations.information import information_of_counts, observed_information
from incrowd.populations.marginals import CodedColumns


@pytest.mark.paper("synthetic-estimator", "B (a) 2.d")
def test_the_nearest_correlation_matrix_is_the_published_one():
    # Higham 2002, the example of section 4
    found = nearest_correlation(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))
    assert found == pytest.approx(np.array([[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]), abs=2e-4)


def test_a_correlation_matrix_is_left_as_it_is():
    matrix = np.array([[1.0, 0.3], [0.3, 1.0]])
    assert np.array_equal(nearest_correlation(matrix), matrix)


@given(arrays(np.float64, (5, 5), elements=st.floats(0, 0.99)))
@pytest.mark.paper("synthetic-estimator", "B (a) 2.d")
def test_any_table_of_pairs_becomes_a_correlation_matrix(pairs):
    matrix = np.triu(pairs, 1)
    found = nearest_correlation(matrix + matrix.T + np.eye(5))
    assert np.diag(found) == pytest.approx(np.ones(5))
    assert np.linalg.eigvalsh(found)[0] > 0


@given(arrays(np.float64, (5, 5), elements=st.floats(0, 0.95)))
@pytest.mark.paper("synthetic-estimator", "B (b) 2.b", "B (b) 3")
def test_partial_correlations_given_those_between_come_back(partial):
    full = correlation_of_vine(partial := np.triu(partial, 1) + np.triu(partial, 1).T + np.eye(5))
    for i in range(5):
        for j in range(i + 1, 5):
            precision = np.linalg.inv(full[i : j + 1, i : j + 1])
            back = -precision[0, -1] / np.sqrt(precision[0, 0] * precision[-1, -1])
            assert back == pytest.approx(partial[i, j], abs=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 300), st.booleans())
def test_information_of_counted_groups_is_that_of_their_codes(seed, rows, counted):
    draw = np.random.default_rng(seed)
    codes = np.stack([np.unique(draw.integers(0, 40, rows), return_inverse=True)[1] for _ in range(2)]).astype(np.int64)
    times = draw.integers(1, 4, rows) if counted else None
    columns = CodedColumns(codes, tuple(int(one.max()) + 1 for one in codes), times)
    one, other = groups = group_values(columns, 7)
    counts = [np.bincount(group, weights=columns.counts(j)).astype(np.int64) for j, group in enumerate(groups)]
    found = information_of_counts(_count_pairs(columns, (0, 1), groups), *counts)
    assert found == observed_information(one[codes[0]], other[codes[1]], times=times)
