"""Pseudonyms under a key, and dates that move by person."""

import json
from collections import defaultdict
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd import check, protect
from incrowd._support.progress import silent
from incrowd.assessment import Question, find_release, judge_release
from incrowd.assessment.command_line import option_words
from incrowd.assessment.solver import judge_protected
from incrowd.errors import ColumnNotFoundError, InputError
from incrowd.protection import make_codebook, write_protected
from incrowd.protection.build import ReleaseBuilder
from incrowd.protection.keys import read_key
from incrowd.protection.perturbation import ShiftDates
from incrowd.protection.protect_options import OPTIONS, ProtectCall
from incrowd.protection.request import read_request
from incrowd.tables.release_marks import mark_of

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
    assert "replaced by pseudonyms under a secret key" in make_codebook(safe).to_markdown()
    assert KEY.decode() not in repr(safe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": b"short", "person": "who"}, "5 bytes can be guessed; give 16 random ones or more"),
        ({"key": "nowhere.txt", "person": "who"}, "the key cannot be read: No such file"),
        ({"key": KEY}, "a key is for pseudonyms of people"),
        ({"key": b"a" * 40, "person": "who"}, "only 1 different byte can be guessed"),
        ({"key": b"ab" * 20, "person": "who"}, "only 2 different bytes can be guessed"),
        ({"key": b" " * 20 + b"short\n", "person": "who"}, "5 bytes can be guessed"),
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
    asked = {"quasi_identifiers": ["sex"], "identifiers": ["who"], "shuffle": False, "warn": False, "method": "perturb"}
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
        (("sex", "shiftdates=3"), "holds no dates"),
        (("who", "shiftdates=3"), "holds no dates"),
        (("came", "shiftdates=6,multiple=7"), "multiples of 7 days; give a whole number from 1 to 6"),
        (("came", "shiftdates=6,multiple=0"), "multiples of 0 days"),
        (("came", "shiftdates=3,key=key.txt"), "name the person column"),
        (("came", "shiftdates"), "needs its numbers: shiftdates=days"),
    ],
)
def test_shifts_that_make_no_sense_are_refused(step, message):
    with pytest.raises(InputError, match=message):
        shifted(stays(), step)


def test_shifted_people_keep_pseudonyms():
    """The step takes the person column of the request, whose people get pseudonyms, under a key in every table."""
    before = stays()
    asked = {"quasi_identifiers": ["sex"], "method": "perturb", "person": "who", "warn": False}
    safe, again = (protect(before, steps=[("came+went", "shiftdates=30")], key=KEY, **asked) for _ in range(2))
    rows, was = safe.table.to_pylist(), before.to_pylist()
    shifts, people = defaultdict(set), defaultdict(set)
    for row, place in zip(rows, safe.kept_rows.tolist(), strict=True):
        shifts[row["who"]].add(row["came"] - was[place]["came"])
        shifts[row["who"]].add(row["went"] - was[place]["went"])
        people[row["who"]].add(was[place]["who"])
    assert {len(one) for one in people.values()} == {1}
    assert {len(one) for one in shifts.values()} == {1}
    assert people.keys().isdisjoint(before["who"].to_pylist())
    assert {*people} == {*again.table["who"].to_pylist()}
    assert safe.shuffled
    assert safe.keyed
    assert any("their records can be put together" in note for note in safe.notes)
    drawn = protect(before, steps=[("came", "shiftdates=30,person=who")], **asked).table["who"].to_pylist()
    assert {*people}.isdisjoint(drawn)


def test_a_person_column_of_a_step_is_not_released():
    step = ("came", "shiftdates=30,person=who")
    for removed in ({"identifiers": ["who"]}, {"identifiers": [], "leave_out": ["who"]}):
        safe = protect(stays(), steps=[step], quasi_identifiers=["sex"], method="perturb", **removed)
        assert "who" not in safe.table.column_names
    for kept in ({"identifiers": []}, {"identifiers": [], "other": ["who"]}):
        with pytest.raises(InputError, match="'who' tells a step whose record it is, and would be released"):
            protect(stays(), steps=[step], quasi_identifiers=["sex"], method="perturb", **kept)
    with pytest.raises(ColumnNotFoundError, match="no column named 'nobody'"):
        shifted(stays(), ("came", "shiftdates=30,person=nobody"))


@pytest.mark.parametrize("key", [None, KEY])
def test_shifts_of_whole_weeks_keep_weekdays(key):
    before = stays()
    after = shifted(before, ShiftDates(("came",), 60, "who", key, multiple=7))
    moved = {now - was for was, now in zip(before["came"].to_pylist(), after["came"].to_pylist(), strict=True)}
    assert all(days.days % 7 == 0 for days in moved)
    assert len(moved) > 8
    assert max(map(abs, moved)) <= timedelta(days=56)


