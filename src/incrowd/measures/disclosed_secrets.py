"""Attribute disclosure that is news: sensitive values that a class discloses and that nobody could have guessed.

A value is certain in a class if (nearly) everybody in it has that value. A missing value does not protect: if most of a
class have a value, the people without one are expected to have the same. Nor does a word or code for a missing value
that nobody declared ("refused", -9). A certain value is not news if it is missing, or if most people of the table have
it. Numbers of a class that lie close together count as one value. Structural missing values (skip patterns: a question
for children is missing for adults) follow from the quasi-identifiers. They are recognised and do not count among "most
people".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, CountedRows, encode
from incrowd.classes import classes_of_counted
from incrowd.errors import InputError
from incrowd.measures.class_values import (
    ClassValueCounts,
    count_class_values,
    group_by_knowledge,
    group_records,
    require_columns,
)
from incrowd.measures.near_values import find_near_values
from incrowd.measures.partitioned import parts_on_disk
from incrowd.measures.secret_values import Secret
from incrowd.measures.structural_missing import SkipPatterns
from incrowd.results import Result
from incrowd.tables import Table, TableLike, read_table
from incrowd.tables.reshape import fold_spellings
from incrowd.tables.untold_values import find_untold_values

_POINTS = re.compile(r"(?<=[^\W\d_])\.")  # H.I.V., but not 1.5
_LIKELY, _TIMES_THE_TABLE = 2 / 3, 2  # share of a class, and times that of the table, from which a value is likely


@dataclass(frozen=True, slots=True)
class DisclosedColumn(Result):
    """Counts of records whose sensitive value is certain in one column, and of those for whom that is news.

    - `secret`: what is secret, in words.
    - `missing`, `structural_missing`: records without a value, and those of them whose quasi-identifiers in
      `missing_follows_from` imply it.
    - `certain`: records whose value (or, with a named secret, whose having it) is certain from the class.
    - `certain_missing`, `certain_common`: of `certain`, the records without a value, and with a value that most have.
    - `undeclared_missing`: records with a word or code for a missing value ("refused", -9) that nobody declared. They
      count like missing values; a number or an abbreviation, which may also be a value, counts as a value besides.
    - `spellings`: values that differ from another value only in case, blanks, Unicode form or points, and count as
      that value.
    - `behind_missing`, `classes_behind_missing`: records with a value in classes in which all who have a value have the
      same one, which is news but not certain because of the missing values; and the number of these classes.
    - `likely`, `likely_share`: records with a value that is not certain but likely, and news: at least two thirds of a
      class have it, and, unless the secret is named, twice the share of the table; and the largest of these shares.
    - `close`: records whose value is not certain but nearly known, and news: all numbers of their class lie within 1 %
      of the width of the central 90 % of the table, a value that most people have left out.
    - `base_rate`: the chance of guessing right without the class, on average over the records whose value is news.
    - `rise`: the increase of that chance by the class, on average over these records.
    """

    column: str
    secret: str
    records: int
    missing: int
    structural_missing: int
    missing_follows_from: tuple[str, ...]
    certain: int
    certain_missing: int
    certain_common: int
    base_rate: float
    rise: float
    spellings: int = 0
    behind_missing: int = 0
    classes_behind_missing: int = 0
    undeclared_missing: int = 0
    likely: int = 0
    likely_share: float = 0.0
    close: int = 0
    _derived: ClassVar[tuple[str, ...]] = ("news", "news_share")

    @property
    def news(self) -> int:
        """Records whose secret is certain or nearly known, and neither missing nor common."""
        return self.certain - self.certain_missing - self.certain_common + self.close

    @property
    def news_share(self) -> float:
        """The share of all records whose secret is certain and news."""
        return self.news / self.records


@dataclass(frozen=True, slots=True)
class DisclosedSecrets(Result):
    """Disclosure of each sensitive column by the classes, beyond what anybody could guess."""

    quasi_identifiers: tuple[str, ...]
    columns: tuple[DisclosedColumn, ...]
    certain_from: float
    common_above: float
    null_is_secret: bool

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [column.to_dict() for column in self.columns]


def count_disclosed_secrets(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    secrets: Mapping[str, Secret] | None = None,
    person: str | None = None,
    null_is_secret: bool = False,
    certain_from: float = 1.0,
    common_above: float = 0.5,
    progress: Progress = silent,
) -> DisclosedSecrets:
    """Count the records whose sensitive value is certain from their class, and for how many that is news.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker knows.
        sensitive: columns that people keep to themselves. One that is a quasi-identifier as well is compared within
            the classes by the other quasi-identifiers, and its label counts as its value.
        secrets: for some of them, which of their values are secret; in the others every value is.
        person: the column that identifies the person of each record; values are then compared among the records of
            people with equal histories.
        null_is_secret: whether a missing value is a secret too.
        certain_from: the share of a class from which a value counts as certain, above 0.5; only records with that value
            are counted. If more than half of a class have a value (are filled), each person without one counts with the
            chance of having the value in question: (c + 1) / (f + 2) if c of f filled people have it (Laplace's rule of
            succession). For a named secret below 1, the share is that among the others, for a person of the class who
            does not have it: ten of eleven people are all others of the eleventh. Below 1, numbers that lie close
            together count as one value, unless a secret is named.
        common_above: a value of more than this share of the records is common, so it is not news. Records whose value
            is missing because of their quasi-identifiers are left out of the share.
        progress: callback that receives the current step and the share done.

    Returns:
        Exact counts for every sensitive column.

    Raises:
        InputError: a column or a secret value does not exist, or a share is out of range.
        UnsupportedError: the values of a column, or a table in a cluster, do not fit into memory.

    >>> patients = {"zip": [1, 1, 2, 2, 3, 3], "ill": ["hiv", "hiv", "no", "no", "no", "no"]}
    >>> (ill,) = count_disclosed_secrets(patients, quasi_identifiers=["zip"], sensitive=["ill"]).columns
    >>> ill.certain, ill.certain_common, ill.news, round(ill.rise, 2)
    (6, 4, 2, 0.67)
    """
    table = read_table(data)
    names, wanted = require_columns(table, quasi_identifiers, sensitive)
    named = dict(secrets or {})
    table.require(wanted, "sensitive columns")
    extra = [name for name in named if name not in wanted]
    if extra:
        raise InputError(f"a secret is named for {', '.join(extra)}, not among the sensitive columns; add them")
    if not 0.5 < certain_from <= 1:
        raise InputError(f"a value is certain from a share of {certain_from:g}; give a number above 0.5, up to 1")
    if not 0 <= common_above <= 1:
        raise InputError(f"a value is common above a share of {common_above:g}; give a number from 0 to 1")
    progress("counting values within classes", 0.1)
    disclosed: dict[str, DisclosedColumn] = {}
    for known, secret_columns in group_by_knowledge(names, wanted):
        skips = SkipPatterns(table, known)
        for column, counts, parts in _counts_of_columns(table, known, secret_columns, person, progress):
            secret = named.get(column.name, Secret())
            structural = skips.explain(column.name, int(counts[-1])) if column.has_null else (0, ())
            disclosed[column.name] = _column(
                column, counts, parts, secret, structural, null_is_secret, certain_from, common_above
            )
            progress(f"compared {column.name} within classes", 0.1 + 0.9 * len(disclosed) / len(wanted))
    columns = tuple(disclosed[name] for name in wanted)
    return DisclosedSecrets(tuple(names), columns, certain_from, common_above, null_is_secret)


def _counts_of_columns(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> Iterable[tuple[Coded, NDArray[np.int64], Iterable[ClassValueCounts]]]:
    """Every sensitive column, the count of each of its values, and the counts of its values in each class."""
    way = table.backend.way_to_compare(names, person) if names else "rows"
    if way == "parts":
        for column, parts in parts_on_disk(table, names, sensitive, person, progress):
            yield column, column.codes, parts
        return
    numbers = None if way == "distinct" and person is None else group_records(table, names, person).numbers
    for name in sensitive:
        counted = table.backend.counted_rows([*names, name]) if numbers is None else CountedRows(table.backend)
        classes = classes_of_counted(counted, names).numbers if numbers is None else numbers
        (column,) = encode(counted.backend, [name])
        tally = np.bincount(column.codes, weights=counted.times, minlength=column.size).astype(np.int64)
        yield column, tally, count_class_values(classes, column.codes, column.size, counted.times)


def _column(
    column: Coded,
    tally: NDArray[np.int64],
    parts: Iterable[ClassValueCounts],
    secret: Secret,
    structural: tuple[int, tuple[str, ...]],
    null_is_secret: bool,
    certain_from: float,
    common_above: float,
) -> DisclosedColumn:
    records, missing = int(tally.sum()), int(tally[-1]) if column.has_null else 0
    applicable = records if null_is_secret else max(records - structural[0], 1)
    holders = secret.holders(column.values, column.name)
    values, untold, surely = _join_values(column, holders, null_is_secret)
    undeclared = int(tally[untold].sum()) - (missing if column.has_null and untold[-1] else 0)
    size = len(column.values) if holders is None else 2
    tally_of_codes = tally
    tally = np.bincount(values, weights=tally, minlength=size).astype(np.int64)
    found = _Found(tally.size)
    likely_from = np.full(tally.size, _LIKELY)
    if holders is None:
        likely_from = np.maximum(_LIKELY, _TIMES_THE_TABLE * tally / applicable)
    common, close, near = common_above * applicable, 0, None
    if holders is None and certain_from < 1:
        near = find_near_values(column, tally_of_codes, ~untold, common)
    for part in parts:
        _add_certain(part, values, untold, certain_from, found, likely_from, among_others=holders is not None)
        close += 0 if near is None else near.count_close(part, certain_from, common)
    certain = found.certain
    is_missing, is_common = np.zeros(tally.size, dtype=np.bool_), np.zeros(tally.size, dtype=np.bool_)
    if holders is not None:
        found.forget(0)
    else:
        is_missing[values[surely]] = True
        is_common = (tally > common) & ~is_missing
    may_be_news = ~is_missing & ~is_common
    news = may_be_news & (certain > 0)
    disclosed = int(certain[news].sum())
    base_rate = float(certain[news] @ (tally[news] / applicable)) / disclosed if disclosed else 0.0
    return DisclosedColumn(
        column=column.name,
        secret=secret.in_words,
        records=records,
        missing=missing,
        structural_missing=structural[0],
        missing_follows_from=structural[1],
        certain=int(certain.sum()),
        certain_missing=int(certain[is_missing].sum()),
        certain_common=int(certain[is_common].sum()),
        base_rate=base_rate,
        rise=float(found.confident[news].sum()) / disclosed - base_rate if disclosed else 0.0,
        spellings=0 if holders is not None else int(np.count_nonzero((values != np.arange(size)) & ~surely)),
        behind_missing=int(found.behind_missing[0, may_be_news].sum()),
        classes_behind_missing=int(found.behind_missing[1, may_be_news].sum()),
        undeclared_missing=undeclared,
        likely=int(found.likely[may_be_news].sum()),
        likely_share=float(found.likely_share[may_be_news].max(initial=0.0)),
        close=close,
    )


class _JoinedValues(NamedTuple):
    """How the values of a column are counted.

    `values` has an index for each value; equal indices are counted as one. `untold` are values that stand for a missing
    value that is not secret, `surely` those of them that can be nothing else.
    """

    values: NDArray[np.int64]
    untold: NDArray[np.bool_]
    surely: NDArray[np.bool_]


def _join_values(column: Coded, holders: NDArray[np.bool_] | None, null_is_secret: bool) -> _JoinedValues:
    """Join spellings, or values that are secret (1) and that are not (0) by `holders`; and all missing values."""
    values = _join_spellings(column) if holders is None else holders.astype(np.int64)
    untold, surely = find_untold_values(column.values)
    if null_is_secret:
        untold, surely = np.zeros_like(untold), np.zeros_like(surely)
    elif holders is not None:
        untold &= ~holders
    elif surely.any():
        values[surely] = np.flatnonzero(surely)[-1]  # the null, if there is one
    return _JoinedValues(values, untold, surely)


def _join_spellings(column: Coded) -> NDArray[np.int64]:
    """For every value, the index of the first value that differs only in case, blanks, Unicode form or points."""
    places = np.arange(len(column.values))
    if not column.is_text:
        return places
    texts = column.values.slice(0, column.filled_size).to_pylist()
    plain = [_POINTS.sub("", text) for text in texts]
    folded = fold_spellings(dict.fromkeys(plain, 1))
    first: dict[str, int] = {}
    places[: len(texts)] = [first.setdefault(folded[text], place) for place, text in enumerate(plain)]
    return places


class _Found:
    """Sums over classes, by value.

    Attributes:
        certain: records in classes where the value is certain; `confident` sums records × share of these classes.
        behind_missing: records, and classes, where all who have a value have this one and it is not certain because of
            missing values.
        likely: records in classes where the value is likely, and not certain; `likely_share` is their largest share.
    """

    def __init__(self, size: int) -> None:
        self.certain, self.likely = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.confident, self.likely_share = np.zeros(size), np.zeros(size)
        self.behind_missing = np.zeros((2, size), dtype=np.int64)

    def forget(self, value: int) -> None:
        """Leave a value out that is not secret."""
        for sums in (self.certain, self.likely, self.confident, self.likely_share):
            sums[value] = 0
        self.behind_missing[:, value] = 0


def _add_certain(
    part: ClassValueCounts,
    values: NDArray[np.int64],
    untold: NDArray[np.bool_],
    certain_from: float,
    found: _Found,
    likely_from: NDArray[np.float64],
    *,
    among_others: bool,
) -> None:
    """Add the records of each value in classes where the value is certain, likely, or hidden by missing values alone.

    Args:
        part: counts of class × value pairs.
        values: the value of each code; codes with one value (spellings) are counted together.
        untold: the codes that stand for a missing value that is not secret. If most of a class are filled, people
            without a value count by the rule of succession.
        certain_from: the share of a class from which a value is certain.
        found: sums by value, added to here.
        likely_from: by value, the share of a class from which it is likely.
        among_others: whether the share is that among the others of somebody who does not have the value.
    """
    codes, starts = part.split(values.size)
    lengths = np.diff(np.append(starts, codes.size))
    is_told = ~untold[codes]
    people, filled = (
        np.repeat(np.add.reduceat(counts, starts), lengths) for counts in (part.counts, part.counts * is_told)
    )
    missing = np.where((2 * filled > people) & is_told, people - filled, 0)
    value, counts = values[codes], part.counts
    if np.any(values != np.arange(values.size)):
        class_index = np.cumsum(np.bincount(starts, minlength=codes.size)) - 1
        _, first, place = np.unique(class_index * values.size + value, return_index=True, return_inverse=True)
        counts = np.bincount(place, weights=counts).astype(np.int64)
        value, people, filled = value[first], people[first], filled[first]
        missing, is_told = missing[first], is_told[first]
    expected = counts + missing * (counts + 1) / (filled + 2)
    share = expected / people
    known = share
    if among_others and certain_from < 1:
        known = np.where((counts < filled) & (2 * expected > people), expected / (people - (counts < filled)), share)
    is_certain = known >= certain_from * (1 - 1e-12)
    np.add.at(found.certain, value[is_certain], counts[is_certain])
    np.add.at(found.confident, value[is_certain], counts[is_certain] * known[is_certain])
    is_behind = ~is_certain & is_told & (counts == filled) & (filled < people)
    np.add.at(found.behind_missing[0], value[is_behind], counts[is_behind])
    np.add.at(found.behind_missing[1], value[is_behind], 1)
    is_likely = ~is_certain & is_told & (share >= likely_from[value] * (1 - 1e-12))
    np.add.at(found.likely, value[is_likely], counts[is_likely])
    np.maximum.at(found.likely_share, value[is_likely], share[is_likely])
