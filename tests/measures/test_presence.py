"""A table against its population."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError
from incrowd.measures import measure_presence

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b"])), min_size=1, max_size=12)


@given(ROWS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_k_map_and_presence_are_those_of_brute_force(population, drawn):
    sample = [row for row, taken in zip(population, drawn, strict=False) if taken] or population[:1]
    found = measure_presence(
        {"x": [r[0] for r in sample], "y": [r[1] for r in sample]},
        {"x": [r[0] for r in population], "y": [r[1] for r in population]},
        quasi_identifiers=["x", "y"],
    )
    shares = [sample.count(row) / population.count(row) for row in set(population)]
    assert found.k_map == min(population.count(row) for row in sample)
    assert found.delta_minimum == pytest.approx(min(shares))
    assert found.delta_maximum == pytest.approx(max(shares))
    assert found.absent == 0


def test_records_that_the_population_lacks_are_said():
    found = measure_presence({"x": [1, 9]}, {"x": [1, 1, 2]}, quasi_identifiers=["x"])
    assert (found.k_map, found.absent, found.delta_maximum) == (0, 1, None)


def test_whole_numbers_of_other_width_are_the_same():
    import pyarrow as pa

    narrow, wide = pa.table({"x": pa.array([1, 2], pa.int8())}), pa.table({"x": pa.array([1, 1, 2], pa.int64())})
    assert measure_presence(narrow, wide, quasi_identifiers=["x"]).k_map == 1


def test_text_against_numbers_is_refused():
    with pytest.raises(InputError, match="give both one type"):
        measure_presence({"x": ["1"]}, {"x": [1]}, quasi_identifiers=["x"])
