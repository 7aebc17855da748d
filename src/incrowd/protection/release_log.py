"""The log of a release: its guarantee, and counts of every batch that joined it. It holds no cell.

`write_protected` stores it in the mark beside the file, so that new records can join under the same guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.backends.arrow_columns import is_number, is_text, value_type
from incrowd.errors import InputError
from incrowd.protection.problem import DIVERSITIES, Demand
from incrowd.results import Result

if TYPE_CHECKING:
    from incrowd.protection.result import Protected

DELAY = 3  # default number of batches that a record may wait for
MOST_COUNTED = 10**15  # largest count that is accepted


@dataclass(frozen=True, slots=True)
class LoggedBatch(Result):
    """Counts of one batch that joined a release.

    Attributes:
        arrived: records of the batch.
        released: records that were added to the release, from this batch or from earlier ones.
        classes: classes of the added records.
        waiting: records that wait for a later batch.
        suppressed: records that waited too long and are left out for good.
    """

    arrived: int
    released: int
    classes: int
    waiting: int = 0
    suppressed: int = 0


@dataclass(frozen=True, slots=True)
class ReleaseLog(Result):
    """Guarantee of a release and the batches that joined it.

    Attributes:
        quasi_identifiers: the columns that an attacker may know.
        released: the columns of the release that hold the quasi-identifiers.
        sensitive: the sensitive columns.
        k: the fewest records of a class, among the records that joined with one batch.
        l: the fewest different values of every sensitive column in such a class, counted as `diversity` says.
        diversity: "distinct", "entropy" or "recursive".
        c: the c of recursive (c, l)-diversity.
        delay: batches that a record may wait for. None: no batch joined yet.
        batches: the batches; the first is that of the first release.
        continued_in: the file with later batches; further batches may join only that file.
        closed: the reason why no batch can join. None: batches can join.
        person: the column that says whose record it is, so that nobody joins twice. None: only batches are recognised.
        kinds: the kind of values of the original's columns: "number", "date", "yes/no", "text" or "other".
        diverse: the sensitive columns that l holds for; empty: all of them.
    """

    quasi_identifiers: tuple[str, ...]
    released: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int
    l: float | None = None  # noqa: E741
    diversity: str = "distinct"
    c: float = 3.0
    delay: int | None = None
    batches: tuple[LoggedBatch, ...] = ()
    continued_in: str | None = None
    closed: str | None = None
    person: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    diverse: tuple[str, ...] = ()

    @property
    def demanding(self) -> tuple[str, ...]:
        """The sensitive columns that l holds for."""
        return self.diverse or self.sensitive

    @property
    def demand(self) -> Demand:
        """The demand that every class satisfies."""
        return Demand(self.k, self.l, self.diversity, self.c)

    @classmethod
    def of(cls, safe: Protected) -> ReleaseLog:
        """The log of a table that `protect` made."""
        demand = safe.demand
        assert safe.original is not None  # a table protected in a cluster has no log
        kinds = kinds_of(safe.original.backend.types())
        first = LoggedBatch(safe.rows + safe.suppressed_rows, safe.rows, safe.classes.classes, 0, safe.suppressed_rows)
        return cls(
            safe.quasi_identifiers,
            safe.released_quasi_identifiers or safe.quasi_identifiers,
            safe.sensitive,
            demand.k,
            demand.l,
            demand.diversity,
            demand.c,
            batches=(first,),
            closed=_why_closed(safe),
            kinds={name: kind for name, kind in kinds.items() if name not in safe.removed},
            diverse=() if safe.diverse == safe.sensitive else safe.diverse,
        )

    @classmethod
    def read(cls, saved: Any) -> ReleaseLog:
        """Read a log from plain JSON types; invalid content raises TypeError, KeyError or ValueError."""
        given = {one.name: saved[one.name] for one in fields(cls) if one.name != "diverse"}
        given["diverse"] = saved.get("diverse", [])  # missing in older logs
        for name in ("quasi_identifiers", "released", "sensitive", "diverse"):
            given[name] = read_texts(given[name])
        given["batches"] = tuple(_read_batch(one) for one in typed(given["batches"], list))
        given["kinds"] = {typed(name, str): typed(kind, str) for name, kind in typed(given["kinds"], dict).items()}
        for name in ("continued_in", "closed", "person"):
            typed(given[name], str, type(None))
        numbers = (given["c"],) if given["l"] is None else (given["c"], given["l"])
        if not all(math.isfinite(typed(one, int, float)) for one in numbers):
            raise ValueError
        if typed(given["diversity"], str) not in DIVERSITIES or typed(given["k"], int) < 2 or not given["batches"]:
            raise ValueError
        if given["delay"] is not None:
            _count(given["delay"])
        return cls(**given)

    def require_open(self, name: str) -> None:
        """Refuse a release that no batch can join; `name` is its file."""
        if self.closed is not None:
            raise InputError(f"nothing can join {name}: {self.closed}; protect all records together")
        if self.continued_in is not None:
            raise InputError(
                f"{name} was continued in {self.continued_in}; append to that, for two continuations could be compared"
            )


def kinds_of(types: Mapping[str, pa.DataType]) -> dict[str, str]:
    """Kind of values of each column, in words; columns without values are left out.

    >>> kinds_of({"age": pa.int8(), "seen": pa.date32(), "zip": pa.string(), "empty": pa.null()})
    {'age': 'number', 'seen': 'date', 'zip': 'text'}
    """
    return {name: _kind(one) for name, one in types.items() if not pa.types.is_null(one)}


def _kind(one: pa.DataType) -> str:
    one = value_type(one)
    if is_number(one):
        return "number"
    if pa.types.is_date(one) or pa.types.is_timestamp(one):
        return "date"
    if is_text(one) or pa.types.is_string_view(one):
        return "text"
    return "yes/no" if pa.types.is_boolean(one) else "other"


def _why_closed(safe: Protected) -> str | None:
    """The reason why later records could break the guarantee; None if they cannot."""
    demand = safe.demand
    reasons: Mapping[str, bool] = {
        "it promises no k": safe.guarantee.asked_k is None or bool(safe.guarantee.perturbed),
        "values were changed by chance": bool(safe.perturbed),
        "t, beta and delta compare classes with the whole table, which would grow": demand.asks_t
        or demand.limits_shares,
        "k-map counts people of a population, who are not kept with it": demand.k_map is not None,
        "k was counted with blanks as any value": demand.wildcards,
        "its classes are histories of people, who may come back": safe.person is not None,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _read_batch(saved: Any) -> LoggedBatch:
    return LoggedBatch(**{one.name: _count(saved[one.name]) for one in fields(LoggedBatch)})


def _count(value: Any) -> int:
    if not 0 <= typed(value, int) <= MOST_COUNTED:
        raise ValueError
    return int(value)


def read_texts(saved: Any) -> tuple[str, ...]:
    """Texts from plain JSON types, such as column names; raises TypeError for anything but a list of texts."""
    return tuple(typed(one, str) for one in typed(saved, list))


def typed(value: Any, *kinds: type) -> Any:
    """A value of one of some types; raises TypeError for any other, and for true and false."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeError
    return value
