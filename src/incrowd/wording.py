"""Numbers and names as text: the only module that formats them for people."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_LONG_NAME = 60
_ISOLATE, _END = "\u2068", "\u2069"  # text between them cannot change the direction of the text around it
_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def number(value: float, digits: int = 4) -> str:
    """A few digits of a small number, thousands separators in a large one.

    >>> number(13_650.0), number(0.03121), number(0.03121, digits=2)
    ('13,650', '0.03121', '0.031')
    """
    return (f"{value:,}" if isinstance(value, int) else f"{value:,.0f}") if abs(value) >= 1e4 else f"{value:.{digits}g}"


def single_value(value: object) -> str:
    """A value in a cell of a table: thousands separators, four digits of a fraction.

    >>> [single_value(value) for value in (None, True, 12345, 0.123456, "age")]
    ['–', 'yes', '12,345', '0.1235', 'age']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number(value) if isinstance(value, float) else str(value)


def percent(share: float, people: float | None = None) -> str:
    """A share as a percentage: two significant digits, and never 0% or 100% for a value in between.

    Args:
        share: a number from 0 to 1.
        people: how many people it is a share of; if given, a share of less than a thousandth of a person is "nobody".

    >>> percent(0.5), percent(0.034), percent(0), percent(1), percent(0.99999)
    ('50.0%', '3.40%', '0%', '100%', 'over 99.99%')
    >>> percent(0.0004), percent(1.2e-6), percent(1e-12), percent(1e-170, people=7.53e9), percent(-3.7)
    ('0.040%', '0.00012%', 'below 0.0000001%', 'nobody', 'out of range')
    """
    if not 0 <= share <= 1:
        return "out of range"
    if people is not None and share * people < 1e-3:
        return "nobody"
    if share in (0, 1):
        return f"{share:.0%}"
    if share > 0.9999:
        return "over 99.99%"
    if share >= 1e-3:
        return f"{share:.2%}" if share < 0.1 or share > 0.99 else f"{share:.1%}"
    # two digits, however far behind the point they are: 1.2e-04 is hard to read
    return f"{100 * share:.{-1 - math.floor(math.log10(share))}f}%" if share >= 1e-9 else "below 0.0000001%"


def chosen_percent(share: float) -> str:
    """A share that somebody chose, such as a threshold or a level, without additional digits.

    >>> chosen_percent(0.09), chosen_percent(0.075), chosen_percent(0.95), chosen_percent(0.0005)
    ('9%', '7.5%', '95%', '0.05%')
    """
    return f"{100 * share:.3g}%"


def percentage_points(part: float) -> str:
    """A contribution to the average risk, with its sign, in percentage points.

    >>> percentage_points(0.166), percentage_points(-0.0004)
    ('+16.6', '-0.04')
    """
    return f"{100 * part:+.1f}" if abs(part) >= 0.001 or not part else f"{100 * part:+.1g}"


def percent_interval(low: float, high: float) -> str:
    """Both ends of an interval of a share.

    >>> percent_interval(0.1, 0.25)
    '10.0% to 25.0%'
    """
    return f"{percent(low)} to {percent(high)}"


def interval_at(level: float, low: float, high: float) -> str:
    """An interval of a share with its level.

    >>> interval_at(0.95, 0.1, 0.25)
    '95% interval: 10.0% to 25.0%'
    """
    return f"{chosen_percent(level)} interval: {percent_interval(low, high)}"


def number_interval(low: float, high: float) -> str:
    """Both ends of an interval of a number.

    >>> number_interval(0.03121, 0.5)
    '0.03121 to 0.5'
    """
    return f"{number(low)} to {number(high)}"


def out_of_hundred(share: float) -> str:
    """A share as a number out of 100, in a sentence.

    >>> out_of_hundred(0.31), out_of_hundred(0.0123), out_of_hundred(0.00001)
    ('31', '1.2', 'almost none')
    """
    return f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}" if share >= 0.0005 else "almost none"


def how_often(share: float) -> str:
    """The frequency of an event with this chance, in a sentence.

    >>> how_often(0.2), how_often(0.3), how_often(1)
    ('once in 5 times', 'once in 3.3 times', 'always')
    """
    return f"once in {one_decimal(1 / share)} times" if share < 1 else "always"


def one_decimal(value: float) -> str:
    """An average number of people or times.

    >>> one_decimal(2_000.0), one_decimal(3.333)
    ('2,000', '3.3')
    """
    return f"{value:,.1f}".removesuffix(".0")


def data_size(size: float) -> str:
    """A number of bytes.

    >>> data_size(40_000), data_size(2_600_000), data_size(4e9)
    ('40 kB', '3 MB', '4 GB')
    """
    if size >= 1e9:
        return f"{size / 1e9:,.3g} GB"
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def whole(value: float) -> str:
    """A number rounded to the nearest whole number.

    >>> whole(21_047.4)
    '21,047'
    """
    return f"{value:,.0f}"


