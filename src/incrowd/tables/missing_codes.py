"""Texts and codes that the user declares as missing values, in every column of a file or in single columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.infer_types import NUMBER, TextConversion
from incrowd.wording import listed

_SPAN = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_WHOLE_IN_DOUBLE = 2**53  # smaller whole numbers are exact as a double
_STATED = (
    "missing codes are texts or numbers with commas, after a column and = where they are those of one: age=-9,97-99"
)


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Codes for a missing value, in addition to the empty cell; a code of one column may be a range: 97-99.

    As text, which `parse` reads: `NA,-9;age=97-99;income=.`
    """

    everywhere: tuple[str, ...] = ()
    by_column: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        named = [f"{column}={','.join(codes)}" for column, codes in self.by_column.items()]
        return ";".join([*([",".join(self.everywhere)] if self.everywhere else []), *named])

    @classmethod
    def parse(cls, given: str | Sequence[str] | Mapping[str, Any] | None) -> MissingCodes:
        """Parse missing codes from a text, a list, or a mapping by column.

        >>> str(MissingCodes.parse(["NA", -9, "age=97-99"])), MissingCodes.parse({"age": [-9, "."]}).by_column
        ('NA,-9;age=97-99', {'age': ('-9', '.')})
        """
        if isinstance(given, Mapping):
            given = [f"{column}={_joined(codes)}" for column, codes in given.items()]
        everywhere: list[str] = []
        by_column: dict[str, list[str]] = {}
        for entry in ";".join([given] if isinstance(given, str) else map(str, given or ())).split(";"):
            column, equals, codes = entry.rpartition("=")
            words = [word.strip() for word in codes.split(",") if word.strip()]
            if equals and not (column.strip() and words):
                raise InputError(_STATED, hint="null")
            spans = [_SPAN.fullmatch(word) for word in words if equals]
            if any(span and float(span[1]) > float(span[2]) for span in spans):
                raise InputError("a range of missing codes ends before it begins; write it like 97-99", hint="null")
            (by_column.setdefault(column.strip(), []) if equals else everywhere).extend(words)
        return cls(tuple(dict.fromkeys(everywhere)), {name: tuple(dict.fromkeys(c)) for name, c in by_column.items()})


def _joined(codes: Any) -> str:
    """The codes of a column as text."""
    listed = codes if isinstance(codes, Iterable) and not isinstance(codes, str) else [codes]
    return ",".join(str(code) for code in listed)


class ColumnCodes:
    """Replaces cells that hold a missing code of their column by nulls, and counts them by code.

    >>> codes = ColumnCodes({"age": ("-9", "97-99")})
    >>> codes.blank("age", pa.array(["30", "98", "-9"])).to_pylist(), codes.counts
    (['30', None, None], {'age': Counter({'-9': 1, '97-99': 1})})
    """

    def __init__(self, by_column: Mapping[str, Sequence[str]]) -> None:
        self.counts = {name: Counter(dict.fromkeys(codes, 0)) for name, codes in by_column.items()}

    def blank(self, name: str, cells: pa.Array) -> pa.Array:
        """The cells of a column with nulls in place of its codes."""
        gone = self.find(name, cells)
        return cells if gone is None else pc.if_else(gone, pa.scalar(None, cells.type), cells)

    def blank_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of rows with nulls in place of the codes of its columns."""
        for place, name in enumerate(batch.schema.names):
            if name in self.counts:
                batch = batch.set_column(place, name, self.blank(name, batch.column(place)))
        return batch

    def find(self, name: str, cells: pa.Array) -> pa.Array | None:
        """Mark and count the cells of a column that hold one of its codes; None if it has no codes."""
        gone = None
        for code in self.counts.get(name, ()):
            hits = pc.fill_null(_holds(cells, code), False)
            new = hits if gone is None else pc.and_not(hits, gone)
            self.counts[name][code] += pc.sum(new).as_py() or 0
            gone = hits if gone is None else pc.or_(gone, hits)
        return gone

    def blank_numbers(
        self, files: Sequence[Path], conversions: Mapping[str, TextConversion], everywhere: Sequence[str]
    ) -> dict[str, TextConversion]:
        """Conversions of text columns in which a numeric code includes its other notations: -1 includes -1.0.

        This is possible only after all cells are read: in a column that stays text, codes are exact texts.
        `files` hold the texts, without the cells that `blank` found; `everywhere` are codes of all columns.
        """
        stated = {name: self._numbers(name, conversion, everywhere) for name, conversion in conversions.items()}
        written: dict[str, dict[str, None]] = {name: {} for name, codes in stated.items() if codes}
        for path in files if written else ():
            with pq.ParquetFile(path) as file:
                for name, texts in written.items():
                    for batch in file.iter_batches(columns=[name]):
                        texts |= self._other_notations(name, batch.column(name), conversions[name], stated[name])
        return {
            name: replace(conversion, nulls=(*conversion.nulls, *written.get(name, ())))
            for name, conversion in conversions.items()
        }

    def _numbers(self, name: str, conversion: TextConversion, everywhere: Sequence[str]) -> list[str]:
        """The numeric codes of a column that may have other notations in it."""
        codes = [code for code in (*self.counts.get(name, ()), *everywhere) if re.fullmatch(NUMBER, code)]
        if pa.types.is_integer(conversion.type):  # a whole number has one notation, which `blank` found
            return [code for code in codes if not code.lstrip("-").isdigit()]
        return codes if pa.types.is_floating(conversion.type) else []

    def _other_notations(
        self, name: str, texts: pa.Array, conversion: TextConversion, stated: Sequence[str]
    ) -> dict[str, None]:
        """The texts of a column that are the numbers of its codes; the cells are counted."""
        written: dict[str, None] = {}
        numbers = conversion.convert(texts)
        for code in stated:
            hits = texts.filter(_same_number(numbers, code))
            new = [text for text in hits.unique().to_pylist() if text not in written]
            if new and code in self.counts.get(name, ()):
                self.counts[name][code] += len(hits)
            written |= dict.fromkeys(new)
        return written

    def merge(self, other: ColumnCodes) -> None:
        """Add the counts of another file with the same columns."""
        for name, counts in other.counts.items():
            self.counts[name].update(counts)


def add_counts(codebook: FileCodebook, counts: Mapping[str, Mapping[str, int]]) -> FileCodebook:
    """Add the counts of single-column codes to the codebook; the file's own kinds of missing values stay."""
    used = {name: {code: times for code, times in codes.items() if times} for name, codes in counts.items()}
    counted = {name: codes for name, codes in used.items() if codes}
    return replace(codebook, missing=counted | dict(codebook.missing)) if counted else codebook


