"""What is counted and looked at in a column before a role is suggested for it."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import InputError
from incrowd.tables.generalised import parse_generalised
from incrowd.tables.table import Table

_SAMPLE = 2_000  # filled cells of a column that are looked at one by one
_BOOLEAN_WORDS = [  # no and yes
    {*pair.split("/")}
    for pair in (
        *("no/yes", "n/y", "false/true", "f/t", "nein/ja", "n/j", "nee/ja", "non/oui", "n/o"),
        *("no/sí", "no/si", "não/sim", "nao/sim", "nie/tak"),
    )
]
_E_MAIL = r"[\w.+-]+@[\w-]+\.[A-Za-z]{2,}"
_ADDRESS = re.compile(rf"(?<![\w.+-]){_E_MAIL}")  # tried once a word: else quadratic in the length of one
_TELEPHONE = "|".join(  # with + or 0 before it, in twos, or as in North America
    (
        r"\+[17][ /-]?\(?\d{3}\)?[ /-]?\d{3}[ /-]?\d\d[ /-]?\d\d",
        r"\+[2-9]\d{1,2}[ /-]?(?:\(0?\d{1,4}\) ?)?\d{1,5}(?:[ /-]?\d{2,8}){1,5}",
        r"\+[1-9]\d{0,2}(?:(?:\.\d{2,4}){1,4}\.\d{4,8}|\.\d(?:\.\d\d){4})",
        r"0[1-9]\d{1,2}[ /-]\d{2,8}(?: \d{2,8}){0,3}|0[1-9]\d{1,3}(?:-\d{3,4}){2}",
        r"0[1-9]\d{3}[ /-]\d{5,8}|0[1-9]\d{3}(?: \d{2,4}){2,3}|00[2-9]\d{1,2} \d{1,5}(?: ?\d{2,8}){1,5}",
        r"0[1-9](?: \d\d){4}|0[1-9](?:\.\d\d){4}|0[1-9](?:-\d\d){4}",
        r"\(0\d{1,4}\) ?\d{2,8}(?:[ -]\d{2,8}){0,2}|(?:\([2-9]\d\d\) ?|[2-9]\d\d[-.])\d{3}[-.]\d{4}",
    )
)
_TELEPHONES = re.compile(rf"(?<![\w+-])(?<!\d[ .,/:])(?:{_TELEPHONE})(?![\w+:]|[ .,/-]\d)")
_CALLED = re.compile(  # digits without any separator, which number other things too
    r"\b(?:call|phone|mobile|cell|tel|whatsapp|ring|sms|handy|telefon\w*|appel\w*|portable|m[oó]vil|tel[eé]fono|"
    r"(?:my|meine|mon|mi) (?:\w+ )?(?:number|nummer|num[eé]ro|n[uú]mero))\b[^\d+]{0,20}((?:0|\+)\d{9,13})\b",
    re.IGNORECASE,
)
_MAYBE_CALLED = rf"(?:^|[^\w+-])(?:{_TELEPHONE}|0\d{{9}})"
_FEWEST_DIGITS, _MOST_DIGITS = 9, 15  # of a telephone number with the 0 or the country's before it
_WORD = r"\pL{2}"
_PERSONAL = 20  # rows of an address or number, up to which it is not that of an office
_FEW_TEXTS, _FEW_NUMBERS = 2, 20  # values that cannot be names or numbers of people, if each occurs often


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column: counts of the whole of it, and some of its filled cells.

    `low`, `mean` and `high` are those of numbers; `whole` says that numbers have no decimals; `sample` are cells from
    the whole length of the column, numbers as floats and all else as texts; `contacts` are texts, of all cells (in a
    cluster, of the sample), that have an e-mail address or a telephone number of a person in them.
    """

    name: str
    kind: str
    distinct: int
    nulls: int
    rows: int
    generalised: bool = False
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    whole: bool = False
    sample: tuple[Any, ...] = ()
    contacts: int = 0

    @property
    def filled(self) -> int:
        return self.rows - self.nulls

    @property
    def holds(self) -> str:
        """The kind of its values as it is told: texts that say yes or no, in one of several languages, are yes/no."""
        says = self.kind == "text" and self.distinct == 2 and {*map(str.casefold, self.sample)} in _BOOLEAN_WORDS
        return "yes/no" if says else self.kind

    @property
    def few(self) -> bool:
        """Whether so few values occur, and so often, that they name nobody, whatever the column is called."""
        return self.distinct <= (_FEW_TEXTS if self.kind == "text" else _FEW_NUMBERS) and (
            self.filled >= 10 * self.distinct
        )

    @property
    def repeats(self) -> float:
        """Records for each value, on average."""
        return self.filled / max(self.distinct, 1)

    @property
    def codes(self) -> bool:
        """Whether cells are texts or whole numbers, as names and numbers of people are."""
        return self.kind == "text" or self.whole


