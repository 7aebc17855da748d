"""Numbers of people under a key, and dates that move by person."""

from collections import defaultdict
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

from incrowd import protect
from incrowd.errors import InputError
from incrowd.protection import make_codebook
from incrowd.protection.perturbation import ShiftDates

KEY = b"0123456789abcdef0123456789abcdef"
VISITS = {"who": [7, 7, 8, 9, 10, 10], "age": [30, 30, 31, 50, 51, 51]}


def numbers(table, key, **options):
    """The numbers of people in the release, by who they are."""
    safe = protect(table, quasi_identifiers=["age"], k=2, person="who", key=key, identifiers=[], **options)
    assert safe.keyed
    kept = range(safe.rows) if safe.kept_rows is None else safe.kept_rows
    people = [str(table["who"][row]).strip().removesuffix(".0") for row in kept]
    return dict(zip(people, safe.table["who"].to_pylist(), strict=True))


def test_tables_under_one_key_have_the_same_numbers(tmp_path):
    file = tmp_path / "key.txt"
    file.write_bytes(KEY + b"\n")
    one = numbers(VISITS, KEY)
    assert one == numbers(VISITS, file) == numbers(VISITS, str(file))
    others = {"who": ["10", " 9", "8 ", "11"], "age": [20, 21, 22, 23]}
    assert {who: number for who, number in numbers(others, KEY).items() if who in one} == {
        who: one[who] for who in ("10", "9", "8")
    }
    assert not {*one.values()} & {*numbers(VISITS, KEY[::-1]).values()}
    assert len({*one.values()}) == 4
    assert not {*one.values()} & {7, 8, 9, 10}


def test_a_codebook_says_that_numbers_are_of_a_key():
    safe = protect(VISITS, quasi_identifiers=["age"], k=2, person="who", key=KEY, identifiers=[])
    assert "replaced by numbers under a secret key" in make_codebook(safe).to_markdown()
    assert KEY.decode() not in repr(safe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": b"short", "person": "who"}, "5 bytes can be guessed; give 16 random ones or more"),
        ({"key": "nowhere.txt", "person": "who"}, "the key cannot be read: No such file"),
        ({"key": KEY}, "a key is for numbers of people"),
    ],
)
def test_keys_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        protect(VISITS, quasi_identifiers=["age"], k=2, identifiers=[], **options)


def test_people_whom_a_key_would_join_are_refused():
    table = {"who": ["7", "7 ", "8", "9"], "age": [30, 30, 31, 31]}
    with pytest.raises(InputError, match="1 person differs from another in 'who' only by blanks"):
        protect(table, quasi_identifiers=["age"], k=2, person="who", key=KEY, identifiers=[])


def stays(people=40):
    """Stays of people: when they came and went, as dates and as times."""
    rows = [
        (number % people, date(2024, 1, 1) + timedelta(days=7 * number), number % 5) for number in range(3 * people)
    ]
    return pa.table(
        {
            "who": [who for who, _, _ in rows],
            "came": [day for _, day, _ in rows],
            "went": [datetime(day.year, day.month, day.day, 12) + timedelta(days=nights) for _, day, nights in rows],
            "sex": ["f", "m"] * (len(rows) // 2),
        }
    )


def shifted(table, step, **options):
    asked = {"quasi_identifiers": ["sex"], "identifiers": [], "shuffle": False, "warn": False, "method": "perturb"}
    return protect(table, steps=[step], **asked, **options).table


@pytest.mark.parametrize(
    "step", [("came+went", "shiftdates=30,person=who"), ShiftDates(("came", "went"), 30, "who", KEY)]
)
def test_the_time_between_dates_of_a_person_is_kept(step):
    before = stays()
    after = shifted(before, step)
    moved = defaultdict(set)
    for name in ("came", "went"):
        assert after[name].type == before[name].type
        for who, was, now in zip(
            *(column.to_pylist() for column in (before["who"], before[name], after[name])), strict=True
        ):
            moved[who].add(now - was)
    assert all(len(days) == 1 for days in moved.values())
    days = {days.pop() for days in moved.values()}
    assert len(days) > 10
    assert max(map(abs, days)) <= timedelta(days=30)


def test_dates_under_one_key_move_alike_in_every_table():
    step = ShiftDates(("came",), 30, "who", KEY)
    every = stays()
    some = every.slice(50)
    assert shifted(every, step)["came"].to_pylist()[50:] == shifted(some, step)["came"].to_pylist()
    assert shifted(every, step, seed=1)["came"] == shifted(every, step, seed=2)["came"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (("came", "shiftdates=0"), "a whole number from 1"),
        (("who", "shiftdates=3"), "holds no dates"),
        (("came", "shiftdates=3,key=key.txt"), "name the person column"),
        (("came", "shiftdates"), "needs its numbers: shiftdates=days"),
    ],
)
def test_shifts_that_make_no_sense_are_refused(step, message):
    with pytest.raises(InputError, match=message):
        shifted(stays(), step)