def note_unused(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Notes on codes of single columns that no cell holds.

    >>> note_unused({"age": {"-9": 3, "97-99": 0}})
    ['no cell of age holds the missing code 97-99; check the stated codes']
    """
    unused = {name: [code for code, times in codes.items() if not times] for name, codes in counts.items()}
    return [
        f"no cell of {name} holds the missing code {listed(codes)}; check the stated codes"
        for name, codes in unused.items()
        if codes
    ]


def find_merged(counts: Mapping[str, Mapping[str, int]], nulls: Mapping[str, int]) -> list[str]:
    """Columns in which several codes, or a code and empty cells, were read as one missing value.

    Args:
        counts: the cells of each code, by column.
        nulls: the missing values of each column, those of the codes included.

    >>> find_merged({"age": {"-9": 3, "-8": 0}, "ill": {"-9": 3}, "pay": {"97-99": 3}}, {"age": 3, "ill": 4, "pay": 3})
    ['ill', 'pay']
    """
    return [
        name
        for name, codes in counts.items()
        if sum(map(bool, codes.values())) + (nulls[name] > sum(codes.values())) > 1
        or any(times and _SPAN.fullmatch(code) for code, times in codes.items())
    ]


def _holds(cells: pa.Array, code: str) -> pa.Array:
    """Mark the cells that equal the code, or lie in the range that it names."""
    is_text = pa.types.is_string(cells.type)
    span = _SPAN.fullmatch(code)
    numbers = cells
    if is_text and span:
        numbers = pc.if_else(pc.match_substring_regex(cells, f"^{NUMBER}$"), cells, None).cast(pa.float64())
    if span or not is_text:
        try:
            low, high = map(float, span.groups() if span else (code, code))
        except ValueError:  # a word, which no number is
            return pa.array([False]).take(pa.array([0] * len(cells), pa.int8()))
        hits = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
        return pc.or_(pc.fill_null(hits, False), pc.equal(cells, code)) if is_text else hits
    return pc.equal(cells, code)


def _same_number(numbers: pa.Array, code: str) -> pa.Array:
    """Mark the numbers that equal the number which a code writes.

    >>> _same_number(pa.array([-1.0, 0.5, None]), "-1").to_pylist()
    [True, False, False]
    """
    value: float = float(code)
    if pa.types.is_integer(numbers.type) and value.is_integer() and abs(value) < _WHOLE_IN_DOUBLE:
        value = int(value)
    elif pa.types.is_integer(numbers.type):  # no whole number, or one of which a double may not keep all digits
        return pc.and_(pc.is_null(numbers), pc.is_valid(numbers))
    return pc.fill_null(pc.equal(numbers, pa.scalar(value, numbers.type)), False)