def look_at_columns(table: Table, names: Sequence[str]) -> list[ColumnFacts]:
    """The facts about some columns of a table, wherever its rows are."""
    if not table.backend.rows_are_local:
        return _look_in_cluster(table, names)
    try:
        return [_look(name, column) for name, column in table.read(names)]
    except UnicodeDecodeError:
        raise InputError(f"{table.name} holds text that is not UTF-8; write it again in UTF-8") from None


def _look(name: str, column: pa.ChunkedArray) -> ColumnFacts:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    nulls, rows = column.null_count, len(column)
    if pa.types.is_nested(column.type):
        distinct = -1
    elif nulls == rows:
        distinct = 0
    else:
        plain = pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column  # -0 is 0
        distinct = pc.count_distinct(plain, mode="only_valid").as_py()
    facts = _facts(name, column, distinct, nulls, rows)
    if facts.kind not in {"integer", "number"} or not distinct:
        return facts
    ends = pc.min_max(column).as_py()
    whole = facts.whole
    if whole and facts.kind == "number":  # of the sample; now of all cells
        whole = bool(pc.all(pc.equal(pc.floor(column), column)).as_py())
    mean = float(pc.mean(column).as_py())
    return replace(facts, low=float(ends["min"]), mean=mean, high=float(ends["max"]), whole=whole)


def _facts(name: str, column: pa.ChunkedArray, distinct: int, nulls: int, rows: int) -> ColumnFacts:
    """A column by its counts and some of its filled cells."""
    kind = _kind(column.type)
    sample = () if kind == "nested" or not distinct else _sample(column, kind)
    if kind == "text":
        generalised = any(
            parse_generalised(value) is not None and not is_json(value) for value in dict.fromkeys(sample)
        )
        return ColumnFacts(
            name, kind, distinct, nulls, rows, generalised, sample=sample, contacts=_count_contacts(column)
        )
    whole = kind == "integer" or (kind == "number" and all(value.is_integer() for value in sample))
    return ColumnFacts(name, kind, distinct, nulls, rows, whole=whole, sample=sample)


def _count_contacts(column: pa.ChunkedArray) -> int:
    """The cells that have the address or the telephone number of a person in them, whatever else they say.

    Each address counts by itself, in whatever texts it stands: one of an office does not hide those of people.
    """
    if column.type not in (pa.string(), pa.large_string()):
        return 0
    texts, times = column.value_counts().flatten()
    worded, written, called = (
        pc.fill_null(pc.match_substring_regex(texts, one), False) for one in (_WORD, _E_MAIL, _MAYBE_CALLED)
    )
    answers = (
        2 * pc.sum(worded, min_count=0).as_py() >= len(texts) - texts.null_count
    )  # or codes, of which some look so
    called = pc.and_(called, pc.or_(worded, pc.or_(answers, pc.starts_with(texts, "+"))))
    likely = pc.or_(written, called)
    found = [
        ({*_addresses(text), *(_numbers(text) if calls else ())}, cells)
        for text, calls, cells in zip(*(one.filter(likely).to_pylist() for one in (texts, called, times)), strict=True)
    ]
    rows: Counter[str] = Counter()
    for contacts, cells in found:
        for one in contacts:
            rows[one] += cells
    return sum(cells for contacts, cells in found if any(rows[one] <= _PERSONAL for one in contacts))


def _addresses(text: str) -> list[str]:
    return _ADDRESS.findall(text.lower())


