"""Every backend answers every question of the protocol, and all of them alike; nobody asks which one it is."""

import re
from dataclasses import replace
from pathlib import Path

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.backends.databases import to_sqlite

import incrowd
from incrowd import ClassSizes, read_table
from incrowd.backends import Backend, MemoryNeeds, encode
from incrowd.backends.block_protection import BlockJob
from incrowd.backends.class_parts import count_people, split_by_class
from incrowd.errors import ColumnNotFoundError, InputError, UnsupportedError
from incrowd.tables import Table
from incrowd.tables.roles.column_facts import look_at_columns

pytestmark = pytest.mark.usefixtures("no_child_processes")

NAMES = ["age", "town"]
ROWS = pa.table(
    {
        "who": [1, 1, 2, 2, 3, 4],
        "age": [30, 41, 41, 30, 30, None],
        "town": ["a", "b", "b", "a", "a", "a"],
        "ill": ["x", "y", "y", "x", "z", "z"],
    }
)


def parquet(folder):
    pq.write_table(ROWS, folder / "rows.parquet")
    return folder / "rows.parquet"


def feather(folder):
    pyarrow.feather.write_feather(ROWS, str(folder / "rows.feather"))
    return folder / "rows.feather"


def csv(folder):
    pl.DataFrame(ROWS).write_csv(folder / "rows.csv")
    return folder / "rows.csv"


SOURCES = {
    "arrow": lambda folder: ROWS,
    "pandas": lambda folder: ROWS.to_pandas(),
    "polars lazy": lambda folder: pl.DataFrame(ROWS).lazy(),
    "duckdb": lambda folder: duckdb.connect().from_arrow(ROWS),
    "parquet": parquet,
    "feather": feather,
    "csv": csv,
    "sqlite": lambda folder: to_sqlite(folder / "rows.db", ROWS),
}


@pytest.fixture(params=SOURCES)
def backend(request, tmp_path) -> Backend:
    return read_table(SOURCES[request.param](tmp_path)).backend


def as_dict(counts):
    return dict(zip(*(array.tolist() for array in counts), strict=True))


def test_classes_are_counted_and_assigned_alike(backend):
    assert backend.rows == 6
    assert as_dict(backend.count_classes(NAMES)) == {1: 1, 2: 1, 3: 1}
    assert as_dict(backend.count_classes(NAMES, "who")) == {1: 2, 2: 1}
    numbers, sizes = backend.assign_classes(NAMES)
    assert sizes[numbers].tolist() == [3, 2, 2, 3, 3, 1]
    numbers, sizes = backend.assign_classes(NAMES, "who")
    assert sizes[numbers].tolist() == [2, 2, 2, 2, 1, 1]
    assert backend.count_values(["age", "town"]) == {"age": 3, "town": 2}


def test_distinct_rows_stand_for_all_rows(backend):
    found = backend.distinct_rows(NAMES, 3)
    assert found is not None
    rows = zip(*(column.to_pylist() for _, column in found.backend.read(NAMES)), strict=True)
    assert dict(zip(rows, found.times.tolist(), strict=True)) == {(30, "a"): 3, (41, "b"): 2, (None, "a"): 1}
    assert backend.distinct_rows(NAMES, 2) is None
    assert backend.counted_rows(NAMES).total == 6
    with backend.counted_parts(NAMES, "ill") as parts:
        assert sum(part.total for part in parts) == 6


def test_people_with_equal_histories_become_one(backend):
    merged = backend.merge_histories(NAMES, ["ill"], "who")
    (people,) = (column.to_pylist() for _, column in merged.read(["who"]))
    assert people[0] == people[1] == people[2] == people[3]
    assert len(set(people)) == 3


def test_columns_are_encoded_once_for_a_table_and_its_backend(backend):
    (column,) = encode(backend, ["town"])
    assert encode(incrowd.tables.Table(backend), ["town"])[0] is column


def test_unknown_columns_are_refused(backend):
    with pytest.raises(ColumnNotFoundError, match="the table has: who, age, town, ill"):
        backend.count_classes(["nothing"])
    with pytest.raises(InputError, match="not one text"):
        backend.require("age")


def test_rows_that_can_be_read_here_are_not_protected_elsewhere(backend):
    assert backend.rows_are_local
    assert backend.keeps_row_order
    with pytest.raises(UnsupportedError, match="protected here"):
        backend.protect_blocks(BlockJob(NAMES, None, plan=None, check=None))


