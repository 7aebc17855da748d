"""CSV files as people write them."""

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import ClassSizes, InputError, read_table
from incrowd.tables.sniff_dialect import BLOCK_BYTES


def write(folder, text, name="table.csv", encoding="utf-8"):
    file = folder / name
    file.write_bytes(text.encode(encoding))
    return file


def column(table, name):
    ((_, found),) = table.read([name])
    return found.to_pylist()


def kind(table, name):
    ((_, found),) = table.read([name])
    return found.type


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path, separator):
    rows = [["name", "age"], ["O'Neil", "3"], ["Ärger", "4"]]
    table = read_table(write(tmp_path, "\n".join(separator.join(row) for row in rows) + "\n"))
    assert table.columns == ("name", "age")
    assert column(table, "age") == [3, 4]


def test_quotes_commas_and_line_breaks_in_cells(tmp_path):
    table = read_table(write(tmp_path, 'a,b\n"x, y","say ""hi"""\n"two\nlines",z\n'))
    assert column(table, "a") == ["x, y", "two\nlines"]
    assert column(table, "b") == ['say "hi"', "z"]


def test_types_are_kept(tmp_path):
    text = "zip,n,x,day,when,word,big,none\n00501,1,0.5,2020-01-31,2020-01-31 10:00:00,a,99999999999999999999,\n"
    text += "02139,-2,1e3,1999-12-01,2021-05-05 23:59:59,1,1,\n"
    table = read_table(write(tmp_path, text))
    assert column(table, "zip") == ["00501", "02139"]
    assert column(table, "n") == [1, -2]
    assert column(table, "x") == [0.5, 1000.0]
    assert kind(table, "day") == pa.date32()
    assert pa.types.is_timestamp(kind(table, "when"))
    assert column(table, "word") == ["a", "1"]
    assert column(table, "big") == ["99999999999999999999", "1"]  # past 64 bits a number would lose digits
    assert column(table, "none") == [None, None]


@pytest.mark.parametrize(
    "cells",
    [
        ["+5", "6"],
        ["007", "8"],
        [" 5", "6"],
        ["1_000", "2"],
        ["0x10", "1"],
        ["1.00000000000000001", "1"],
        ["-007.5", "1.5"],
    ],
)
def test_numbers_in_another_shape_stay_as_written(tmp_path, cells):
    table = read_table(write(tmp_path, "a,b\n" + "".join(f'"{cell}",x\n' for cell in cells)))
    assert column(table, "a") == cells


