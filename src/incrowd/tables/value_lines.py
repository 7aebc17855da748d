"""Values of a column and the texts of labels as numbers on one line, without rounding.

Whole numbers and decimals become whole multiples of the column's last digit, dates days, times their own units, and
other numbers floats. A text stands for all numbers from `first` to `last`: a date is a whole day among moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CLOCK = r"(?P<clock>(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9})0*)?)?)"
_ZONE = r"(?:Z|UTC|GMT|(?P<sign>[-+])(?P<zone_hour>\d\d):?(?P<zone_minute>\d\d)?)?"
_TIME = rf"^{_CLOCK}$"
_MOMENT = rf"^(?P<day>\d{{4}}-\d\d-\d\d)(?:[ T]{_CLOCK} ?{_ZONE})?$"
_PERIOD = r"^(?P<year>\d{4})(?:-(?P<month>\d\d))?$"
_OTHER_DATES = ((r"^(\d)\.", r"0\1."), (r"^(\d\d)\.(\d)\.", r"\1.0\2."), (r"^(\d\d)\.(\d\d)\.(\d{4})", r"\3-\2-\1"),
                (r"^(\d{4})/(\d\d)/(\d\d)", r"\1-\2-\3"))  # fmt: skip
EPOCH = date(1970, 1, 1).toordinal()
_LONGEST = 400  # characters of a number: more would take long to convert
_LARGEST = 300  # decimal exponent of a number that is compared; larger ones are beyond all values
_MOST_DIGITS = 60  # behind the point of texts that are compared exactly
_DAY, _MINUTE, _SECOND = 86_400 * 10**9, 60 * 10**9, 10**9  # nanoseconds
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # units of a timestamp in a second
_FAR = 2**62  # from here on, sums of 64-bit numbers may overflow
_EXACT = 2**53  # up to here, whole numbers are exact as floats
_EXACTLY = Context(prec=3 * _LONGEST)


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The first and the last number that each text stands for, and the mask of texts that are numbers at all.

    A number between two points of the line has a last number below its first.
    """

    first: NDArray[Any]
    last: NDArray[Any]
    is_read: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ValueLine:
    """The values of a column that lie on the line, in ascending order.

    Attributes:
        places: the places of these values in the column.
        numbers: their numbers: floats or whole numbers (Python's own, where 64 bits are too few).
        read: converts texts to numbers of the same line.
        digits: decimal digits of one unit of the line.
        kind: the type of the numbers if they are floats.
        temporal: True for dates and times.
    """

    places: NDArray[np.int64]
    numbers: NDArray[Any]
    read: Callable[[pa.Array], Ends]
    digits: int = 0
    kind: Any = None
    temporal: bool = False

    @property
    def origin(self) -> int:
        """What is subtracted for positions: 0, or the smallest number where floats cannot tell numbers apart."""
        if self.kind is not None or not self.numbers.size:
            return 0
        smallest, largest = int(self.numbers[0]), int(self.numbers[-1])
        return 0 if max(abs(smallest), abs(largest)) <= _EXACT * 10**self.digits else smallest

    def positions(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers of the line as floats in the unit of the column, counted from `origin`."""
        if self.kind is not None or (not self.origin and not self.digits and numbers.dtype != object):
            return numbers.astype(np.float64)
        unit = 10**self.digits
        return np.array([(int(number) - self.origin) / unit for number in numbers.tolist()], dtype=np.float64)

    def ranks(self, numbers: NDArray[Any], *, after: bool = False) -> NDArray[np.int64]:
        """How many values are below each number; with `after` also those that equal it."""
        ours, theirs = _alike(self.numbers, numbers)
        return np.searchsorted(ours, theirs, "right" if after else "left").astype(np.int64)

    def ranks_of_floats(self, floats: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The values that each floating-point number may be, as ranks: those of the same number in the coarser type."""
        with np.errstate(over="ignore"):
            rounded = self._as_floats() if self.kind is None else self.numbers
            kind = min(rounded.dtype, floats.dtype)
            rounded, floats = rounded.astype(kind), floats.astype(kind)
        return np.searchsorted(rounded, floats, "left"), np.searchsorted(rounded, floats, "right")

    def _as_floats(self) -> NDArray[np.float64]:
        unit = 10**self.digits
        return np.array([number / unit for number in self.numbers.tolist()], dtype=np.float64)

    def beside(self, numbers: NDArray[Any], step: int) -> NDArray[Any]:
        """The next (1) or the previous (-1) number of the line."""
        if self.kind is not None:
            return np.asarray(np.nextafter(numbers, self.kind(step * np.inf)))
        return numbers + step


def value_line(values: pa.Array) -> ValueLine | None:
    """The line of a column of numbers, dates or times; None for other types."""
    kind = values.type
    if pa.types.is_floating(kind):
        of = np.float32 if pa.types.is_float32(kind) or pa.types.is_float16(kind) else np.float64
        floats = values.cast(pa.float32() if of is np.float32 else pa.float64()).to_numpy(zero_copy_only=False)
        return _line(floats, ~np.isnan(floats), partial(_float_ends, kind=of), kind=of)
    filled = values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_decimal(kind):
        digits = max(kind.scale, 0)
        cells = [0 if cell is None else int(cell.scaleb(digits, _EXACTLY)) for cell in values.to_pylist()]
        return _line(_whole(cells), filled, partial(_whole_ends, digits=digits), digits=digits)
    if pa.types.is_integer(kind):
        wide = pa.types.is_uint64(kind)
        numbers = _whole(values.fill_null(0).to_pylist()) if wide else _integers(values)
        return _line(numbers, filled, _whole_ends)
    if pa.types.is_date(kind):
        return _line(_integers(values.cast(pa.date32())), filled, partial(_moment_ends, unit="day"), temporal=True)
    if pa.types.is_timestamp(kind):
        return _line(_integers(values), filled, partial(_moment_ends, unit=kind.unit), temporal=True)
    if pa.types.is_time(kind):
        return _line(_integers(values), filled, partial(_time_ends, unit=kind.unit), temporal=True)
    return _line(_integers(values), filled, _whole_ends) if pa.types.is_duration(kind) else None


def line_of_texts(texts: pa.Array) -> ValueLine | None:
    """The line of those texts that write numbers or else dates; None if there are none."""
    for read in (_number_texts, partial(_moment_ends, unit="us")):
        ends = read(texts)
        if ends.is_read.any():
            digits = _digits_of(texts.filter(pa.array(ends.is_read))) if read is _number_texts else 0
            if read is not _number_texts:
                return _line(ends.first, ends.is_read, read, temporal=True)
            if digits is None:
                return _line(ends.first, ends.is_read, partial(_float_ends, kind=np.float64), kind=np.float64)
            exact = partial(_whole_ends, digits=digits)
            return _line(exact(texts).first, ends.is_read, exact, digits=digits)
    return None


def _line(numbers: NDArray[Any], filled: NDArray[np.bool_], read: Callable[[pa.Array], Ends], **more: Any) -> ValueLine:
    places = np.flatnonzero(filled)
    places = places[np.argsort(numbers[places], kind="stable")]
    return ValueLine(places, numbers[places], read, **more)


def _integers(values: pa.Array) -> NDArray[Any]:
    kind = pa.int32() if values.type.bit_width == 32 and not pa.types.is_integer(values.type) else pa.int64()
    numbers: NDArray[Any] = values.cast(kind).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    is_far = numbers.size and max(-int(numbers.min()), int(numbers.max())) >= _FAR
    return numbers.astype(object) if is_far else numbers


def _whole(numbers: list[int]) -> NDArray[Any]:
    """Whole numbers as 64-bit ones, or as Python's own if one is too large."""
    return np.array(numbers, dtype=object if any(abs(number) >= _FAR for number in numbers) else np.int64)


def _alike(ours: NDArray[Any], theirs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if object in (ours.dtype, theirs.dtype):
        return ours.astype(object), theirs.astype(object)
    return ours, theirs


def _matches(texts: pa.Array, pattern: str) -> NDArray[np.bool_]:
    found = pc.match_substring_regex(texts, pattern)
    return np.array(pc.fill_null(found, False).to_numpy(zero_copy_only=False))


def _are_numbers(texts: pa.Array) -> NDArray[np.bool_]:
    short = pc.fill_null(pc.less_equal(pc.binary_length(texts), _LONGEST), False).to_numpy(zero_copy_only=False)
    return np.asarray(_matches(texts, rf"^{NUMBER}$") & short)


def _number_texts(texts: pa.Array) -> Ends:
    return _float_ends(texts, np.float64)


def _digits_of(texts: pa.Array) -> int | None:
    """The most digits behind the point of some numbers; None if they are written with exponents, or have very many."""
    if _matches(texts, "[eE]").any():
        return None
    digits = pc.max(pc.utf8_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))).as_py() or 0
    return digits if digits <= _MOST_DIGITS else None


