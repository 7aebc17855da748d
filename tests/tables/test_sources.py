"""From what a user names to files: compressed, archived, piped, in folders, behind addresses."""

import contextlib
import gzip
import http.client
import http.server
import io
import itertools
import ssl
import sys
import tempfile
import threading
import urllib.error
import zipfile
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.made_files import make_file

from incrowd import InputError, read_table
from incrowd.tables import read, sources, write_table

pytestmark = pytest.mark.usefixtures("no_child_processes")

CSV = b"age,zip\n30,00501\n41,02139\n"
CELLS = {"age": [30, 41], "zip": ["00501", "02139"]}


def cells(*given, **options):
    return read_table(*given, **options).to_arrow().to_pydict()


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".tsv.gz"])
def test_compressed_text_goes_out_and_comes_back(tmp_path, ending):
    out = write_table(pa.table(CELLS), tmp_path / f"people{ending}")
    table = read_table(out)
    assert table.to_arrow().to_pydict() == CELLS
    assert table.name == f"people{ending}"
    assert (table.place, table.reading) == (str(out), {})
    assert [one.name for one in tmp_path.iterdir()] == [f"people{ending}"]


def test_a_compressed_file_takes_the_options_of_what_is_in_it(tmp_path):
    write_table(pa.table({"age": ["30", "x"]}), tmp_path / "people.csv.gz")
    assert cells(tmp_path / "people.csv.gz", null="x") == {"age": [30, None]}
    with pytest.raises(InputError, match="is for Excel and OpenDocument files"):
        read_table(tmp_path / "people.csv.gz", sheet="one")


def test_what_is_compressed_must_be_told(tmp_path):
    (tmp_path / "people.gz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"name it like people\.csv\.gz"):
        read_table(tmp_path / "people.gz")


def test_the_files_of_an_archive_are_listed_and_one_is_asked_for(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("readme.pdf", b"no table")
        archive.writestr("__MACOSX/a.csv", b"no table")
        archive.writestr("data/a.csv", CSV)
        archive.writestr("../b.csv", b"x,y\n1,2\n")
        pq.write_table(pa.table(CELLS), buffer := io.BytesIO())
        archive.writestr("c.parquet", buffer.getvalue())
    with pytest.raises(
        InputError, match=r"holds 3 files; ask for one of: data/a\.csv, \.\./b\.csv, c\.parquet"
    ) as error:
        read_table(tmp_path / "all.zip")
    assert error.value.hint == ("sheet",)
    assert cells(tmp_path / "all.zip", sheet="data/a.csv") == CELLS
    assert cells(tmp_path / "all.zip", sheet="c.parquet") == CELLS  # lives as long as the table
    assert cells(tmp_path / "all.zip", sheet="../b.csv") == {"x": [1], "y": [2]}
    assert not (tmp_path.parent / "b.csv").exists()
    with pytest.raises(InputError, match="has no file"):
        read_table(tmp_path / "all.zip", sheet="d.csv")


def test_an_archive_without_tables_or_with_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("readme.pdf", b"no table")
    with pytest.raises(InputError, match="holds no file of a known kind"):
        read_table(tmp_path / "none.zip")
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
    assert cells(tmp_path / "one.zip") == CELLS


def test_a_copy_that_would_fill_the_disk_is_stopped(tmp_path, monkeypatch):
    path, _ = make_file(tmp_path, ".csv.gz")
    monkeypatch.setattr(sources, "_LEAST_FREE", 1 << 60)
    with pytest.raises(InputError, match="would fill the disk"):
        read_table(path)


def test_standard_input_without_an_end_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    free = [600 << 20]
    monkeypatch.setattr(sources.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[0]))
    blocks = itertools.repeat(b"1,2\n" * (1 << 18), 700)  # more than the whole disk
    endless = SimpleNamespace(read=lambda size: next(blocks))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    with pytest.raises(InputError, match="more than half of what is free on the disk") as error:
        read_table("-")
    assert str(tmp_path) in str(error.value)
    assert "TMPDIR" in str(error.value)
    assert [*tmp_path.iterdir()] == []  # while the error is held, too
    free[0] = 100 << 20  # another program fills the disk
    with pytest.raises(InputError, match="would fill the disk"):
        read_table("-")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "ending", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".parquet", ".feather", ".orc", ".sav"]
)
def test_standard_input_is_told_by_its_first_bytes(tmp_path, monkeypatch, ending):
    path, _ = make_file(tmp_path, ending)
    monkeypatch.setattr(sys, "stdin", type("Pipe", (), {"buffer": io.BytesIO(path.read_bytes())}))
    table = read_table("-")
    assert table.to_arrow().to_pydict() == cells(path)
    assert (table.name, table.place, table.reading) == ("standard input", "-", {})


