"""Type inference for columns of text: a column gets a type only if every cell writes its value in one plain way.

So reading loses nothing: `00501` stays `00501`, and digits that a double cannot keep stay text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
DECIMAL_COMMA = "double, written with a comma"
THOUSANDS_POINTS = "double, written with a comma and with points between thousands"
DAY_FIRST = "date32, written with the day first and points"
THOUSANDS_COMMAS = "double, written with commas between thousands"
DAY_FIRST_SLASHES = "date32, written with the day first and slashes"
MONTH_FIRST = "date32, written with the month first and slashes"
DAY_FIRST_HYPHENS = "date32, written with the day first and hyphens"
MONTH_FIRST_HYPHENS = "date32, written with the month first and hyphens"
YEAR_FIRST = "date32, written with the year first and slashes"
MONTH_NAMES = "date32, written with the name of the month"
PARTIAL_DATES = "text, dates of which the day or the month is left out"
UNITS = {f"double, with {unit}": unit for unit in ("%", "$", "€", "£", "¥")}
NULL_WORDS = ("NA", "N/A", "n/a", "na", "N", ".", "-", "?", "NULL", "null", "None", "#N/A", "missing")
"""Texts that stand for a missing value where all other cells of a column are numbers or dates."""
_INTEGER = r"-?(0|[1-9][0-9]{0,17})"
_NOT_FINITE = r"NaN|nan|-?(inf|Inf|Infinity)"  # as programs write what is not a finite number
_AMOUNT = r"(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]+)?"
_THOUSANDS = r"^-?[1-9][0-9]{0,2}(,[0-9]{3})+$"
_PATTERNS = {  # type → the pattern of its cells; a double keeps 15 digits, so longer decimals stay text
    "int64": rf"^{_INTEGER}$",
    "double": rf"^({NUMBER}|{_NOT_FINITE})$",
    DECIMAL_COMMA: rf"^({NUMBER.replace(chr(92) + '.', ',')}|{_NOT_FINITE})$",
    THOUSANDS_POINTS: rf"^(-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(\.[0-9]{{3}})+)(,[0-9]+)?|{_NOT_FINITE})$",
    "date32": rf"^{DAY}$",
    DAY_FIRST: r"^[0-9]{1,2}\.[0-9]{1,2}\.[1-9][0-9]{3}$",
    "timestamp[s]": rf"^{DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}$",
    THOUSANDS_COMMAS: rf"^({NUMBER}|-?{_AMOUNT}|{_NOT_FINITE})$",
    DAY_FIRST_SLASHES: r"^[0-9]{1,2}/[0-9]{1,2}/[1-9][0-9]{3}$",
    MONTH_FIRST: r"^[0-9]{1,2}/[0-9]{1,2}/[1-9][0-9]{3}$",
    DAY_FIRST_HYPHENS: r"^[0-9]{1,2}-[0-9]{1,2}-[1-9][0-9]{3}$",
    MONTH_FIRST_HYPHENS: r"^[0-9]{1,2}-[0-9]{1,2}-[1-9][0-9]{3}$",
    YEAR_FIRST: r"^[1-9][0-9]{3}/[0-9]{2}/[0-9]{2}$",
    MONTH_NAMES: r"(?i)^[0-9]{1,2}[ -]?[a-z]{3}[ -]?[1-9][0-9]{3}$",
    **{kind: rf"^-?{re.escape(unit)} ?{_AMOUNT}$|^-?{_AMOUNT} ?{re.escape(unit)}$" for kind, unit in UNITS.items()},
    PARTIAL_DATES: r"^[1-9][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$",
}
_COMPILED = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_ORDERS = ((DAY_FIRST_SLASHES, MONTH_FIRST), (DAY_FIRST_HYPHENS, MONTH_FIRST_HYPHENS))  # of the same cells
DATE_ORDERS = ("day-first", "month-first")
"""The orders that can be stated for dates in which day and month cannot be distinguished."""


def _pad(mark: str) -> list[tuple[str, str]]:
    """Steps that write days and months with two digits."""
    plain = mark.removeprefix("\\")
    return [(rf"^([0-9]){mark}", rf"0\1{plain}"), (rf"{mark}([0-9]){mark}", rf"{plain}0\1{plain}")]


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = {  # how notations of dates are rewritten to the plain one, step by step: a pattern and its replacement
    DAY_FIRST: [*_pad(r"\."), (r"^(..)\.(..)\.(....)$", r"\3-\2-\1")],
    DAY_FIRST_HYPHENS: [*_pad("-"), (r"^(..)-(..)-(....)$", r"\3-\2-\1")],
    MONTH_FIRST_HYPHENS: [*_pad("-"), (r"^(..)-(..)-(....)$", r"\3-\1-\2")],
    DAY_FIRST_SLASHES: [*_pad("/"), (r"^(..)/(..)/(....)$", r"\3-\2-\1")],
    MONTH_FIRST: [*_pad("/"), (r"^(..)/(..)/(....)$", r"\3-\1-\2")],
    YEAR_FIRST: [("/", "-")],
    MONTH_NAMES: [
        ("[ -]", ""),
        *((f"(?i){month}", f"/{number:02d}/") for number, month in enumerate(MONTHS, 1)),
        *_pad("/"),
        (r"^(..)/(..)/(....)$", r"\3-\2-\1"),
    ],
}
_NUMBERS = {  # the same for notations of numbers
    DECIMAL_COMMA: [(",", ".")],
    THOUSANDS_POINTS: [(r"\.", ""), (",", ".")],
    THOUSANDS_COMMAS: [(",", "")],
    **{kind: [("[^-0-9.]", "")] for kind in UNITS},
}
_REWRITES = _DATES | _NUMBERS
_TYPE_OF_NOTATION = dict.fromkeys(_DATES, "date32") | dict.fromkeys(_NUMBERS, "double") | {PARTIAL_DATES: "string"}
_SQL_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "date32": "DATE", "timestamp[s]": "TIMESTAMP"}
_IMPLIED = {THOUSANDS_COMMAS: "double", PARTIAL_DATES: "date32"}  # texts that fit the second type also fit the first
_EXACT_DIGITS = 15  # decimal digits that a double always keeps
_FIRST_LOOK = 64  # texts that are tested first; they rule out most types
_SEEN = 1_000  # cells from which it is decided whether values repeat


def candidate_types(separator: str) -> tuple[str, ...]:
    """The possible types of cells in a file with this separator, in the order they are tried.

    If a comma separates cells, there are no decimal commas.

    >>> "date32" in candidate_types(",")
    True
    """
    return tuple(kind for kind in _PATTERNS if separator != "," or kind not in (DECIMAL_COMMA, THOUSANDS_POINTS))


class TypeInference:
    """Infers the types of text columns that arrive in batches.

    `candidates` are the possible types of each column, in order of preference; `null_words` mean a missing value if all
    other cells of a column have a type. `dates` is the order of dates in which day and month cannot be distinguished.

    >>> inference = TypeInference({"zip": candidate_types(","), "age": candidate_types(",")})
    >>> inference.observe(pa.record_batch({"zip": ["00501", "02139"], "age": ["30", None]}))
    >>> inference.types()
    {'zip': None, 'age': 'int64'}
    """

    def __init__(
        self, candidates: Mapping[str, tuple[str, ...]], null_words: Sequence[str] = (), dates: str | None = None
    ) -> None:
        self._order = None if dates is None else DATE_ORDERS.index(dates)
        self._possible_nulls = pa.array(null_words, pa.string())
        self._candidates = dict(candidates)
        self._has_values = dict.fromkeys(candidates, False)
        self._null_words: dict[str, set[str]] = {name: set() for name in candidates}
        self._has_decimal_comma = dict.fromkeys(candidates, False)  # True: some comma cannot separate thousands

    def observe(self, batch: pa.RecordBatch) -> None:
        """Drop the types that some cell does not fit."""
        for name, kinds in self._candidates.items():
            if kinds:
                cells = _without_repeats(batch.column(name))
                fitting = _fitting(cells, kinds)
                if not fitting:  # no word for a missing value is a value of a type
                    words = pc.is_in(cells, value_set=self._possible_nulls)
                    if pc.any(words).as_py():
                        self._null_words[name].update(cells.filter(words).unique().to_pylist())
                        cells = cells.filter(pc.invert(words))
                        fitting = _fitting(cells, kinds)
                commas_possible = DECIMAL_COMMA in kinds or THOUSANDS_POINTS in kinds
                self._has_values[name] |= len(cells) > 0
                self._has_decimal_comma[name] |= commas_possible and _has_decimal_comma(cells)
                self._candidates[name] = fitting

    def types(self) -> dict[str, str | None]:
        """The preferred remaining type of each column; None means text.

        If every comma may also separate thousands, as in 1,250, the number is ambiguous and stays text.
        """
        return {name: self._type(name, kinds) for name, kinds in self._candidates.items()}

    def conversions(self) -> dict[str, TextConversion]:
        """The conversions of all columns that are not text."""
        words = self.null_words()
        return {
            name: TextConversion(kind, words.get(name, ())) for name, kind in self.types().items() if kind is not None
        }

    def null_words(self) -> dict[str, tuple[str, ...]]:
        """The texts that mean a missing value in columns that otherwise hold numbers or dates."""
        types = self.types()
        return {name: tuple(sorted(words)) for name, words in self._null_words.items() if words and types[name]}

    def ambiguous_dates(self) -> list[str]:
        """The date columns in which day and month cannot be distinguished; they stay text if no order was stated."""
        if self._order is not None:
            return []
        return [name for name, kinds in self._candidates.items() if _two_orders(kinds) and self._has_values[name]]

    def partial_dates(self) -> list[str]:
        """The columns of partial dates such as 2019-05 and 2019. They stay text, which sorts in date order."""
        only = (PARTIAL_DATES,)
        return [name for name, kinds in self._candidates.items() if kinds == only and self._has_values[name]]

    def merge(self, other: TypeInference) -> None:
        """Add the findings of another file with the same columns."""
        for name, kinds in self._candidates.items():
            self._candidates[name] = tuple(kind for kind in kinds if kind in other._candidates[name])
            self._has_values[name] |= other._has_values[name]
            self._has_decimal_comma[name] |= other._has_decimal_comma[name]
            self._null_words[name] |= other._null_words[name]

    def _type(self, name: str, kinds: tuple[str, ...]) -> str | None:
        if not kinds or not self._has_values[name] or kinds[0] == PARTIAL_DATES:
            return None
        needs_comma = kinds[0] in (DECIMAL_COMMA, THOUSANDS_POINTS)
        if orders := _two_orders(kinds):
            return None if self._order is None else orders[self._order]
        return None if needs_comma and not self._has_decimal_comma[name] else kinds[0]


@dataclass(frozen=True, slots=True)
class TextConversion:
    """The conversion of a text column to an inferred type; some texts mean a missing value."""

    kind: str
    nulls: tuple[str, ...] = ()

    @property
    def type(self) -> pa.DataType:
        """The type of the values."""
        return arrow_type(self.kind)

    def convert(self, stored: pa.Array) -> pa.Array:
        """Texts as values."""
        if self.nulls:
            gone = pc.is_in(stored, value_set=pa.array(self.nulls, stored.type))
            stored = pc.if_else(gone, pa.scalar(None, stored.type), stored)
        return cast(stored, self.kind)

    def in_sql(self, column: str) -> str:
        """SQL that converts a column of text, given as SQL."""
        if self.nulls:
            column = f"CASE WHEN {column} NOT IN ({', '.join(repr(word) for word in self.nulls)}) THEN {column} END"
        return cast_in_sql(column, self.kind)


def infer_type(texts: pa.Array) -> pa.Array:
    """Convert texts to numbers or dates if all of them are numbers or dates; an empty text is missing.

    >>> infer_type(pa.array(["30", "", "41"])).to_pylist(), infer_type(pa.array(["007", "12"])).to_pylist()
    ([30, None, 41], ['007', '12'])
    """
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    inference = TypeInference({"texts": candidate_types(",")}, NULL_WORDS)
    inference.observe(pa.record_batch({"texts": texts}))
    conversion = inference.conversions().get("texts")
    return texts if conversion is None else conversion.convert(texts)


def repeats(column: pa.Array) -> bool:
    """True if the first cells of a column repeat, so that finding its distinct values saves time.

    >>> repeats(pa.array(["a", "b"] * 50)), repeats(pa.array(["a", "b"]))
    (True, False)
    """
    head = column.slice(0, _SEEN)
    return len(head.unique()) <= len(head) / 2


def _two_orders(kinds: tuple[str, ...]) -> tuple[str, str] | None:
    """The two notations of dates that all cells fit, the day first and the month first; None if at most one fits."""
    return next((orders for orders in _ORDERS if {*orders} <= {*kinds}), None)


def _without_repeats(column: pa.Array) -> pa.Array:
    """The distinct values of a column, or all its cells if most of them differ: distinct values then cost more."""
    return (column.unique() if repeats(column) else column).drop_null()


def _fitting(distinct: pa.Array, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The types that all these texts fit; types that follow from others are not tried."""
    fitting: list[str] = []
    short = (pc.max(pc.binary_length(distinct)).as_py() or 0) <= _EXACT_DIGITS
    for kind in kinds:
        implied = (kind == "double" and "int64" in fitting and short) or _IMPLIED.get(kind) in fitting
        if implied or _all_fit(distinct, kind):
            fitting.append(kind)
    return tuple(fitting)


