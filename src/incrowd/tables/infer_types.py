"""The type that a column of text allows: only if every cell of it says its value in one plain way.

So nothing is lost in reading: `00501` stays `00501`, and digits that a double cannot keep stay text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.tables.sniff_dialect import DAY, NUMBER

if TYPE_CHECKING:
    import pyarrow as pa

COMMA = "double, written with a comma"
POINTS = "double, written with a comma and with points between thousands"
DOTTED = "date32, written with the day first and points"
_WHOLE = r"-?(0|[1-9][0-9]{0,17})"
_NO_NUMBER = r"NaN|nan|-?(inf|Inf|Infinity)"  # as programs write what is not a finite number
_THOUSANDS = r"^-?[1-9][0-9]{0,2}(,[0-9]{3})+$"
_SHAPES = {  # type to the shape its cells must have; a double keeps 15 digits, so longer decimals stay text
    "int64": rf"^{_WHOLE}$",
    "double": rf"^({NUMBER}|{_NO_NUMBER})$",
    COMMA: rf"^({NUMBER.replace(chr(92) + '.', ',')}|{_NO_NUMBER})$",
    POINTS: rf"^(-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(\.[0-9]{{3}})+)(,[0-9]+)?|{_NO_NUMBER})$",
    "date32": rf"^{DAY}$",
    DOTTED: r"^[0-9]{2}\.[0-9]{2}\.[1-9][0-9]{3}$",
    "timestamp[s]": rf"^{DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}$",
}
_PLAIN = {
    COMMA: "double",
    POINTS: "double",
    DOTTED: "date32",
}  # how the same type is called where it is written plainly
_SQL = {"int64": "BIGINT", "double": "DOUBLE", "date32": "DATE", "timestamp[s]": "TIMESTAMP"}
_DIGITS = 15


def kinds_of_text(separator: str) -> tuple[str, ...]:
    """The types that cells may have in a file with this separator, in the order they are tried."""
    return tuple(kind for kind in _SHAPES if separator != "," or kind not in (COMMA, POINTS))


class Shapes:
    """The type that every cell of a column allows, for columns of text that is seen batch by batch."""

    def __init__(self, possible: dict[str, tuple[str, ...]]) -> None:
        self._possible = dict(possible)
        self._filled = dict.fromkeys(possible, False)
        self._decimal = dict.fromkeys(possible, False)  # whether a comma was seen that cannot part thousands

    def see(self, batch: pa.RecordBatch) -> None:
        """Leave out the types that some cell does not fit."""
        for name, kinds in self._possible.items():
            if kinds:
                distinct = batch.column(name).unique().drop_null()
                self._filled[name] |= len(distinct) > 0
                self._decimal[name] |= (COMMA in kinds or POINTS in kinds) and _has_decimal_comma(distinct)
                self._possible[name] = tuple(kind for kind in kinds if _fits(distinct, kind))

    def types(self) -> dict[str, str | None]:
        """The first type that is left, or None: text.

        Where every comma may as well part thousands, as in 1,250, nobody can say what number it is.
        """
        return {name: self._type(name, kinds) for name, kinds in self._possible.items()}

    def conversions(self) -> dict[str, TextConversion]:
        """How the columns that are not text become values."""
        return {name: TextConversion(kind) for name, kind in self.types().items() if kind is not None}

    def _type(self, name: str, kinds: tuple[str, ...]) -> str | None:
        if not kinds or not self._filled[name]:
            return None
        return kinds[0] if kinds[0] not in (COMMA, POINTS) or self._decimal[name] else None


@dataclass(frozen=True, slots=True)
class TextConversion:
    """How a column of text becomes values of a type that it fits."""

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


def _fits(distinct: pa.Array, kind: str) -> bool:
    """Whether all these texts are values of the type, written in its one plain way."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(distinct):
        return True
    if not pc.all(pc.match_substring_regex(distinct, _SHAPES[kind])).as_py():
        return False
    try:
        values = cast(distinct, kind)
    except pa.ArrowInvalid:
        return False
    return _PLAIN.get(kind, kind) != "double" or _is_exact(distinct, values)


def arrow_type(kind: str) -> pa.DataType:
    """What cells of a type are in memory."""
    import pyarrow as pa

    return pa.type_for_alias(_PLAIN.get(kind, kind))


def cast(texts: pa.Array, kind: str) -> pa.Array:
    """Texts as values of a type that they fit."""
    import pyarrow.compute as pc

    if kind == POINTS:
        texts = pc.replace_substring(texts, ".", "")
    if kind in (COMMA, POINTS):
        texts = pc.replace_substring(texts, ",", ".")
    if kind == DOTTED:
        texts = pc.replace_substring_regex(texts, r"^(..)\.(..)\.(....)$", r"\3-\2-\1")
    return texts.cast(arrow_type(kind))


def cast_in_sql(text: str, kind: str) -> str:
    """SQL that converts a column of text, given as SQL, to values of a type that it fits."""
    if kind == POINTS:
        text = f"replace({text}, '.', '')"
    if kind in (COMMA, POINTS):
        text = f"replace({text}, ',', '.')"
    if kind == DOTTED:
        text = f"strptime({text}, '%d.%m.%Y')"
    return f"CAST({text} AS {_SQL[_PLAIN.get(kind, kind)]})"


def _has_decimal_comma(distinct: pa.Array) -> bool:
    import pyarrow.compute as pc

    commas = distinct.filter(pc.match_substring(distinct, ","))
    return len(commas) > 0 and not pc.all(pc.match_substring_regex(commas, _THOUSANDS)).as_py()


def _is_exact(texts: pa.Array, values: pa.Array) -> bool:
    """Whether doubles keep all digits of the texts, none infinite, none lost to zero.

    They keep fifteen, and up to seventeen of what programs write so that the same double is read again.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = pc.invert(pc.match_substring_regex(texts, rf"^({_NO_NUMBER})$"))
    if not pc.any(written).as_py():
        return False  # a column of nothing but these words is text
    texts, values = texts.filter(written), values.filter(written)
    digits = pc.replace_substring_regex(texts, r"[eE].*|[^0-9]", "")
    lost = pc.and_(pc.equal(values, pa.scalar(0.0)), pc.match_substring_regex(digits, "[1-9]"))
    few = pc.less_equal(pc.binary_length(digits), _DIGITS)
    fine = pc.and_(pc.is_finite(values), pc.or_(few, pc.equal(values.cast(texts.type), texts)))
    return bool(pc.all(fine).as_py()) and not pc.any(lost).as_py()