def test_nothing_on_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", type("Pipe", (), {"buffer": io.BytesIO()}))
    with pytest.raises(InputError, match="standard input is empty"):
        read_table("-")


def test_a_folder_of_csv_files_is_one_table(tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "b.csv").write_text("age,zip\nNA,x\n50,00501\n")
    write_table(pa.table({"age": ["60"], "zip": ["1"]}), tmp_path / "c.csv.gz")
    (tmp_path / "_log.csv").write_text("no part\n")
    expected = {"age": [30, 41, None, 50, 60], "zip": ["00501", "02139", "x", "00501", "1"]}
    assert cells(tmp_path) == expected == cells(tmp_path / "[a-z].csv*")
    (tmp_path / "d.csv").write_text("zip,age\n1,2\n")
    with pytest.raises(InputError, match=r"d\.csv has other columns than a\.csv"):
        read_table(tmp_path)


def test_a_type_is_that_of_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2020-01-01\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,none of your business\n")
    assert cells(tmp_path) == {"x": [1.0, 1.5], "y": ["2020-01-01", "none of your business"]}


@pytest.mark.parametrize("ending", [".sav", ".dta", ".orc", ".feather"])
def test_files_of_one_format_are_one_table(tmp_path, ending):
    path, _ = make_file(tmp_path, ending)
    (tmp_path / f"more{ending}").write_bytes(path.read_bytes())
    assert read_table(tmp_path / f"*{ending}").rows == 120


def test_files_of_several_formats_are_no_table(tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV)
    pq.write_table(pa.table(CELLS), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="2 files match"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    "address", ["https://user:s3cret@example.org/a.csv", "s3://bucket/a.parquet", "gs://b/a.csv", "abfs://c/a.csv"]
)
def test_nothing_is_fetched_unless_it_is_asked_for(address, monkeypatch):
    monkeypatch.setattr(sources, "_opened", lambda address: pytest.fail("fetched"))
    with pytest.raises(InputError, match="nothing is fetched over the network") as error:
        read_table(address)
    assert error.value.hint == ("allow_network",)
    assert "s3cret" not in str(error.value)


@pytest.fixture
def server(tmp_path):
    """A web server of this machine with a folder of files."""
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        """Say nothing."""


def test_an_address_is_fetched_when_it_is_asked_for(tmp_path, server):
    (tmp_path / "people.csv").write_bytes(CSV)
    write_table(pa.table(CELLS), tmp_path / "people.parquet")
    table = read_table(f"{server}/people.csv", allow_network=True)
    assert table.to_arrow().to_pydict() == CELLS
    assert (table.place, table.reading) == (f"{server}/people.csv", {"allow_network": True})
    assert cells(f"{server}/people.parquet", allow_network=True) == CELLS
    with pytest.raises(InputError, match="cannot be opened"):
        read_table(f"{server}/nothing.csv", allow_network=True)
    with pytest.raises(InputError, match="the ending of the name is not that of a known file format"):
        read_table(f"{server}/people", allow_network=True)


def test_an_address_that_would_fill_the_disk_is_refused_with_that_reason(tmp_path, server, monkeypatch):
    (tmp_path / "people.csv").write_bytes(CSV)
    monkeypatch.setattr(sources, "_LEAST_FREE", 1 << 60)
    with pytest.raises(InputError, match="would fill the disk"):
        read_table(f"{server}/people.csv", allow_network=True)


def test_a_download_that_is_cut_short_is_no_table(tmp_path, server, monkeypatch):
    """The server promises more bytes than it sends: what came is not the whole table."""
    (tmp_path / "people.csv").write_text("age\n" + "30\n" * 50)
    monkeypatch.setattr(_Quiet, "copyfile", lambda self, source, output: output.write(source.read(40)))
    with pytest.raises(InputError, match="broke off; try again"):
        read_table(f"{server}/people.csv", allow_network=True)


