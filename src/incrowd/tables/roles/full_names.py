"""Recognition of full names in any language by their structure: given names and surnames recur in many combinations."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from incrowd.tables.roles.names import word_pattern, words_of

_FEWEST = 30  # different values, at least
_ALL = 0.9  # share of the values that must be two to four words, with capitals where the script has them
_RECUR = 0.4  # share of the values whose first and last word both occur in other values
_DIFFERENT_WORDS = 10  # effective number of first words, and of last words: kinds and colours are fewer
_COMBINED = 0.6  # share of the combinations that independent words would have: of a list of things many are missing
_ON_BOTH_SIDES = 0.3  # share of the words that are both first and last ones, above which they are routes or flows
_STREETS = 0.05  # share of the values with a word for a street
_GEORGIAN = range(0x10A0, 0x1100)  # no capitals, though Unicode has some


def are_full_names(cells: Sequence[str]) -> bool:
    """True if nearly all cells are a first and a last word, both of which recur in many combinations.

    First words and last words of names are nearly independent of each other. Those of towns, diagnoses, occupations and
    streets are not, or one of the two is seldom used again.

    Args:
        cells: the cells of a column, or a sample of them.

    >>> given, family = "Aino Eero Ilona Juha Kaisa Lauri Mika Niina Olli Päivi Riku Sari".split(), "abcdefghijkl"
    >>> are_full_names([f"{one} {two.upper()}nen" for one in given for two in family])
    True
    >>> are_full_names([f"San {one}{two}a" for one in given for two in family])
    False
    """
    values = {*cells}
    named = {value: parts for value in values if _is_full(parts := value.split())}
    if len(named) < max(_FEWEST, _ALL * len(values)):
        return False
    street = word_pattern("values", "streets")
    ends = [(parts[0], parts[-1]) for parts in named.values()]
    streets = sum(any(len(word) > 2 and street.fullmatch(words_of(word)) for word in pair) for pair in ends)
    if streets > _STREETS * len(ends):
        return False
    first, last = Counter(one for one, _ in ends), Counter(one for _, one in ends)
    both = sum(first[one] > 1 and last[other] > 1 for one, other in ends)
    if both < _RECUR * len(ends) or len(first.keys() & last.keys()) > _ON_BOTH_SIDES * min(len(first), len(last)):
        return False
    pairs = [(named[cell][0], named[cell][-1]) for cell in cells if cell in named]
    shares = [np.array([*Counter(words).values()]) / len(pairs) for words in zip(*pairs, strict=True)]
    if min(np.exp(-(share * np.log(share)).sum()) for share in shares) < _DIFFERENT_WORDS:
        return False
    expected = (1 - np.power(1 - np.outer(*shares), len(pairs))).sum()
    return len({*pairs}) >= _COMBINED * float(expected)


def _is_full(parts: Sequence[str]) -> bool:
    """True if words may be a full name: two to four words of letters, the first and the last as names are written."""
    return 2 <= len(parts) <= 4 and all(map(_is_spelt, parts)) and _is_name(parts[0]) and _is_name(parts[-1])


def _is_spelt(word: str) -> bool:
    """True if a word has only letters of any script, with hyphens, apostrophes and points between them."""
    return all(unicodedata.category(letter)[0] in "LM" or letter in "-'’." for letter in word)


def _is_name(word: str) -> bool:
    """True if a word has a capital first and two letters or more, where the script has capitals."""
    letters = word.strip(".'’-")
    if not letters or unicodedata.category(letters[0]) == "Lo" or ord(letters[0]) in _GEORGIAN:
        return bool(letters)
    return len(letters) > 1 and not letters[0].islower()
