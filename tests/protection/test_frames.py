"""The caller's kind of frame comes back, with its nulls and without its index."""

import pandas as pd
import pytest

from incrowd import protect
from incrowd.errors import InputError


def test_pandas_with_nulls_among_numbers():
    ages = pd.DataFrame({"age": [1, 2, None, 3, 50, 51, None, 52], "g": list("xxxxyyyy")})
    safe = protect(ages, quasi_identifiers=["age", "g"], k=4)
    assert safe.table["age"].tolist() == ["*"] * 8
    assert safe.evaluate().contradicting == 0


def test_an_index_is_not_released_for_it_may_name_people():
    names = pd.Index(["Ann", "Bob", "Cid", "Dan", "Eve"], name="patient")
    frame = pd.DataFrame({"age": [30, 31, 62, 64, 99]}, index=names)
    frame.attrs["source"] = "Ann"
    safe = protect(frame, quasi_identifiers=["age"], k=2).table
    assert (safe.index.tolist(), safe.index.name, safe.attrs) == ([0, 1, 2, 3, 4], None, {})
    pair = pd.DataFrame({"age": [30, 99, 30]}, index=["Ann", "Bob", "Cid"])
    safe = protect(pair, quasi_identifiers=["age"], k=2, method="mask", steps=[("age", "ranges=3")])
    assert safe.table.index.tolist() == [0, 1]
    assert safe.kept_rows.tolist() == [0, 2]


def test_cells_of_dropped_rows_are_not_counted_as_changed():
    ages = {"age": [30, 99, 30], "sex": ["f", "f", "f"]}
    masked = protect(ages, quasi_identifiers=["age", "sex"], k=2, method="mask", steps=[("age", "ranges=3")])
    assert (masked.suppressed_rows, masked.share_changed) == (1, 0.0)
    coarse = protect({"age": [30, 30, 30, 30, 99]}, quasi_identifiers=["age"], k=2, method="generalise", suppress=0.3)
    assert (coarse.suppressed_rows, coarse.share_changed) == (1, 0.0)


@pytest.mark.parametrize("kind", ["time64[us]"])
@pytest.mark.parametrize("method", ["partition", "coarsen", "generalise"])
def test_times_of_day_and_durations_are_refused_in_words(kind, method):
    import pyarrow as pa

    options = {"resolution": 2} if method == "coarsen" else {}
    column = pa.array([1, 2, 3, 4], pa.int64()).cast(pa.time64("us") if "time" in kind else pa.duration("us"))
    with pytest.raises(InputError, match="times of day or durations"):
        protect(pa.table({"at": column}), quasi_identifiers=["at"], k=2, method=method, **options)
