"""Columns whose values link rows of one person or household, as their other cells show, whatever they are called.

People with several records share more than a number: their sex, their birth, where they live. So a column of very many
values, each with a few rows, links people if other columns are (nearly) constant among the rows that share a value, far
beyond chance. A code of places or illnesses does so too for what follows from it; that shows in that its neighbouring
codes agree as well, which numbers of people do not. So does what is computed from other columns, as a body mass index
tells height and weight; no two of its values then agree in all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.table import Table

_FEWEST, _MOST = 20, 50  # values that rows share, at least, and rows that share one, at most
_IN_HOUSEHOLD = 8  # rows for each value, up to which they may be a household
_LINKED = 0.2  # share of the rows that must share their value with others
_ROWS = 20_000  # rows that are looked at
_TRIED = 60  # columns that may link rows, and attributes that may show it: those of people first
_CELLS, _FEW = 20_000_000, 8  # cells of attributes that are held at once, and attributes of any table
_AGREE, _OF_CHANCE, _BEYOND_CHANCE = 0.95, 0.2, 3.0  # as in whether one column determines another
_EXPECTED = 10  # pairs of values that chance makes agree
_ANEW = 0.5  # of the disagreement of chance that is left between neighbouring values
_OF_A_PERSON = {"sex", "birth", "age", "ethnicity", "religion", "marital status"}

_Codes = NDArray[np.int64]


def find_linked_rows(table: Table, columns: Sequence[SuggestedRole]) -> tuple[str, tuple[str, ...]] | None:
    """A column that links rows of one person or household, and the columns that show it; None where there is none.

    Known attributes of people, and weights, are not tried.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> draw = np.random.default_rng(0)
    >>> code, sex, home = draw.permutation(200), draw.integers(1, 3, 200), draw.integers(0, 9, 200)
    >>> rows = {"x": np.repeat(code, 4), "sex": np.repeat(sex, 4), "home": np.repeat(home, 4)}
    >>> table = read_table(rows | {"answer": draw.integers(0, 5, 800)})
    >>> find_linked_rows(table, suggest_roles(table))
    ('x', ('sex', 'home'))
    """
    candidates = [one for one in columns if _may_link(one)]
    if not candidates or not table.backend.rows_are_local:
        return None
    attributes = [one for one in columns if one.distinct >= 2 and one.kind != "nested"]
    attributes.sort(key=lambda one: one.topic not in _OF_A_PERSON)
    attributes = attributes[: max(_CELLS // max(table.rows, 1), _FEW)]
    codes = cache(lambda name: encode(table, [name])[0].codes)
    for linking in candidates[:_TRIED]:
        others = [one for one in attributes if one.column != linking.column and 2 * one.distinct <= linking.distinct]
        shown = _shown_by(table, linking, others[:_TRIED], codes)
        if shown:
            return linking.column, shown
    return None


def _may_link(one: SuggestedRole) -> bool:
    """Whether a column has many values of a few rows each, and is not about something that many people share."""
    each = (one.rows - one.nulls) / max(one.distinct, 1)
    is_open = one.role in ("other", "sensitive", "identifier", "person") and one.kind != "nested"
    return is_open and one.distinct >= _FEWEST and 1 < each <= _MOST


def _shown_by(
    table: Table, linking: SuggestedRole, others: Sequence[SuggestedRole], codes_of: Callable[[str], NDArray[Any]]
) -> tuple[str, ...]:
    """The columns that show that rows are linked: one about a person, or two that do not follow from each other."""
    (column,) = encode(table, [linking.column])
    rows, starts = _linked_groups(np.asarray(column.codes, dtype=np.int64), column.filled_size)
    if starts.size < _FEWEST:
        return ()
    constant: dict[str, _Codes] = {}
    for one in others:
        codes = np.asarray(codes_of(one.column)[rows], dtype=np.int64)
        if _is_constant(codes, starts) and _differs_between(codes[starts]):
            constant[one.column] = codes[starts]
    if not constant or _follows_from(list(constant.values())):
        return ()
    topics = {one.column: one.topic for one in others}
    if any(topics[name] in _OF_A_PERSON for name in constant):
        return tuple(constant)
    small = rows.size <= _IN_HOUSEHOLD * starts.size
    return tuple(constant) if small and any(_independent_pairs(list(constant.values()))) else ()


def _linked_groups(codes: _Codes, values: int) -> tuple[_Codes, _Codes]:
    """Rows that share their value with few others, by value, and where each value begins; none where too few do."""
    sizes = np.bincount(codes[codes < values], minlength=values)
    shared = (sizes > 1) & (sizes <= _MOST)
    linked = int(sizes[shared].sum())
    if linked < _LINKED * codes.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if linked > _ROWS:  # a run of values, so that neighbours stay neighbours
        shared &= np.cumsum(np.where(shared, sizes, 0)) <= _ROWS
    rows = np.flatnonzero(np.append(shared, False)[np.minimum(codes, values)])
    rows = rows[np.argsort(codes[rows], kind="stable")]
    return rows, np.flatnonzero(np.diff(codes[rows], prepend=-1))


def _is_constant(codes: _Codes, starts: _Codes) -> bool:
    """Whether rows that share a value agree, nearly always and far beyond chance."""
    first = np.zeros(codes.size, dtype=bool)
    first[starts] = True
    differ = (codes[1:] != codes[:-1])[~first[1:]]
    errors, by_chance = float(np.count_nonzero(differ)), differ.size * _disagreement(codes)
    return (
        errors <= (1 - _AGREE) * differ.size
        and errors <= _OF_CHANCE * by_chance
        and sqrt(by_chance) - sqrt(errors) >= _BEYOND_CHANCE
    )


def _differs_between(values: _Codes) -> bool:
    """Whether neighbouring values of the linking column differ about as often as any two do."""
    return float(np.mean(values[1:] != values[:-1])) >= _ANEW * _disagreement(values)


def _follows_from(columns: Sequence[_Codes]) -> bool:
    """Whether the values of the linking column are computed from others: no two of them agree in all of these.

    The columns that agree most often are taken, as long as chance makes several values agree in all of them.
    """
    size = columns[0].size
    expected, joint = size * (size - 1) / 2, np.zeros(size, dtype=np.int64)
    for codes in sorted(columns, key=_disagreement):
        if expected * (1 - _disagreement(codes)) < _EXPECTED:
            break
        expected *= 1 - _disagreement(codes)
        joint = np.unique(joint * (int(codes.max()) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    times = np.bincount(joint)
    return bool(np.sum(times * (times - 1)) / 2 < _OF_CHANCE * expected)


def _disagreement(codes: _Codes) -> float:
    """The chance that two rows drawn at random differ."""
    return float(1 - np.sum((np.bincount(codes) / codes.size) ** 2))


def _independent_pairs(columns: Sequence[_Codes]) -> Iterator[bool]:
    """For each two columns whether neither of them follows from the other, to half of what chance leaves open."""
    for one, other in itertools.combinations(columns, 2):
        yield all(_left_open(*pair) >= _ANEW * _disagreement(pair[1]) for pair in ((one, other), (other, one)))


def _left_open(one: _Codes, other: _Codes) -> float:
    """How often two rows differ in a column that agree in another: the mean over rows."""
    cells = np.unique(one * (int(other.max()) + 1) + other, return_counts=True)
    sizes = np.bincount(one)
    group = cells[0] // (int(other.max()) + 1)
    agreeing = np.bincount(group, weights=cells[1] * (cells[1] - 1.0), minlength=sizes.size)
    pairs = np.maximum(sizes - 1.0, 1.0)
    return float(np.sum(np.where(sizes > 1, sizes - agreeing / pairs, 0)) / max(int(sizes[sizes > 1].sum()), 1))
