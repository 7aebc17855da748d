"""Detection of codes with a check digit, by any rule: numbers of citizens, patients, accounts, cards and devices.

A check digit makes a weighted sum of the characters a multiple of some number, nearly always of 5 (as part of 10), 11,
23, 31 or 97. So the codes, written as rows of numbers, satisfy a linear equation modulo that prime. The equation is
solved on some codes and verified on the others.

These equations are not check digits, and are excluded: multiples of 11 (or 23, 31), such as amounts with a tenth of
tax; numbers in steps of 97; parts that differ by a constant, such as 2019-2020; and equations that hold without a
modulus, as for answers and their sum.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_PRIMES = (5, 11, 23, 31, 97)
_LENGTHS = range(8, 20)
_LONGEST = 100  # characters of a code with its separators and repeated parts
_SPARE = 12  # codes beyond those that determine the equation; by chance it holds for all of them once in 5 ** 12 times
_MOST_COLUMNS = 60  # variables of an equation, at most; texts with more are not numbers
_PLACES = 5  # positions of the code with a weight, at least; with fewer, a part of the code repeats another
_HOLDS = 0.88  # share of the codes for which an equation must hold; if 10 is written as 0 modulo 11, a tenth differ
_DRAWS = 60  # random samples of codes for each prime
_NONE = 1e-6  # weights and differences up to this are rounding errors
_OF_WHOLE_NUMBERS = 97  # prime of account and citizens' numbers, whose remainder is 0 or 1 as a whole number


def have_check_digits(values: Iterable[str]) -> bool:
    """True if distinct codes of one length satisfy an equation that chance does not explain.

    >>> draw = np.random.default_rng(0)
    >>> plain = [f"{number:08}" for number in draw.integers(0, 10**8, 200)]
    >>> have_check_digits(plain), have_check_digits(code + str(-sum(map(int, code)) % 11 % 10) for code in plain)
    (False, True)
    """
    distinct = {*values}
    if sum(len(value) <= _LONGEST for value in distinct) < _HOLDS * len(distinct):
        return False
    ordered = sorted(value for value in distinct if len(value) <= _LONGEST)  # independent of the row order
    codes = ["".join(parts).upper() for parts in _without_repeated_parts(ordered)]
    if not codes:
        return False
    length, times = Counter(map(len, codes)).most_common(1)[0]
    if length not in _LENGTHS or times < _HOLDS * len(codes):
        return False
    letters = np.array([list(code) for code in codes if len(code) == length])
    return any(_satisfy_an_equation(letters, *_features(letters, doubled=doubled)) for doubled in (False, True))


def are_articles(values: Iterable[str]) -> bool:
    """True if codes with a check digit are those of books and goods (EAN, ISBN), and not Swiss numbers of people.

    >>> are_articles(["9783161484100", "978-0-306-40615-7"]), are_articles(["756.9217.0769.85"])
    (True, False)
    """
    codes = ["".join(filter(str.isalnum, value)).upper() for value in values]
    sums = [sum(int(digit) for digit in code[-1::-2] + 3 * code[-2::-2]) for code in codes if code.isdigit()]
    goods = len(sums) >= _HOLDS * len(codes) and sum(one % 10 == 0 for one in sums) >= _HOLDS * len(codes)
    if goods and {*map(len, codes)} <= {8, 12, 13, 14}:
        return not all(code.startswith("756") for code in codes)
    return any(len(code) == 10 and code.endswith("X") and code[:9].isdigit() for code in codes)


def _without_repeated_parts(values: Sequence[str]) -> list[list[str]]:
    """The parts of codes between separators, without parts that equal an earlier part plus a constant."""
    codes = [re.findall(r"[^\W_]+", value) for value in values]
    number = max(map(len, codes), default=0)
    usual = [parts for parts in codes if len(parts) == number and all(part.isdecimal() for part in parts)]
    if number < 2 or len(usual) < _HOLDS * len(codes):
        return codes
    numbers = np.array([[float(part) for part in parts] for parts in usual])
    repeated = {
        later
        for later in range(1, number)
        for earlier in range(later)
        if Counter((numbers[:, later] - numbers[:, earlier]).tolist()).most_common(1)[0][1] >= _HOLDS * len(usual)
    }
    return [[part for place, part in enumerate(parts) if place not in repeated] for parts in codes]


def _satisfy_an_equation(letters: NDArray[np.str_], features: NDArray[np.int64], places: NDArray[np.int64]) -> bool:
    length = letters.shape[1]
    needed = features.shape[1] + _SPARE
    if not needed < len(features) or features.shape[1] > _MOST_COLUMNS or len({*places}) <= _PLACES:
        return False
    draw = np.random.default_rng(0)
    for prime in _PRIMES:
        # some codes may be mistyped, so that the equation holds only where none was drawn
        drawn = np.stack([features[draw.choice(len(features), needed, replace=False)] % prime for _ in range(_DRAWS)])
        for rows in drawn[_are_dependent(drawn, prime)]:
            weights = _null_vector(rows, prime)
            if weights is None:
                continue
            holds = features @ weights % prime == 0
            weighed = weights != 0
            weighed[0] = False  # the constant
            if np.mean(holds) < _HOLDS or len({*places[weighed]}) < _PLACES:
                continue
            if _have_a_total(features[holds], places):
                return False
            powers = np.array([pow(10, length - 1 - int(place), prime) for place in places[weighed]])
            weights = weights[weighed]
            is_multiple = np.all((weights * powers[0] - weights[0] * powers) % prime == 0)
            if not is_multiple or (prime == _OF_WHOLE_NUMBERS and _are_checked(letters[holds])):
                return True
    return False


def _have_a_total(features: NDArray[np.int64], places: NDArray[np.int64]) -> bool:
    """True if many other characters determine a character without a modulus, as a part of their sum."""
    independent = [0]
    for column in range(1, features.shape[1]):
        before, after = features[:, independent].astype(np.float64), features[:, column]
        weights = np.linalg.lstsq(before, after, rcond=None)[0]
        if np.abs(before @ weights - after).max() >= _NONE:
            independent.append(column)
            continue
        needed = np.array(independent)[np.abs(weights) > _NONE]
        if len({*places[needed]}) >= _PLACES and _vary(features[:, needed]):
            return True
    return False


def _vary(features: NDArray[np.int64]) -> bool:
    """True if there are enough combinations that some weights do not always fit, as they would for a few prefixes."""
    return bool(len(np.unique(features, axis=0)) >= features.shape[1] + _SPARE // 2)


def _are_checked(letters: NDArray[np.str_]) -> bool:
    """True if numbers modulo 97 are 1 (ISO 7064) or 0 (French accounts), and are not mere steps of 97."""
    codes = ["".join(row) for row in letters]
    remainders = [int(code) % _OF_WHOLE_NUMBERS for code in codes if code.isdecimal()]
    most = max(remainders.count(0), remainders.count(1))
    return len(remainders) < len(codes) or most >= _HOLDS * len(remainders)


def _features(letters: NDArray[np.str_], *, doubled: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The variables of an equation and their positions: digits, digits above 4 (Luhn), each other character."""
    variables, places = [np.ones(len(letters), dtype=np.int64)], [-1]
    for place, column in enumerate(letters.T):
        is_digit = (column >= "0") & (column <= "9")
        digits = np.where(is_digit, column, "0").astype(np.int64)
        others = [column == letter for letter in np.unique(column[~is_digit])[int(is_digit.all()) :]]
        for one in (digits, *([digits > 4] if doubled else []), *others[: None if is_digit.any() else -1]):
            if one.min() != one.max():
                variables.append(one.astype(np.int64))
                places.append(place)
    return np.column_stack(variables), np.array(places)


