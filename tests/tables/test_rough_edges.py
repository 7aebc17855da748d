"""Text as people have it: row names, notations of numbers and dates, words for missing values, missing headers."""

from datetime import date

import openpyxl
import pytest

from incrowd import InputError, read_table
from incrowd.backends import encode

pytestmark = pytest.mark.usefixtures("no_child_processes")


def written(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def column(tmp_path, cells, name="t.csv", separator=","):
    """A column of these cells as it is read, and the notes."""
    lines = "".join(f'"{cell}"{separator}x\n' for cell in cells)
    table = read_table(written(tmp_path, f"a{separator}b\n{lines}", name))
    return table.to_arrow(["a"])["a"].to_pylist(), table.notes


@pytest.mark.parametrize(
    "text",
    ['"","age","sex"\n"1",30,"f"\n"2",41,"m"\n', '"age","sex"\n"1",30,"f"\n"2",41,"m"\n', ",age,sex\n0,30,f\n1,41,m\n"],
)
def test_row_names_are_set_aside_with_a_note(tmp_path, text):
    """As R's write.csv and write.table and pandas' to_csv write them."""
    table = read_table(written(tmp_path, text))
    assert table.to_arrow().to_pydict() == {"age": [30, 41], "sex": ["f", "m"]}
    assert "row names and is set aside" in table.notes[0]


def test_a_later_column_without_a_name_is_still_refused(tmp_path):
    with pytest.raises(InputError, match="column 2 has no name"):
        read_table(written(tmp_path, "a,,c\n1,2,3\n"))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,250", "3", "12,000.50"], [1250.0, 3.0, 12000.5]),
        (["12%", "3.5 %", "0%"], [12.0, 3.5, 0.0]),
        (["$1,250", "$3.50", "-$2"], [1250.0, 3.5, -2.0]),
        (["3 €", "€ 4"], [3.0, 4.0]),
        (["31/12/2020", "1/2/2021"], [date(2020, 12, 31), date(2021, 2, 1)]),
        (["12/31/2020", "1/2/2021"], [date(2020, 12, 31), date(2021, 1, 2)]),
        (["31-12-2020", "1-2-2021"], [date(2020, 12, 31), date(2021, 2, 1)]),
        (["12-31-2020", "01-02-2021"], [date(2020, 12, 31), date(2021, 1, 2)]),
        (["31.12.2020", "1.2.2021"], [date(2020, 12, 31), date(2021, 2, 1)]),
        (["2020/12/31", "2021/01/02"], [date(2020, 12, 31), date(2021, 1, 2)]),
        (["31 Dec 2020", "1-FEB-2021", "02mar1999"], [date(2020, 12, 31), date(2021, 2, 1), date(1999, 3, 2)]),
        (["30", "NA", "."], [30, None, None]),
        (["2020-01-31", "N/A"], [date(2020, 1, 31), None]),
        (["1.5", "-", "nan"], [1.5, None, None]),
    ],
)
def test_notations_are_understood_and_said(tmp_path, cells, values):
    found, notes = column(tmp_path, cells)
    assert found == values
    assert notes


@pytest.mark.parametrize(
    "cells",
    [
        ["$5", "€5"],  # two currencies are no one quantity
        ["12%", "12"],
        ["1,25", "3"],
        ["12,34,567"],
        ["31/02/2020", "30/04/2020"],  # no such day
        ["31-02-2020", "30-04-2020"],
        ["31-12-2020", "12-31-2020"],  # two orders
        ["31-12-2020", "30/04/2020"],
        ["12.31.2020", "30.04.2020"],
        ["31 Foo 2020"],
        ["NA", "N/A"],  # nothing but words
        ["NA", "Ulm"],
        ["00501", "NA"],
    ],
)
def test_what_is_no_one_notation_stays_as_written(tmp_path, cells):
    assert column(tmp_path, cells)[0] == cells