def _float_ends(texts: pa.Array, kind: Any) -> Ends:
    is_read = _are_numbers(texts)
    floats = np.full(len(texts), np.nan, dtype=kind)
    with np.errstate(over="ignore"):
        numbers = texts.filter(pa.array(is_read)).cast(pa.float64()).to_numpy(zero_copy_only=False)
        floats[is_read] = numbers.astype(kind)
    return Ends(floats, floats, is_read)


def _whole_ends(texts: pa.Array, digits: int = 0) -> Ends:
    """Numbers rounded up and rounded down to whole multiples of the last of so many digits."""
    is_read = _are_numbers(texts)
    is_plain = _matches(texts, r"^-?\d{1,18}$") if not digits else np.zeros(len(texts), dtype=np.bool_)
    first = np.zeros(len(texts), dtype=np.int64)
    first[is_plain] = texts.filter(pa.array(is_plain)).cast(pa.int64()).to_numpy(zero_copy_only=False)
    last = first.copy()
    others = np.flatnonzero(is_read & ~is_plain)
    rounded = [_rounded(text, digits) for text in texts.take(pa.array(others)).to_pylist()]
    if any(max(abs(low), abs(high)) >= _FAR for low, high in rounded):
        first, last = first.astype(object), last.astype(object)
    first[others], last[others] = [low for low, _ in rounded], [high for _, high in rounded]
    return Ends(first, last, is_read)


