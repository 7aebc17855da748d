"""Small files that unpack to far more than the memory limit are refused, and others are read within it."""

import gzip
import resource
import struct

import openpyxl
import pyreadstat
import pytest
from tests.tables.made_files import make_file

from incrowd import read_table
from incrowd.errors import TooLargeError

SIZE = 400_000_000  # bytes that a file unpacks to


def write_rds(path):
    """A data frame with one column of zeros, in the binary format of R."""

    def words(*numbers):
        return struct.pack(f">{len(numbers)}i", *numbers)

    def text(letters):
        return words(0x00040009, len(letters)) + letters

    def attribute(name):
        return words(0x402, 1) + text(name)

    rows = SIZE // 8
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"X\n" + words(3, 0x00040003, 0x00030500, 5) + b"UTF-8" + words(19 | 0x300, 1, 14, rows))
        for _ in range(100):
            file.write(bytes(SIZE // 100))
        file.write(attribute(b"names") + words(16, 1) + text(b"age"))
        file.write(attribute(b"class") + words(16, 1) + text(b"data.frame"))
        file.write(attribute(b"row.names") + words(13, 2, -(2**31), -rows) + words(254))


def write_xlsx(path):
    """A sheet with one stray cell in its last row and column."""
    book = openpyxl.Workbook()
    book.active.append(["age"])
    book.active["XFD1048576"] = 1
    book.save(path)


@pytest.mark.parametrize(("ending", "write"), [(".rds", write_rds), (".xlsx", write_xlsx)])
def test_a_small_file_that_unpacks_to_more_than_the_memory_limit_is_refused(tmp_path, ending, write):
    file = tmp_path / f"bomb{ending}"
    write(file)
    assert file.stat().st_size < SIZE / 100
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooLargeError, match="more than the memory limit of 100 MB") as refused:
        read_table(file, memory="100MB")
    assert "memory" in refused.value.hint
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < SIZE / 2


@pytest.mark.parametrize("ending", [".feather", ".rds"])
def test_a_small_table_is_read_within_a_small_limit(tmp_path, ending):
    path, options = make_file(tmp_path, ending)
    assert read_table(path, memory="60MB", **options).to_arrow() == read_table(path, **options).to_arrow()


def test_statistics_files_are_read_in_another_process_within_a_small_limit(tmp_path, monkeypatch):
    path, _ = make_file(tmp_path, ".sav")
    monkeypatch.setattr(pyreadstat, "read_sav", None)  # here it could crash
    assert read_table(path, memory="60MB").rows == 60