def test_a_comma_that_may_be_decimal_is_ambiguous_where_semicolons_part_cells(tmp_path):
    assert column(tmp_path, ["1,250", "2,500"], separator=";")[0] == ["1,250", "2,500"]
    assert column(tmp_path, ["1,250,000", "3"], separator=";")[0] == [1_250_000.0, 3.0]


def test_dates_that_may_be_both_stay_text_with_a_note(tmp_path):
    for cells in (["1/2/2020", "3/4/2021"], ["01-02-2020", "3-4-2021"]):
        found, notes = column(tmp_path, cells)
        assert found == cells
        assert "day and month cannot be distinguished" in notes[0]


def test_missing_values_may_be_a_list(tmp_path):
    file = written(tmp_path, "a,b\n-9,x\nN,y\n3,Ulm\n")
    expected = {"a": [None, None, 3], "b": ["x", "y", None]}
    assert read_table(file, null="-9, N ,Ulm").to_arrow().to_pydict() == expected
    assert read_table(file, null=["-9", "N", "Ulm"]).to_arrow().to_pydict() == expected
    assert read_table(file, null=["-9", "N", "Ulm"]).reading == {"null": "-9,N,Ulm"}


def test_notations_are_the_same_past_the_memory_limit(tmp_path):
    text = 'n,p,d,m,x,q,h,i,o\n"1,250",3%,31/12/2020,1 Feb 2021,NA,12/31/2020,31-12-2020,12-31-2020,31.12.2020\n'
    text += '"2",4%,1/2/2021,11DEC1999,5,1/2/2021,1-2-2021,1-2-2021,1.2.2021\n'
    table = read_table(written(tmp_path, text))
    grouped = table.lazy(table.columns).collect("pyarrow").to_native()
    assert [grouped.column(place).to_pylist() for place in range(9)] == list(table.to_arrow().to_pydict().values())


