"""Columns as numbers, for models: values, words and numbers of texts, what is missing, differences and ratios.

Nothing here knows what a column means. Work is done on the distinct values of a column, which are far fewer than rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.special import Floats

Codes = NDArray[np.int64]

FEW_VALUES = 12  # up to which every value of a text is a feature of its own
MOST_CODES = 250  # values of a column that are counted one by one; rarer ones are counted together
_MOST_WORDS = 50  # most frequent words of a text column
_FEWEST_ROWS = 5  # rows that must have a word
_MOST_NUMBERS = 3  # numbers of a text that are read
_MOST_TEXT = 2_000  # characters of a cell that are read
_MOST_PAIRS = 12  # pairs of columns whose difference and ratio are features
_FEW_NUMBERS = 5  # different numbers of a column, up to which it has no differences to others
_LARGEST = 1e100  # a larger number counts as infinite, and one over a larger one as 0: their squares do
_SAMPLE = 5_000  # rows by which correlations are measured

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DATE = re.compile(r"\b(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})[./](\d{1,2})[./](\d{4}))\b")


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A number for every row; NaN where it is missing.

    Attributes:
        name: what it is, for people.
        columns: the columns that it is made of.
        values: the numbers.
        codes: the value of every row as a small whole number, for counting; those of a column's cells if it is one.
    """

    name: str
    columns: tuple[str, ...]
    values: Floats
    codes: Codes

    @property
    def is_flag(self) -> bool:
        """True if the values are only 0 and 1."""
        return bool(np.isin(self.values, (0.0, 1.0)).all())


def features_of(columns: Sequence[Coded], *, pairs: int = _MOST_PAIRS) -> list[Feature]:
    """All columns as features, and differences and ratios of those that are most alike; constant ones are left out."""
    features = [feature for column in columns for feature in _of_column(column) if np.ptp(feature.codes)]
    return [*features, *_of_pairs(features, pairs)]


def of_people(feature: Feature, person: Codes) -> Feature:
    """The mean of a feature over the rows of every person."""
    filled = np.isfinite(feature.values)
    rows = np.bincount(person[filled], minlength=int(person.max()) + 1)
    sums = np.bincount(person[filled], feature.values[filled], minlength=rows.size)
    values = np.where(rows > 0, sums / np.maximum(rows, 1), np.nan)
    if not filled.any():  # texts are counted by their first value
        return replace(feature, values=values, codes=feature.codes[np.unique(person, return_index=True)[1]])
    return replace(feature, values=values, codes=_codes_of_numbers(values))


def numbers_of(values: pa.Array) -> Floats | None:
    """Distinct values as numbers, dates in days and times in seconds; None for texts. The null is NaN."""
    kind, types = values.type, pa.types
    if types.is_timestamp(kind):
        moments = pc.cast(values, pa.timestamp("us"), safe=False).cast(pa.int64())  # nanoseconds are cut off
        values = pc.divide(pc.cast(moments, pa.float64(), safe=False), 86_400e6)
    elif types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif types.is_time(kind):
        values = pc.divide(pc.cast(values, pa.time64("us"), safe=False).cast(pa.int64()).cast(pa.float64()), 1e6)
    elif types.is_duration(kind):
        values = pc.cast(values, pa.duration("us"), safe=False).cast(pa.int64())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)):
        return None
    numbers = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    numbers = np.where(np.abs(numbers) > _LARGEST, np.copysign(np.inf, numbers), numbers)
    return np.where(np.abs(numbers) < 1 / _LARGEST, 0.0, numbers)


def count_codes(codes: NDArray[np.integer], most: int = MOST_CODES) -> Codes:
    """Codes for counting: the most frequent values one by one, and one code for all others."""
    tally = np.bincount(codes)
    if tally.size <= most:
        return codes.astype(np.int64)
    rank = np.empty(tally.size, dtype=np.int64)
    rank[np.argsort(-tally, kind="stable")] = np.arange(tally.size)
    return np.asarray(np.minimum(rank, most)[codes], dtype=np.int64)


def bin_codes(values: Floats, most: int = 24) -> Codes:
    """Codes of numbers by quantiles, that of a missing number last."""
    filled = values[np.isfinite(values)]
    cuts = np.unique(np.quantile(filled, np.arange(1, most) / most)) if filled.size else np.empty(0)
    return np.where(np.isfinite(values), np.searchsorted(cuts, values, "right"), cuts.size + 1).astype(np.int64)


