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
from numpy.typing import NDArray

from incrowd._support.memory import require_memory
from incrowd.errors import InputError
from incrowd.tables.generalised import parse_generalised
from incrowd.tables.table import Table

_FIRST = 100_000  # cells that tell whether nearly all numbers of a column differ
_BYTES_A_TEXT = 90  # of memory, to count how often each of many texts occurs
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
_SHORTEST = len("a@b.cd")  # a contact; shorter cells need no search, whose patterns take long to compile
_WORD = r"\pL{2}"
_AT_ONCE = 10_000  # texts that are looked at as such at once
_PERSONAL = 20  # rows of an address or number, up to which it is not that of an office
_FEW_TEXTS, _FEW_NUMBERS = 2, 20  # values that cannot be names or numbers of people, if each occurs often


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column: counts of the whole of it, and some of its filled cells.

    `low`, `mean` and `high` are those of numbers; `whole` says that numbers have no decimals; `sample` are cells drawn
    from the whole column, numbers as floats and all else as texts; `contacts` are texts, of all cells (in a
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
        return [_look(name, column, table.memory) for name, column in table.read(names)]
    except UnicodeDecodeError:
        raise InputError(f"{table.name} holds text that is not UTF-8; write it again in UTF-8") from None


def _look(name: str, column: pa.ChunkedArray, memory: int) -> ColumnFacts:
    if pa.types.is_dictionary(column.type):
        _require_room(name, column, memory)
        if column.type.value_type in (pa.string(), pa.large_string()) and len(column):
            counted = _count_entries(column)
            nulls = len(column) - int(counted.times.sum())
            return _facts(name, column.type.value_type, counted, len(counted.values), nulls, len(column))
        column = column.cast(column.type.value_type)
    counted = _count_values(column)
    facts = _facts(name, column.type, counted, len(counted.values), column.null_count, len(column))
    if facts.kind not in {"integer", "number"} or not facts.distinct:
        return facts
    ends = pc.min_max(column).as_py()
    whole = facts.whole
    if whole and facts.kind == "number":  # of the sample; now of all cells
        whole = bool(pc.all(pc.equal(pc.floor(counted.values), counted.values)).as_py())
    mean = float(pc.mean(column).as_py())
    return replace(facts, low=float(ends["min"]), mean=mean, high=float(ends["max"]), whole=whole)


def _require_room(name: str, column: pa.ChunkedArray, memory: int) -> None:
    """Refuse a column whose different texts, as many as its parts hold, take more memory than there is."""
    texts = {getattr(one.buffers()[-1], "address", 0): len(one) for one in (part.dictionary for part in column.chunks)}
    most = min(sum(texts.values()), len(column))
    require_memory(f"looking at the texts of column {name}", _BYTES_A_TEXT * most, memory)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The different values of a column's filled cells, and how many cells have each; none where they are nested."""

    values: pa.Array
    times: NDArray[np.int64]


def _count_values(column: pa.ChunkedArray) -> _Counted:
    if pa.types.is_nested(column.type) or column.null_count == len(column):
        return _Counted(pa.nulls(0), np.zeros(0, dtype=np.int64))
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0 is 0
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        first = column.slice(0, _FIRST)
        if 2 * pc.count_distinct(first).as_py() > len(first):  # a hash table of them takes ten times their memory
            numbers, cells = np.unique(column.drop_null().to_numpy(), return_counts=True)
            return _Counted(pa.array(numbers, column.type), cells)
    values, times = column.value_counts().flatten()
    filled = values.is_valid()
    return _Counted(values.filter(filled), times.filter(filled).to_numpy())


def _count_entries(column: pa.ChunkedArray) -> _Counted:
    """The different texts of a dictionary's column, by its numbers: cells are not written out."""
    chunks = column.unify_dictionaries().chunks
    entries = chunks[0].dictionary
    times = np.zeros(len(entries), dtype=np.int64)
    for chunk in chunks:
        times += np.bincount(chunk.indices.drop_null().to_numpy(zero_copy_only=False), minlength=len(entries))
    used = (times > 0) & entries.is_valid().to_numpy(zero_copy_only=False)
    texts = entries.filter(pa.array(used)).dictionary_encode()  # a text may be there twice
    cells = np.bincount(texts.indices.to_numpy(), weights=times[used], minlength=len(texts.dictionary))
    return _Counted(texts.dictionary, cells.astype(np.int64))


def _facts(
    name: str, kind_of_values: pa.DataType, counted: _Counted, distinct: int, nulls: int, rows: int
) -> ColumnFacts:
    """A column by its counts and some of its filled cells."""
    kind = _kind(kind_of_values)
    if kind == "nested":
        return ColumnFacts(name, kind, -1, nulls, rows)
    sample = _sample(counted, kind) if distinct else ()
    if kind == "text":
        generalised = any(
            parse_generalised(value) is not None and not is_json(value) for value in dict.fromkeys(sample)
        )
        return ColumnFacts(
            name, kind, distinct, nulls, rows, generalised, sample=sample, contacts=_count_contacts(counted)
        )
    whole = kind == "integer" or (kind == "number" and all(value.is_integer() for value in sample))
    return ColumnFacts(name, kind, distinct, nulls, rows, whole=whole, sample=sample)


def _count_contacts(counted: _Counted) -> int:
    """The cells that have the address or the telephone number of a person in them, whatever else they say.

    Each address counts by itself, in whatever texts it stands: one of an office does not hide those of people.
    """
    texts = counted.values
    if texts.type not in (pa.string(), pa.large_string()):
        return 0
    if (pc.max(pc.binary_length(texts)).as_py() or 0) < _SHORTEST:
        return 0
    worded, written, called = (pc.match_substring_regex(texts, one) for one in (_WORD, _E_MAIL, _MAYBE_CALLED))
    answers = 2 * pc.sum(worded, min_count=0).as_py() >= len(texts)  # or codes, of which some look so
    called = pc.and_(called, pc.or_(worded, pc.or_(answers, pc.starts_with(texts, "+"))))
    likely = pc.or_(written, called)
    texts, called = texts.filter(likely), called.filter(likely)
    times = counted.times[likely.to_numpy(zero_copy_only=False)]

    def contacts() -> Iterator[tuple[set[int], int]]:
        """The contacts in each text, and its cells: found twice, for all of them at once take much memory."""
        for start in range(0, len(texts), _AT_ONCE):
            parts = (one.slice(start, _AT_ONCE).to_pylist() for one in (texts, called))
            for text, calls, cells in zip(*parts, times[start : start + _AT_ONCE].tolist(), strict=True):
                yield {*map(hash, _addresses(text)), *(map(hash, _numbers(text)) if calls else ())}, cells

    rows: Counter[int] = Counter()
    for found, cells in contacts():
        for one in found:
            rows[one] += cells
    return sum(cells for found, cells in contacts() if any(rows[one] <= _PERSONAL for one in found))


def _addresses(text: str) -> list[str]:
    return _ADDRESS.findall(text.lower())


def _numbers(text: str) -> Iterator[str]:
    """The digits of the telephone numbers in a text."""
    for number in (*_TELEPHONES.findall(text), *_CALLED.findall(text)):
        digits = "".join(filter(str.isdigit, number))
        if _FEWEST_DIGITS + number.startswith("+") <= len(digits) <= _MOST_DIGITS:
            yield digits


def _sample(counted: _Counted, kind: str) -> tuple[Any, ...]:
    """At most `_SAMPLE` filled cells in ascending order, drawn at random: the same in whatever order rows are."""
    order = pc.array_sort_indices(counted.values).to_numpy()
    ends = np.cumsum(counted.times[order])
    if ends[-1] <= _SAMPLE:
        cells = np.arange(ends[-1])
    else:
        cells = np.sort(np.random.default_rng(0).choice(ends[-1], _SAMPLE, replace=False))
    found = counted.values.take(pa.array(order[np.searchsorted(ends, cells, side="right")])).to_pylist()
    if kind in {"integer", "number"}:
        return tuple(float(cell) for cell in found)
    return tuple(cell if isinstance(cell, str) else str(cell) for cell in found)


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
        head = heads.get(key, pa.chunked_array(empty[key]))
        looked = _facts(name, head.type, _count_values(head), distinct, nulls, facts["rows"])
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
