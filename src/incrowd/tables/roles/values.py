"""Evidence for the contents of a column from its cells. No cell is ever shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from incrowd.tables.roles.column_facts import ColumnFacts
from incrowd.tables.roles.names import topics, whole_words, word_list, word_pattern, words_of

MANY = 20  # distinct values, above which a column is not a short list of categories
_NEARLY_ALL, _FROM_ROWS = 0.95, 100  # distinct values for each cell that name records, in a column of 100 cells or more
_MOST = 0.9  # share of the cells that must pass a test
_CHAPTERS = 3  # different first letters of diagnosis codes, at least; other codes have one letter before a number
_LIVES = 50  # years from the first to the last date, from which they are births; careers are shorter
_SHARE_A_PLACE = 20  # rows for each place, below which it is about as exact as an address
_DENSE, _DIGITS = 10, 5  # assigned numbers: range for each distinct number, at most; or equal length, at least


@dataclass(frozen=True, slots=True)
class ValueEvidence:
    """Evidence from the cells: the role, the topic, and a sentence that contains no cell."""

    role: str
    topic: str
    reason: str
    confidence: str = "medium"


def differs_everywhere(facts: ColumnFacts) -> bool:
    """True if each value names a record: texts or whole numbers that (nearly) all differ."""
    if not facts.codes or facts.generalised:
        return False
    nearly = facts.filled >= _FROM_ROWS and facts.distinct >= _NEARLY_ALL * facts.filled
    return facts.distinct > MANY and (facts.distinct == facts.filled or nearly)


def is_measured(facts: ColumnFacts) -> bool:
    """True if texts are decimal numbers or dates: measurements, which name nobody."""
    return facts.kind == "text" and (_share(facts, _DECIMAL.fullmatch) > _MOST or _share(facts, _is_date) > _MOST)


def is_numbered(facts: ColumnFacts) -> bool:
    """True if whole numbers were assigned consecutively, or all have the same length."""
    if facts.low is None or facts.high is None or not facts.whole:
        return False
    equally_long = facts.low > 0 and len(str(int(facts.low))) == len(str(int(facts.high))) >= _DIGITS
    return facts.high - facts.low < _DENSE * facts.distinct or equally_long


def counts_up(facts: ColumnFacts) -> bool:
    """True if whole numbers are 1, 2, 3, … in any order, each once; years are excluded."""
    if not facts.whole or facts.low is None or facts.high is None or not facts.distinct == facts.filled > MANY:
        return False
    return facts.high - facts.low + 1 == facts.distinct and not (facts.low > 1_800 and facts.high < 2_100)


def numbers_people(facts: ColumnFacts) -> bool:
    """True if whole numbers look like numbers of people with several records each.

    Assigned numbers are spread evenly over their range, none is much more frequent than the others, and round numbers
    are no more frequent than chance. Amounts, counts and codes are different.
    """
    if not is_numbered(facts) or facts.distinct < 100 or not 1.05 <= facts.repeats <= 100:
        return False
    cells = facts.sample
    common = max(Counter(cells).values())
    if common > max(8, 0.02 * len(cells)) or sum(cell % 10 == 0 for cell in cells) > 0.2 * len(cells):
        return False
    width = (facts.high or 0.0) - (facts.low or 0.0)
    places = [(cell - (facts.low or 0.0)) / width for cell in cells]
    middle = sum(places) / len(places)
    spread = sum((place - middle) ** 2 for place in places) / len(places)
    return bool(0.35 < middle < 0.65 and 0.06 < spread < 0.11)  # 1/2 and 1/12 where all are equally likely


def is_free_text(facts: ColumnFacts) -> bool:
    """True if texts are written by people and not chosen from a list: long or of several words, and many differ."""
    if facts.kind != "text" or facts.generalised or not facts.sample:
        return False
    letters = sum(map(len, facts.sample)) / len(facts.sample)
    words = sum(len(cell.split()) for cell in facts.sample) / len(facts.sample)
    return (letters > 40 and facts.distinct > facts.filled / 2) or (
        words >= 2 and facts.distinct > max(MANY, facts.filled / 3)
    )


def find_value_evidence(facts: ColumnFacts) -> ValueEvidence | None:
    """The evidence from the cells, if there is any."""
    if facts.kind == "date or time":
        return ValueEvidence("quasi-identifier", "date", "it holds dates or times, which others may know", "high")
    if facts.kind == "text":
        return _in_texts(facts)
    return _in_numbers(facts) if facts.whole and facts.low is not None else None


def are_days(facts: ColumnFacts) -> bool:
    """True if cells are dates to the day (dates, texts or numbers such as 19991231), and more than a few."""
    if facts.distinct <= MANY or facts.generalised or not facts.sample:
        return False
    if facts.kind in {"integer", "number"}:
        is_day = all(19_000_101 <= cell <= 21_001_231 and _is_day(int(cell)) for cell in facts.sample)
        return facts.whole and is_day
    return _share(facts, _DAY.match) > _MOST


def find_births(facts: ColumnFacts) -> ValueEvidence | None:
    """Find days over a span of years that fits only lives."""
    if not are_days(facts):
        return None
    texts = (cell if isinstance(cell, str) else f"{cell:.0f}" for cell in facts.sample)
    years = sorted(int(year[0]) for text in texts if (year := _YEAR.search(text)))
    if len(years) < _MOST * len(facts.sample):
        return None
    few = len(years) // 50  # may stand for a date that is not known
    span = years[-1 - few] - years[few]
    if span < _LIVES:
        return None
    reason = f"its dates span {span} years, as births do, which others know"
    return ValueEvidence("quasi-identifier", "birth", reason, "high")


def is_exact(facts: ColumnFacts, topic: str) -> bool:
    """True for a day of birth, or a place that few people share: others know these, whatever is declared."""
    if topic == "birth":
        return are_days(facts)
    return topic == "coordinates" and facts.distinct > MANY and facts.repeats < _SHARE_A_PLACE


def _in_texts(facts: ColumnFacts) -> ValueEvidence | None:
    for form, meaning, topic_name in _FORMS:
        if _share(facts, re.compile(form).fullmatch) >= _MOST and not (
            topic_name == "diagnosis" and len({cell[0] for cell in facts.sample}) < _CHAPTERS
        ):
            role = topics()[topic_name].role
            sure = "high" if role == "identifier" or topic_name == "date" else "medium"
            return ValueEvidence(role, topic_name, f"its cells have the form of {meaning}", sure)
    if topic := _topic_of_values(facts):
        meaning = topics()[topic].meaning
        return ValueEvidence(topics()[topic].role, topic, f"its values are words for {meaning}")
    if is_free_text(facts):
        return ValueEvidence("identifier", "free text", "it is free text, in which people may be named")
    return None


def _in_numbers(facts: ColumnFacts) -> ValueEvidence | None:
    low, high = facts.low or 0.0, facts.high or 0.0
    if facts.distinct < 3:
        return None
    if low >= 19_000_101 and high <= 21_001_231 and all(_is_day(int(cell)) for cell in facts.sample):
        return ValueEvidence("quasi-identifier", "date", "its numbers are dates, which others may know")
    if low >= 190_001 and high <= 210_012 and all(1 <= cell % 100 <= 12 for cell in facts.sample):
        return ValueEvidence("quasi-identifier", "date", "its numbers are months of years, which others may know")
    if low >= 1_880 and high <= 2_100:
        return ValueEvidence("quasi-identifier", "time", "its numbers are years, which others may know")
    return None


def _topic_of_values(facts: ColumnFacts) -> str | None:
    """The topic whose words occur in at least half of the distinct values, if these are few."""
    values = {words_of(value) for value in {*facts.sample}} - {""}
    if not 2 <= len(values) <= 80:
        return None
    unknown = word_pattern("values", "unknown")
    known = {value for value in values if not unknown.fullmatch(value)}
    if 2 <= len(known) <= 3 and known <= word_list("values", "sexes"):
        return "sex"
    for topic, pattern in _value_words():
        hits = sum(pattern.search(value) is not None for value in values)
        if hits >= 2 and hits >= len(known) / 2:
            return topic
    return None


@cache
def _value_words() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (topic.name, whole_words("|".join(map(_as_pattern, topic.values.split()))))
        for topic in topics().values()
        if topic.values
    ]


def _as_pattern(word: str) -> str:
    """A pattern for a word of values, written as one word or several; a star at its end matches any letters."""
    return words_of(word).replace(" ", " ?") + ("[^ ]*" if word.endswith("*") else "")


_DECIMAL = re.compile(r"[-+]?\d[\d ]*[.,]\d+")
_DATES = (
    r"(?:(?:18|19|20)\d\d[-/.](?:0?[1-9]|1[0-2])(?:[-/.](?:0?[1-9]|[12]\d|3[01]))?"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/. ](?:0?[1-9]|[12]\d|3[01]|[A-Za-z]{3,9})[-/. ](?:18|19|20)?\d\d)"
    r"(?:[T ]\d\d?:\d\d.*)?"
)


_DAY = re.compile(
    r"(?:(?:18|19|20)\d\d[-/.]\d\d?[-/.]\d\d?|\d\d?[-/. ](?:\d\d?|[A-Za-z]{3,9})[-/. ](?:18|19|20)?\d\d)(?!\d)"
)
_YEAR = re.compile("(?:18|19|20)\\d\\d")


def _is_date(text: str) -> bool:
    return re.fullmatch(_DATES, text) is not None


def _is_day(number: int) -> bool:
    return 1 <= number // 100 % 100 <= 12 and 1 <= number % 100 <= 31


def _share(facts: ColumnFacts, says: Callable[[str], object]) -> float:
    """The share of the sample that passes a test."""
    return sum(bool(says(cell)) for cell in facts.sample) / max(len(facts.sample), 1)


_FORMS = [  # a regular expression of cells, what they are, and the topic that means
    (r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", "UUIDs, which number records", "record number"),
    (r"[0-9a-f]{32,128}|[0-9A-F]{32,128}", "hashes, which represent people or records", "record number"),
    (_DATES, "dates, which others may know", "date"),
    (r"\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{2}-\d{3}|[A-Z]\d[A-Z] ?\d[A-Z]\d", "postcodes", "area"),
    (r"[A-V]\d{2}[A-Z]{2}\d{2}", "codes of medicines (ATC)", "drug"),
    (r"[A-TV-Z]\d[0-9AB](?:\.[0-9A-Z]{1,4}|[0-9]{0,2}[-+*!]?)", "codes of diagnoses (ICD-10)", "diagnosis"),
]
