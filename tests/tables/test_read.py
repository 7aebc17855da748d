"""Files of every kind, and the frames people hold."""

import datetime
import json
from dataclasses import replace

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.tables.made_files import WRITERS, make_file, people

from incrowd import ClassSizes, InputError, Table, measure, read_table, suggest_roles
from incrowd.backends.relational import count_in_engine
from incrowd.tables.formats import format_of

pytestmark = pytest.mark.usefixtures("no_child_processes")

ROWS = pa.table(
    {
        "zip": ["00501", "00501", None, "02139"],
        "age": pa.array([30, 30, 41, None], pa.int16()),
        "pay": [1.5, 1.5, None, 2.0],
        "day": pa.array([datetime.date(2020, 1, 1)] * 2 + [None, datetime.date(2021, 5, 5)]),
    }
)
NAMES = ["zip", "age", "pay", "day"]


def write(kind, folder):
    file = folder / f"table.{kind}"
    if kind == "parquet":
        pq.write_table(ROWS, file)
    elif kind == "feather":
        pyarrow.feather.write_feather(ROWS, str(file))
    elif kind == "csv":
        ROWS.to_pandas().to_csv(file, index=False)
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        book.active.append(NAMES)
        for row in ROWS.to_pylist():
            book.active.append([row[name] for name in NAMES])
        book.save(file)
    else:
        file.write_text("".join(json.dumps(row, default=str) + "\n" for row in ROWS.to_pylist()))
    return file


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "xlsx", "jsonl"])
def test_every_kind_of_file_is_counted_alike(kind, tmp_path):
    table = read_table(write(kind, tmp_path))
    assert table.columns == tuple(NAMES)
    assert table.rows == 4
    assert ClassSizes.from_table(table, quasi_identifiers=NAMES).histogram() == {1: 2, 2: 1}
    assert dict(table.read(["zip"]))["zip"].to_pylist() == ["00501", "00501", None, "02139"]


FRAMES = {
    "arrow": lambda t: t,
    "pandas": lambda t: t.to_pandas(),
    "pandas by arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars lazy": lambda t: pl.DataFrame(t).lazy(),
    "duckdb": lambda t: duckdb.connect().from_arrow(t),
    "mapping": lambda t: t.to_pydict(),
    "narwhals": lambda t: nw.from_native(t),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_is_counted_alike(kind):
    frame = FRAMES[kind](ROWS)
    assert measure(frame, quasi_identifiers=NAMES).sizes.histogram() == {1: 2, 2: 1}
    found = measure(frame, quasi_identifiers=["zip"], sensitive=["age", "pay"])
    assert found.sensitive[0].values == 3
    assert found.sensitive[1].values == 3


def test_not_a_number_is_missing_in_every_frame():
    values = [1.0, float("nan"), None, -0.0, 0.0, float("inf")]
    for frame in (pd.DataFrame({"x": values}), pl.DataFrame({"x": values}, strict=False), pa.table({"x": values})):
        assert ClassSizes.from_table(frame, quasi_identifiers=["x"]).histogram() == {1: 2, 2: 2}
    lazy = pl.DataFrame({"x": values}, strict=False).lazy()
    assert ClassSizes.from_table(lazy, quasi_identifiers=["x"]).histogram() == {1: 2, 2: 2}


def test_mixed_types_are_compared_as_text():
    frame = pd.DataFrame({"x": [1, "1", 2.5, None, "a"]}, dtype=object)
    assert ClassSizes.from_table(frame, quasi_identifiers=["x"]).histogram() == {1: 3, 2: 1}


def test_numbers_past_64_bits_are_told_apart():
    frame = pd.DataFrame({"x": [2**80, 2**80 + 1, 2**80]}, dtype=object)
    assert ClassSizes.from_table(frame, quasi_identifiers=["x"]).histogram() == {1: 1, 2: 1}


def test_an_all_null_column_is_one_value():
    assert measure({"x": pa.nulls(3)}, quasi_identifiers=["x"]).k == 3


def test_categories_and_booleans_are_values():
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b", "a", None]), "b": [True, False, True, True]})
    assert measure(frame, quasi_identifiers=["c", "b"]).sizes.histogram() == {1: 2, 2: 1}


def test_a_frame_is_not_changed():
    frame = pd.DataFrame({"x": [3, 1, 2]}, index=[9, 8, 7])
    before = frame.copy()
    measure(frame, quasi_identifiers=["x"])
    pd.testing.assert_frame_equal(frame, before)


def test_a_folder_and_a_pattern_of_parquet_parts(tmp_path):
    for number in range(3):
        pq.write_table(ROWS, tmp_path / f"part-{number}.parquet")
    for source in (tmp_path, str(tmp_path / "part-*.parquet")):
        table = read_table(source)
        assert table.rows == 12
        assert measure(table, quasi_identifiers=NAMES).k == 3


def test_what_another_job_still_writes_is_not_of_the_folder(tmp_path):
    for place, ages in {"a": [1, 2], "_temporary/0": [3], ".hidden": [4], "_delta_log": [5]}.items():
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.table({"age": ages}), tmp_path / place / "part.parquet")
    assert read_table(tmp_path).rows == 2


