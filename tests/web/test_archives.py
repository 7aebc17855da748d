"""Compressed uploads, files of several tables, and points as they are pasted."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

pytest.importorskip("fastapi")

from incrowd.errors import InputError
from incrowd.web.points_text import read_points

pytestmark = pytest.mark.usefixtures("no_child_processes")
CSV = b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + n % 9, b"fm"[n % 2 : n % 2 + 1]) for n in range(40))


def upload(client, name, content, **how):
    return client.post("/api/v1/tables", files={"file": (name, io.BytesIO(content))}, params=how)


def zipped(**members):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return written.getvalue()


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_compressed_file_is_a_table(script, ending, pack):
    answer = upload(script, f"people.csv.{ending}", pack(CSV))
    assert answer.status_code == 201, answer.text
    assert answer.json()["rows"] == 40


def test_of_several_files_one_is_picked(script):
    both = zipped(a_csv=CSV, b_csv=b"city,born\nA,1990\nB,1991\n", notes_pdf=b"x")
    asked = upload(script, "both.zip", both)
    assert asked.status_code == 400
    assert asked.json()["choices"] == ["a.csv", "b.csv"]
    one = upload(script, "both.zip", both, sheet="b.csv").json()
    assert (one["sheets"], one["sheet"], one["rows"]) == (["a.csv", "b.csv"], "b.csv", 2)
    again = script.post(f"/api/v1/tables/{one['id']}/reading", json={"reading": {"sheet": "a.csv"}}).json()
    assert [column["name"] for column in again["columns"]] == ["age", "sex"]


def test_sheets_of_a_workbook_are_listed(script):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "People & pets"
    book.active.append(["age"])
    book.active.append([30])
    other = book.create_sheet("Second")
    other.append(["city"])
    other.append(["A"])
    written = io.BytesIO()
    book.save(written)
    found = upload(script, "book.xlsx", written.getvalue()).json()
    assert found["sheets"] == ["People & pets", "Second"]
    again = script.post(f"/api/v1/tables/{found['id']}/reading", json={"reading": {"sheet": "Second"}}).json()
    assert [column["name"] for column in again["columns"]] == ["city"]


def open_document(**sheets):
    """A spreadsheet of OpenDocument with one column in each sheet."""
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    kinds = " ".join(f'xmlns:{kind}="{urn}:{kind}:1.0"' for kind in ("office", "table", "text"))
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = {
        name: (f"<table:table-row>{cell.format(text)}</table:table-row>" for text in sheets[name]) for name in sheets
    }
    tables = "".join(f'<table:table table:name="{name}">{"".join(rows[name])}</table:table>' for name in sheets)
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{urn}:manifest:1.0"/>')
        archive.writestr("content.xml", f"<office:document-content {kinds}>{body}</office:document-content>")
    return written.getvalue()


def test_sheets_of_a_document_and_objects_of_r_are_listed(script, tmp_path):
    found = upload(script, "book.ods", open_document(People=["age", "old"], Second=["city", "A"])).json()
    assert found["sheets"] == ["People", "Second"]
    wrong = upload(script, "book.ods", open_document(People=["age", "old"], Second=["city", "A"]), sheet="Third")
    assert (wrong.status_code, wrong.json()["choices"]) == (400, ["People", "Second"])
    rdata, pd = pytest.importorskip("rdata"), pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [30, 41]})
    rdata.write_rda(tmp_path / "all.RData", {"one": frame, "two": frame})
    content = (tmp_path / "all.RData").read_bytes()
    asked = upload(script, "all.RData", content)
    assert (asked.status_code, asked.json()["choices"]) == (400, ["one", "two"])
    assert upload(script, "all.RData", content, sheet="two").json()["sheets"] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("people.csv.gz", b"no gzip", 400),
        ("people.csv.gz", gzip.compress(CSV)[:-9], 400),
        ("people.gz", gzip.compress(CSV), 415),
        ("people.exe.gz", gzip.compress(CSV), 415),
        ("bomb.csv.gz", gzip.compress(b"age\n" + b"1\n" * 3_000_000), 413),
        ("bomb.zip", zipped(a_csv=b"age\n" + b"1\n" * 3_000_000), 413),
        ("nested.zip", zipped(a_csv_gz=gzip.compress(CSV)), 415),
        ("empty.zip", zipped(a_pdf=b"x"), 400),
        ("names.zip", zipped(ä_csv=CSV).replace("ä".encode(), b"\xff\xff"), 400),
    ],
    ids=[
        "no gzip",
        "cut short",
        "no table",
        "a program",
        "a bomb",
        "a packed bomb",
        "packed twice",
        "no file",
        "bytes",
    ],
)
def test_what_cannot_be_unpacked_is_refused(script, name, content, status):
    answer = upload(script, name, content)
    assert answer.status_code == status, answer.text
    assert script.get("/api/v1/tables").json() == []


@pytest.mark.parametrize(
    "line",
    [
        "10,000 0.86",
        "10,000\t0.86",
        "10,000; 86%",
        "10.000; 0,86",
        "10 000 0,86",
        "10\u00a0000\t86 %",
        "10'000 0.86",
        "10000,0.86",
        "10000, 0.86",
        "10,000,0.86",
        "10000;0,86",
        "10_000 | 0.86",
    ],
)
def test_a_point_is_read_in_any_notation(script, line):
    answer = script.post("/api/v1/points/read", json={"text": f"people share\n100 0.99\n{line}\n\n"})
    assert answer.json() == [{"n": 100, "correctness": 0.99}, {"n": 10_000, "correctness": 0.86}]


@pytest.mark.parametrize(
    "line", ["10,000 0,86", "1.000 0.5", "10,860", "ten 0.5", "10 1.5", "0 0.5", "100", "1 2 3", "-5 0.5"]
)
def test_a_line_that_is_not_understood_is_named(line):
    with pytest.raises(InputError, match="line 3"):
        read_points(f"people share\n100 0.99\n{line}")


def test_one_point_is_too_few(script):
    assert script.post("/api/v1/points/read", json={"text": "100 0.5"}).status_code == 400
