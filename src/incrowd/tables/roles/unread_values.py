"""Detection of text columns that are mostly dates or numbers; a few other cells prevented the type inference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from incrowd.tables.infer_types import DATE_ORDERS, NUMBER
from incrowd.tables.roles.column_facts import ColumnFacts
from incrowd.tables.roles.values import MANY
from incrowd.wording import Advice, listed

_MOST = 0.8  # share of the cells that must be dates or numbers
_FEW_WORDS, _TIMES = 5, 2  # words for missing values: at most 5 different ones, each at least twice, unlike names
_TIME = r"(?:[T ]+\d\d?:\d\d.*)?"
_YEAR = r"(?:18|19|20)\d\d"
_IN_YEAR = r"(?:0?[1-9]|[12]\d|3[01])"
_NOTATIONS = [
    *(re.compile(rf"{_YEAR}{mark}{_IN_YEAR}{mark}{_IN_YEAR}{_TIME}") for mark in ("-", "/", r"\.")),
    *(re.compile(rf"{_IN_YEAR}{mark}{_IN_YEAR}{mark}{_YEAR}{_TIME}") for mark in ("-", "/", r"\.", r"\. ?")),
    re.compile(rf"{_IN_YEAR}[-/. ]*[^\W\d_]{{3,9}}[-/., ]*{_YEAR}{_TIME}"),
    re.compile(rf"[^\W\d_]{{3,9}}\.? {_IN_YEAR},? {_YEAR}{_TIME}"),
]
_SHORT_YEARS = [
    re.compile(rf"(?:0[1-9]|[12]\d|3[01]){mark}(?:0[1-9]|[12]\d|3[01]){mark}\d\d{_TIME}") for mark in ("-", "/", r"\.")
]
_TWO_ORDERS = re.compile(rf"(?:(?:0?[1-9]|1[0-2])([-/])){{2}}{_YEAR}")  # either number may be the month
_PART = re.compile(r"\d+|[^\W\d_]+")
_LONGEST = 40  # characters of a date
_MOST_WORDS = 40  # different words in all dates: months and days of the week, abbreviated and in full
_NUMBER = re.compile(NUMBER.replace(r"\.", "[.,]"))
_WORD = re.compile(r"[^\W\d_][^\d]{0,30}")


@dataclass(frozen=True, slots=True)
class UnreadValues:
    """Dates or numbers that are stored as text."""

    column: str  # the name of the column
    are_dates: bool  # True for dates, False for numbers
    notations: int  # the number of different date notations in the sampled cells
    words: tuple[str, ...]  # other texts in the column that may mean a missing value

    order_is_open: bool = False  # True if day and month cannot be distinguished, and nothing else is wrong

    @property
    def advice(self) -> Advice:
        """What is wrong, and what to do about it."""
        return advise_on_unread([self])[0]


def advise_on_unread(values: Iterable[UnreadValues]) -> list[Advice]:
    """What is wrong with columns, and what to do about it: one advice for all columns with the same problem.

    >>> days = [UnreadValues(name, True, 1, (), order_is_open=True) for name in ("born", "died")]
    >>> [advice.hint for advice in advise_on_unread(days)]
    [('dates=day-first',)]
    """
    alike: dict[UnreadValues, list[str]] = {}
    for one in values:
        alike.setdefault(replace(one, column=""), []).append(one.column)
    return [_advise(problem, listed(columns)) for problem, columns in alike.items()]


def _advise(problem: UnreadValues, columns: str) -> Advice:
    what = "Dates" if problem.are_dates else "Numbers"
    said = f"{what} in {columns} are read as text, so that ranges and detail are not what they seem: "
    if problem.order_is_open:
        return Advice(
            f"{said}no day is above 12, so day and month cannot be distinguished; say which is first (day-first or "
            "month-first), or write all as year-month-day",
            (f"dates={DATE_ORDERS[0]}",),
        )
    if problem.notations > 1:
        return Advice(
            f"{said}they are written in {problem.notations} ways; write all as year-month-day, and leave cells empty "
            "that hold no date"
        )
    if problem.words:
        one = "date" if problem.are_dates else "number"
        return Advice(
            f"{said}some cells are no {one}; if they stand for missing values, say so",
            (f"null={','.join(problem.words)}",),
        )
    return Advice(f"{said}write all as year-month-day, as dates, and leave cells empty that hold no date")


def find_unread_values(facts: ColumnFacts, topic: str) -> UnreadValues | None:
    """Find dates to the day, or numbers beside a few words, in a column of text with many different values.

    Args:
        topic: what it is about. Two-digit years up to 31 count in dates of birth, and beside years of four digits.

    >>> cells = tuple(f"19{year}-05-{day:02d}" for year in range(50, 60) for day in range(1, 11)) + ("unknown",) * 2
    >>> find_unread_values(ColumnFacts("born", "text", 101, 0, 102, sample=cells), "birth").words
    ('unknown',)
    """
    if facts.kind != "text" or facts.generalised or facts.distinct <= MANY or not facts.sample:
        return None
    cells = [cell.strip() for cell in facts.sample]
    used: Counter[int] = Counter()
    others: Counter[str] = Counter()
    full = any(form.fullmatch(cell) for cell in cells for form in _NOTATIONS)
    short = [form for form in _SHORT_YEARS if full or topic == "birth" or _has_years(cells, form)]
    in_parts = _dates_in_parts(cells)
    for cell in cells:
        form = next((at for at, form in enumerate([*_NOTATIONS, *short]) if form.fullmatch(cell)), None)
        if form is None and cell in in_parts:
            form = -1
        if form is None:
            others[cell] += 1
        else:
            used[form] += 1
    if used.total() >= _MOST * len(cells):
        is_open = not others and len(used) == 1 and all(map(_TWO_ORDERS.fullmatch, cells))
        return UnreadValues(facts.name, True, len(used), _words(others), is_open)
    others = Counter(cell for cell in cells if not _NUMBER.fullmatch(cell))
    words = _words(others)
    if words and others.total() <= (1 - _MOST) * len(cells):
        return UnreadValues(facts.name, False, 1, words)
    return None


def _dates_in_parts(cells: list[str]) -> set[str]:
    """The cells that consist of a year, a month and a day, in any order, with any separators and words.

    The words of all cells together must be few: months and days of the week repeat, names and codes do not.

    >>> sorted(_dates_in_parts(["2005. 01. 09.", "9.I.2005", "Sun 09 Jan 2005", "room 12"]))
    ['2005. 01. 09.', '9.I.2005', 'Sun 09 Jan 2005']
    """
    found: set[str] = set()
    words: set[str] = set()
    for cell in {*cells}:
        day, *_ = re.split(r"[T ]+\d\d?:\d\d", cell)
        parts = _PART.findall(day) if len(cell) <= _LONGEST else []
        named = [part for part in parts if not part.isdecimal()]
        years = [part for part in parts if re.fullmatch(_YEAR, part)]
        days = [part for part in parts if re.fullmatch(_IN_YEAR, part)]
        has_month = len(days) == 2 or (len(days) == 1 and named)
        if len(years) == 1 and has_month and len(named) <= 3 and len(years) + len(days) + len(named) == len(parts):
            found.add(cell)
            words.update(word.lower() for word in named)
    return found if len(words) <= _MOST_WORDS else set()


def _has_years(cells: list[str], form: re.Pattern[str]) -> bool:
    """True if some of the last two digits exceed 31, so that they are years and not parts of versions or codes."""
    return any(int(cell[6:8]) > 31 for cell in cells if form.fullmatch(cell))


def _words(others: Counter[str]) -> tuple[str, ...]:
    """The texts among dates or numbers, if they are a few words that repeat; otherwise none."""
    may_be_shown = len(others) <= _FEW_WORDS and all(_WORD.fullmatch(one) and others[one] >= _TIMES for one in others)
    return tuple(sorted(others)) if may_be_shown and not any(set(",;=") & set(one) for one in others) else ()
