"""Types and shapes that frames disagree on: counted alike, or refused in words."""

import decimal
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyarrow.feather import write_feather

from incrowd import ClassSizes, InputError, UnsupportedError, measure, protect, read_table, suggest_roles
from incrowd.backends.relational import count_in_engine
from incrowd.tables.suggest_reading import suspect_missing_codes


def histogram(frame, names=("x",)):
    return ClassSizes.from_table(frame, quasi_identifiers=list(names)).histogram()


def test_a_null_inside_a_dictionary_is_the_same_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0, None]), pa.array(["a", None]))
    assert histogram(pa.table({"x": column})) == {2: 1, 3: 1}


def test_a_nan_inside_a_dictionary_is_a_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array([1.0, float("nan"), 0.0]))
    assert histogram(pa.table({"x": column})) == {1: 2, 2: 1}


def test_bins_of_pandas_are_values():
    ages = pd.DataFrame({"x": pd.cut([21.0, 25.0, 34.0, np.nan], [20, 30, 40])})
    assert histogram(ages) == {1: 2, 2: 1}
    assert histogram(pd.DataFrame({"x": pd.period_range("2020-01", periods=3, freq="M")})) == {1: 3}


def test_views_half_floats_and_decimals_are_values():
    table = pa.table(
        {
            "v": pa.array(["a", "a", None]).cast(pa.string_view()),
            "h": pa.array(np.array([1, 1, 2], dtype=np.float16)),
            "d": pa.array([decimal.Decimal("1.50"), decimal.Decimal("1.50"), None]),
        }
    )
    assert histogram(table, ["v", "h", "d"]) == {1: 1, 2: 1}


def test_a_mapping_of_mixed_or_huge_values_is_compared_as_text():
    assert histogram({"x": [1, "a", 1]}) == {1: 1, 2: 1}
    assert histogram({"x": [2**80, 2**80 + 1, 2**80]}) == {1: 1, 2: 1}


@pytest.mark.parametrize("name", ["age ", "\ufeffage", "size", "classes", "c0", 'say "hi"', "a.b", "ä"])
def test_any_name_can_be_counted_in_the_engine(name, tmp_path):
    table = pa.table({"other": [1, 2, 3], name: ["a", "a", None]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", pl.DataFrame(table).lazy()):
        sizes, counts = count_in_engine(read_table(source).backend, [name])
        assert dict(zip(sizes.tolist(), counts.tolist(), strict=True)) == {1: 1, 2: 1}


def test_a_path_is_never_taken_for_a_pattern_by_the_engine(tmp_path):
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "d[1].parquet")
    pq.write_table(pa.table({"x": [5, 5, 5]}), tmp_path / "d1.parquet")
    sizes, counts = count_in_engine(read_table(tmp_path / "d[1].parquet").backend, ["x"])
    assert (sizes.tolist(), counts.tolist()) == ([1], [2])


def test_the_engines_own_words_are_not_passed_on(tmp_path):
    bad = pa.table({"x": pa.array([b"\xfftopsecret", b"b"]).view(pa.string())})
    pq.write_table(bad, tmp_path / "t.parquet")
    lazy = pl.LazyFrame({"x": ["topsecret"]}).select(pl.col("x").cast(pl.Int64))
    for source in (tmp_path / "t.parquet", lazy):
        with pytest.raises(InputError) as error:
            count_in_engine(read_table(source).backend, ["x"])
        assert "topsecret" not in str(error.value)
        assert error.value.__cause__ is None


def test_parts_that_differ_are_refused(tmp_path):
    pq.write_table(pa.table({"x": pa.array([1], pa.int32()), "y": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": pa.array([1], pa.int64())}), tmp_path / "b.parquet")
    for name in ("x", "y"):
        with pytest.raises(InputError, match="same columns and types"):
            histogram(tmp_path, [name])


def test_columns_in_the_names_of_folders_are_mentioned(tmp_path):
    (tmp_path / "year=2020").mkdir()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "year=2020" / "a.parquet")
    assert "year=" in read_table(tmp_path).notes[0]


def test_pandas_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="more than once"):
        read_table(frame)


def test_what_needs_every_record_keeps_to_the_limit():
    table = read_table({"x": np.arange(2_000_000), "s": np.zeros(2_000_000)}, memory="60MB")
    with pytest.raises(UnsupportedError, match="more than the limit of 60 MB"):
        measure(table, quasi_identifiers=["x"], sensitive=["s"])


def test_wide_text_is_counted_in_the_engine_when_it_does_not_fit(tmp_path):
    words = pa.array([f"{number:0200d}" for number in range(200_000)])
    pq.write_table(pa.table({"x": words}), tmp_path / "t.parquet", use_dictionary=False)
    table = read_table(tmp_path / "t.parquet", memory="60MB")
    assert not table.backend.fits_count(["x"])
    assert read_table(tmp_path / "t.parquet").backend.fits_count(["x"])
    assert histogram(table) == {1: 200_000}


def test_a_name_with_a_dot_is_a_column_and_no_part_of_a_record(tmp_path):
    rows = pa.table({"a.b": [1, 1, 2], "a": [{"b": 5}, None, {"b": 6}], "c": ["x", None, "y"]})
    for name, write in (
        ("rows.orc", orc.write_table),
        ("rows.feather", write_feather),
        ("rows.parquet", pq.write_table),
    ):
        write(rows, str(tmp_path / name))
        table = read_table(tmp_path / name)
        assert table.to_arrow().to_pydict() == rows.to_pydict()
        assert histogram(table, ["a.b"]) == {1: 1, 2: 1}


def test_many_columns_of_a_small_orc_file_take_little_memory(tmp_path):
    count = 4_000
    orc.write_table(pa.table({f"c{place}": [1, 2] for place in range(count)}), str(tmp_path / "wide.orc"))
    program = "import resource, sys\nfrom incrowd import read_table\ntable = read_table(sys.argv[1])\ntable.rows\n"
    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
    program += f"before = {peak}\nprint(table.to_arrow().num_columns, {peak} - before)\n"
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "wide.orc"], capture_output=True, text=True, check=True
    )
    columns, kilobytes = map(int, done.stdout.split())
    assert columns == count
    assert kilobytes < 120_000  # a dataset took 130 for each column


