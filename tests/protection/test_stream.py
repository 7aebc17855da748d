"""Whoever holds every release of a stream is left with k rows, and with every secret that the first one showed."""

import datetime as dt
import math
from collections import Counter, defaultdict
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import covers, examples

from incrowd import InputError
from incrowd.protection import Stream
from incrowd.protection.batch_fingerprints import BatchFingerprints

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


@settings(max_examples=examples(12))
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


def test_a_batch_that_is_refused_leaves_the_stream_as_it_was():
    stream = Stream(quasi_identifiers=["age"], k=2, identifiers=[], widest={"age": 5})
    stream.append({"age": [20, 21], "seen": [1, 2]})
    with pytest.raises(InputError, match="'seen' holds"):
        stream.append({"age": [30, 31, 90], "seen": [dt.date(2020, 1, 1)] * 3})
    assert stream.waiting is None
    with pytest.raises(InputError, match="no column named 'age'"):
        stream.append({"sex": ["f", "m"]})
    assert stream.append({"age": [40, 41], "seen": [3, 4]}).batch.released == 2


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
    hashes = [BatchFingerprints().with_batch(people, "who").people for _ in range(2)]
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
    seen = BatchFingerprints().with_batch(pa.table({"who": before}), "who")
    with pytest.raises(InputError, match=f"1 of {len(again)} records? is of a person who came before"):
        seen.with_batch(pa.table({"who": again}), "who")
    other = pa.table({"who": ["B2", "1.25", "2020-01-02"]})
    assert len(seen.with_batch(other, "who").people) == len(before) + 3


@pytest.mark.parametrize("blank", [pa.array(["", "A"]), pa.array(["  ", "A"]), pa.array([math.nan, 2.0])])
def test_a_blank_is_nobody(blank):
    with pytest.raises(InputError, match="no value in the person column"):
        BatchFingerprints().with_batch(pa.table({"who": blank}), "who")


@pytest.mark.parametrize("k", ["5", 2.5, True, 1])
def test_a_k_that_is_no_whole_number_is_refused(k):
    with pytest.raises(InputError, match="k must be a whole number of 2 or more"):
        Stream(quasi_identifiers=["age"], k=k)