def _rounded(text: str, digits: int) -> tuple[int, int]:
    number = Decimal(text)
    if number and abs(number.adjusted()) > _LARGEST:  # such a number is beyond all values, or next to zero
        sign = -1 if number < 0 else 1
        far = sign * 10 ** (_LARGEST + digits)
        return (far, far) if number.adjusted() > 0 else (max(sign, 0), min(sign, 0))
    number = number.scaleb(digits, _EXACTLY)
    return math.ceil(number), math.floor(number)


def _cast(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts as a type, null where that fails; a failing array is halved until the failing texts are alone."""
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        half = len(texts) // 2
        return pa.concat_arrays([_cast(texts[:half], kind), _cast(texts[half:], kind)]) if half else pa.nulls(1, kind)


def _time_ends(texts: pa.Array, unit: str) -> Ends:
    parts = pc.extract_regex(texts, _TIME)
    start, span = _clock(parts)
    size = _SECOND // TICKS[unit]
    is_read = np.array(parts.is_valid().to_numpy(zero_copy_only=False)) & (start < _DAY)
    return Ends(-(-start // size), (start + span - 1) // size, is_read)


def _moment_ends(texts: pa.Array, unit: str) -> Ends:
    """Days, or moments in UTC: a text without seconds, time or day is all the moments that it may be."""
    for pattern, replacement in _OTHER_DATES:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    parts = pc.extract_regex(texts, _MOMENT)
    days = _cast(pc.struct_field(parts, "day"), pa.date32())
    start, span = _clock(parts)
    is_read = np.array(days.is_valid().to_numpy(zero_copy_only=False)) & (start < _DAY)
    first = days.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    last = first.copy()
    for place in np.flatnonzero(_matches(texts, _PERIOD)).tolist():
        limits = _days_of_period(texts[place].as_py())
        if limits is not None:
            first[place], last[place] = limits
            is_read[place] = True
    start = start - _offset(parts)
    if unit == "day":
        return Ends(first + start // _DAY, last + (start + span - 1) // _DAY, is_read)
    if unit == "ns" and max(-int(first.min(initial=0)), int(last.max(initial=0))) * _DAY >= _FAR:
        first, last = first.astype(object), last.astype(object)
    size = _SECOND // TICKS[unit]
    a_day = _DAY // size
    return Ends(first * a_day - (-start // size), last * a_day + (start + span - 1) // size, is_read)


def _clock(parts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The time of day in nanoseconds, and for how long it may be: a day, a minute, a second or a part of one."""
    hour, minute, second = (_number(parts, name) for name in ("hour", "minute", "second"))
    fraction = pc.struct_field(parts, "fraction")
    written = pc.utf8_length(fraction).fill_null(0).to_numpy(zero_copy_only=False)
    nanoseconds = _number(parts, "fraction") * 10 ** (9 - written.astype(np.int64))
    start = hour * 3600 * _SECOND + minute * _MINUTE + second * _SECOND + nanoseconds
    of_second = np.where(_is_written(parts, "second"), _SECOND // 10 ** written.astype(np.int64), _MINUTE)
    return start, np.where(_is_written(parts, "clock"), of_second, _DAY)


def _number(parts: pa.Array, name: str) -> NDArray[np.int64]:
    texts = pc.struct_field(parts, name)
    numbers = pc.if_else(pc.equal(texts, ""), None, texts).cast(pa.int64()).fill_null(0)
    return np.asarray(numbers.to_numpy(zero_copy_only=False).astype(np.int64))


def _is_written(parts: pa.Array, name: str) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(pc.not_equal(pc.struct_field(parts, name), ""), False).to_numpy(zero_copy_only=False))


def _offset(parts: pa.Array) -> NDArray[np.int64]:
    """By how much clocks of the zone are ahead of UTC."""
    ahead = (_number(parts, "zone_hour") * 60 + _number(parts, "zone_minute")) * _MINUTE
    is_behind = pc.fill_null(pc.equal(pc.struct_field(parts, "sign"), "-"), False).to_numpy(zero_copy_only=False)
    return np.where(is_behind, -ahead, ahead)


def _days_of_period(text: str) -> tuple[int, int] | None:
    """The first and the last day of a year or a month."""
    year, _, month = text.partition("-")
    first, after = (int(year), int(month or 1)), (int(year) + (not month or month == "12"), int(month or 0) % 12 + 1)
    try:
        return date(*first, 1).toordinal() - EPOCH, date(*after, 1).toordinal() - EPOCH - 1
    except ValueError:  # such as month 13
        return None
