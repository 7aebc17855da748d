"""Codes, keys and groupings agree with each other whatever the types."""

import datetime
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import read_table
from incrowd.backends import class_numbers, codes_among, encode, frequencies, pack
from incrowd.backends.encode import encode_column
from incrowd.backends.relational import count_in_engine
from incrowd.errors import InputError
from incrowd.tables import write_table

COLUMNS = {
    "int8": st.tuples(st.just(pa.int8()), st.lists(st.integers(-128, 127) | st.none(), min_size=5, max_size=5)),
    "int64": st.tuples(
        st.just(pa.int64()), st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=5, max_size=5)
    ),
    "uint64": st.tuples(
        st.just(pa.uint64()), st.lists(st.integers(2**63, 2**64 - 1) | st.none(), min_size=5, max_size=5)
    ),
    "small uint64": st.tuples(st.just(pa.uint64()), st.lists(st.integers(0, 9) | st.none(), min_size=5, max_size=5)),
    "float": st.tuples(st.just(pa.float64()), st.lists(st.floats() | st.none(), min_size=5, max_size=5)),
    "text": st.tuples(st.just(pa.string()), st.lists(st.text(max_size=2) | st.none(), min_size=5, max_size=5)),
    "date": st.tuples(st.just(pa.date32()), st.lists(st.dates() | st.none(), min_size=5, max_size=5)),
    "bool": st.tuples(st.just(pa.bool_()), st.lists(st.booleans() | st.none(), min_size=5, max_size=5)),
}


@given(st.one_of(*COLUMNS.values()))
def test_codes_stand_for_the_values_in_order(column):
    kind, values = column
    ((_, read),) = read_table(pa.table({"x": pa.array(values, kind)})).read(["x"])
    coded = encode_column("x", read)
    plain = [None if value is None or value != value else value for value in values]
    assert [coded.values[int(code)].as_py() for code in coded.codes] == plain
    filled = [value for value in coded.values.to_pylist() if value is not None]
    assert filled == sorted(set(filled))
    assert coded.has_null == (None in plain)
    assert coded.is_filled.tolist() == [value is not None for value in plain]
    assert coded.filled_size == len(filled)
    assert not coded.has_null or coded.values[-1].as_py() is None


@given(st.lists(st.tuples(*[st.one_of(*COLUMNS.values())] * 3), min_size=1, max_size=1))
def test_the_engine_and_the_keys_count_alike(tables):
    table = pa.table({f"c{place}": pa.array(values, kind) for place, (kind, values) in enumerate(tables[0])})
    names = table.column_names
    sizes, counts = frequencies(pack(encode(read_table(table), names)))
    for frame in (table, pl.DataFrame(table).lazy()):
        in_engine = count_in_engine(read_table(frame).backend, names)
        assert (sizes.tolist(), counts.tolist()) == (in_engine[0].tolist(), in_engine[1].tolist())


