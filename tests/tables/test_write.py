"""Output files: whole or not at all."""

import csv
import os
import stat
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd import InputError, read_table
from incrowd._support import files
from incrowd._support.files import written_whole
from incrowd.tables import to_native, write, write_table
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.text_dialect import TextDialect
from incrowd.tables.write import describe_text


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "tsv"])
def test_what_is_written_is_what_is_read(kind, tmp_path):
    table = pa.table({"zip": ["00501", None], "n": [1, -2], "x": [0.5, 2.25]})
    write_table(table, tmp_path / f"t.{kind}")
    assert read_table(tmp_path / f"t.{kind}").to_arrow().to_pydict() == table.to_pydict()


def test_orc_takes_nulls_and_small_unsigned_numbers_and_refuses_in_words_what_it_cannot_hold(tmp_path):
    columns = {"n": pa.array([1, 2**32 - 1], pa.uint32()), "x": pa.nulls(2), "y": pa.nulls(2).dictionary_encode()}
    write_table(pa.table(columns), tmp_path / "t.orc")
    assert read_table(tmp_path / "t.orc").to_arrow().to_pydict() == {
        "n": [1, 2**32 - 1],
        "x": [None, None],
        "y": [None, None],
    }
    for kind in (pa.duration("s"), pa.uint64()):
        with pytest.raises(InputError, match=r"ORC files hold no columns of type (duration|uint64)"):
            write_table(pa.table({"n": pa.array([5], kind)}), tmp_path / "u.orc")
    assert not (tmp_path / "u.orc").exists()


def test_text_a_spreadsheet_would_run_is_escaped(tmp_path):
    cells = ["=1+1", "@SUM(A1)", "+49 30", "-5", "plain", None]
    write_table(pa.table({"x": cells, "n": [-1] * 6}), tmp_path / "t.csv")
    found = read_table(tmp_path / "t.csv").to_arrow().to_pydict()
    assert found["x"] == ["'=1+1", "'@SUM(A1)", "'+49 30", "-5", "plain", None]
    assert found["n"] == [-1] * 6


def test_a_file_that_exists_is_not_replaced_unasked(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_table(pa.table({"x": [1]}), file)
    assert file.read_text() == "mine"
    write_table(pa.table({"x": [1]}), file, force=True)
    assert file.read_text() != "mine"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "t.txt"
    file.write_text("old")

    def fail_half_way():
        with written_whole(file, force=True) as temporary:
            temporary.write_text("half")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        fail_half_way()
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def test_a_full_disk_is_said_in_words(tmp_path):
    def fill():
        with written_whole(tmp_path / "t.csv"):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="the disk is full; free space"):
        fill()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["t.pdf", "t", "."])
def test_what_cannot_be_written_is_refused(path, tmp_path):
    with pytest.raises(InputError):
        write_table(pa.table({"x": [1]}), tmp_path / path)


def test_the_callers_kind_of_frame_comes_back():
    table = pa.table({"x": [1, 2]})
    assert isinstance(to_native(table, pd.DataFrame({"y": [1]})), pd.DataFrame)
    assert isinstance(to_native(table, pl.DataFrame({"y": [1]})), pl.DataFrame)
    assert isinstance(to_native(table, pl.LazyFrame({"y": [1]})), pl.LazyFrame)
    assert to_native(table, None) is table


def test_a_columns_name_is_escaped_too(tmp_path):
    path = write_table(pa.table({"=x": ["a"], "-y": [1]}), tmp_path / "a.csv")
    assert path.read_text().splitlines()[0] == """\"'=x\",\"'-y\""""


def test_csv_in_blocks_is_the_csv_written_whole(tmp_path):
    from incrowd.tables.formats.write_delimited import csv_blocks

    table = pa.table({"=a": ["x", "=1+1", None, "-3"], "b": pa.array(["u", "@v", "u", "w"]).dictionary_encode()})
    whole = write_table(table, tmp_path / "a.csv").read_bytes()
    parts = [table.schema.empty_table(), table.slice(0, 3), table.slice(3)]
    assert b"".join(csv_blocks(parts)) == whole


@pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "hidden"])
def test_the_plain_copy_of_a_compressed_file_is_private(tmp_path, monkeypatch, nameless):
    seen = []

    def write_csv(table, file, codebook):
        seen.append((stat.S_IMODE(file.parent.stat().st_mode), file.parent))
        assert len(os.listdir(tmp_path)) == (0 if nameless else 1)  # the compressed draft
        write_plain(table, file, codebook)

    write_plain = write.WRITERS[".csv"]
    if not nameless:
        monkeypatch.setattr(files, "_NamelessDraft", files._HiddenDraft)
    monkeypatch.setitem(write.WRITERS, ".csv", write_csv)
    write_table(pa.table({"n": [1, 2]}), tmp_path / "t.csv.gz")
    ((mode, folder),) = seen
    assert mode == 0o700
    assert not folder.exists()
    assert os.listdir(tmp_path) == ["t.csv.gz"]
    assert read_table(tmp_path / "t.csv.gz").to_arrow().to_pydict() == {"n": [1, 2]}


