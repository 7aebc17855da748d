"""Text files that are checked while they are read: encoding, quotes, blanks around cells."""

from __future__ import annotations

import codecs
import io

import numpy as np

from incrowd.tables.sniff_dialect import BLOCK_BYTES, Dialect

_CHECKED_BYTES = 1 << 20  # bytes that are decoded at a time


class CheckedFile(io.RawIOBase):
    """A file that checks the encoding and the quotes of its bytes while they are read."""

    def __init__(self, path: str, dialect: Dialect) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed with this object
        self._decoder = codecs.getincrementaldecoder(dialect.encoding)()
        self._is_utf8 = dialect.encoding == "utf-8"
        self.wrong_encoding = False
        self.may_differ_in_form = False  # cells may begin or end with a blank, or hold accents apart from letters
        self.quotes = QuoteCheck(dialect.separator)

    def readable(self) -> bool:
        """Always true: the file is open for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, unchanged.

        Raises:
            UnicodeError: if they are not in the encoding.
        """
        block = self._file.read(size)
        for start in range(0, max(1, len(block)), _CHECKED_BYTES):
            part = block[start : start + _CHECKED_BYTES]
            try:
                text = self._decoder.decode(part, final=not block)
            except UnicodeError:
                self.wrong_encoding = True
                raise
            plain = part if self._is_utf8 else text.encode("utf-8", "surrogatepass")
            self.quotes.observe(plain)
            self.may_differ_in_form = self.may_differ_in_form or self.quotes.has_odd_forms(plain)
        return block

    def read_to_end(self) -> None:
        """Check the bytes that have not been read."""
        while self.read(BLOCK_BYTES):
            pass

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


class QuoteCheck:
    """Check, block by block, that quotes only enclose cells and are doubled inside them.

    In such text, every second quote opens a cell or is the second of a pair. The others close a cell or are the first
    of a pair. A few comparisons of neighbouring bytes test this. If they fail, a quote may be literal, or never closed;
    the slow line parser decides which.

    >>> check = QuoteCheck(",")
    >>> check.observe(b'a,b\\n"x, y","say ""hi"" twice"\\n')
    >>> check.regular
    True
    """

    def __init__(self, separator: str) -> None:
        self._neighbours = np.zeros(256, bool)  # what may stand before an opening and after a closing quote
        self._neighbours[list(f'{separator}\r\n"'.encode())] = True
        self._fits = True
        self._quotes = 0
        self._last = ord("\n")

    @property
    def regular(self) -> bool:
        """True if all quotes so far are regular and each opened quote is closed."""
        return self._fits and self._quotes % 2 == 0

    def has_odd_forms(self, block: bytes) -> bool:
        """True if cells may begin or end with a blank, or contain accents separate from their letters."""
        if b"\xcc" in block or b"\xcd" in block:
            return True
        text = np.frombuffer(block, np.uint8)
        blanks = np.flatnonzero(text == ord(" "))
        around = text[np.maximum(blanks - 1, 0)], text[np.minimum(blanks + 1, text.size - 1)]
        return any(bool(self._neighbours[bytes_].any()) for bytes_ in around)

    def observe(self, block: bytes) -> None:
        """Check the next bytes of the text, in UTF-8."""
        if not block or not self._fits:
            return
        text = np.frombuffer(block, np.uint8)
        allowed = self._neighbours
        last_closes = self._last == ord('"') and self._quotes % 2 == 0
        if last_closes and not allowed[text[0]]:
            self._fits = False
        places = np.flatnonzero(text == ord('"'))
        opening, closing = places[self._quotes % 2 :: 2], places[1 - self._quotes % 2 :: 2]
        if len(opening):
            before = text[opening - 1]
            if opening[0] == 0:
                before[0] = self._last
            self._fits &= bool(allowed[before].all())
        closing = closing[closing + 1 < len(text)]
        self._fits &= bool(allowed[text[closing + 1]].all())
        self._quotes += len(places)
        self._last = block[-1]
