"""What each column is to an attacker: a suggestion with its reason, for a person to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from incrowd.backends.engine_errors import engine_errors
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables.generalised import parse_generalised
from incrowd.tables.lexicon import (
    says_bodies,
    says_identifier,
    says_number,
    says_one_of_many,
    says_person,
    says_quasi_identifier,
    says_sensitive,
    says_weight,
    words_of,
)
from incrowd.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

_LOOKED_AT = 1_000  # filled cells of a column whose text is looked at
ROLES = ("identifier", "quasi-identifier", "sensitive", "person", "weight", "other")


@dataclass(frozen=True, slots=True)
class SuggestedRole(Result):
    """A column, what it looks like, and the role we suggest for it."""

    column: str
    kind: str
    distinct: int
    nulls: int
    rows: int
    generalised: bool
    role: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}


def suggest_roles(table: Table, names: Sequence[str] | None = None) -> tuple[SuggestedRole, ...]:
    """A role for every column, or for those named, with a reason; nothing is decided by it.

    A table is looked at once for each set of names.

    >>> from incrowd import read_table
    >>> [(c.column, c.role) for c in suggest_roles(read_table({"age": [30, 41, 30], "email": ["a", "b", "c"]}))]
    [('age', 'quasi-identifier'), ('email', 'identifier')]
    """
    names = tuple(table.columns if names is None else names)
    known = _suggested.setdefault(table, {})
    if names not in known:
        known[names] = _suggest_roles(table, names)
    return known[names]


_suggested: WeakKeyDictionary[Table, dict[tuple[str, ...], tuple[SuggestedRole, ...]]] = WeakKeyDictionary()


def _suggest_roles(table: Table, names: Sequence[str]) -> tuple[SuggestedRole, ...]:
    if not table.backend.rows_are_local:
        looked_at = _looked_at_there(table, names)
    else:
        try:
            looked_at = [_look(name, column) for name, column in table.read(names)]
        except UnicodeDecodeError:
            raise InputError(f"{table.name} holds text that is not UTF-8; write it again in UTF-8") from None
    bodies = any(says_bodies(words_of(name)) for name in table.columns)
    return _one_weight([_suggest(column, bodies=bodies) for column in looked_at])


@dataclass(frozen=True, slots=True)
class _Column:
    """What is looked at to suggest a role; `low`, `mean` and `high` are those of numbers."""

    name: str
    kind: str
    distinct: int
    nulls: int
    rows: int
    generalised: bool
    length: float
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    given_out: bool = True  # whole numbers that all differ, and not like amounts

    @property
    def filled(self) -> int:
        return self.rows - self.nulls

    @property
    def few(self) -> bool:
        """Whether so few values occur, and so often, that they name nobody, whatever the column is called."""
        return self.distinct <= (_FEW_TEXTS if self.kind == "text" else _FEW_NUMBERS) and (
            self.filled >= 10 * self.distinct
        )


def _look(name: str, column: pa.ChunkedArray) -> _Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    nulls, rows = column.null_count, len(column)
    if pa.types.is_nested(column.type):
        distinct = -1
    elif nulls == rows:
        distinct = 0
    else:
        plain = pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column  # -0 is 0
        distinct = pc.count_distinct(plain, mode="only_valid").as_py()
    found = _from_head(name, column.drop_null().slice(0, _LOOKED_AT), distinct, nulls, rows)
    if found.kind not in {"integer", "number"} or not distinct:
        return found
    ends = pc.min_max(column).as_py()
    given_out = found.kind != "integer" or _numbers_records(ends["min"], ends["max"], distinct)
    mean = float(pc.mean(column).as_py())
    return replace(found, low=float(ends["min"]), mean=mean, high=float(ends["max"]), given_out=given_out)


def _from_head(name: str, head: pa.ChunkedArray, distinct: int, nulls: int, rows: int) -> _Column:
    """A column by some of its filled cells and its counts."""
    kind = _kind(head.type)
    text = kind == "text"
    return _Column(
        name, kind, distinct, nulls, rows, text and _is_generalised(head), _mean_length(head) if text else 0.0
    )


def _looked_at_there(table: Table, names: Sequence[str]) -> list[_Column]:
    """The same with values counted in the cluster, all columns at once; of text the first filled cells come here."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    with engine_errors(table.name):
        frame = table.lazy(names)
        kinds = frame.collect_schema()
        plain = frame.with_columns(
            nw.when(~nw.col(key).is_nan()).then(nw.col(key)).alias(key)
            for key, kind in kinds.items()
            if kind.is_float()
        )
        single = [key for key, kind in kinds.items() if not kind.is_nested()]
        numbers = [key for key, kind in kinds.items() if kind.is_numeric()]
        counts = [nw.col(key).null_count().alias(f"null {key}") for key in kinds]
        counts += [nw.col(key).n_unique().alias(f"distinct {key}") for key in single]
        for key in numbers:
            one = nw.col(key)
            counts += [one.min().alias(f"low {key}"), one.mean().alias(f"mean {key}"), one.max().alias(f"high {key}")]
        facts = plain.select(nw.len().alias("rows"), *counts).collect("pyarrow").rows(named=True)[0]
        heads = {
            key: plain.select(key).filter(~nw.col(key).is_null()).head(_LOOKED_AT).collect("pyarrow").to_native()[key]
            for key, kind in kinds.items()
            if kind == nw.String
        }
    empty = frame.head(0).collect("pyarrow").to_native()
    found = []
    for name, key in zip(names, kinds, strict=True):
        nulls = facts[f"null {key}"]
        distinct = facts[f"distinct {key}"] - (nulls > 0) if key in single else -1  # a null is not among the values
        looked = _from_head(name, heads.get(key, pa.chunked_array(empty[key])), distinct, nulls, facts["rows"])
        if key in numbers and distinct:
            low, mean, high = (facts[f"{what} {key}"] for what in ("low", "mean", "high"))
            given_out = looked.kind != "integer" or _numbers_records(low, high, distinct)
            looked = replace(looked, low=float(low), mean=float(mean), high=float(high), given_out=given_out)
        found.append(looked)
    return found


