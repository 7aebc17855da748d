"""A yes is about bytes: everything in a folder, an archive or a file that is not a counted row is named."""

import bz2
import gzip
import lzma
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from openpyxl.comments import Comment
from pyarrow import orc

from incrowd import check, protect, read_table
from incrowd.assessment import Question
from incrowd.errors import InputError
from incrowd.protection import write_protected
from incrowd.tables.formats import feather

pytestmark = pytest.mark.usefixtures("no_child_processes", "quick_estimates")

ROWS = 3_000
PLANTED = b"John Smith,42,cancer\n" * 20
TABLE = pa.table(
    {
        "age": [row % 90 for row in range(ROWS)],
        "town": [None if row % 7 == 0 else f"town{row % 40}" for row in range(ROWS)],
        "pay": [row / 7 for row in range(ROWS)],
        "visits": pa.nulls(ROWS, pa.int32()),
        "code": [f"code{row}" for row in range(ROWS)],
    }
)


def write_sqlite(path):
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("create table people (age integer, town text)")
        opened.executemany("insert into people values (?, ?)", ((row % 90, f"town{row}") for row in range(ROWS)))


def write_by_duckdb(path):
    duckdb.connect().from_arrow(TABLE).write_parquet(str(path))


def write_workbook(path, strange=False):
    book = openpyxl.Workbook()
    for row in [("age", "town"), *((row, f"town{row}") for row in range(9))]:
        book.active.append(row)
    if strange:
        book.active["A1"].comment = Comment("John Smith", "somebody")
    book.save(path)