@pytest.mark.parametrize("memory", [None, "60MB"])
def test_a_memory_limit_moves_the_work_and_not_the_answer(tmp_path, memory):
    generator = np.random.default_rng(1)
    size = 2_500_000
    pq.write_table(
        pa.table({"x": generator.integers(0, 10**6, size), "y": generator.random(size).round(1)}),
        tmp_path / "t.parquet",
    )
    table = read_table(tmp_path / "t.parquet", memory=memory)
    found = ClassSizes.from_table(table, quasi_identifiers=["x", "y"])
    assert found.people == size
    assert found == ClassSizes.from_table(pq.read_table(tmp_path / "t.parquet"), quasi_identifiers=["x", "y"])


def test_a_csv_file_is_counted_by_the_engine_alike(tmp_path):
    from incrowd.backends.relational import count_in_engine

    file = tmp_path / "t.csv"
    file.write_text("x,y\n1,1.0\n1,1\n01,a b\n,\n,\n")
    table = read_table(file)
    sizes, counts = count_in_engine(table.backend, ["x", "y"])
    assert (
        dict(zip(sizes.tolist(), counts.tolist(), strict=True))
        == ClassSizes.from_table(table, quasi_identifiers=["x", "y"]).histogram()
    )


BAD = {
    "missing": (lambda folder: folder / "nothing.csv", "there is no file"),
    "a long name": (lambda folder: folder / f"{'x' * 300}.csv", "there is no file"),
    "empty part": (lambda folder: _made(_made(folder, "a.csv", b"a\n1\n").parent, "b.csv", b"").parent, "is empty"),
    "folder": (lambda folder: folder, "folder without Parquet"),
    "ending": (lambda folder: _made(folder, "x.pdf", b"x"), "the ending is not that of a known file format"),
    "empty": (lambda folder: _made(folder, "x.csv", b""), "is empty"),
    "parquet": (lambda folder: _made(folder, "x.parquet", b"PAR1junk"), "cut short"),
    "workbook": (lambda folder: _made(folder, "x.xlsx", b"junk"), "not a workbook"),
    "json": (lambda folder: _made(folder, "x.jsonl", b'{"a": 1}\nsecret\n'), "line 2 is not JSON"),
    "deep json": (lambda folder: _made(folder, "x.jsonl", b'{"a":' * 100_000), "line 1 is not JSON"),
    "half a character": (lambda folder: _made(folder, "x.jsonl", b'{"a": "\\ud800"}'), "half a character"),
    "array": (lambda folder: _made(folder, "x.jsonl", b"[1, 2]"), "array must hold objects"),
    "number": (lambda _: 5, "a int is not a table"),
    "ragged mapping": (lambda _: {"a": [1], "b": [1, 2]}, "same number of values"),
}