def two_digits(value: float) -> str:
    """An estimated number of people: two significant digits.

    >>> two_digits(21_047_248), two_digits(631), two_digits(7.2)
    ('21,000,000', '630', '7')
    """
    return f"{round(value):,}" if value < 100 else f"{float(f'{value:.2g}'):,.0f}"


def people(count: float) -> str:
    """A number of people with its noun.

    >>> people(1), people(1200)
    ('1 person', '1,200 people')
    """
    return "1 person" if round(count) == 1 else f"{whole(count)} people"


def about_people(count: float) -> str:
    """An estimated number of people with its noun.

    >>> about_people(1), about_people(1234)
    ('1 person', '1,200 people')
    """
    return "1 person" if round(count) == 1 else f"{two_digits(count)} people"


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> counted(1, "person", "people"), counted(2_000, "person", "people")
    ('1 person', '2,000 people')
    """
    return f"{count:,} {one if count == 1 else many}"


def large_number(value: float) -> str:
    """A number in few characters: millions and more in words.

    >>> large_number(331e6), large_number(48_842)
    ('331 million', '48,842')
    """
    for size, word in _WORDS:
        if value >= size:
            return f"{value / size:.3g} {word}"
    return whole(value)


def population(name: str, size: float) -> str:
    """A population by its size, and by its name if it has one.

    >>> population("us", 331e6), population("48,842", 48_842)
    ('us, 331 million', '48,842')
    """
    return large_number(size) if name.replace(",", "").isdigit() else f"{name}, {large_number(size)}"


def odds(log_probability: float) -> str:
    """A chance as "1 in …", from its logarithm, however small.

    >>> odds(math.log(0.25)), odds(math.log(1.45e-8)), odds(-1_710.5), odds(-math.inf)
    ('1 in 4', '1 in 69 million', '1 in 10^742.9', 'never')
    """
    if log_probability == -math.inf:
        return "never"
    exponent = -log_probability / math.log(10)
    if exponent >= 15:
        return f"1 in 10^{exponent:.1f}"
    one_in = math.exp(-log_probability)
    for size, word in _WORDS:
        if one_in >= 0.9995 * size:  # 999.6 million would round to "1,000 million": write "1 billion"
            return f"1 in {float(f'{one_in / size:.3g}'):,g} {word}"
    return f"1 in {one_in:,.0f}" if one_in >= 19.95 else f"1 in {one_in:.1f}".removesuffix(".0")


def probability_digits(log_probability: float) -> str:
    """A chance with four digits from its logarithm, also if it is too small for a float.

    >>> probability_digits(math.log(0.25)), probability_digits(-1_710.5), probability_digits(-math.inf)
    ('0.25', '1.378e-743', '0')
    """
    if log_probability > -600:
        return f"{math.exp(log_probability):.4g}"
    if log_probability == -math.inf:
        return "0"
    exponent = math.floor(log_probability / math.log(10))
    digits = f"{math.exp(log_probability - exponent * math.log(10)):.3f}"
    return f"1.000e{exponent + 1}" if digits == "10.000" else f"{digits}e{exponent}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in a sentence: the first few, and the number of the others.

    >>> listed(["age", "sex"])
    'age, sex'
    >>> listed(["age", "sex", "zip"], most=2)
    'age, sex and 1 more'
    """
    every = list(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def display_names(columns: Iterable[str]) -> dict[str, str]:
    """Display names for column names that cannot be shown unchanged: long, right-to-left, or with control characters.

    >>> display_names(["age", "sex\\x00"])
    {'sex\\x00': 'sex\ufffd'}
    """
    shown = {}
    for position, name in enumerate(columns, start=1):
        text = "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter for letter in name)
        if len(text) > _LONG_NAME:
            text = f"{text[: _LONG_NAME - 10]}… (column {position})"
        if any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text):
            text = f"{_ISOLATE}{text}{_END}"
        if text != name:
            shown[name] = text
    return dict(sorted(shown.items(), key=lambda item: -len(item[0])))


def with_display_names(value: Any, shown: dict[str, str]) -> Any:
    """Replace column names by their display names in a structure of texts, lists and mappings."""
    if not shown:
        return value
    if isinstance(value, str):
        for name, text in shown.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, dict):
        return {key: with_display_names(entry, shown) for key, entry in value.items()}
    if isinstance(value, Advice):
        return Advice(with_display_names(value.sentence, shown), value.hint)
    if isinstance(value, list | tuple):
        return type(value)(with_display_names(entry, shown) for entry in value)
    return value


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence, and the parameters it refers to; the command line adds them as flags, the app as fields.

    As text, and in JSON, it is the sentence.

    >>> str(Advice("Give the population.", ("population",)))
    'Give the population.'
    """

    sentence: str
    hint: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence
