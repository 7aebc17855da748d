"""Values that stand for a missing value though nobody declared them: refusals and unknown values."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends.arrow_columns import is_text
from incrowd.tables.roles.names import word_list, words_of
from incrowd.tables.suggest_reading import NOT_ASKED, codes_among, find_not_asked_values

_PARTS = re.compile(r"[/,;|()]|\b(?:or|ou|oder|o|of|lub)\b")  # of "refused / don't know", "no sabe o no contesta"
_SIGNS = re.compile(r"[^\w+]*")  # - or ?, but not where + is a value too
_LONGEST = 60  # characters of such words


def find_untold_values(values: pa.Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The values of a column that stand for a missing value, and of these the ones that surely do.

    Words such as "refused" or "keine Angabe", and codes among texts, surely do. Numbers such as -9 or 99999, which are
    recognised by the other values, abbreviations and signs may also be values.

    >>> may_be, surely = find_untold_values(pa.array(["flu", "Refused", "9: Don't know / refused", "DK", None]))
    >>> may_be.tolist(), surely.tolist()
    ([False, True, True, True, True], [False, True, True, False, True])
    >>> [one.tolist() for one in find_untold_values(pa.array([1000, 5000, 99999]))]
    [[False, False, True], [False, False, False]]
    """
    surely = pc.is_null(values).to_numpy(zero_copy_only=False).copy()
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        found = codes_among(values)
        ends = pc.min_max(values).as_py()
        if found and ends["min"] == -ends["max"]:  # a scale from -1 to 1
            found.discard(ends["min"])
        return surely | pc.is_in(values, pa.array(sorted(found), values.type)).to_numpy(zero_copy_only=False), surely
    may_be = find_not_asked_values(values).to_numpy(zero_copy_only=False).copy()
    if is_text(values.type):
        surely |= may_be
        untold, perhaps = word_list("values", "untold"), word_list("values", "perhaps_untold")
        signs = not pc.any(pc.equal(values, "+")).as_py()
        for place, text in _short_texts(values):
            parts = [_spelt(part) for part in (text, *_PARTS.split(text.lower()))]
            told = [part for part in parts[1:] if part]
            if parts[0] in untold or (told and all(part in untold or part in NOT_ASKED for part in told)):
                may_be[place] = surely[place] = True
            elif parts[0] in perhaps or (signs and _SIGNS.fullmatch(text)):
                may_be[place] = True
    return may_be, surely


def _short_texts(values: pa.Array) -> Iterator[tuple[int, str]]:
    """The places and texts of a column that are short enough for a word that stands for a missing value."""
    short = pc.fill_null(pc.less_equal(pc.utf8_length(values), _LONGEST), False)
    places = np.flatnonzero(short.to_numpy(zero_copy_only=False))
    return zip(places.tolist(), values.filter(short).to_pylist(), strict=True)


def _spelt(text: str) -> str:
    """The letters of a text in lower case, without accents: a word of the lists."""
    return words_of(text.lower().replace("ß", "ss")).replace(" ", "")