@pytest.mark.parametrize("cells", [["2019-05", "2020-11"], ["2019", "2019-05", "2018-01-31"], ["2019-05", "NA"]])
def test_partial_dates_stay_text_in_their_order(tmp_path, cells):
    table = read_table(written(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert table.to_arrow()["a"].to_pylist() == cells
    assert table.scale_of("a") == "ordered"
    assert encode(table, ["a"])[0].values.to_pylist() == sorted(cells)
    assert "dates without a day or a month stay text" in table.notes[0]


@pytest.mark.parametrize(
    "cells", [["2019-13"], ["2019-00"], ["2019-5"], ["2019-05-32"], ["0019-05"], ["2019-05", "May"]]
)
def test_what_is_no_partial_date_is_plain_text(tmp_path, cells):
    table = read_table(written(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert (table.scale_of("a"), table.notes) == ("nominal", ())


def test_cells_that_differ_in_form_are_said_and_left_as_they_are(tmp_path):
    text = 'town,name,note\nUlm ,café,"a, b"\nUlm,cafe\u0301,c\n'
    table = read_table(written(tmp_path, text))
    assert table.to_arrow()["town"].to_pylist() == ["Ulm ", "Ulm"]
    assert table.notes == (
        "cells with blanks at their ends, or separate accents, count as different values: town, name; fold joins them",
    )
    assert read_table(written(tmp_path, 'note,b\n"a, b",1\nc,2\n')).notes == ()


GROUPED = "home,,work,\ntown,zip,town,zip\nUlm,1,Bonn,2\nBonn,3,Ulm,4\n"


@pytest.mark.parametrize("text", [GROUPED, GROUPED.replace("home,,work,", "home,home,work,work")])
def test_a_header_of_two_rows_is_recognised_and_read_when_it_is_said(tmp_path, text):
    file = written(tmp_path, text)
    with pytest.raises(InputError, match="the header seems to have two rows") as error:
        read_table(file)
    assert error.value.hint == ("header_rows",)
    table = read_table(file, header_rows=2)
    assert table.columns == ("home town", "home zip", "work town", "work zip")
    assert table.to_arrow()["work zip"].to_pylist() == [2, 4]
    assert table.reading == {"header_rows": 2}


def test_a_sheet_may_have_a_header_of_two_rows(tmp_path):
    rows = [["home", None, "work"], ["town", "zip", "town"], ["Ulm", 1, "Bonn"]]
    file = workbook(tmp_path, people=rows)
    with pytest.raises(InputError, match="the header seems to have two rows"):
        read_table(file)
    assert read_table(file, header_rows=2).to_arrow().to_pydict() == {
        "home town": ["Ulm"], "home zip": [1], "work town": ["Bonn"],
    }  # fmt: skip


@pytest.mark.parametrize("rows", [0, 9])
def test_a_header_that_is_not_there_is_refused(tmp_path, rows):
    with pytest.raises(InputError, match="header"):
        read_table(written(tmp_path, GROUPED), header_rows=rows)


HEADERLESS = [
    "Zaphod,m,Ulm\nAnn,f,Ulm\nBob,m,Bonn\n",
    "Zaphod Beeblebrox,zaphod@example.org,m\nAnn Lee,ann@example.org,m\n",
    "m,Ulm\nf,Ulm\nm,Bonn\nm,Ulm\n",
    "Zaphod Beeblebrox,gout,41\nAnn Lee,flu,37\nBob Ray,cold,52\nCid Poe,cough,8\n",
]


@pytest.mark.parametrize("text", HEADERLESS)
def test_a_file_without_a_header_is_recognised_and_not_shown(tmp_path, text):
    with pytest.raises(InputError, match="the first line holds values") as error:
        read_table(written(tmp_path, text))
    assert not any(cell in str(error.value) for line in text.splitlines() for cell in line.split(",") if len(cell) > 1)


HEADERS = [
    "a,b\nx,1\n",
    "sex,town\nm,Ulm\nf,Ulm\n",
    "name,name2\nname,x\n",
    "a,b\na,b\n1,2\n",
    "land,code,2020\nUlm,x,12\nBonn,y,31000\nKiel,z,400\n",  # a year above counts
    "land,code,town,10,20\nU,x,p,12,9\nB,y,q,3,70\nK,z,r,40,30\n",  # several numbers name a series of columns
]


@pytest.mark.parametrize("text", HEADERS)
def test_a_header_is_taken_for_one(tmp_path, text):
    assert list(read_table(written(tmp_path, text)).columns) == text.splitlines()[0].split(",")


def workbook(tmp_path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_a_workbook_with_several_sheets_says_which_was_read(tmp_path):
    file = workbook(tmp_path, README=[["about"], ["these data"]], people=[["age"], [30]])
    assert read_table(file).notes == ("the workbook has 2 sheets; 'README' was read, not: people",)
    assert read_table(file, sheet="people").notes == ()


def test_a_workbook_without_a_header_is_recognised_and_not_shown(tmp_path):
    rows = [["Zaphod", "m", "Ulm"], ["Ann", "f", "Ulm"], ["Bob", "m", "Bonn"]]
    with pytest.raises(InputError, match="the first line holds values") as error:
        read_table(workbook(tmp_path, people=rows))
    assert "Zaphod" not in str(error.value)


def test_a_first_line_with_a_home_and_a_town_that_occurs_again_is_no_header(tmp_path):
    people = "".join(f"Person {chr(65 + n)},Ring {n},{('Berlin', 'Ulm')[n % 2]}\n" for n in range(20))
    file = tmp_path / "homes.csv"
    file.write_text("Anna Meyer,Hauptweg 1,Berlin\n" + people)
    with pytest.raises(InputError, match="the first line holds values") as error:
        read_table(file)
    assert "Meyer" not in str(error.value)
    for header in ("name,street 1,town", "name,Hauptweg 1,town"):  # nothing of it occurs again
        file.write_text(f"{header}\n{people}")
        assert read_table(file).rows == 20
    file.write_text("item 1,unit 2,town,note\n" + "3,4,town,x\n5,6,Ulm,y\n" * 9)  # cells below are no homes
    assert read_table(file).rows == 18