def test_text_that_a_spreadsheet_would_run_is_escaped_in_every_column(tmp_path):
    starts = ["=1", "+a", "-a", "@a", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠a"]
    plain = ["-1", "-1.5", "+2", "a=1", " =1", ""]
    rows = len(starts + plain)
    table = pa.table(
        {
            "text": starts + plain,
            "bytes": pa.array([text.encode() for text in starts + plain]),
            "few": pa.array([b"=1"] * rows, pa.binary(2)),
            "no text": pa.array([b"\xff="] * rows),
            "＝n": range(rows),
        }
    )
    file = write_table(table, tmp_path / "t.csv")
    with file.open(encoding="utf-8", newline="") as opened:
        names, *cells = csv.reader(opened)
    assert names == ["text", "bytes", "few", "no text", "'＝n"]
    for column in (0, 1):
        assert [row[column] for row in cells] == [f"'{text}" for text in starts] + plain
    assert {(row[2], row[3]) for row in cells} == {("'=1", "ff3d")}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_table_is_written_in_the_dialect_that_it_was_read_in(tmp_path, encoding):
    file = tmp_path / "a.csv"
    file.write_text("ville;poids;né\nOrléans;1,5;1\nNîmes;;2\nOrléans;-2,25;\n", encoding=encoding)
    read = read_table(file)
    assert read.codebook.dialect == TextDialect(";", ",", encoding)
    again = write_table(read.to_arrow(), tmp_path / "b.csv", codebook=read.codebook)
    assert again.read_text(encoding=encoding) == (
        '"ville";"poids";"né"\n"Orléans";"1,5";1\n"Nîmes";;2\n"Orléans";"-2,25";\n'
    )
    back = read_table(again)
    assert back.to_arrow().equals(read.to_arrow())
    assert back.codebook.dialect == read.codebook.dialect
    tabs = write_table(read.to_arrow(), tmp_path / "b.tsv", codebook=read.codebook)
    assert tabs.read_text(encoding=encoding).splitlines()[1] == '"Orléans"\t"1,5"\t1'
    assert describe_text(read.to_arrow(), again, read.codebook).startswith("cells parted by semicolons, decimal commas")


@pytest.mark.parametrize(
    ("cells", "asked", "used"),
    [
        ({"x": ["Łódź"], "y": [1.5]}, TextDialect(";", ",", "cp1252"), (";", ",", "utf-8")),
        ({"Łódź": ["x"], "y": [1.5]}, TextDialect(";", ",", "cp1252"), (";", ",", "utf-8")),
        (
            {"x": ["Ã©", None], "y": [1.5, 2.5]},
            TextDialect(";", ",", "cp1252"),
            (";", ",", "utf-8"),
        ),  # would be read as é
        ({"x": [1.255, 12.125], "y": ["a", "b"]}, TextDialect(";", ","), (";", ".", "utf-8")),  # as 1255 and 12125
        ({"x": [1.255, 12.5]}, TextDialect(";", ","), (";", ".", "utf-8")),  # alone, without a semicolon
        ({"x": [1.255, 12.5], "y": ["a", "b"]}, TextDialect(";", ","), (";", ",", "utf-8")),
        ({"x": [1.5]}, TextDialect(",", ",", "iso8859-1"), (",", ".", "cp1252")),
        ({"x": [1.5]}, TextDialect(" ", ",", "cp1250"), (",", ".", "utf-8")),
        ({"x": [1.5]}, TextDialect(":", "."), (",", ".", "utf-8")),
    ],
)
def test_a_dialect_that_cannot_hold_the_rows_is_not_taken_and_that_is_said(tmp_path, cells, asked, used):
    rows, book = pa.table(cells), FileCodebook(dialect=asked)
    file = write_table(rows, tmp_path / "a.csv", codebook=book)
    assert read_table(file).to_arrow().to_pydict() == rows.to_pydict()
    found = asked.for_file([rows], ".csv")
    assert (found.separator, found.decimal, found.encoding) == used
    said = describe_text(rows, file, book)
    assert ("not cp1252" in said) == (asked.encoding == "cp1252" and used[2] != "cp1252")
    assert ("cp1250, which readers do not recognise" in said) == (asked.encoding == "cp1250")
    assert ("which would not keep every letter" in said) == ("not cp1252" in said)
    assert ("which a reader may miss or take for a part of a cell" in said) == (used[0] != asked.separator)
    assert ("with commas its numbers" in said) == (used[1] == "." and asked.decimal == ",")


def test_tabs_are_written_in_a_tsv_only_and_that_is_said():
    rows = pa.table({"x": [1.5], "y": ["a"]})
    tabs, bars = (FileCodebook(dialect=TextDialect(separator)) for separator in "\t|")
    assert "commas (tabs are written in a .tsv only)" in describe_text(rows, Path("a.csv"), tabs)
    assert "tabs (as every .tsv has them)" in describe_text(rows, Path("a.tsv"), bars)
    assert describe_text(rows, Path("a.tsv"), tabs) == "cells parted by tabs, decimal points"
