"""Whoever holds every release of a stream is left with k rows, and with every secret that the first one showed."""

import base64
import datetime as dt
import json
import math
import os
import random
import stat
from collections import Counter, defaultdict
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import TABLES, covers

from incrowd import InputError, protect, read_table
from incrowd.measures import followed_columns
from incrowd.protection import Stream, append, append_release, write_protected
from incrowd.protection.marks import mark_of, read_mark
from incrowd.protection.seen import Seen
from incrowd.protection.stream import NOT_COMPARED

ROW = st.tuples(st.integers(0, 30), st.sampled_from(["f", "m"]), st.integers(0, 3))
BATCHES = st.lists(st.lists(ROW, min_size=1, max_size=14), min_size=2, max_size=5)
QIS = ["age", "sex"]


def table_of(rows, first=0):
    age, sex, ill = zip(*rows, strict=True)
    return {"age": list(age), "sex": list(sex), "ill": list(ill), "who": list(range(first, first + len(rows)))}


def shown(row):
    return tuple(None if row[name] is None else str(row[name]) for name in QIS)


def rows_of(stream):
    return [] if stream.table is None else stream.table.to_pylist()


def cells(rows):
    return Counter((*shown(row), row["ill"]) for row in rows)


@settings(max_examples=TABLES if TABLES > 30 else 12)
@given(BATCHES, st.integers(2, 4), st.sampled_from([None, 2]), st.integers(0, 2), st.sampled_from([None, 6]))
def test_all_releases_together_tell_no_more_than_classes_of_k(batches, k, l, delay, widest):  # noqa: E741
    wishes = {} if widest is None else {"widest": {"age": widest}, "keep": ["sex"]}
    stream = Stream(
        quasi_identifiers=QIS, k=k, l=l, sensitive=["ill"], delay=delay, person="who", identifiers=[], **wishes
    )
    releases, arrived, suppressed = [[]], 0, 0
    waiting = []
    for rows in batches:
        found = stream.append(table_of(rows, arrived))
        releases.append(rows_of(stream))
        added = cells(releases[-1]) - cells(releases[-2])
        assert not cells(releases[-2]) - cells(releases[-1])  # nothing that was out has changed
        assert added.total() == found.batch.released
        assert all("who" not in one.column_names for one in (stream.released, stream.waiting) if one is not None)
        # whoever subtracts one release from the next is left with whole classes
        classes = defaultdict(list)
        for (*label, ill), times in added.items():
            classes[tuple(label)] += [ill] * times
        assert all(len(ills) >= k and (l is None or len(set(ills)) >= l) for ills in classes.values())
        assert len(classes) == found.batch.classes
        # the rows of a class are people who came, new or waiting, whom its cells cover, each with their own secret
        for label, ills in classes.items():
            covered = [row for row in [*waiting, *rows] if covers(label[0], row[0]) and covers(label[1], row[1])]
            assert not Counter(ills) - Counter(ill for *_, ill in covered)
        arrived, suppressed = arrived + len(rows), suppressed + found.batch.suppressed
        waiting = [] if stream.waiting is None else [tuple(row.values()) for row in stream.waiting.to_pylist()]
        assert found.batch.waiting == len(waiting)
        assert arrived == len(releases[-1]) + len(waiting) + suppressed
        assert all(1 <= batches_waited <= delay for batches_waited in stream.waited)


def test_a_record_waits_no_longer_than_promised():
    stream = Stream(quasi_identifiers=["age"], k=2, widest={"age": 3}, delay=2, identifiers=[])
    assert stream.append({"age": [10, 11, 90]}).batch.waiting == 1
    assert stream.append({"age": [20, 21]}).batch.waiting == 1
    last = stream.append({"age": [30, 31]})
    assert (last.batch.waiting, last.batch.suppressed, stream.waited) == (0, 1, [])
    assert stream.append({"age": [92, 93, 60]}).batch.released == 2


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