def test_a_copy_is_removed_though_somebody_holds_the_error(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "private"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "private").mkdir()
    (tmp_path / "bad.parquet.gz").write_bytes(gzip.compress(b"PAR1 is no table"))
    with pytest.raises(InputError) as held:
        read_table(tmp_path / "bad.parquet.gz")
    assert held.value is not None
    assert [one for one in (tmp_path / "private").rglob("*") if one.is_file()] == []


def test_a_store_is_opened_by_arrow(tmp_path, monkeypatch):
    """Arrow opens folders of this machine by an address as it opens stores."""
    (tmp_path / "people.csv").write_bytes(CSV)
    monkeypatch.setattr(sources, "STORES", frozenset({"file"}))
    monkeypatch.setattr(read, "STORES", frozenset({"file"}))
    assert cells(f"file://{tmp_path}/people.csv", allow_network=True) == CELLS
    with pytest.raises(InputError, match="cannot be opened"):
        read_table(f"file://{tmp_path}/nothing.csv", allow_network=True)


@pytest.mark.parametrize(
    "failure",
    [
        TimeoutError(110, "timed out"),
        ConnectionResetError(104, "reset by the other side"),
        OSError(113, "no route to the host"),
        ssl.SSLEOFError(8, "the other side ended without a word"),
        http.client.IncompleteRead(b"ag"),
        pa.ArrowInvalid("a cell"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_connection_that_breaks_is_no_full_disk(monkeypatch, failure):
    def fail(size):
        raise failure

    stream = contextlib.nullcontext(SimpleNamespace(read=fail))
    monkeypatch.setattr(sources, "_opened", lambda address: stream)
    with pytest.raises(InputError, match=r"^http://here/people\.csv broke off; try again$"):
        read_table("http://here/people.csv", allow_network=True)


def test_the_answer_of_a_server_that_refuses_is_closed(monkeypatch):
    answer = io.BytesIO()
    refusal = urllib.error.HTTPError("http://here/people.csv", 404, "not found", http.client.HTTPMessage(), answer)
    monkeypatch.setattr("urllib.request.urlopen", Mock(side_effect=refusal))
    with pytest.raises(InputError, match="cannot be opened"):
        read_table("http://here/people.csv", allow_network=True)
    assert answer.closed


def test_a_disk_that_is_full_is_no_broken_connection(monkeypatch):
    def fail(room, blocks, file):
        raise OSError(28, "no room")

    stream = contextlib.nullcontext(io.BytesIO(CSV))
    monkeypatch.setattr(sources, "_opened", lambda address: stream)
    monkeypatch.setattr(sources._Room, "write", fail)
    with pytest.raises(InputError, match=r"cannot be written to .*: no space left on device"):
        read_table("http://here/people.csv", allow_network=True)


def test_all_copies_of_a_table_share_half_of_the_disk(tmp_path, monkeypatch):
    free = SimpleNamespace(free=1_000)
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(b"age\n" + b"30\n" * 100))
    monkeypatch.setattr(sources, "_LEAST_FREE", 1)
    monkeypatch.setattr(sources.shutil, "disk_usage", lambda folder: free)
    assert read_table(tmp_path / "a.csv.gz").rows == 100
    with pytest.raises(InputError, match="more than half of what is free"):
        read_table(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "orc"])
def test_a_damaged_copy_is_named_as_its_source(tmp_path, ending):
    (tmp_path / f"bad.{ending}.gz").write_bytes(gzip.compress(b"no table"))
    with pytest.raises(InputError, match=rf"^bad\.{ending}\.gz is not a {ending} file that can be read"):
        read_table(tmp_path / f"bad.{ending}.gz")


def test_an_archive_whose_names_are_not_utf8_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ä.csv", CSV)
    damaged = (tmp_path / "all.zip").read_bytes().replace("ä".encode(), b"\xff\xff")
    (tmp_path / "all.zip").write_bytes(damaged)
    with pytest.raises(InputError, match=r"all\.zip cannot be unpacked; it may be damaged"):
        read_table(tmp_path / "all.zip")