def _suggest(column: _Column, *, bodies: bool) -> SuggestedRole:
    role, reason = _role(column, bodies)
    facts = (column.name, column.kind, column.distinct, column.nulls, column.rows, column.generalised)
    return SuggestedRole(*facts, role, reason)


def _role(column: _Column, bodies: bool) -> tuple[str, str]:
    """The role and why, from the name first and from the values where the name says nothing."""
    if column.kind == "nested":
        return "other", "it holds lists or records"
    if column.distinct == 0:
        return "other", "every cell is empty"
    said = says_weight(words_of(column.name))
    if column.distinct == 1 and not column.nulls and column.filled > 1 and said not in {"sampling", "household"}:
        return "other", "the same in every filled cell"
    return _by_name(column, bodies) or _by_values(column)


def _by_name(column: _Column, bodies: bool) -> tuple[str, str] | None:
    """What the name says, where the values do not speak against it; the first that fits."""
    words, filled, distinct = words_of(column.name), column.filled, column.distinct
    all_differ = distinct == filled > _SURELY
    each = f"{filled / distinct:.1f} records each"
    if says_number(words) and distinct == filled > 1:
        return "identifier", "by its name, it names a record; no value occurs twice"
    if weight := says_weight(words):
        return _weight(column, weight, bodies)
    if says_person(words) or (says_one_of_many(words) and distinct > _SURELY and column.kind in {"integer", "text"}):
        if all_differ:
            return "identifier", "by its name, whose record it is; no value occurs twice"
        return "person", f"by its name, whose record it is: {each}"
    if says_identifier(words) and not column.few:
        return "identifier", _BY_NAME["identifier"]
    for role, says in (("sensitive", says_sensitive), ("quasi-identifier", says_quasi_identifier)):
        if says(words):
            return ("identifier", _ALL_DIFFER) if column.kind == "text" and all_differ else (role, _BY_NAME[role])
    if says_number(words) and column.kind in {"integer", "text"} and distinct > max(_SURELY, filled / 10):
        return "identifier", f"by its name, it names a case or a group of people: {each}"
    return None


