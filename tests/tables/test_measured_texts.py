"""Numbers, clock times and dates written as text, against what Python's own formatting wrote."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

from incrowd.tables.measured_texts import read_measured_texts

DRAW = np.random.default_rng(0)
AMOUNTS = [*DRAW.integers(-9_999_999, 9_999_999, 500) / 100, 0.5, -0.25, 1_000.0]
DAYS = [date(1961, 1, 1) + timedelta(int(day)) for day in DRAW.integers(0, 20_000, 500)]


def read(texts):
    return read_measured_texts(pa.array(texts, pa.string()))


def european(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize(
    "write",
    [
        "{:.2f} EUR",
        "{:,.2f} kg",
        "$ {:,.2f}",
        "{:+.2f}%",
        lambda n: european(n) + " €",
        lambda n: f"{n:,.2f}".replace(",", " "),
    ],
)
def test_amounts_are_read_in_every_notation(write):
    write = write.format if isinstance(write, str) else write
    assert read([write(number) for number in AMOUNTS]).tolist() == pytest.approx([round(n, 2) for n in AMOUNTS])


@pytest.mark.parametrize("form", ["%d/%m/%y", "%m/%d/%y", "%y-%m-%d", "%d.%m.%Y", "%d %b %Y", "%Y/%m/%d", "%d%b%Y"])
def test_days_apart_are_read_in_every_notation(form):
    found = read([day.strftime(form) for day in DAYS])
    assert (found - found[0]).tolist() == [(day - DAYS[0]).days for day in DAYS]


def test_clock_times_are_minutes():
    minutes = list(range(0, 1_440, 7))
    assert read([f"{m // 60:02}:{m % 60:02}" for m in minutes]).tolist() == minutes
    assert read([f"{(m // 60 - 1) % 12 + 1}:{m % 60:02} {'ap'[m >= 720]}m" for m in minutes]).tolist() == minutes


def test_a_few_other_texts_and_nulls_are_missing():
    found = read([*(f"{n} kg" for n in range(40)), "unknown", "3 lb", None])
    assert found[:40].tolist() == list(range(40))
    assert np.isnan(found[40:]).all()


@pytest.mark.parametrize(
    "texts", [["north", "south"], ["[30;39]", "[40;49]"], ["1 kg", "2 lb", "3 g"], [], [None], ["a1b2", "c3d4"]]
)
def test_other_texts_are_no_quantities(texts):
    assert read(texts) is None