@pytest.mark.parametrize(
    "cells", [["11/12/2020", "01/02/2021"], ["Dec 3 2020", "Jan 1 2021"], ["2020-02-30", "2020-01-01"]]
)
def test_dates_in_another_shape_stay_as_written(tmp_path, cells):
    table = read_table(write(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert column(table, "a") == cells


def test_a_type_that_only_the_last_row_breaks_is_not_taken(tmp_path):
    rows = [str(number) for number in range(30_000)] + ["none of your business"]
    table = read_table(write(tmp_path, "a,b\n" + "".join(f"{row},x\n" for row in rows)))
    assert column(table, "a") == rows


def test_decimal_commas_are_numbers_where_the_comma_does_not_part_the_cells(tmp_path):
    rows = ["3,5;1,250;1,5;2,00000000000000001;7", "-12;3,400;1.5;1;7", ";;2;3;7", "0,25;2,000;3;4;8"]
    table = read_table(write(tmp_path, "x;thousands;mixed;long;whole\n" + "\n".join(rows) + "\n"))
    assert column(table, "x") == [3.5, -12.0, None, 0.25]
    assert column(table, "thousands") == ["1,250", "3,400", None, "2,000"]  # 1250 or 1.25? nobody can say
    assert column(table, "mixed") == ["1,5", "1.5", "2", "3"]
    assert column(table, "long")[0] == "2,00000000000000001"  # a double would lose the last digit
    assert kind(table, "whole") == pa.int64()
    assert table.notes == ("read as numbers with a decimal comma: x",)
    assert table.lazy(["x"]).collect()["c0"].to_list() == [3.5, -12.0, None, 0.25]
    quoted = read_table(write(tmp_path, 'a,b\n"3,5",1\n'))
    assert column(quoted, "a") == ["3,5"]


def test_decimal_commas_keep_all_digits_of_a_double(tmp_path):
    weights = [
        2634.3982157,
        0.1 + 0.2,
        12091.661324679003,
        4092.4039999999995,
    ]  # the shortest texts have up to 17 digits
    shares = [f"{weight!r}%".replace(".", ",") for weight in weights]
    rows = [f"{weight!r};{share}".replace(".", ",") for weight, share in zip(weights, shares, strict=True)]
    table = read_table(write(tmp_path, "poids;share\n" + "\n".join(rows) + "\n"))
    assert column(table, "poids") == weights
    assert column(table, "share") == shares  # no notation has a comma and a unit
    assert table.lazy(["poids"]).collect()["c0"].to_list() == weights
    shares = read_table(write(tmp_path, "share\n" + "".join(f"{weight!r}%\n" for weight in weights)))
    assert column(shares, "share") == weights


def test_days_before_months_and_points_between_thousands_are_read_where_they_are_unambiguous(tmp_path):
    rows = [
        "24.12.2001;63.689,86;1.234;31.02.2001;1.2.2001",
        ";-1.250.000;2.500;01.02.2001;01.02.2001",
        "01.02.1999;12,5;3.000;;",
    ]
    table = read_table(write(tmp_path, "born;pay;unclear;invalid;short\n" + "\n".join(rows) + "\n"))
    days, pay = [date(2001, 12, 24), None, date(1999, 2, 1)], [63689.86, -1250000.0, 12.5]
    assert (column(table, "born"), column(table, "pay")) == (days, pay)
    found = table.lazy(["born", "pay"]).collect()
    assert (found["c0"].to_list(), found["c1"].to_list()) == (days, pay)
    assert column(table, "unclear") == [1.234, 2.5, 3.0]  # a plain number: no comma says that the point parts thousands
    assert column(table, "invalid") == ["31.02.2001", "01.02.2001", None]
    assert column(table, "short") == [date(2001, 2, 1), date(2001, 2, 1), None]
    assert table.notes == (
        "read as numbers with points between thousands and a decimal comma: pay",
        "read as dates, the day before the month: born, short",
    )
    long = read_table(write(tmp_path, "a;b\n1.234,5;1\n1.234.567.890.123.456,5;2\n"))
    assert column(long, "a")[0] == "1.234,5"  # a double would lose digits of the other
    assert column(read_table(write(tmp_path, 'a,b\n"1.234,5",1\n')), "a") == ["1.234,5"]


def test_an_empty_cell_and_a_stated_word_are_null(tmp_path):
    file = write(tmp_path, "a,b\n1,x\n,y\nNA,z\n")
    assert column(read_table(file), "a") == [1, None, None]  # announced, as the column is otherwise numbers
    assert "missing values" in read_table(file).notes[0]
    assert column(read_table(file, null="NA"), "a") == [1, None, None]
    assert column(read_table(write(tmp_path, "a,b\nx,1\n,2\nNA,3\n")), "a") == ["x", None, "NA"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings_are_found(tmp_path, encoding):
    table = read_table(write(tmp_path, "naïve,b\ncafé,1\n", encoding=encoding))
    assert table.columns == ("naïve", "b")
    assert column(table, "naïve") == ["café"]
    assert bool(table.notes) == (encoding in {"utf-16", "cp1252", "latin-1"})


def test_an_encoding_that_was_asked_for_is_used(tmp_path):
    file = write(tmp_path, "a,b\nпривет,1\n", encoding="koi8-r")
    assert column(read_table(file, encoding="koi8-r"), "a") == ["привет"]
    with pytest.raises(InputError, match="cannot be read as utf-8"):
        read_table(file, encoding="utf-8")
    with pytest.raises(InputError, match="not known"):
        read_table(file, encoding="klingon")


def test_ragged_lines_are_reported_by_number_and_never_quoted(tmp_path):
    file = write(tmp_path, "a,b\n1,2\nsecret\n3,4\n5,6,topsecret\n")
    with pytest.raises(InputError, match=r"2 lines do not fit the header of 2 columns: line 3 .*5") as error:
        read_table(file)
    assert "secret" not in str(error.value)
    table = read_table(file, skip_bad_lines=True)
    assert column(table, "a") == [1, 3]
    assert "2 lines" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,a\n1,2,3\n", "more than once: a"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ("\n\n", "no header"),
    ],
)
def test_a_bad_header_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path, text))


