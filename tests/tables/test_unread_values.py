"""Text columns that are mostly dates or numbers are recognised; harmless texts are not."""

import datetime
import random

import pytest

from incrowd import assess, protect, read_table
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables import suggest_roles

_DAYS = [datetime.date(1940, 1, 1) + datetime.timedelta(days=317 * number) for number in range(60)]


def _cells(*forms: str, words: tuple[str, ...] = (), times: int = 12) -> list[str]:
    """Days in one notation after the other, each several times, and words in place of some."""
    cells = [f"{day:{forms[number % len(forms)]}}" for number, day in enumerate(_DAYS)] * times
    for number, word in enumerate(words):
        cells[number * 7 : number * 7 + 3] = [word] * 3
    return cells


def _unread(cells: list[str], name: str = "x"):
    return suggest_roles(read_table({name: cells}))[0].unread


@pytest.mark.parametrize(
    ("forms", "words", "hint", "said"),
    [
        (["%Y-%m-%d"], ["unbekannt"], ("null=unbekannt",), "missing values"),
        (["%d.%m.%Y"], ["k. A.", "unbekannt"], ("null=k. A.,unbekannt",), "missing values"),
        (["%Y-%m-%d", "%d.%m.%Y"], [], (), "in 2 ways"),
        (["%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y"], ["unbekannt"], (), "in 3 ways"),
        (["%d %B %Y"], [], (), "year-month-day"),
        (["%d.%m.%y"], [], (), "year-month-day"),
        (["%Y-%m-%d %H:%M"], ["never"], ("null=never",), "missing values"),
        (["%d.%m.%Y."], [], (), "year-month-day"),
        (["%d. %m. %Y."], [], (), "year-month-day"),
        (["%Y.%m.%d."], [], (), "year-month-day"),
        (["%Y. %m. %d."], ["ismeretlen"], ("null=ismeretlen",), "missing values"),
        (["%Y. %B %d."], [], (), "year-month-day"),
        (["%Y年%m月%d日"], [], (), "year-month-day"),
        (["%a %d %b %Y"], [], (), "year-month-day"),
        (["%d.VI.%Y"], [], (), "year-month-day"),
        (["%d de %B de %Y"], [], (), "year-month-day"),
        (["%A, %d %B %Y, %H:%M"], [], (), "year-month-day"),
        (["%d/%m-%Y", "%Y. %m. %d."], [], (), "year-month-day"),
    ],
)
def test_texts_that_are_mostly_dates_are_recognised(forms, words, hint, said):
    found = _unread(_cells(*forms, words=tuple(words)))
    assert found.are_dates
    assert found.advice.hint == hint
    assert said in found.advice.sentence


def test_a_text_that_occurs_once_is_not_named():
    found = _unread([*_cells("%Y-%m-%d"), "Weber"])
    assert found.are_dates
    assert found.words == ()


def test_numbers_beside_words_are_recognised():
    found = _unread([*(str(number % 70 + 18) for number in range(700)), *["unknown"] * 9])
    assert not found.are_dates
    assert found.advice.hint == ("null=unknown",)


_HARMLESS = {
    "versions": lambda at: f"{at.randint(0, 20)}.{at.randint(0, 30)}.{at.randint(0, 99)}",
    "padded versions": lambda at: f"{at.randint(10, 24)}.{at.choice(['04', '10'])}.{at.randint(10, 31)}",
    "extensions": lambda at: f"{at.randint(10, 99)}-{at.randint(10, 99)}",
    "telephones": lambda at: f"0{at.randint(30, 999)}/{at.randint(10000, 999999)}",
    "sort codes": lambda at: f"{at.randint(10, 99)}-{at.randint(10, 99)}-{at.randint(10, 99)}",
    "fractions": lambda at: f"{at.randint(1, 40)}/{at.randint(1, 40)}",
    "blood pressures": lambda at: f"{at.randint(90, 180)}/{at.randint(50, 110)}",
    "diagnoses": lambda at: f"{at.choice('ABCDE')}{at.randint(10, 99)}.{at.randint(0, 9)}",
    "postcodes": lambda at: f"{at.randint(0, 99999):05d}",
    "plates": lambda at: f"{at.choice(['M', 'HH', 'B'])}-{at.choice('ABC')} {at.randint(1, 9999)}",
    "products": lambda at: f"{at.randint(32, 99)}.{at.randint(1, 99):02d}.{at.randint(1, 99):02d}",
    "addresses": lambda at: ".".join(str(at.randint(0, 255)) for _ in range(4)),
    "clocks": lambda at: f"{at.randint(0, 23):02d}:{at.randint(0, 59):02d}",
    "years": lambda at: f"{at.randint(1990, 2010)}/{at.randint(11, 99)}",
    "months": lambda at: f"{at.randint(1990, 2010)}-{at.randint(1, 12):02d}",
    "rooms": lambda at: f"{at.randint(1, 9)}.{at.randint(1, 60):02d}",
    "ranges": lambda at: f"{at.randint(1, 40)}-{at.randint(41, 90)}",
    "codes": lambda at: at.choice(["A12", "B7", "C99"]) + str(at.randint(0, 99)),
    "files": lambda at: f"20{at.randint(10, 24)}-{at.randint(100, 999)}-{at.randint(10, 99)}",
    "models": lambda at: (
        f"20{at.randint(10, 24)} {at.choice('ABCDEFGHIJKLMN')}{at.choice('xyz')}{at.choice('uvw')} {at.randint(1, 31)}"
    ),
    "editions": lambda at: f"no. {at.randint(1, 31)} of {at.randint(32, 99)}, 20{at.randint(10, 24)}",
    "quarters": lambda at: f"Q{at.randint(1, 4)} {at.randint(1990, 2020)} {at.randint(100, 999)}",
    "words": lambda at: f"{at.choice(['may', 'march', 'june'])} {at.choice(['ward', 'way'])}{at.randint(1, 40)}",
}