def test_rows_that_can_be_read_here_are_examined_and_compared_here(backend):
    assert (backend.way_to_compare(NAMES), backend.count_columns(NAMES, 100)) == ("rows", None)
    backend.needs = MemoryNeeds(class_value=10**12)
    assert backend.way_to_compare(NAMES) == "parts"
    assert backend.fits_records(backend.memory // 6)
    assert not backend.fits_records(backend.memory)


def test_of_rows_that_stay_elsewhere_columns_are_counted_and_nothing_is_examined():
    from incrowd.backends.spark.backend import SparkBackend

    rows = ROWS.append_column("pay", pa.array([1.5, float("nan"), -2.0, None, 1.5, 7.0]))
    there = SparkBackend(nw.from_native(pl.DataFrame(rows).lazy()), name="rows", memory=10**9)
    assert not there.rows_are_local
    assert there.way_to_compare(NAMES) == "distinct"
    assert there.fits_records(10**12)
    assert there.types()["town"] == read_table(pl.DataFrame(rows)).backend.types()["town"]
    names = ["age", "town", "pay"]
    here = look_at_columns(read_table(rows), names)
    for counted, facts in zip(look_at_columns(Table(there), names), here, strict=True):
        assert replace(counted, sample=()) == replace(facts, sample=())
        assert sorted(set(counted.sample)) == sorted(set(facts.sample))


def test_classes_are_counted_once(tmp_path, monkeypatch):
    table = read_table(parquet(tmp_path))
    first = ClassSizes.from_table(table, quasi_identifiers=NAMES)
    monkeypatch.setattr(type(table.backend), "_count_classes", None)
    assert ClassSizes.from_table(table, quasi_identifiers=NAMES[::-1]) == first, "in any order of the columns"
    with pytest.raises(TypeError):
        ClassSizes.from_table(table, quasi_identifiers=NAMES, person="who")


def test_a_count_is_not_taken_for_that_of_a_file_that_changed(tmp_path):
    path = parquet(tmp_path)
    table = read_table(path)
    assert ClassSizes.from_table(table, quasi_identifiers=["town"]).people == 6
    pq.write_table(ROWS.slice(1), path)
    with pytest.raises(InputError, match="changed while it was read"):
        ClassSizes.from_table(table, quasi_identifiers=["town"])


def test_few_counts_are_kept():
    columns = {f"c{place}": np.arange(4) % 2 for place in range(20)}
    backend = read_table(columns).backend
    for place in range(300):
        backend.count_classes([name for bit, name in enumerate(columns) if (place + 1) >> bit & 1])
    assert len(backend._class_counts) == 256


def test_what_does_not_fit_is_refused_or_split_by_what_records_need(tmp_path):
    backend = read_table(parquet(tmp_path), memory="50MB").backend
    assert backend.fits_records(backend.needs.record_class)
    assert backend.way_to_compare(NAMES) == "rows"
    backend.needs = MemoryNeeds(record_class=10**7, class_value=10**7, split_record=10**7)
    assert not backend.fits_records(backend.needs.record_class)
    assert backend.way_to_compare(NAMES) == "parts"
    with pytest.raises(UnsupportedError, match="telling 6 records their class takes about 60 MB") as refused:
        backend.assign_classes(NAMES)
    assert refused.value.hint == ("memory",)
    parts = list(split_by_class(backend, NAMES, ["ill"], "who"))
    assert len(parts) > 1
    assert [part.columns for part in parts] == [("age", "town", "ill", "who")] * len(parts)
    assert as_dict(count_people(backend, NAMES, "who")) == {1: 2, 2: 1}
    assert count_people(backend, NAMES, "who") is count_people(backend, NAMES[::-1], "who"), "counted once"


def test_people_of_one_history_that_do_not_fit_are_refused_in_words(tmp_path):
    pq.write_table(
        pa.table({"age": [30] * 12, "who": [number // 2 for number in range(12)]}), tmp_path / "same.parquet"
    )
    backend = read_table(tmp_path / "same.parquet", memory="50MB").backend
    backend.needs = MemoryNeeds(record_class=10**7, class_value=10**7, split_record=10**7)
    with pytest.raises(UnsupportedError, match="telling 12 records their class takes about 120 MB"):
        count_people(backend, ["age"], "who")


def test_no_room_but_this_one_asks_which_engine_it_is():
    source = Path(incrowd.__file__).parent
    asks = re.compile(r"engine *[!=]=|[!=]= *.cluster.|counted_in_engine|isinstance\([^)]*Backend")
    found = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.py")
        if "backends" not in path.relative_to(source).parts
        for line in path.read_text(encoding="utf-8").splitlines()
        if asks.search(line)
    ]
    assert found == []