def test_sensitive_columns_come_in_a_list():
    with pytest.raises(InputError, match="must be a list"):
        measure({"i": [1], "ni": [1]}, quasi_identifiers=["i"], sensitive="ni")


def test_more_people_than_can_be_counted_are_refused():
    with pytest.raises(InputError, match="more people"):
        ClassSizes.from_counts({2**40: 2**40})


def test_many_equal_records_of_a_person_are_one_step():
    who = np.repeat([1, 2, 3], [50_000, 50_000, 50_001])
    found = ClassSizes.from_table({"who": who, "x": np.ones(who.size)}, quasi_identifiers=["x"], person="who")
    assert found.histogram() == {1: 1, 2: 1}


def test_roles_of_text_that_is_not_utf8_are_refused_without_quoting_it(tmp_path):
    pq.write_table(pa.table({"x": pa.array([b"\xfftopsecret", b"b"]).view(pa.string())}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="not UTF-8") as error:
        suggest_roles(read_table(tmp_path / "t.parquet"))
    assert "topsecret" not in str(error.value)


def test_lists_in_a_pandas_column_are_refused():
    with pytest.raises(InputError, match="lists or records"):
        histogram(pd.DataFrame({"x": [[1], ["S"]]}))
    with pytest.raises(InputError, match="lists or records"):
        histogram(duckdb.sql("SELECT [1] AS x UNION ALL SELECT [2]"))


def odd_types():
    numbers = np.iinfo(np.int64)
    decimals = [decimal.Decimal("1.5"), decimal.Decimal("1.5"), decimal.Decimal("2.5")]
    newer = {name: getattr(pa, name) for name in ("decimal32", "decimal64") if hasattr(pa, name)}  # from Arrow 18 on
    return {
        **{name: pa.array(decimals, kind(5, 1)) for name, kind in newer.items()},
        "an unknown zone": pa.array([1, 1, 2], pa.timestamp("us", "Mars/Olympus")),
        "the last day": pa.array([253_402_300_799, 253_402_300_799, -62_135_596_800], pa.timestamp("s")),
        "the smallest time in nanoseconds": pa.array([numbers.min, numbers.min, 5]).cast(pa.timestamp("ns")),
        "large decimals": pa.array(decimals, pa.decimal256(60, 1)),
        "intervals": pa.array([(1, 2, 3), (1, 2, 3), (1, 2, 4)], pa.month_day_nano_interval()),
        "whole numbers beyond the sign": pa.array([2**64 - 1, 2**64 - 1, 1], pa.uint64()),
    }


@pytest.mark.parametrize("name", odd_types())
def test_odd_types_are_counted_described_and_protected(name):
    table = pa.table({"x": odd_types()[name], "y": [1, 1, 2]})
    assert histogram(table) == {1: 1, 2: 1}
    assert [role.column for role in suggest_roles(read_table(table))] == ["x", "y"]
    assert suspect_missing_codes(read_table(table)) == {}
    assert protect(table, quasi_identifiers=["x"], k=3).guarantee.k == 3


@pytest.mark.parametrize(
    "days",
    [
        pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()),
        pa.array([-62_135_596_801, 0], pa.timestamp("s")),
        pa.array([253_402_300_800_000, 0], pa.timestamp("ms", "UTC")),
        pa.array([np.iinfo(np.int64).min, 0]).cast(pa.timestamp("us")),
    ],
)
def test_dates_that_no_calendar_has_are_refused(days):
    with pytest.raises(InputError, match="column 'x': dates before the year 1 or after 9999"):
        histogram(pa.table({"x": days}))


@pytest.mark.parametrize("cut", [slice(None, -1), slice(None, 7)])
def test_damaged_text_says_which_encoding_it_is_not_in(tmp_path, cut):
    (tmp_path / "t.csv").write_bytes("age,sex\n30,f\n31,m\n".encode("utf-16")[cut])
    with pytest.raises(InputError, match="cannot be read as utf-16; try another encoding"):
        read_table(tmp_path / "t.csv")
