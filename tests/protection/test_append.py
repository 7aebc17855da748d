"""A batch joins the file of a release: who is out already, what waits, and what the files tell."""

import base64
import json
import random
import stat
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import InputError, protect, read_table
from incrowd.measures import followed_columns
from incrowd.protection import Stream, append_release, write_protected
from incrowd.protection.batch_fingerprints import BatchFingerprints
from incrowd.protection.marks import read_mark
from incrowd.protection.stream import NOT_COMPARED
from incrowd.tables.release_marks import mark_of

QIS = ["age", "sex"]


@pytest.fixture
def release(tmp_path):
    people = {"age": [20, 21, 22, 60, 61, 62], "ill": ["a", "b", "a", "b", "a", "b"], "note": ["x"] * 6}
    safe = protect(people, quasi_identifiers=["age"], k=3, sensitive=["ill"], identifiers=[], other=["note"])
    return write_protected(safe, tmp_path / "one.csv")


def test_a_batch_joins_a_file_and_the_rest_waits_where_only_its_owner_reads(release, tmp_path):
    batch = {"age": [30, 31, 33, 77], "ill": ["a", "b", "b", "zzz"], "note": ["y"] * 4, "name": ["n"] * 4}
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    found = append_release(batch, release, two, widest={"age": 5}, delay=1)
    assert (found.batch.released, found.batch.waiting) == (3, 1)
    lines = [Counter(path.read_text().splitlines()) for path in (release, two)]
    assert lines[0] < lines[1]  # every published line is there, in whatever order
    assert (lines[1] - lines[0]).total() == 3
    waiting = tmp_path / "two.csv.waiting"
    assert stat.S_IMODE(waiting.stat().st_mode) == 0o600
    assert "zzz" not in two.read_text() + mark_of(two).read_text() + mark_of(release).read_text()
    assert b"name" not in waiting.read_bytes().replace(b"column_name", b"")
    log = json.loads(mark_of(two).read_text())["log"]
    assert [one["released"] for one in log["batches"]] == [6, 3]
    with pytest.raises(InputError, match=r"continued in two\.csv"):
        append_release(batch, release, three)
    later = {"age": [75, 76], "ill": ["a", "b"], "note": ["z", "z"]}
    last = append_release(later, two, three, widest={"age": 5})
    assert (last.batch.released, last.batch.waiting, read_table(three).rows) == (3, 0, 12)
    assert not waiting.exists()


def test_an_append_without_the_log_is_refused_in_words(release, tmp_path):
    batch = {"age": [1, 2, 3], "ill": ["a"] * 3, "note": ["x"] * 3}
    text = mark_of(release).read_text()
    mark_of(release).unlink()
    with pytest.raises(InputError, match=r"has no log: one\.csv\.incrowd is not beside it"):
        append_release(batch, release, tmp_path / "two.csv")
    with pytest.raises(InputError, match=r"there is no release none\.csv to append to"):
        append_release(batch, tmp_path / "none.csv", tmp_path / "two.csv")
    for damaged in ("log", "batches"):
        mark_of(release).write_text(text.replace(f'"{damaged}"', '"other"'))
        with pytest.raises(InputError, match="no log that can be read"):
            append_release(batch, release, tmp_path / "two.csv")
    mark_of(release).write_text(text)
    release.write_text(release.read_text() + "[60;62],a,x\n")
    with pytest.raises(InputError, match="was changed after"):
        append_release(batch, release, tmp_path / "two.csv")
    assert not (tmp_path / "two.csv").exists()


def test_what_cannot_be_kept_is_refused(release, tmp_path):
    batch = {"age": [1, 2, 90], "ill": ["a"] * 3, "note": ["x"] * 3}
    with pytest.raises(InputError, match="lacks 'note'"):
        append_release({"age": [1], "ill": ["a"]}, release, tmp_path / "two.csv")
    with pytest.raises(InputError, match="does not take t"):
        append_release(batch, release, tmp_path / "two.csv", t=0.1)
    append_release(batch, release, tmp_path / "two.csv", widest={"age": 1}, delay=2)
    (tmp_path / "two.csv.waiting").unlink()
    with pytest.raises(InputError, match=r"3 records wait in two\.csv\.waiting"):
        append_release(batch, tmp_path / "two.csv", tmp_path / "three.csv")
    close = protect(
        {"age": [1, 2, 3, 4], "ill": [1, 2, 3, 4]}, quasi_identifiers=["age"], k=2, t=0.9, sensitive=["ill"]
    )
    with pytest.raises(InputError, match="whole table, which would grow"):
        append_release(batch, write_protected(close, tmp_path / "t.csv"), tmp_path / "four.csv")


