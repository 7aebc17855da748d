"""The caller's frame comes back: its kind, its index, its nulls."""

import pandas as pd
import pytest

from incrowd import protect
from incrowd.errors import InputError


def test_pandas_with_nulls_among_numbers():
    ages = pd.DataFrame({"age": [1, 2, None, 3, 50, 51, None, 52], "g": list("xxxxyyyy")})
    safe = protect(ages, quasi_identifiers=["age", "g"], k=4)
    assert safe.table["age"].tolist() == ["*"] * 8
    assert safe.evaluate().contradicting == 0


def test_pandas_keeps_its_index_and_that_of_the_rows_that_stay():
    frame = pd.DataFrame({"age": [30, 31, 62, 64, 99]}, index=[10, 20, 30, 40, 50])
    assert protect(frame, quasi_identifiers=["age"], k=2).table.index.tolist() == [10, 20, 30, 40, 50]
    pair = pd.DataFrame({"age": [30, 99, 30]}, index=[10, 20, 30])
    safe = protect(pair, quasi_identifiers=["age"], k=2, method="mask", steps=[("age", "ranges=3")])
    assert safe.table.index.tolist() == [10, 30]


def test_cells_of_dropped_rows_are_not_counted_as_changed():
    ages = {"age": [30, 99, 30], "sex": ["f", "f", "f"]}
    masked = protect(ages, quasi_identifiers=["age", "sex"], k=2, method="mask", steps=[("age", "ranges=3")])
    assert (masked.suppressed, masked.share_changed) == (1, 0.0)
    coarse = protect({"age": [30, 30, 30, 30, 99]}, quasi_identifiers=["age"], k=2, method="generalise", suppress=0.3)
    assert (coarse.suppressed, coarse.share_changed) == (1, 0.0)


@pytest.mark.parametrize("kind", ["time64[us]", "duration[us]"])
@pytest.mark.parametrize("method", ["partition", "coarsen", "generalise"])
def test_times_of_day_and_durations_are_refused_in_words(kind, method):
    import pyarrow as pa

    options = {"resolution": 2} if method == "coarsen" else {}
    column = pa.array([1, 2, 3, 4], pa.int64()).cast(pa.time64("us") if "time" in kind else pa.duration("us"))
    with pytest.raises(InputError, match="times of day or durations"):
        protect(pa.table({"at": column}), quasi_identifiers=["at"], k=2, method=method, **options)
