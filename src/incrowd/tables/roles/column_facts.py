"""Counts and sampled cells of a column, from which its role is suggested."""

from __future__ import annotations

import itertools
import json
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import count_in_order
from incrowd._support.memory import require_memory
from incrowd.backends.arrow_columns import count_entries, is_text, without_dictionary
from incrowd.backends.counts import ColumnCounts
from incrowd.errors import InputError
from incrowd.tables.generalised import parse_generalised
from incrowd.tables.table import Table

_FIRST = 100_000  # cells from which it is decided whether most numbers of a column differ
_BYTES_A_TEXT, _BYTES_A_NUMBER = 60, 40  # memory for each distinct value while values are counted
_COPIES_OF_TEXTS = 3  # copies in memory: to count texts, to search them for contacts, and of those that may have one
_SAMPLE = 2_000  # filled cells of a column that are examined one by one
_BOOLEAN_WORDS = [  # words for no and yes
    {*pair.split("/")}
    for pair in (
        *("no/yes", "n/y", "false/true", "f/t", "nein/ja", "n/j", "nee/ja", "non/oui", "n/o"),
        *("no/sí", "no/si", "não/sim", "nao/sim", "nie/tak"),
    )
]
_E_MAIL = r"[\w.+-]+@[\w-]+\.[A-Za-z]{2,}"
_ADDRESS = re.compile(rf"(?<![\w.+-]){_E_MAIL}")  # tried once per word; otherwise quadratic in its length
_TELEPHONE = "|".join(  # with + or 0 before it, in twos, or as in North America
    (
        r"\+[17][ /-]?\(?\d{3}\)?[ /-]?\d{3}[ /-]?\d\d[ /-]?\d\d",
        r"\+[2-9]\d{1,2}[ /-]?(?:\(0?\d{1,4}\) ?)?\d{1,5}(?:[ /-]?\d{2,8}){1,5}",
        r"\+[1-9]\d{0,2}(?:(?:\.\d{2,4}){1,4}\.\d{4,8}|\.\d(?:\.\d\d){4})",
        r"0[1-9]\d{1,2}[ /-]\d{2,8}(?: \d{2,8}){0,3}|0[1-9]\d{1,3}(?:-\d{3,4}){2}",
        r"0[1-9]\d{3}[ /-]\d{5,8}|0[1-9]\d{3}(?: \d{2,4}){2,3}|00[2-9]\d{1,2} \d{1,5}(?: ?\d{2,8}){1,5}",
        r"0[1-9](?: \d\d){4}|0[1-9](?:\.\d\d){4}|0[1-9](?:-\d\d){4}",
        r"0[1-9][ -]\d{1,2}[ -]\d{3}[ -]?\d{4}",
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
_FEWEST_DIGITS, _MOST_DIGITS = 9, 15  # digits of a telephone number, with the leading 0 or the country code
_SHORTEST = len("a@b.cd")  # length of the shortest contact; compiling the search patterns takes long
_WORD = r"\pL{2}"
_AT_ONCE = 10_000  # texts that are Python objects at once
_PERSONAL = 20  # rows with one address or number, up to which it belongs to a person and not to an office
_FEW_TEXTS, _FEW_NUMBERS = 2, 20  # distinct values, up to which they are not names or numbers of people


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts about a column: counts of all its cells, and a sample of its filled cells.

    `low`, `mean` and `high` describe numbers; `whole` means that numbers have no decimals; `sample` are cells drawn
    from the whole column, numbers as floats and other values as texts; `contacts` counts texts, of all cells (in a
    cluster, of the sample), with an e-mail address or a telephone number of a person in them, and `shared_contacts`
    those with one that many rows have.
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
    shared_contacts: int = 0

    @property
    def filled(self) -> int:
        return self.rows - self.nulls

    @property
    def holds(self) -> str:
        """The kind of its values for display: yes/no for texts that say yes or no, in one of several languages."""
        is_yes_no = self.kind == "text" and self.distinct == 2 and {*map(str.casefold, self.sample)} in _BOOLEAN_WORDS
        return "yes/no" if is_yes_no else self.kind

    @property
    def few(self) -> bool:
        """True if the column has too few values, each too frequent, to name people, whatever its name says."""
        return self.distinct <= (_FEW_TEXTS if self.kind == "text" else _FEW_NUMBERS) and (
            self.filled >= 10 * self.distinct
        )

    @property
    def repeats(self) -> float:
        """Average number of records for each value."""
        return self.filled / max(self.distinct, 1)

    @property
    def codes(self) -> bool:
        """True if cells are texts or whole numbers, like names and numbers of people."""
        return self.kind == "text" or self.whole


def look_at_columns(table: Table, names: Sequence[str]) -> list[ColumnFacts]:
    """The facts about some columns of a table, wherever its rows are."""
    counted = table.backend.count_columns(names, _SAMPLE)
    if counted is not None:
        return [_facts_of_counts(one) for one in counted]
    try:
        return [_look(name, column, table.memory) for name, column in table.read(names)]
    except UnicodeDecodeError:
        raise InputError(f"{table.name} holds text that is not UTF-8; write it again in UTF-8") from None


def _look(name: str, column: pa.ChunkedArray, memory: int) -> ColumnFacts:
    _require_room(name, column, memory)
    if pa.types.is_dictionary(column.type):
        if is_text(column.type) and len(column):
            counted = _count_texts(column)
            nulls = len(column) - int(counted.times.sum())
            return _facts(name, column.type.value_type, counted, len(counted.values), nulls, len(column))
        column = without_dictionary(column)
    counted = _count_values(column)
    facts = _facts(name, column.type, counted, len(counted.values), column.null_count, len(column))
    if facts.kind not in {"integer", "number"} or not facts.distinct:
        return facts
    ends = pc.min_max(column).as_py()
    whole = facts.whole
    if whole and facts.kind == "number":  # so far tested on the sample only
        whole = bool(pc.all(pc.equal(pc.floor(counted.values), counted.values)).as_py())
    mean = float(pc.mean(column).as_py())
    return replace(facts, low=float(ends["min"]), mean=mean, high=float(ends["max"]), whole=whole)


def _facts_of_counts(counts: ColumnCounts) -> ColumnFacts:
    """The facts about a column in a remote engine; the sample is its first filled cells."""
    first_cells = _count_values(counts.cells)
    facts = _facts(counts.name, counts.cells.type, first_cells, counts.distinct, counts.nulls, counts.rows)
    if counts.ends is None:
        return facts
    low, mean, high = counts.ends
    return replace(facts, low=low, mean=mean, high=high)


def _require_room(name: str, column: pa.ChunkedArray, memory: int) -> None:
    """Refuse a column whose distinct values need more memory than is available; distinct texts are counted by part."""
    if _mostly_differ(column):
        require_memory(f"looking at the numbers of column {name}", _BYTES_A_NUMBER * len(column), memory)
    if not pa.types.is_dictionary(column.type):
        return
    texts = {getattr(one.buffers()[-1], "address", 0): one for one in (part.dictionary for part in column.chunks)}
    most = min(sum(map(len, texts.values())), len(column))
    needed = _BYTES_A_TEXT * most + _COPIES_OF_TEXTS * sum(one.nbytes for one in texts.values())
    require_memory(f"looking at the texts of column {name}", needed, memory)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The distinct values of a column's filled cells and their counts; none if the cells are nested."""

    values: pa.Array
    times: NDArray[np.int64]


def _count_values(column: pa.ChunkedArray) -> _Counted:
    if pa.types.is_nested(column.type) or column.null_count == len(column):
        return _Counted(pa.nulls(0), np.zeros(0, dtype=np.int64))
    if _mostly_differ(column):  # a hash table of them takes ten times their memory
        numbers = np.array(column.drop_null().to_numpy())
        numbers += numbers.dtype.type(0)  # -0 is 0
        numbers.sort()
        distinct, cells = count_in_order(numbers)
        return _Counted(pa.array(distinct, column.type), cells)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0 is 0
    values, times = column.value_counts().flatten()
    filled = values.is_valid()
    return _Counted(values.filter(filled), times.filter(filled).to_numpy())


def _mostly_differ(column: pa.ChunkedArray) -> bool:
    """True if a column holds numbers, most of which differ in its first cells."""
    first = column.slice(0, _FIRST)
    is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    return is_number and bool(2 * pc.count_distinct(first).as_py() > len(first))


def _count_texts(column: pa.ChunkedArray) -> _Counted:
    """The distinct texts of a dictionary-encoded column, with their counts."""
    entries, times = count_entries(column)
    used = (times > 0) & entries.is_valid().to_numpy(zero_copy_only=False)
    texts = entries.filter(pa.array(used)).dictionary_encode()  # a dictionary may hold a text twice
    cells = np.bincount(texts.indices.to_numpy(), weights=times[used], minlength=len(texts.dictionary))
    return _Counted(texts.dictionary, cells.astype(np.int64))


def _facts(
    name: str, kind_of_values: pa.DataType, counted: _Counted, distinct: int, nulls: int, rows: int
) -> ColumnFacts:
    """The facts of a column from its counts and a sample of its filled cells."""
    kind = _kind(kind_of_values)
    if kind == "nested":
        return ColumnFacts(name, kind, -1, nulls, rows)
    sample = _sample(counted, kind) if distinct else ()
    if kind == "text":
        generalised = any(
            parse_generalised(value) is not None and not is_json(value) for value in dict.fromkeys(sample)
        )
        contacts, shared = _count_contacts(counted)
        return ColumnFacts(
            name, kind, distinct, nulls, rows, generalised, sample=sample, contacts=contacts, shared_contacts=shared
        )
    whole = kind == "integer" or (kind == "number" and all(value.is_integer() for value in sample))
    return ColumnFacts(name, kind, distinct, nulls, rows, whole=whole, sample=sample)


def _count_contacts(counted: _Counted) -> tuple[int, int]:
    """Count the cells with an address or a telephone number in them, whatever other text they hold.

    The first number is of cells with one that few rows have, as those of people; the second of all other cells. Each
    address is counted separately, in all texts that contain it: the address of an office does not hide those of people.
    """
    texts = counted.values
    if not is_text(texts.type):
        return 0, 0
    if (pc.max(pc.binary_length(texts)).as_py() or 0) < _SHORTEST:
        return 0, 0
    written, called = (pc.match_substring_regex(texts, one) for one in (_E_MAIL, _MAYBE_CALLED))
    if not pc.any(pc.or_(written, called)).as_py():
        return 0, 0
    worded = pc.match_substring_regex(texts, _WORD)
    is_prose = 2 * pc.sum(worded, min_count=0).as_py() >= len(texts)  # otherwise codes, some of which look like numbers
    called = pc.and_(called, pc.or_(worded, pc.or_(is_prose, pc.starts_with(texts, "+"))))
    likely = pc.or_(written, called)
    texts, called = texts.filter(likely), called.filter(likely)
    times = counted.times[likely.to_numpy(zero_copy_only=False)]

    hashes, owners = array("q"), array("q")  # 16 bytes for a contact; Python sets and counters take hundreds
    for start in range(0, len(texts), _AT_ONCE):
        parts = (one.slice(start, _AT_ONCE).to_pylist() for one in (texts, called))
        for owner, (text, calls) in enumerate(zip(*parts, strict=True), start):
            contacts = {*map(hash, _addresses(text)), *(map(hash, _numbers(text)) if calls else ())}
            hashes.extend(contacts)
            owners.extend([owner] * len(contacts))
    contact, owner_of = np.unique(np.asarray(hashes), return_inverse=True)[1], np.asarray(owners)
    rows = np.bincount(contact, weights=times[owner_of])
    personal = int(times[np.unique(owner_of[rows[contact] <= _PERSONAL])].sum())
    return personal, int(times[np.unique(owner_of)].sum()) - personal


def _addresses(text: str) -> list[str]:
    return _ADDRESS.findall(text.lower())


def _numbers(text: str) -> Iterator[str]:
    """The digits of the telephone numbers in a text."""
    for number in (*_TELEPHONES.findall(text), *_CALLED.findall(text)):
        digits = "".join(filter(str.isdigit, number))
        if _FEWEST_DIGITS + number.startswith("+") <= len(digits) <= _MOST_DIGITS:
            yield digits


def _sample(counted: _Counted, kind: str) -> tuple[Any, ...]:
    """At most `_SAMPLE` filled cells in ascending order, drawn at random, independent of the order of the rows."""
    order = pc.array_sort_indices(counted.values).to_numpy()
    ends = np.cumsum(counted.times[order])
    if ends[-1] <= _SAMPLE:
        cells = np.arange(ends[-1])
    else:
        cells = np.sort(np.random.default_rng(0).choice(ends[-1], _SAMPLE, replace=False))
    sample = counted.values.take(pa.array(order[np.searchsorted(ends, cells, side="right")])).to_pylist()
    if kind in {"integer", "number"}:
        return tuple(float(cell) for cell in sample)
    return tuple(map(str, sample))


def _kind(type_: pa.DataType) -> str:
    """The type of a column in one word."""
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
    """True if a text is a JSON record, or a list of records."""
    try:
        found = json.loads(text) if text[:1] in "{[" else None
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) or (isinstance(found, list) and any(isinstance(one, dict) for one in found))


def has_gaps(facts: ColumnFacts) -> bool:
    """True if few whole numbers leave gaps, as codes do (9 or 99 for unknown) and counts do not."""
    values = sorted({*facts.sample})
    return any(right - left > 1 for left, right in itertools.pairwise(values))


def count_distinct_rows(table: Table, names: Sequence[str]) -> int:
    """Number of distinct rows of some columns."""
    return table.backend.count_distinct(table.require(names))
