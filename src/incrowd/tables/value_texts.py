"""The texts of a column's values, as released labels write them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.tables.label_cover import Places, expand

_TRUTHS = (("true", "True", "TRUE", "T", "1"), ("false", "False", "FALSE", "F", "0"))
_LAST = "\U0010ffff"  # the last of all characters


class TextIndex:
    """The values of a column by their texts."""

    def __init__(self, texts: pa.Array) -> None:
        filled = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
        encoded = texts.drop_null().dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        self._texts = encoded.dictionary
        self._places = filled[np.argsort(codes, kind="stable")]
        self._ends = np.cumsum(np.bincount(codes, minlength=len(self._texts)))

    def find(self, texts: pa.Array) -> tuple[Places, Places]:
        """The values that are written like a text: the place of the text, and that of the value."""
        codes = pc.fill_null(pc.index_in(texts, value_set=self._texts), -1).to_numpy(zero_copy_only=False)
        owner = np.flatnonzero(codes >= 0)
        return self._members(owner, codes[owner].astype(np.int64))

    def _members(self, owner: Places, codes: Places) -> tuple[Places, Places]:
        before = np.concatenate([[0], self._ends])
        which, at = expand(before[codes], before[codes + 1])
        return owner[which], self._places[at]

    def find_prefixes(
        self, starts: Sequence[str], hidden: Sequence[int], any_length: NDArray[np.bool_]
    ) -> tuple[Places, Places]:
        """The values that begin with a text and have as many more characters: the place of the text, and of the value.

        Where there are none and `any_length` is True, those with any number of further characters.
        """
        in_order = sorted(self._texts.to_pylist())
        by_length = sorted((len(text), text) for text in in_order)
        owners: list[int] = []
        texts: list[str] = []
        for place, (start, more) in enumerate(zip(starts, hidden, strict=True)):
            length = len(start) + more
            low = bisect_left(by_length, (length, start))
            begun = [text for _, text in by_length[low : bisect_right(by_length, (length, start + _LAST * more))]]
            if not begun and any_length[place]:
                low = bisect_left(in_order, start)
                begun = in_order[low : bisect_right(in_order, start + _LAST, lo=low)]
            owners += [place] * len(begun)
            texts += begun
        found, places = self.find(pa.array(texts, pa.string()))
        return np.array(owners, dtype=np.int64)[found], places


class Spellings:
    """Other spellings of a cell: codes and their labels, and truth values."""

    def __init__(self, value_labels: Mapping[Any, str], has_truth: bool) -> None:
        self._has_truth = has_truth
        self._of: dict[str, list[str]] = {}
        for code, label in value_labels.items():
            text = _code_text(str(code))
            self._of.setdefault(text, []).append(label)
            self._of.setdefault(label, []).append(text)

    def of(self, text: str) -> Iterator[str]:
        """The other spellings of a text."""
        yield from self._of.get(_code_text(text), ())
        for words in _TRUTHS if self._has_truth else ():
            if text.removesuffix(".0").lower() in {word.lower() for word in words}:
                yield from words


def _code_text(text: str) -> str:
    """A code as text, without the point of a whole number."""
    head, point, tail = text.partition(".")
    return head if point and not tail.strip("0") and head.lstrip("-").isdigit() else text