def _weight(column: _Column, says: str, bodies: bool) -> tuple[str, str]:
    """A weight by its name: of a sample, or of a body.

    One of a sample is known of every record, is positive and stands for one person or more; where the name is `weight`
    and nothing else, bodies must not be measured beside it, and the values must not be those of bodies.
    """
    known = not column.nulls and column.low is not None and column.low > 0 and (column.mean or 0.0) >= 1
    if says in {"sampling", "household"}:
        if known:
            return "weight", _HOUSEHOLD if says == "household" else _BY_NAME["weight"]
        return "other", "by its name a sampling weight, but not a number of people in every record"
    heavy = column.mean is not None and _LIGHT <= column.mean <= _HEAVY and (column.high or 0.0) <= 4 * _HEAVY
    if says == "plain" and known and not bodies and not heavy:
        return "weight", _BY_NAME["weight"]
    return "quasi-identifier", "by its name, how heavy a person is, which others may see"


def _by_values(column: _Column) -> tuple[str, str]:
    """What the values say where the name says nothing."""
    if column.kind == "text" and column.length > 40:
        return "identifier", "long free text often names people"
    if column.distinct == column.filled > _SURELY and column.kind in {"text", "integer"}:
        if column.given_out:
            return "identifier", _ALL_DIFFER
        return "other", "every value differs, but like an amount; if it numbers records, it is an identifier"
    return "other", "no sign that others know it"


def _one_weight(found: list[SuggestedRole]) -> tuple[SuggestedRole, ...]:
    """At most one weight: that of people where there is one of households too, else the first."""
    weights = [one for one in found if one.role == "weight"]
    best = min(weights, key=lambda one: one.reason == _HOUSEHOLD, default=None)
    return tuple(
        replace(one, role="other", reason=f"a sampling weight too, but {best.column} is rather that of people")
        if best is not None and one.role == "weight" and one is not best
        else one
        for one in found
    )


_ALL_DIFFER = "every value differs, so each one names a record"
_HOUSEHOLD = "by its name, a sampling weight of households"
_SURELY = 20  # so many values are more than a kind of thing has
_FEW_TEXTS, _FEW_NUMBERS = 2, 20  # values that cannot be the names of people, if each occurs often
_LIGHT, _HEAVY = 20.0, 250.0  # the mean of a column of body weights, in kilograms or pounds


def _numbers_records(low: int, high: int, distinct: int) -> bool:
    """Whether whole numbers look given out: one after the other, or all equally long; amounts are neither."""
    equally_long = low > 0 and len(str(low)) == len(str(high)) >= _DIGITS
    return bool(high - low < _DENSE * distinct or equally_long)


_DENSE, _DIGITS = 10, 5  # numbers given out leave few gaps, or have as many digits as there are records to come


_BY_NAME = {
    "weight": "by its name, a sampling weight",
    "identifier": "by its name, it names a person",
    "sensitive": "by its name, people keep it to themselves",
    "quasi-identifier": "by its name, others may know it",
}


def _kind(type_: pa.DataType) -> str:
    """A column's type in a word."""
    import pyarrow as pa

    kind = pa.types
    if kind.is_boolean(type_):
        return "yes/no"
    if kind.is_integer(type_):
        return "integer"
    if kind.is_floating(type_) or kind.is_decimal(type_):
        return "number"
    if kind.is_temporal(type_):
        return "date or time"
    if kind.is_nested(type_):
        return "nested"
    return "text"


def _is_generalised(column: pa.ChunkedArray) -> bool:
    """Whether some of these values are ranges, sets, prefixes or wildcards."""
    return any(parse_generalised(str(value)) is not None for value in column.unique().to_pylist())


def _mean_length(column: pa.ChunkedArray) -> float:
    """Characters in a cell, on average."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return 0.0
    mean = pc.mean(pc.binary_length(column)).as_py()
    return float(mean or 0.0)
