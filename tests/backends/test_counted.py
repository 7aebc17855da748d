"""Rows that stand for others say the same as the rows themselves."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import read_table
from incrowd.backends import CountedRows, encode
from incrowd.backends.base import ArrowRows
from incrowd.classes import assign_classes, classes_of_counted
from incrowd.measures import measure_diversity
from incrowd.populations.copula_fit import fit_dvine, pair_correlations
from incrowd.populations.information import observed_information
from incrowd.populations.marginals import CodedColumns

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=40)


def both(rows):
    """The rows, and the distinct ones with how often each occurs."""
    every = pa.table({name: [row[place] for row in rows] for place, name in enumerate(("a", "b", "secret"))})
    distinct = every.group_by(every.column_names).aggregate([([], "count_all")])
    return read_table(every), CountedRows(
        ArrowRows(distinct.drop_columns("count_all")), distinct["count_all"].to_numpy()
    )


@given(ROWS)
def test_classes_and_what_they_give_away(rows):
    table, counted = both(rows)
    here, there = assign_classes(table, ["a", "b"]), classes_of_counted(counted, ["a", "b"])
    assert there.sizes == here.sizes
    assert counted.total == table.rows
    (secret,), (once,) = encode(table, ["secret"]), encode(counted.backend, ["secret"])
    assert measure_diversity(there.numbers, once, there.times) == measure_diversity(here.numbers, secret)


@given(ROWS)
def test_information_of_pairs(rows):
    table, counted = both(rows)
    here = [column.codes.astype(np.int64) for column in encode(table, ["a", "b", "secret"])]
    there = [column.codes.astype(np.int64) for column in encode(counted.backend, ["a", "b", "secret"])]
    assert observed_information(*there[:2], times=counted.times) == pytest.approx(observed_information(*here[:2]))
    assert observed_information(*there, counted.times) == pytest.approx(observed_information(*here))


def test_copulas_are_fitted_alike():
    generator = np.random.default_rng(1)
    base = generator.normal(size=3_000)
    codes = np.stack([np.digitize(base + generator.normal(size=3_000), [-1, 0, 1]) for _ in range(3)])
    distinct, times = np.unique(codes, axis=1, return_counts=True)
    here, there = CodedColumns(codes, (4, 4, 4)), CodedColumns(distinct, (4, 4, 4), times)
    assert there.people == here.people
    assert pair_correlations(there) == pytest.approx(pair_correlations(here))
    pairs = pair_correlations(here)
    assert fit_dvine(there, pairs)[1] == pytest.approx(fit_dvine(here, pairs)[1])