PEOPLE = {"age": [20, 21, 40, 41], "sex": ["f"] * 4, "ill": [0, 1, 2, 3]}
LATER = {"age": [22, 23, 90], "sex": ["f"] * 3, "ill": [0, 1, 2]}


def first_release(folder):
    safe = protect(PEOPLE, quasi_identifiers=QIS, k=2, identifiers=[])
    write_protected(safe, folder / "one.csv")
    return folder / "one.csv"


def test_a_release_is_not_continued_in_itself_nor_over_waiting_records(tmp_path):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    with pytest.raises(InputError, match="cannot be continued in itself"):
        append_release(LATER, one, one, force=True)
    with pytest.raises(InputError, match="whose people are out already"):
        append_release(one, one, two)
    append_release(LATER, one, two, widest={"age": 5})
    waiting = (tmp_path / "two.csv.waiting").read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match=r"records wait in two\.csv\.waiting"):
        append_release(LATER, first_release(other), two, force=True)
    assert (tmp_path / "two.csv.waiting").read_bytes() == waiting
    (tmp_path / "two.csv.waiting").write_bytes(b"PAR1 damaged")
    with pytest.raises(InputError, match="cannot be read"):
        append_release(LATER, two, tmp_path / "three.csv")


def panel(first, number):
    """People whose kept columns differ, in rows that follow no column."""
    ages = [20 + (7 * who) % 50 for who in range(first, first + number)]
    return {"who": list(range(first, first + number)), "age": ages, "pay": [1000 + 37 * (age % 13) for age in ages]}


def test_the_order_of_an_appended_file_does_not_tell_the_batch(tmp_path):
    old = {"age": [20 + row % 5 for row in range(60)], "pay": [row % 7 for row in range(60)]}
    new = {"age": [70 + row % 5 for row in range(60)], "pay": [row % 7 for row in range(60)]}
    one = write_protected(protect(old, quasi_identifiers=["age"], k=5, identifiers=[]), tmp_path / "one.csv")
    found = append_release(new, one, tmp_path / "two.csv")
    below_each_other = read_table(pa.concat_tables([read_table(one).to_arrow(), found.rows]))
    assert [told.column for told in followed_columns(below_each_other)] == ["age"]
    assert not followed_columns(read_table(tmp_path / "two.csv"))
    assert read_mark(read_table(tmp_path / "two.csv")).shuffled


def test_the_same_batch_is_refused_whoever_holds_the_release_or_its_mark(tmp_path):
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    first, second = panel(0, 40), panel(115, 40)
    write_protected(protect(first, quasi_identifiers=["age"], k=3, identifiers=["who"]), one)
    with pytest.raises(InputError, match="the release was made from these records"):
        append_release({name: cells[::-1] for name, cells in first.items()}, one, two)
    assert any("nobody came twice" in note for note in append_release(second, one, two).notes)
    with pytest.raises(InputError, match="came before, cell for cell"):
        append_release({name: cells[::-1] for name, cells in second.items()}, two, three)
    waiting = tmp_path / "two.csv.waiting"
    assert stat.S_IMODE(waiting.stat().st_mode) == 0o600
    kept = pq.read_table(waiting)
    about = json.loads(kept.schema.metadata[b"incrowd"])
    seen = BatchFingerprints.read(about["seen"], kept[about["hashes"]].slice(len(about["waited"])))
    assert seen.batches
    passed_on = two.read_text() + mark_of(two).read_text()
    for one in (seen.key, *seen.batches):
        assert base64.b64encode(one).decode() not in passed_on
        assert one.hex() not in passed_on
    waiting.unlink()
    with pytest.raises(InputError, match=r"recognised by two\.csv\.waiting"):
        append_release(panel(200, 40), two, three)


def patients(seed):
    draw = random.Random(seed)
    return {
        "age": [draw.randrange(20, 80) for _ in range(60)],
        "sex": [draw.choice("fm") for _ in range(60)],
        "ill": sorted("abcd" * 15),  # the same in every batch: the classes have to tell
    }


def test_the_batch_of_the_first_release_is_told_by_its_classes(tmp_path):
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    write_protected(protect(patients(1), quasi_identifiers=QIS, k=4, l=2, sensitive=["ill"], identifiers=[]), one)
    with pytest.raises(InputError, match="the release was made from these records"):
        append_release({name: cells[::-1] for name, cells in patients(1).items()}, one, two)
    assert not any("could not be compared" in note for note in append_release(patients(2), one, two).notes)
    assert any("except that of the first release" in note for note in append_release(patients(3), two, three).notes)