def test_bytes_that_are_not_text_are_refused(tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(InputError, match="zero bytes"):
        read_table(file)


def test_a_quote_that_never_closes_is_refused_without_quoting_it(tmp_path):
    file = write(tmp_path, 'a,b\n1,"topsecret\n' + "2,3\n" * 50)
    with pytest.raises(InputError) as error:
        read_table(file)
    assert "topsecret" not in str(error.value)


def test_capital_letters_tell_columns_apart(tmp_path):
    assert column(read_table(write(tmp_path, "a,A\n1,2\n")), "A") == [2]


def test_a_header_longer_than_what_is_sniffed(tmp_path):
    names = [f"{'long' * 200}{number}" for number in range(500)]
    table = read_table(write(tmp_path, ",".join(names) + "\n" + ",".join(["1"] * 500) + "\n"))
    assert table.columns == tuple(names)


@pytest.mark.parametrize("before", ["", "a,b\n1,2,3\n"])
def test_a_cell_of_many_megabytes_is_refused_in_words(tmp_path, before):
    (file := tmp_path / "long.csv").write_text(before + '"' + "x" * (BLOCK_BYTES + 9) + '",2\n')
    with pytest.raises(InputError):
        read_table(file)


def test_blank_lines_before_the_header_are_skipped(tmp_path):
    table = read_table(write(tmp_path, "\n\na,b\n1,2\n3,4\n"))
    assert column(table, "a") == [1, 3]


def test_a_header_over_two_lines(tmp_path):
    table = read_table(write(tmp_path, '"a\nb",c\n1,2\n'))
    assert table.columns == ("a\nb", "c")
    assert column(table, "c") == [2]


@pytest.mark.parametrize(
    "cells", [["9007199254740993", "9007199254740992", "0.5"], ["1e-400", "0.5"], ["1e999", "0.5"]]
)
def test_numbers_that_a_double_cannot_keep_stay_text(tmp_path, cells):
    table = read_table(write(tmp_path, "a,b\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert column(table, "a") == cells


def test_numbers_that_programs_write_with_seventeen_digits_are_numbers(tmp_path):
    cells = [0.1 + 0.2, -0.0, 0.0, 1e-300, 2 / 3, float("inf"), 123456.78901234567]
    table = read_table(write(tmp_path, "a,b\n" + "".join(f"{cell!r},x\n" for cell in cells)))
    assert column(table, "a") == cells
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).histogram() == {1: 5, 2: 1}


def test_a_folder_for_temporary_files_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="TMPDIR names"):
        read_table(write(tmp_path, "a,b\n1,2\n"))


def test_an_empty_line_in_a_single_column_is_an_empty_cell(tmp_path):
    assert column(read_table(write(tmp_path, "a\n1\n\n2\n")), "a") == [1, None, 2]


def test_a_first_line_of_values_is_refused_and_not_shown(tmp_path):
    with pytest.raises(InputError, match="put a line of names before it") as error:
        read_table(write(tmp_path, "John Smith,1980-01-01,HIV\nJane,1990-02-02,flu\n"))
    assert "Smith" not in str(error.value)


@pytest.mark.parametrize("row", ['40,"he said hello', '40,"he said hello\n41,x\n42,5" wide'])
def test_an_open_quote_is_found_though_another_makes_the_number_even(tmp_path, row):
    text = 'a,b\n1,pipe of 5" wide\n' + "2,x\n" * 300 + row + "\n" + "3,y\n" * 300
    with pytest.raises(InputError, match="opened after line 302"):
        read_table(write(tmp_path, text))


def test_not_a_number_in_a_column_of_numbers_is_missing(tmp_path):
    table = read_table(write(tmp_path, "x,y\n1.0,a\nNaN,a\n,a\n2.5,a\nNaN,a\n2.50,a\ninf,a\n"))
    assert column(table, "x") == [1.0, None, None, 2.5, None, 2.5, float("inf")]
    words = read_table(write(tmp_path, "x,y\nNaN,a\nnan,b\n"))
    assert column(words, "x") == ["NaN", "nan"]


def test_blanks_around_a_columns_name_are_not_part_of_it(tmp_path):
    assert read_table(write(tmp_path, "age, sex\n1,f\n")).columns == ("age", "sex")


def test_an_open_quote_in_the_last_line_is_refused(tmp_path):
    with pytest.raises(InputError, match="never closed"):
        read_table(write(tmp_path, 'a,b\n1,2\n3,"topsecret'))


@pytest.mark.parametrize(
    "how",
    [
        *({"encoding": name} for name in ("base64", "rot13", "idna", "punycode")),
        {"separator": "§"},
        {"separator": ",,"},
    ],
)
def test_impossible_ways_of_reading_are_refused(tmp_path, how):
    with pytest.raises(InputError):
        read_table(write(tmp_path, "a,b\n1,2\n"), **how)


def test_a_mark_before_utf8_is_no_part_of_a_name(tmp_path):
    assert read_table(write(tmp_path, "a,b\n1,2\n", encoding="utf-8-sig"), encoding="utf-8").columns == ("a", "b")


def test_one_column_is_a_table(tmp_path):
    assert column(read_table(write(tmp_path, "age\n3\n4\n")), "age") == [3, 4]


def test_ten_thousand_columns(tmp_path):
    width = 10_000
    text = ",".join(f"c{n}" for n in range(width)) + "\n" + ",".join(str(n) for n in range(width)) + "\n"
    table = read_table(write(tmp_path, text))
    assert len(table.columns) == width
    assert column(table, "c77") == [77]


def test_a_header_without_rows_has_no_rows(tmp_path):
    assert read_table(write(tmp_path, "a,b\n")).rows == 0


def test_the_private_copy_is_gone_when_nobody_needs_it(tmp_path, monkeypatch):
    import gc
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = write(tmp_path, "a,b\n1,2\n")
    table = read_table(file)
    assert list(tmp_path.glob("incrowd-*"))
    del table
    gc.collect()
    assert not list(tmp_path.glob("incrowd-*"))


@given(st.lists(st.tuples(st.text(max_size=6), st.integers(-(10**20), 10**20) | st.none()), min_size=1, max_size=8))
def test_what_is_written_is_what_is_read(tmp_path_factory, rows):
    import csv

    rows = [("w" + "".join(c for c in word if c.isprintable()), number) for word, number in rows]
    file = tmp_path_factory.mktemp("csv") / "table.csv"
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["word", "number"])
        writer.writerows([word, "" if number is None else number] for word, number in rows)
    table = read_table(file)
    assert column(table, "word") == [word for word, _ in rows]
    assert [None if n is None else int(n) for n in column(table, "number")] == [number for _, number in rows]