def _made(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_a_table_is_refused_in_words(case, tmp_path):
    make, message = BAD[case]
    with pytest.raises(InputError, match=message) as error:
        read_table(make(tmp_path))
    assert "secret" not in str(error.value)


def test_no_rows_are_refused_when_counted(tmp_path):
    with pytest.raises(InputError, match="no rows"):
        measure({"x": pa.array([], pa.int64())}, quasi_identifiers=["x"])
    with pytest.raises(InputError, match="no rows"):
        measure(pl.LazyFrame({"x": []}, schema={"x": pl.Int64}), quasi_identifiers=["x"])


def test_a_file_without_rows_can_be_looked_at(tmp_path):
    pq.write_table(ROWS.slice(0, 0), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\n")
    for name in ("t.parquet", "t.csv"):
        table = read_table(tmp_path / name)
        assert table.rows == 0
        assert {column.role for column in suggest_roles(table)} == {"other"}


def test_an_unknown_column_lists_those_that_exist():
    with pytest.raises(InputError, match="no column named 'agee'; the table has: age, sex"):
        measure({"age": [1], "sex": ["f"]}, quasi_identifiers=["agee"])


@pytest.mark.parametrize(
    ("names", "message"), [([], "no quasi-identifiers given"), (["a", "a"], "more than once"), ("a", "must be a list")]
)
def test_columns_must_be_named_once_and_in_a_list(names, message):
    with pytest.raises(InputError, match=message):
        measure({"a": [1]}, quasi_identifiers=names)


def test_a_column_of_lists_is_refused():
    with pytest.raises(InputError, match="lists or records"):
        measure({"a": [[1, 2], [3]]}, quasi_identifiers=["a"])


def test_pandas_columns_that_are_not_text_are_refused():
    with pytest.raises(InputError, match="must be text"):
        read_table(pd.DataFrame({0: [1], 1: [2]}))


@pytest.mark.parametrize("limit", ["lots", "1KB", "-5GB"])
def test_a_memory_limit_that_makes_no_sense_is_refused(limit):
    with pytest.raises(InputError, match="memory limit"):
        read_table({"a": [1]}, memory=limit)


def test_a_table_is_its_own_source():
    table = read_table({"a": [1]})
    assert isinstance(table, Table)
    assert read_table(table) is table


def test_a_sheet_is_named_or_refused(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.create_sheet("second").append(["b"])
    book.save(tmp_path / "x.xlsx")
    assert read_table(tmp_path / "x.xlsx", sheet="second").columns == ("b",)
    with pytest.raises(InputError, match="no sheet 'third'; it has: Sheet, second"):
        read_table(tmp_path / "x.xlsx", sheet="third")


def test_a_file_that_changes_while_it_is_read_is_said(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), path)
    table = read_table(path)
    assert next(table.read(["a"]))[1].to_pylist() == [1, 2]
    pq.write_table(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}), path)
    with pytest.raises(InputError, match="changed while it was read"):
        next(table.read(["b"]))
    with pytest.raises(InputError, match="changed while it was read"):
        count_in_engine(table.backend, ["a"])
    assert ClassSizes.from_table(str(path), quasi_identifiers=["a"]).people == 3


LIBRARIES = [ending for ending in WRITERS if ending not in {".sav", ".zsav", ".por", ".dta", ".xpt", ".rds", ".RData"}]


@pytest.mark.parametrize("ending", LIBRARIES)  # the others have tests of their own, by their library's own frame
def test_every_cell_is_the_one_that_was_written(tmp_path, ending):
    path, options = make_file(tmp_path, ending)
    table, frame = read_table(path, **options).to_arrow(), people()
    for name in frame.columns:
        written = [None if value != value else value for value in frame[name]]
        cells = table[name].to_pylist()
        if name == "born":
            cells, written = [str(cell)[:10] for cell in cells], [str(value) for value in written]
        assert cells == written, name


@pytest.mark.parametrize(("name", "row"), [("t.csv", "1,2\n"), ("t.jsonl", '{"a": 1, "b": 2}\n')])
def test_a_text_file_that_grows_while_it_is_copied_is_not_trusted(tmp_path, monkeypatch, name, row):
    file = tmp_path / name
    file.write_text(("a,b\n" if name == "t.csv" else "") + 30 * row)
    assert read_table(file).rows == 30
    known = format_of(str(file))

    def open_and_grow(paths, *rest):
        contents = known.open(paths, *rest)
        with file.open("a") as opened:
            opened.write(row)
        return contents

    monkeypatch.setattr("incrowd.tables.read.format_of", lambda path: replace(known, open=open_and_grow))
    with pytest.raises(InputError, match="changed while it was read"):
        read_table(file)