def _of_column(column: Coded) -> Iterator[Feature]:
    name, codes = (column.name,), column.codes
    numbers = numbers_of(column.values)

    def feature(label: str, by_value: Floats) -> Feature:
        return Feature(label, name, by_value[codes], _codes_of_numbers(by_value[codes]))

    if numbers is not None:
        yield feature(column.name, numbers)
        yield from (feature(label, part) for label, part in _parts_of_date(column))
    elif column.size <= FEW_VALUES:
        yield from (
            Feature(f"{column.name}: value {place + 1}", name, (codes == place).astype(float), codes.astype(np.int64))
            for place in range(column.filled_size)
        )
    else:
        yield from (feature(label, by_value) for label, by_value in _parts_of_texts(column))
        yield Feature(f"{column.name}: text", name, np.full(codes.size, np.nan), count_codes(codes))
    if column.has_null and not (numbers is None and column.size <= FEW_VALUES):
        yield Feature(f"{column.name} is missing", name, (~column.is_filled).astype(float), (~column.is_filled) + 0)


def _parts_of_date(column: Coded) -> Iterator[tuple[str, Floats]]:
    kind = column.values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        for label, part in (("weekday", pc.day_of_week), ("month", pc.month), ("day", pc.day)):
            yield f"{column.name}: {label}", np.asarray(part(column.values).to_numpy(zero_copy_only=False), dtype=float)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        yield f"{column.name}: hour", np.asarray(pc.hour(column.values).to_numpy(zero_copy_only=False), dtype=float)


def _parts_of_texts(column: Coded) -> Iterator[tuple[str, Floats]]:
    """Numbers, dates and frequent words of texts, and how long they are."""
    texts = [text[:_MOST_TEXT] for text in column.values.cast(pa.string()).fill_null("").to_pylist()]
    rows = column.tally
    yield f"{column.name}: length", np.array([len(text) for text in texts], dtype=float)
    dates = [_DATE.search(text) for text in texts]
    yield f"{column.name}: date", np.array([np.nan if date is None else _days(date) for date in dates])
    numbers = [_NUMBER.findall(_DATE.sub(" ", text))[:_MOST_NUMBERS] for text in texts]
    for place in range(max(map(len, numbers), default=0)):
        by_text = [float(found[place]) if place < len(found) else np.nan for found in numbers]
        yield f"{column.name}: number {place + 1}", np.array(by_text)
    words = [frozenset(_WORD.findall(text.lower())) for text in texts]
    seen: Counter[str] = Counter()
    for found, count in zip(words, rows.tolist(), strict=True):
        seen.update(dict.fromkeys(found, count))
    frequent = [word for word, count in seen.most_common(_MOST_WORDS) if count >= _FEWEST_ROWS]
    for place, word in enumerate(frequent):  # a word is a part of a cell, so it is not named
        yield f"{column.name}: word {place + 1}", np.array([word in found for found in words], dtype=float)


def _days(found: re.Match[str]) -> float:
    year, month, day, day_first, month_second, year_last = (float(part or 0) for part in found.groups())
    return 365.25 * (year + year_last) + 30.44 * (month + month_second) + day + day_first


def _of_pairs(features: Sequence[Feature], most: int) -> Iterator[Feature]:
    """Differences of numbers, and ratios of positive ones, for the pairs whose ranks agree most."""
    varied = [feature for feature in features if np.unique(feature.codes).size > _FEW_NUMBERS]
    numbers = [feature for feature in varied if np.isfinite(feature.values).any()]
    if len(numbers) < 2:
        return
    rows = np.linspace(0, numbers[0].values.size - 1, min(numbers[0].values.size, _SAMPLE)).astype(int)
    ranks = np.array([np.argsort(np.argsort(np.nan_to_num(feature.values[rows]))) for feature in numbers])
    alike = np.abs(np.corrcoef(ranks))
    couples = sorted(combinations(range(len(numbers)), 2), key=lambda couple: -alike[couple])
    for first, second in couples[:most]:
        a, b = numbers[first], numbers[second]
        columns = tuple(dict.fromkeys((*a.columns, *b.columns)))
        difference = a.values - b.values
        yield Feature(f"{a.name} − {b.name}", columns, difference, _codes_of_numbers(difference))
        if np.nanmin(a.values) > 0 and np.nanmin(b.values) > 0:
            ratio = np.log(a.values / b.values)
            yield Feature(f"{a.name} ÷ {b.name}", columns, ratio, _codes_of_numbers(ratio))


def _codes_of_numbers(values: Floats) -> Codes:
    distinct, codes = np.unique(values, return_inverse=True, equal_nan=True)
    return codes.astype(np.int64) if distinct.size <= MOST_CODES else bin_codes(values)
