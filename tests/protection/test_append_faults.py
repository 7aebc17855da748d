"""An append among damaged, foreign and changing files: refused in words, and nothing is lost."""

import json
import math
import os
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.protection.test_append import LATER, PEOPLE, QIS, first_release

from incrowd import InputError, protect, read_table
from incrowd.protection import append, append_release, write_protected
from incrowd.tables.release_marks import mark_of


def test_an_append_that_fails_late_leaves_the_release_open_and_nothing_else(tmp_path, monkeypatch):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail_for_the_release(move):
        def moved(source, target, **options):
            if str(target).endswith("two.csv"):
                raise OSError("it is gone")
            return move(source, target, **options)

        return moved

    for name in ("replace", "link"):
        monkeypatch.setattr(os, name, fail_for_the_release(getattr(os, name)))
    with pytest.raises(InputError, match="it is gone"):
        append_release(LATER, one, two, widest={"age": 5})
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert append_release(LATER, one, two, widest={"age": 5}).batch.released == 2
    with pytest.raises(InputError, match=r"was continued in two\.csv"):
        append_release(LATER, one, tmp_path / "three.csv")


def test_hashes_of_many_people_are_no_metadata_and_are_read_before_the_release_is_closed(tmp_path, monkeypatch):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    write = append._write_waiting

    def write_badly(stream, file, release):
        write(stream, file, release)
        file.write_bytes(file.read_bytes()[:-9])

    many = {"hashes": range(500), "age": [row % 50 for row in range(500)], "sex": ["f"] * 500, "ill": [0, 1] * 250}
    monkeypatch.setattr(append, "_write_waiting", write_badly)
    with pytest.raises(InputError, match=r"two\.csv\.waiting cannot be read"):
        append_release(pa.table(many), one, two, person="hashes")
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one.csv.incrowd"]
    append_release(pa.table(many), one, two, person="hashes")
    assert len(pq.read_schema(tmp_path / "two.csv.waiting").metadata[b"incrowd"]) < 500
    with pytest.raises(InputError, match="500 of 500 records are of people who came before"):
        append_release(pa.table(many), two, tmp_path / "three.csv")


@pytest.mark.parametrize(
    "changed",
    [
        {"l": float("nan")},
        {"l": float("inf")},
        {"c": float("-inf")},
        {"c": None},
        {"delay": 10**30},
        {"delay": -1},
        {"batches": [{"arrived": 4, "released": 4, "classes": 2, "waiting": -3, "suppressed": 0}]},
        {"batches": [{"arrived": 10**400, "released": 4, "classes": 2, "waiting": 0, "suppressed": 0}]},
    ],
)
def test_a_log_of_impossible_numbers_is_none(tmp_path, changed):
    one = first_release(tmp_path)
    saved = json.loads(mark_of(one).read_text())
    mark_of(one).write_text(json.dumps(saved | {"log": saved["log"] | changed}))
    with pytest.raises(InputError, match="no log that can be read"):
        append_release(LATER, one, tmp_path / "two.csv")


@pytest.mark.parametrize(
    ("waited", "columns"),
    [([math.inf], None), ([10**30], None), ([-5], None), ("deep", None), ([1], {"seen": ["x"]})],
)
def test_waiting_records_that_no_append_wrote_are_refused(tmp_path, waited, columns):
    two = tmp_path / "two.csv"
    append_release(LATER, first_release(tmp_path), two, widest={"age": 5})
    waiting = tmp_path / "two.csv.waiting"
    table = pq.read_table(waiting)
    about = json.loads(table.schema.metadata[b"incrowd"]) | {"waited": waited}
    text = "[" * 100_000 if waited == "deep" else json.dumps(about)
    for name, cells in (columns or {}).items():
        table = table.append_column(name, [cells * table.num_rows])
    pq.write_table(table.replace_schema_metadata({b"incrowd": text.encode()}), waiting)
    with pytest.raises(InputError, match=r"two\.csv\.waiting (cannot be read|is of another release)"):
        append_release(LATER, two, tmp_path / "three.csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_what_is_in_the_place_of_a_mark_is_neither_waited_for_nor_replaced(tmp_path):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    before = mark_of(one).read_bytes()
    for make in (os.mkfifo, os.mkdir):
        make(mark_of(two))
        with pytest.raises(InputError, match="there with other content"):
            append_release(LATER, one, two)
        with pytest.raises(InputError, match="there with other content"):
            write_protected(protect(PEOPLE, quasi_identifiers=QIS, k=2, identifiers=[]), two)
        assert mark_of(two).exists()
        (os.unlink if make is os.mkfifo else os.rmdir)(mark_of(two))
    assert not two.exists()
    assert mark_of(one).read_bytes() == before


def test_links_in_the_place_of_a_mark_or_of_waiting_records_are_not_followed(tmp_path):
    one, two, other = first_release(tmp_path), tmp_path / "two.csv", tmp_path / "other.txt"
    for name in ("two.csv.incrowd", "two.csv.waiting"):
        (tmp_path / name).symlink_to(other)
    append_release(LATER, one, two, widest={"age": 5})
    assert not other.exists()
    assert stat.S_IMODE((tmp_path / "two.csv.waiting").lstat().st_mode) == 0o600


def test_a_file_that_only_looks_like_waiting_records_is_not_deleted(tmp_path):
    one = first_release(tmp_path)
    (tmp_path / "one.csv.waiting").write_text("a list of my own")
    append_release(LATER, one, tmp_path / "two.csv", widest={"age": 5})
    assert (tmp_path / "one.csv.waiting").read_text() == "a list of my own"


def test_a_release_is_continued_by_one_program_at_a_time(tmp_path):
    one, two, three = first_release(tmp_path), tmp_path / "two.csv", tmp_path / "three.csv"
    refused = []

    def at_the_same_time(stage, share):
        if stage == "writing" and not refused:
            with pytest.raises(InputError, match=r"another program continues one\.csv"):
                append_release(LATER, one, three)
            refused.append(stage)

    append_release(LATER, one, two, progress=at_the_same_time)
    assert refused
    assert not three.exists()


@pytest.mark.parametrize("changed", ["mark", "file"])
def test_a_release_that_changes_meanwhile_is_left_as_it_is_then(tmp_path, changed):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    saved = mark_of(one).read_text()
    other = saved.replace('"continued_in": null', '"continued_in": "zero.csv"')
    assert other != saved

    def change(stage, share):
        if stage == "writing" and changed == "mark":
            mark_of(one).write_text(other)
        elif stage == "writing":
            one.write_text(one.read_text() + "77,f,3\n")

    with pytest.raises(InputError, match=r"continued or changed meanwhile|changed after it was written"):
        append_release(LATER, one, two, progress=change)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one.csv.incrowd"]
    assert mark_of(one).read_text() == (other if changed == "mark" else saved)


def test_an_append_that_fails_leaves_the_mark_of_what_it_was_to_replace(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    one, two = first_release(tmp_path), first_release(other).rename(tmp_path / "two.csv")
    mark = mark_of(other / "one.csv").rename(mark_of(two))
    before = mark.read_bytes()

    def fail(stage, share):
        if stage == "writing":
            mark_of(one).write_text(mark_of(one).read_text().replace('"continued_in": null', '"continued_in": "x"'))

    with pytest.raises(InputError, match="meanwhile"):
        append_release(LATER, one, two, force=True, progress=fail)
    assert mark.read_bytes() == before
    assert read_table(two).rows == 4