@pytest.mark.parametrize("kind", _HARMLESS)
def test_harmless_texts_are_not_taken_for_dates(kind):
    for seed in range(11):
        at = random.Random(f"{kind} {seed}")
        assert _unread([_HARMLESS[kind](at) for _ in range(400)]) is None, seed


def test_dates_as_text_are_no_yes_and_are_not_protected_as_sets():
    cells = [*_cells("%Y-%m-%d", times=40), *["unbekannt"] * 30]
    at = random.Random(1)
    at.shuffle(cells)
    rows = {"born": cells, "ill": at.choices("abcd", k=len(cells))}
    asked = {"quasi_identifiers": ["born"], "sensitive": ["ill"]}
    verdict = assess(rows, recipient="public", rows_are_people=True, **asked).verdict
    assert verdict.decision == "undecided"
    assert any("read as text" in str(one) for one in verdict.unanswered)
    with pytest.raises(UnsupportedError, match="Dates in born are read as text") as refused:
        protect(rows, k=3, **asked)
    assert refused.value.hint == ("null=unbekannt",)
    days = [None if cell == "unbekannt" else datetime.date.fromisoformat(cell) for cell in cells]
    assert protect(rows | {"born": days}, k=3, **asked).table.num_rows == len(cells)


def _file(tmp_path, form, least_day=1, most_day=28):
    days = [day for day in _DAYS * 20 if least_day <= day.day <= most_day]
    cells = [f"{day:{form}},{day:{form}},{number % 4}" for number, day in enumerate(days)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["born,married,ill", *cells]) + "\n", encoding="utf-8")
    return file, days


@pytest.mark.parametrize("form", ["%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%-d.%-m.%Y", "%-d-%-m-%Y", "%d/%m/%Y"])
def test_dates_whose_order_is_clear_are_read_with_any_mark(tmp_path, form):
    file, days = _file(tmp_path, form)
    assert dict(read_table(file).read(["born"]))["born"].to_pylist() == days


@pytest.mark.parametrize(("mark", "order"), [("-", "day-first"), ("-", "month-first"), ("/", "day-first")])
def test_an_order_is_asked_for_all_columns_at_once_if_no_day_is_above_12(tmp_path, mark, order):
    form = mark.join(["%d", "%m", "%Y"] if order == "day-first" else ["%m", "%d", "%Y"])
    file, days = _file(tmp_path, form, most_day=12)
    asked = {"quasi_identifiers": ["born", "married"], "sensitive": ["ill"], "rows_are_people": True}
    found = assess(read_table(file), recipient="public", **asked, protection=False).verdict
    (action,) = [one for one in found.actions if "read as text" in one.sentence]
    assert "born and married" in action.sentence or "born, married" in action.sentence
    assert action.hint == ("dates=day-first",)
    assert f"{file} --dates day-first --qi born,married" in action.commands[0]
    settled = read_table(file, dates=order)
    assert dict(settled.read(["born"]))["born"].to_pylist() == days
    assert settled.reading == {"dates": order}


def test_a_stated_order_changes_no_column_whose_order_is_clear(tmp_path):
    file, days = _file(tmp_path, "%m-%d-%Y")
    assert dict(read_table(file, dates="day-first").read(["born"]))["born"].to_pylist() == days


def test_an_unknown_order_of_dates_is_refused(tmp_path):
    with pytest.raises(InputError, match="day-first or month-first"):
        read_table(_file(tmp_path, "%d-%m-%Y")[0], dates="year-first")


def test_words_among_dates_are_declared_by_the_command(tmp_path):
    file, _ = _file(tmp_path, "%Y-%m-%d")
    file.write_text(file.read_text(encoding="utf-8") + "never,never,1\n" * 20, encoding="utf-8")
    asked = {"quasi_identifiers": ["born", "married"], "sensitive": ["ill"], "rows_are_people": True}
    found = assess(read_table(file), recipient="public", **asked, protection=False).verdict
    (action,) = [one for one in found.actions if "read as text" in one.sentence]
    assert "--null born=never --null married=never" in action.commands[0]