def test_shifts_tell_how_they_can_be_found():
    step = ("came", "shiftdates=28,multiple=7")
    safe = protect(stays(), steps=[step], quasi_identifiers=["sex"], identifiers=["who"], method="perturb")
    (told,) = safe.settings["treatments"]["came"]
    assert "drawn from multiples of 7, -28 to 28" in told["treatment"]
    assert "one known date" in told["correction"]
    assert "weekdays" in told["correction"]
    assert "standard deviation of 18.1 days" in told["correction"]  # 7 times that of -4 to 4, the root of 80 / 12


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_between_dates_are_exact_in_every_unit(unit):
    day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    ticks = [1_000 * day + number * (11 * day + 7) for number in range(120)]
    before = stays().append_column("seen", pa.array([*ticks[:-1], None], pa.int64()).cast(pa.timestamp(unit)))
    after = shifted(before, ("seen", "shiftdates=9,person=who"))["seen"]
    assert after.type == before["seen"].type
    now = after.cast(pa.int64()).to_pylist()
    assert now[-1] is None
    assert {(one - was) % day for one, was in zip(now[:-1], ticks, strict=False)} == {0}
    assert now[40] - now[0] == ticks[40] - ticks[0]


@pytest.mark.parametrize(
    "dates",
    [
        pa.array([date(1, 1, 20), date(2024, 1, 1)]),
        pa.array([date(9999, 12, 31), date(2024, 1, 1)]),
        pa.array([date(1, 1, 20), date(2024, 1, 1)]).cast(pa.timestamp("s")),
        pa.array([-(2**63) + 1, 0], pa.int64()).cast(pa.timestamp("ns")),
    ],
)
def test_dates_that_would_leave_the_calendar_are_refused_whatever_is_drawn(dates):
    table = pa.table({"sex": ["f"] * 8, "came": pa.concat_arrays([dates] * 4)})
    options = {"quasi_identifiers": ["sex"], "identifiers": [], "method": "perturb", "other": ["came"]}
    for seed in range(3):
        with pytest.raises(InputError, match="some dates of 'came' may leave the years 1 to 9999"):
            protect(table, steps=[("came", "shiftdates=30")], seed=seed, **options)


def test_a_verdict_says_that_pseudonyms_of_a_key_join_tables(tmp_path):
    table = {"who": list(range(40)), "age": [30, 31] * 20}
    asked = Question(quasi_identifiers=("age",), person="who")
    told = "who holds pseudonyms of a key: the table joins with every table under the same key"
    options = {"quasi_identifiers": ["age"], "k": 11, "person": "who", "identifiers": []}
    for key, times in ((KEY, 1), (None, 0)):
        safe = protect(table, key=key, **options)
        file = write_protected(safe, tmp_path / f"{times}.csv")
        for verdict in (judge_release(file, asked), judge_protected(safe, asked)):
            assert verdict.decision == "within"
            assert sum(told in str(reason) for reason in verdict.internal_reasons) == times
        checked = check(file, quasi_identifiers=["age"], person="who", min_k=2)
        assert sum(told in note for note in checked.notes) == times
    keyed = tmp_path / "1.csv"
    again = write_protected(protect(keyed, **options), tmp_path / "again.csv")
    assert not any(told in str(reason) for reason in judge_release(again, asked).internal_reasons)
    kept = write_protected(
        protect(keyed, quasi_identifiers=["age"], k=11, other=["who"], identifiers=[]), tmp_path / "kept.csv"
    )
    assert any(told in str(reason) for reason in judge_release(kept, asked).internal_reasons)
    mark = mark_of(keyed)
    saved = json.loads(mark.read_text())
    assert saved.pop("keyed") == ["who"]
    mark.write_text(json.dumps(saved))  # as older versions wrote it
    assert judge_release(keyed, asked).decision == "within"


def test_a_key_is_shown_nowhere(tmp_path, capsys):
    file = tmp_path / "key.txt"
    file.write_bytes(KEY)
    data = tmp_path / "visits.csv"
    data.write_text("who,age\n" + "".join(f"p{number},{30 + number % 3}\n" for number in range(40)))
    out = tmp_path / "safe.csv"
    words = ["protect", data, "--qi", "age", "--person", "who", "--key", file, "--out", out, "--k", "3"]
    code, *shown = run(capsys, *words)
    assert code == 0
    safe = protect(VISITS, quasi_identifiers=["age"], k=2, person="who", key=KEY, identifiers=[])
    step = ShiftDates(("came",), 30, "who", file)
    assert step.key == KEY
    call = ProtectCall(quasi_identifiers=["age"], k=2, person="who", key=KEY, identifiers=[])
    request = read_request(VISITS, call)
    build = ReleaseBuilder(request, request.pose_problem(silent), {})
    codebook = json.dumps(make_codebook(safe).to_dict())
    written = json.dumps(safe.to_dict())
    assert option_words(OPTIONS["key"], KEY) == ["--key", "KEY"]
    for text in (*shown, mark_of(out).read_text(), out.read_text(), codebook, written, repr(safe), repr(step)):
        assert KEY.decode() not in text
    for part in (call, request, build):
        assert KEY.decode() not in repr(part)


def test_a_key_is_read_once_and_before_any_work(tmp_path, monkeypatch):
    read = []
    for place in ("incrowd.protection.request.read_key", "incrowd.assessment.solver.read_key"):
        monkeypatch.setattr(place, lambda key: read.append(type(key)) or read_key(key))
    file = tmp_path / "key.txt"
    file.write_bytes(KEY)
    ages = {"who": list(range(60)), "age": [30, 31, 32] * 20}
    asked = Question(quasi_identifiers=("age",), person="who")
    find_release(ages, asked, quasi_identifiers=["age"], person="who", key=file, identifiers=[])
    assert {*read[1:]} == {bytes}  # trials get the content
    with pytest.raises(InputError, match="the key cannot be read"):
        protect("no table", quasi_identifiers=["age"], person="who", key=tmp_path / "none", identifiers=[])
