"""Distinct numbers against a counter."""

from collections import Counter

import numpy as np
import pytest

from incrowd._support.distinct import count_numbers


@pytest.mark.parametrize("most", [1, 50, 10**5, 10**9, 2**40])
@pytest.mark.parametrize("size", [0, 1, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_counted_as_a_counter_does(most: int, size: int, weighted: bool):
    rng = np.random.default_rng(size)
    numbers = rng.integers(0, most, size)
    times = rng.integers(1, 5, size) if weighted else None
    wanted: Counter[int] = Counter()
    for place, number in enumerate(numbers.tolist()):
        wanted[number] += 1 if times is None else int(times[place])
    distinct, counts = count_numbers(numbers, times)
    assert distinct.tolist() == sorted(wanted)
    assert dict(zip(distinct.tolist(), counts.tolist(), strict=True)) == wanted
    assert counts.dtype == np.int64
