"""The dialect of a delimited text file, so that a result can be written in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.arrow_columns import is_text
from incrowd.tables.infer_types import TypeInference, candidate_types

SEPARATOR_NAMES = {";": "semicolons", "|": "bars", ":": "colons", " ": "spaces", "\t": "tabs", ",": "commas"}
_WRITTEN = ",;|"  # separators for writing: no number, date or time contains them, except decimal commas
_ENCODINGS = {"iso8859-1": "cp1252", "cp1252": "cp1252", "utf-16": "utf-16", "utf-8-sig": "utf-8-sig"}
"""The encodings that a reader detects, and how they are written; any other encoding is written as UTF-8."""


@dataclass(frozen=True, slots=True)
class TextDialect:
    """The separator, the decimal sign and the encoding of delimited text."""

    separator: str = ","  # the character between cells
    decimal: str = "."  # the decimal sign of numbers
    encoding: str = "utf-8"  # the name of the encoding
    particular: tuple[str, ...] = ()  # other features of the file, in words, that are not reproduced

    def for_file(self, parts: Iterable[pa.Table], ending: str) -> TextDialect:
        """The closest dialect from which a reader recovers all rows, for a file with this ending.

        `parts` are the rows, in blocks.

        >>> rows = pa.table({"town": ["Łódź"], "pay": [1.5]})
        >>> TextDialect(";", ",", "cp1252").for_file([rows], ".csv")
        TextDialect(separator=';', decimal=',', encoding='utf-8', particular=())
        """
        separator = "\t" if ending == ".tsv" else self.separator if self.separator in _WRITTEN else ","
        decimal = "." if separator == "," else self.decimal
        found = replace(self, separator=separator, decimal=decimal, encoding=_ENCODINGS.get(self.encoding, "utf-8"))
        if decimal == "." and found.encoding != "cp1252":
            return found  # it can hold every table
        fitting = _Fitting(separator)
        for part in parts:
            fitting.look_at(part)
        return replace(
            found,
            decimal=decimal if fitting.takes_commas() else ".",
            encoding=found.encoding if fitting.takes_cp1252 or found.encoding != "cp1252" else "utf-8",
        )

    def in_words(self, asked: TextDialect) -> str:
        """Describe how a file is written, and which requested features it lacks; empty if it lacks none.

        >>> asked = TextDialect(";", ",", "cp1252")
        >>> TextDialect(";", ",").in_words(asked)
        'cells parted by semicolons, decimal commas, encoding utf-8 (not cp1252, which would not keep every letter)'
        """
        if asked == TextDialect():
            return ""
        parts = [f"cells parted by {SEPARATOR_NAMES[self.separator]}"]
        if asked.separator != self.separator:
            parts[-1] += f" ({_why_not_separator(asked.separator, self.separator)})"
        parts.append("decimal commas" if self.decimal == "," else "decimal points")
        if asked.decimal != self.decimal:
            parts[-1] += " (with commas its numbers could not be told from others)"
        if _ENCODINGS.get(asked.encoding, asked.encoding) != self.encoding:
            known = asked.encoding in _ENCODINGS
            why = "which would not keep every letter" if known else "which readers do not recognise"
            parts.append(f"encoding {self.encoding} (not {asked.encoding}, {why})")
        elif self.encoding != "utf-8":
            parts.append(f"encoding {self.encoding}")
        if asked.particular:
            parts.append(f"dates as 2001-12-31 and plain numbers (the table has {', '.join(asked.particular)})")
        return ", ".join(parts)


def _why_not_separator(asked: str, written: str) -> str:
    """The reason why a file does not have the requested separator."""
    if written == "\t":
        return "as every .tsv has them"
    name = SEPARATOR_NAMES.get(asked, "the separator of the table")
    if asked == "\t":
        return f"{name} are written in a .tsv only"
    return f"not {name}, which a reader may miss or take for a part of a cell"


class _Fitting:
    """Test, block by block, whether decimal commas and cp1252 let a reader recover all cells."""

    def __init__(self, separator: str) -> None:
        self._kinds = candidate_types(separator)
        self._read: dict[tuple[str, str], TypeInference] = {}  # by column and decimal sign
        self._separated = False
        self.takes_cp1252 = True

    def look_at(self, part: pa.Table) -> None:
        """Test some rows."""
        self._separated = part.num_columns > 1
        for name, column in zip(part.column_names, part.columns, strict=True):
            self.takes_cp1252 = self.takes_cp1252 and _is_kept(name)
            if has_decimals(column.type):
                for sign in ".,":
                    texts = number_texts(column.unique(), sign)
                    inference = self._read.setdefault((name, sign), TypeInference({"": self._kinds}))
                    inference.observe(pa.record_batch({"": texts}))
            elif self.takes_cp1252 and is_text(column.type):
                distinct = column.unique().cast(pa.large_string()) if len(column) else column
                self.takes_cp1252 = all(cell is None or _is_kept(cell) for cell in distinct.to_pylist())

    def takes_commas(self) -> bool:
        """True if every decimal column that reads as numbers with points also does so with commas.

        A single column has no separator that would show a reader that commas do not separate cells.
        """
        types = {key: inference.types()[""] for key, inference in self._read.items()}
        return self._separated and all(
            types[name, ","] or not kind for (name, sign), kind in types.items() if sign == "."
        )


def has_decimals(kind: pa.DataType) -> bool:
    """True if the numbers of a type may have a decimal sign."""
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def number_texts(numbers: pa.Array, sign: str) -> pa.Array:
    """Numbers as text with a decimal sign."""
    return pc.replace_substring(numbers.cast(pa.string()), ".", sign)


def _is_kept(text: str) -> bool:
    """True if a reader recovers a text from cp1252: cp1252 has all its letters, and its bytes are not valid UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode("cp1252").decode("utf-8")
    except UnicodeDecodeError:
        return True
    except UnicodeEncodeError:
        return False
    return False
