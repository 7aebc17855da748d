"""Lists as rows, Excel's numbers as dates, and spellings as one value, where it is asked for."""

from datetime import date

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run

from incrowd import InputError, UnsupportedError, measure, protect, read_table
from incrowd.tables import suggest_roles, write_table
from incrowd.tables.reshape import count_spellings, fold_spellings
from incrowd.tables.suggest_reading import suspect_serial_dates

pytestmark = pytest.mark.usefixtures("no_child_processes")


def test_lists_become_rows_and_a_record_without_items_stays():
    table = pa.table({"who": ["a", "b", "c", "d"], "items": [[1, 2], [], None, [3]]})
    found = read_table(table, explode="items")
    assert found.to_arrow().to_pydict() == {
        "record": [1, 1, 2, 3, 4], "who": ["a", "a", "b", "c", "d"], "items": [1, 2, None, None, 3],
    }  # fmt: skip
    assert measure(found, quasi_identifiers=["items"], person="record").people == 4


def test_a_slice_of_lists_is_exploded_as_the_slice_it_is():
    table = pa.table({"items": [[9], [1, 2], [3]]}).slice(1)
    assert read_table(table, explode="items").to_arrow()["items"].to_pylist() == [1, 2, 3]


def test_records_and_maps_become_columns():
    records = pa.table({"visit": [{"day": 1, "ward": "x"}, {"day": 2, "ward": None}]})
    assert read_table(records, explode="visit").to_arrow().to_pydict() == {
        "visit.day": [1, 2],
        "visit.ward": ["x", None],
    }
    maps = pa.table({"m": pa.array([[("a", 1), ("b", 2)], []], pa.map_(pa.string(), pa.int64()))})
    found = read_table(maps, explode="m").to_arrow().to_pydict()
    assert found == {"record": [1, 1, 2], "m.key": ["a", "b", None], "m.value": [1, 2, None]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"explode": "age"}, "holds single values, not lists"),
        ({"explode": "nothing"}, "nothing"),
        ({"serial_dates": "age"}, "does not hold Excel's dates"),
        ({"serial_dates": ["name"]}, "does not hold Excel's dates"),
    ],
)
def test_what_makes_no_sense_is_refused_without_a_cell(options, words):
    with pytest.raises(InputError, match=words) as error:
        read_table({"age": [30, 41], "name": ["Zaphod", "Ann"]}, **options)
    assert "Zaphod" not in str(error.value)


def test_a_column_in_the_way_is_said():
    with pytest.raises(InputError, match="a column named 'record' is in the way"):
        read_table({"record": [1], "items": [[1]]}, explode="items")


def test_excels_numbers_are_the_days_that_excel_shows():
    days = [date(1950, 3, 1), date(2000, 2, 29), date(2020, 1, 1), None]
    serial = [None if day is None else (day - date(1899, 12, 30)).days for day in days]
    assert serial[2] == 43831  # as Excel shows 1 January 2020
    table = read_table({"born": serial}, serial_dates="born")
    assert table.to_arrow()["born"].to_pylist() == days
    assert table.scale_of("born") == "date"
    assert table.reading == {"serial_dates": "born"}


@pytest.mark.parametrize("days", [[None, None], []])
def test_whole_numbers_of_which_none_is_there_are_dates_where_asked_and_suspected_nowhere(days):
    cells = pa.table({"born_date": pa.array(days, pa.int64())})
    assert read_table(cells, serial_dates="born_date").to_arrow()["born_date"].to_pylist() == days
    table = read_table(cells)
    assert suspect_serial_dates(table, suggest_roles(table)) == []


def test_spellings_become_the_commonest_one():
    towns = ["Ulm", "ulm", "Ulm ", "\u0041\u0301vila", "\u00c1vila", None, "New  York", "new york"]
    table = read_table({"town": towns, "n": list(range(8))}, fold=True)
    folded = ["Ulm", "Ulm", "Ulm", "\u00c1vila", "\u00c1vila", None, "New York", "New York"]
    assert table.to_arrow()["town"].to_pylist() == folded
    assert table.notes == ("values that differed in case, blanks or Unicode form only are one: town",)
    assert read_table({"town": ["a", "b"]}, fold=True).notes == ()


def test_numbers_with_blanks_are_numbers_when_they_are_folded(tmp_path):
    (tmp_path / "t.csv").write_text("age,town\n30 ,Ulm\n 41,ulm\n ,Bonn\n")
    table = read_table(tmp_path / "t.csv", fold=True)
    assert table.to_arrow().to_pydict() == {"age": [30, 41, None], "town": ["Ulm", "Ulm", "Bonn"]}
    assert "read as numbers or dates once their blanks were left out: age" in table.notes


