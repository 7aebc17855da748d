"""Columns beside the quasi-identifiers: what they would give away."""

import numpy as np

from incrowd import measure, read_table
from incrowd.measures import count_with_auxiliary
from incrowd.measures.auxiliary import determines


def test_knowing_more_is_measuring_with_more_columns():
    generator = np.random.default_rng(0)
    table = {name: generator.integers(0, 5, 300) for name in ("a", "b", "c")}
    found = count_with_auxiliary(read_table(table), ["a"], ["b", "c"])
    facts = measure(table, quasi_identifiers=["a", "b", "c"])
    assert (found.k, found.uniques) == (facts.k, facts.uniques)


def test_a_column_determines_another_only_where_chance_would_have_shown_otherwise():
    generator = np.random.default_rng(0)
    fine = generator.integers(0, 20, 500)
    assert determines(fine, fine // 4)
    assert not determines(fine // 4, fine)
    assert not determines(fine, generator.integers(0, 2, 500))
    assert not determines(np.arange(500), fine)  # every value once: nothing is shown
    assert not determines(fine, np.zeros(500, dtype=np.int64))  # the same everywhere: nothing to tell
