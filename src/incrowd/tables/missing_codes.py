"""Texts and codes that the user declares as missing values, in every column of a file or in single columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.infer_types import NUMBER
from incrowd.wording import listed

_SPAN = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
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

    def merge(self, other: ColumnCodes) -> None:
        """Add the counts of another file with the same columns."""
        for name, counts in other.counts.items():
            self.counts[name].update(counts)


def add_counts(codebook: FileCodebook, counts: Mapping[str, Mapping[str, int]]) -> FileCodebook:
    """Add the counts of single-column codes to the codebook; the file's own kinds of missing values stay."""
    used = {name: {code: times for code, times in codes.items() if times} for name, codes in counts.items()}
    told = {name: codes for name, codes in used.items() if codes}
    return replace(codebook, missing=told | dict(codebook.missing)) if told else codebook


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