def test_a_batch_that_is_refused_leaves_the_stream_as_it_was():
    stream = Stream(quasi_identifiers=["age"], k=2, identifiers=[], widest={"age": 5})
    stream.append({"age": [20, 21], "seen": [1, 2]})
    with pytest.raises(InputError, match="'seen' holds"):
        stream.append({"age": [30, 31, 90], "seen": [dt.date(2020, 1, 1)] * 3})
    assert stream.waiting is None
    with pytest.raises(InputError, match="no column named 'age'"):
        stream.append({"sex": ["f", "m"]})
    assert stream.append({"age": [40, 41], "seen": [3, 4]}).batch.released == 2


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
    seen = Seen.read(about["seen"], kept[about["hashes"]].slice(len(about["waited"])))
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


def test_equal_batches_are_refused_only_where_chance_does_not_make_them():
    stream = Stream(quasi_identifiers=["age"], k=2, identifiers=[])
    assert not stream.append({"age": [30]}).notes
    again = stream.append({"age": [30]})
    assert again.batch.released == 2
    assert any("equal, cell for cell" in note for note in again.notes)
    none = pa.table({"age": pa.array([], pa.int64())})
    assert not any(stream.append(none).notes for _ in range(2))
    four, five = ({"age": list(range(number))} for number in (4, 5))
    small, large = (Stream(quasi_identifiers=["age"], k=2, identifiers=[]) for _ in range(2))
    small.append(four)  # 4!/4^4 is above one in twenty, 5!/5^5 is not
    assert any("equal, cell for cell" in note for note in small.append(four).notes)
    large.append(five)
    with pytest.raises(InputError, match="came before, cell for cell"):
        large.append(five)
    large.append(four)  # one more batch that might be equal by chance
    assert any("equal, cell for cell" in note for note in large.append(five).notes)


def test_two_streams_hash_the_same_people_differently():
    people = pa.table({"who": [1, 2, 3]})
    hashes = [Seen().with_batch(people, "who").people for _ in range(2)]
    assert len(hashes[0]) == 3
    assert not hashes[0] & hashes[1]


DAY = dt.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    ("before", "again"),
    [
        (pa.array([12345678901, 2]), pa.array([12345678901.0, 3.5])),
        (pa.array([1, 2]), pa.array([Decimal("1.00"), Decimal("7.00")])),
        (pa.array([1.5]), pa.array([Decimal("1.50")])),
        (pa.array([DAY.date()]), pa.array([DAY])),
        (pa.array([DAY.date()]), pa.array([DAY], pa.timestamp("ms", "UTC"))),
        (pa.array([DAY.replace(hour=7)], pa.timestamp("s")), pa.array([DAY.replace(hour=7)], pa.timestamp("us"))),
        (pa.array(["A1"]), pa.array([" A1 "])),
        (pa.array([1]), pa.array(["1"]).dictionary_encode()),
        (pa.array(["A1"]), pa.array([b"A1"])),
        (pa.array([b"\xff"]), pa.array([b"\xff"], pa.binary(1))),
        (pa.array([pa.MonthDayNano([1, 2, 3])]), pa.array([pa.MonthDayNano([1, 2, 3])])),
    ],
)
def test_a_person_is_recognised_in_whatever_type_the_name_is(before, again):
    seen = Seen().with_batch(pa.table({"who": before}), "who")
    with pytest.raises(InputError, match=f"1 of {len(again)} records? is of a person who came before"):
        seen.with_batch(pa.table({"who": again}), "who")
    other = pa.table({"who": ["B2", "1.25", "2020-01-02"]})
    assert len(seen.with_batch(other, "who").people) == len(before) + 3


@pytest.mark.parametrize("blank", [pa.array(["", "A"]), pa.array(["  ", "A"]), pa.array([math.nan, 2.0])])
def test_a_blank_is_nobody(blank):
    with pytest.raises(InputError, match="no value in the person column"):
        Seen().with_batch(pa.table({"who": blank}), "who")


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
    assert read_mark(table).kept == ("'-ill", "'@note")


@pytest.mark.parametrize("k", ["5", 2.5, True, 1])
def test_a_k_that_is_no_whole_number_is_refused(k):
    with pytest.raises(InputError, match="k must be a whole number of 2 or more"):
        Stream(quasi_identifiers=["age"], k=k)


@pytest.mark.parametrize(
    "changed",
    [
        {"l": float("nan")},
        {"l": float("inf")},
        {"c": float("-inf")},
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
