"""Kept texts that repeat what was made coarser: a note that says "82-year-old", beside ages in ranges.

An attacker who knows a person's age looks for it in the texts of the class. The text must hold the record's own value,
as whole words, in clearly more records than texts of other people do.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.recovering_columns import RecoveringColumn

_COMPARED = 20_000  # records that are compared first
_FEWEST = 10  # records beyond chance whose text repeats their value, at least
_STANDARD_ERRORS = 5.0  # of the number that chance makes, at least
_FEWEST_WORDS = 3  # of a text; codes such as V45.81 tell no age by their digits
_BETWEEN_WORDS = re.compile(r"(?!(?<=\d)[.,/]\d)[\W_]+")  # 38.9 and 05/03/1987 are words
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y")


def facts_of_repeated_values(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[RecoveringColumn]:
    """Find kept texts that repeat the value of a coarsened quasi-identifier.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.

    Yields:
        For every such column a fact about the quasi-identifier that makes its smallest class smallest.
    """
    coarsened = [(one, [_written(value) for value in one.values.to_pylist()]) for one in release.coarsened]
    for column in kept:
        if not column.is_text:
            continue
        texts = [f" {_as_words(text)} " for text in column.values.to_pylist()]
        texts = [text if text.count(" ") > _FEWEST_WORDS else "" for text in texts]
        facts = []
        for one, values in coarsened:
            sample = slice(None, None, -(-column.codes.size // _COMPARED))
            if _are_repeated(texts, column.codes[sample], values, one.codes[sample]) is not None:
                shares = _are_repeated(texts, column.codes, values, one.codes)
                if shares is not None:
                    counted = _count(column, one, _told_values(texts, column, values, one), release)
                    facts.append(RecoveringColumn(column.name, one.name, *shares, *counted, release.k))
        if facts:
            fact = min(facts, key=lambda fact: (fact.k, -fact.uniques))
            if fact.undoes:
                yield fact


def _as_words(text: str | None) -> str:
    """The words of a text in lower case, with one blank between them."""
    return _BETWEEN_WORDS.sub(" ", (text or "").lower()).strip()


def _written(value: Any) -> tuple[str, ...]:
    """The ways to write a value as words; none for a missing value or an empty text."""
    if value is None or value != value:  # missing, also of a time
        return ()
    if isinstance(value, datetime.date):
        forms = [value.strftime(form) for form in _DATES]
    elif isinstance(value, float) and value.is_integer():
        forms = [str(int(value))]
    else:
        forms = [str(value)]
    return tuple(f" {words} " for words in map(_as_words, forms) if words)


def _are_repeated(
    texts: Sequence[str], text_codes: NDArray[Any], values: Sequence[tuple[str, ...]], codes: NDArray[Any]
) -> tuple[float, float] | None:
    """Share of the records whose text repeats their value, and that by chance; None if chance explains the share."""
    shuffled = np.random.default_rng(0).permutation(codes)
    found, by_chance = (
        sum(any(form in texts[text] for form in values[value]) for text, value in zip(text_codes, one, strict=True))
        for one in (codes.tolist(), shuffled.tolist())
    )
    if found - by_chance < max(_FEWEST, _STANDARD_ERRORS * math.sqrt(by_chance)):
        return None
    return found / codes.size, by_chance / codes.size


def _told_values(
    texts: Sequence[str], column: Coded, values: Sequence[tuple[str, ...]], one: Coded
) -> NDArray[np.int64]:
    """By the code of a text, the code of the value that it repeats for one of its records; -1 if it repeats none."""
    told = np.full(column.size, -1, dtype=np.int64)
    for text, value in zip(column.codes.tolist(), one.codes.tolist(), strict=True):
        if any(form in texts[text] for form in values[value]):
            told[text] = value
    return told


def _count(column: Coded, one: Coded, told: NDArray[np.int64], release: ComparedRelease) -> tuple[int, int]:
    """The smallest class and the unique people among records whose text repeats a value, by that value."""
    told_by_text = dict(zip(column.values.to_pylist(), told.tolist(), strict=True))
    after = release.column(column.name)
    values = np.array([told_by_text.get(text, -1) for text in after.values.to_pylist()], dtype=np.int64) + 1
    repeated = Coded(column.name, values[after.codes], pa.array(np.arange(one.size + 1)))
    return release.count_with(repeated, repeated.codes > 0)