PLAIN = {
    "arrow.parquet": lambda path: pq.write_table(TABLE, path),
    "pages.parquet": lambda path: pq.write_table(
        TABLE, path, write_page_index=True, data_page_version="2.0", row_group_size=700, data_page_size=512
    ),
    "gzip.parquet": lambda path: pq.write_table(TABLE, path, compression="gzip", use_dictionary=False, version="1.0"),
    "nested.parquet": lambda path: pq.write_table(pa.table({"l": [[1, 2], None, []], "s": [{"x": "y"}] * 3}), path),
    "polars.parquet": lambda path: pl.from_arrow(TABLE).write_parquet(path, row_group_size=900),
    "duckdb.parquet": write_by_duckdb,
    "lz4.feather": lambda path: pyarrow.feather.write_feather(TABLE, str(path)),
    "zstd.feather": lambda path: pyarrow.feather.write_feather(TABLE, str(path), compression="zstd"),
    "codes.feather": lambda path: pyarrow.feather.write_feather(
        TABLE.set_column(1, "town", TABLE["town"].dictionary_encode()), str(path), compression="uncompressed"
    ),
    "people.orc": lambda path: orc.write_table(TABLE, str(path), compression="zstd"),
    "people.sqlite": write_sqlite,
    "people.xlsx": write_workbook,
    "people.csv.gz": lambda path: path.write_bytes(gzip.compress(b"age,town\n30,Ulm\n")),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_file_of_rows_alone_holds_no_more(tmp_path, name):
    PLAIN[name](tmp_path / name)
    assert read_table(tmp_path / name).contents_not_counted() == ()


def bytes_before_the_footer(path):
    pq.write_table(TABLE, path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[:footer] + PLANTED + whole[footer:])


def bytes_inside_the_footer(path):
    pq.write_table(TABLE, path)
    whole = path.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little") + len(PLANTED)
    path.write_bytes(whole[:-8] + PLANTED + struct.pack("<I", length) + whole[-4:])


def field_that_the_format_lacks(path):
    pq.write_table(TABLE, path)
    whole = path.read_bytes()
    assert whole[-9:-8] == b"\0"  # the end of the footer's fields; the new one is number 40, a text
    field = b"\x08" + bytes([2 * 40, len(PLANTED) & 127 | 128, len(PLANTED) >> 7]) + PLANTED + b"\0"
    length = int.from_bytes(whole[-8:-4], "little") + len(field) - 1
    path.write_bytes(whole[:-9] + field + struct.pack("<I", length) + whole[-4:])


def unused_entry(path):
    pq.write_table(pa.table({"town": pa.array(["Ulm", "Bonn", "Jena"]).dictionary_encode().slice(0, 2)}), path)


def unused_entry_of_arrow(path):
    column = pa.array(["Ulm", "Bonn", "Jena"]).dictionary_encode().slice(0, 2)
    pyarrow.feather.write_feather(pa.table({"town": column}), str(path))


def text_of_rows_that_were_cut_off(path):
    pyarrow.feather.write_feather(TABLE.select(["code"]).slice(0, 1_001), str(path), compression="uncompressed")


def value_under_a_null(path):
    validity, values = pa.py_buffer(b"\x05"), pa.py_buffer(np.array([1, 4711, 3]).tobytes())
    column = pa.Array.from_buffers(pa.int64(), 3, [validity, values])
    assert column.null_count == 1
    pyarrow.feather.write_feather(pa.table({"pay": column}), str(path))


def deleted_rows(path):
    write_sqlite(path)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("pragma secure_delete = off")
        opened.execute("delete from people where age < 20")
    assert b"town19" in path.read_bytes()


def comment_of_a_cell(path):
    write_workbook(path, strange=True)


def text_that_no_cell_has(path):
    plain = path.with_name("plain.xlsx")
    write_workbook(plain)
    with zipfile.ZipFile(plain) as read, zipfile.ZipFile(path, "w") as packed:
        for name in read.namelist():
            packed.writestr(name, read.read(name))
        packed.writestr("xl/sharedStrings.xml", "<sst><si><t>John Smith</t></si></sst>")


def bytes_before_an_archive(path):
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("people.csv", "age\n30\n")
    path.write_bytes(PLANTED + path.read_bytes())


def comment_of_a_member(path):
    with zipfile.ZipFile(path, "w") as packed:
        member = zipfile.ZipInfo("people.csv")
        member.comment = PLANTED
        packed.writestr(member, "age\n30\n")


def comment_of_a_compressed_file(path):
    packed = gzip.compress(b"age\n30\n")
    path.write_bytes(packed[:3] + b"\x10" + packed[4:10] + PLANTED + b"\0" + packed[10:])


STRANGE = {
    "gap.parquet": (bytes_before_the_footer, "420 bytes that no column refers to"),
    "footer.parquet": (bytes_inside_the_footer, "420 bytes that no column refers to"),
    "field.parquet": (field_that_the_format_lacks, "bytes that are not as the Parquet format says"),
    "dictionary.parquet": (unused_entry, "values that no row has in the dictionary of town"),
    "dictionary.feather": (unused_entry_of_arrow, "bytes beside its rows"),
    "cut.feather": (text_of_rows_that_were_cut_off, "bytes beside its rows"),
    "null.feather": (value_under_a_null, "bytes beside its rows"),
    "deleted.sqlite": (deleted_rows, "bytes beside its rows"),
    "comment.xlsx": (comment_of_a_cell, "other parts, xl/comments/comment1.xml"),
    "text.xlsx": (text_that_no_cell_has, "texts that no cell has"),
    "before.zip": (bytes_before_an_archive, "bytes between its members"),
    "member.zip": (comment_of_a_member, "comments or further fields of its members"),
    "people.csv.gz": (comment_of_a_compressed_file, "texts in the header of the compressed file"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_bytes_that_no_row_accounts_for_are_named(tmp_path, name):
    make, words = STRANGE[name]
    make(tmp_path / name)
    (said,) = read_table(tmp_path / name).contents_not_counted()
    assert words in said


def test_an_orc_file_is_what_its_rows_are_written_as(tmp_path):
    path = tmp_path / "people.orc"
    with orc.ORCWriter(str(path), compression="zlib") as writer:
        writer.write(TABLE)
    assert read_table(path).contents_not_counted() == ()
    with orc.ORCWriter(str(path), compression="zlib", row_index_stride=1_000) as writer:
        writer.write(TABLE)
    (said,) = read_table(path).contents_not_counted()
    assert "as this program does not write them" in said


@pytest.mark.parametrize(("ending", "compress"), [("bz2", bz2.compress), ("xz", lzma.compress)])
def test_bytes_behind_a_compressed_file_are_refused(tmp_path, ending, compress):
    path = tmp_path / f"people.csv.{ending}"
    path.write_bytes(compress(b"age\n30\n") + compress(b"41\n"))
    assert read_table(path).rows == 2
    path.write_bytes(path.read_bytes() + PLANTED)
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_table(path)


def test_a_folder_is_its_parts_and_what_a_cluster_writes_beside_them(tmp_path):
    part = tmp_path / "people" / "part.parquet"
    part.parent.mkdir()
    pq.write_table(TABLE, part)
    content = part.read_bytes()
    sums = b"".join(
        zlib.crc32(content[start : start + 512]).to_bytes(4, "big") for start in range(0, len(content), 512)
    )
    checks = part.with_name(".part.parquet.crc")
    checks.write_bytes(b"crc\0\0\0\2\0" + sums)
    (part.parent / "_SUCCESS").touch()
    (part.parent / "._SUCCESS.crc").write_bytes(b"crc\0\0\0\2\0")
    assert read_table(part.parent).contents_not_counted() == ()
    checks.write_bytes(checks.read_bytes() + PLANTED)
    (part.parent / "_SUCCESS").write_bytes(PLANTED)
    (part.parent / "_delta").mkdir()
    (part.parent / "_delta" / "log.json").write_bytes(PLANTED)
    (part.parent / "link").symlink_to(tmp_path)
    (said,) = read_table(part.parent).contents_not_counted()
    assert said == "5 other files, ._SUCCESS.crc, .part.parquet.crc, _SUCCESS, link, _delta/log.json"


def test_what_a_folder_hides_is_no_yes(tmp_path):
    towns = {"town": ["Ulm", "Bonn"] * 30, "sex": ["f"] * 30 + ["m"] * 30}
    (tmp_path / "people").mkdir()
    pq.write_table(pa.table(towns), tmp_path / "people" / "part.parquet")
    asked = {"quasi_identifiers": ["town", "sex"], "question": Question(recipient="restricted")}
    assert check(str(tmp_path / "people"), **asked).passed
    pq.write_table(pa.table({"name": ["John Smith"]}), tmp_path / "people" / "_raw.parquet")
    found = check(str(tmp_path / "people"), **asked)
    assert not found.passed
    assert "_raw.parquet" in found.verdict.exposures[0]


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".orc", ".csv.gz"])
def test_a_release_holds_its_rows_alone(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(feather, "_BATCH_ROWS", 500)
    safe = protect(TABLE.select(["age", "town"]), quasi_identifiers=["age", "town"], k=5, other=[])
    write_protected(safe, tmp_path / f"safe{ending}")
    assert read_table(tmp_path / f"safe{ending}").contents_not_counted() == ()
