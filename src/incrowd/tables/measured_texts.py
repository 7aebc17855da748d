"""Numbers, clock times and dates written as text: `298 EUR`, `1.234,5 kg`, `13:45`, `03/05/98`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.tables.infer_types import MONTHS

Floats = NDArray[np.float64]

_NEARLY_ALL = 0.9  # share of the values that must have one notation; the others count as missing
_FIRST_LOOK = 256  # values that are tested first; they rule out most texts
_CLOCK = (
    r"(?P<hours>\d{1,4}) ?[:h] ?(?P<minutes>[0-5]\d)(?: ?[:m] ?(?P<seconds>[0-5]\d)(?:[.,]\d+)?)?"
    r" ?(?P<half>[AaPp])?[.a-zA-Z]*"
)
_DAY = r"(?P<first>\d{1,4})(?:[-/.]| ?)(?P<second>\d{1,2}|[A-Za-z]{3,9})(?:[-/.]| ?)(?P<third>\d{1,4})"
_SEPARATED = r"^\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}|^\d{1,2}[-/. ]*[A-Za-z]{3,9}[-/. ,]*\d{2,4}"
_MONTH = r"^(?P<first>\d{4})[-/](?P<second>\d{1,2})$|^(?P<month>\d{1,2})[-/](?P<year>\d{4})$"
_AMOUNT = (
    r"^(?P<sign>[-+]?)(?P<before>[^-+\d.,]*)(?P<number>[-+]?(?:\d[\d.,'’\x{a0}\x{202f} ]*|[.,]\d+))(?P<after>\D*)$"
)
_ORDERS = ((2, 1, 0), (2, 0, 1), (0, 1, 2))  # positions of year, month and day: day first, month first, year first


def read_measured_texts(texts: pa.Array) -> Floats | None:
    """Parse the quantities in texts, if nearly all texts are written in the same way.

    Amounts lose their unit, which must be the same for nearly all. Dates become days, and clock times minutes.
    Two-digit years are placed in one run of years, which begins after the longest gap of years that do not occur.

    Args:
        texts: the distinct values of a column of text.

    Returns:
        A number for each text, NaN for a null and for another notation; None if the texts are not quantities.

    >>> read_measured_texts(pa.array(["1.234,5 kg", "70 kg", None])).tolist()
    [1234.5, 70.0, nan]
    >>> read_measured_texts(pa.array(["13:45", "9:05"])).tolist()
    [825.0, 545.0]
    >>> read_measured_texts(pa.array(["north", "south"])) is None
    True
    """
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    values = texts.drop_null()
    first = values.slice(0, _FIRST_LOOK)
    forms = {f"^{_CLOCK}$": _read_clock, _SEPARATED: _read_dates, _MONTH: _read_months, _AMOUNT: _read_amounts}
    for pattern, read in forms.items():
        matching = pc.sum(pc.match_substring_regex(first, pattern)).as_py() or 0
        if matching >= _NEARLY_ALL * len(first) and _is_written_so(read(first)):
            quantities = read(texts)
            if _is_written_so(quantities[np.asarray(texts.is_valid())]):
                return quantities
    return None


def _is_written_so(quantities: Floats) -> bool:
    return quantities.size > 0 and float(np.mean(~np.isnan(quantities))) >= _NEARLY_ALL


def _groups(texts: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """The named groups of a pattern in each text; null where it does not match."""
    matches = pc.extract_regex(texts, pattern)
    return {field.name: pc.struct_field(matches, index) for index, field in enumerate(matches.type)}


def _numbers(texts: pa.Array, pattern: str = r"^\d+$") -> Floats:
    """Digits as numbers; NaN for a null and for any other text."""
    fits = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    plain = pc.if_else(fits, texts, pa.scalar(None, pa.string()))
    return np.asarray(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _read_clock(texts: pa.Array) -> Floats:
    """Clock times and durations in minutes."""
    return _minutes(_groups(texts, f"^{_CLOCK}$"))


def _minutes(parts: dict[str, pa.Array]) -> Floats:
    hours, minutes, seconds = (_numbers(parts[name]) for name in ("hours", "minutes", "seconds"))
    half = pc.utf8_lower(pc.fill_null(parts["half"], "")).to_numpy(zero_copy_only=False)
    hours = np.where(half == "p", hours % 12 + 12, np.where(half == "a", hours % 12, hours))
    return hours * 60 + minutes + np.nan_to_num(seconds) / 60


def _read_dates(texts: pa.Array) -> Floats:
    """Parse dates, with or without a time of day, to days."""
    is_date = pc.fill_null(pc.match_substring_regex(texts, _SEPARATED), False)
    texts = pc.if_else(is_date, texts, pa.scalar(None, pa.string()))
    parts = _groups(texts, rf"^{_DAY}(?:[T ,]+{_CLOCK})?$")
    clock = np.nan_to_num(_minutes(parts)) / (24 * 60)
    return clock + _days([_with_months(parts[name]) for name in ("first", "second", "third")])


def _with_months(texts: pa.Array) -> Floats:
    """Parse numbers, or names of months, to numbers."""
    for number, month in enumerate(MONTHS, 1):
        texts = pc.replace_substring_regex(texts, f"(?i)^{month}[a-z]*$", str(number))
    return _numbers(texts)


def _read_months(texts: pa.Array) -> Floats:
    """Parse months of years to the first day of each month."""
    parts = {name: _numbers(one) for name, one in _groups(texts, _MONTH).items()}
    year = np.where(np.isnan(parts["first"]), parts["year"], parts["first"])
    month = np.where(np.isnan(parts["second"]), parts["month"], parts["second"])
    return _days([year, month, np.ones(len(texts))], ((0, 1, 2),))


def _days(parts: Sequence[Floats], orders: Sequence[tuple[int, int, int]] = _ORDERS) -> Floats:
    """Days since 1970 of dates, in the day-month order that fits most of them; the first order wins a tie."""
    best = np.full(parts[0].size, np.nan)
    for year_at, month_at, day_at in orders:
        year, month, day = _in_one_run(parts[year_at]), parts[month_at], parts[day_at]
        fits = (year >= 1000) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        if np.count_nonzero(fits) > np.count_nonzero(~np.isnan(best)):
            months = ((year[fits] - 1970) * 12 + month[fits] - 1).astype(np.int64).astype("datetime64[M]")
            best = np.full(year.size, np.nan)
            best[fits] = months.astype("datetime64[D]").astype(np.float64) + day[fits] - 1
    return best


def _in_one_run(years: Floats) -> Floats:
    """Expand two-digit years to one run of years that ends before 2000 or passes through it."""
    short = years < 100
    if not short.any():
        return years
    used = np.unique(years[short])
    gaps = np.diff(used, append=used[0] + 100)
    first = used[(int(np.argmax(gaps)) + 1) % used.size]
    return np.where(short, years + np.where(years >= first, 1900, 2000), years)


def _read_amounts(texts: pa.Array) -> Floats:
    """Parse numbers with the unit that nearly all share, before or after the number."""
    parts = _groups(texts, _AMOUNT)
    number = pc.replace_substring_regex(
        pc.binary_join_element_wise(parts["sign"], parts["number"], ""), r"[^-+\d.,]", ""
    )
    unit = pc.binary_join_element_wise(parts["before"], parts["after"], "\x00")
    unit = pc.utf8_lower(pc.replace_substring_regex(unit, r"\s", ""))
    counted = pc.value_counts(unit.drop_null())
    if not len(counted):
        return np.full(len(texts), np.nan)
    counts = counted.field("counts").to_numpy()
    usual = counted.field("values")[int(counts.argmax())]
    number = pc.if_else(pc.equal(unit, usual), number, pa.scalar(None, pa.string()))
    if _decimal_mark(number) == ",":
        number = pc.replace_substring(pc.replace_substring(number, ".", ""), ",", ".")
    return _numbers(pc.replace_substring(number, ",", ""), r"^[-+]?(?:\d+\.?\d*|\.\d+)$")


def _decimal_mark(numbers: pa.Array) -> str:
    """The decimal mark; a mark that only precedes groups of three digits separates thousands."""
    stands_before_decimals = {}
    for mark, other in ((".", ","), (",", ".")):
        marked = numbers.filter(pc.fill_null(pc.match_substring(numbers, mark), False))
        grouped = rf"^[-+]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+(?:[{other}]\d+)?$"
        shares = pc.match_substring_regex(marked, grouped).to_numpy(zero_copy_only=False)
        stands_before_decimals[mark] = float(np.mean(shares)) < _NEARLY_ALL if len(marked) else None
    if stands_before_decimals["."] or (stands_before_decimals["."] is None and not stands_before_decimals[","]):
        return "."
    return ","