def _numbers(text: str) -> Iterator[str]:
    """The digits of the telephone numbers in a text."""
    for number in (*_TELEPHONES.findall(text), *_CALLED.findall(text)):
        digits = "".join(filter(str.isdigit, number))
        if _FEWEST_DIGITS + number.startswith("+") <= len(digits) <= _MOST_DIGITS:
            yield digits


def _sample(column: pa.ChunkedArray, kind: str) -> tuple[Any, ...]:
    """At most `_SAMPLE` filled cells, evenly spaced over the whole column."""
    places = np.arange(len(column))
    if column.null_count:
        places = np.flatnonzero(column.is_valid().to_numpy())
    if len(places) > _SAMPLE:
        places = places[np.linspace(0, len(places) - 1, _SAMPLE).astype(int)]
    cells = column.take(pa.array(places)).to_pylist()
    if kind in {"integer", "number"}:
        return tuple(float(cell) for cell in cells)
    return tuple(cell if isinstance(cell, str) else str(cell) for cell in cells)


def _look_in_cluster(table: Table, names: Sequence[str]) -> list[ColumnFacts]:
    """The facts with values counted in the cluster, all columns at once; the sample is the first filled cells."""
    from incrowd.backends.engine_errors import engine_errors

    with engine_errors(table.name):
        frame = table.lazy(names)
        kinds = frame.collect_schema()
        plain = frame.with_columns(
            nw.when(~nw.col(key).is_nan()).then(nw.col(key)).alias(key)
            for key, kind in kinds.items()
            if kind.is_float()
        )
        single = [key for key, kind in kinds.items() if not kind.is_nested()]
        numbers = [key for key, kind in kinds.items() if kind.is_numeric()]
        counts = [nw.col(key).null_count().alias(f"null {key}") for key in kinds]
        counts += [nw.col(key).n_unique().alias(f"distinct {key}") for key in single]
        for key in numbers:
            one = nw.col(key)
            counts += [one.min().alias(f"low {key}"), one.mean().alias(f"mean {key}"), one.max().alias(f"high {key}")]
        facts = plain.select(nw.len().alias("rows"), *counts).collect("pyarrow").rows(named=True)[0]
        first_numbers = plain.select(numbers).head(_SAMPLE).collect("pyarrow").to_native() if numbers else None
        heads = {
            key: plain.select(key).filter(~nw.col(key).is_null()).head(_SAMPLE).collect("pyarrow").to_native()[key]
            for key, kind in kinds.items()
            if kind == nw.String
        }
    if first_numbers is not None:
        heads |= {key: first_numbers[key] for key in numbers}
    empty = frame.head(0).collect("pyarrow").to_native()
    columns = []
    for name, key in zip(names, kinds, strict=True):
        nulls = facts[f"null {key}"]
        distinct = facts[f"distinct {key}"] - (nulls > 0) if key in single else -1  # a null is not among the values
        looked = _facts(name, heads.get(key, pa.chunked_array(empty[key])), distinct, nulls, facts["rows"])
        if key in numbers and distinct:
            low, mean, high = (float(facts[f"{what} {key}"]) for what in ("low", "mean", "high"))
            looked = replace(looked, low=low, mean=mean, high=high)
        columns.append(looked)
    return columns


def _kind(type_: pa.DataType) -> str:
    """A column's type in a word."""
    kind = pa.types
    if kind.is_boolean(type_):
        return "yes/no"
    if kind.is_integer(type_):
        return "integer"
    if kind.is_floating(type_) or kind.is_decimal(type_):
        return "number"
    if kind.is_temporal(type_):
        return "date or time"
    if kind.is_nested(type_):
        return "nested"
    return "text"


def is_json(text: str) -> bool:
    """Whether a text is a record, or a list of records, in JSON."""
    try:
        found = json.loads(text) if text[:1] in "{[" else None
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) or (isinstance(found, list) and any(isinstance(one, dict) for one in found))


def has_gaps(facts: ColumnFacts) -> bool:
    """Whether few whole numbers leave gaps, as codes do (9 or 99 for unknown) and counts do not."""
    values = sorted({*facts.sample})
    return any(right - left > 1 for left, right in itertools.pairwise(values))


def count_distinct_rows(table: Table, names: Sequence[str]) -> int:
    """How many different rows some columns have."""
    return table.backend.count_distinct(table.require(names))
