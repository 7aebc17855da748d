"""Fixed-width text with a layout."""

import csv

import pytest

from incrowd import InputError, read_table
from incrowd.tables.formats.fixed_width import read_layout

LINES = "Ann  30  1,5\nZoë   4 00,7\n\nBob NA  2,25\n"


def made(tmp_path, layout="name,start,end\nname,1,4\nage,5,7\nx,9,12\n", lines=LINES, encoding="utf-8"):
    (tmp_path / "people.fwf").write_text(lines, encoding=encoding)
    (tmp_path / "layout.csv").write_text(layout)
    return {"source": tmp_path / "people.fwf", "layout": tmp_path / "layout.csv"}


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_lines_are_cut_by_the_layout(tmp_path, encoding):
    table = read_table(**made(tmp_path, encoding=encoding))
    assert table.to_arrow().to_pydict() == {
        "name": ["Ann", "Zoë", "Bob"],
        "age": [30, 4, None],
        "x": ["1,5", "00,7", "2,25"],
    }
    widths = "name,start,width\nage,5,3\n"
    assert read_table(**made(tmp_path, widths)).to_arrow().to_pydict() == {"age": [30, 4, None]}
    assert read_table(**made(tmp_path, widths), null="4").to_arrow().to_pydict() == {"age": [30, None, None]}
    assert read_table(**made(tmp_path, widths), null="age=29-31").to_arrow()["age"].to_pylist()[0] is None
    assert table.reading == {"layout": str(tmp_path / "layout.csv")}


def test_any_text_file_may_have_a_layout(tmp_path):
    given = made(tmp_path)
    given["source"] = given["source"].rename(tmp_path / "people.txt")
    assert read_table(**given).rows == 3


def test_blocks_give_what_the_whole_gives(tmp_path, monkeypatch):
    from incrowd.tables.formats import fixed_width

    whole = read_table(**made(tmp_path)).to_arrow().to_pydict()
    monkeypatch.setattr(fixed_width, "BLOCK_BYTES", 5)
    assert read_table(**made(tmp_path)).to_arrow().to_pydict() == whole


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("", "another header"),
        ("name,start\na,1\n", "another header"),
        ("name,start,end\n", "names no columns"),
        ("name,start,end\na,0,3\n", "names no characters"),
        ("name,start,end\na,4,3\n", "names no characters"),
        ("name,start,end\na,x,3\n", "line 2 of the layout is not understood"),
        (f"name,start,width\na,1,{'9' * 400}\n", "line 2 of the layout is not understood"),
        (f"name,start,end\na,{'9' * 5000},3\n", "line 2 of the layout is not understood"),
        ("name,start,end\na,1,3\na,4,5\n", "more than once"),
        ("name,start,end\na,40,50\n", "line 1 ends before"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(tmp_path, layout, words):
    with pytest.raises(InputError, match=words) as error:
        read_table(**made(tmp_path, layout))
    assert "Ann" not in str(error.value)


def test_without_a_layout_it_is_asked_for(tmp_path):
    given = made(tmp_path)
    with pytest.raises(InputError, match="needs a layout") as error:
        read_table(given["source"])
    assert error.value.hint == ("layout",)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(given["source"], layout=tmp_path / "none.csv")


def test_a_layout_with_a_huge_cell_is_refused_without_the_cell(tmp_path):
    files = made(tmp_path, "name,start,end\n" + "secret" * 30_000 + ",1,4\n")
    before = csv.field_size_limit(131_072)  # readers of tables raise it for the whole process
    try:
        with pytest.raises(InputError, match=r"the layout layout\.csv cannot be read") as refused:
            read_layout(str(files["layout"]))
    finally:
        csv.field_size_limit(before)
    assert "secret" not in str(refused.value)


def test_lines_that_end_within_the_last_column_are_noted(tmp_path):
    layout = "name,start,end\nname,1,5\nzip,6,10\n"
    table = read_table(**made(tmp_path, layout, "Ann  93721\nBob  937\nZoë  1\n"))
    assert table.to_arrow()["zip"].to_pylist() == [93721, 937, 1]
    assert "2 lines end within the last column; check that its cells are whole" in table.notes
    whole = read_table(**made(tmp_path, layout, "Ann  93721\nBob  93722\n"))
    assert len(whole.notes) == len(table.notes) - 1


def test_a_file_without_line_ends_is_refused_before_it_is_held_whole(tmp_path, monkeypatch):
    from incrowd.tables.formats import fixed_width

    given = made(tmp_path, lines="1" * 3_000)
    monkeypatch.setattr(fixed_width, "_LONGEST_LINE", 1_000)
    monkeypatch.setattr(fixed_width, "BLOCK_BYTES", 400)
    with pytest.raises(InputError, match="a line of more than 1,000 characters; it may have no line ends"):
        read_table(**given)
    wide = made(tmp_path, "name,start,end\nname,1,2000\n", lines="1" * 2_000 + "\n")
    assert read_table(**wide).rows == 1  # the layout says so
