"""A yes is about a file: what it holds besides the rows that were counted was judged by nobody."""

import sqlite3
import zipfile
from contextlib import closing

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from incrowd import assess, protect, read_table
from incrowd.protection import write_protected

pytestmark = pytest.mark.usefixtures("no_child_processes", "quick_estimates")

ROWS = [(town, sex) for town in ("Ulm", "Bonn") for sex in ("f", "m") for _ in range(12)]
TEXT = "town,sex\n" + "".join(f"{town},{sex}\n" for town, sex in ROWS)
ASKED = {"quasi_identifiers": ["town", "sex"], "recipient": "public", "rows_are_people": True}


def workbook(folder):
    book = openpyxl.Workbook()
    for row in [("town", "sex"), *ROWS]:
        book.active.append(row)
    book.create_sheet("contacts").append(("name", "phone"))
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx", {"sheet": "Sheet"}, "1 other sheet, contacts"


def archive(folder):
    with zipfile.ZipFile(folder / "people.zip", "w") as packed:
        packed.writestr("people.csv", TEXT)
        packed.writestr("contacts.pdf", "somebody")
    return folder / "people.zip", {}, "1 other file, contacts.pdf"


def skipped_line(folder):
    (folder / "people.csv").write_text(TEXT + "Ulm,f,somebody\n", encoding="utf-8")
    return folder / "people.csv", {"skip_bad_lines": True}, "1 line unlike its header"


def row_names(folder):
    lines = [f"{number},{line}" if number else f'"",{line}' for number, line in enumerate(TEXT.splitlines())]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "people.csv", {}, "a first column of row names"


def missing_codes(folder):
    (folder / "people.csv").write_text(TEXT + "Ulm,-8\n" + "Ulm,-9\n" * 11, encoding="utf-8")
    return (
        folder / "people.csv",
        {"null": "-8,-9"},
        "perhaps several codes for a missing value, which were counted as one",
    )


def missing_codes_of_a_column(folder):
    (folder / "people.csv").write_text(TEXT + "Ulm,-8\n" * 11 + "Ulm,-9\n" * 11, encoding="utf-8")
    return folder / "people.csv", {"null": "sex=-8,-9"}, "perhaps several codes for a missing value"


def a_missing_code_and_empty_cells(folder):
    (folder / "people.csv").write_text(TEXT + "Ulm,-8\n" * 11 + "Ulm,\n" * 11, encoding="utf-8")
    return folder / "people.csv", {"null": "sex=-8"}, "perhaps several codes for a missing value"


def spellings(folder):
    (folder / "people.csv").write_text(TEXT + "Ulm,F\n", encoding="utf-8")
    return folder / "people.csv", {"fold": True}, "spellings that were read as one value in sex"


def metadata(folder):
    towns, sexes = zip(*ROWS, strict=True)
    table = pa.table({"town": towns, "sex": sexes}).replace_schema_metadata({"contacts": "somebody"})
    pq.write_table(table, folder / "people.parquet")
    return folder / "people.parquet", {}, "metadata (contacts)"


def database(folder):
    with closing(sqlite3.connect(folder / "people.sqlite")) as opened, opened:
        opened.execute("create table people (town text, sex text)")
        opened.executemany("insert into people values (?, ?)", ROWS)
        opened.execute("create table contacts (name text)")
    return folder / "people.sqlite", {"table": "people"}, "1 other table, contacts"


def fixed_width(folder):
    (folder / "layout.csv").write_text("name,start,width\ntown,1,4\nsex,5,1\n", encoding="utf-8")
    lines = "".join(f"{town:4}{sex}somebody\n" for town, sex in ROWS)
    (folder / "people.txt").write_text(lines, encoding="utf-8")
    return folder / "people.txt", {"layout": folder / "layout.csv"}, "characters outside the columns of the layout"


def codes(folder):
    rows = pd.DataFrame(
        [(1, sex == "f") for _, sex in ROWS] + [(-8, True)] + [(-9, True)] * 11, columns=["town", "sex"]
    )
    rows = rows.astype("float64")
    pyreadstat.write_sav(rows, folder / "people.sav", missing_ranges={"town": [{"lo": -9, "hi": -8}]})
    return folder / "people.sav", {}, "codes that were read as one missing value in town"


MAKERS = [
    *(workbook, archive, skipped_line, row_names, missing_codes, missing_codes_of_a_column),
    *(a_missing_code_and_empty_cells, spellings, metadata, database, fixed_width, codes),
]


@pytest.mark.parametrize("make", MAKERS)
def test_what_a_file_holds_beside_its_rows_is_no_yes_until_it_is_written_anew(tmp_path, make):
    path, reading, words = make(tmp_path)
    table = read_table(path, **reading)
    verdict = assess(table, **ASKED).verdict
    assert verdict.decision == "exposed"
    assert words in verdict.exposures[0]
    assert [action.expected["decision"] for action in verdict.actions if action.expected] == ["within"]
    release = tmp_path / "safe.csv"
    write_protected(protect(table, quasi_identifiers=["town", "sex"], k=11), release)
    assert assess(release, **ASKED, protection=False).verdict.decision == "within"


def test_a_file_of_one_table_holds_no_more(tmp_path):
    plain = tmp_path / "people.csv"
    plain.write_text(TEXT, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "people.zip", "w") as packed:
        packed.write(plain, "people.csv")
    for path in (plain, tmp_path / "people.zip"):
        assert read_table(path).not_counted == ()
        assert assess(path, **ASKED, protection=False).verdict.decision == "within"


def test_one_code_of_a_column_without_empty_cells_is_no_other_content(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT + "Ulm,refused\n" * 11, encoding="utf-8")
    table = read_table(path, null="sex=refused")
    assert table.not_counted == ()
    assert assess(table, **ASKED, protection=False).verdict.decision == "within"