@pytest.mark.parametrize(
    "texts",
    [
        ["10115", "20095"],
        ["1", "2", "N", "-"],
        ["2020-01-02", "2021-03-04"],
        ["", "a"],
        ["10²", "102"],
        ["Maße", "Masse"],
    ],
)
def test_texts_of_a_frame_that_are_no_spellings_of_each_other_stay_as_they_are(texts):
    table = read_table({"x": texts}, fold=True)
    assert table.to_arrow()["x"].to_pylist() == texts
    assert table.notes == ()


def test_texts_of_a_frame_stay_texts_when_they_are_folded():
    table = read_table({"x": [" 1", "1", "N", "ÉTÉ", "e\u0301te\u0301"]}, fold=True)
    assert table.to_arrow()["x"].to_pylist() == ["1", "1", "N", *["ÉTÉ"] * 2]


def test_texts_of_a_file_with_types_of_its_own_stay_texts(tmp_path):
    table = read_table(write_table(pa.table({"zip": ["10115 ", "10115", "20095"]}), tmp_path / "t.parquet"), fold=True)
    assert table.to_arrow()["zip"].to_pylist() == ["10115", "10115", "20095"]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"visit": [{"day": 1}], "visit.day": [2]}),
        pa.table({"visit": [[{"day": 1}]], "visit.day": [2]}),
    ],
)
def test_a_field_with_the_name_of_a_column_is_said(rows):
    with pytest.raises(InputError, match=r"would make a second column 'visit\.day'; rename one"):
        read_table(rows, explode="visit")


def test_a_header_that_leaves_no_rows_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("age,town\nyears,name\n30,Ulm\n")
    assert read_table(tmp_path / "t.csv", header_rows=2).rows == 1
    with pytest.raises(InputError, match=r"t\.csv has no rows below a header of 3 rows; give fewer"):
        read_table(tmp_path / "t.csv", header_rows=3)


def test_labels_of_a_file_are_not_folded(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"sex": [1.0, 2.0]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"sex": {1.0: "Male", 2.0: "male"}})
    assert read_table(tmp_path / "t.sav", fold=True).to_arrow()["sex"].to_pylist() == ["Male", "male"]


def test_what_is_read_whole_is_refused_where_it_may_not_fit():
    with pytest.raises(UnsupportedError, match="changing 1,000,000 rows of 1 columns"):
        read_table(pa.table({"a": pa.nulls(1_000_000, pa.string())}), fold=True, memory="50MB")


def test_a_categorical_keeps_its_order_and_no_category_that_does_not_occur():
    levels = ["low", "middle", "high", "unheard"]
    pain = pd.Categorical(["high", "low", "high", "low"], categories=levels, ordered=True)
    safe = protect(pd.DataFrame({"age": [30, 31, 30, 31], "pain": pain}), quasi_identifiers=["age"], k=2, warn=False)
    assert list(safe.table["pain"].cat.categories) == ["low", "high"]
    assert safe.table["pain"].cat.ordered


def test_the_command_line_folds_explodes_and_points_it_out(tmp_path, capsys):
    (tmp_path / "t.jsonl").write_text('{"town": "Ulm", "items": ["a", "b"]}\n{"town": "ulm ", "items": ["a"]}\n')
    _, out, _ = run(capsys, "profile", tmp_path / "t.jsonl")
    assert "differ from others only in case, blanks or Unicode form: town (1)" in out
    code, out, _ = run(
        capsys, "measure", tmp_path / "t.jsonl", "--qi", "town,items", "--fold", "--explode", "items", "--json"
    )
    assert code == 0
    assert '"classes": 2' in out
    (tmp_path / "d.csv").write_text("admission_date,b\n43831,1\n43900,2\n")
    _, out, _ = run(capsys, "profile", tmp_path / "d.csv", "--serial-dates", "admission_date")
    assert "date" in out
    _, out, _ = run(capsys, "profile", tmp_path / "d.csv")
    assert "--serial-dates admission_date" in out


@given(st.lists(st.text("aA äÄ\u0308\t\u00a0ßΣς", max_size=5), unique=True))
def test_spellings_are_counted_as_they_are_joined(texts):
    assert count_spellings(pa.array(texts, pa.string())) == len({*fold_spellings(dict.fromkeys(texts, 1)).values()})
