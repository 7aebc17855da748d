"""Type inference for columns of text: a type is taken only if every cell writes its value in one plain way.

So reading loses nothing: `00501` stays `00501`, and digits that a double cannot keep stay text.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
DECIMAL_COMMA = "double, written with a comma"
THOUSANDS_POINTS = "double, written with a comma and with points between thousands"
DAY_FIRST = "date32, written with the day first and points"
_INTEGER = r"-?(0|[1-9][0-9]{0,17})"
_NOT_FINITE = r"NaN|nan|-?(inf|Inf|Infinity)"  # as programs write what is not a finite number
_THOUSANDS = r"^-?[1-9][0-9]{0,2}(,[0-9]{3})+$"
_PATTERNS = {  # type → the pattern of its cells; a double keeps 15 digits, so longer decimals stay text
    "int64": rf"^{_INTEGER}$",
    "double": rf"^({NUMBER}|{_NOT_FINITE})$",
    DECIMAL_COMMA: rf"^({NUMBER.replace(chr(92) + '.', ',')}|{_NOT_FINITE})$",
    THOUSANDS_POINTS: rf"^(-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(\.[0-9]{{3}})+)(,[0-9]+)?|{_NOT_FINITE})$",
    "date32": rf"^{DAY}$",
    DAY_FIRST: r"^[0-9]{2}\.[0-9]{2}\.[1-9][0-9]{3}$",
    "timestamp[s]": rf"^{DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}$",
}
_TYPE_OF_NOTATION = {
    DECIMAL_COMMA: "double",
    THOUSANDS_POINTS: "double",
    DAY_FIRST: "date32",
}  # notations of a type other than the plain one
_SQL_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "date32": "DATE", "timestamp[s]": "TIMESTAMP"}
_EXACT_DIGITS = 15


def candidate_types(separator: str) -> tuple[str, ...]:
    """The types that cells may have in a file with this separator, in the order they are tried.

    Args:
        separator: the character between cells; with a comma there are no decimal commas.

    Returns:
        Names of types, for `TypeInference`.

    >>> "date32" in candidate_types(",")
    True
    """
    return tuple(kind for kind in _PATTERNS if separator != "," or kind not in (DECIMAL_COMMA, THOUSANDS_POINTS))


class TypeInference:
    """Infers the type of columns of text that come batch by batch.

    Args:
        candidates: for each column the types its cells may have, in the order of preference.

    >>> inference = TypeInference({"zip": candidate_types(","), "age": candidate_types(",")})
    >>> inference.observe(pa.record_batch({"zip": ["00501", "02139"], "age": ["30", None]}))
    >>> inference.types()
    {'zip': None, 'age': 'int64'}
    """

    def __init__(self, candidates: dict[str, tuple[str, ...]]) -> None:
        self._candidates = dict(candidates)
        self._has_values = dict.fromkeys(candidates, False)
        self._has_decimal_comma = dict.fromkeys(candidates, False)  # a comma that cannot separate thousands

    def observe(self, batch: pa.RecordBatch) -> None:
        """Drop the types that some cell does not fit."""
        for name, kinds in self._candidates.items():
            if kinds:
                distinct = batch.column(name).unique().drop_null()
                commas_possible = DECIMAL_COMMA in kinds or THOUSANDS_POINTS in kinds
                self._has_values[name] |= len(distinct) > 0
                self._has_decimal_comma[name] |= commas_possible and _has_decimal_comma(distinct)
                self._candidates[name] = tuple(kind for kind in kinds if _all_fit(distinct, kind))

    def types(self) -> dict[str, str | None]:
        """The preferred type that is left for each column, or None: text.

        Where every comma may as well separate thousands, as in 1,250, the number is ambiguous and stays text.
        """
        return {name: self._type(name, kinds) for name, kinds in self._candidates.items()}

    def conversions(self) -> dict[str, TextConversion]:
        """How the columns that are not text become values."""
        return {name: TextConversion(kind) for name, kind in self.types().items() if kind is not None}

    def _type(self, name: str, kinds: tuple[str, ...]) -> str | None:
        if not kinds or not self._has_values[name]:
            return None
        needs_comma = kinds[0] in (DECIMAL_COMMA, THOUSANDS_POINTS)
        return kinds[0] if not needs_comma or self._has_decimal_comma[name] else None


@dataclass(frozen=True, slots=True)
class TextConversion:
    """How a column of text becomes values of an inferred type."""

    kind: str

    @property
    def type(self) -> pa.DataType:
        """The type of the values."""
        return arrow_type(self.kind)

    def convert(self, texts: pa.Array) -> pa.Array:
        """Texts as values."""
        return cast(texts, self.kind)

    def in_sql(self, column: str) -> str:
        """SQL that converts a column of text, given as SQL."""
        return cast_in_sql(column, self.kind)


def _all_fit(distinct: pa.Array, kind: str) -> bool:
    """Whether all these texts are values of the type, written in its one plain way."""
    if not len(distinct):
        return True
    if not pc.all(pc.match_substring_regex(distinct, _PATTERNS[kind])).as_py():
        return False
    try:
        values = cast(distinct, kind)
    except pa.ArrowInvalid:
        return False
    return _TYPE_OF_NOTATION.get(kind, kind) != "double" or _is_exact(distinct, values)


def arrow_type(kind: str) -> pa.DataType:
    """The Arrow type of a column of that inferred type."""
    return pa.type_for_alias(_TYPE_OF_NOTATION.get(kind, kind))


def cast(texts: pa.Array, kind: str) -> pa.Array:
    """Convert texts to values of an inferred type that all of them fit."""
    if kind == THOUSANDS_POINTS:
        texts = pc.replace_substring(texts, ".", "")
    if kind in (DECIMAL_COMMA, THOUSANDS_POINTS):
        texts = pc.replace_substring(texts, ",", ".")
    if kind == DAY_FIRST:
        texts = pc.replace_substring_regex(texts, r"^(..)\.(..)\.(....)$", r"\3-\2-\1")
    return texts.cast(arrow_type(kind))


def cast_in_sql(text: str, kind: str) -> str:
    """SQL that converts a column of text, given as SQL, as `cast` does in Arrow."""
    if kind == THOUSANDS_POINTS:
        text = f"replace({text}, '.', '')"
    if kind in (DECIMAL_COMMA, THOUSANDS_POINTS):
        text = f"replace({text}, ',', '.')"
    if kind == DAY_FIRST:
        text = f"strptime({text}, '%d.%m.%Y')"
    return f"CAST({text} AS {_SQL_TYPES[_TYPE_OF_NOTATION.get(kind, kind)]})"


def _has_decimal_comma(distinct: pa.Array) -> bool:
    commas = distinct.filter(pc.match_substring(distinct, ","))
    return len(commas) > 0 and not pc.all(pc.match_substring_regex(commas, _THOUSANDS)).as_py()


def _is_exact(texts: pa.Array, values: pa.Array) -> bool:
    """Whether doubles keep all digits of the texts: none overflows to infinity, none underflows to zero.

    A double keeps fifteen digits, and up to seventeen where a program wrote the shortest text of that double.
    """
    finite = pc.invert(pc.match_substring_regex(texts, rf"^({_NOT_FINITE})$"))
    if not pc.any(finite).as_py():
        return False  # a column of nothing but these words is text
    texts, values = texts.filter(finite), values.filter(finite)
    digits = pc.replace_substring_regex(texts, r"[eE].*|[^0-9]", "")
    underflow = pc.and_(pc.equal(values, pa.scalar(0.0)), pc.match_substring_regex(digits, "[1-9]"))
    few_digits = pc.less_equal(pc.binary_length(digits), _EXACT_DIGITS)
    exact = pc.and_(pc.is_finite(values), pc.or_(few_digits, pc.equal(values.cast(texts.type), texts)))
    return bool(pc.all(exact).as_py()) and not pc.any(underflow).as_py()
