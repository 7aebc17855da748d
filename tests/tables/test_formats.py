"""The registry of file formats, and the one pass over a delimited file."""

import csv
import io
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError, read_table
from incrowd._support.compressed_files import COMPRESSIONS, MAGIC
from incrowd.tables import formats
from incrowd.tables.formats import (
    EXTENSIONS,
    FORMATS,
    FileContents,
    FileFormat,
    ReadOptions,
    checked_file,
    delimited,
    takes_option,
)
from incrowd.tables.formats.checked_file import QuoteCheck
from incrowd.tables.formats.file_format import GENERAL


def test_every_extension_belongs_to_one_format():
    extensions = [extension for known in FORMATS for extension in known.extensions]
    assert len(extensions) == len(set(extensions)) == len(EXTENSIONS)
    assert all(extension.startswith(".") and extension == extension.lower() for extension in extensions)
    assert all(set(known.write) <= set(known.extensions) for known in FORMATS)


def test_the_documentation_names_every_ending():
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8").lower()
    assert [ending for ending in EXTENSIONS if ending not in text] == []


def test_what_files_begin_with_tells_their_formats_apart():
    magic = [*(known.magic for known in FORMATS if known.magic), *MAGIC.values()]
    assert {*MAGIC} == {*COMPRESSIONS}
    assert not [(one, other) for one in magic for other in magic if one is not other and one.startswith(other)]


def test_every_reading_option_belongs_to_a_format_and_exists():
    taken = {option for known in FORMATS for option in known.options}
    assert taken == {option.name for option in fields(ReadOptions)} - set(GENERAL)


def test_a_new_format_is_one_file_and_one_line(tmp_path, monkeypatch):
    """A format of words, one column a line: opener and registration are all it takes."""

    def open_words(paths, name, options):
        names, *lines = Path(paths[0]).read_text().splitlines()
        rows = [line.split() for line in lines]
        return FileContents(pa.table(dict(zip(names.split(), zip(*rows, strict=True), strict=True))), ["words"])

    words = FileFormat("word files", (".words",), open_words)
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, words))
    monkeypatch.setitem(EXTENSIONS, ".words", words)
    (tmp_path / "people.words").write_text("age sex\n30 f\n41 m\n")
    table = read_table(tmp_path / "people.words")
    assert table.to_arrow().to_pydict() == {"age": ["30", "41"], "sex": ["f", "m"]}
    assert table.notes == ("words",)
    with pytest.raises(InputError, match="is for Excel and OpenDocument files") as error:
        read_table(tmp_path / "people.words", sheet="one")
    assert error.value.hint == ("sheet",)
    assert takes_option("people.words", "sheet") is False
    monkeypatch.setitem(EXTENSIONS, ".words", replace(words, infers_types=True))
    (tmp_path / "people.words").write_text("age zip pay\n30 01234 2.5\n41 98765 NA\n")
    typed = read_table(tmp_path / "people.words").to_arrow().to_pydict()
    assert typed == {"age": [30, 41], "zip": ["01234", "98765"], "pay": [2.5, None]}


def test_options_that_were_given_are_told_from_defaults():
    options = ReadOptions(10**9, 5)
    assert options.given() == {}
    assert replace(options, null="NA", skip_bad_lines=True).given() == {"null": "NA", "skip_bad_lines": True}


@pytest.fixture
def passes(monkeypatch):
    """The files that are read from start to end by Arrow, and those read again for their quotes."""
    opened = []
    plain, slow = delimited.CheckedFile, delimited._check_quotes

    class Counted(plain):
        def __init__(self, path, dialect):
            opened.append(dialect.encoding)
            super().__init__(path, dialect)

    def check_quotes(path, dialect):
        opened.append("quotes")
        slow(path, dialect)

    monkeypatch.setattr(delimited, "CheckedFile", Counted)
    monkeypatch.setattr(delimited, "_check_quotes", check_quotes)
    return opened


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ('a,b\n"x","1"\n"y ""z""","2"\n', "utf-8", ["utf-8"]),
        ('a,b\n"two\nlines","1"\n', "utf-8-sig", ["utf-8-sig"]),
        ('a,b\n"é\nlines","1"\n', "utf-16", ["utf-16"]),
        ('a,b\n5" pipe,1\n', "utf-8", ["utf-8", "quotes"]),  # a literal quote: only the slow check can tell
        ("a,b\né,1\n", "cp1252", ["cp1252"]),  # the beginning of the file is not UTF-8
    ],
)
def test_a_file_is_read_once(tmp_path, passes, text, encoding, expected):
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    table = read_table(tmp_path / "t.csv")
    with open(tmp_path / "t.csv", encoding=encoding, newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [str(cell) for cell in table.to_arrow().to_pydict()["a"]] == [row[0] for row in rows]
    assert passes == expected


def test_bytes_that_no_utf8_holds_are_found_in_the_last_block(tmp_path, monkeypatch, passes):
    monkeypatch.setattr(checked_file, "_CHECKED_BYTES", 6400)
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"x,1\n" * 500_000 + "é,2\n".encode("cp1252"))
    table = read_table(tmp_path / "t.csv")
    assert passes == ["utf-8", "cp1252"]
    assert table.to_arrow(["a"])["a"][-1].as_py() == "é"
    assert table.notes == ("the file is not UTF-8; it was read as cp1252 (give the encoding if it is another)",)
    with pytest.raises(InputError, match="cannot be read as utf-8") as error:
        read_table(tmp_path / "t.csv", encoding="utf-8")
    assert error.value.hint == ("encoding",)


@given(st.text('a",;\n\r', max_size=30), st.integers(1, 5), st.sampled_from(",;"))
def test_regular_quotes_are_those_a_strict_parser_takes(text, size, separator):
    check, whole = QuoteCheck(separator), QuoteCheck(separator)
    for start in range(0, len(text), size):
        check.observe(text[start : start + size].encode())
    whole.observe(text.encode())
    assert check.regular == whole.regular  # however the text is cut into blocks
    if check.regular:  # the strict parser raises csv.Error at a quote that is not
        list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))


@given(st.lists(st.lists(st.text('a",\n', max_size=4), min_size=2, max_size=2), min_size=1, max_size=4))
def test_what_a_writer_quotes_is_regular(rows):
    made = io.StringIO()
    csv.writer(made, quoting=csv.QUOTE_ALL).writerows(rows)
    check = QuoteCheck(",")
    check.observe(made.getvalue().encode())
    assert check.regular