def test_dictionaries_that_differ_between_chunks_are_one_column():
    chunks = [pa.array(["b", "a", None]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    coded = encode_column("x", pa.chunked_array(chunks))
    assert coded.values.to_pylist() == ["a", "b", "c", None]
    assert coded.codes.tolist() == [1, 0, 3, 2, 1]


def test_dictionary_entries_that_nobody_has_are_left_out():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a", "unused"]))
    assert encode_column("x", pa.chunked_array([column])).values.to_pylist() == ["a"]


def test_a_column_is_encoded_once():
    table = read_table({"x": [1, 2]})
    assert encode(table, ["x"])[0] is encode(table, ["x"])[0]


def test_columns_that_are_encoded_already_take_no_threads(monkeypatch):
    table = read_table({"x": np.arange(20_000) % 7, "y": np.arange(20_000) % 5})
    first = encode(table, ["x", "y"])
    monkeypatch.setattr(sys.modules["incrowd.backends.encode"], "ThreadPoolExecutor", None)
    assert all(one is other for one, other in zip(encode(table, ["x", "y"]), first, strict=True))


@pytest.mark.parametrize("together", [17, 12, 4])
@pytest.mark.parametrize("highest", [1, 1_000, 2**40 + 1, 2**64])
def test_many_rows_are_numbered_in_the_order_of_their_keys(highest, together):
    """So many are dealt out, at most to 256 parts, and sorted part by part."""
    drawn = np.random.default_rng(1).integers(0, highest, 200_000, dtype=np.uint64)
    keys = np.concatenate([drawn, drawn[::2]])
    given = keys.copy()
    numbers, sizes = class_numbers(keys, part_bits=together)
    _, expected, counts = np.unique(given, return_inverse=True, return_counts=True)
    assert np.array_equal(numbers, expected)
    assert np.array_equal(sizes, counts)
    assert np.array_equal(keys, given), "keys are not changed"


def test_a_dictionary_that_is_full_may_have_a_null():
    values = pa.array([str(number) for number in range(128)])
    full = pa.DictionaryArray.from_arrays(pa.array([*range(128), None], pa.int8()), values)
    coded = encode_column("a", pa.chunked_array([full]))
    assert (coded.size, coded.has_null, int(coded.codes[-1])) == (129, True, 128)


def test_class_numbers_and_sizes_fit_together():
    numbers, sizes = class_numbers(np.array([7, 3, 7, 7, 9], dtype=np.uint64))
    assert numbers.tolist() == [1, 0, 1, 1, 2]
    assert sizes.tolist() == [1, 3, 1]


def test_classes_of_more_than_65_535_people_are_counted():
    keys = np.repeat(np.arange(3, dtype=np.uint64), [100_000, 70_000, 1])
    sizes, counts = frequencies(keys)
    assert (sizes.tolist(), counts.tolist()) == ([1, 70_000, 100_000], [1, 1, 1])


def test_times_of_day_and_moments_are_values():
    moment = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    coded = encode_column("x", pa.chunked_array([pa.array([moment, None, moment])]))
    assert coded.codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("size", [255, 256, 257, 65_536, 65_537])
def test_codes_hold_every_value_and_the_null(size):
    column = pa.chunked_array([pa.array([*range(size), None])])
    coded = encode_column("x", column)
    assert int(coded.codes[-1]) == size == int(coded.codes.max())


def test_a_value_that_was_not_there_before_is_never_another_value():
    (part,) = encode(read_table({"a": ["x", "zz"]}), ["a"])
    assert codes_among(part, pa.array(["w", "x", "zz"])).tolist() == [1, 2]
    for values in (pa.array(["w", "x", "y"]), pa.array(["x"]), pa.array([1, 2])):
        with pytest.raises(InputError, match=r"a has a value that was not there .* the table changed"):
            codes_among(part, values)
    (part,) = encode(read_table({"a": ["x", None]}), ["a"])
    assert codes_among(part, pa.array(["x", "y", None])).tolist() == [0, 2]
    with pytest.raises(InputError, match="the table changed"):
        codes_among(part, pa.array(["x", "y"]))


def test_text_of_a_duckdb_relation_is_compared_by_its_bytes():
    database = duckdb.connect()
    database.sql('CREATE TABLE rows (a VARCHAR COLLATE NOCASE, "b c" INTEGER)')
    database.sql("INSERT INTO rows VALUES ('a', 1), ('A', 1), ('b', 1), (NULL, 1)")
    table = read_table(database.table("rows"))
    assert frequency(count_in_engine(table.backend, ["a", "b c"])) == {1: 4}
    assert frequency(count_in_engine(table.backend, ["b c"])) == {4: 1}


def frequency(found):
    return dict(zip(*(part.tolist() for part in found), strict=True))


@pytest.mark.parametrize("ending", ["csv", "feather"])
def test_threads_that_query_one_file_do_not_share_a_connection(tmp_path, ending):
    rows = pa.table({"a": list(range(500)), "b": ["x", "y"] * 250})
    table = read_table(write_table(rows, tmp_path / f"rows.{ending}"))
    together = threading.Barrier(4)

    def ask(_):
        together.wait()  # the database is opened by all at once
        found = [table.lazy(["a", "b"]).head(7).collect("pyarrow").to_arrow().num_rows for _ in range(5)]
        return found, table.backend.connection(), table.backend.connection()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert [found for found, _, _ in answers] == [[7] * 5] * 4
    assert all(first is again for _, first, again in answers)  # relations of two connections cannot be joined
    assert len({id(first) for _, first, _ in answers}) == 4