def test_a_first_batch_that_nobody_can_tell_is_not_said_to_be_compared(tmp_path):
    one, two = first_release(tmp_path), tmp_path / "two.csv"
    notes = append_release({**PEOPLE, "age": [20, 21, 41, 40]}, one, two).notes
    assert [note for note in notes if "compared" in note] == [NOT_COMPARED]


def test_people_who_come_back_are_refused_and_their_column_is_not_released(tmp_path):
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    write_protected(protect(panel(0, 20), quasi_identifiers=["age"], k=3, identifiers=["who"]), one)
    notes = append_release(panel(100, 20), one, two, person="who").notes
    assert any("the 20 records before this batch were not compared" in note for note in notes)
    with pytest.raises(InputError, match="3 of 20 records are of people who came before"):
        append_release(panel(117, 20), two, three)
    with pytest.raises(InputError, match="lacks 'who'"):
        append_release({name: cells for name, cells in panel(120, 9).items() if name != "who"}, two, three)
    with pytest.raises(InputError, match="by another column"):
        append_release(panel(120, 9), two, three, person="pay")
    assert not append_release(panel(120, 20), two, three).notes
    assert read_table(three).columns == ("age", "pay")
    again = Stream(quasi_identifiers=["age"], k=2, person="who", identifiers=[])
    with pytest.raises(InputError, match="2 records are of a person who has another one"):
        again.append({"who": [1, 1, 1], "age": [1, 2, 3]})
    with pytest.raises(InputError, match="no value in the person column"):
        again.append({"who": [1, None], "age": [1, 2]})


def test_a_column_of_another_kind_is_refused_and_numbers_join_text(tmp_path):
    people = {"age": [20, 21, 60, 61], "zip": ["A1", "A1", "B2", "B2"], "note": [None] * 4}
    one = write_protected(protect(people, quasi_identifiers=["age", "zip"], k=2, identifiers=[]), tmp_path / "one.csv")
    batch = {"age": [30, 31], "zip": [7, 7], "note": ["x", "y"]}
    with pytest.raises(InputError, match="'age' holds text in this batch and numbers before"):
        append_release({**batch, "age": ["30", "thirty"]}, one, tmp_path / "two.csv")
    append_release(batch, one, tmp_path / "two.csv")
    assert Counter(read_table(tmp_path / "two.csv").to_arrow()["zip"].to_pylist())["7"] == 2


def test_names_that_text_files_escape_can_be_continued(tmp_path):
    def people(start):
        return {"=age": [start, start + 1, start + 2], "-ill": ["=a", "b", "b"], "@note": ["x"] * 3}

    safe = protect(people(20), quasi_identifiers=["=age"], k=3, l=2, sensitive=["-ill"], identifiers=[])
    one = write_protected(safe, tmp_path / "one.csv")
    append_release(people(60), one, tmp_path / "two.csv")
    append_release(people(80), tmp_path / "two.csv", tmp_path / "three.csv")
    table = read_table(tmp_path / "three.csv")
    assert table.columns == ("'=age", "'-ill", "'@note")
    assert Counter(table.to_arrow()["'-ill"].to_pylist()) == {"'=a": 3, "b": 6}
    assert "'-ill" in read_mark(table).attack.kept


def test_a_secret_that_l_does_not_hold_for_stays_a_secret_of_the_release(tmp_path):
    people = {"age": [20, 21, 60, 61], "ill": ["a", "b", "a", "b"], "pay": [1, 2, 3, 4]}
    asked = {"sensitive": ["ill", "pay"], "diverse": ["ill"], "l": 2, "identifiers": []}
    one = write_protected(protect(people, quasi_identifiers=["age"], k=2, **asked), tmp_path / "one.csv")
    batch = {"age": [30, 31], "ill": ["a", "b"], "pay": [5, 5]}
    log = append_release(batch, one, tmp_path / "two.csv").log
    assert (log.sensitive, log.diverse, log.batches[-1].released) == (("ill", "pay"), ("ill",), 2)
    alike = {"age": [40, 41], "ill": ["a", "a"], "pay": [5, 6]}
    assert append_release(alike, tmp_path / "two.csv", tmp_path / "three.csv").batch.waiting == 2  # l holds for ill