def _all_fit(distinct: pa.Array, kind: str) -> bool:
    """True if all these texts are values of the type, written in its one plain way."""
    if not len(distinct):
        return True
    # Arrow compiles the pattern again for every column; the first text rules out most types without that
    if not _COMPILED[kind].search(distinct[0].as_buffer().to_pybytes().decode("utf-8", "replace")):
        return False
    for some in (distinct.slice(0, _FIRST_LOOK), distinct):
        if not _all_match(some, _PATTERNS[kind]):
            return False
    plain = _rewrite(distinct, kind)
    try:
        values = plain.cast(arrow_type(kind))
    except pa.ArrowInvalid:
        return False
    return _TYPE_OF_NOTATION.get(kind, kind) != "double" or _is_exact(plain, values)


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type of a column of that inferred type."""
    return pa.type_for_alias(_TYPE_OF_NOTATION.get(kind, kind))


def cast(texts: pa.Array, kind: str) -> pa.Array:
    """Convert texts to values of an inferred type that all of them fit."""
    return _rewrite(texts, kind).cast(arrow_type(kind))


def _rewrite(texts: pa.Array, kind: str) -> pa.Array:
    """Rewrite texts of a type in its plain notation."""
    for pattern, replacement in _REWRITES.get(kind, ()):
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def cast_in_sql(text: str, kind: str) -> str:
    """SQL that converts a column of text, given as SQL, as `cast` does in Arrow."""
    for pattern, replacement in _REWRITES.get(kind, ()):
        text = f"regexp_replace({text}, '{pattern}', '{replacement}', 'g')"
    return f"CAST({text} AS {_SQL_TYPES[_TYPE_OF_NOTATION.get(kind, kind)]})"


def _has_decimal_comma(distinct: pa.Array) -> bool:
    commas = distinct.filter(pc.match_substring(distinct, ","))
    return len(commas) > 0 and not pc.all(pc.match_substring_regex(commas, _THOUSANDS)).as_py()


def _is_exact(texts: pa.Array, values: pa.Array) -> bool:
    """True if doubles keep all digits of the texts: none overflows to infinity, none underflows to zero.

    A double keeps fifteen digits, and up to seventeen if a program wrote the shortest text of that double.
    """
    finite = pc.is_finite(values)
    words = texts.filter(pc.invert(finite))
    if len(words) == len(texts) or not _all_match(words, rf"^({_NOT_FINITE})$"):
        return False  # a column of nothing but these words is text, and a number that overflows is none of them
    texts, values = texts.filter(finite), values.filter(finite)
    zeros = pc.replace_substring_regex(texts.filter(pc.equal(values, 0.0)), r"[eE].*", "")
    if pc.any(pc.match_substring_regex(zeros, "[1-9]")).as_py():
        return False  # an underflow
    long = pc.greater(pc.binary_length(texts), _EXACT_DIGITS)
    texts, values = texts.filter(long), values.filter(long)
    digits = pc.replace_substring_regex(texts, r"[eE].*|[^0-9]", "")
    few_digits = pc.less_equal(pc.binary_length(digits), _EXACT_DIGITS)
    same = pc.or_(few_digits, pc.equal(values.cast(texts.type), texts))
    return bool(pc.all(same, min_count=0).as_py())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py())