def _are_dependent(drawn: NDArray[np.int64], prime: int) -> NDArray[np.bool_]:
    """Mask of the draws (matrices of codes) whose columns are linearly dependent modulo a prime.

    Only these have a null vector. Gaussian elimination runs on all draws at once; a draw is dependent if some column
    has no pivot, and is then removed from the elimination.
    """
    inverse = np.array([0, *(pow(number, -1, prime) for number in range(1, prime))], dtype=np.int16)
    independent, rows = np.arange(len(drawn)), drawn.astype(np.int16)  # 97² fits into 16 bits
    for _ in range(drawn.shape[2]):
        first = np.argmax(rows[:, :, 0] != 0, axis=1)
        has_pivot = rows[np.arange(len(rows)), first, 0] != 0
        independent, rows, first = independent[has_pivot], rows[has_pivot], first[has_pivot]
        each = np.arange(len(rows))
        pivot = rows[each, first]
        pivot = pivot[:, 1:] * inverse[pivot[:, :1]] % prime
        rows[each, first] = rows[:, 0]
        rows = (rows[:, 1:, 1:] - rows[:, 1:, :1] * pivot[:, None, :]) % prime
    dependent = np.ones(len(drawn), dtype=np.bool_)
    dependent[independent] = False
    return dependent


def _null_vector(rows: NDArray[np.int64], prime: int) -> NDArray[np.int64] | None:
    """Weights whose sum is 0 in every row, by elimination modulo a prime, or None."""
    given, rows = rows, rows.copy()
    pivots: list[int] = []
    for column in range(rows.shape[1]):
        top = len(pivots)
        filled = np.flatnonzero(rows[top:, column])
        if not filled.size:
            weights = np.zeros(rows.shape[1], dtype=np.int64)
            weights[pivots] = -rows[:top, column] % prime
            weights[column] = 1
            if np.count_nonzero(weights[1:]) >= _PLACES and _vary(given[:, weights != 0]):
                return weights
            continue
        rows[[top, top + filled[0]]] = rows[[top + filled[0], top]]
        rows[top] = rows[top] * pow(int(rows[top, column]), -1, prime) % prime
        factors = rows[:, column].copy()
        factors[top] = 0
        rows = (rows - np.outer(factors, rows[top])) % prime
        pivots.append(column)
    return None
